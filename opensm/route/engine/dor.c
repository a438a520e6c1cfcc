// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine dor: dimension order. Of the ports that begin a shortest path it takes the first: by port
 * number, or in the operator's order for the switch. Where all switches are cabled alike, so that a
 * dimension has the same ports everywhere, a path first finishes one dimension, then the next; on
 * meshes and hypercubes channel dependencies then have no cycle. A ring of a torus has one, as may
 * any other cabling, or a mesh in which a cable is missing: so the engine checks, and promises
 * freedom from deadlock only if there is no cycle.
 *
 * Parallel cables are one step; the LIDs of a leaf take them in turn.
 */
#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/parallel.h"
#include "route/layers/acyclic.h"
#include "route/order/orient.h"

struct dor {
	const struct route_engine *engine;
	const struct route_plan *plan;
	const struct route_graph *graph; /* of the plan */
	const uint8_t *hops;
	struct routing *routing;
	uint32_t *order; /* edges, those of a switch side by side, in the order of its ports */
};

/* Each edge takes the place of the first of its ports. */
static void order_edges(struct dor *dor, const struct route_port_order *tried, uint32_t sw)
{
	const struct route_graph *graph = dor->graph;
	uint32_t first = graph->first_edge[sw], n = route_degree(graph, sw);
	g_autofree uint32_t *at = g_new(uint32_t, n + 1), *order = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct route_edge *edge = &graph->edges[first + i];

		at[i] = UINT32_MAX;
		for (unsigned int k = 0; k < edge->n_links; k++)
			at[i] = MIN(at[i], route_port_place(tried,
							    graph->links[edge->first_link + k]));
	}
	order = route_order(n, at, NULL);
	for (uint32_t i = 0; i < n; i++)
		dor->order[first + order[i]] = first + i;
}

/* The first edge that leads nearer to another switch; NULL: none. */
static const struct route_edge *first_step(const struct dor *dor, uint32_t sw, uint32_t to)
{
	const struct route_graph *graph = dor->graph;
	uint8_t here = dor->hops[(size_t)sw * graph->n + to];

	for (uint32_t i = graph->first_edge[sw]; sw != to && i < graph->first_edge[sw + 1]; i++) {
		const struct route_edge *edge = &graph->edges[dor->order[i]];

		if (dor->hops[(size_t)edge->to * graph->n + to] + 1u == here)
			return edge;
	}
	return NULL;
}

static void fill_pair(struct dor *dor, uint32_t sw, uint32_t to)
{
	const struct route_graph *graph = dor->graph;
	const struct route_edge *edge = first_step(dor, sw, to);
	uint8_t *lft = dor->routing->lft[sw];
	const uint8_t *links = edge ? &graph->links[edge->first_link] : NULL;

	if (sw != to && !edge)
		return;
	for (uint32_t t = graph->first_target[to], i = 0; t < graph->first_target[to + 1]; t++, i++)
		lft[graph->targets[t].lid] = edge ? links[i % edge->n_links]
						  : graph->targets[t].exit;
	for (unsigned int i = 0; i < route_n_own(graph, to); i++)
		lft[graph->own_lid[to] + i] = edge ? links[i % edge->n_links] : 0;
}

static void fill_switches(void *arg, uint32_t first, uint32_t last)
{
	struct dor *dor = arg;

	for (uint32_t sw = first; sw < last; sw++)
		for (uint32_t to = 0; to < dor->graph->n; to++)
			fill_pair(dor, sw, to);
}

/* The channel by which packets to a LID leave a switch, or FABRIC_NONE. */
static uint32_t channel_of(const struct dor *dor, const struct route_channels *channels,
			   uint32_t sw, uint16_t lid)
{
	return route_channel(channels, sw, dor->routing->lft[sw][lid]);
}

/*
 * Notes which channels packets to a switch, from all others or from sources, need after each
 * channel. Its first LID takes the first of parallel cables everywhere.
 */
static void follow(const struct dor *dor, const struct route_channels *channels, uint32_t to,
		   bool *met, struct acyclic *lane)
{
	const struct route_graph *graph = dor->graph;
	uint16_t lid = route_lid_of(graph, to);

	memset(met, false, graph->n);
	for (uint32_t from = 0; lid && from < graph->n; from++) {
		uint32_t sw = from, c = channel_of(dor, channels, sw, lid);

		if (!route_has_hosts(graph, to) && !route_is_source(graph, from))
			continue;
		while (c != FABRIC_NONE && !met[sw]) {
			uint32_t next = channel_of(dor, channels, channels->to[c], lid);

			met[sw] = true;
			if (next != FABRIC_NONE)
				acyclic_note(lane, (struct acyclic_step){c, next});
			sw = channels->to[c];
			c = next;
		}
	}
}

static bool is_free_of_loops(const struct dor *dor, const struct fabric *fabric)
{
	struct route_channels *channels = route_channels_new(dor->graph, fabric);
	struct acyclic *lane = acyclic_new(channels);
	g_autofree bool *met = g_new(bool, dor->graph->n + 1);
	bool is_free;

	for (uint32_t to = 0; to < dor->graph->n; to++)
		follow(dor, channels, to, met, lane);
	is_free = acyclic_sort(lane);
	acyclic_free(lane);
	route_channels_free(channels);
	return is_free;
}

static void fill(struct dor *dor, const struct fabric *fabric, const struct route_input *input)
{
	const struct route_graph *graph = dor->graph;
	g_autofree const struct route_port_order **tried = route_port_orders(fabric, input);
	g_autofree uint32_t *order = g_new(uint32_t, graph->first_edge[graph->n] + 1);

	dor->order = order;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		order_edges(dor, tried ? tried[sw] : NULL, sw);
	dor->routing = routing_new(fabric, dor->engine, ROUTE_SHORTEST);
	dor->routing->max_hops = route_most_hops(&dor->plan->order, dor->hops);
	route_parallel(graph->threads, graph->n, fill_switches, dor);
	if (is_free_of_loops(dor, fabric))
		dor->routing->promises |= ROUTE_DEADLOCK_FREE;
	else
		dor->routing->note = g_strdup(
			"can deadlock: paths go all around the rings of a torus, or a cable is "
			"missing, or dimensions do not use the same ports at all switches "
			"(port_search_ordering_file); updn has no such paths");
}

static struct routing *dor_compute(const struct route_engine *engine, const struct fabric *fabric,
				   const struct route_input *input, GError **error)
{
	struct route_plan plan;
	struct dor dor = {.engine = engine, .plan = &plan};
	g_autofree uint8_t *hops = NULL;

	route_plan_init(&plan, fabric);
	dor.graph = plan.graph;
	plan.graph->threads = input->threads;
	plan.graph->watch = input->watch;
	dor.hops = hops = route_hops_or_error(&plan.order, NULL, error);
	if (hops)
		fill(&dor, fabric, input);
	route_plan_clear(&plan);
	return dor.routing;
}

const struct route_engine route_engine_dor = {
	.name = "dor",
	.summary = "dimension order: free of credit loops on meshes and hypercubes, not on tori",
	.promises = ROUTE_SHORTEST,
	.compute = dor_compute,
	.need = { .in_trees = 1, .elsewhere = 1 },
};
