// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When the service manager is told what (core/notify.h), all from the daemon's actor "main":
 *
 *	READY=1		the first sweep is over, whatever its end: from then on this is a master
 *			that serves, a standby, or an SM that waits for its port
 *	STATUS=		the state and the size of the subnet, when either changes
 *	RELOADING=1	before files are read again, then READY=1
 *	WATCHDOG=1	as long as that actor runs, twice in the time that the service manager gives
 */
#include "ctl/service.h"

#include "core/notify.h"
#include "ctl/status.h"

struct service {
	struct context *context;
	bool ready;
	struct timer watchdog;
	uint64_t interval_ns; /* 0: nobody watches */
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

static void on_watchdog(struct timer *timer)
{
	struct service *service =
		(struct service *)((char *)timer - offsetof(struct service, watchdog));

	notify_watchdog();
	timer_start(timer, service->interval_ns);
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
	service->interval_ns = notify_watchdog_us() * NS_PER_US / 2;
	timer_init(&service->watchdog, actor, on_watchdog);
	if (service->interval_ns)
		timer_start(&service->watchdog, 0);
	return service;
}

/* One that starts yet has not been ready, and is not again by having read a file. */
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

void service_free(struct service *service)
{
	if (!service)
		return;
	timer_stop(&service->watchdog);
	g_free(service);
}
