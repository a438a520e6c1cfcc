// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine minhop: every path is as short as the cabling allows; which of the shortest ones is a
 * matter of balance (tree.c where the network is layered, balance.c elsewhere). Channel
 * dependencies may be cyclic: it promises no freedom from deadlock.
 */
#include "route/shortest.h"

static uint16_t greatest_hops(const uint8_t *hops, size_t n)
{
	uint8_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (hops[i] != ROUTE_FAR)
			most = MAX(most, hops[i]);
	return most;
}

static struct routing *minhop_compute(const struct fabric *fabric,
				      const struct route_input *input, GError **error)
{
	struct route_graph *graph = route_graph_new(fabric);
	size_t pairs = (size_t)graph->n * graph->n;
	uint8_t *next = g_malloc(pairs + 1);
	struct routing *routing = NULL;
	uint8_t *hops;

	graph->threads = input->threads;
	hops = route_hops_all(graph, next);
	if (hops) {
		routing = routing_new(fabric, "minhop", ROUTE_SHORTEST);
		routing->max_hops = greatest_hops(hops, pairs);
		if (!route_tree_fill(graph, hops, next, routing))
			route_balance_fill(graph, hops, routing);
	} else {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "switches are more than %u hops apart", ROUTE_HOPS_MAX);
	}
	g_free(hops);
	g_free(next);
	route_graph_free(graph);
	return routing;
}

const struct route_engine route_engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths, balanced; may have credit loops",
	.promises = ROUTE_SHORTEST,
	.compute = minhop_compute,
};
