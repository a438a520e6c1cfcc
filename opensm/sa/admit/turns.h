// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Decides whose query is next in a pool. Queries of one source run in order of arrival; between
 * sources, the next is the one that will have used the least time after it, so that a source is
 * charged for what its queries cost, not for their number or their results (fair queuing by the
 * clock of the served source, as of Golestani 1994 and Goyal et al. 1996). The pool is given only
 * enough work to keep it busy, so a new query waits for that and no more. Owned by one actor; uses
 * neither clock nor threads.
 */
#ifndef SA_ADMIT_TURNS_H
#define SA_ADMIT_TURNS_H

#include <stdint.h>

struct sa_turns;

/* The header of a queued query. */
struct sa_turn {
	struct sa_turn *next;
	uint16_t lid;	      /* its source's LID */
	uint64_t expected_ns; /* charged until its cost is known */
};

/* run(arg, turn) passes one query to a pool of that many threads; sa_turns_add may call it. */
struct sa_turns *sa_turns_new(unsigned int threads, void (*run)(void *arg, struct sa_turn *turn),
			      void *arg);
/* No query may be running. drop gets those that wait. */
void sa_turns_free(struct sa_turns *turns, void (*drop)(struct sa_turn *turn));

void sa_turns_add(struct sa_turns *turns, struct sa_turn *turn, uint16_t lid);
/* The query has run, and took cost_ns. */
void sa_turns_done(struct sa_turns *turns, struct sa_turn *turn, uint64_t cost_ns);
unsigned int sa_turns_waiting(const struct sa_turns *turns);
/* Takes the last query of the source with the most waiting; NULL: nothing waits. */
struct sa_turn *sa_turns_refuse(struct sa_turns *turns);

#endif
