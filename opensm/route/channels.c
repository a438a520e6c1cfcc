// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/channels.h"

#include <glib.h>
#include <string.h>

/* The edge that leads back; every cable has two ends. */
static const struct route_edge *edge_back(const struct route_graph *graph, uint32_t from,
					  uint32_t to)
{
	for (uint32_t e = graph->first_edge[to]; e < graph->first_edge[to + 1]; e++)
		if (graph->edges[e].to == from)
			return &graph->edges[e];
	g_assert_not_reached();
}

static void add_edge(struct route_channels *channels, const struct route_graph *graph, uint32_t sw,
		     const struct route_edge *edge)
{
	const struct route_edge *back = edge_back(graph, sw, edge->to);

	g_assert(back->n_links == edge->n_links);
	for (uint32_t k = 0; k < edge->n_links; k++) {
		uint32_t channel = edge->first_link + k;

		channels->from[channel] = sw;
		channels->to[channel] = edge->to;
		channels->back[channel] = back->first_link + k;
		channels->of_port[(size_t)sw * 256 + graph->links[channel]] = channel;
	}
}

struct route_channels *route_channels_new(const struct route_graph *graph)
{
	struct route_channels *channels = g_new0(struct route_channels, 1);
	size_t ports = (size_t)graph->n * 256;

	channels->n = graph->n_links;
	channels->first = g_new(uint32_t, graph->n + 1);
	channels->from = g_new(uint32_t, channels->n + 1);
	channels->to = g_new(uint32_t, channels->n + 1);
	channels->back = g_new(uint32_t, channels->n + 1);
	channels->of_port = g_new(uint32_t, ports + 1);
	memset(channels->of_port, 0xFF, ports * sizeof(*channels->of_port));
	channels->first[graph->n] = channels->n;
	for (uint32_t sw = graph->n; sw-- > 0;) {
		channels->first[sw] = route_degree(graph, sw)
					      ? graph->edges[graph->first_edge[sw]].first_link
					      : channels->first[sw + 1];
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			add_edge(channels, graph, sw, &graph->edges[e]);
	}
	return channels;
}

void route_channels_free(struct route_channels *channels)
{
	if (!channels)
		return;
	g_free(channels->first);
	g_free(channels->from);
	g_free(channels->to);
	g_free(channels->back);
	g_free(channels->of_port);
	g_free(channels);
}
