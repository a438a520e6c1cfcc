// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables of a layered network, switch by switch, from the ancestors of all LIDs.
 *
 * Where cables were lost, many entries need their own check of the legal paths; but in each table
 * most LIDs of a leaf go either to their top ancestor, or all by the same port. These are filled
 * without branches, and only the rest is examined one by one.
 */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/order/tree.h"
#include "route/value/base.h"

/* One switch while its table is filled. */
struct row {
	uint32_t sw;
	const uint8_t *hops, *next; /* of this switch, by destination switch */
	uint8_t *lft;
	const struct route_edge *edge_of[256]; /* by lowest port */
	const uint8_t *there[256];	       /* hops of the switch across, by lowest port */
	uint8_t rises[256];		       /* ROUTE_UP: reached by going up first */
	uint8_t limit[256];		       /* only if hops are less */
	uint8_t up[256];		       /* lowest ports of edges that lead up */
	unsigned int n_up, stride; /* the step from one to the next to try */
	uint64_t *ways; /* [i / 64 * switches + switch]: bit i % 64: up[i] begins a best path */
	uint8_t *via[256];   /* [hops]: ports to switches at that distance by [switch], 0xFF for
				others; NULL: not made yet */
	uint8_t *free;	     /* memory for further via[] */
	uint8_t far;	     /* hops to the current leaf */
	bool down;	     /* all paths to it lead down */
	unsigned int levels; /* of ancestors that may be on the path there */
	const uint8_t *nearer[TREE_RANKS_MAX]; /* [level]: ports to those that are, by [switch] */
	bool follows;	  /* use past; not where that would overload a few cables */
	bool below;	  /* the top ancestor failed for some targets, or other levels count too */
	uint32_t *others; /* scratch: targets of the current leaf */
	uint8_t *past;	  /* [leaf]: port for its LIDs without an ancestor on a path from here */
	uint32_t hit;	  /* number on its leaf of the last target with an ancestor */
};

#define CHUNK 64 /* a constant, so that many are handled at once */

static inline void add_via(const struct row *row, uint8_t far, uint32_t first, uint32_t n,
			   uint8_t *restrict ports)
{
	const uint8_t *hops = row->hops + first, *next = row->next + first;

	for (uint32_t i = 0; i < n; i++)
		ports[first + i] = next[i] | -(uint8_t)(hops[i] != far);
}

/* Ports to the switches at this distance; ROUTE_NO_PORT, which has all bits, for others. */
static const uint8_t *via(const struct tree *tree, struct row *row, uint8_t far)
{
	uint32_t n = tree->graph->n, sw = 0;
	uint8_t *ports = row->via[far];

	if (ports)
		return ports;
	ports = row->via[far] = row->free;
	row->free += n;
	for (; sw + CHUNK <= n; sw += CHUNK)
		add_via(row, far, sw, CHUNK, ports);
	add_via(row, far, sw, n - sw, ports);
	return ports;
}

/* Looks up the ancestors that may be on the path to a leaf which is far hops away. */
static void look(const struct tree *tree, struct row *row, uint32_t leaf)
{
	uint8_t far = row->hops[leaf];

	row->down = !row->n_up ||
		    route_distance(tree->order, far) + tree->rank[leaf] == tree->rank[row->sw];
	if (row->far == far)
		return;
	row->far = far;
	row->levels = MIN(tree->max_rank, route_distance(tree->order, far) - 1);
	for (unsigned int level = 0; level < row->levels; level++)
		row->nearer[level] = via(tree, row, far - level - 1);
}

/* Whether this port, the lowest of its edge, begins a legal best path to dest. */
static bool is_legal(const struct row *row, uint8_t port, uint32_t dest)
{
	uint8_t there = row->there[port][dest];

	return (there < row->limit[port]) & ((there | row->rises[port]) + 1u == row->hops[dest]);
}

