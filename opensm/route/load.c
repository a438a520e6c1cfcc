// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What tables that follow hops load on the cables, all hosts sending to all: for each LID switches
 * are taken from the farthest to the nearest, so that what one sends is known when its turn comes.
 */
#include <pthread.h>
#include <string.h>

#include "route/parallel.h"
#include "route/trace.h"

/* What the threads share. */
struct sum {
	const struct routing *routing;
	const struct route_graph *graph;
	const uint8_t *hops;
	pthread_mutex_t lock;
	uint64_t *load; /* [link] */
};

struct tide {
	const struct sum *sum;
	uint64_t *load;
	uint32_t *order; /* switches from the farthest to the nearest, the leaf left out */
	uint32_t n_order;
	uint64_t *flow;
	uint32_t *link_of; /* [switch * 256 + port]; of ports that lead to no switch: n_links */
	uint32_t *to;	   /* [link] */
};

static void index_links(struct tide *tide)
{
	const struct route_graph *graph = tide->sum->graph;

	for (size_t i = 0; i < (size_t)graph->n * 256; i++)
		tide->link_of[i] = graph->n_links;
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			const struct route_edge *edge = &graph->edges[e];

			for (uint32_t link = edge->first_link;
			     link < edge->first_link + edge->n_links; link++) {
				tide->to[link] = edge->to;
				tide->link_of[sw * 256 + graph->links[link]] = link;
			}
		}
	}
}

static void sort_by_distance(struct tide *tide, uint32_t leaf)
{
	const struct route_graph *graph = tide->sum->graph;
	const uint8_t *hops = tide->sum->hops + leaf;
	uint32_t start[256 + 1] = { 0 };

	for (uint32_t sw = 0; sw < graph->n; sw++)
		start[256 - route_distance(graph, hops[(size_t)sw * graph->n])]++;
	start[1] = 0; /* those that do not reach it */
	for (unsigned int i = 1; i <= 256; i++)
		start[i] += start[i - 1];
	tide->n_order = start[255];
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		unsigned int far = route_distance(graph, hops[(size_t)sw * graph->n]);

		if (far && far != ROUTE_FAR)
			tide->order[start[255 - far]++] = sw;
	}
}

static void add_target(struct tide *tide, uint16_t lid)
{
	const struct route_graph *graph = tide->sum->graph;

	for (uint32_t i = 0; i < tide->n_order; i++) {
		uint32_t sw = tide->order[i];

		tide->flow[sw] = route_n_hosts(graph, sw);
	}
	for (uint32_t i = 0; i < tide->n_order; i++) {
		uint32_t sw = tide->order[i];
		uint32_t link =
			tide->link_of[sw * 256 + routing_port(tide->sum->routing, sw, lid)];

		tide->load[link] += tide->flow[sw];
		if (link < graph->n_links)
			tide->flow[tide->to[link]] += tide->flow[sw];
	}
}

static void add_leaves(void *arg, uint32_t first, uint32_t last)
{
	struct sum *sum = arg;
	const struct route_graph *graph = sum->graph;
	struct tide tide = { .sum = sum };

	tide.load = g_new0(uint64_t, graph->n_links + 1);
	tide.order = g_new(uint32_t, graph->n + 1);
	tide.flow = g_new0(uint64_t, graph->n + 1);
	tide.link_of = g_new(uint32_t, (size_t)graph->n * 256);
	tide.to = g_new(uint32_t, graph->n_links + 1);
	index_links(&tide);
	for (uint32_t leaf = first; leaf < last; leaf++) {
		if (route_has_hosts(graph, leaf))
			sort_by_distance(&tide, leaf);
		for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1]; t++)
			if (!graph->targets[t].ignored)
				add_target(&tide, graph->targets[t].lid);
	}
	pthread_mutex_lock(&sum->lock);
	for (uint32_t link = 0; link < graph->n_links; link++)
		sum->load[link] += tide.load[link];
	pthread_mutex_unlock(&sum->lock);
	g_free(tide.load);
	g_free(tide.order);
	g_free(tide.flow);
	g_free(tide.link_of);
	g_free(tide.to);
}

uint64_t routing_peak(const struct routing *routing, unsigned int threads)
{
	struct sum sum = {
		.routing = routing,
		.graph = routing->trace->graph,
		.hops = routing->trace->hops,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	uint64_t most = 0;

	sum.load = g_new0(uint64_t, sum.graph->n_links + 1);
	route_parallel(threads, sum.graph->n, add_leaves, &sum);
	for (uint32_t link = 0; link < sum.graph->n_links; link++)
		most = MAX(most, sum.load[link]);
	g_free(sum.load);
	return most;
}
