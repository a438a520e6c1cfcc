// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subtrees: the parts that stay connected when the switches above a rank are removed. Missing
 * switches and cables do not harm them.
 *
 * They show which switches are leaves without hosts, or without compute nodes. Ranks are the
 * distance from other leaves; an empty leaf is farther from these than the switches above it, and
 * so looks like a root. But a root joins subtrees, and an empty leaf does not.
 *
 * They determine the order of leaves, in which destinations are numbered, and in which an operator
 * ranks the processes of a job, so that a shift of all ranks has no contention.
 *
 * For that the leaves of a subtree must be side by side, on every level. Subtrees, and leaves
 * within the smallest of them, are in the order of the fabric, which begins near the subnet
 * manager; or, if the operator asks for it, in the order in which a search from the roots down
 * finds them, by the ports of the roots. If everything below the roots is connected, as in trees
 * that are not quite regular, the latter is the only order.
 */
#include <glib.h>
#include <string.h>

#include "route/order/leaves.h"

#define NO_RANK 0xFF

uint32_t route_hosts_that_count(const struct route_wishes *wishes, uint32_t sw)
{
	const struct route_graph *graph = wishes->graph;
	uint32_t n = 0;

	for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++)
		n += !wishes->of[t].later;
	return n;
}

/* ---- connected parts ---- */

uint32_t route_find_part(uint32_t *part, uint32_t sw)
{
	while (part[sw] != sw) {
		part[sw] = part[part[sw]];
		sw = part[sw];
	}
	return sw;
}

static uint32_t *new_parts(uint32_t n)
{
	uint32_t *part = g_new(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		part[sw] = sw;
	return part;
}

/* Joins each switch of a rank with its neighbours of lower ranks. */
static void join_rank(const struct route_graph *graph, const uint8_t *rank, unsigned int level,
		      uint32_t *part)
{
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (rank[sw] != level)
			continue;
		route_each_edge(graph, sw, edge)
			if (rank[edge->to] < level)
				part[route_find_part(part, edge->to)] = route_find_part(part, sw);
	}
}

/* ---- leaves without hosts ---- */

/* Whether its neighbours of lower rank are in several parts. */
static bool joins_parts(const struct route_graph *graph, const uint8_t *rank, uint32_t *part,
			uint32_t sw)
{
	uint32_t first = FABRIC_NONE;

	route_each_edge(graph, sw, edge) {
		if (rank[edge->to] >= rank[sw])
			continue;
		if (first == FABRIC_NONE)
			first = route_find_part(part, edge->to);
		if (route_find_part(part, edge->to) != first)
			return true;
	}
	return false;
}

/*
 * The number of ranks below the switch if all switches farther from hosts were below it; NOT_IDLE
 * if they cannot be, since it or one of these joins subtrees.
 */
#define NOT_IDLE 0xFFu
static uint8_t depth_of(const struct route_wishes *wishes, const uint8_t *rank,
			const uint8_t *depth, uint32_t sw)
{
	const struct route_graph *graph = wishes->graph;
	unsigned int most = 0;

	if (rank[sw] < 2 || route_hosts_that_count(wishes, sw))
		return NOT_IDLE;
	route_each_edge(graph, sw, edge) {
		uint8_t above = depth[edge->to];

		if (rank[edge->to] > rank[sw])
			most = MAX(most, above == NOT_IDLE ? NOT_IDLE : above + 1u);
	}
	return MIN(most, NOT_IDLE);
}

/* [switch]: depth_of() */
static uint8_t *find_depths(const struct route_wishes *wishes, const uint8_t *rank,
			    unsigned int max_rank)
{
	const struct route_graph *graph = wishes->graph;
	uint8_t *depth = g_malloc(graph->n + 1);
	uint32_t *part = new_parts(graph->n);

	memset(depth, NOT_IDLE, graph->n);
	for (unsigned int level = 1; level <= max_rank; level++) {
		for (uint32_t sw = 0; sw < graph->n; sw++)
			if (rank[sw] == level && !joins_parts(graph, rank, part, sw))
				depth[sw] = 0;
		join_rank(graph, rank, level, part);
	}
	for (unsigned int level = max_rank + 1; level-- > 0;)
		for (uint32_t sw = 0; sw < graph->n; sw++)
			if (rank[sw] == level && depth[sw] != NOT_IDLE)
				depth[sw] = depth_of(wishes, rank, depth, sw);
	g_free(part);
	return depth;
}