/* Collects what route_leads() reads: with cables lost, it is called for many entries. */
static void view(const struct tree *tree, struct row *row, uint8_t port, uint32_t edge)
{
	const struct route_graph *graph = tree->graph;
	bool has_directions = tree->order->up, up = has_directions && tree->order->up[edge];

	row->edge_of[port] = &graph->edges[edge];
	row->there[port] = tree->hops + (size_t)graph->edges[edge].to * graph->n;
	row->rises[port] = up ? ROUTE_UP : 0;
	row->limit[port] = has_directions && !up ? ROUTE_UP : ROUTE_FAR;
}

/* Port to the ancestor of that level, if it is on a path to the leaf; else ROUTE_NO_PORT. */
static uint8_t port_at(const struct tree *tree, const struct row *row, uint32_t target,
		       unsigned int level)
{
	return row->nearer[level][tree->ancestor[level][target]];
}

/* ---- ways up ---- */

/* Sets a bit for each of n switches to which this port begins a best path, as is_legal() says. */
static inline void add_way(const struct row *row, uint8_t port, uint32_t first, uint32_t n,
			   uint8_t bit, uint8_t *restrict bits)
{
	const uint8_t *there = row->there[port] + first, *hops = row->hops + first;
	uint8_t rises = row->rises[port], limit = row->limit[port];

	for (uint32_t i = 0; i < n; i++) {
		uint8_t far = (there[i] | rises) + 1;

		bits[first + i] |= ((there[i] < limit) & (far == hops[i])) ? bit : 0;
	}
}

/* Eight ports at a time; bits is scratch, an octet for each switch. */
static void find_ways(struct row *row, uint32_t n, uint8_t *bits)
{
	memset(row->ways, 0, (row->n_up + 63) / 64 * (size_t)n * sizeof(*row->ways));
	for (unsigned int first = 0; first < row->n_up; first += 8) {
		uint64_t *ways = row->ways + first / 64 * (size_t)n;

		memset(bits, 0, n);
		for (unsigned int i = first; i < MIN(first + 8, row->n_up); i++) {
			uint32_t sw = 0;

			for (; sw + CHUNK <= n; sw += CHUNK)
				add_way(row, row->up[i], sw, CHUNK, 1u << i % 8, bits);
			add_way(row, row->up[i], sw, n - sw, 1u << i % 8, bits);
		}
		for (uint32_t sw = 0; sw < n; sw++)
			ways[sw] |= (uint64_t)bits[sw] << first % 64;
	}
}

/*
 * The first port in turn that leads up on a path both to the leaf and to dest; or ROUTE_NO_PORT.
 * Each switch starts at its own place, so that all remaining cables share the traffic up and down,
 * and uses its own stride: otherwise switches that lost the same port would all load the next one.
 * dest is where the paths meet again.
 */
static uint8_t port_in_turn(const struct tree *tree, const struct row *row, uint32_t turn,
			    uint32_t dest, uint32_t leaf)
{
	unsigned int n = row->n_up;

	if (row->down)
		return ROUTE_NO_PORT;
	turn = (tree->place[row->sw] + turn) % n;
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t *ways = row->ways + turn / 64 * (size_t)tree->graph->n;
		uint64_t both = ways[dest] & ways[leaf];

		if (n <= 64 && !(both & (both - 1)))
			return both ? row->up[__builtin_ctzll(both)] : ROUTE_NO_PORT;
		if (both >> turn % 64 & 1)
			return row->up[turn];
		turn = turn + row->stride < n ? turn + row->stride : turn + row->stride - n;
	}
	return ROUTE_NO_PORT;
}

/* ---- targets ---- */

/*
 * Sets and returns the port for LIDs of a leaf that do not pass here: that of a LID which does. It
 * covers paths to the highest ancestors.
 */
static uint8_t find_past(const struct tree *tree, struct row *row, uint32_t leaf)
{
	uint32_t first = tree->graph->first_target[leaf], n = route_n_hosts(tree->graph, leaf);

	for (uint32_t i = 0; row->levels && i < n; i++) {
		uint32_t k = row->hit + i < n ? row->hit + i : (row->hit + i) % n;
		uint8_t port = port_at(tree, row, first + k, row->levels - 1);

		if (!is_legal(row, port, leaf))
			continue;
		row->hit = k;
		return row->past[leaf] = port;
	}
	return row->past[leaf];
}

