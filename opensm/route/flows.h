// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How what all hosts send to a LID adds up on its way, by tables that follow hops: if switches are
 * taken from the farthest to the nearest, what one sends is known when its turn comes.
 */
#ifndef ROUTE_FLOWS_H
#define ROUTE_FLOWS_H

#include "route/graph.h"

struct route_flows {
	const struct route_graph *graph;
	const uint8_t *hops; /* as of route_hops_all() */
	uint32_t *link_of;   /* [switch * 256 + port]; of ports that lead to no switch: n_links */
	uint32_t *from, *to; /* [link]: switches at its ends */
	uint32_t *order; /* switches from the farthest to the nearest, the leaf at hand left out */
	uint32_t n_order;
	uint64_t *sent; /* [switch]: zeros at first; what it sends of the LID at hand */
};

void route_flows_init(struct route_flows *flows, const struct route_graph *graph,
		      const uint8_t *hops);
void route_flows_clear(struct route_flows *flows);

/* Sets order to that of the way to this leaf; switches that do not reach it are not in it. */
void route_flows_turn_to(struct route_flows *flows, uint32_t leaf);

#endif
