// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shortest paths in layered networks, spread so that no two destinations share what they need not.
 *
 * A network is layered if the distance to the nearest leaf switch gives every switch a rank, no
 * cable joins switches of one rank, and leaves reach each other by going up and then down. Nothing
 * is read from names or port numbers, and missing parts do no harm: they make the spread less
 * even, never the paths longer.
 *
 * The idea: in a tree, the way down to a destination is fixed by the switch where the way up
 * ends. So each destination LID is given one ancestor of each rank, its anchors, by turns among
 * the parents: a parent link down to the same child, and a parent as a whole, get equally many.
 * Everybody then goes up towards the highest anchor that lies on a shortest path; if none does,
 * by the turns of the search. Each hop is on a shortest path to the leaf, so there is no loop.
 *
 * On a full tree the turns are those of d mod k (E. Zahavi, 2010): destinations have numbers, in
 * the order of leaves.c; a leaf with w parents gives number d the parent d mod w and, of p cables,
 * d / w mod p; that parent goes on with d / w. Then those of any consecutive destinations that
 * leave a switch upwards have different links while there are enough of them, and each link down
 * has its part; whether leaves have many or few hosts does not matter. For that all switches must
 * list their parents in one order. It is made from the top: parents are sorted by where their own
 * first parent stands, so that switches of the same plane stand together.
 */
#include <glib.h>
#include <string.h>

#include "route/leaves.h"
#include "route/parallel.h"
#include "route/shortest.h"

#define RANKS_MAX 8
#define FARTHEST (2 * RANKS_MAX) /* an empty leaf is up and down again from the next with hosts */
#define NO_RANK 0xFF
#define SWITCHES_MAX 0xFFFF /* anchors are kept in 16 bits */

struct tree {
	const struct route_graph *graph;
	const uint8_t *hops, *next;
	uint8_t *rank;
	unsigned int max_rank;
	uint32_t *first_up;	     /* [n + 1] */
	uint32_t *up;		     /* edges to parents, in the common order */
	uint32_t *standing;	     /* [n] place of a switch in that order */
	unsigned int levels;	     /* anchors of a target */
	uint16_t *lids;		     /* [target] */
	uint32_t *in_order;	     /* targets in the order of leaves */
	uint32_t *number;	     /* [target]: d, then what is left of it for the levels above */
	uint16_t *anchor[RANKS_MAX]; /* [level][target]; level 0 is the parent of the leaf; where
					there is none, the leaf itself */
	uint8_t *turn[RANKS_MAX];    /* [level][target]: which of parallel links at that level */
	uint32_t *edge_load;	     /* targets that come down an edge, by the edge up */
	uint8_t *first_turn;	     /* [edge]: which of parallel links the first of them takes */
	uint32_t *load;		     /* targets that come down through a switch */
};

/* ---- recognition ---- */

static uint32_t hosts_of(const struct route_graph *graph, uint32_t sw)
{
	return graph->first_target[sw + 1] - graph->first_target[sw];
}

/* Ranks by distance from the switches with at least so many targets. */
static void rank_from(struct tree *tree, uint32_t least)
{
	const struct route_graph *graph = tree->graph;
	uint32_t *queue = g_new(uint32_t, graph->n + 1), n = 0;

	memset(tree->rank, NO_RANK, graph->n);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (hosts_of(graph, sw) < least)
			continue;
		tree->rank[sw] = 0;
		queue[n++] = sw;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint8_t rank = tree->rank[queue[i]];

		tree->max_rank = rank;
		if (rank == FARTHEST)
			break;
		for (uint32_t e = graph->first_edge[queue[i]]; e < graph->first_edge[queue[i] + 1];
		     e++) {
			uint32_t to = graph->edges[e].to;

			if (tree->rank[to] != NO_RANK)
				continue;
			tree->rank[to] = rank + 1;
			queue[n++] = to;
		}
	}
	g_free(queue);
}

