// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shortest paths in layered networks, spread so that no two destinations share what they need not.
 *
 * A network is layered if the distance to the nearest leaf switch gives every switch a rank, no
 * cable joins switches of one rank, and leaves reach each other by going up and then down. Nothing
 * is read from names or port numbers, and missing parts do no harm: they make the spread less
 * even, never the paths longer.
 *
 * The idea: in a tree, the way down to a destination is fixed by the switch where the way up ends.
 * So each destination LID is given one ancestor of each rank by turns among the parents
 * (ancestor.c): a parent link down to the same child, and a parent as a whole, get equally many.
 * Everybody then goes up towards the highest ancestor that lies on a shortest path; if none
 * does, by the turns of the search. Where cables are lost, a LID may be spare: it has ancestors
 * only up to some rank, and each switch goes up to that by its own place among its kind. Each
 * hop is on a shortest path to the leaf, so there is no loop.
 *
 * Most entries are of LIDs that nobody sends this way: an upper switch is on the way to the
 * ancestors of one LID of a leaf, and its other LIDs go past. These follow the one, so that a
 * cable concerns as few leaves as it can, and with them blocks of tables that change when it is
 * lost.
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
#include <stdatomic.h>
#include <string.h>

#include "route/leaves.h"
#include "route/parallel.h"
#include "route/shortest.h"
#include "route/trace.h"
#include "route/tree.h"

#define FARTHEST (2 * TREE_RANKS_MAX) /* an empty leaf is up and down from the next with hosts */

/* ---- recognition ---- */

/* LIDs of hosts on a switch; of compute nodes if these are known: only they tell the leaves. */
static uint32_t hosts_of(const struct route_graph *graph, uint32_t sw)
{
	uint32_t first = graph->first_target[sw], last = graph->first_target[sw + 1], n = 0;

	for (uint32_t t = first; t < last; t++)
		n += !graph->targets[t].later;
	return n;
}

