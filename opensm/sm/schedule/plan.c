// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* From reasons to the cheapest sweep that answers all of them. */
#include "sm/schedule/plan.h"

#define TRAPS (SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP)

/* Without sweep_on_trap, changes reported by traps wait for the next periodic sweep. */
enum sweep_kind plan_sweep(const struct plan_state *state, unsigned int reasons)
{
	if (!reasons || (!state->sweep_on_trap && !(reasons & ~TRAPS)))
		return SWEEP_KIND_NONE;
	if (!state->discovered || reasons & (SWEEP_STARTUP | SWEEP_HEAVY))
		return SWEEP_KIND_HEAVY;
	if (state->force_heavy &&
	    reasons & ~(SWEEP_GROUPS | SWEEP_REROUTE | SWEEP_POLICY | SWEEP_ERRORS | SWEEP_UNSURE))
		return SWEEP_KIND_HEAVY;
	if (reasons & (SWEEP_CHANGE | SWEEP_ERRORS))
		return SWEEP_KIND_PARTIAL;
	if (reasons & TRAPS && (state->sweep_on_trap || reasons & SWEEP_TIMER))
		return SWEEP_KIND_PARTIAL;
	if (reasons & SWEEP_POLICY)
		return SWEEP_KIND_POLICY;
	if (reasons & SWEEP_REROUTE)
		return SWEEP_KIND_REROUTE;
	if (reasons & SWEEP_GROUPS && !(reasons & (SWEEP_TIMER | SWEEP_LIGHT | SWEEP_UNSURE)))
		return SWEEP_KIND_GROUPS;
	return SWEEP_KIND_LIGHT;
}

unsigned int plan_answers(enum sweep_kind kind)
{
	switch (kind) {
	case SWEEP_KIND_LIGHT:
		return SWEEP_TIMER | SWEEP_LIGHT | SWEEP_UNSURE;
	case SWEEP_KIND_GROUPS:
		return SWEEP_GROUPS;
	case SWEEP_KIND_REROUTE:
		return SWEEP_GROUPS | SWEEP_REROUTE;
	case SWEEP_KIND_POLICY:
		return SWEEP_GROUPS | SWEEP_POLICY;
	case SWEEP_KIND_PARTIAL:
		return SWEEP_POLICY | SWEEP_GROUPS | SWEEP_REROUTE | SWEEP_CHANGE | SWEEP_ERRORS |
		       TRAPS;
	case SWEEP_KIND_HEAVY:
		return ~0u;
	case SWEEP_KIND_NONE:
		break;
	}
	return 0;
}

const char *plan_kind_name(enum sweep_kind kind)
{
	switch (kind) {
	case SWEEP_KIND_LIGHT:
		return "light";
	case SWEEP_KIND_GROUPS:
		return "multicast";
	case SWEEP_KIND_REROUTE:
		return "reroute";
	case SWEEP_KIND_PARTIAL:
		return "partial";
	case SWEEP_KIND_HEAVY:
		return "heavy";
	case SWEEP_KIND_POLICY:
		return "policy";
	case SWEEP_KIND_NONE:
		break;
	}
	return "no";
}
