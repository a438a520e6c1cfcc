// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Selects the sweep that covers a set of reasons. Pure. */
#ifndef SM_SCHEDULE_PLAN_H
#define SM_SCHEDULE_PLAN_H

#include <stdbool.h>

#include "core/events.h"

enum sweep_kind {
	SWEEP_KIND_NONE = 0,
	SWEEP_KIND_LIGHT = 1 << 0,   /* ask the switches whether something changed */
	SWEEP_KIND_GROUPS = 1 << 1,  /* multicast trees only */
	SWEEP_KIND_REROUTE = 1 << 2, /* routes again, from what is known */
	SWEEP_KIND_PARTIAL = 1 << 3, /* discover again from the nodes that changed, then all else */
	SWEEP_KIND_HEAVY = 1 << 4,   /* discover all */
	SWEEP_KIND_POLICY = 1 << 5,  /* partitions again, from what is known */
};

/* Flag next to the kinds of a step: it checks the effect of Sets, which a dry run does not send. */
#define STEP_LOOKS_AFTER (1 << 16)

struct plan_state {
	bool discovered;       /* a heavy discovery was completed: changes can be tracked */
	bool force_heavy;      /* option force_heavy_sweep */
	bool sweep_on_trap;    /* option sweep_on_trap */
};

enum sweep_kind plan_sweep(const struct plan_state *state, unsigned int reasons);
/* The reasons that a sweep of this kind covers. */
unsigned int plan_answers(enum sweep_kind kind);
const char *plan_kind_name(enum sweep_kind kind);

#endif