/* Ranks by distance from the switches with at least so many targets. */
static void rank_from(struct tree *tree, uint32_t least)
{
	const struct route_graph *graph = tree->graph;
	uint32_t *queue = g_new(uint32_t, graph->n + 1), n = 0;

	memset(tree->rank, TREE_NO_RANK, graph->n);
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

			if (tree->rank[to] != TREE_NO_RANK)
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

	if (tree->max_rank == 0 || tree->max_rank >= TREE_RANKS_MAX)
		return false;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			if (tree->rank[sw] != TREE_NO_RANK &&
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
	uint64_t on_leaves = 0, all = 0;

	for (uint32_t sw = 0; sw < tree->graph->n; sw++) {
		uint32_t hosts = hosts_of(tree->graph, sw);

		all += hosts;
		if (tree->rank[sw] == 0)
			on_leaves += hosts;
	}
	return on_leaves * 4 >= all * 3;
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

	if (graph->n >= TREE_SWITCHES_MAX)
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
		rank[sw] = tree.rank[sw] == TREE_NO_RANK ? 0 : tree.max_rank - tree.rank[sw];
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

/* ---- forwarding tables ---- */

/* One switch while its table is filled. */
struct row {
	uint32_t sw;
	const uint8_t *hops, *next; /* of this switch, by destination switch */
	uint8_t *lft;
	const struct route_edge *edge_of[256]; /* by lowest port */
	const uint8_t *there[256];	       /* hops of the switch across, by lowest port */
	uint8_t rises[256];		       /* ROUTE_UP: they are reached by going up first */
	uint8_t limit[256];		       /* only if they are less */
	uint8_t up[256];		       /* lowest ports of edges that lead up */
	unsigned int n_up;
	unsigned int stride; /* between those that a spare LID tries */
	uint8_t *via[256]; /* [hops]: ports to switches that are so far by [switch], 0xFF for
			      others; NULL: not made yet */
	uint8_t *free;	   /* memory for more of them */
	bool below;	   /* for some targets the top ancestor did not do */
	uint8_t *past;	   /* [leaf]: port for its LIDs that have no ancestor on a way from here */
	uint32_t hit;	   /* number on its leaf of the last target that had one */
};

/* Ports to the switches that are so far away. */
static const uint8_t *via(const struct tree *tree, struct row *row, uint8_t hops)
{
	uint32_t n = tree->graph->n;
	uint8_t *ports = row->via[hops];

	if (ports)
		return ports;
	ports = row->via[hops] = row->free;
	row->free += n;
	for (uint32_t sw = 0; sw < n; sw++)
		ports[sw] = row->hops[sw] == hops ? row->next[sw] : ROUTE_NO_PORT;
	return ports;
}

/* The port of the parallel links to use for a target that leaves through this edge. */
static uint8_t among_parallel(const struct tree *tree, const struct row *row, uint8_t port,
			      uint32_t target)
{
	const struct route_edge *edge = row->edge_of[port];
	unsigned int level = MIN(tree->rank[row->sw], tree->rank[edge->to]), turn;

	level = MIN(level, tree->levels - 1);
	turn = tree->turn[level][target];
	if (turn >= edge->n_links && tree->rank[edge->to] > tree->rank[row->sw])
		edge = row->edge_of[row->next[tree->graph->targets[target].leaf]];
	return tree->graph->links[edge->first_link + turn % edge->n_links];
}

/* Whether this port, the lowest of its edge, begins a legal path to the leaf that is a best one. */
static bool is_legal(const struct row *row, uint8_t port, uint32_t leaf)
{
	uint8_t there = row->there[port][leaf];

	return there < row->limit[port] && (there | row->rises[port]) + 1u == row->hops[leaf];
}

/* What route_leads() looks at, side by side: trees with cables lost ask it of many entries. */
static void view(const struct tree *tree, struct row *row, uint8_t port, uint32_t edge)
{
	const struct route_graph *graph = tree->graph;
	bool up = graph->up && graph->up[edge];

	row->edge_of[port] = &graph->edges[edge];
	row->there[port] = tree->hops + (size_t)graph->edges[edge].to * graph->n;
	row->rises[port] = up ? ROUTE_UP : 0;
	row->limit[port] = graph->up && !up ? ROUTE_UP : ROUTE_FAR;
}

/*
 * Port towards the highest ancestor below level that is on a shortest path, else to the leaf
 * itself, which is far hops away. The switch is no ancestor of its own: it is at least one hop from
 * one.
 */
static uint8_t port_by_ancestor(const struct tree *tree, const struct row *row, uint32_t target,
				unsigned int level, unsigned int far)
{
	uint32_t leaf = tree->graph->targets[target].leaf;

	while (level-- > 0) {
		uint16_t ancestor = tree->ancestor[level][target];

		if (row->hops[ancestor] == far - level - 1 &&
		    (tree->along_ranks || is_legal(row, row->next[ancestor], leaf)))
			return row->next[ancestor];
	}
	return row->next[leaf];
}

/*
 * Port for a target that has no common way down from some rank on, as a cable is lost there, or not
 * from here. Each switch goes up by its own place, so that all cables that are left share what goes
 * up and comes down; dest is where the ways meet again.
 */
static uint8_t port_by_place(const struct tree *tree, const struct row *row, uint32_t target,
			     unsigned int level)
{
	const struct route_graph *graph = tree->graph;
	uint32_t leaf = tree->leaf[target], dest = leaf, tries = row->n_up, turn;

	while (level > 0 && row->hops[tree->ancestor[level - 1][target]] + level != row->hops[leaf])
		level--;
	if (level > 0)
		dest = tree->ancestor[level - 1][target];
	if (route_distance(graph, row->hops[leaf]) + tree->rank[leaf] == tree->rank[row->sw])
		tries = 0; /* all ways lead down */
	turn = tree->place[row->sw];
	turn += tree->spare[target] ? tree->spare[target] : tree->place[leaf];
	turn = tries ? turn % tries : 0;
	for (uint32_t i = 0; i < tries; i++) {
		uint8_t port = row->up[turn];

		if (is_legal(row, port, dest) && is_legal(row, port, leaf))
			return port;
		turn += row->stride;
		turn -= turn < tries ? 0 : tries;
	}
	return port_by_ancestor(tree, row, target, level, row->hops[leaf]);
}

/*
 * Sets and returns the port for LIDs of a leaf that do not pass here: that of one which does. What
 * leads to the highest ancestors is in there.
 */
static uint8_t find_past(const struct tree *tree, struct row *row, uint32_t leaf,
			 const uint8_t *there, const uint16_t *ancestor)
{
	uint32_t first = tree->graph->first_target[leaf];
	uint32_t n = tree->graph->first_target[leaf + 1] - first;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = row->hit + i < n ? row->hit + i : (row->hit + i) % n;
		uint8_t port = there[ancestor[first + k]];

		if (port == ROUTE_NO_PORT || tree->spare[first + k])
			continue;
		row->hit = k;
		return row->past[leaf] = port;
	}
	return row->past[leaf];
}

static void fill_own_leaf(const struct tree *tree, const struct row *row)
{
	const struct route_graph *graph = tree->graph;

	for (uint32_t t = graph->first_target[row->sw]; t < graph->first_target[row->sw + 1]; t++)
		row->lft[graph->targets[t].lid] = graph->targets[t].exit;
}

/* The port for one target, with nothing taken for granted. */
static uint8_t find_port(const struct tree *tree, const struct row *row, uint32_t target,
			 unsigned int far)
{
	unsigned int levels = MIN(tree->levels, route_distance(tree->graph, far) - 1);
	uint16_t top = levels ? tree->ancestor[levels - 1][target] : 0;

	if (levels && row->hops[top] == far - levels &&
	    (tree->along_ranks || is_legal(row, row->next[top], tree->graph->targets[target].leaf)))
		return row->next[top];
	if (tree->spare[target] || tree->lacks[row->sw])
		return port_by_place(tree, row, target, levels);
	return port_by_ancestor(tree, row, target, levels, far);
}

static void fill_carefully(const struct tree *tree, const struct row *row)
{
	uint32_t n = route_n_targets(tree->graph);

	for (uint32_t t = 0; t < n; t++) {
		unsigned int far = row->hops[tree->leaf[t]];
		uint8_t port;

		if (!far || far == ROUTE_FAR)
			continue;
		port = find_port(tree, row, t, far);
		if (tree->graph->parallel)
			port = among_parallel(tree, row, port, t);
		row->lft[tree->lids[t]] = port;
	}
}

/*
 * The innermost loops: all LIDs at all switches, without branches. What leads to the top ancestor
 * at the right distance is looked up. False: for some targets there was nothing.
 */
static bool look_up_top(const struct tree *tree, const struct row *row, const uint8_t *there,
			const uint16_t *ancestor, uint32_t first, uint32_t last)
{
	unsigned int missing = 0;

	for (uint32_t t = first; t < last; t++) {
		uint8_t port = there[ancestor[t]];

		row->lft[tree->lids[t]] = port;
		missing |= port == ROUTE_NO_PORT;
	}
	return !missing;
}

/*
 * The same for one leaf, and where there is nothing, at the next level below; at last to the leaf
 * itself.
 */
static void look_up_all(const struct tree *tree, const struct row *row, const uint8_t *const *there,
			unsigned int levels, uint32_t first, uint32_t last)
{
	uint8_t past = row->past[tree->leaf[first]];

	for (uint32_t t = first; t < last; t++) {
		uint8_t port = past;

		for (unsigned int level = 0; level < levels; level++) {
			uint8_t nearer = there[level][tree->ancestor[level][t]];

			port = nearer == ROUTE_NO_PORT ? port : nearer;
		}
		row->lft[tree->lids[t]] = port;
	}
}

/* With the number of levels known, so that the compiler unrolls the loop. */
static void look_up_leaf(const struct tree *tree, struct row *row, const uint8_t *const *there,
			 unsigned int levels, uint32_t first, uint32_t last)
{
	if (levels)
		find_past(tree, row, tree->leaf[first], there[levels - 1],
			  tree->ancestor[levels - 1]);
	switch (levels) {
	case 1:
		look_up_all(tree, row, there, 1, first, last);
		break;
	case 2:
		look_up_all(tree, row, there, 2, first, last);
		break;
	default:
		look_up_all(tree, row, there, levels, first, last);
	}
}

#define TRY 64 /* targets */
#define BLOCK_TURNS 64 /* blocks by turns, at the most */

/* Targets of leaves that are all far hops away. */
static void fill_run(const struct tree *tree, struct row *row, unsigned int far, uint32_t first,
		     uint32_t last)
{
	unsigned int levels = MIN(tree->levels, route_distance(tree->graph, far) - 1);
	const uint8_t *there[TREE_RANKS_MAX];

	if (far == ROUTE_FAR)
		return;
	for (unsigned int level = 0; level < levels; level++)
		there[level] = via(tree, row, far - level - 1);
	for (uint32_t t = first, end; t < last; t = end) {
		end = MIN(t + TRY, last);
		if (!row->below && levels &&
		    look_up_top(tree, row, there[levels - 1], tree->ancestor[levels - 1], t, end))
			continue;
		row->below = true; /* most likely again at this switch */
		end = tree->graph->first_target[tree->leaf[t] + 1];
		look_up_leaf(tree, row, there, levels, t, end);
	}
}

static void fill_runs(const struct tree *tree, struct row *row)
{
	const struct route_graph *graph = tree->graph;
	uint32_t start = 0, n = route_n_targets(graph);
	unsigned int far = n ? row->hops[tree->leaf[0]] : 0;

	for (uint32_t leaf = 0; leaf < graph->n; leaf++) {
		if (row->hops[leaf] == far || !route_has_hosts(graph, leaf))
			continue;
		if (far)
			fill_run(tree, row, far, start, graph->first_target[leaf]);
		start = graph->first_target[leaf];
		far = row->hops[leaf];
	}
	if (far)
		fill_run(tree, row, far, start, n);
	for (uint32_t i = 0; i < tree->n_spares; i++) {
		uint32_t t = tree->spares[i];

		far = row->hops[tree->leaf[t]];
		if (far && far != ROUTE_FAR)
			row->lft[tree->lids[t]] = find_port(tree, row, t, far);
	}
}

/*
 * What leads to switches need not be spread well, as little is sent to them; what counts is that
 * few blocks of tables change when a cable is lost. So all that is in one block goes up by one
 * port, if it may. On leaves hosts have entries in nearly all blocks anyway.
 */
static void gather(const struct tree *tree, struct row *row)
{
	const struct route_graph *graph = tree->graph;
	const uint8_t *there[BLOCK_TURNS] = { NULL };
	uint8_t port[BLOCK_TURNS], up = graph->up ? ROUTE_UP : 0;

	if (tree->rank[row->sw] == 0 || !row->n_up)
		return;
	for (unsigned int i = 0; i < BLOCK_TURNS; i++) {
		const struct route_edge *edge;

		port[i] = row->up[i % row->n_up];
		edge = row->edge_of[port[i]];
		if (graph->up && !graph->up[edge - graph->edges])
			return;
		there[i] = tree->hops + (size_t)edge->to * graph->n;
	}
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		unsigned int turn = graph->own_lid[sw] / ROUTE_BLOCK % BLOCK_TURNS;

		if (row->hops[sw] == (uint8_t)((there[turn][sw] | up) + 1))
			row->past[sw] = port[turn];
	}
}

