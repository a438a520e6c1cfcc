// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Does for some destinations, with all hosts of a switch as one, what balance.c does for all: flows
 * take the way on which the busiest link carries least so far. The last hop is left out: in the
 * small it would weigh more than it does in the whole.
 */
#include "route/estimate.h"

#include "route/flows.h"
#include "route/orient.h"

#define DESTS_MAX 64

struct estimate {
	const struct route_graph *graph;
	uint32_t n, dests[DESTS_MAX];
	uint8_t *hops;	 /* [switch * n + destination] */
	uint8_t *far;	 /* [switch]: to the destination at hand */
	uint64_t *load;	 /* [edge]: of each of its links */
	uint64_t most;	 /* of these */
	uint64_t *flow;	 /* [switch] */
	uint64_t *ahead; /* [switch]: load of the busiest edge on the best way to the destination */
	uint32_t *order; /* switches, the farthest first */
	uint32_t *part;	 /* [switch]: as of route_parts() */
};

/* Some of the switches with hosts, from all over the place. */
static void choose_dests(struct estimate *estimate)
{
	const struct route_graph *graph = estimate->graph;
	g_autofree uint32_t *leaves = g_new(uint32_t, graph->n + 1);
	uint32_t n = 0, step;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			leaves[n++] = sw;
	/* the golden section */
	step = n > DESTS_MAX ? route_coprime(n, n * UINT64_C(618) / 1000) : 1;
	estimate->n = MIN(n, DESTS_MAX);
	for (uint32_t i = 0; i < estimate->n; i++)
		estimate->dests[i] = leaves[(uint64_t)i * step % n];
}

/* Sets far; false if a host that cables connect to the destination has no path to it. */
static bool turn_to(struct estimate *estimate, uint32_t dest)
{
	const struct route_graph *graph = estimate->graph;
	uint32_t part = estimate->part[estimate->dests[dest]];

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		estimate->far[sw] = estimate->hops[(size_t)sw * estimate->n + dest];
		if (estimate->far[sw] == ROUTE_FAR && estimate->part[sw] == part &&
		    route_has_hosts(graph, sw))
			return false;
	}
	return true;
}

/* The edge by which the flow from a switch meets least; FABRIC_NONE never. */
static uint32_t best_edge(const struct estimate *estimate, uint32_t sw, uint64_t *least)
{
	const struct route_graph *graph = estimate->graph;
	const uint8_t *far = estimate->far;
	uint32_t best = FABRIC_NONE;

	*least = UINT64_MAX;
	route_each_edge(graph, sw, edge) {
		uint32_t e = edge - graph->edges;
		uint64_t load = MAX(estimate->load[e], estimate->ahead[edge->to]);

		if (!route_leads(graph, e, far[sw], far[edge->to]) || load >= *least)
			continue;
		*least = load;
		best = e;
	}
	return best;
}

static void add_dest(struct estimate *estimate, uint32_t to)
{
	const struct route_graph *graph = estimate->graph;
	uint32_t n = route_order_by_distance(graph, estimate->far, estimate->order);
	uint64_t weight = route_n_hosts(graph, to), least;

	estimate->ahead[to] = 0;
	for (uint32_t i = n; i--;) {
		uint32_t sw = estimate->order[i];

		best_edge(estimate, sw, &estimate->ahead[sw]);
		estimate->flow[sw] = weight * route_n_hosts(graph, sw);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = estimate->order[i], e = best_edge(estimate, sw, &least);

		if (graph->edges[e].to == to)
			continue;
		estimate->load[e] += estimate->flow[sw] / graph->edges[e].n_links;
		estimate->most = MAX(estimate->most, estimate->load[e]);
		estimate->flow[graph->edges[e].to] += estimate->flow[sw];
	}
}

uint64_t route_estimate(const struct route_graph *graph, uint64_t limit)
{
	struct estimate estimate = {.graph = graph};
	bool good;

	choose_dests(&estimate);
	estimate.hops = g_malloc((size_t)graph->n * estimate.n + 1);
	estimate.far = g_malloc(graph->n + 1);
	estimate.load = g_new0(uint64_t, graph->first_edge[graph->n] + 1);
	estimate.flow = g_new(uint64_t, graph->n + 1);
	estimate.ahead = g_new0(uint64_t, graph->n + 1);
	estimate.order = g_new(uint32_t, graph->n + 1);
	estimate.part = route_parts(graph, NULL);
	good = route_hops(graph, estimate.dests, estimate.n, estimate.hops, NULL);
	for (uint32_t i = 0; good && i < estimate.n; i++) {
		good = turn_to(&estimate, i);
		if (good)
			add_dest(&estimate, estimate.dests[i]);
		good &= estimate.most < limit;
	}
	g_free(estimate.hops);
	g_free(estimate.far);
	g_free(estimate.load);
	g_free(estimate.flow);
	g_free(estimate.ahead);
	g_free(estimate.order);
	g_free(estimate.part);
	return good ? estimate.most : ROUTE_ESTIMATE_NONE;
}