static bool is_layered(const struct tree *tree)
{
	const struct route_graph *graph = tree->graph;

	if (tree->max_rank == 0 || tree->max_rank >= RANKS_MAX)
		return false;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			if (tree->rank[sw] != NO_RANK &&
			    tree->rank[sw] == tree->rank[graph->edges[e].to])
				return false;
	return true;
}

/* At most one pair of leaves in four may be farther apart than up and down. */
static bool goes_up_and_down(const struct tree *tree)
{
	uint32_t n = tree->graph->n;
	uint64_t far = 0, pairs = 0;

	for (uint32_t a = 0; a < n; a++) {
		if (tree->rank[a])
			continue;
		for (uint32_t b = 0; b < n; b++) {
			if (tree->rank[b])
				continue;
			pairs++;
			far += route_distance(tree->graph, tree->hops[(size_t)a * n + b]) >
			       2 * tree->max_rank;
		}
	}
	return far * 4 <= pairs;
}

static bool most_hosts_on_leaves(const struct tree *tree)
{
	uint64_t on_leaves = 0;

	for (uint32_t sw = 0; sw < tree->graph->n; sw++)
		if (tree->rank[sw] == 0)
			on_leaves += hosts_of(tree->graph, sw);
	return on_leaves * 4 >= route_n_targets(tree->graph) * UINT64_C(3);
}

/* The smallest number of targets on any switch that is not below least; 0: there is none. */
static uint32_t next_fill(const struct route_graph *graph, uint32_t least)
{
	uint32_t next = 0;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t hosts = hosts_of(graph, sw);

		if (hosts >= least && (!next || hosts < next))
			next = hosts;
	}
	return next;
}

/* A few hosts on upper switches must not hide the tree: so try with ever better filled leaves. */
static bool recognise(struct tree *tree)
{
	const struct route_graph *graph = tree->graph;

	if (graph->n >= SWITCHES_MAX)
		return false;
	for (uint32_t least = next_fill(graph, 1); least; least = next_fill(graph, least + 1)) {
		rank_from(tree, least);
		if (!most_hosts_on_leaves(tree))
			return false;
		if (tree->max_rank < FARTHEST)
			tree->max_rank = route_rank_idle(graph, tree->rank, tree->max_rank);
		if (is_layered(tree) && (!tree->hops || goes_up_and_down(tree)))
			return true;
	}
	return false;
}

bool route_tree_rank(const struct route_graph *graph, uint32_t *rank)
{
	struct tree tree = { .graph = graph };
	bool layered;

	tree.rank = g_malloc(graph->n + 1);
	layered = recognise(&tree);
	for (uint32_t sw = 0; layered && sw < graph->n; sw++)
		rank[sw] = tree.rank[sw] == NO_RANK ? 0 : tree.max_rank - tree.rank[sw];
	g_free(tree.rank);
	return layered;
}

uint32_t route_tree_order(const struct route_graph *graph, uint32_t *order)
{
	struct tree tree = { .graph = graph };
	uint32_t n = 0;

	tree.rank = g_malloc(graph->n + 1);
	if (recognise(&tree))
		n = route_order_leaves(graph, tree.rank, tree.max_rank, order);
	g_free(tree.rank);
	return n;
}

/* ---- the common order of parents ---- */

