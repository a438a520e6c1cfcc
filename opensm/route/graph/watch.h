// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A computation of routes as others see it: how far it has come, and whether its result is still
 * wanted. Engines with lanes, searches, the verifier and what plans a change of tables report to
 * it, and end within some 10 ms after it was cancelled; what they return then is incomplete, but
 * may be freed. Any thread.
 * Functions take NULL as a computation that is not watched.
 */
#ifndef ROUTE_GRAPH_WATCH_H
#define ROUTE_GRAPH_WATCH_H

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/handoff.h"

struct route_watch {
	struct ref ref;
	uint64_t began_ns; /* by the clock of the runtime */
	atomic_bool cancelled; /* nothing is wanted any more */
	atomic_bool expired;   /* this engine has taken too long; the next one may be tried */
	_Atomic gint64 deadline_us; /* g_get_monotonic_time() by which it expires; 0: never */
	_Atomic(const char *) engine; /* its name; NULL: none yet */
	_Atomic(const char *) phase;  /* "lanes": a constant text; NULL: none yet */
	_Atomic uint64_t done, total; /* of the phase; total 0: not known */
	_Atomic uint64_t steps;	      /* of all phases */
	uint64_t steps_max; /* fixed at the start: it is cancelled after as many; 0: no limit */
};

struct route_watch *route_watch_new(uint64_t now_ns);
struct route_watch *route_watch_ref(struct route_watch *watch);
void route_watch_unref(struct route_watch *watch);
void route_watch_cancel(struct route_watch *watch);

/* An engine begins, and has so long, in seconds; 0: no limit. */
void route_watch_limit(struct route_watch *watch, unsigned int limit_s);
void route_watch_engine(struct route_watch *watch, const char *name);
/* Whether it ended as this engine took too long, and not since nothing is wanted any more. */
static inline bool route_has_expired(const struct route_watch *watch)
{
	return watch && atomic_load(&watch->expired) && !atomic_load(&watch->cancelled);
}

/* A phase of total steps begins. */
void route_watch_begin(struct route_watch *watch, const char *phase, uint64_t total);

static inline bool route_is_cancelled(const struct route_watch *watch)
{
	return watch && (atomic_load_explicit(&watch->cancelled, memory_order_relaxed) ||
			 atomic_load_explicit(&watch->expired, memory_order_relaxed));
}

/* Counts a step of some 10 ms or less; false: the caller is to stop. */
bool route_watch_step(struct route_watch *watch);
/* A part of a step: does not count as progress of the phase. */
bool route_watch_look(struct route_watch *watch);

/* "routes by dfsssp: lanes, 34 %, for 12.3 s", newly allocated. */
char *route_watch_text(const struct route_watch *watch, uint64_t now_ns);

#endif
