// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engines updn and dnup: no path goes up after it went down, so channel dependencies have no
 * cycle. Among legal paths the shortest are balanced as those of minhop are.
 *
 * What is up? For updn: towards the roots that the operator named. Without any, towards the top of
 * the tree, if the network is one; else away from the hosts; if this leaves hosts without a legal
 * path to each other (a network without a common top), towards the one switch that is nearest to
 * all hosts. That always works, as every switch has a way up to it. dnup always goes by the
 * distance from the hosts, and refuses a network in which that connects not all of them.
 *
 * What remains without a legal path is for connect.c.
 */
#include "route/orient.h"
#include "route/shortest.h"

/* Sum over all hosts of their distance from a switch; what it cannot reach is left out. */
static uint64_t cost_of(const struct route_graph *graph, const uint8_t *plain, uint32_t sw,
			uint32_t *reached)
{
	const uint8_t *hops = plain + (size_t)sw * graph->n;
	uint64_t cost = 0;

	*reached = 0;
	for (uint32_t leaf = 0; leaf < graph->n; leaf++) {
		if (hops[leaf] == ROUTE_FAR)
			continue;
		++*reached;
		cost += (uint64_t)hops[leaf] *
			(graph->first_target[leaf + 1] - graph->first_target[leaf]);
	}
	return cost;
}

/* The switch nearest to all hosts of its connected part, one in each part. */
static uint32_t *find_centres(const struct route_graph *graph, const uint8_t *plain,
			      const uint64_t *keys, uint32_t *n)
{
	uint32_t *centres = g_new(uint32_t, graph->n + 1);
	uint64_t *costs = g_new(uint64_t, graph->n + 1);
	bool *done = g_new0(bool, graph->n + 1);
	uint32_t reached;

	*n = 0;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		costs[sw] = cost_of(graph, plain, sw, &reached);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t best = sw;

		if (done[sw])
			continue;
		for (uint32_t to = 0; to < graph->n; to++) {
			if (plain[(size_t)sw * graph->n + to] == ROUTE_FAR)
				continue;
			done[to] = true;
			if (costs[to] < costs[best] ||
			    (costs[to] == costs[best] && keys[to] < keys[best]))
				best = to;
		}
		centres[(*n)++] = best;
	}
	g_free(costs);
	g_free(done);
	return centres;
}

static uint8_t *hops_from_centres(struct route_graph *graph, const struct fabric *fabric,
				  const uint64_t *keys, uint8_t *next, GError **error)
{
	g_autofree uint8_t *plain = NULL;
	g_autofree uint32_t *centres = NULL, *rank = NULL;
	uint32_t n;

	g_clear_pointer(&graph->up, g_free);
	g_clear_pointer(&graph->order, g_free);
	plain = route_hops_or_error(graph, NULL, error);
	if (!plain)
		return NULL;
	centres = find_centres(graph, plain, keys, &n);
	rank = g_new(uint32_t, graph->n + 1);
	route_rank(graph, centres, n, rank);
	route_orient(graph, rank, keys);
	return route_legal_hops(graph, fabric, next, error);
}

static uint8_t *updn_hops(struct route_graph *graph, const struct fabric *fabric,
			  const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);
	uint8_t *hops = NULL;

	if (input->n_roots)
		return route_orient_to_roots(graph, fabric, input, keys, error)
			       ? route_legal_hops(graph, fabric, next, error)
			       : NULL;
	if (route_orient_tree(graph, keys))
		hops = route_legal_hops(graph, fabric, next, NULL);
	if (!hops && route_orient_from_hosts(graph, keys))
		hops = route_legal_hops(graph, fabric, next, NULL);
	return hops ? hops : hops_from_centres(graph, fabric, keys, next, error);
}

static uint8_t *dnup_hops(struct route_graph *graph, const struct fabric *fabric,
			  const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);

	route_orient_from_hosts(graph, keys);
	return route_legal_hops(graph, fabric, next, error);
}

static struct routing *updn_compute(const struct fabric *fabric, const struct route_input *input,
				    GError **error)
{
	return route_by_hops(&route_engine_updn, fabric, input, error);
}

static struct routing *dnup_compute(const struct fabric *fabric, const struct route_input *input,
				    GError **error)
{
	return route_by_hops(&route_engine_dnup, fabric, input, error);
}

const struct route_engine route_engine_updn = {
	.name = "updn",
	.summary = "up, then down, from roots given or found; free of credit loops",
	.promises = ROUTE_DEADLOCK_FREE,
	.wishes = true,
	.compute = updn_compute,
	.hops = updn_hops,
};

const struct route_engine route_engine_dnup = {
	.name = "dnup",
	.summary = "up, then down, by the distance from hosts; free of credit loops",
	.promises = ROUTE_DEADLOCK_FREE,
	.wishes = true,
	.compute = dnup_compute,
	.hops = dnup_hops,
};