static gint compare_parents(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct tree *tree = data;
	uint32_t x = tree->graph->edges[*(const uint32_t *)a].to;
	uint32_t y = tree->graph->edges[*(const uint32_t *)b].to;

	if (tree->standing[x] != tree->standing[y])
		return tree->standing[x] < tree->standing[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void order_parents(struct tree *tree, uint32_t sw)
{
	const struct route_graph *graph = tree->graph;
	uint32_t *first = &tree->up[tree->first_up[sw]];
	uint32_t n = tree->first_up[sw + 1] - tree->first_up[sw];

	g_qsort_with_data(first, n, sizeof(*first), compare_parents, tree);
	tree->standing[sw] = n ? tree->standing[graph->edges[first[0]].to] : sw;
}

static void list_parents(struct tree *tree)
{
	const struct route_graph *graph = tree->graph;
	uint32_t n = 0;

	tree->first_up = g_new(uint32_t, graph->n + 1);
	tree->up = g_new(uint32_t, graph->first_edge[graph->n] + 1);
	tree->standing = g_new0(uint32_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		tree->first_up[sw] = n;
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			if (tree->rank[graph->edges[e].to] > tree->rank[sw])
				tree->up[n++] = e;
	}
	tree->first_up[graph->n] = n;
	for (int rank = tree->max_rank; rank >= 0; rank--)
		for (uint32_t sw = 0; sw < graph->n; sw++)
			if (tree->rank[sw] == rank)
				order_parents(tree, sw);
}

/* ---- numbers ---- */

/*
 * LIDs of hosts that matter most are numbered as if there were no others, and so are the first LIDs
 * of ports, the second ones ...
 */
static void number_targets(struct tree *tree)
{
	const struct route_graph *graph = tree->graph;
	uint32_t *leaves = g_new(uint32_t, graph->n + 1), numbers[2][256] = { 0 }, n = 0;

	tree->in_order = g_new(uint32_t, route_n_targets(graph) + 1);
	tree->number = g_new0(uint32_t, route_n_targets(graph) + 1);
	route_order_leaves(graph, tree->rank, tree->max_rank, leaves);
	for (uint32_t i = 0; i < graph->n; i++) {
		uint32_t last = graph->first_target[leaves[i] + 1];

		for (uint32_t t = graph->first_target[leaves[i]]; t < last; t++) {
			const struct route_target *target = &graph->targets[t];

			tree->in_order[n++] = t;
			if (!target->ahead && !target->ignored)
				tree->number[t] = numbers[target->later][target->offset]++;
		}
	}
	for (uint32_t i = 0; i < graph->n_ahead; i++)
		tree->number[graph->ahead[i]] = i;
	g_free(leaves);
}

/* ---- anchors ---- */

/* How often the earlier LIDs of the same port have this anchor. */
static uint32_t repeats(const struct tree *tree, unsigned int level, uint32_t target,
			uint32_t anchor)
{
	uint32_t n = 0;

	for (uint32_t i = target - tree->graph->targets[target].offset; i < target; i++)
		n += tree->anchor[level][i] == anchor;
	return n;
}

/* The parent of sw whose turn it is; FABRIC_NONE if it has none. */
static uint32_t choose_parent(const struct tree *tree, unsigned int level, uint32_t target,
			      uint32_t sw)
{
	const struct route_graph *graph = tree->graph;
	uint32_t first = tree->first_up[sw], n = tree->first_up[sw + 1] - first;
	uint32_t turn = n ? graph->targets[target].offset % n : 0, best = FABRIC_NONE;
	uint32_t start = tree->number[target] + turn + (graph->shift ? sw : 0);
	uint64_t best_cost = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = tree->up[first + (start + i) % n];
		const struct route_edge *edge = &graph->edges[e];
		uint64_t cost = (uint64_t)(tree->edge_load[e] / edge->n_links) << 32 |
				tree->load[edge->to];

		if (turn)
			cost += (uint64_t)repeats(tree, level, target, edge->to) << 48;
		if (cost >= best_cost)
			continue;
		best_cost = cost;
		best = e;
	}
	return best;
}

/* Counts on for the level above; which of the cables of the edge the target takes. */
static uint8_t choose_cable(struct tree *tree, uint32_t target, uint32_t sw, uint32_t edge)
{
	uint16_t n = tree->graph->edges[edge].n_links;

	tree->number[target] /= tree->first_up[sw + 1] - tree->first_up[sw];
	if (!tree->edge_load[edge])
		tree->first_turn[edge] = tree->number[target] % n;
	return (tree->first_turn[edge] + tree->edge_load[edge]) % n;
}

static void anchor_target(struct tree *tree, uint32_t target)
{
	const struct route_graph *graph = tree->graph;
	uint32_t sw = graph->targets[target].leaf;

	for (unsigned int level = 0; level < tree->levels; level++) {
		uint32_t e = choose_parent(tree, level, target, sw);
		uint8_t turn;

		if (e == FABRIC_NONE)
			return;
		turn = choose_cable(tree, target, sw, e);
		sw = graph->edges[e].to;
		tree->anchor[level][target] = sw;
		if (graph->parallel)
			tree->turn[level][target] = turn;
		if (graph->targets[target].ignored)
			continue;
		tree->edge_load[e]++;
		tree->load[sw]++;
	}
}

/*
 * Those ahead first. First LIDs of all ports before second ones, and of these the ones that matter
 * most before others: the turns of each are even by themselves.
 */
static void anchor_in_order(struct tree *tree, unsigned int last)
{
	const struct route_graph *graph = tree->graph;
	uint32_t n = route_n_targets(graph);

	for (uint32_t i = 0; i < graph->n_ahead; i++)
		anchor_target(tree, graph->ahead[i]);
	for (unsigned int offset = 0; offset <= last; offset++)
		for (int later = 0; later <= 1; later++)
			for (uint32_t i = 0; i < n; i++) {
				uint32_t t = tree->in_order[i];

				if (graph->targets[t].offset == offset &&
				    graph->targets[t].later == later && !graph->targets[t].ahead)
					anchor_target(tree, t);
			}
}

static void anchor_targets(struct tree *tree)
{
	const struct route_graph *graph = tree->graph;
	uint32_t n = route_n_targets(graph);
	unsigned int last = 0;

	tree->edge_load = g_new0(uint32_t, graph->first_edge[graph->n] + 1);
	tree->first_turn = g_malloc0(graph->first_edge[graph->n] + 1);
	tree->load = g_new0(uint32_t, graph->n + 1);
	tree->levels = tree->max_rank;
	for (unsigned int level = 0; level < tree->levels; level++) {
		tree->anchor[level] = g_new(uint16_t, n + 1);
		for (uint32_t t = 0; t < n; t++)
			tree->anchor[level][t] = graph->targets[t].leaf;
		if (graph->parallel)
			tree->turn[level] = g_malloc0(n + 1);
	}
	tree->lids = g_new(uint16_t, n + 1);
	for (uint32_t t = 0; t < n; t++) {
		tree->lids[t] = graph->targets[t].lid;
		last = MAX(last, graph->targets[t].offset);
	}
	anchor_in_order(tree, last);
}

/* ---- forwarding tables ---- */

/* One switch while its table is filled. */
struct row {
	uint32_t sw;
	const uint8_t *hops, *next; /* of this switch, by destination switch */
	uint8_t *lft;
	const struct route_edge *edge_of[256]; /* by lowest port */
};

/* The port of the parallel links to use for a target that leaves through this edge. */
static uint8_t among_parallel(const struct tree *tree, const struct row *row, uint8_t port,
			      uint32_t target)
{
	const struct route_edge *edge = row->edge_of[port];
	unsigned int level;

	if (edge->n_links == 1)
		return port;
	level = MIN(tree->rank[row->sw], tree->rank[edge->to]);
	level = MIN(level, tree->levels - 1);
	return tree->graph->links[edge->first_link + tree->turn[level][target] % edge->n_links];
}

/* Whether this port, the lowest of its edge, begins a legal path to the leaf that is a best one. */
static bool is_legal(const struct tree *tree, const struct row *row, uint8_t port, uint32_t leaf)
{
	const struct route_graph *graph = tree->graph;
	const struct route_edge *edge = row->edge_of[port];

	return route_leads(graph, edge - graph->edges, row->hops[leaf],
			   tree->hops[(size_t)edge->to * graph->n + leaf]);
}

/*
 * Port towards the highest anchor below level that is on a shortest path, else to the leaf itself,
 * which is far hops away. The switch is no anchor of its own: it is at least one hop from one.
 */
static uint8_t port_by_anchor(const struct tree *tree, const struct row *row, uint32_t target,
			      unsigned int level, unsigned int far)
{
	uint32_t leaf = tree->graph->targets[target].leaf;

	while (level-- > 0) {
		uint16_t anchor = tree->anchor[level][target];

		if (row->hops[anchor] == far - level - 1 &&
		    (!tree->graph->up || is_legal(tree, row, row->next[anchor], leaf)))
			return row->next[anchor];
	}
	return row->next[leaf];
}

static void fill_own_leaf(const struct tree *tree, const struct row *row)
{
	const struct route_graph *graph = tree->graph;

	for (uint32_t t = graph->first_target[row->sw]; t < graph->first_target[row->sw + 1]; t++)
		row->lft[graph->targets[t].lid] = graph->targets[t].exit;
}

/* The innermost loop: all LIDs at all switches. Most go towards their top anchor. */
static void fill_leaf(const struct tree *tree, const struct row *row, uint32_t leaf)
{
	const struct route_graph *graph = tree->graph;
	uint32_t last = graph->first_target[leaf + 1];
	unsigned int far = row->hops[leaf];
	unsigned int levels = MIN(tree->levels, route_distance(graph, far) - 1);
	const uint16_t *top = levels ? tree->anchor[levels - 1] : NULL;

	if (far == ROUTE_FAR)
		return;
	for (uint32_t t = graph->first_target[leaf]; t < last; t++) {
		uint8_t port;

		if (levels && row->hops[top[t]] == far - levels && !graph->up)
			port = row->next[top[t]];
		else
			port = port_by_anchor(tree, row, t, levels, far);
		if (graph->parallel)
			port = among_parallel(tree, row, port, t);
		row->lft[tree->lids[t]] = port;
	}
}

static void fill_own_lids(const struct tree *tree, const struct row *row)
{
	const struct route_graph *graph = tree->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint8_t port = sw == row->sw ? 0 : row->next[sw];
		unsigned int n = graph->own_lid[sw] ? 1u << graph->own_lmc[sw] : 0;

		if (row->hops[sw] == ROUTE_FAR)
			continue;
		for (unsigned int i = 0; i < n; i++)
			row->lft[graph->own_lid[sw] + i] = port;
	}
}

