// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A second opinion on forwarding tables, slow and plain on purpose. It shares no code with the
 * verifier: every packet is followed hop by hop on the ports of the fabric, and channel
 * dependencies are a list.
 */
#ifndef TESTS_UNIT_ROUTE_CHECKER_H
#define TESTS_UNIT_ROUTE_CHECKER_H

#include "route/engine.h"

#define CHECKER_FAR UINT32_MAX /* distance: cables do not lead there */

enum checker_fate { CHECKER_REACHED, CHECKER_DISCARDED, CHECKER_HOLE, CHECKER_LOOP };

struct checker {
	const struct fabric *fabric;
	const struct routing *routing;
	struct route_verdict verdict; /* as the verifier should report it; witness stays NULL */
	uint32_t *distance;	      /* [from switch * n_switches + to switch], over all cables */
	bool caps;		      /* some switch cannot hold all LIDs */
	bool *hosts;		      /* [switch]: it has channel adapters or routers with LIDs */
};

void checker_run(struct checker *checker, const struct fabric *fabric,
		 const struct routing *routing);
void checker_clear(struct checker *checker);

/* The switch that a port leads to, or FABRIC_NONE; num may be any octet of a table. */
uint32_t checker_next_switch(const struct fabric *fabric, uint32_t sw, uint8_t num);
/* The switch that owns or serves a LID, or FABRIC_NONE. */
uint32_t checker_leaf(const struct fabric *fabric, uint16_t lid);

static inline uint32_t checker_distance(const struct checker *checker, uint32_t from, uint32_t to)
{
	return checker->distance[(size_t)from * checker->fabric->n_switches + to];
}

/* The fate of a packet to an owned LID that enters at a switch; hops to other switches. */
enum checker_fate checker_walk(const struct fabric *fabric, const struct routing *routing,
			       uint32_t sw, uint16_t lid, unsigned int *hops);

/*
 * Runs the verifier on some threads and compares it with a checker that was run on the same
 * routing. Returns whether the verifier accepts the routing; what names the case in a failure.
 */
bool checker_agrees(const struct checker *checker, unsigned int threads, const char *what);

/*
 * Fails unless the routing keeps its promises: nothing lost, no loop, no credit loop or shortest
 * paths where promised, no entry for an unassigned LID; and unless the verifier accepts it.
 */
void checker_accept(const struct fabric *fabric, const struct routing *routing, const char *what);
/* As checker_accept() for a repaired routing, which may know LIDs of absent ports. */
void checker_accept_owned(const struct fabric *fabric, const struct routing *routing,
			  const char *what);

/* Fails unless both have the same tables. */
void checker_same_tables(const struct routing *a, const struct routing *b, const char *what);

/* Whether dependencies of channels, of the tables and of a multicast tree, have no cycle. */
bool checker_is_free_with(const struct fabric *fabric, const struct routing *routing,
			  const struct route_tree *tree);

#endif
