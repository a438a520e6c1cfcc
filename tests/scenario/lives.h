// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Who can talk to whom, by what the simulated hardware holds: LIDs, forwarding tables, links that
 * are ACTIVE. Nothing that a daemon says counts.
 */
#ifndef TESTS_SCENARIO_LIVES_H
#define TESTS_SCENARIO_LIVES_H

#include "scenario.h"

struct lives;

/* Pairs of hosts, by their ports 1, as they can talk now. */
struct lives *lives_new(const struct scenario *s);
void lives_free(struct lives *lives);
unsigned int lives_pairs(const struct lives *lives);

/* The table of a switch is as it is, as nobody can write it. */
void lives_fix(struct lives *lives, unsigned int node, bool fixed);

/*
 * Of these pairs those that can talk no more, although cables that are up would still join them;
 * example, if it is not NULL, gets one of them, newly allocated, or NULL.
 */
unsigned int lives_lost(const struct lives *lives, const struct scenario *s, char **example);
/* None is; tells of the first that is. */
void lives_check(const struct lives *lives, struct scenario *s);
/* Runs for so many ms, and checks at each step of so many. */
void lives_run(const struct lives *lives, struct scenario *s, unsigned int ms, unsigned int step);

/*
 * A cable is lost that leaves another way to each switch than through the silent one: who is behind
 * that alone, and has lost the way back by LID, cannot be written. False: there is none.
 */
bool lives_lose_cable(struct scenario *s, unsigned int silent);

#endif
