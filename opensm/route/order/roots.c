// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches by which up/down paths load links most evenly. Every order in which
 * only one switch, the root, has no switch above it connects all. But paths meet near the root,
 * more in some orders than in others; the best one depends on the network, so several are tried:
 *
 * * by the distance from the hosts, as in trees;
 * * by the distance from a root;
 * * depth first, next the neighbour with most neighbours already visited (J. Sancho, A. Robles,
 *   J. Duato, 2000): good on tori, meshes and hypercubes, where ways up then avoid the root;
 * * always next the switch with most neighbours already visited: good on dragonflies and on random
 *   networks.
 *
 * Before all of these comes the distance from the middle, the switches that have no neighbour with
 * fewer hops to all hosts together: in a tree with hosts on several ranks, such as a director with
 * switches below its line cards, these are the spines. That order is taken if it costs no
 * bandwidth.
 *
 * Roots are some switches far from each other. Parts of a fabric not connected to the root have
 * their own root.
 *
 * The load is estimated as in balance.c, but for some destinations only, with all hosts of a switch
 * as one. Flows take the path whose busiest link carries least so far. The last hop is excluded:
 * with few destinations it would weigh more than with all.
 */
#include <string.h>

#include "route/graph/flows.h"
#include "route/order/orient.h"

#define N_ROOTS 3
#define BETTER 9 / 10 /* factor of improvement that is worth a change from the first order */
#define DESTS_MAX 64
#define EVEN 65536 /* parts of a flow */

struct roots {
	struct route_order *order; /* gets the orders to compare */
	const struct route_graph *graph;
	const uint64_t *key;
	uint32_t *by_key; /* switches */
	uint32_t *part;	  /* [switch]: from route_parts() */
	uint32_t *from;	  /* a root of each part */
	uint32_t n_from;

	/* an order under construction */
	uint32_t *place; /* [switch] */
	uint32_t n;	 /* placed so far; the others have place FABRIC_NONE */
	uint32_t *met;	 /* [switch]: neighbours already placed */
	uint32_t *path;	 /* from the root to the switch placed last */
	uint32_t n_path;

	/* the estimate for an order, with paths to these switches */
	uint32_t n_dests, dests[DESTS_MAX];
	uint8_t *hops;	 /* [switch * n_dests + destination] */
	uint8_t *far;	 /* [switch]: to the current destination */
	uint32_t *by_far; /* switches, the farthest first */
	uint32_t *via;	 /* [switch]: the edge by which its flow meets the least load */
	uint64_t *ahead; /* [switch]: load of the busiest edge from there on */
	uint64_t *flow;	 /* [switch] */
	uint64_t *load;	 /* [edge]: of each of its links */
	uint64_t most;	 /* of these */

	uint32_t *best; /* the best order so far; NULL: none yet */
	uint64_t limit; /* a better order has less load */
};

/* ---- estimate ---- */

/* Some of the switches with hosts, spread over the fabric. */
static void choose_dests(struct roots *roots)
{
	const struct route_graph *graph = roots->graph;
	g_autofree uint32_t *leaves = g_new(uint32_t, graph->n + 1);
	uint32_t n = 0, step;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			leaves[n++] = sw;
	/* the golden section */
	step = n > DESTS_MAX ? route_coprime(n, n * UINT64_C(618) / 1000) : 1;
	roots->n_dests = MIN(n, DESTS_MAX);
	for (uint32_t i = 0; i < roots->n_dests; i++)
		roots->dests[i] = leaves[(uint64_t)i * step % n];
}

/* Sets far; false if a host has no path to the destination, although cables connect them. */
static bool turn_to(struct roots *roots, uint32_t dest)
{
	const struct route_graph *graph = roots->graph;
	uint32_t part = roots->part[roots->dests[dest]];

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		roots->far[sw] = roots->hops[(size_t)sw * roots->n_dests + dest];
		if (roots->far[sw] == ROUTE_FAR && roots->part[sw] == part &&
		    route_has_hosts(graph, sw))
			return false;
	}
	return true;
}

