// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine dor: dimension order. Of the ports that begin a shortest path the first in order is
 * taken: by number, or as the operator lists them for a switch. Where all switches are cabled
 * alike, so that a dimension has the same ports everywhere, a path first ends its way in one
 * dimension, then in the next; on meshes and hypercubes channel dependencies then have no cycle.
 * A ring of a torus has one, as may any other cabling, or a mesh in which a cable is missing: so
 * the engine looks (dor_loops.c), promises freedom from deadlock only where there is none, and
 * tells where there is one.
 *
 * Cables in parallel are one step; the LIDs of a leaf take them in turn.
 */
#include <stdlib.h>

#include "route/dor.h"
#include "route/parallel.h"
#include "route/shortest.h"

/* An edge and where its first port stands. */
struct place {
	uint32_t edge, at;
};

static gint compare_places(gconstpointer a, gconstpointer b)
{
	const struct place *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Ports in the list first, as it has them, the others by number. */
static void place_ports(const struct route_port_order *list, uint32_t places[256])
{
	for (uint32_t num = 0; num < 256; num++)
		places[num] = 256 + num;
	for (uint32_t i = 0; list && i < list->n; i++)
		if (places[list->ports[i]] >= 256)
			places[list->ports[i]] = i;
}

static const struct route_port_order *find_order(const struct fabric *fabric,
						 const struct route_input *input, uint32_t sw)
{
	for (uint32_t i = 0; i < input->n_port_orders; i++)
		if (input->port_orders[i].guid == fabric->nodes[fabric->switches[sw].node].guid)
			return &input->port_orders[i];
	return NULL;
}

static void order_edges(struct dor *dor, const struct fabric *fabric,
			const struct route_input *input, uint32_t sw)
{
	const struct route_graph *graph = dor->graph;
	uint32_t first = graph->first_edge[sw], n = route_degree(graph, sw), places[256];
	struct place *edges = g_new(struct place, n + 1);

	place_ports(find_order(fabric, input, sw), places);
	for (uint32_t i = 0; i < n; i++) {
		const struct route_edge *edge = &graph->edges[first + i];

		edges[i] = (struct place){first + i, UINT32_MAX};
		for (unsigned int k = 0; k < edge->n_links; k++)
			edges[i].at = MIN(edges[i].at, places[graph->links[edge->first_link + k]]);
	}
	qsort(edges, n, sizeof(*edges), compare_places);
	for (uint32_t i = 0; i < n; i++)
		dor->order[first + i] = edges[i].edge;
	g_free(edges);
}

/* The first edge that leads nearer to another switch, as its place in the order; or DOR_NONE. */
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
	return DOR_NONE;
}

static void fill_pair(struct dor *dor, uint32_t sw, uint32_t to)
{
	const struct route_graph *graph = dor->graph;
	uint32_t e = dor_step(dor, sw, to);
	const struct route_edge *edge = e == FABRIC_NONE ? NULL : &graph->edges[e];
	uint8_t *lft = dor->routing->lft[sw];
	unsigned int n_own = graph->own_lid[to] ? 1u << graph->own_lmc[to] : 0;
	const uint8_t *links = edge ? &graph->links[edge->first_link] : NULL;

	if (sw != to && !edge)
		return;
	for (uint32_t t = graph->first_target[to], i = 0; t < graph->first_target[to + 1]; t++, i++)
		lft[graph->targets[t].lid] = edge ? links[i % edge->n_links]
						  : graph->targets[t].exit;
	for (unsigned int i = 0; i < n_own; i++)
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

static void fill(struct dor *dor, const struct fabric *fabric, const struct route_input *input)
{
	const struct route_graph *graph = dor->graph;

	dor->order = g_new(uint32_t, graph->first_edge[graph->n] + 1);
	dor->step = g_malloc((size_t)graph->n * graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		order_edges(dor, fabric, input, sw);
	dor->routing = routing_new(fabric, route_engine_dor.name, ROUTE_SHORTEST);
	dor->routing->max_hops = route_most_hops(graph, dor->hops);
	route_parallel(graph->threads, graph->n, fill_switches, dor);
	dor->routing->note = dor_find_loops(dor, fabric);
	if (!dor->routing->note)
		dor->routing->promises |= ROUTE_DEADLOCK_FREE;
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
