// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long stories of what meets by chance: cables, nodes, packets, options, clients, from a seed, in
 * an order that nobody would think of. After all is mended the fabric has to be right. Of what the
 * daemon does about each event a digest is kept: where the SM does something else on purpose, the
 * stories of test_sweep_golden.c and test_policy_golden.c are there to be read, and these are
 * written anew by make golden-update. To see what is behind a digest, run the program of both trees
 * with GOLDEN_TELL=DIRECTORY in the environment, and compare.
 */
#ifndef TESTS_GOLDEN_CHANCE_H
#define TESTS_GOLDEN_CHANCE_H

#include "story.h"

#define LOUD QUIET "log_flags 0xCF\n" /* what is logged is looked at, too, but packets are anyway */

/* What a story is about. */
struct theme;
extern const struct theme chance_anything, chance_keys, chance_lanes, chance_groups, chance_sick;
/* Amid sweeps, with all options; what clients and the operator ask for. */
extern const struct theme chance_moments, chance_others;

/* The SM is on that node. */
void chance_story(const struct theme *about, const char *spec, uint64_t seed, const char *sm);

/* Parts of it, for a story of one's own, which begins with the first. */
void chance_note_guids(struct scenario *scenario); /* of nodes, which mending gives back */
void chance_mend(void);
unsigned int chance_below(unsigned int n);
const char *chance_name(unsigned int node);
void chance_reboot(void);
void chance_time(void); /* often so little that a sweep is not at its end */

#endif
