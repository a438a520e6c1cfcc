// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long random stories: cables, nodes, packets, options and clients, from a seed, in an order that
 * no person would think of. After everything is repaired the fabric has to be right, and a second
 * run of the seed has to be the same as the first, packet by packet. To see the whole story, run
 * the program with GOLDEN_TELL=DIRECTORY in the environment.
 */
#ifndef TESTS_GOLDEN_CHANCE_H
#define TESTS_GOLDEN_CHANCE_H

#include "story.h"

#define LOUD QUIET "log_flags 0xCF\n" /* log lines are compared as well as packets */

/* What a story is about. */
struct theme;
extern const struct theme chance_anything, chance_keys, chance_lanes, chance_groups, chance_sick;
/* During sweeps, with all options; what clients and the operator ask for. */
extern const struct theme chance_moments, chance_others;

/* The SM runs on that node. */
void chance_story(const struct theme *about, const char *spec, uint64_t seed, const char *sm);

/* Parts of it, for a story of one's own, which begins with the first. */
void chance_note_guids(struct scenario *scenario); /* of nodes; repairing restores them */
void chance_mend(void);
unsigned int chance_below(unsigned int n);
const char *chance_name(unsigned int node);
void chance_reboot(void);
void chance_time(void); /* often so short that a sweep has not ended */

#endif
