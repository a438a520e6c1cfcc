// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine dor: dimension order. Of the ports that begin a shortest path the first in order is
 * taken: by number, or as the operator lists them for a switch. Where all switches are cabled
 * alike, so that a dimension has the same ports everywhere, a path first ends its way in one
 * dimension, then in the next; on meshes and hypercubes channel dependencies then have no cycle.
 * A ring of a torus has one, as may any other cabling, or a mesh in which a cable is missing: so
 * the engine looks, and promises freedom from deadlock only where there is none.
 *
 * Cables in parallel are one step; the LIDs of a leaf take them in turn.
 */
#include <string.h>

#include "route/acyclic.h"
#include "route/orient.h"
#include "route/parallel.h"
#include "route/shortest.h"

#define NO_STEP 0xFF

struct dor {
	const struct route_graph *graph;
	const uint8_t *hops;
	struct routing *routing;
	uint32_t *order; /* edges, those of a switch together and in the order of its ports */
	uint8_t *step;	 /* [switch * n + switch]: place of the edge taken in this order, from that
			    of the first edge of the switch; NO_STEP: there is none */
};

/* Each edge stands where the first of its ports does. */
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

/* The first edge that leads nearer to another switch, as its place in the order; or NO_STEP. */
static uint8_t first_step(const struct dor *dor, uint32_t sw, uint32_t to)
{
	const struct route_graph *graph = dor->graph;
	uint8_t here = dor->hops[(size_t)sw * graph->n + to];

	for (uint32_t i = graph->first_edge[sw]; sw != to && i < graph->first_edge[sw + 1]; i++) {
		const struct route_edge *edge = &graph->edges[dor->order[i]];

		if (route_leads(graph, dor->order[i], here,
				dor->hops[(size_t)edge->to * graph->n + to]))
			return i - graph->first_edge[sw];
	}
	return NO_STEP;
}

/* The edge by which packets leave a switch towards another; or FABRIC_NONE. */
static uint32_t step_of(const struct dor *dor, uint32_t sw, uint32_t to)
{
	uint8_t step = dor->step[(size_t)sw * dor->graph->n + to];

	return step == NO_STEP ? FABRIC_NONE : dor->order[dor->graph->first_edge[sw] + step];
}

static void fill_pair(struct dor *dor, uint32_t sw, uint32_t to)
{
	const struct route_graph *graph = dor->graph;
	uint32_t e = step_of(dor, sw, to);
	const struct route_edge *edge = e == FABRIC_NONE ? NULL : &graph->edges[e];
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

	for (uint32_t sw = first; sw < last; sw++) {
		for (uint32_t to = 0; to < dor->graph->n; to++) {
			dor->step[(size_t)sw * dor->graph->n + to] = first_step(dor, sw, to);
			fill_pair(dor, sw, to);
		}
	}
}

/* Notes what packets to a switch, from all others or from sources, ask for after each edge. */
static void follow(const struct dor *dor, uint32_t to, bool *met, struct acyclic *lane)
{
	const struct route_graph *graph = dor->graph;
	const struct route_edge *edges = graph->edges;

	memset(met, false, graph->n);
	for (uint32_t from = 0; from < graph->n; from++) {
		uint32_t sw = from, edge = step_of(dor, sw, to);

		if (!route_has_hosts(graph, to) && !route_is_source(graph, from))
			continue;
		while (edge != FABRIC_NONE && !met[sw]) {
			uint32_t next = edges[edge].to, then = step_of(dor, next, to);

			met[sw] = true;
			if (then != FABRIC_NONE)
				acyclic_note(lane, (struct acyclic_step){edges[edge].first_link,
									 edges[then].first_link});
			sw = next;
			edge = then;
		}
	}
}

static bool is_free_of_loops(const struct dor *dor, const struct fabric *fabric)
{
	const struct route_graph *graph = dor->graph;
	struct route_channels *channels = route_channels_new(graph, fabric);
	struct acyclic *lane = acyclic_new(channels);
	g_autofree bool *met = g_new(bool, graph->n + 1);
	bool is_free;

	for (uint32_t to = 0; to < graph->n; to++)
		if (route_has_hosts(graph, to) || graph->own_lid[to])
			follow(dor, to, met, lane);
	is_free = acyclic_sort(lane);
	acyclic_free(lane);
	route_channels_free(channels);
	return is_free;
}

static void fill(struct dor *dor, const struct fabric *fabric, const struct route_input *input)
{
	const struct route_graph *graph = dor->graph;
	g_autofree const struct route_port_order **tried = route_port_orders(fabric, input);

	dor->order = g_new(uint32_t, graph->first_edge[graph->n] + 1);
	dor->step = g_malloc((size_t)graph->n * graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		order_edges(dor, tried ? tried[sw] : NULL, sw);
	dor->routing = routing_new(fabric, route_engine_dor.name, ROUTE_SHORTEST);
	dor->routing->max_hops = route_most_hops(graph, dor->hops);
	route_parallel(graph->threads, graph->n, fill_switches, dor);
	if (is_free_of_loops(dor, fabric))
		dor->routing->promises |= ROUTE_DEADLOCK_FREE;
	else
		dor->routing->note = g_strdup(
			"can deadlock: paths go all round the rings of a torus, or a cable is "
			"missing, or dimensions have not the same ports at all switches "
			"(port_search_ordering_file); updn has no such paths");
	g_free(dor->order);
	g_free(dor->step);
}

static struct routing *dor_compute(const struct fabric *fabric, const struct route_input *input,
				   GError **error)
{
	struct route_graph *graph = route_graph_new(fabric);
	struct dor dor = { .graph = graph };
	g_autofree uint8_t *hops = NULL;

	graph->threads = input->threads;
	dor.hops = hops = route_hops_or_error(graph, NULL, error);
	if (hops)
		fill(&dor, fabric, input);
	route_graph_free(graph);
	return dor.routing;
}

const struct route_engine route_engine_dor = {
	.name = "dor",
	.summary = "dimension order: free of credit loops on meshes and hypercubes, not on tori",
	.promises = ROUTE_SHORTEST,
	.compute = dor_compute,
};
