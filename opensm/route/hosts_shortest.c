// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Whether up and down is a detour for any host: mostly that is plain from the lengths of paths. */
#include "route/hosts_shortest.h"

#include <string.h>

#include "route/orient.h"
#include "route/shortest.h"
#include "route/single_top.h"

#define FLOWS_MAX 16 /* the leaf may have a part of so many of what a cable has to carry anyway */

/* Where the neighbours of a switch are. */
enum side { SIDE_UP, SIDE_DOWN, SIDE_BOTH, SIDES };

static enum side side_of(const struct route_graph *graph, uint32_t sw)
{
	uint32_t n_up = 0;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		n_up += graph->up[e];
	if (n_up == route_degree(graph, sw))
		return SIDE_UP;
	return n_up ? SIDE_BOTH : SIDE_DOWN;
}

/* Whether all ways between two switches are even, or all odd. */
static bool is_bipartite(const struct route_graph *graph)
{
	uint32_t *part = route_parts(graph), *rank = g_new(uint32_t, graph->n + 1), n = 0;
	uint32_t *from = g_new(uint32_t, graph->n + 1);
	bool two = true;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (part[sw] == sw)
			from[n++] = sw;
	route_rank(graph, from, n, rank);
	for (uint32_t sw = 0; sw < graph->n && two; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			two &= (rank[sw] + rank[graph->edges[e].to]) % 2;
	g_free(part);
	g_free(rank);
	g_free(from);
	return two;
}

/*
 * How long a path may be that needs no proof, by the side of where it begins. Between neighbours
 * every way is legal. Where lengths of ways differ by two, what is 4 hops could only be 2 instead,
 * by a common neighbour; that is legal from one that has all above it, as leaves have, to another,
 * or if only one of the two ends has all below it.
 */
static void limit_hops(const struct route_graph *graph, const enum side *side,
		       uint8_t *limit[SIDES])
{
	bool bipartite = is_bipartite(graph);

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint8_t least = bipartite ? 3 : 1;

		limit[SIDE_BOTH][sw] = least;
		limit[SIDE_UP][sw] = bipartite && side[sw] != SIDE_BOTH ? 4 : least;
		limit[SIDE_DOWN][sw] = bipartite && side[sw] == SIDE_UP ? 4 : least;
	}
}

/* Marks the destinations that some host is farther from than that. */
static void mark_doubtful(const struct route_graph *graph, const uint8_t *hops, uint8_t *doubt)
{
	enum side *side = g_new(enum side, graph->n + 1);
	uint8_t *limit[SIDES];

	for (int i = 0; i < SIDES; i++)
		limit[i] = g_malloc(graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		side[sw] = side_of(graph, sw);
	limit_hops(graph, side, limit);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint8_t *row = hops + (size_t)sw * graph->n, *most = limit[side[sw]];

		for (uint32_t x = 0; route_has_hosts(graph, sw) && x < graph->n; x++)
			doubt[x] |= (row[x] & ~ROUTE_UP) > most[x];
	}
	for (int i = 0; i < SIDES; i++)
		g_free(limit[i]);
	g_free(side);
}

/* Those of them that have hosts. */
static uint32_t find_doubtful(const struct route_graph *graph, const uint8_t *hops, uint32_t *dests)
{
	uint8_t *doubt = g_malloc0(graph->n + 1);
	uint32_t n = 0;

	mark_doubtful(graph, hops, doubt);
	for (uint32_t x = 0; x < graph->n; x++)
		if (doubt[x] && route_has_hosts(graph, x))
			dests[n++] = x;
	g_free(doubt);
	return n;
}

/* Compares with the hops to these destinations in the graph without its orientation. */
static bool are_shortest(const struct route_graph *graph, const uint8_t *hops,
			 const uint32_t *dests, uint32_t n)
{
	struct route_graph plain = *graph;
	uint8_t *shortest = g_malloc((size_t)graph->n * n + 1);
	bool same;

	plain.up = NULL;
	plain.joined = NULL;
	same = route_hops(&plain, dests, n, shortest, NULL);
	for (uint32_t sw = 0; same && sw < graph->n; sw++)
		for (uint32_t i = 0; i < n && same && route_has_hosts(graph, sw); i++)
			same = route_distance(graph, hops[(size_t)sw * graph->n + dests[i]]) ==
			       shortest[(size_t)sw * n + i];
	g_free(shortest);
	return same;
}

bool route_hosts_shortest(const struct route_graph *graph, const uint8_t *hops)
{
	uint32_t *dests = g_new(uint32_t, graph->n + 1), n = find_doubtful(graph, hops, dests);
	bool shortest = !n || are_shortest(graph, hops, dests, n);

	g_free(dests);
	return shortest;
}

uint8_t *route_tree_hops(struct route_graph *graph, const struct fabric *fabric,
			 const uint64_t *key, uint8_t *next)
{
	g_autofree uint32_t *rank = g_new(uint32_t, graph->n + 1);

	return route_tree_rank(graph, rank)
		       ? route_ranked_hops(graph, fabric, rank, key, next, NULL)
		       : NULL;
}

/*
 * Whether so few hosts stand above the leaves that it does no harm if all they send to each other
 * goes by one leaf. False if the network is not layered.
 */
static bool hosts_are_low(const struct route_graph *graph)
{
	uint32_t *rank = g_new(uint32_t, graph->n + 1), bottom = 0, upper = 0;
	bool layered = route_tree_rank(graph, rank);
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

uint8_t *route_tree_hops_shortest(struct route_graph *graph, const struct fabric *fabric,
				  const uint64_t *key, uint8_t *next)
{
	uint8_t *hops = NULL;

	if (hosts_are_low(graph))
		hops = route_tree_hops(graph, fabric, key, next);
	if (hops && route_hosts_shortest(graph, hops))
		return hops;
	g_free(hops);
	route_orient_not(graph);
	return NULL;
}
