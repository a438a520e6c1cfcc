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
 * All tops of the tree are in the crown. So everybody else has somebody above, unless all cables up
 * are lost, and so a way up to the leaf, from where ways lead down to all. No pair of these is
 * without a legal path, then; a switch whose cable is lost is reached by the neighbours of the
 * crown: from a top by the switch of the crown below it and another top, which is as short as a
 * detour can be, else over the leaf.
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
	uint32_t n_tops; /* switches of rank 0 that have neighbours */
	uint32_t *ways; /* [switch]: up to tops, counted no farther than to one more than tops */
	uint32_t *seen; /* [switch]: the leaf, plus one, that met it as an ancestor last */
	uint32_t *queue;
	uint64_t work;
};

/* ---- the leaf ---- */

static bool is_top(const struct crown *crown, uint32_t sw)
{
	return !crown->rank[sw] && route_degree(crown->graph, sw);
}

/* False if cables do not lead from one rank to the next everywhere. */
static bool find_tops(struct crown *crown)
{
	const struct route_graph *graph = crown->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t rank = crown->rank[sw];

		crown->bottom = MAX(crown->bottom, rank);
		crown->n_tops += is_top(crown, sw);
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = crown->rank[graph->edges[e].to];

			if (to + 1 != rank && rank + 1 != to)
				return false;
		}
	}
	return true;
}

static void add_ways(struct crown *crown, uint32_t sw)
{
	const struct route_graph *graph = crown->graph;
	uint64_t ways = is_top(crown, sw);

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (crown->rank[graph->edges[e].to] < crown->rank[sw])
			ways += crown->ways[graph->edges[e].to];
	crown->ways[sw] = MIN(ways, crown->n_tops + 1u);
}

/* In a tree there are as many as tops above: few leaves that miss any need be climbed from. */
static void count_ways(struct crown *crown)
{
	for (uint32_t rank = 0; rank <= crown->bottom; rank++)
		for (uint32_t sw = 0; sw < crown->graph->n; sw++)
			if (crown->rank[sw] == rank)
				add_ways(crown, sw);
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

		tops += is_top(crown, sw);
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
	count_ways(crown);
	for (uint32_t i = 0; i < n && leaf == FABRIC_NONE && crown->work < WORK_MAX; i++)
		if (crown->rank[by_key[i]] == crown->bottom &&
		    crown->ways[by_key[i]] == crown->n_tops && climb(crown, by_key[i], n_above))
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
	crown.ways = g_new(uint32_t, graph->n + 1);
	crown.seen = g_new0(uint32_t, graph->n + 1);
	crown.queue = g_new(uint32_t, graph->n + 1);
	if (route_tree_rank(graph, crown.rank) && find_tops(&crown))
		leaf = find_leaf(&crown, key, &n);
	if (leaf != FABRIC_NONE)
		orient(&crown, graph, n, key);
	g_free(crown.rank);
	g_free(crown.ways);
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
	uint8_t *hops = NULL;

	if (route_orient_crown(graph, key))
		hops = route_legal_hops(graph, fabric, next, NULL);
	if (hops && route_crown_holds(graph, hops))
		return hops;
	g_free(hops);
	return route_orient_tree(graph, key) ? route_legal_hops(graph, fabric, next, NULL) : NULL;
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
