// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shortest paths in layered networks, spread so that no two destinations share links unnecessarily.
 *
 * A network is layered if the distance to the nearest leaf switch gives every switch a rank, and no
 * cable joins switches of one rank. Names and port numbers are not used, and missing parts do no
 * harm: they make the spread less even, never the paths longer.
 *
 * The idea: in a tree, the way down to a destination is fixed by the switch where the way up ends.
 * So each destination LID is given one ancestor of each rank by turns among the parents
 * (ancestor.c): a parent link down to the same child, and a parent as a whole, get equally many.
 * Every switch then sends up towards the highest ancestor that is on a shortest path; if none is,
 * by the turns of the search. Where cables are lost, a LID may be an orphan: it has ancestors only
 * up to some rank, and each switch sends up to that rank by its own place among its kind. Each hop
 * is on a shortest path to the leaf, so there is no loop.
 *
 * Most entries are of LIDs that are never sent through their switch: an upper switch is on the path
 * to the ancestors of one LID of a leaf, and the leaf's other LIDs pass elsewhere. Their entries
 * follow the one, so that a cable affects as few leaves as possible, and as few blocks of tables
 * change when it is lost.
 *
 * Where cables were lost, or are not the same everywhere, turns leave loads uneven: entries are
 * moved off the busiest cables (relief.h). They stay where hosts and cables only do not divide each
 * other, since turns keep shifts apart.
 *
 * On a full tree the turns are those of d mod k (E. Zahavi, 2010): destinations have numbers, in
 * the order of leaves.c; a leaf with w parents gives number d the parent d mod w and, of p cables,
 * d / w mod p; that parent goes on with d / w. Then consecutive destinations that leave a switch
 * upwards use different links while there are enough of them, and each link down has its share,
 * however many hosts the leaves have. For that all switches must list their parents in one order.
 * It is made from the top: parents are sorted by the place of their own first parent, so that
 * switches of the same plane are side by side.
 */
#include <glib.h>
#include <string.h>

#include "route/fill/shortest.h"
#include "route/order/leaves.h"
#include "route/order/tree.h"

#define FARTHEST (2 * TREE_RANKS_MAX) /* an empty leaf is up and down from a leaf with hosts */

/* ---- recognition ---- */

/* Ranks by distance from the switches with at least this many targets. */
static void rank_from(struct tree *tree, uint32_t least)
{
	const struct route_graph *graph = tree->graph;
	uint32_t *queue = g_new(uint32_t, graph->n + 1), n = 0;

	memset(tree->rank, TREE_NO_RANK, graph->n);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (route_hosts_that_count(tree->wishes, sw) < least)
			continue;
		tree->rank[sw] = 0;
		queue[n++] = sw;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint8_t rank = tree->rank[queue[i]];

		tree->max_rank = rank;
		if (rank == FARTHEST)
			break;
		route_each_edge(graph, queue[i], edge) {
			if (tree->rank[edge->to] != TREE_NO_RANK)
				continue;
			tree->rank[edge->to] = rank + 1;
			queue[n++] = edge->to;
		}
	}
	g_free(queue);
}

static bool is_layered(const struct tree *tree)
{
	const struct route_graph *graph = tree->graph;

	if (tree->max_rank == 0 || tree->max_rank >= TREE_RANKS_MAX)
		return false;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		route_each_edge(graph, sw, edge)
			if (tree->rank[sw] != TREE_NO_RANK &&
			    tree->rank[sw] == tree->rank[edge->to])
				return false;
	return true;
}

static bool most_hosts_on_leaves(const struct tree *tree)
{
	uint64_t on_leaves = 0, all = 0;

	for (uint32_t sw = 0; sw < tree->graph->n; sw++) {
		uint32_t hosts = route_hosts_that_count(tree->wishes, sw);

		all += hosts;
		if (tree->rank[sw] == 0)
			on_leaves += hosts;
	}
	return on_leaves * 4 >= all * 3;
}

/* The smallest number of targets on any switch that is not below least; 0: none. */
static uint32_t next_fill(const struct route_wishes *wishes, uint32_t least)
{
	uint32_t next = 0;

	for (uint32_t sw = 0; sw < wishes->graph->n; sw++) {
		uint32_t hosts = route_hosts_that_count(wishes, sw);

		if (hosts >= least && (!next || hosts < next))
			next = hosts;
	}
	return next;
}

/* A few hosts on upper switches must not hide the tree: try with ever fuller leaves. */
static bool recognise(struct tree *tree)
{
	const struct route_wishes *wishes = tree->wishes;

	if (tree->graph->n >= TREE_SWITCHES_MAX)
		return false;
	for (uint32_t least = next_fill(wishes, 1); least; least = next_fill(wishes, least + 1)) {
		rank_from(tree, least);
		if (!most_hosts_on_leaves(tree))
			return false;
		if (tree->max_rank < FARTHEST)
			tree->max_rank = route_rank_idle(wishes, tree->rank, tree->max_rank);
		if (is_layered(tree))
			return true;
	}
	return false;
}

bool route_tree_rank(const struct route_wishes *wishes, uint32_t *rank)
{
	const struct route_graph *graph = wishes->graph;
	struct tree tree = {.graph = graph, .wishes = wishes};
	bool layered;

	tree.rank = g_malloc(graph->n + 1);
	layered = recognise(&tree);
	for (uint32_t sw = 0; layered && sw < graph->n; sw++)
		rank[sw] = tree.rank[sw] == TREE_NO_RANK ? 0 : tree.max_rank - tree.rank[sw];
	g_free(tree.rank);
	return layered;
}

uint32_t route_tree_order(const struct route_wishes *wishes, uint32_t *order)
{
	struct tree tree = {.graph = wishes->graph, .wishes = wishes};
	uint32_t n = 0;

	tree.rank = g_malloc(wishes->graph->n + 1);
	if (recognise(&tree))
		n = route_order_leaves(wishes, tree.rank, tree.max_rank, order);
	g_free(tree.rank);
	return n;
}

/* ---- the whole ---- */

/*
 * Whether edges, if they are oriented, lead up exactly where the rank is higher, or in an inverted
 * root where it is lower. Then a legal path to an ancestor continues legally to all switches below
 * it.
 */
static bool is_along_ranks(const struct tree *tree)
{
	const struct route_order *order = tree->order;
	const struct route_graph *graph = tree->graph;

	if (!order->up)
		return true;
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		route_each_edge(graph, sw, edge) {
			bool rises = tree->rank[edge->to] > tree->rank[sw];

			if (order->inverted && order->inverted[sw] && order->inverted[edge->to])
				rises = !rises;
			if (order->up[edge - graph->edges] != rises)
				return false;
		}
	}
	return true;
}

bool route_tree_fill(const struct route_plan *plan, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing, enum tree_form *form)
{
	struct tree tree = {
		.graph = plan->graph,
		.order = &plan->order,
		.wishes = &plan->wishes,
		.hops = hops,
		.next = next,
	};
	bool layered;

	tree.rank = g_malloc(plan->graph->n + 1);
	layered = !plan->order.weight && recognise(&tree);
	if (layered) {
		tree_find_ancestors(&tree);
		tree.along_ranks = is_along_ranks(&tree);
		tree_fill(&tree, routing);
		*form = tree.form;
	}
	tree_clear_ancestors(&tree);
	g_free(tree.rank);
	return layered;
}
