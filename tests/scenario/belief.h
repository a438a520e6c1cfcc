// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Compares what the daemon believes of the hardware, and what it has published, with the simulated
 * hardware. For a scenario in virtual time whose daemon runs.
 */
#ifndef TESTS_SCENARIO_BELIEF_H
#define TESTS_SCENARIO_BELIEF_H

#include "scenario.h"

/*
 * Every block of a table and every info that the daemon regards as known must be what the node
 * holds; nodes that cannot be reached are excluded. Returns the first difference, newly allocated,
 * or NULL. Not for use during a sweep: Sets are under way then.
 */
char *scenario_belief_violation(const struct scenario *s);

/*
 * The published subnet must have exactly the nodes that can be reached, and the LIDs of their
 * ports. Returns the first difference, newly allocated, or NULL.
 */
char *scenario_published_violation(const struct scenario *s);

/* The hardware must also have the keys and time-outs of the options. Returns as above. */
char *scenario_options_violation(const struct scenario *s);

#endif
