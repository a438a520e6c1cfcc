// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From hops to tables, for every engine that routes by hops: minhop by hops of the plain graph,
 * updn and dnup by those of an oriented one.
 */
#include "route/fill/shortest.h"

#include "route/fill/ties.h"
#include "route/order/orient.h"
#include "route/value/base.h"

uint16_t route_most_hops(const struct route_graph *graph, const uint8_t *hops)
{
	size_t n = (size_t)graph->n * graph->n;
	bool seen[256] = {false};
	unsigned int most = 0;

	for (size_t i = 0; i < n; i++)
		seen[hops[i]] = true;
	for (unsigned int i = 0; i < ROUTE_FAR; i++)
		if (seen[i])
			most = MAX(most, route_distance(graph, i));
	return most;
}

/* By the rules of the engine, or up and down in the given order, if that is suitable. */
static uint8_t *find_hops(const struct route_engine *engine, struct route_graph *graph,
			  const struct fabric *fabric, const struct route_input *input,
			  const uint32_t *order, uint8_t *next, GError **error)
{
	uint8_t *hops;

	if (!order)
		return engine->hops(graph, fabric, input, next, error);
	route_orient_by(graph, g_memdup2(order, graph->n * sizeof(*order)));
	hops = route_hops_or_error(graph, next, error);
	if (hops && !(engine->promises & ROUTE_DEADLOCK_FREE) &&
	    !route_reaches(graph, fabric, hops, NULL)) {
		g_free(hops);
		route_orient_by(graph, NULL);
		hops = route_hops_or_error(graph, next, error);
	}
	return hops;
}

struct routing *route_by_hops(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const uint32_t *order,
			      GError **error)
{
	static const struct route_input nothing = {0};
	struct route_graph *graph = route_graph_new(fabric);
	g_autofree uint8_t *next = g_malloc((size_t)graph->n * graph->n + 1);
	g_autofree const struct route_port_order **orders = route_port_orders(fabric, input);
	/* preferences that only balance.c supports */
	bool by_load = engine->preferences && (input->scatter || input->count_switches || orders);
	struct routing *routing = NULL;
	uint8_t *hops;

	graph->threads = input->threads;
	graph->connect_roots = input->connect_roots && engine->promises & ROUTE_DEADLOCK_FREE;
	hops = find_hops(engine, graph, fabric, input, order, next, error);
	if (hops) {
		routing = routing_new_unset(fabric, engine, engine->promises);
		routing->max_hops = route_most_hops(graph, hops);
		routing->note = g_strdup(graph->note ? graph->note : graph->roots_note);
		if (engine->preferences)
			route_mark_preferences(graph, fabric, input);
		route_mark_ties(graph, fabric, input);
		if (by_load || !route_tree_fill(graph, hops, next, routing))
			route_balance_fill(graph, fabric, hops,
					   engine->preferences ? input : &nothing, routing);
		else
			route_mend_tolls(routing, graph, hops);
	}
	if (routing) {
		route_note_ties(routing, graph, hops);
		routing_make_repairable(routing, graph, hops);
		if (engine->finish)
			engine->finish(routing, input);
	} else {
		g_free(hops);
		route_graph_free(graph);
	}
	return routing;
}

uint8_t *route_hops_or_error(const struct route_graph *graph, uint8_t *next, GError **error)
{
	uint8_t *hops = route_hops_all(graph, next);

	if (!hops)
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "switches are more than %u hops apart",
			    graph->up ? ROUTE_UP_HOPS_MAX : ROUTE_HOPS_MAX);
	return hops;
}
