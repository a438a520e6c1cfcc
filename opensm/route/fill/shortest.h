// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Engines that route by hops, and the two ways to choose among best paths, which fill LFTs. */
#ifndef ROUTE_FILL_SHORTEST_H
#define ROUTE_FILL_SHORTEST_H

#include "route/engine.h"
#include "route/graph/demand.h"
#include "route/graph/graph.h"

/*
 * For layered networks (trees of any shape): false, with nothing done, if the graph is not
 * one or has weights.
 * hops and next are those of route_hops_all().
 */
bool route_tree_fill(const struct route_graph *graph, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing);

/*
 * Ranks of switches that stand in layers, 0 at the top. False, with nothing done, if they do not.
 * Whether all ways lead over the top is another question.
 */
bool route_tree_rank(const struct route_graph *graph, uint32_t *rank);

/*
 * The leaves of such a network in the order in which their hosts are numbered, then all other
 * switches: order[graph->n]. How many leaves there are; 0 if it is no such network.
 */
uint32_t route_tree_order(const struct route_graph *graph, uint32_t *order);

/*
 * The same as engine ftree does it for this input; marks as later what is no compute node.
 */
uint32_t route_ftree_order(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input, uint32_t *order);

/*
 * For all others: balances the flows of all pairs, or scatters them as the input says; of links
 * that are equally good those come first that the input's orders of ports have first. hops is that
 * of route_hops_all(). Rows of the routing need not be set before.
 */
void route_balance_fill(const struct route_graph *graph, const struct fabric *fabric,
			const uint8_t *hops, const struct route_input *input,
			struct routing *routing);

/* Marks targets that the input has ignored or ahead, and takes over shift. */
void route_mark_preferences(struct route_graph *graph, const struct fabric *fabric,
		       const struct route_input *input);

/*
 * [switch]: the order in which the operator has it try its ports, or NULL; all of it NULL if there
 * is no order of a switch of the fabric. g_free it.
 */
const struct route_port_order **route_port_orders(const struct fabric *fabric,
						  const struct route_input *input);

/* Place of a port in such an order: those that are not there, or without one, are last. */
uint32_t route_port_place(const struct route_port_order *order, uint8_t port);

/* All that an engine with hops does to compute. */
struct routing *route_by_hops(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, GError **error);

/* route_hops_all() with an error if switches are too far apart. */
uint8_t *route_hops_or_error(const struct route_graph *graph, uint8_t *next, GError **error);

/*
 * The same by the weights that the input has: sets graph->weight unless all are 1, takes heavier
 * cables beside lighter ones out of the graph, and has graph->note say what the operator should
 * know. NULL and error if switches are too far apart even if all weights are 1.
 */
uint8_t *route_hops_by_weight(struct route_graph *graph, const struct fabric *fabric,
			      const struct route_input *input, uint8_t *next, GError **error);

/* The greatest distance in such a table. */
uint16_t route_most_hops(const struct route_graph *graph, const uint8_t *hops);

extern const struct route_engine route_engine_minhop, route_engine_updn, route_engine_dnup,
	route_engine_dor, route_engine_ftree, route_engine_file;
extern const struct route_engine route_engine_sssp, route_engine_dfsssp, route_engine_lash,
	route_engine_nue, route_engine_hoplanes, route_engine_torus_2qos;

#endif
