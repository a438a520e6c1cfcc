// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches of a graph: which paths are legal, and which of them are best. There
 * are three kinds: by the directions of the edges (orient.h), by their weights (weights.c), and
 * with neither, where all paths are legal and those of the fewest hops are best.
 */
#ifndef ROUTE_GRAPH_ORDER_H
#define ROUTE_GRAPH_ORDER_H

#include <glib.h>

#include "route/graph/graph.h"

#define ROUTE_FAR 0xFF /* hops: there is no path */
#define ROUTE_HOPS_MAX 0xFD
#define ROUTE_UP 0x80 /* hops with directions: the path begins upwards */
#define ROUTE_UP_HOPS_MAX 0x7D
#define ROUTE_AGAINST 0x40 /* hops of a mixed order: the directions do not count here */
#define ROUTE_MIXED_HOPS_MAX 0x3D
#define ROUTE_WEIGHT_CLOSED 0xFF /* of an edge: no path leads over it */

/* All members but the graph are zero without directions and weights. */
struct route_order {
	const struct route_graph *graph;
	uint32_t *place; /* [switch]: up is towards lower places; NULL: no directions */
	bool *up;	 /* [edge]: it leads up; NULL: no directions */
	bool *inverted;	 /* [switch]: is part of an inverted root, see single_top.c; or NULL */
	uint32_t *base;	 /* places before route_join_tops() changed them; NULL: unchanged */
	/*
	 * joined[switch]: it got an extra parent. Their edge is for traffic up only, and for what
	 * does not lead down to a leaf (by leaf[]), unless open. NULL: no switch did.
	 */
	bool *joined, *leaf;
	bool open;
	bool mixed;	    /* some shortest paths go against the directions: ROUTE_AGAINST */
	bool connect_roots; /* route_join_tops() leaves one top, even if hosts do not need it */
	uint8_t *weight;    /* [edge]: number of hops it counts as; NULL: 1 each */
	bool weighed;	    /* the operator gave weights, even if all count as 1 */
	char *note; /* for the operator: odd roots, or what became of the weights; NULL: none */
};

void route_order_clear(struct route_order *order);

/* Whether an edge is closed for traffic to leaves. */
static inline bool route_is_closed(const struct route_order *order, uint32_t edge)
{
	return order->joined && !order->open && order->joined[order->graph->edges[edge].to] &&
	       !order->up[edge];
}

/*
 * Hops from every switch to each of the destination switches: hops[sw * n_dests + i], ROUTE_FAR
 * without a path. If next is not NULL it gets the lowest exit port towards each destination on one
 * of the shortest paths, rotating among neighbours (0xFF where there is none). False if some path
 * is longer than ROUTE_HOPS_MAX.
 *
 * With directions paths are legal ones only: up, then down. A switch that can reach the
 * destination by going down alone does so, even if another way is shorter, since packets that came
 * down to it must not go up again; the others have ROUTE_UP set in their hops, of which the rest is
 * the distance, at most ROUTE_UP_HOPS_MAX. Where no legal path exists hops is ROUTE_FAR.
 *
 * With weights hops are sums of weights, ROUTE_FAR also if the sum is too great, and may differ by
 * direction; next is not set.
 */
bool route_hops(const struct route_order *order, const uint32_t *dests, uint32_t n_dests,
		uint8_t *hops, uint8_t *next);

/* route_hops() with all switches as destinations; g_free the result. NULL if a path is too long. */
uint8_t *route_hops_all(const struct route_order *order, uint8_t *next);
/* route_hops_all() with an error if a path is too long. */
uint8_t *route_hops_or_error(const struct route_order *order, uint8_t *next, GError **error);

/* The bits of an element of such a table that are the number of hops, except in ROUTE_FAR. */
static inline uint8_t route_distance_mask(const struct route_order *order)
{
	return (uint8_t)~((order->up ? ROUTE_UP : 0) | (order->mixed ? ROUTE_AGAINST : 0));
}

/* The number of hops in an element of such a table; ROUTE_FAR is unchanged. */
static inline unsigned int route_distance(const struct route_order *order, uint8_t hops)
{
	return hops == ROUTE_FAR ? hops : hops & route_distance_mask(order);
}

/* Whether an edge begins a best path, by the hops to the destination here and at its other end. */
static inline bool route_leads(const struct route_order *order, uint32_t edge, uint8_t here,
			       uint8_t there)
{
	if (order->weight)
		return here != ROUTE_FAR && there + (unsigned int)order->weight[edge] == here;
	if (!order->up)
		return there + 1u == here;
	if (order->mixed && here & ROUTE_AGAINST)
		return route_distance(order, there) + 1 == route_distance(order, here);
	if (order->up[edge])
		return (there | ROUTE_UP) + 1u == here;
	return there < ROUTE_UP && there + 1u == here;
}

#endif
