// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An order in which only one switch has nobody above it gives each switch a legal path to every
 * other: up to the top, and down. Two ways to get there from the order of ranks of a tree, by which
 * all shortest paths between hosts are legal, but no path between two roots:
 *
 * The inverted root. One leaf is taken from the bottom and put above all others, then its parents,
 * then theirs; everybody else stays below in the order of ranks. What is shortest between hosts
 * remains legal, as
 *
 * * hosts never send through a leaf;
 * * of the children of a switch that is inverted one is above it, and then no parent is. Paths
 *   between hosts go through a switch from or to a child: be it that one, up and down stay in
 * order.
 *
 * So the ancestors of the leaf must be a tree: with two ways from a root down to it, two children
 * would be above. Best is a leaf that kept all ancestors; that it is the first of these by key
 * keeps the order as it was when cables are lost elsewhere.
 *
 * Joining. Of the switches that still have nobody above them some have all leaves below, and serve
 * as they are, unless connect_roots wants paths between them: a director whose line chips have
 * hosts, and leaves outside below some of these, then has twice the load on the busiest link. Each
 * of the others gets a neighbour above it that was below. That cable is then for
 * the way up and, down, for what leads to others than leaves: were it for these too, the neighbour,
 * which prefers ways down, would send all that it can down by this one.
 */
#include "route/single_top.h"

#include <string.h>

#include "route/orient.h"
#include "route/shortest.h"

#define WORK_MAX (1u << 22) /* edges looked at to find the leaf */

/* ---- the leaf ---- */

struct inversion {
	const struct route_graph *graph;
	uint32_t *rank; /* 0 is that of the roots */
	uint32_t bottom;
	uint32_t n_roots; /* switches of rank 0 that have neighbours */
	uint32_t *ways; /* [switch]: up to roots, counted no farther than to one more than roots */
	uint32_t *seen; /* [switch]: the leaf, plus one, that met it as an ancestor last */
	uint32_t *queue;
	uint64_t work;
};

static bool is_root(const struct inversion *inversion, uint32_t sw)
{
	return !inversion->rank[sw] && route_degree(inversion->graph, sw);
}

/*
 * False if cables do not lead from one rank to the next everywhere, or not from rank 0 on. Who has
 * no cable has no rank.
 */
static bool find_roots(struct inversion *inversion)
{
	const struct route_graph *graph = inversion->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t rank = inversion->rank[sw];

		if (!route_degree(graph, sw))
			continue;
		if (rank == ROUTE_NO_RANK)
			return false;
		inversion->bottom = MAX(inversion->bottom, rank);
		inversion->n_roots += is_root(inversion, sw);
		route_each_edge(graph, sw, edge) {
			uint32_t to = inversion->rank[edge->to];

			if (to + 1 != rank && rank + 1 != to)
				return false;
		}
	}
	return inversion->bottom < graph->n;
}

/* In a tree there are as many as roots above: most leaves that miss any need not be climbed from.
 */
static void count_ways(struct inversion *inversion)
{
	const struct route_graph *graph = inversion->graph;

	for (uint32_t rank = 0; rank <= inversion->bottom; rank++) {
		for (uint32_t sw = 0; sw < graph->n; sw++) {
			uint64_t ways = is_root(inversion, sw);

			if (inversion->rank[sw] != rank)
				continue;
			route_each_edge(graph, sw, edge)
				if (inversion->rank[edge->to] < rank)
					ways += inversion->ways[edge->to];
			inversion->ways[sw] = MIN(ways, inversion->n_roots + 1u);
		}
	}
}

/* How many roots stand above a leaf, if as the tops of a tree, else 0; queue[] gets all that do. */
static uint32_t climb(struct inversion *inversion, uint32_t leaf, uint32_t *n)
{
	const struct route_graph *graph = inversion->graph;
	uint32_t roots = 0;

	*n = 0;
	inversion->queue[(*n)++] = leaf;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t sw = inversion->queue[i];

		roots += is_root(inversion, sw);
		inversion->work += route_degree(graph, sw);
		route_each_edge(graph, sw, edge) {
			if (inversion->rank[edge->to] > inversion->rank[sw])
				continue;
			if (inversion->seen[edge->to] == leaf + 1)
				return 0;
			inversion->seen[edge->to] = leaf + 1;
			inversion->queue[(*n)++] = edge->to;
		}
	}
	return roots;
}

