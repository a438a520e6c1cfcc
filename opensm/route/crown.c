// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Up and down in a tree, with a crown.
 *
 * If up is towards the top of a tree, all shortest paths between hosts are legal. But a top switch
 * that lost a cable has no legal path to the hosts behind it, nor is there one between two top
 * switches: these have nobody above them. So one leaf is taken from the bottom and put above all
 * others, together with what stands above it: the leaf first, then its parents, then theirs. That
 * is the crown, which stands on its head; everybody else stays below it in the order of ranks. What
 * is shortest between hosts remains legal, as
 *
 * * hosts never send through a leaf;
 * * of the children of a switch of the crown one is above it, and then no parent is. Paths between
 *   hosts go through a switch from or to a child: be it that one, up and down stay in order.
 *
 * If all tops of the tree are in the crown, everybody else has somebody above and so a way up to
 * the leaf, from where ways lead down to all. No pair is without a legal path, then; a switch whose
 * cable is lost is reached by the neighbours of the crown: from a top by the switch of the crown
 * below it and another top, which is as short as a detour can be, else over the leaf.
 *
 * So it must be a leaf that kept all its ancestors. That it is the first of these by key keeps the
 * order, and what goes by the leaf, as it was when cables are lost elsewhere. The ancestors must be
 * a tree: with two ways from a top down to the leaf, two children would be above. To put tops that
 * the leaf misses below some other child would connect them too, but that child would then send all
 * that it can down by them, as ways down go first, and nothing by its other parents.
 */
#include "route/crown.h"

#include <string.h>

#include "route/orient.h"
#include "route/shortest.h"

#define WORK_MAX (1u << 22) /* edges looked at to find the leaf */
#define FLOWS_MAX 16 /* the leaf may have a part of so many of what a cable has to carry anyway */

struct crown {
	const struct route_graph *graph;
	uint32_t *rank; /* 0 is the top */
	uint32_t bottom;
	bool *is_top;	/* [switch]: it has neighbours, but none above */
	uint32_t n_tops;
	uint32_t *seen; /* [switch]: the leaf, plus one, that met it as an ancestor last */
	uint32_t *queue;
	uint64_t work;
};

/* ---- the leaf ---- */

/* False if cables do not lead from one rank to the next everywhere. */
static bool find_tops(struct crown *crown)
{
	const struct route_graph *graph = crown->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t rank = crown->rank[sw], above = 0;

		crown->bottom = MAX(crown->bottom, rank);
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = crown->rank[graph->edges[e].to];

			if (to + 1 != rank && rank + 1 != to)
				return false;
			above += to < rank;
		}
		crown->is_top[sw] = !above && route_degree(graph, sw);
		crown->n_tops += crown->is_top[sw];
	}
	return true;
}

/* Whether all tops stand above a leaf, as the tops of a tree; all that do are in queue then. */
static bool climb(struct crown *crown, uint32_t leaf, uint32_t *n)
{
	const struct route_graph *graph = crown->graph;
	uint32_t tops = 0;

	*n = 0;
	crown->queue[(*n)++] = leaf;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t sw = crown->queue[i];

		tops += crown->is_top[sw];
		crown->work += route_degree(graph, sw);
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (crown->rank[to] > crown->rank[sw])
				continue;
			if (crown->seen[to] == leaf + 1)
				return false;
			crown->seen[to] = leaf + 1;
			crown->queue[(*n)++] = to;
		}
	}
	return tops == crown->n_tops;
}