static void choose_edge(struct roots *roots, uint32_t sw)
{
	const struct route_graph *graph = roots->graph;

	roots->ahead[sw] = UINT64_MAX;
	route_each_edge(graph, sw, edge) {
		uint32_t e = edge - graph->edges;
		uint64_t load = MAX(roots->load[e], roots->ahead[edge->to]);

		if (load >= roots->ahead[sw] ||
		    !route_leads(roots->order, e, roots->far[sw], roots->far[edge->to]))
			continue;
		roots->ahead[sw] = load;
		roots->via[sw] = e;
	}
}

static void add_dest(struct roots *roots, uint32_t to)
{
	const struct route_graph *graph = roots->graph;
	uint32_t n = route_order_by_distance(roots->order, roots->far, roots->by_far);

	roots->ahead[to] = 0;
	for (uint32_t i = n; i--;) {
		uint32_t sw = roots->by_far[i];

		choose_edge(roots, sw);
		roots->flow[sw] = (uint64_t)route_n_hosts(graph, to) * route_n_hosts(graph, sw);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = roots->by_far[i], e = roots->via[sw];
		const struct route_edge *edge = &graph->edges[e];

		if (edge->to == to)
			continue;
		roots->load[e] += roots->flow[sw] / edge->n_links;
		roots->most = MAX(roots->most, roots->load[e]);
		roots->flow[edge->to] += roots->flow[sw];
	}
}

/* Takes the orientation of the graph if it is better than the best so far. */
static void try_orientation(struct roots *roots)
{
	const struct route_graph *graph = roots->graph;

	roots->most = 0;
	memset(roots->load, 0, graph->first_edge[graph->n] * sizeof(*roots->load));
	if (!route_hops(roots->order, roots->dests, roots->n_dests, roots->hops, NULL))
		return;
	for (uint32_t i = 0; i < roots->n_dests; i++) {
		if (!turn_to(roots, i))
			return;
		add_dest(roots, roots->dests[i]);
		if (roots->most >= roots->limit)
			return;
	}
	g_free(roots->best);
	roots->best = g_memdup2(roots->order->place, graph->n * sizeof(*roots->best));
	roots->limit = roots->most;
}

/* ---- orders ---- */

/* sw instead of the best one, if it is not placed and has more placed neighbours. */
static uint32_t better_of(const struct roots *roots, uint32_t best, uint32_t sw)
{
	uint32_t most = best == FABRIC_NONE ? 0 : roots->met[best];

	return roots->place[sw] == FABRIC_NONE && roots->met[sw] > most ? sw : best;
}

/* The switch, not placed itself, with most placed neighbours; or FABRIC_NONE if none has any. */
static uint32_t closest(const struct roots *roots)
{
	uint32_t best = FABRIC_NONE;

	for (uint32_t i = 0; i < roots->graph->n; i++)
		best = better_of(roots, best, roots->by_key[i]);
	return best;
}

/* As closest(), but beside the last switch on the path with such a neighbour; cuts path there. */
static uint32_t deepest(struct roots *roots)
{
	uint32_t best = FABRIC_NONE;

	while (best == FABRIC_NONE && roots->n_path) {
		route_each_edge(roots->graph, roots->path[roots->n_path - 1], edge)
			best = better_of(roots, best, edge->to);
		roots->n_path -= best == FABRIC_NONE;
	}
	return best;
}

static void try_order(struct roots *roots, bool depth_first)
{
	uint32_t n = roots->graph->n;

	roots->n = 0;
	memset(roots->place, 0xFF, n * sizeof(*roots->place));
	memset(roots->met, 0, n * sizeof(*roots->met));
	for (uint32_t i = 0; i < roots->n_from; i++) {
		roots->n_path = 0;
		for (uint32_t sw = roots->from[i]; sw != FABRIC_NONE;
		     sw = depth_first ? deepest(roots) : closest(roots)) {
			roots->place[sw] = roots->n++;
			roots->path[roots->n_path++] = sw;
			route_each_edge(roots->graph, sw, edge)
				roots->met[edge->to]++;
		}
	}
	route_orient_by(roots->order, g_memdup2(roots->place, n * sizeof(*roots->place)));
	try_orientation(roots);
}

