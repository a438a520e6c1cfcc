// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From hops to tables, for every engine that routes by hops: minhop by hops of the plain graph,
 * updn and dnup by those of an oriented one.
 */
#include "route/fill/shortest.h"

#include "route/fill/relief.h"
#include "route/fill/ties.h"
#include "route/graph/watch.h"
#include "route/order/orient.h"
#include "route/value/base.h"

uint16_t route_most_hops(const struct route_order *order, const uint8_t *hops)
{
	size_t n = (size_t)order->graph->n * order->graph->n;
	bool seen[256] = {false};
	unsigned int most = 0;

	for (size_t i = 0; i < n; i++)
		seen[hops[i]] = true;
	for (unsigned int i = 0; i < ROUTE_FAR; i++)
		if (seen[i])
			most = MAX(most, route_distance(order, i));
	return most;
}

/*
 * A layered engine follows an order only where its own tables do: these are free of deadlock on one
 * lane, though its tables without an order may need several.
 */
static unsigned int promises_of(const struct route_engine *engine, const uint32_t *place)
{
	return engine->route && place ? ROUTE_DEADLOCK_FREE : engine->promises;
}

/* By the rules of the engine, or up and down in the given order, if that is suitable. */
static uint8_t *find_hops(const struct route_engine *engine, struct route_plan *plan,
			  const struct fabric *fabric, const struct route_input *input,
			  const uint32_t *place, uint8_t *next, GError **error)
{
	struct route_order *order = &plan->order;
	uint32_t n = plan->graph->n;
	uint8_t *hops;

	if (!place)
		return engine->hops(plan, fabric, input, next, error);
	route_orient_by(order, g_memdup2(place, n * sizeof(*place)));
	hops = route_hops_or_error(order, next, error);
	if (hops && !(promises_of(engine, place) & ROUTE_DEADLOCK_FREE) &&
	    !route_reaches(plan->graph, fabric, hops, NULL)) {
		g_free(hops);
		route_orient_by(order, NULL);
		hops = route_hops_or_error(order, next, error);
	}
	return hops;
}

bool route_fill_tree(const struct route_plan *plan, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing)
{
	enum tree_form form;

	if (!route_tree_fill(plan, hops, next, routing, &form))
		return false;
	if (route_is_cancelled(plan->graph->watch))
		return true; /* some rows are not set */
	route_mend_penalties(routing, plan, hops);
	if (form == TREE_DAMAGED)
		route_relieve(plan, hops, routing);
	else if (form == TREE_WHOLE)
		route_relief_busiest(plan, hops, routing, &routing->base->peak);
	return true;
}

struct routing *route_by_hops(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const uint32_t *order,
			      GError **error)
{
	static const struct route_input nothing = {0};
	uint32_t n = fabric->n_switches;
	g_autofree uint8_t *next = g_malloc((size_t)n * n + 1);
	g_autofree const struct route_port_order **orders = route_port_orders(fabric, input);
	/* preferences that only balance.c supports */
	bool by_load = engine->preferences && (input->scatter || input->count_switches || orders);
	struct routing *routing = NULL;
	struct route_plan plan;
	uint8_t *hops;

	route_plan_init(&plan, fabric);
	plan.graph->threads = input->threads;
	plan.graph->watch = input->watch;
	plan.order.connect_roots = input->connect_roots && engine->promises & ROUTE_DEADLOCK_FREE;
	hops = find_hops(engine, &plan, fabric, input, order, next, error);
	if (hops) {
		routing = routing_new_unset(fabric, engine, promises_of(engine, order));
		routing->max_hops = route_most_hops(&plan.order, hops);
		routing->note = g_strdup(plan.order.note);
		if (engine->preferences)
			route_mark_preferences(&plan.wishes, fabric, input);
		route_mark_ties(&plan.wishes, fabric, input);
		if (by_load || !route_fill_tree(&plan, hops, next, routing))
			route_balance_fill(&plan, fabric, hops,
					   engine->preferences ? input : &nothing, routing);
	}
	if (routing) {
		route_note_ties(routing, &plan, hops);
		routing_make_repairable(routing, &plan, hops);
		if (engine->finish)
			engine->finish(routing, input);
	} else {
		g_free(hops);
		route_plan_clear(&plan);
	}
	return routing;
}
