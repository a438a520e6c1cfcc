// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/flows.h"

#include <glib.h>

static void index_links(struct route_flows *flows)
{
	const struct route_graph *graph = flows->graph;

	for (size_t i = 0; i < (size_t)graph->n * 256; i++)
		flows->link_of[i] = graph->n_links;
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			const struct route_edge *edge = &graph->edges[e];

			for (uint32_t link = edge->first_link;
			     link < edge->first_link + edge->n_links; link++) {
				flows->from[link] = sw;
				flows->to[link] = edge->to;
				flows->link_of[sw * 256 + graph->links[link]] = link;
			}
		}
	}
}

void route_flows_init(struct route_flows *flows, const struct route_graph *graph,
		      const uint8_t *hops)
{
	*flows = (struct route_flows){ .graph = graph, .hops = hops };
	flows->link_of = g_new(uint32_t, (size_t)graph->n * 256);
	flows->from = g_new(uint32_t, graph->n_links + 1);
	flows->to = g_new(uint32_t, graph->n_links + 1);
	flows->order = g_new(uint32_t, graph->n + 1);
	flows->sent = g_new0(uint64_t, graph->n + 1);
	index_links(flows);
}

void route_flows_clear(struct route_flows *flows)
{
	g_free(flows->link_of);
	g_free(flows->from);
	g_free(flows->to);
	g_free(flows->order);
	g_free(flows->sent);
}

void route_flows_turn_to(struct route_flows *flows, uint32_t leaf)
{
	const struct route_graph *graph = flows->graph;
	const uint8_t *hops = flows->hops + leaf;
	uint32_t start[256 + 1] = { 0 };

	for (uint32_t sw = 0; sw < graph->n; sw++)
		start[256 - route_distance(graph, hops[(size_t)sw * graph->n])]++;
	start[1] = 0; /* those that do not reach it */
	for (unsigned int i = 1; i <= 256; i++)
		start[i] += start[i - 1];
	flows->n_order = start[255];
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		unsigned int far = route_distance(graph, hops[(size_t)sw * graph->n]);

		if (far && far != ROUTE_FAR)
			flows->order[start[255 - far]++] = sw;
	}
}
