// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of the program tests/scenario/seeds share. */
#ifndef TESTS_SCENARIO_SEEDS_H
#define TESTS_SCENARIO_SEEDS_H

#include "scenario.h"

/* What hosts send each other must close no credit loop, whatever was lost. */
void seed_check_lanes(struct scenario *s);
/* Gives options by chance, before it is started. */
void seed_options(struct scenario *s);
/* And others, to be read again. */
void seed_other_options(struct scenario *s);
/* One host asks for the path to the other's first port, and joins the broadcast group. */
void seed_sa_traffic(struct scenario *s, unsigned int node, unsigned int to);
/*
 * The rest of a seed whose faults stay; the bound follows from the loss. Options that change do so
 * by seed_other_options(), or are a few that take no time.
 */
void lasting_run(struct scenario *s, double loss, bool any_options);

#endif
