// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whose query is next in a pool. Those of a source run in the order in which they came; between
 * sources the one is next that will have taken the least time after it, so that a source is charged
 * for what its queries cost, not for how many they are or what they return (fair queuing by the
 * clock of what is served, as of Golestani 1994 and Goyal et al. 1996). Only as much is given to
 * the pool as keeps it busy: who comes next waits for that and no more. Owned by one actor; knows
 * neither clock nor threads.
 */
#ifndef SA_ADMIT_TURNS_H
#define SA_ADMIT_TURNS_H

#include <stdint.h>

struct sa_turns;

/* Part of what waits and runs. */
struct sa_turn {
	struct sa_turn *next;
	uint16_t lid;	      /* its source */
	uint64_t expected_ns; /* charged until its cost is known */
};

/* run(arg, turn) hands one to a pool of so many threads; it may be called by sa_turns_add. */
struct sa_turns *sa_turns_new(unsigned int threads, void (*run)(void *arg, struct sa_turn *turn),
			      void *arg);
/* What runs must be done. drop gets what waits. */
void sa_turns_free(struct sa_turns *turns, void (*drop)(struct sa_turn *turn));

void sa_turns_add(struct sa_turns *turns, struct sa_turn *turn, uint16_t lid);
/* It ran, and took that long. */
void sa_turns_done(struct sa_turns *turns, struct sa_turn *turn, uint64_t cost_ns);
unsigned int sa_turns_waiting(const struct sa_turns *turns);
/* Takes the last one of the source that has most waiting; NULL: nothing waits. */
struct sa_turn *sa_turns_refuse(struct sa_turns *turns);

#endif