static void fill_switch(const struct tree *tree, uint32_t sw, uint8_t *lft)
{
	const struct route_graph *graph = tree->graph;
	struct row row = {
		.sw = sw,
		.hops = tree->hops + (size_t)sw * graph->n,
		.next = tree->next + (size_t)sw * graph->n,
		.lft = lft,
	};

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		row.edge_of[graph->links[graph->edges[e].first_link]] = &graph->edges[e];
	fill_own_leaf(tree, &row);
	for (uint32_t leaf = 0; leaf < graph->n; leaf++)
		if (leaf != sw)
			fill_leaf(tree, &row, leaf);
	fill_own_lids(tree, &row);
}

/* The tables of the fill, for the threads that share it. */
struct fill {
	const struct tree *tree;
	uint8_t **lft;
};

static void fill_switches(void *arg, uint32_t first, uint32_t last)
{
	const struct fill *fill = arg;

	for (uint32_t sw = first; sw < last; sw++)
		fill_switch(fill->tree, sw, fill->lft[sw]);
}

static void tree_clear(struct tree *tree)
{
	for (unsigned int level = 0; level < RANKS_MAX; level++) {
		g_free(tree->anchor[level]);
		g_free(tree->turn[level]);
	}
	g_free(tree->lids);
	g_free(tree->in_order);
	g_free(tree->number);
	g_free(tree->rank);
	g_free(tree->first_up);
	g_free(tree->up);
	g_free(tree->standing);
	g_free(tree->edge_load);
	g_free(tree->first_turn);
	g_free(tree->load);
}

bool route_tree_fill(const struct route_graph *graph, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing)
{
	struct tree tree = { .graph = graph, .hops = hops, .next = next };
	struct fill fill = { &tree, routing->lft };
	bool layered;

	tree.rank = g_malloc(graph->n + 1);
	layered = !graph->weight && recognise(&tree);
	if (layered) {
		list_parents(&tree);
		number_targets(&tree);
		anchor_targets(&tree);
		route_parallel(graph->threads, graph->n, fill_switches, &fill);
	}
	tree_clear(&tree);
	return layered;
}
