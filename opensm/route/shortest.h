// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The two ways to choose among shortest paths. Both fill the LFTs of a routing. */
#ifndef ROUTE_SHORTEST_H
#define ROUTE_SHORTEST_H

#include "route/engine.h"
#include "route/graph.h"

/*
 * For layered networks (trees of any shape): false, with nothing done, if the graph is not one.
 * hops and next are those of route_hops_all().
 */
bool route_tree_fill(const struct route_graph *graph, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing);

/* For all others: balances the flows of all pairs. hops is that of route_hops_all(). */
void route_balance_fill(const struct route_graph *graph, const uint8_t *hops,
			struct routing *routing);

#endif
