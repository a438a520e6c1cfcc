// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Paths up and down in trees, and whether they are as short as any. */
#ifndef ROUTE_ORDER_HOSTS_SHORTEST_H
#define ROUTE_ORDER_HOSTS_SHORTEST_H

#include "route/engine.h"
#include "route/graph/graph.h"

/*
 * Legal hops of a layered network: with an inverted root, or else towards the top by ranks alone.
 * NULL if it is not one, or if hosts that cables connect are not (route_legal_hops).
 */
uint8_t *route_tree_hops(struct route_graph *graph, const struct fabric *fabric,
			 const uint64_t *key, uint8_t *next);

/* Whether in an oriented graph hosts have paths to all others that are as short as cables allow. */
bool route_hosts_shortest(const struct route_graph *graph, const uint8_t *hops);

/*
 * The same if paths between hosts are as short as any, and hosts above the leaves are few; else
 * NULL, and the graph is not oriented.
 */
uint8_t *route_tree_hops_shortest(struct route_graph *graph, const struct fabric *fabric,
				  const uint64_t *key, uint8_t *next);

#endif
