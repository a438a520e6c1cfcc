// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the service manager is told, and when (core/notify.h), all from the daemon's actor "main":
 *
 *	READY=1		the first sweep is over, whatever its end: from then on this is a master
 *			that serves, a standby, or an SM that waits for its port
 *	STATUS=		the state and the size of the subnet, when either changes
 *	RELOADING=1	before files are read again, then READY=1
 *	WATCHDOG=1	as long as all actors run, twice in the time that the service manager gives:
 *			each is sent a message, and has run it by the next time
 *	EXTEND_TIMEOUT_USEC=	as long as all actors run before READY=1, since the first sweep of a
 *			large subnet may take longer than a start usually may
 *	STOPPING=1	when the daemon is asked to end, before it hands over
 */
#include "ctl/process/service.h"

#include "core/notify.h"
#include "ctl/report/status.h"

#define PATIENCE_NS (120 * NS_PER_S) /* given by one EXTEND_TIMEOUT_USEC= */
#define START_NS (30 * NS_PER_S)     /* between two of them */

/* A message that shows that an actor runs. */
struct pulse {
	struct message message; /* first */
	struct actor *actor;
	atomic_bool waits; /* it is in the actor's mailbox */
};

struct service {
	struct context *context;
	bool ready, stopping;
	struct timer beat;
	uint64_t watchdog_ns; /* between two WATCHDOG=1; 0: no watchdog */
	struct pulse pulses[DAEMON_WATCHED];
};

static void on_change(void *arg, uint64_t value)
{
	struct service *service = arg;
	g_autofree char *line = status_line(service->context);

	(void)value;
	notify_status(line);
}

static void on_sweep_done(void *arg, uint64_t value)
{
	struct service *service = arg;

	on_change(service, value);
	if (!service->ready)
		notify_ready();
	service->ready = true;
}

/* Also when dropped: an actor that ended is not watched any more. */
static void beat(struct message *message)
{
	atomic_store(&((struct pulse *)message)->waits, false);
}

static bool ask_pulse(struct service *service, struct pulse *pulse)
{
	if (atomic_exchange(&pulse->waits, true)) {
		log_error(service->context->log, "the actor %s does not run: no %s",
			  actor_name(pulse->actor),
			  service->watchdog_ns ? "WATCHDOG=1" : "EXTEND_TIMEOUT_USEC=");
		return false;
	}
	pulse->message = (struct message){.run = beat, .drop = beat};
	actor_post(pulse->actor, &pulse->message);
	return true;
}

static void on_beat(struct timer *timer)
{
	struct service *service = container_of(timer, struct service, beat);
	bool all = true;

	if (service->ready && !service->watchdog_ns)
		return;
	for (unsigned int i = 0; i < DAEMON_WATCHED; i++)
		all &= ask_pulse(service, &service->pulses[i]);
	if (all && service->watchdog_ns)
		notify_watchdog();
	if (all && !service->ready)
		notify_patience(PATIENCE_NS / NS_PER_US);
	timer_start(timer, service->watchdog_ns ? MIN(service->watchdog_ns, START_NS) : START_NS);
}

static void watch(struct service *service, struct daemon *daemon)
{
	struct actor *actors[DAEMON_WATCHED];

	daemon_watched(daemon, actors);
	for (unsigned int i = 0; i < DAEMON_WATCHED; i++) {
		service->pulses[i].actor = actors[i];
		atomic_init(&service->pulses[i].waits, false);
	}
	service->watchdog_ns = notify_watchdog_us() * NS_PER_US / 2;
	timer_init(&service->beat, daemon_actor(daemon), on_beat);
	if (notify_is_on())
		timer_start(&service->beat, 0);
}

struct service *service_new(struct daemon *daemon)
{
	struct service *service = g_new0(struct service, 1);
	struct actor *actor = daemon_actor(daemon);
	struct event_bus *bus;

	service->context = daemon_context(daemon);
	bus = &service->context->bus;
	event_subscribe(bus, EVENT_SM_STATE, actor, on_change, service);
	event_subscribe(bus, EVENT_SUBNET_PUBLISHED, actor, on_change, service);
	event_subscribe(bus, EVENT_SWEEP_DONE, actor, on_sweep_done, service);
	watch(service, daemon);
	return service;
}

/* During a start READY=1 has not been sent, and reading files must not cause it. */
void service_reloading(struct service *service)
{
	if (service->ready)
		notify_reloading();
}

void service_reloaded(struct service *service)
{
	on_change(service, 0);
	if (service->ready)
		notify_ready();
}

void service_stopping(struct service *service)
{
	if (!service->stopping)
		notify_stopping();
	service->stopping = true;
}

void service_free(struct service *service)
{
	if (!service)
		return;
	timer_stop(&service->beat);
	g_free(service);
}
