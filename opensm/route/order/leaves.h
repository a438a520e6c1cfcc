// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The leaves of a tree: which they are, and their order. */
#ifndef ROUTE_ORDER_LEAVES_H
#define ROUTE_ORDER_LEAVES_H

#include "route/graph/graph.h"

/*
 * rank is the distance from leaves with hosts, 0xFF if there is none, and max_rank the greatest of
 * others. Ranks switches that have no hosts that count below them where they would stand if they
 * had. Returns the greatest rank then. If switches side by side had different ranks they still
 * have.
 */
unsigned int route_rank_idle(const struct route_graph *graph, uint8_t *rank, unsigned int max_rank);

/*
 * order[graph->n] gets all switches: first the leaves, those of a subtree together, then the others
 * as the fabric lists them. Returns how many leaves there are. rank is 0 of leaves and max_rank at
 * the top.
 */
uint32_t route_order_leaves(const struct route_graph *graph, const uint8_t *rank,
			    unsigned int max_rank, uint32_t *order);

/* LIDs of hosts on a switch; of compute nodes if these are known: only they tell the leaves. */
uint32_t route_hosts_that_count(const struct route_graph *graph, uint32_t sw);

/* The switch that stands for the part of sw: part has another one of it, or that one itself. */
uint32_t route_find_part(uint32_t *part, uint32_t sw);

#endif
