// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Orders of the switches in which there is a legal path wherever one must be. */
#ifndef ROUTE_SINGLE_TOP_H
#define ROUTE_SINGLE_TOP_H

#include "route/graph.h"

/*
 * Orients a network so that one switch of the greatest rank is on top, then what stands above it,
 * then everybody else by rank and key; inverted of the graph tells which these are. False, with
 * nothing done, if a cable joins switches other than of adjacent ranks, or no leaf will do.
 */
bool route_orient_inverted(struct route_graph *graph, const uint32_t *rank, const uint64_t *key);

/*
 * Whether hops of a graph with an inverted root may be used: no switch of it comes down to hosts by
 * a longer way than one that begins upwards. Then what leads to an ancestor of a host by a best
 * path that is part of one to the host does lead to the host, which tree_fill.c relies on.
 */
bool route_inversion_holds(const struct route_graph *graph, const uint8_t *hops);

/*
 * Changes the order of an oriented graph so that all switches have legal paths to and from those
 * with hosts, and that of the subnet manager, if cables connect them. joined of the graph tells who
 * got a neighbour above, base what the order was before; NULL both if there is no need, or no way.
 */
void route_join_tops(struct route_graph *graph);

#endif
