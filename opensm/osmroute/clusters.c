// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two neighbours are in one group if the cable between them closes many short rings: of three
 * cables, as in a clique, or of four, as where switches with hosts are joined by others without.
 * Cables between groups close few; how many is compared with the other cables of both ends. Where
 * some switches have no hosts, cables between equals are between groups.
 */
#include "osmroute/clusters.h"

#include <glib.h>
#include <string.h>

#include "route/graph/graph.h"

#define SMALLEST 3 /* switches in a group */
#define PART 3	    /* of PART_OF: at least that part of the rings that another cable closes */
#define PART_OF 4

static uint32_t root_of(uint32_t *of, uint32_t sw)
{
	while (of[sw] != sw)
		sw = of[sw] = of[of[sw]];
	return sw;
}

/* What groups are told by. */
struct cables {
	const struct route_graph *graph;
	const struct ranks *ranks;
};

static bool counts(const struct cables *cables, uint32_t a, uint32_t b)
{
	return cables->ranks->n == 1 || cables->ranks->of[a] != cables->ranks->of[b];
}

/* near[sw]: in how many ways the switch is reached by one or two hops from a. */
static void look_around(const struct cables *cables, uint32_t a, uint16_t *near)
{
	const struct route_graph *graph = cables->graph;

	memset(near, 0, graph->n * sizeof(*near));
	route_each_edge(graph, a, edge) {
		if (!counts(cables, a, edge->to))
			continue;
		near[edge->to]++;
		route_each_edge(graph, edge->to, next)
			near[next->to] += counts(cables, edge->to, next->to);
	}
}

/* Ways of two or three hops from a to b. */
static uint32_t ways_between(const struct cables *cables, const uint16_t *near, uint32_t a,
			     uint32_t b)
{
	uint32_t n;

	if (!counts(cables, a, b))
		return 0;
	n = near[b] - 1u;
	route_each_edge(cables->graph, b, edge)
		if (edge->to != a && counts(cables, b, edge->to))
			n += near[edge->to] > 1;
	return n;
}

/* [edge]: how many rings it closes; [switch]: the most of its edges. */
static void count_rings(const struct cables *cables, uint32_t *rings, uint32_t *most)
{
	const struct route_graph *graph = cables->graph;
	g_autofree uint16_t *near = g_new(uint16_t, graph->n + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		look_around(cables, sw, near);
		route_each_edge(graph, sw, edge) {
			uint32_t n = ways_between(cables, near, sw, edge->to);

			rings[edge - graph->edges] = n;
			most[sw] = MAX(most[sw], n);
		}
	}
}

static void join_groups(const struct cables *cables, uint32_t *of)
{
	const struct route_graph *graph = cables->graph;
	g_autofree uint32_t *rings = g_new0(uint32_t, graph->first_edge[graph->n] + 1);
	g_autofree uint32_t *most = g_new0(uint32_t, graph->n + 1);

	count_rings(cables, rings, most);
	for (uint32_t a = 0; a < graph->n; a++) {
		route_each_edge(graph, a, edge) {
			uint32_t n = rings[edge - graph->edges], x, y;

			if (!n || n * PART_OF < MAX(most[a], most[edge->to]) * PART)
				continue;
			x = root_of(of, a);
			y = root_of(of, edge->to);
			of[MAX(x, y)] = MIN(x, y);
		}
	}
}

/* Numbers the groups in the order of their first switches, and lists the switches. */
static void number_groups(struct clusters *clusters, uint32_t n)
{
	uint32_t filled = 0;

	for (uint32_t sw = 0; sw < n; sw++)
		root_of(clusters->of, sw);
	for (uint32_t first = 0; first < n; first++) {
		if (root_of(clusters->of, first) != first)
			continue;
		for (uint32_t sw = first; sw < n; sw++)
			if (root_of(clusters->of, sw) == first)
				clusters->order[filled++] = sw;
		clusters->n++;
	}
}

/* of[] as roots becomes of[] as numbers: switches of a group are side by side in the order. */
static void name_groups(struct clusters *clusters, uint32_t n)
{
	g_autofree uint32_t *number = g_new(uint32_t, n + 1);
	uint32_t next = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = clusters->order[i], root = root_of(clusters->of, sw);

		if (root == sw)
			next++;
		number[sw] = next - 1;
	}
	memcpy(clusters->of, number, n * sizeof(*number));
}

/* Groups are much alike, and none is small: others are chance. */
static bool are_groups(const struct clusters *clusters, uint32_t n)
{
	g_autofree uint32_t *size = g_new0(uint32_t, clusters->n + 1);
	uint32_t least = n, most = 0;

	for (uint32_t sw = 0; sw < n; sw++)
		size[clusters->of[sw]]++;
	for (uint32_t i = 0; i < clusters->n; i++) {
		least = MIN(least, size[i]);
		most = MAX(most, size[i]);
	}
	return clusters->n > 1 && least >= SMALLEST && most <= 2 * least;
}

void clusters_init(struct clusters *clusters, const struct fabric *fabric,
		   const struct ranks *ranks)
{
	struct route_graph *graph = route_graph_new(fabric);
	const struct cables cables = {graph, ranks};
	uint32_t n = graph->n;

	*clusters = (struct clusters){.of = g_new(uint32_t, n + 1),
				      .order = g_new(uint32_t, n + 1)};
	for (uint32_t sw = 0; sw < n; sw++)
		clusters->of[sw] = sw;
	join_groups(&cables, clusters->of);
	number_groups(clusters, n);
	name_groups(clusters, n);
	route_graph_free(graph);
	if (are_groups(clusters, n))
		return;
	clusters->n = 1;
	for (uint32_t sw = 0; sw < n; sw++) {
		clusters->of[sw] = 0;
		clusters->order[sw] = sw;
	}
}

void clusters_clear(struct clusters *clusters)
{
	g_free(clusters->of);
	g_free(clusters->order);
}
