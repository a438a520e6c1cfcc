// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of the program tests/scenario/seeds. */
#ifndef TESTS_SCENARIO_SEEDS_H
#define TESTS_SCENARIO_SEEDS_H

#include "scenario.h"

/* Packets between hosts must not close a credit loop, whatever was lost. */
void seed_check_lanes(struct scenario *s);
/* Sets random options, before the daemon is started. */
void seed_options(struct scenario *s);
/* Sets other ones, to be reread. */
void seed_other_options(struct scenario *s);
/* A host asks for the path to the other's first port, and joins the broadcast group. */
void seed_sa_traffic(struct scenario *s, unsigned int node, unsigned int to);
/*
 * The rest of a seed with lasting faults; the bound follows from the loss. Options change through
 * seed_other_options(), or are a few that take no time.
 */
void lasting_run(struct scenario *s, double loss, bool any_options);

#endif
