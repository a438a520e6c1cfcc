// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events between actors: a type and a number. What an event is about lies in a slot of the
 * context (immutable, counted), so an event never carries an object and may be merged or lost at
 * the end without harm.
 */
#ifndef CORE_EVENTS_H
#define CORE_EVENTS_H

#include <glib.h>

#include "complib/actor.h"

enum event_type {
#define EVENT(name, value) EVENT_##name,
#include "core/events.def"
#undef EVENT
	N_EVENTS
};

const char *event_name(enum event_type type);

/* Why a sweep is wanted; plan.c turns a set of these into light, reroute or heavy. */
enum sweep_reason {
	SWEEP_STARTUP = 1 << 0,
	SWEEP_TIMER = 1 << 1,	   /* sweep_interval passed */
	SWEEP_HEAVY = 1 << 2,	   /* asked for by the operator: SIGHUP, console */
	SWEEP_LIGHT = 1 << 3,	   /* asked for by the operator */
	SWEEP_LINK_TRAP = 1 << 4,  /* trap 128 */
	SWEEP_LOCAL_TRAP = 1 << 5, /* trap 144 */
	SWEEP_CHANGE = 1 << 6,	   /* a light sweep saw a change */
	SWEEP_ERRORS = 1 << 7,	   /* the last sweep had errors */
	SWEEP_REROUTE = 1 << 8,	   /* routes again, without discovery */
	SWEEP_GROUPS = 1 << 9,	   /* multicast groups changed */
};

struct event_bus {
	GArray *handlers[N_EVENTS];
};

typedef void event_fn(void *arg, uint64_t value);

void event_bus_init(struct event_bus *bus);
void event_bus_clear(struct event_bus *bus);
/* Before any actor starts. handle runs on actor. */
void event_subscribe(struct event_bus *bus, enum event_type type, struct actor *actor,
		     event_fn *handle, void *arg);
/* Any thread. */
void event_emit(const struct event_bus *bus, enum event_type type, uint64_t value);

#endif