/*
 * The innermost loops: all LIDs at all switches, without branches. Looks up the port to the top
 * ancestor at the right distance. False: some targets have none.
 */
static bool look_up_top(const struct tree *tree, const struct row *row, uint32_t first,
			uint32_t last)
{
	const uint8_t *there = row->nearer[row->levels - 1];
	const uint16_t *ancestor = tree->ancestor[row->levels - 1];
	unsigned int missing = 0;

	for (uint32_t t = first; t < last; t++) {
		uint8_t port = there[ancestor[t]];

		row->lft[tree->lids[t]] = port;
		missing |= port == ROUTE_NO_PORT;
	}
	return !missing;
}

/* look_up_top() for one leaf; without a port, tries the levels below it, and finally rest. */
static inline void look_up_all(const struct tree *tree, const struct row *row, unsigned int levels,
			       uint32_t leaf, uint8_t rest, uint8_t *restrict lft)
{
	uint32_t last = tree->graph->first_target[leaf + 1];

	for (uint32_t t = tree->graph->first_target[leaf]; t < last; t++) {
		uint8_t port = rest;

		for (unsigned int level = 0; level < levels; level++) {
			uint8_t nearer = port_at(tree, row, t, level);

			port = nearer == ROUTE_NO_PORT ? port : nearer;
		}
		lft[tree->lids[t]] = port;
	}
}

/*
 * Gives all this port; lists targets that have an ancestor on the path, or are orphans where there
 * are ways up: they may get another one.
 */
static inline uint32_t list_others(const struct tree *tree, const struct row *row,
				   unsigned int levels, uint32_t leaf, uint8_t rest,
				   uint8_t *restrict lft, uint32_t *restrict others)
{
	uint32_t last = tree->graph->first_target[leaf + 1], n = 0;
	uint16_t most = row->down ? UINT16_MAX : 0;

	for (uint32_t t = tree->graph->first_target[leaf]; t < last; t++) {
		uint8_t any = ROUTE_NO_PORT;

		for (unsigned int level = 0; level < levels; level++)
			any &= port_at(tree, row, t, level);
		lft[tree->lids[t]] = rest;
		others[n] = t;
		n += (any != ROUTE_NO_PORT) | (tree->orphan[t] > most);
	}
	return n;
}

/* Targets whose top ancestor is on the path get the port to it. The others remain. */
static uint32_t fill_top(const struct tree *tree, const struct row *row, uint32_t leaf,
			 uint8_t *restrict lft, uint32_t *others, uint32_t n_others)
{
	const uint8_t *top = row->nearer[row->levels - 1];
	const uint16_t *ancestor = tree->ancestor[row->levels - 1];
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_others; i++) {
		uint32_t t = others[i];
		uint8_t port = top[ancestor[t]];

		lft[tree->lids[t]] = port;
		others[n] = t;
		n += !is_legal(row, port, leaf);
	}
	return n;
}

/*
 * The port for a target whose highest ancestor is not on the path, or that has none from some rank
 * on because of lost cables: by turns of the ways up to its highest ancestor on a path, or to the
 * leaf.
 */
static uint8_t find_port(const struct tree *tree, const struct row *row, uint32_t target)
{
	uint32_t leaf = tree->leaf[target], dest = leaf, turn = tree->orphan[target];
	uint8_t port = row->next[leaf], in_turn;

	for (unsigned int level = row->levels; level-- > 0;) {
		uint8_t nearer = port_at(tree, row, target, level);

		if (nearer == ROUTE_NO_PORT || (!tree->along_ranks && !is_legal(row, nearer, leaf)))
			continue;
		if (level + 1 == row->levels)
			return nearer;
		dest = tree->ancestor[level][target];
		port = nearer;
		break;
	}
	if (!turn && !tree->lacks[row->sw])
		return port;
	in_turn = port_in_turn(tree, row, turn ? turn : tree->place[leaf], dest, leaf);
	return in_turn == ROUTE_NO_PORT ? port : in_turn;
}

