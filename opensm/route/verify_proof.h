// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the parts of the proof by an order share; see verify_order.c. */
#ifndef ROUTE_VERIFY_PROOF_H
#define ROUTE_VERIFY_PROOF_H

#include <pthread.h>

#include "route/verify.h"

/* An entry that leads down to a switch that leads up. */
struct verify_turn {
	uint32_t sw;
	uint16_t lid;
};

struct verify_proof {
	struct verify *verify;
	const struct verify_order *order;
	uint32_t n_words;	/* of a bit per LID of the tables */
	uint32_t *target;	/* [LID]: index of it among the targets; of hosts only */
	uint32_t *first_own;	/* [switch]: of its LIDs in own; one more */
	uint64_t *hosts;	/* LIDs of hosts */
	uint64_t *lids;		/* these and LIDs of switches */
	uint8_t *octets;	/* [LID]: the same as 0xFF or 0 */
	uint64_t *up;		/* [switch * n_words + word]: their entries there lead up */
	uint64_t *none, *all;	/* such rows */
	pthread_mutex_t lock;	/* of what follows, while there are threads */
	uint64_t *turning;	/* LIDs that turn anywhere */
	GArray *turns;		/* struct verify_turn: of hosts, if not more than turns_listed */
	uint64_t n_turns;
	uint64_t turns_max, turns_listed;
	bool settled;		/* these turns close no cycle, or one that is known */
	_Atomic unsigned int widest; /* hops of what was followed */
};

static inline bool verify_leads_up(const struct verify_order *order, uint32_t from, uint32_t to)
{
	return order->place[to] < order->place[from];
}

/* First pass: sets up; LIDs with an entry that leads neither up nor down become suspect. */
void verify_class_entries(struct verify_proof *proof);

/*
 * Second pass: finds turns, and notes those of LIDs of hosts as dependencies. It ends when there
 * are more of these than turns_max.
 */
void verify_find_turns(struct verify_proof *proof);

/*
 * Looks for a cycle in what is noted together with all that the order allows, and leaves it in the
 * cycle of verify. False if it cannot tell whether there is one.
 */
bool verify_settle_cycle(const struct verify_proof *proof);

/* No way up and then down is longer. */
unsigned int verify_most_hops(const struct verify_proof *proof);

/*
 * The same for LIDs of hosts without those that it adds to over: what goes up to a top, and down
 * again, whose neighbours have nobody else above them. All others end at such a top, or begin
 * there, or do not meet it.
 */
unsigned int verify_most_hops_but(const struct verify_proof *proof, uint64_t *over);

/*
 * Walks on from turns, and back: widens widest by the paths that have any. LIDs that do not arrive,
 * as in loops, become suspect.
 */
void verify_walk_turns(struct verify_proof *proof);

#endif