/* Below its neighbours nearer to hosts, if all ranks below it fit; else above them. */
static uint8_t rank_of_idle(const struct route_graph *graph, const uint8_t *distance,
			    const uint8_t *rank, unsigned int depth, uint32_t sw)
{
	unsigned int least = NO_RANK, most = 0;

	route_each_edge(graph, sw, edge) {
		if (distance[edge->to] > distance[sw])
			continue;
		least = MIN(least, rank[edge->to]);
		most = MAX(most, rank[edge->to]);
	}
	return least > depth ? least - 1 : most + 1;
}

unsigned int route_rank_idle(const struct route_wishes *wishes, uint8_t *rank,
			     unsigned int max_rank)
{
	const struct route_graph *graph = wishes->graph;
	uint8_t *depth = find_depths(wishes, rank, max_rank);
	uint8_t *distance = g_memdup2(rank, graph->n);
	unsigned int most = 0;

	for (unsigned int level = 0; level <= max_rank; level++)
		for (uint32_t sw = 0; sw < graph->n; sw++)
			if (depth[sw] != NOT_IDLE && distance[sw] == level)
				rank[sw] = rank_of_idle(graph, distance, rank, depth[sw], sw);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (rank[sw] != NO_RANK)
			most = MAX(most, rank[sw]);
	g_free(depth);
	g_free(distance);
	return most;
}

/* ---- the order of leaves ---- */

struct leaves {
	const struct route_graph *graph;
	const uint8_t *rank;
	unsigned int max_rank;
	uint32_t *place;  /* [switch]: order within a rank */
	uint32_t **parts; /* [level][leaf]: least place in its part when only ranks up to level
			     are present */
};

/* Down from the top in the order of ports. */
static void place_from_roots(struct leaves *leaves)
{
	const struct route_graph *graph = leaves->graph;
	uint32_t *queue = g_new(uint32_t, graph->n + 1), n = 0;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		leaves->place[sw] = UINT32_MAX;
		if (leaves->rank[sw] != leaves->max_rank)
			continue;
		leaves->place[sw] = n;
		queue[n++] = sw;
	}
	for (uint32_t i = 0; i < n; i++) {
		route_each_edge(graph, queue[i], edge) {
			if (leaves->rank[edge->to] >= leaves->rank[queue[i]] ||
			    leaves->place[edge->to] != UINT32_MAX)
				continue;
			leaves->place[edge->to] = n;
			queue[n++] = edge->to;
		}
	}
	g_free(queue);
}

/* The ranks up to level are joined in part[]; order[] has the leaves. */
static uint32_t *find_places(const struct leaves *leaves, uint32_t *part, const uint32_t *order,
			     uint32_t n)
{
	uint32_t *places = g_new(uint32_t, leaves->graph->n + 1);
	g_autofree uint32_t *least = g_new(uint32_t, leaves->graph->n + 1);

	memset(least, 0xFF, leaves->graph->n * sizeof(*least));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *of_part = &least[route_find_part(part, order[i])];

		*of_part = MIN(*of_part, leaves->place[order[i]]);
	}
	for (uint32_t i = 0; i < n; i++)
		places[order[i]] = least[route_find_part(part, order[i])];
	return places;
}

static gint compare_leaves(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct leaves *leaves = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	for (unsigned int level = leaves->max_rank + 1; level-- > 0;)
		if (leaves->parts[level][x] != leaves->parts[level][y])
			return leaves->parts[level][x] < leaves->parts[level][y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_leaves(struct leaves *leaves, uint32_t *order, uint32_t n)
{
	g_autofree uint32_t *part = new_parts(leaves->graph->n);

	leaves->parts = g_new(uint32_t *, leaves->max_rank + 1);
	for (unsigned int level = 0; level <= leaves->max_rank; level++) {
		join_rank(leaves->graph, leaves->rank, level, part);
		leaves->parts[level] = find_places(leaves, part, order, n);
	}
	g_qsort_with_data(order, n, sizeof(*order), compare_leaves, leaves);
	for (unsigned int level = 0; level <= leaves->max_rank; level++)
		g_free(leaves->parts[level]);
	g_free(leaves->parts);
}

uint32_t route_order_leaves(const struct route_wishes *wishes, const uint8_t *rank,
			    unsigned int max_rank, uint32_t *order)
{
	const struct route_graph *graph = wishes->graph;
	struct leaves leaves = { .graph = graph, .rank = rank, .max_rank = max_rank };
	uint32_t n = 0, all;

	leaves.place = g_new(uint32_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		leaves.place[sw] = sw;
		if (!rank[sw])
			order[n++] = sw;
	}
	if (wishes->from_roots)
		place_from_roots(&leaves);
	sort_leaves(&leaves, order, n);
	all = n;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (rank[sw])
			order[all++] = sw;
	g_free(leaves.place);
	return n;
}
