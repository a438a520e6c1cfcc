// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which sweep answers a set of reasons. Pure. */
#ifndef SM_SCHEDULE_PLAN_H
#define SM_SCHEDULE_PLAN_H

#include <stdbool.h>

#include "core/events.h"

enum sweep_kind {
	SWEEP_KIND_NONE = 0,
	SWEEP_KIND_LIGHT = 1 << 0,   /* ask the switches whether something changed */
	SWEEP_KIND_GROUPS = 1 << 1,  /* multicast trees only */
	SWEEP_KIND_REROUTE = 1 << 2, /* routes again over what is known */
	SWEEP_KIND_PARTIAL = 1 << 3, /* discover again from what changed, then all else */
	SWEEP_KIND_HEAVY = 1 << 4,   /* discover all */
	SWEEP_KIND_POLICY = 1 << 5,  /* partitions again over what is known */
};

/* Beside the kinds of a step: it looks what became of Sets, of which a dry run sends none. */
#define STEP_LOOKS_AFTER (1 << 16)

struct plan_state {
	bool discovered;       /* a heavy discovery was completed: changes can be followed */
	bool force_heavy;      /* option force_heavy_sweep */
	bool sweep_on_trap;    /* option sweep_on_trap */
};

enum sweep_kind plan_sweep(const struct plan_state *state, unsigned int reasons);
/* The reasons that a sweep of this kind does away with. */
unsigned int plan_answers(enum sweep_kind kind);
const char *plan_kind_name(enum sweep_kind kind);

#endif