static void fill_own_lids(const struct tree *tree, struct row *row)
{
	const struct route_graph *graph = tree->graph;

	gather(tree, row);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint8_t port = sw == row->sw ? 0 : row->past[sw];
		unsigned int n = graph->own_lid[sw] ? 1u << graph->own_lmc[sw] : 0;

		if (row->hops[sw] == ROUTE_FAR)
			continue;
		for (unsigned int i = 0; i < n; i++)
			row->lft[graph->own_lid[sw] + i] = port;
	}
}

static void fill_switch(const struct tree *tree, uint32_t sw, struct routing *routing,
			uint8_t *memory)
{
	const struct route_graph *graph = tree->graph;
	struct row row = {
		.sw = sw,
		.hops = tree->hops + (size_t)sw * graph->n,
		.next = tree->next + (size_t)sw * graph->n,
		.lft = routing->lft[sw],
		.free = memory + graph->n,
		.past = memory,
	};

	memcpy(row.past, row.next, graph->n);
	memset(row.lft, ROUTE_NO_PORT, routing->n_blocks * 64);
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		uint8_t port = graph->links[graph->edges[e].first_link];

		view(tree, &row, port, e);
		if (tree->rank[graph->edges[e].to] > tree->rank[sw])
			row.up[row.n_up++] = port;
	}
	if (row.n_up > 1)
		row.stride = 1 + tree->place[sw] / row.n_up % (row.n_up - 1);
	fill_own_leaf(tree, &row);
	if (graph->parallel || tree->lacks[sw] || !tree->along_ranks)
		fill_carefully(tree, &row);
	else
		fill_runs(tree, &row);
	fill_own_lids(tree, &row);
}

