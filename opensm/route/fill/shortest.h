// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Engines that route by hops, and the two ways to choose among best paths, which fill LFTs. */
#ifndef ROUTE_FILL_SHORTEST_H
#define ROUTE_FILL_SHORTEST_H

#include "route/engine.h"
#include "route/graph/plan.h"

enum tree_form {
	TREE_DAMAGED, /* cables seem to be lost, or some are reserved */
	TREE_WHOLE,
	TREE_EVEN, /* and all cables between two ranks carry the same */
};

/*
 * For layered networks (trees of any shape): false, with nothing done, if the graph is not such a
 * network, or there are weights. hops and next are those of route_hops_all().
 */
bool route_tree_fill(const struct route_plan *plan, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing, enum tree_form *form);

/* route_tree_fill(), then by ties, and by load (relief.h) if it is damaged. */
bool route_fill_tree(const struct route_plan *plan, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing);

/*
 * Ranks of switches that stand in layers, 0 at the top. False, with nothing done, if they do not.
 * It does not check that all paths lead over the top.
 */
bool route_tree_rank(const struct route_wishes *wishes, uint32_t *rank);

/*
 * Fills order[], of all switches: the leaves of such a network in the order in which their hosts
 * are numbered, then all other switches. Returns the number of leaves; 0 if it is not such a
 * network.
 */
uint32_t route_tree_order(const struct route_wishes *wishes, uint32_t *order);

/*
 * route_tree_order() as engine ftree uses it for this input; marks hosts that are not compute nodes
 * as later.
 */
uint32_t route_ftree_order(struct route_wishes *wishes, const struct fabric *fabric,
			   const struct route_input *input, uint32_t *order);

/*
 * For all other networks: balances the flows of all pairs, or scatters them as the input says.
 * Among equally good links the input's orders of ports decide. hops is that of route_hops_all().
 * Rows of the routing need not be set before.
 */
void route_balance_fill(const struct route_plan *plan, const struct fabric *fabric,
			const uint8_t *hops, const struct route_input *input,
			struct routing *routing);

/* Takes the demand, the targets that the input lists as ignored or ahead, and shift. */
void route_mark_preferences(struct route_wishes *wishes, const struct fabric *fabric,
			    const struct route_input *input);

/*
 * [switch]: the order in which it tries its ports, as set by the operator, or NULL; the result is
 * NULL if no order is for a switch of the fabric. g_free it.
 */
const struct route_port_order **route_port_orders(const struct fabric *fabric,
						  const struct route_input *input);

/* Place of a port in such an order: ports that are not listed, or without an order, come last. */
uint32_t route_port_place(const struct route_port_order *order, uint8_t port);

/* The whole computation of an engine with hops; order: as for route_compute_in_order(). */
struct routing *route_by_hops(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const uint32_t *order,
			      GError **error);

/*
 * route_hops_all() by the weights of the input: gives them to the order unless all are 1, removes
 * heavier cables beside lighter ones from the graph, and sets the note for the operator. NULL and
 * error if switches are too far apart even if all weights are 1.
 */
uint8_t *route_hops_by_weight(struct route_plan *plan, const struct fabric *fabric,
			      const struct route_input *input, uint8_t *next, GError **error);

/* The greatest distance in a table of route_hops_all(). */
uint16_t route_most_hops(const struct route_order *order, const uint8_t *hops);

extern const struct route_engine route_engine_minhop, route_engine_updn, route_engine_dnup,
	route_engine_dor, route_engine_ftree, route_engine_file;
extern const struct route_engine route_engine_sssp, route_engine_dfsssp, route_engine_lash,
	route_engine_nue, route_engine_hoplanes, route_engine_torus_2qos;

#endif
