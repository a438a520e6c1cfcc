// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events between actors: a type and a number. The object of an event is in a slot of the context
 * (immutable, reference counted), so an event never carries an object and may be merged, or lost at
 * the end, without harm.
 */
#ifndef CORE_EVENTS_H
#define CORE_EVENTS_H

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "complib/actor.h"

enum event_type {
#define EVENT(name, value) EVENT_##name,
#include "core/events.def"
#undef EVENT
	N_EVENTS
};

const char *event_name(enum event_type type);

/* Why a sweep is wanted; plan.c turns a set of these reasons into light, reroute or heavy. */
enum sweep_reason {
	SWEEP_STARTUP = 1 << 0,
	SWEEP_TIMER = 1 << 1,	   /* sweep_interval passed */
	SWEEP_HEAVY = 1 << 2,	   /* requested by the operator: SIGHUP, console */
	SWEEP_LIGHT = 1 << 3,	   /* requested by the operator */
	SWEEP_LINK_TRAP = 1 << 4,  /* trap 128 */
	SWEEP_LOCAL_TRAP = 1 << 5, /* trap 144 */
	SWEEP_CHANGE = 1 << 6,	   /* a change was seen for which no trap came */
	SWEEP_ERRORS = 1 << 7,	   /* a failed operation is due to be tried again */
	SWEEP_REROUTE = 1 << 8,	   /* routes again, without discovery */
	SWEEP_GROUPS = 1 << 9,	   /* multicast groups changed */
	SWEEP_POLICY = 1 << 10,	   /* partitions.conf changed */
	SWEEP_UNSURE = 1 << 11,	   /* ports were read before PortStateChange was cleared */
};

/* The value of EVENT_ROUTED: what the computation of routes was, as the classic daemon tells it. */
enum routed {
	ROUTED_UNCHANGED,
	ROUTED_HEAVY, /* by a sweep that read the subnet */
	ROUTED_AGAIN, /* without reading it */
};

/* State that the sm actor reports in context->sweep. */
enum sweep_flag {
	SWEEP_FLAG_INHIBITED = 1 << 0,	 /* EVENT_SWEEP_ALLOWED with 0 */
	SWEEP_FLAG_RUNNING = 1 << 1,	 /* a sweep is running */
	SWEEP_FLAG_HOP0 = 1 << 2,	 /* and is at the SM's own port */
	SWEEP_FLAG_ERRORS = 1 << 3,	 /* the last sweep ended with errors */
	SWEEP_FLAG_UP_BEFORE = 1 << 4,	 /* a sweep has succeeded since the start */
	SWEEP_FLAG_TAKING_OVER = 1 << 5, /* the running sweep made a standby master */
	SWEEP_FLAG_PORT_LOST = 1 << 6,	 /* the device of the SM's port is gone: no sweeps */
	SWEEP_FLAG_PORT_DOWN = 1 << 8,	 /* the SM's port had no link at the last sweep */
	SWEEP_FLAG_UNTOLD = 1 << 7,	 /* the last sweep did not publish its errors */
};

/* The value of EVENT_SWEEP_DONE. */
struct sweep_done {
	unsigned int reasons; /* bits of enum sweep_reason */
	unsigned int kind;    /* enum sweep_kind */
	bool errors;
	uint64_t took_us;
};
uint64_t sweep_done_pack(const struct sweep_done *done);
struct sweep_done sweep_done_unpack(uint64_t value);

/* The value of EVENT_REGISTRIES_CHANGED: how many of each clients have registered with the SA. */
struct registered {
	unsigned int services, subscriptions, alias_guids;
};
uint64_t registered_pack(const struct registered *registered);
struct registered registered_unpack(uint64_t value);

struct event_bus {
	GArray *handlers[N_EVENTS];
};

typedef void event_fn(void *arg, uint64_t value);

void event_bus_init(struct event_bus *bus);
void event_bus_clear(struct event_bus *bus);
/* Call it before any actor starts. handle runs on actor. */
void event_subscribe(struct event_bus *bus, enum event_type type, struct actor *actor,
		     event_fn *handle, void *arg);
/*
 * As event_subscribe(), but nothing is done for an event that is emitted while *on is false. It may
 * be changed at any time.
 */
void event_subscribe_while(struct event_bus *bus, enum event_type type, struct actor *actor,
			   event_fn *handle, void *arg, const atomic_bool *on);
/* Whether there is a subscriber. Any thread may call it once the actors have started. */
bool event_is_heard(const struct event_bus *bus, enum event_type type);
/* May be called by any thread. */
void event_emit(const struct event_bus *bus, enum event_type type, uint64_t value);

#endif
