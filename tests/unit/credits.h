// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A simulator of packets in a lossless net: at each port of a switch, and on each of its VLs, there
 * is a buffer for a few packets, first in, first out; a packet leaves it when there is room at the
 * next switch. It reads tables, SLs and VLs, and no result of the verifier.
 */
#ifndef TESTS_UNIT_CREDITS_H
#define TESTS_UNIT_CREDITS_H

#include "fabric/fabric.h"
#include "route/engine.h"

/* Packets from an endport to a LID. */
struct credits_flow {
	uint32_t from;
	uint16_t lid;
};

/* What is sent, as fast as there is room. */
struct credits_load {
	const struct fabric *fabric;
	const struct routing *routing;
	unsigned int credits; /* packets that a buffer holds */
	const struct credits_flow *flows;
	uint32_t n_flows;
	unsigned int rounds;	       /* packets of each flow */
	const struct route_tree *tree; /* on SL 0; NULL: there are no floods */
	unsigned int floods;	       /* number sent by each member of the tree that is a host */
	uint64_t state;		       /* for all random choices */
};

struct credits_outcome {
	uint64_t sent, delivered, lost; /* packets of flows */
	uint64_t copies;		/* copies of floods that hosts got */
	uint64_t steps;
	char *deadlock; /* buffers that wait for each other; NULL: everything arrived, or was lost
			   by an entry that discards it */
};

void credits_run(const struct credits_load *load, struct credits_outcome *outcome);
void credits_outcome_clear(struct credits_outcome *outcome);

/* Each host to all others; with switches also to these, and back. Array of struct credits_flow. */
GArray *credits_all_to_all(const struct fabric *fabric, bool switches);

/* Flows that can make buffers wait for each other in a ring; or NULL. */
GArray *credits_ring(const struct credits_load *load);

#endif
