// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Whether up/down routing is a detour for any host. */
#include "route/order/hosts_shortest.h"

#include "route/fill/shortest.h"
#include "route/order/orient.h"

#define FLOWS_MAX 16 /* the leaf may carry one part in this many of a cable's normal load */

bool route_hosts_shortest(const struct route_order *order, const uint8_t *hops)
{
	const struct route_graph *graph = order->graph;
	const struct route_order plain = {.graph = graph};
	g_autofree uint32_t *dests = g_new(uint32_t, graph->n + 1);
	g_autofree uint8_t *shortest = NULL;
	uint32_t n = 0;
	bool same;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			dests[n++] = sw;
	shortest = g_malloc((size_t)graph->n * n + 1);
	same = route_hops(&plain, dests, n, shortest, NULL);
	for (uint32_t i = 0; same && i < n; i++)
		for (uint32_t k = 0; k < n && same; k++)
			same = route_distance(order,
					      hops[(size_t)dests[i] * graph->n + dests[k]]) ==
			       shortest[(size_t)dests[i] * n + k];
	return same;
}

uint8_t *route_tree_hops(struct route_plan *plan, const struct fabric *fabric, const uint64_t *key,
			 uint8_t *next)
{
	g_autofree uint32_t *rank = g_new(uint32_t, plan->graph->n + 1);

	return route_tree_rank(&plan->wishes, rank)
		       ? route_ranked_hops(&plan->order, fabric, rank, key, next, NULL)
		       : NULL;
}

/*
 * Whether so few hosts are above the leaves that all traffic between them can pass one leaf without
 * harm. False if the network is not layered.
 */
static bool hosts_are_low(const struct route_wishes *wishes)
{
	const struct route_graph *graph = wishes->graph;
	uint32_t *rank = g_new(uint32_t, graph->n + 1), bottom = 0, upper = 0;
	bool layered = route_tree_rank(wishes, rank);
	uint64_t high = 0;

	for (uint32_t sw = 0; layered && sw < graph->n; sw++)
		bottom = MAX(bottom, rank[sw]);
	for (uint32_t sw = 0; layered && sw < graph->n; sw++) {
		if (rank[sw] == bottom || !route_has_hosts(graph, sw))
			continue;
		high += route_n_hosts(graph, sw);
		upper++;
	}
	g_free(rank);
	return layered && (upper <= 1 || high * high * FLOWS_MAX <= route_n_targets(graph));
}

uint8_t *route_tree_hops_shortest(struct route_plan *plan, const struct fabric *fabric,
				  const uint64_t *key, uint8_t *next)
{
	uint8_t *hops = NULL;

	if (hosts_are_low(&plan->wishes))
		hops = route_tree_hops(plan, fabric, key, next);
	if (hops && route_hosts_shortest(&plan->order, hops))
		return hops;
	g_free(hops);
	route_orient_by(&plan->order, NULL);
	return NULL;
}