/* Calls an inline function with a constant number of levels, so that the compiler unrolls loops. */
#define by_levels(number, call) \
	switch (number) { \
	case 1: { const unsigned int levels = 1; call; break; } \
	case 2: { const unsigned int levels = 2; call; break; } \
	default: { const unsigned int levels = number; call; } \
	}

static void fill_leaf(const struct tree *tree, struct row *row, uint32_t leaf)
{
	uint8_t rest = ROUTE_NO_PORT;
	uint32_t n;

	if (tree->lacks[row->sw])
		rest = port_in_turn(tree, row, tree->place[leaf], leaf, leaf);
	if (rest == ROUTE_NO_PORT)
		rest = row->follows ? find_past(tree, row, leaf) : row->next[leaf];
	if (row->follows && !tree->n_orphans) {
		by_levels(row->levels, look_up_all(tree, row, levels, leaf, rest, row->lft));
		return;
	}
	by_levels(row->levels,
		  n = list_others(tree, row, levels, leaf, rest, row->lft, row->others));
	if (row->levels)
		n = fill_top(tree, row, leaf, row->lft, row->others, n);
	for (uint32_t i = 0; i < n; i++)
		row->lft[tree->lids[row->others[i]]] = find_port(tree, row, row->others[i]);
}

/* The port of the parallel links to use for a target that leaves through this edge. */
static uint8_t among_parallel(const struct tree *tree, const struct row *row, uint8_t port,
			      uint32_t target)
{
	const struct route_edge *edge = row->edge_of[port];
	unsigned int level = MIN(tree->rank[row->sw], tree->rank[edge->to]), turn;

	level = MIN(level, tree->max_rank - 1);
	turn = tree->turn[level][target];
	if (turn >= edge->n_links && tree->rank[edge->to] > tree->rank[row->sw])
		edge = row->edge_of[row->next[tree->graph->targets[target].leaf]];
	return tree->graph->links[edge->first_link + turn % edge->n_links];
}

static void spread_parallel(const struct tree *tree, const struct row *row)
{
	for (uint32_t t = 0; t < route_n_targets(tree->graph); t++) {
		uint8_t *port = &row->lft[tree->lids[t]];

		if (tree->leaf[t] != row->sw && *port != ROUTE_NO_PORT)
			*port = among_parallel(tree, row, *port, t);
	}
}

#define TRY 32 /* leaves */

static void fill_leaves(const struct tree *tree, struct row *row)
{
	const struct route_graph *graph = tree->graph;

	for (uint32_t leaf = 0, end; leaf < graph->n; leaf = end) {
		uint8_t far = row->hops[leaf];

		end = leaf + 1;
		if (!far || far == ROUTE_FAR || !route_has_hosts(graph, leaf))
			continue;
		look(tree, row, leaf);
		if (!row->below && row->levels) {
			while (end < MIN(leaf + TRY, graph->n) &&
			       (row->hops[end] == far || !route_has_hosts(graph, end)))
				end++;
			if (look_up_top(tree, row, graph->first_target[leaf],
					graph->first_target[end]))
				continue;
			row->below = true; /* most likely again at this switch */
			end = leaf + 1;
		}
		fill_leaf(tree, row, leaf);
	}
}

static void fill_targets(const struct tree *tree, struct row *row)
{
	const struct route_graph *graph = tree->graph;

	fill_leaves(tree, row);
	for (uint32_t t = graph->first_target[row->sw]; t < graph->first_target[row->sw + 1]; t++)
		row->lft[tree->lids[t]] = graph->targets[t].exit;
	if (graph->parallel)
		spread_parallel(tree, row);
}

#define BLOCK_TURNS 64 /* at most this many blocks by turns */

/*
 * Paths to switches need not be spread well, since little is sent on them; it matters more that few
 * blocks of tables change when a cable is lost. So all LIDs of one block go up by one port, if they
 * may. On leaves hosts have entries in nearly all blocks anyway.
 */