static void try_distance(struct roots *roots)
{
	g_autofree uint32_t *rank = g_new(uint32_t, roots->graph->n + 1);

	route_rank(roots->graph, roots->from, roots->n_from, rank);
	route_orient(roots->order, rank, roots->key);
	try_orientation(roots);
}

/* ---- the middle of the hosts ---- */

/* Sum of the hops to all destinations of the estimate, weighted by their hosts. */
static uint64_t hops_to_hosts(const struct roots *roots, uint32_t sw)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < roots->n_dests; i++)
		sum += (uint64_t)roots->hops[(size_t)sw * roots->n_dests + i] *
		       route_n_hosts(roots->graph, roots->dests[i]);
	return sum;
}

/* Lists switches that have cables, but no neighbour nearer to the hosts; returns their number. */
static uint32_t list_middle(const struct roots *roots, uint32_t *middle)
{
	const struct route_graph *graph = roots->graph;
	g_autofree uint64_t *sum = g_new(uint64_t, graph->n + 1);
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		sum[sw] = hops_to_hosts(roots, sw);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		bool nearest = route_degree(graph, sw) != 0;

		route_each_edge(graph, sw, edge)
			nearest &= sum[sw] <= sum[edge->to];
		if (nearest)
			middle[n++] = sw;
	}
	return n;
}

/* Splits the flow of a switch over all edges to the destination, in proportion to their cables. */
static void send_evenly(struct roots *roots, uint32_t sw, uint32_t to)
{
	const struct route_graph *graph = roots->graph;
	uint64_t n = 0;

	for (unsigned int sends = 0; sends < 2; sends++)
		route_each_edge(graph, sw, edge) {
			uint32_t e = edge - graph->edges;

			if (!route_leads(roots->order, e, roots->far[sw], roots->far[edge->to]))
				continue;
			if (!sends) {
				n += edge->n_links;
				continue;
			}
			roots->flow[edge->to] += roots->flow[sw] / n * edge->n_links;
			roots->load[e] += roots->flow[sw] / n;
			if (edge->to != to)
				roots->most = MAX(roots->most, roots->load[e]);
		}
}

/*
 * The load of the busiest cable if all flows were split evenly over the paths of these hops, in
 * units of 1 / EVEN of a flow; UINT64_MAX if a host has no path.
 */
static uint64_t even_load(struct roots *roots)
{
	const struct route_graph *graph = roots->graph;

	roots->most = 0;
	memset(roots->load, 0, graph->first_edge[graph->n] * sizeof(*roots->load));
	for (uint32_t i = 0; i < roots->n_dests; i++) {
		uint32_t to = roots->dests[i], n;

		if (!turn_to(roots, i))
			return UINT64_MAX;
		n = route_order_by_distance(roots->order, roots->far, roots->by_far);
		for (uint32_t k = 0; k < n; k++)
			roots->flow[roots->by_far[k]] = (uint64_t)EVEN * route_n_hosts(graph, to) *
							route_n_hosts(graph, roots->by_far[k]);
		for (uint32_t k = 0; k < n; k++)
			send_evenly(roots, roots->by_far[k], to);
	}
	return roots->most;
}

/*
 * Orients by the distance from the middle. Returns whether that costs nothing: flows split evenly
 * over the paths that are then legal load cables as they do over all shortest paths.
 */
