// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * In which order of the switches do up/down paths load links evenly? Every order in which only one
 * switch, the root, has nobody above it connects all. But near the root paths meet, more so in one
 * order than in another; which is good depends on the network, so some are tried (estimate.c):
 *
 * * by the distance from the hosts, as trees have it;
 * * by the distance from a root;
 * * as they are met depth first, next the neighbour that has most neighbours met (J. Sancho,
 *   A. Robles, J. Duato, 2000): good on tori, meshes and hypercubes, where ways up then avoid the
 *   root;
 * * always the switch next that has most neighbours met: good on dragonflies and at random.
 *
 * Roots are some switches far from each other. The part of a fabric that is not connected to the
 * root has its own.
 */
#include "route/roots.h"

#include <string.h>

#include "route/estimate.h"
#include "route/orient.h"

#define N_ROOTS 3
#define BETTER 9 / 10 /* not worth a change from the first order otherwise */

struct roots {
	struct route_graph *graph;
	const uint64_t *key;
	uint32_t *by_key; /* switches */
	uint32_t *place;  /* the order in the making: [switch] */
	uint32_t n;	  /* placed so far; others have the place FABRIC_NONE */
	uint32_t *met;	  /* [switch]: neighbours that are placed */
	uint32_t *path;	  /* from the root to the switch that is placed last */
	uint32_t n_path;
	uint32_t *best;	  /* the best order so far; NULL: none yet */
	uint64_t limit;	  /* of the load: a better order has less */
};

/* The switch that has most neighbours met, not being met itself; or FABRIC_NONE if none has any. */
static uint32_t closest(const struct roots *roots)
{
	uint32_t best = FABRIC_NONE, most = 0;

	for (uint32_t i = 0; i < roots->graph->n; i++) {
		uint32_t sw = roots->by_key[i];

		if (roots->place[sw] != FABRIC_NONE || roots->met[sw] <= most)
			continue;
		most = roots->met[sw];
		best = sw;
	}
	return best;
}

/* The same of the neighbours of the last switch on the path that has one; the path goes back. */
static uint32_t deepest(struct roots *roots)
{
	uint32_t best = FABRIC_NONE, most = 0;

	while (best == FABRIC_NONE && roots->n_path) {
		route_each_edge(roots->graph, roots->path[roots->n_path - 1], edge) {
			if (roots->place[edge->to] != FABRIC_NONE || roots->met[edge->to] <= most)
				continue;
			most = roots->met[edge->to];
			best = edge->to;
		}
		roots->n_path -= best == FABRIC_NONE;
	}
	return best;
}

static void order_part(struct roots *roots, uint32_t root, bool depth_first)
{
	roots->n_path = 0;
	for (uint32_t sw = root; sw != FABRIC_NONE;
	     sw = depth_first ? deepest(roots) : closest(roots)) {
		roots->place[sw] = roots->n++;
		roots->path[roots->n_path++] = sw;
		route_each_edge(roots->graph, sw, edge)
			roots->met[edge->to]++;
	}
}

/* ---- choice ---- */

/* Takes the orientation of the graph if it is better than the best so far. */
static void try_orientation(struct roots *roots)
{
	const struct route_graph *graph = roots->graph;
	uint64_t load = route_estimate(graph, roots->limit);

	if (load == ROUTE_ESTIMATE_NONE)
		return;
	g_free(roots->best);
	roots->best = g_memdup2(graph->order, graph->n * sizeof(*graph->order));
	roots->limit = load;
}

static void try_order(struct roots *roots, uint32_t root, bool depth_first)
{
	uint32_t n = roots->graph->n;

	roots->n = 0;
	memset(roots->place, 0xFF, n * sizeof(*roots->place));
	memset(roots->met, 0, n * sizeof(*roots->met));
	order_part(roots, root, depth_first);
	for (uint32_t i = 0; i < n; i++)
		if (roots->place[roots->by_key[i]] == FABRIC_NONE)
			order_part(roots, roots->by_key[i], depth_first);
	route_orient_by(roots->graph, g_memdup2(roots->place, n * sizeof(*roots->place)));
	try_orientation(roots);
}

/* From one switch of each part: the given one, of others that with the lowest key. */
static void try_distance(struct roots *roots, uint32_t root)
{
	struct route_graph *graph = roots->graph;
	g_autofree uint32_t *from = g_new(uint32_t, graph->n + 1);
	g_autofree uint32_t *rank = g_new(uint32_t, graph->n + 1);
	uint32_t n = 1;

	from[0] = root;
	route_rank(graph, from, n, rank);
	for (uint32_t i = 0; i < graph->n; i++) {
		if (rank[roots->by_key[i]] != ROUTE_NO_RANK)
			continue;
		from[n++] = roots->by_key[i];
		route_rank(graph, from, n, rank);
	}
	route_orient(graph, rank, roots->key);
	try_orientation(roots);
}

/* The switch farthest from those, of the same part of the fabric. */
static uint32_t farthest(const struct roots *roots, const uint32_t *from, uint32_t n)
{
	const struct route_graph *graph = roots->graph;
	g_autofree uint32_t *rank = g_new(uint32_t, graph->n + 1);
	uint32_t best = from[0];

	route_rank(graph, from, n, rank);
	for (uint32_t i = 0; i < graph->n; i++) {
		uint32_t sw = roots->by_key[i];

		if (rank[sw] != ROUTE_NO_RANK && rank[sw] > rank[best])
			best = sw;
	}
	return best;
}

static void try_roots(struct roots *roots)
{
	uint32_t root[N_ROOTS];

	root[0] = roots->by_key[0];
	for (uint32_t i = 0; i < N_ROOTS; i++) {
		if (i)
			root[i] = farthest(roots, root, i);
		if (i && root[i] == root[0])
			return; /* there are no more */
		try_order(roots, root[i], true);
		try_order(roots, root[i], false);
		try_distance(roots, root[i]);
	}
}

bool route_orient_best(struct route_graph *graph, const uint64_t *key)
{
	struct roots roots = { .graph = graph, .key = key, .limit = ROUTE_ESTIMATE_NONE };

	roots.by_key = g_new(uint32_t, graph->n + 1);
	roots.place = g_new(uint32_t, graph->n + 1);
	roots.met = g_new(uint32_t, graph->n + 1);
	roots.path = g_new(uint32_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		roots.by_key[key[sw]] = sw;
	if (route_orient_from_hosts(graph, key))
		try_orientation(&roots);
	if (roots.best)
		roots.limit = roots.limit * BETTER;
	if (graph->n)
		try_roots(&roots);
	if (roots.best)
		route_orient_by(graph, roots.best);
	g_free(roots.by_key);
	g_free(roots.place);
	g_free(roots.met);
	g_free(roots.path);
	return roots.best != NULL;
}
