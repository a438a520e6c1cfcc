// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the parts of the verifier share; nobody else includes this, except its tests. */
#ifndef ROUTE_VERIFY_H
#define ROUTE_VERIFY_H

#include <stdatomic.h>

#include "route/dependency.h"
#include "route/engine.h"
#include "route/graph.h"

#define VERIFY_WITNESS_HOPS 64
#define VERIFY_LID_WORDS (FABRIC_LIDS / 64)

/* A LID and the entry that hands it to its owner. */
struct verify_column {
	uint32_t sw;
	uint16_t lid;
	uint8_t exit;
};

struct verify {
	const struct fabric *fabric;
	const struct routing *routing;
	struct route_verdict *verdict;
	struct route_graph *graph;
	uint32_t *first;	    /* [switch]: channel of its port 0 */
	uint32_t *to;		    /* [channel]: switch across a port, or FABRIC_NONE */
	uint32_t *caps;		    /* [switch]: as of route_caps() */
	uint32_t *part;		    /* [switch]: as of route_parts(), for these LIDs: */
	uint32_t part_first, part_last; /* switches that cannot hold them are apart */
	bool whole;		    /* there is one part */
	struct verify_column *own;  /* LIDs of switches that the table has room for */
	uint32_t n_own;
	GArray *odd;		    /* uint16_t: owned LIDs that are neither there nor targets */
	_Atomic uint64_t *suspects; /* bit per LID: not shown to be right, and to be walked */
	struct dependency *dependency;
	GArray *cycle;		    /* of struct dependency_channel: a credit loop; or NULL */
};

static inline bool verify_is_suspect(const struct verify *verify, uint16_t lid)
{
	return atomic_load_explicit(&verify->suspects[lid / 64], memory_order_relaxed) >> lid % 64 &
	       1;
}

static inline void verify_suspect(struct verify *verify, uint16_t lid)
{
	if (!verify_is_suspect(verify, lid))
		atomic_fetch_or_explicit(&verify->suspects[lid / 64], UINT64_C(1) << lid % 64,
					 memory_order_relaxed);
}

/* The switch across a port, or FABRIC_NONE. */
static inline uint32_t verify_across(const struct verify *verify, uint32_t sw, uint8_t num)
{
	uint32_t channel = verify->first[sw] + num;

	return channel < verify->first[sw + 1] ? verify->to[channel] : FABRIC_NONE;
}

static inline void verify_widen(_Atomic unsigned int *widest, unsigned int hops)
{
	unsigned int now = atomic_load(widest);

	while (now < hops && !atomic_compare_exchange_weak(widest, &now, hops))
		;
}

/* The same, and which of its ports is there. */
uint32_t verify_cross(const struct verify *verify, uint32_t sw, uint8_t num, uint8_t *back);
/* Whether a port is of the tree that multicast keeps to. */
bool verify_is_trunk(const struct verify *verify, uint32_t sw, uint8_t num);
/* What packets on all of it wait for. */
void verify_add_trunk(const struct verify *verify, struct dependency *dependency);

/*
 * Ways to a verdict. By order is quick, but shows only that all is right: false if it does not, and
 * then nothing is noted. By hops takes anything, notes all dependencies, and leaves suspects to be
 * walked.
 */
bool verify_by_order(struct verify *verify);
void verify_by_hops(struct verify *verify);

/* Makes part[] that of a LID. */
void verify_mark_parts(struct verify *verify, uint32_t lid);

/* Whether a switch cannot hold a LID: whatever the tables say, it discards it. */
static inline bool verify_is_above_cap(const struct verify *verify, uint32_t sw, uint32_t lid)
{
	return verify->caps && verify->caps[sw] <= lid;
}

/* The same as dependency_cycle() for tables with lanes; notes what else is wrong with these. */
GArray *verify_lanes(struct verify *verify);
/* The same of what hosts send to hosts, and of all together with multicast trees. */
GArray *verify_hosts(struct verify *verify);
GArray *verify_trees(struct verify *verify, const struct route_tree *const *trees, uint32_t n,
		     uint8_t sl);
/* The same if lanes change by turns; adds the lanes that are used to vls, as bits. */
GArray *verify_by_turn(struct verify *verify, uint16_t *vls);

/* Counts paths and walks the suspects, switch by switch. */
void verify_walk(struct verify *verify);

/* Appends "NAME (0xGUID) port N", or what the entry is if there is no such port. */
void verify_add_hop(const struct verify *verify, GString *text, uint32_t sw, uint8_t num);

/* route_verify_by() that may leave out the proof by order. */
bool verify_on_ways(const struct fabric *fabric, const struct routing *routing,
		    const struct route_input *input, bool by_order, struct route_verdict *verdict);
#endif