static bool middle_is_best(struct roots *roots, uint32_t *rank)
{
	struct route_order *order = roots->order;
	const struct route_graph *graph = roots->graph;
	g_autofree uint32_t *middle = g_new(uint32_t, graph->n + 1);
	uint64_t least, legal;

	route_orient_by(order, NULL);
	if (!route_hops(roots->order, roots->dests, roots->n_dests, roots->hops, NULL))
		return false;
	least = even_load(roots);
	route_rank(graph, middle, list_middle(roots, middle), rank);
	if (!route_orient_inverted(order, rank, roots->key))
		route_orient(order, rank, roots->key);
	if (!route_hops(roots->order, roots->dests, roots->n_dests, roots->hops, NULL))
		return false;
	legal = even_load(roots);
	return legal != UINT64_MAX && legal * BETTER <= least;
}

/* ---- all orders ---- */

/* A root for each part of the fabric: root itself, in others the switch with the lowest key. */
static void list_roots(struct roots *roots, uint32_t root)
{
	g_autofree bool *has_root = g_new0(bool, roots->graph->n + 1); /* [part] */

	roots->from[0] = root;
	roots->n_from = 1;
	has_root[roots->part[root]] = true;
	for (uint32_t i = 0; i < roots->graph->n; i++) {
		uint32_t sw = roots->by_key[i];

		if (!has_root[roots->part[sw]])
			roots->from[roots->n_from++] = sw;
		has_root[roots->part[sw]] = true;
	}
}

/* The switch farthest from these, in the same part of the fabric. */
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
		list_roots(roots, root[i]);
		try_order(roots, true);
		try_order(roots, false);
		try_distance(roots);
	}
}

static struct roots *roots_new(struct route_order *order, const uint64_t *key)
{
	const struct route_graph *graph = order->graph;
	uint32_t n = graph->n + 1, n_edges = graph->first_edge[graph->n];
	struct roots *roots = g_new0(struct roots, 1);

	*roots = (struct roots){
		.order = order,
		.graph = graph,
		.key = key,
		.by_key = g_new(uint32_t, n),
		.part = route_parts(graph, NULL),
		.from = g_new(uint32_t, n),
		.place = g_new(uint32_t, n),
		.met = g_new(uint32_t, n),
		.path = g_new(uint32_t, n),
		.hops = g_malloc((size_t)n * DESTS_MAX),
		.far = g_malloc(n),
		.by_far = g_new(uint32_t, n),
		.via = g_new(uint32_t, n),
		.ahead = g_new0(uint64_t, n),
		.flow = g_new(uint64_t, n),
		.load = g_new(uint64_t, n_edges + 1),
		.limit = UINT64_MAX,
	};
	for (uint32_t sw = 0; sw < graph->n; sw++)
		roots->by_key[key[sw]] = sw;
	choose_dests(roots);
	return roots;
}

static void roots_free(struct roots *roots)
{
	g_free(roots->by_key);
	g_free(roots->part);
	g_free(roots->from);
	g_free(roots->place);
	g_free(roots->met);
	g_free(roots->path);
	g_free(roots->hops);
	g_free(roots->far);
	g_free(roots->by_far);
	g_free(roots->via);
	g_free(roots->ahead);
	g_free(roots->flow);
	g_free(roots->load);
	g_free(roots);
}

bool route_orient_middle(struct route_order *order, const uint64_t *key, uint32_t *rank)
{
	struct roots *roots = roots_new(order, key);
	bool best = middle_is_best(roots, rank);

	roots_free(roots);
	return best;
}

/* Finds the best of the orders at the head of this file; false: none connects all hosts. */
static bool try_orders(struct roots *roots)
{
	if (route_orient_from_hosts(roots->order, roots->key))
		try_orientation(roots);
	if (roots->best)
		roots->limit = roots->limit * BETTER;
	if (roots->graph->n)
		try_roots(roots);
	if (roots->best)
		route_orient_by(roots->order, roots->best);
	return roots->best != NULL;
}

bool route_orient_best(struct route_order *order, const uint64_t *key)
{
	struct roots *roots = roots_new(order, key);
	g_autofree uint32_t *rank = g_new(uint32_t, order->graph->n + 1);
	bool good = middle_is_best(roots, rank) || try_orders(roots);

	roots_free(roots);
	return good;
}
