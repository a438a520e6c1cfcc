// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long stories of what comes together by chance: cables, nodes, packets, options, clients, from a
 * seed, in an order that nobody would think of. After all is mended the fabric has to be right, and
 * a second run of the seed has to be the same as the first, packet by packet. To see what is told,
 * run the program with GOLDEN_TELL=DIRECTORY in the environment.
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