/* The first leaf by key with all tops above it; FABRIC_NONE: there is none. */
static uint32_t find_leaf(struct crown *crown, const uint64_t *key, uint32_t *n_above)
{
	uint32_t n = crown->graph->n, leaf = FABRIC_NONE;
	uint32_t *by_key = g_new(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		by_key[key[sw]] = sw;
	for (uint32_t i = 0; i < n && leaf == FABRIC_NONE && crown->work < WORK_MAX; i++)
		if (crown->rank[by_key[i]] == crown->bottom && climb(crown, by_key[i], n_above))
			leaf = by_key[i];
	g_free(by_key);
	return leaf;
}

/* ---- the order ---- */

/* The crown is in queue. */
static void orient(struct crown *crown, struct route_graph *graph, uint32_t n, const uint64_t *key)
{
	bool *member = g_new0(bool, graph->n + 1);

	for (uint32_t i = 0; i < n; i++)
		member[crown->queue[i]] = true;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		crown->rank[sw] = member[sw] ? crown->bottom - crown->rank[sw]
					     : crown->bottom + 1 + crown->rank[sw];
	route_orient(graph, crown->rank, key);
	graph->crown = member;
}

bool route_orient_crown(struct route_graph *graph, const uint64_t *key)
{
	struct crown crown = { .graph = graph };
	uint32_t leaf = FABRIC_NONE, n;

	crown.rank = g_new(uint32_t, graph->n + 1);
	crown.is_top = g_new(bool, graph->n + 1);
	crown.seen = g_new0(uint32_t, graph->n + 1);
	crown.queue = g_new(uint32_t, graph->n + 1);
	if (route_tree_rank(graph, crown.rank) && find_tops(&crown))
		leaf = find_leaf(&crown, key, &n);
	if (leaf != FABRIC_NONE)
		orient(&crown, graph, n, key);
	g_free(crown.rank);
	g_free(crown.is_top);
	g_free(crown.seen);
	g_free(crown.queue);
	return leaf != FABRIC_NONE;
}

/* The one neighbour above a switch of the crown; FABRIC_NONE: it is the leaf. */
static uint32_t above(const struct route_graph *graph, uint32_t sw)
{
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (graph->up[e])
			return graph->edges[e].to;
	return FABRIC_NONE;
}

bool route_crown_holds(const struct route_graph *graph, const uint8_t *hops)
{
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint8_t *here = hops + (size_t)sw * graph->n, *there;
		uint32_t to = graph->crown[sw] ? above(graph, sw) : FABRIC_NONE;

		if (to == FABRIC_NONE)
			continue;
		there = hops + (size_t)to * graph->n;
		for (uint32_t x = 0; x < graph->n; x++)
			if (here[x] < ROUTE_UP && route_has_hosts(graph, x) &&
			    here[x] > route_distance(graph, there[x]) + 1)
				return false;
	}
	return true;
}

/* ---- paths between hosts ---- */

/*
 * How long a path may be that needs no proof. Cables join even and odd ranks, so that other lengths
 * differ by two. Between neighbours each way is legal; two hops by a common neighbour are if one
 * end has everybody above, as leaves have, and also to those from the leaf on top.
 */
static void limit_hops(const struct route_graph *graph, uint8_t *limit)
{
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t ups = 0;

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			ups += graph->up[e];
		limit[sw] = !ups || ups == route_degree(graph, sw) ? 4 : 3;
	}
}

/* Adds the destinations that some host is farther from than that. */
static uint32_t find_doubtful(const struct route_graph *graph, const uint8_t *hops, uint32_t *dests)
{
	uint8_t *limit = g_malloc(graph->n + 1), *doubt = g_malloc0(graph->n + 1);
	uint32_t n = 0;

	limit_hops(graph, limit);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint8_t *row = hops + (size_t)sw * graph->n;

		if (!route_has_hosts(graph, sw))
			continue;
		for (uint32_t x = 0; x < graph->n; x++)
			doubt[x] |= (row[x] & ~ROUTE_UP) > MIN(limit[sw], limit[x]);
	}
	for (uint32_t x = 0; x < graph->n; x++)
		if (doubt[x] && route_has_hosts(graph, x))
			dests[n++] = x;
	g_free(limit);
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

bool route_hosts_low(const struct route_graph *graph)
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