/* The leaf with most roots above it, the first by key of equals; FABRIC_NONE: there is none. */
static uint32_t find_leaf(struct inversion *inversion, const uint64_t *key, uint32_t *n_above)
{
	uint32_t n = inversion->graph->n, leaf = FABRIC_NONE, most = 0;
	g_autofree uint32_t *by_key = g_new(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		by_key[key[sw]] = sw;
	count_ways(inversion);
	for (uint32_t i = 0; i < n && most < inversion->n_roots && inversion->work < WORK_MAX;
	     i++) {
		uint32_t sw = by_key[i], ways = inversion->ways[sw], roots;

		if (inversion->rank[sw] != inversion->bottom || ways <= most ||
		    ways > inversion->n_roots)
			continue;
		roots = climb(inversion, sw, n_above);
		if (roots <= most)
			continue;
		most = roots;
		leaf = sw;
	}
	if (leaf != FABRIC_NONE) {
		memset(inversion->seen, 0, n * sizeof(*inversion->seen));
		climb(inversion, leaf, n_above);
	}
	return leaf;
}

/* Those in queue are inverted. */
static void invert(struct inversion *inversion, struct route_graph *graph, uint32_t n,
		   const uint64_t *key)
{
	bool *inverted = g_new0(bool, graph->n + 1);

	for (uint32_t i = 0; i < n; i++)
		inverted[inversion->queue[i]] = true;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		inversion->rank[sw] = inverted[sw] ? inversion->bottom - inversion->rank[sw]
						   : inversion->bottom + 1 + inversion->rank[sw];
	route_orient(graph, inversion->rank, key);
	graph->inverted = inverted;
}

bool route_orient_inverted(struct route_graph *graph, const uint32_t *rank, const uint64_t *key)
{
	struct inversion inversion = {.graph = graph};
	uint32_t leaf = FABRIC_NONE, n;

	inversion.rank = g_memdup2(rank, (graph->n + 1) * sizeof(*rank));
	inversion.ways = g_new(uint32_t, graph->n + 1);
	inversion.seen = g_new0(uint32_t, graph->n + 1);
	inversion.queue = g_new(uint32_t, graph->n + 1);
	if (find_roots(&inversion))
		leaf = find_leaf(&inversion, key, &n);
	if (leaf != FABRIC_NONE)
		invert(&inversion, graph, n, key);
	g_free(inversion.rank);
	g_free(inversion.ways);
	g_free(inversion.seen);
	g_free(inversion.queue);
	return leaf != FABRIC_NONE;
}

/* The one neighbour above a switch that is inverted; FABRIC_NONE: it is the leaf. */
static uint32_t above(const struct route_graph *graph, uint32_t sw)
{
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (graph->up[e])
			return graph->edges[e].to;
	return FABRIC_NONE;
}

bool route_inversion_holds(const struct route_graph *graph, const uint8_t *hops)
{
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint8_t *here = hops + (size_t)sw * graph->n, *there;
		uint32_t to = graph->inverted[sw] ? above(graph, sw) : FABRIC_NONE;

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

/* ---- joining ---- */

struct join {
	struct route_graph *graph;
	uint32_t *list;	 /* switches in the order in the making */
	uint32_t *place; /* [switch]: where it stands in it */
	uint32_t *tops; /* switches that have neighbours, but none above, from the first place on */
	uint32_t n_tops;
	uint32_t *below;  /* [top]: leaves below */
	bool *anchored;	  /* [switch]: it has a way up to the top that stays */
	bool any;	  /* somebody was joined */
	uint32_t *part;	  /* [switch]: number of its connected part */
	uint32_t *wanted; /* [part]: leaves */
	uint32_t *seen;	  /* [switch]: number of the search that met it last */
	uint32_t search;
	uint32_t *queue, *moved;
};

static bool is_above(const struct join *join, uint32_t sw, uint32_t other)
{
	return join->place[sw] < join->place[other];
}

static bool has_above(const struct join *join, uint32_t sw)
{
	route_each_edge(join->graph, sw, edge)
		if (is_above(join, edge->to, sw))
			return true;
	return false;
}

static void list_tops(struct join *join)
{
	join->n_tops = 0;
	for (uint32_t place = 0; place < join->graph->n; place++) {
		uint32_t sw = join->list[place];

		if (route_degree(join->graph, sw) && !has_above(join, sw))
			join->tops[join->n_tops++] = sw;
	}
}

static bool has_below(const struct route_graph *graph, uint32_t sw)
{
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (!graph->up[e])
			return true;
	return false;
}

/* Leaves are what must be reached: also while they have no hosts, or each host would matter. */
static void take_order(struct join *join)
{
	struct route_graph *graph = join->graph;

	graph->leaf = g_new(bool, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		join->place[sw] = graph->order[sw];
		join->list[graph->order[sw]] = sw;
		graph->leaf[sw] = !has_below(graph, sw) || route_is_source(graph, sw);
		join->wanted[join->part[sw]] += graph->leaf[sw];
	}
	list_tops(join);
}

/* Puts a switch into the queue of the search at hand, once. */
static void meet(struct join *join, uint32_t sw, uint32_t *n)
{
	if (join->seen[sw] == join->search)
		return;
	join->seen[sw] = join->search;
	join->queue[(*n)++] = sw;
}

/* Searches from a switch over the edges by which it leads on; how many queue[] gets. */
static uint32_t search(struct join *join, uint32_t start,
		       bool (*leads)(const struct join *join, uint32_t sw, uint32_t to))
{
	uint32_t n = 0;

	join->search++;
	meet(join, start, &n);
	for (uint32_t i = 0; i < n; i++)
		route_each_edge(join->graph, join->queue[i], edge)
			if (leads(join, join->queue[i], edge->to))
				meet(join, edge->to, &n);
	return n;
}

static uint32_t count_below(struct join *join, uint32_t top)
{
	uint32_t n = search(join, top, is_above), count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += join->graph->leaf[join->queue[i]];
	return count;
}

static bool is_above_unanchored(const struct join *join, uint32_t sw, uint32_t to)
{
	return is_above(join, sw, to) && !join->anchored[to];
}

/* A switch, and what is below it, has a way up now. */
static void anchor(struct join *join, uint32_t start)
{
	uint32_t n = search(join, start, is_above_unanchored);

	for (uint32_t i = 0; i < n; i++)
		join->anchored[join->queue[i]] = true;
}

/* What a switch has to send up, compared with the cables that it has for it. */
static int64_t burden(const struct join *join, uint32_t sw)
{
	int64_t burden = 0;

	route_each_edge(join->graph, sw, edge)
		if (is_above(join, edge->to, sw))
			burden -= edge->n_links;
		else if (!join->graph->joined[edge->to])
			burden += edge->n_links;
	return burden;
}

/* The least burdened of the neighbours that are anchored; FABRIC_NONE: none is. */
static uint32_t find_anchored(const struct join *join, uint32_t top)
{
	uint32_t best = FABRIC_NONE;
	int64_t least = INT64_MAX;

	route_each_edge(join->graph, top, edge) {
		if (!join->anchored[edge->to] || burden(join, edge->to) >= least)
			continue;
		least = burden(join, edge->to);
		best = edge->to;
	}
	return best;
}

/* ---- moves in the order ---- */

/* n switches, in this order, come to stand right behind one that is none of them. */
static void move_behind(struct join *join, const uint32_t *moved, uint32_t n, uint32_t behind)
{
	uint32_t *list = join->list, n_left = 0, n_all = join->graph->n, at;

	for (uint32_t i = 0; i < n; i++)
		list[join->place[moved[i]]] = FABRIC_NONE;
	for (uint32_t i = 0; i < n_all; i++)
		if (list[i] != FABRIC_NONE)
			list[n_left++] = list[i];
	for (at = 0; list[at] != behind; at++)
		;
	memmove(list + at + 1 + n, list + at + 1, (n_left - at - 1) * sizeof(*list));
	memcpy(list + at + 1, moved, n * sizeof(*list));
	for (uint32_t i = 0; i < n_all; i++)
		join->place[list[i]] = i;
}

/* As high as it may stand: right behind the last of the neighbours above it, but for those met. */
static void lift(struct join *join, uint32_t sw)
{
	uint32_t last = FABRIC_NONE;

	route_each_edge(join->graph, sw, edge)
		if (is_above(join, edge->to, sw) && join->seen[edge->to] != join->search &&
		    (last == FABRIC_NONE || is_above(join, last, edge->to)))
			last = edge->to;
	move_behind(join, &sw, 1, last);
}

/* Right below a neighbour that is anchored. */
static void join_below(struct join *join, uint32_t top, uint32_t neighbour)
{
	uint32_t n = 0;

	join->search++;
	meet(join, top, &n);
	lift(join, neighbour);
	move_behind(join, &top, 1, neighbour);
	join->graph->joined[top] = true;
}

/* By such steps the switches are met that hang together without one that is anchored: a block. */
static bool is_unanchored(const struct join *join, uint32_t sw, uint32_t to)
{
	(void)sw;
	return !join->anchored[to];
}

/* First what stands above the switch where it is hung up, inverted; then the others as they were.
 */
static void order_block(struct join *join, uint32_t start, uint32_t n)
{
	uint32_t block = join->search, n_moved = 0;

	join->moved[n_moved++] = start;
	join->seen[start]++;
	for (uint32_t i = 0; i < n_moved; i++) {
		uint32_t sw = join->moved[i];

		route_each_edge(join->graph, sw, edge) {
			if (join->seen[edge->to] != block || !is_above(join, edge->to, sw))
				continue;
			join->seen[edge->to]++;
			join->moved[n_moved++] = edge->to;
		}
	}
	for (uint32_t i = 0; n_moved < n; i++)
		if (join->seen[join->list[i]] == block)
			join->moved[n_moved++] = join->list[i];
	for (uint32_t i = 0; i < n; i++)
		join->seen[join->moved[i]] = block;
	join->search = block;
}

/* Hangs up all that is not anchored around a switch below a neighbour of it that is. */
static void hang_up(struct join *join, uint32_t start, uint32_t neighbour)
{
	uint32_t n = search(join, start, is_unanchored);

	order_block(join, start, n);
	lift(join, neighbour);
	move_behind(join, join->moved, n, neighbour);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = join->moved[i];

		route_each_edge(join->graph, sw, edge)
			if (join->seen[edge->to] != join->search && is_above(join, edge->to, sw))
				join->graph->joined[sw] = true;
	}
}

/* ---- whom ---- */

static void join_top(struct join *join, uint32_t top)
{
	uint32_t neighbour = find_anchored(join, top), n, at = top;

	if (neighbour != FABRIC_NONE) {
		join_below(join, top, neighbour);
	} else {
		n = search(join, top, is_unanchored);
		for (uint32_t i = 0; i < n && neighbour == FABRIC_NONE; i++) {
			at = join->queue[i];
			neighbour = find_anchored(join, at);
		}
		hang_up(join, at, neighbour);
	}
	join->any = true;
	anchor(join, at);
}

/* Whether a top has to be joined: it misses a leaf, or a path to other tops that is wanted. */
static bool misses_any(const struct join *join, uint32_t top)
{
	return !join->anchored[top] && (join->graph->connect_roots ||
					join->below[top] < join->wanted[join->part[top]]);
}

/* Tops that miss any switch: those next to an anchored switch; else far, one that is not. */
static bool join_round(struct join *join, uint32_t part, bool far)
{
	bool any = false;

	for (uint32_t i = 0; i < join->n_tops && !(far && any); i++) {
		uint32_t top = join->tops[i];

		if (join->part[top] != part || !misses_any(join, top) ||
		    !(far || find_anchored(join, top) != FABRIC_NONE))
			continue;
		join_top(join, top);
		any = true;
	}
	return any;
}

/* Whether some top misses a switch now that others were joined, or is one since then. */
static bool misses_more(struct join *join, uint32_t part)
{
	bool any = false;

	list_tops(join);
	for (uint32_t i = 0; i < join->n_tops; i++) {
		uint32_t top = join->tops[i];

		if (join->part[top] != part || join->anchored[top])
			continue;
		join->below[top] = count_below(join, top);
		any |= misses_any(join, top);
	}
	return any;
}

/* Joins the tops of one part that miss anything to the one that misses fewest. */
static void join_part(struct join *join, uint32_t part)
{
	uint32_t main = FABRIC_NONE;
	bool any = false;

	for (uint32_t i = 0; i < join->n_tops; i++) {
		uint32_t top = join->tops[i];

		if (join->part[top] != part)
			continue;
		any |= misses_any(join, top);
		if (main == FABRIC_NONE || join->below[top] > join->below[main])
			main = top;
	}
	if (!any)
		return;
	anchor(join, main);
	while (join_round(join, part, false) || join_round(join, part, true) ||
	       misses_more(join, part))
		;
}

static void join_tops(struct join *join)
{
	struct route_graph *graph = join->graph;

	graph->joined = g_new0(bool, graph->n + 1);
	for (uint32_t i = 0; i < join->n_tops; i++)
		join->below[join->tops[i]] = count_below(join, join->tops[i]);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (join->part[sw] == sw)
			join_part(join, sw);
	if (!join->any) {
		g_clear_pointer(&graph->joined, g_free);
		return;
	}
	graph->base = graph->order;
	graph->order = g_steal_pointer(&join->place);
	route_orient_edges(graph);
}

void route_join_tops(struct route_graph *graph)
{
	uint32_t n = graph->n + 1;
	struct join join = {
		.graph = graph,
		.list = g_new(uint32_t, n),
		.place = g_new(uint32_t, n),
		.tops = g_new(uint32_t, n),
		.below = g_new(uint32_t, n),
		.anchored = g_new0(bool, n),
		.part = route_parts(graph, NULL),
		.wanted = g_new0(uint32_t, n),
		.seen = g_new0(uint32_t, n),
		.queue = g_new(uint32_t, n),
		.moved = g_new(uint32_t, n),
	};

	take_order(&join);
	if (join.n_tops > 1)
		join_tops(&join);
	if (!graph->joined)
		g_clear_pointer(&graph->leaf, g_free);
	g_free(join.list);
	g_free(join.place);
	g_free(join.tops);
	g_free(join.below);
	g_free(join.anchored);
	g_free(join.part);
	g_free(join.wanted);
	g_free(join.seen);
	g_free(join.queue);
	g_free(join.moved);
}
