// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Up/down paths in trees, and whether they are the shortest. */
#ifndef ROUTE_ORDER_HOSTS_SHORTEST_H
#define ROUTE_ORDER_HOSTS_SHORTEST_H

#include "route/engine.h"
#include "route/graph/plan.h"

/*
 * Legal hops of a layered network: with an inverted root, or else by ranks alone, with the top up.
 * NULL if it is not layered, or if hosts are unreachable that cables connect (route_legal_hops).
 */
uint8_t *route_tree_hops(struct route_plan *plan, const struct fabric *fabric, const uint64_t *key,
			 uint8_t *next);

/* Whether all paths between hosts by directions are as short as cables allow. */
bool route_hosts_shortest(const struct route_order *order, const uint8_t *hops);

/*
 * route_tree_hops() if paths between hosts are the shortest, and few hosts are above the leaves;
 * else NULL, and the graph is not oriented.
 */
uint8_t *route_tree_hops_shortest(struct route_plan *plan, const struct fabric *fabric,
				  const uint64_t *key, uint8_t *next);

/*
 * route_tree_hops(), but hosts whose paths by directions are not the shortest go against these
 * where they must: then the order is mixed, and their hops are marked by ROUTE_AGAINST. All other
 * paths are legal. NULL, and the graph is not oriented, if that concerns more than a few.
 */
uint8_t *route_tree_hops_mixed(struct route_plan *plan, const struct fabric *fabric,
			       const uint64_t *key);

#endif
