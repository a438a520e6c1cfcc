// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The order of the leaves of a tree. */
#ifndef ROUTE_LEAVES_H
#define ROUTE_LEAVES_H

#include "route/graph.h"

/*
 * order[graph->n] gets all switches: first the leaves, those of a subtree together, then the others
 * as the fabric lists them. Returns how many leaves there are. rank is 0 of leaves and max_rank at
 * the top.
 */
uint32_t route_order_leaves(const struct route_graph *graph, const uint8_t *rank,
			    unsigned int max_rank, uint32_t *order);

#endif
