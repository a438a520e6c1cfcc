// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the leaves of a tree: that in which destinations are numbered, and in which an
 * operator ranks the processes of a job, so that a shift of all ranks has no contention.
 *
 * That needs the leaves of a subtree to stand together, on every level of subtrees. What is a
 * subtree? What still hangs together when the levels above are taken away: missing switches and
 * cables do no harm. Subtrees, and leaves within the least of them, stand as the fabric lists them,
 * which begins near the subnet manager; or, if the operator wants it, as a search from the roots
 * down meets them, which goes by the ports of the roots. Where everything hangs together below the
 * roots, as in trees that are not quite regular, the latter is all there is.
 */
#include <glib.h>

#include "route/leaves.h"

struct leaves {
	const struct route_graph *graph;
	const uint8_t *rank;
	unsigned int max_rank;
	uint32_t *place;  /* [switch]: how switches of one rank stand */
	uint32_t *part;	  /* [switch]: another one of its part; itself if it stands for the part */
	uint32_t *least;  /* [switch that stands for its part]: least place of a leaf */
	uint32_t **parts; /* [level][switch]: least place in the part that it is in if no more than
			     ranks up to level are there */
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
		uint32_t sw = queue[i];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (leaves->rank[to] >= leaves->rank[sw] ||
			    leaves->place[to] != UINT32_MAX)
				continue;
			leaves->place[to] = n;
			queue[n++] = to;
		}
	}
	g_free(queue);
}

static uint32_t find_part(const struct leaves *leaves, uint32_t sw)
{
	while (leaves->part[sw] != sw) {
		leaves->part[sw] = leaves->part[leaves->part[sw]];
		sw = leaves->part[sw];
	}
	return sw;
}

static void join_parts(struct leaves *leaves, uint32_t a, uint32_t b)
{
	a = find_part(leaves, a);
	b = find_part(leaves, b);
	if (a == b)
		return;
	leaves->part[b] = a;
	leaves->least[a] = MIN(leaves->least[a], leaves->least[b]);
}

/* Adds the switches of the next level and tells which parts there are then. */
static void join_level(struct leaves *leaves, unsigned int level)
{
	const struct route_graph *graph = leaves->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (leaves->rank[sw] != level)
			continue;
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			if (leaves->rank[graph->edges[e].to] < level)
				join_parts(leaves, sw, graph->edges[e].to);
	}
	for (uint32_t sw = 0; sw < graph->n; sw++)
		leaves->parts[level][sw] = leaves->least[find_part(leaves, sw)];
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
	uint32_t switches = leaves->graph->n;

	leaves->part = g_new(uint32_t, switches + 1);
	leaves->least = g_new(uint32_t, switches + 1);
	leaves->parts = g_new(uint32_t *, leaves->max_rank + 1);
	for (uint32_t sw = 0; sw < switches; sw++) {
		leaves->part[sw] = sw;
		leaves->least[sw] = leaves->rank[sw] ? UINT32_MAX : leaves->place[sw];
	}
	for (unsigned int level = 0; level <= leaves->max_rank; level++) {
		leaves->parts[level] = g_new(uint32_t, switches + 1);
		join_level(leaves, level);
	}
	g_qsort_with_data(order, n, sizeof(*order), compare_leaves, leaves);
	for (unsigned int level = 0; level <= leaves->max_rank; level++)
		g_free(leaves->parts[level]);
	g_free(leaves->parts);
	g_free(leaves->part);
	g_free(leaves->least);
}

uint32_t route_order_leaves(const struct route_graph *graph, const uint8_t *rank,
			    unsigned int max_rank, uint32_t *order)
{
	struct leaves leaves = { .graph = graph, .rank = rank, .max_rank = max_rank };
	uint32_t n = 0, all;

	leaves.place = g_new(uint32_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		leaves.place[sw] = sw;
		if (!rank[sw])
			order[n++] = sw;
	}
	if (graph->from_roots)
		place_from_roots(&leaves);
	sort_leaves(&leaves, order, n);
	all = n;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (rank[sw])
			order[all++] = sw;
	g_free(leaves.place);
	return n;
}
