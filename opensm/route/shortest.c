// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From hops to tables, for every engine that routes by hops: minhop by those of the graph as it is,
 * updn and dnup by those of an oriented one.
 */
#include "route/shortest.h"

#include <stdatomic.h>

#include "route/parallel.h"
#include "route/trace.h"

/* Looks for the most hops in rows of a table. */
struct most {
	const struct route_graph *graph;
	const uint8_t *hops;
	atomic_uint most;
};

static void most_of_rows(void *arg, uint32_t first, uint32_t last)
{
	struct most *job = arg;
	size_t n = job->graph->n;
	uint8_t distance = job->graph->up ? (uint8_t)~ROUTE_UP : 0xFF, most = 0;
	unsigned int before;

	for (size_t i = first * n; i < last * n; i++) {
		uint8_t hops = job->hops[i] == ROUTE_FAR ? 0 : job->hops[i] & distance;

		most = MAX(most, hops);
	}
	before = atomic_load(&job->most);
	while (most > before && !atomic_compare_exchange_weak(&job->most, &before, most))
		;
}

uint16_t route_most_hops(const struct route_graph *graph, const uint8_t *hops)
{
	struct most job = { .graph = graph, .hops = hops };

	atomic_init(&job.most, 0);
	route_parallel(graph->threads, graph->n, most_of_rows, &job);
	return atomic_load(&job.most);
}

/* Wishes that only balance.c knows of. */
static bool by_load(const struct route_engine *engine, const struct route_input *input)
{
	return engine->wishes && (input->scatter || input->count_switches);
}

struct routing *route_by_hops(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, GError **error)
{
	static const struct route_input nothing = {0};
	struct route_graph *graph = route_graph_new(fabric);
	uint8_t *next = g_malloc((size_t)graph->n * graph->n + 1);
	struct routing *routing = NULL;
	uint8_t *hops;

	graph->threads = input->threads;
	hops = engine->hops(graph, fabric, input, next, error);
	if (hops) {
		routing = routing_new_unset(fabric, engine->name, engine->promises);
		routing->max_hops = route_most_hops(graph, hops);
		routing->note = g_strdup(graph->note ? graph->note : graph->roots_note);
		if (engine->wishes)
			route_mark_wishes(graph, fabric, input);
		if (by_load(engine, input) || !route_tree_fill(graph, hops, next, routing))
			route_balance_fill(graph, hops, engine->wishes ? input : &nothing, routing);
		if (graph->up)
			route_connect(graph, hops, next, routing);
	}
	if (routing) {
		routing_settle(routing, fabric, graph, hops, next);
	} else {
		g_free(hops);
		g_free(next);
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
