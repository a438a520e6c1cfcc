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

/* One thread. */
struct tide {
	const struct routing *routing;
	struct route_flows flows;
	uint64_t *load; /* [link]; the last is of ports that lead to no switch */
};

static void add_target(struct tide *tide, const struct route_target *target)
{
	struct route_flows *flows = &tide->flows;
	const struct route_graph *graph = flows->graph;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];

		flows->sent[sw] = route_n_senders(graph, sw, target);
	}
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];
		uint8_t port = routing_port(tide->routing, sw, target->lid);
		uint32_t link = flows->link_of[sw * 256 + port];

		tide->load[link] += flows->sent[sw];
		if (link < graph->n_links)
			flows->sent[flows->to[link]] += flows->sent[sw];
	}
}

static void add_leaves(void *arg, uint32_t first, uint32_t last)
{
	struct sum *sum = arg;
	const struct route_graph *graph = sum->graph;
	struct tide tide = { .routing = sum->routing };

	route_flows_init(&tide.flows, graph, sum->hops);
	tide.load = g_new0(uint64_t, graph->n_links + 1);
	for (uint32_t leaf = first; leaf < last; leaf++) {
		if (route_has_hosts(graph, leaf))
			route_flows_turn_to(&tide.flows, leaf);
		for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1]; t++)
			if (!graph->targets[t].ignored)
				add_target(&tide, &graph->targets[t]);
	}
	pthread_mutex_lock(&sum->lock);
	for (uint32_t link = 0; link < graph->n_links; link++)
		sum->load[link] += tide.load[link];
	pthread_mutex_unlock(&sum->lock);
	g_free(tide.load);
	route_flows_clear(&tide.flows);
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
