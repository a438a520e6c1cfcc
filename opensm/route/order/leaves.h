// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The leaves of a tree, and their order. */
#ifndef ROUTE_ORDER_LEAVES_H
#define ROUTE_ORDER_LEAVES_H

#include "route/graph/wishes.h"

/*
 * rank is the distance from leaves with hosts, 0xFF if there is no path; max_rank is the greatest
 * of the others. Switches with no hosts that count below them get the rank that they would have
 * with hosts. Returns the greatest rank after that. Neighbours whose ranks differed still differ.
 */
unsigned int route_rank_idle(const struct route_wishes *wishes, uint8_t *rank,
			     unsigned int max_rank);

/*
 * order[] gets all switches: first the leaves, those of a subtree together, then the others
 * in the order of the fabric. Returns the number of leaves. rank is 0 at leaves and max_rank at the
 * top.
 */
uint32_t route_order_leaves(const struct route_wishes *wishes, const uint8_t *rank,
			    unsigned int max_rank, uint32_t *order);

/* LIDs of hosts on a switch; if compute nodes are known, only theirs, which determine leaves. */
uint32_t route_hosts_that_count(const struct route_wishes *wishes, uint32_t sw);

/* The representative of the part of sw: part[] holds another switch of the part, or sw itself. */
uint32_t route_find_part(uint32_t *part, uint32_t sw);

#endif
