// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A change of routes as the daemon makes it: the stages in which tables are written, and what may
 * deadlock all the same, as hosts use SLs and switches have maps from before.
 */
#ifndef ROUTE_TRANSITION_CHANGE_PLAN_H
#define ROUTE_TRANSITION_CHANGE_PLAN_H

#include "route/transition/transition.h"

struct route_change {
	const struct routing *old; /* the one before; NULL: nothing is known of it */
	const struct routing *new;
	const struct route_verdict *verdict; /* on the new one */
	const uint8_t *const *held; /* [switch]: what it holds, as rows of new; NULL: not known */
	bool cyclic;	 /* that is known to have a credit loop */
	bool map_unsure; /* SL2VL tables are not as in the old routing: a change was cut short */
	struct route_watch *watch; /* or NULL */
};

struct route_change_plan {
	struct route_stages *stages; /* NULL if what is held is not known, or if cancelled */
	bool maps_first;   /* SL2VL tables are written before the first stage */
	char *exposed;	   /* for people: which part of the change may deadlock; NULL: none */
	bool exposed_lasts; /* until hosts query again, longer than tables are written */
};

void route_change_plan(const struct route_change *change, struct route_change_plan *plan);
void route_change_plan_clear(struct route_change_plan *plan);

#endif
