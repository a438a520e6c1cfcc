// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/graph/channels.h"

#include <glib.h>
#include <string.h>

/* Numbers steps. The other direction is found by ports, as parallel cables may be crossed. */
static void number_steps(struct route_channels *channels, const struct route_graph *graph,
			 const struct fabric *fabric)
{
	channels->back = g_new(uint32_t, channels->n + 1);
	channels->step_base = g_new(uint32_t, channels->n + 1);
	for (uint32_t c = 0; c < channels->n; c++) {
		uint32_t port = fabric_switch_port(fabric, channels->from[c], graph->links[c]);
		const uint32_t *first = &channels->first[channels->to[c]];

		channels->back[c] = route_channel(channels, channels->to[c],
						  fabric->ports[fabric->ports[port].peer].num);
		g_assert(channels->back[c] != FABRIC_NONE);
		channels->step_base[c] = channels->n_steps - first[0];
		channels->n_steps += first[1] - first[0];
	}
}

struct route_channels *route_channels_new(const struct route_graph *graph,
					  const struct fabric *fabric)
{
	struct route_channels *channels = g_new0(struct route_channels, 1);
	size_t ports = (size_t)graph->n * 256;

	channels->n = graph->n_links;
	channels->first = g_new(uint32_t, graph->n + 1);
	channels->from = g_new(uint32_t, channels->n + 1);
	channels->to = g_new(uint32_t, channels->n + 1);
	channels->of_port = g_new(uint32_t, ports + 1);
	memset(channels->of_port, 0xFF, ports * sizeof(*channels->of_port));
	channels->first[graph->n] = channels->n;
	for (uint32_t sw = graph->n; sw-- > 0;) {
		channels->first[sw] = route_degree(graph, sw)
					      ? graph->edges[graph->first_edge[sw]].first_link
					      : channels->first[sw + 1];
		for (uint32_t k = channels->first[sw]; k < channels->first[sw + 1]; k++)
			channels->from[k] = channels->to[k] = sw;
		route_each_edge(graph, sw, edge)
			for (uint32_t k = 0; k < edge->n_links; k++) {
				uint32_t c = edge->first_link + k;

				channels->from[c] = sw;
				channels->to[c] = edge->to;
				channels->of_port[(size_t)sw * 256 + graph->links[c]] = c;
			}
	}
	if (fabric)
		number_steps(channels, graph, fabric);
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
	g_free(channels->step_base);
	g_free(channels);
}
