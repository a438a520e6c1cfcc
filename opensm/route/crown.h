// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An order of the switches of a tree in which all of them have legal paths to each other. */
#ifndef ROUTE_CROWN_H
#define ROUTE_CROWN_H

#include "route/engine.h"
#include "route/graph.h"

/*
 * Orients a layered network (route_tree_rank) so that one leaf is on top, then what stands above
 * it, then everybody else by rank and key; crown of the graph tells which these are. All that have
 * a neighbour of a higher rank have legal paths to each other then. False, with nothing done, if
 * the network is not one or no leaf will do.
 */
bool route_orient_crown(struct route_graph *graph, const uint64_t *key);

/*
 * Whether hops of a graph with a crown may be used: no switch of it comes down to hosts by a longer
 * way than one that begins upwards. Then what leads to an ancestor of a host by a best path that is
 * part of one to the host does lead to the host, which tree.c relies on.
 */
bool route_crown_holds(const struct route_graph *graph, const uint8_t *hops);

/*
 * Legal hops of a layered network: with a crown, or else towards the top by ranks alone. NULL if it
 * is not one, or if hosts that cables connect are not (route_legal_hops).
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