static void gather(const struct tree *tree, struct row *row)
{
	const struct route_graph *graph = tree->graph;
	const bool *rises = tree->order->up;
	const uint8_t *there[BLOCK_TURNS] = {NULL};
	uint8_t port[BLOCK_TURNS], up = rises ? ROUTE_UP : 0;

	if (tree->rank[row->sw] == 0 || !row->n_up)
		return;
	for (unsigned int i = 0; i < BLOCK_TURNS; i++) {
		const struct route_edge *edge;

		port[i] = row->up[i % row->n_up];
		edge = row->edge_of[port[i]];
		if (rises && !rises[edge - graph->edges])
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
		unsigned int n = route_n_own(graph, sw);

		if (row->hops[sw] == ROUTE_FAR)
			continue;
		for (unsigned int i = 0; i < n; i++)
			row->lft[graph->own_lid[sw] + i] = port;
	}
}

/* Shared by the threads of a fill. */
struct fill {
	const struct tree *tree;
	struct routing *routing;
	atomic_uint next; /* switch */
};

/* Memory of one thread, for rows. */
struct memory {
	/* at most: for each level of ancestors, each distance of a leaf (all differ), and past */
	uint8_t *octets;
	uint64_t *ways;
	uint32_t *others;
};

static void fill_switch(const struct fill *fill, uint32_t sw, const struct memory *memory)
{
	const struct tree *tree = fill->tree;
	struct routing *routing = fill->routing;
	const struct route_graph *graph = tree->graph;
	struct row row = {
		.sw = sw,
		.hops = tree->hops + (size_t)sw * graph->n,
		.next = tree->next + (size_t)sw * graph->n,
		.lft = routing->lft[sw],
		.free = memory->octets + graph->n,
		.past = memory->octets,
		.ways = memory->ways,
		.others = memory->others,
	};

	memcpy(row.past, row.next, graph->n);
	memset(row.lft, ROUTE_NO_PORT, routing->n_blocks * 64);
	route_each_edge(graph, sw, edge) {
		uint8_t port = graph->links[edge->first_link];

		view(tree, &row, port, edge - graph->edges);
		if (tree->rank[edge->to] > tree->rank[sw])
			row.up[row.n_up++] = port;
	}
	row.there[ROUTE_NO_PORT] = row.hops; /* so it is never legal */
	row.stride = row.n_up > 1 ? 1 + tree->place[sw] / row.n_up % (row.n_up - 1) : 0;
	if (row.n_up && (tree->n_orphans || tree->lacks[sw]))
		find_ways(&row, graph->n, row.free);
	row.follows = !graph->parallel && tree->along_ranks && !tree->lacks[sw];
	row.below = !row.follows;
	fill_targets(tree, &row);
	fill_own_lids(tree, &row);
}

#define AT_ONCE 8 /* switches: most time goes into their tables, and not equally for all */

/* One thread. */
static void fill_switches(void *arg, uint32_t thread, uint32_t last)
{
	struct fill *fill = arg;
	uint32_t n = fill->tree->graph->n, sw;
	struct memory memory = {
		.octets = g_malloc((size_t)n * 257 + 1),
		.ways = g_new(uint64_t, (size_t)n * 4 + 1),
		.others = g_new(uint32_t, route_n_targets(fill->tree->graph) + 1),
	};

	(void)thread;
	(void)last;
	while ((sw = atomic_fetch_add(&fill->next, AT_ONCE)) < n &&
	       route_watch_step(fill->tree->graph->watch))
		for (uint32_t end = MIN(sw + AT_ONCE, n); sw < end; sw++)
			fill_switch(fill, sw, &memory);
	g_free(memory.octets);
	g_free(memory.ways);
	g_free(memory.others);
}

void tree_fill(const struct tree *tree, struct routing *routing)
{
	struct fill fill = {tree, routing};
	unsigned int threads = MAX(tree->graph->threads, 1);

	route_watch_begin(tree->graph->watch, "filling tables",
			  (tree->graph->n + AT_ONCE - 1) / AT_ONCE);
	atomic_init(&fill.next, 0);
	route_parallel(threads, threads, fill_switches, &fill);
}
