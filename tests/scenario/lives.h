// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which hosts can talk to which, by the state of the simulated hardware: LIDs, forwarding tables,
 * links that are ACTIVE. What a daemon reports does not count.
 */
#ifndef TESTS_SCENARIO_LIVES_H
#define TESTS_SCENARIO_LIVES_H

#include "scenario.h"

struct lives;

/* Pairs of hosts, by their ports 1, that can talk now. */
struct lives *lives_new(const struct scenario *s);
void lives_free(struct lives *lives);
unsigned int lives_pairs(const struct lives *lives);

/* Says that the table of a switch stays as it is, since the switch cannot be written. */
void lives_fix(struct lives *lives, unsigned int node, bool fixed);

/*
 * How many of these pairs can no longer talk, although cables that are up would still connect them;
 * example, if not NULL, gets one of them, newly allocated, or NULL.
 */
unsigned int lives_lost(const struct lives *lives, const struct scenario *s, char **example);
/* Fails with the first lost pair, if there is any. */
void lives_check(const struct lives *lives, struct scenario *s);
/* Runs for the given number of ms, and checks after each step. */
void lives_run(const struct lives *lives, struct scenario *s, unsigned int ms, unsigned int step);

/*
 * Pulls a cable such that each switch but the silent one keeps another way: devices behind the
 * silent one alone, which has lost its route back by LID, cannot be written. False: there is none.
 */
bool lives_lose_cable(struct scenario *s, unsigned int silent);

#endif
