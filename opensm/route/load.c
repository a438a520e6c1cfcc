// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What tables that follow hops load on the cables, all hosts sending to all (flows.h).
 */
#include <pthread.h>
#include "route/flows.h"
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

static void add_leaves(void *arg, uint32_t first, uint32_t last)
{
	struct sum *sum = arg;
	const struct route_graph *graph = sum->graph;
	g_autofree uint64_t *load = g_new0(uint64_t, graph->n_links + 1);
	struct route_flows flows;

	route_flows_init(&flows, graph, sum->hops);
	for (uint32_t leaf = first; leaf < last; leaf++) {
		if (route_has_hosts(graph, leaf))
			route_flows_turn_to(&flows, leaf);
		for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1];
		     t++) {
			if (graph->targets[t].ignored)
				continue;
			route_flows_send(&flows, sum->routing, &graph->targets[t]);
			route_flows_load(&flows, sum->routing, graph->targets[t].lid, true, load);
		}
	}
	pthread_mutex_lock(&sum->lock);
	for (uint32_t link = 0; link < graph->n_links; link++)
		sum->load[link] += load[link];
	pthread_mutex_unlock(&sum->lock);
	route_flows_clear(&flows);
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
