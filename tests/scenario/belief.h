// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the daemon believes of the hardware, and what it has published, against the simulated
 * hardware itself. A scenario in virtual time whose daemon runs.
 */
#ifndef TESTS_SCENARIO_BELIEF_H
#define TESTS_SCENARIO_BELIEF_H

#include "scenario.h"

/*
 * Every block of a table and every info that the daemon takes for known must be what the node
 * holds; nodes that cannot be reached are left out. Returns the first difference, newly allocated,
 * or NULL. Not while a sweep runs: then Sets are under way.
 */
char *scenario_belief_violation(const struct scenario *s);

/*
 * The published subnet must have the nodes that can be reached, no others, and the LIDs that their
 * ports carry. Returns the first difference, newly allocated, or NULL.
 */
char *scenario_published_violation(const struct scenario *s);

/* What the options say of keys and time-outs is in the hardware, too. The same form. */
char *scenario_options_violation(const struct scenario *s);

#endif
