// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Directions for the edges of a graph, which struct route_order keeps. If each edge leads up or
 * down in one order of all switches, and no path goes up again after going down, channel
 * dependencies cannot be cyclic (up*\/down* routing of Autonet: M. Schroeder et al., 1991).
 */
#ifndef ROUTE_ORDER_ORIENT_H
#define ROUTE_ORDER_ORIENT_H

#include "route/engine.h"
#include "route/graph/order.h"

/*
 * The places of n switches, or other things, by rank, and among equals by key. Keys are unique;
 * NULL: by index. g_free it.
 */
uint32_t *route_order(uint32_t n, const uint32_t *rank, const uint64_t *key);

/* Orients by that order: up is where the place is lower. */
void route_orient(struct route_order *order, const uint32_t *rank, const uint64_t *key);

/* Orients by places, which it takes over; NULL: every path is legal again. */
void route_orient_by(struct route_order *order, uint32_t *place);

/* Updates up[] after a change of places. */
void route_orient_edges(struct route_order *order);

/*
 * The order of switches of the same rank: by the operator's ids, then by node GUID; as places from
 * 0 to the number of switches less one. g_free it.
 */
uint64_t *route_keys(const struct fabric *fabric, const struct route_input *input);

/*
 * Orients by the distance from the switches that have hosts: far is up. False if the graph has no
 * hosts.
 */
bool route_orient_from_hosts(struct route_order *order, const uint64_t *key);

/*
 * Ranks by the distance from the named roots (g_free them); NULL and error if none of them is in
 * the fabric. Sets the note of the order if they look odd. Parts of the fabric without a root use
 * the distance from the hosts.
 */
uint32_t *route_rank_from_roots(struct route_order *order, const struct fabric *fabric,
				const struct route_input *input, const uint64_t *key,
				GError **error);

/*
 * Hops by the directions, after tops are joined (route_join_tops), if they connect all that cables
 * connect, as in route_reaches(); NULL and error if not.
 */
uint8_t *route_legal_hops(struct route_order *order, const struct fabric *fabric, uint8_t *next,
			  GError **error);

/* route_legal_hops() in the order of ranks and keys, with an inverted root if that is good. */
uint8_t *route_ranked_hops(struct route_order *order, const struct fabric *fabric,
			   const uint32_t *rank, const uint64_t *key, uint8_t *next,
			   GError **error);

/*
 * Orients by the one of several orders by which routes are likely to load links most
 * evenly. Each connects all hosts that cables connect, except the order by distance from the hosts,
 * which is among them. False if no order gives short enough paths; there are directions anyway.
 */
bool route_orient_best(struct route_order *order, const uint64_t *key);

/*
 * Orients by rank[switch], which gets the distance from the switches in the middle of the
 * hosts (roots.c). False if that costs hosts bandwidth, or leaves some of them unreachable.
 */
bool route_orient_middle(struct route_order *order, const uint64_t *key, uint32_t *rank);

/* Whether each cable joins switches of adjacent ranks. */
bool route_is_layered(const struct route_graph *graph, const uint32_t *rank);

/* ---- single_top.c: orders in which there is a legal path wherever there must be one ---- */

/*
 * Orients a network so that one switch below the roots is at the top, then what was above it, then
 * all others by rank and key; inverted[] marks all switches before these others. False,
 * with nothing done, if ranks are not the distance from roots, or no switch is suitable.
 */
bool route_orient_inverted(struct route_order *order, const uint32_t *rank, const uint64_t *key);

/*
 * Whether hops with an inverted root may be used: no switch of it goes down to hosts by
 * a longer path than one that begins upwards. Then a best path to an ancestor of a host that is
 * part of a best path to the host does lead to the host; tree_fill.c relies on this.
 */
bool route_inversion_holds(const struct route_order *order, const uint8_t *hops);

/*
 * Changes the directions so that all switches have legal paths to and from those
 * with hosts, and that of the subnet manager, if cables connect them. joined[] marks
 * switches that got an extra parent, base has the places before; both are NULL if there is no need,
 * or no such order.
 */
void route_join_tops(struct route_order *order);

/*
 * Whether by these hops all hosts, and the subnet manager, reach all switches and are reached from
 * them, as far as cables allow; sets error if not.
 */
bool route_reaches(const struct route_graph *graph, const struct fabric *fabric,
		   const uint8_t *hops, GError **error);

#endif