/* What the threads of a fill share. */
struct fill {
	const struct tree *tree;
	struct routing *routing;
	atomic_uint next; /* switch */
};

#define AT_ONCE 8 /* switches: their tables take most of the time, and not all the same */

/* One thread. */
static void fill_switches(void *arg, uint32_t thread, uint32_t last)
{
	struct fill *fill = arg;
	uint32_t n = fill->tree->graph->n, sw;
	/* by each level of ancestors, at most, for each distance of a leaf: all differ; and past */
	uint8_t *memory = g_malloc((size_t)n * 257 + 1);

	(void)thread;
	(void)last;
	while ((sw = atomic_fetch_add(&fill->next, AT_ONCE)) < n)
		for (uint32_t end = MIN(sw + AT_ONCE, n); sw < end; sw++)
			fill_switch(fill->tree, sw, fill->routing, memory);
	g_free(memory);
}

/*
 * Whether edges lead up, if they are oriented, just where the rank is higher, or in an inverted
 * root where it is lower. Then what leads to an ancestor by a legal path leads to all that is below
 * by one.
 */
static bool is_along_ranks(const struct tree *tree)
{
	const struct route_graph *graph = tree->graph;

	if (!graph->up)
		return true;
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;
			bool rises = tree->rank[to] > tree->rank[sw];

			if (graph->inverted && graph->inverted[sw] && graph->inverted[to])
				rises = !rises;
			if (graph->up[e] != rises)
				return false;
		}
	}
	return true;
}

bool route_tree_fill(const struct route_graph *graph, const uint8_t *hops, const uint8_t *next,
		     struct routing *routing)
{
	struct tree tree = { .graph = graph, .hops = hops, .next = next };
	struct fill fill = { &tree, routing };
	bool layered;

	tree.rank = g_malloc(graph->n + 1);
	layered = !graph->weight && recognise(&tree);
	if (layered) {
		tree_find_ancestors(&tree);
		tree.along_ranks = is_along_ranks(&tree);
		atomic_init(&fill.next, 0);
		route_parallel(graph->threads, MAX(graph->threads, 1), fill_switches, &fill);
	}
	tree_clear_ancestors(&tree);
	g_free(tree.rank);
	return layered;
}
