// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An order in which only one switch has no switch above it gives each switch a legal path to every
 * other: up to the top, and down. By the order of ranks of a tree, all shortest paths between hosts
 * are legal, but no path between two roots. There are two ways to change it to have a single top:
 *
 * The inverted root. One switch below the roots is put above all others, then its parents, then
 * theirs; all others stay below in the order of ranks. A legal path remains legal: it enters the
 * ancestors of that switch once, and leaves them once.
 *
 * * Where it went up among them, it goes down now, and the rest of it went down anyway.
 * * Where it went down among them, it goes up now, as does the part before.
 *
 * So the ancestors must be a tree: with two ways from a root down to the switch, a path that went
 * up one and down the other would turn in the middle. The best switch is the lowest with all roots
 * above it; taking the first of these by key keeps the order unchanged when cables are lost
 * elsewhere. On a full tree it is a leaf. In a director with leaves outside it is a line chip: the
 * leaves see each spine by several line chips.
 *
 * Joining alone would do for most pairs, at a price where tops lack leaves: a joined top sends all
 * that it cannot deliver through one switch. Busiest cable as a multiple of the mean, with the
 * inverted root and without (tests/bench/route_nets.py, osmroute):
 *
 *	fattree:16 without 1 % of its cables, updn	1.4 and  8.7
 *	fattree:16 without 10 %, updn			2.1 and 14.0
 *	director with adapters on its spines, updn	2.0 and  6.9
 *
 * On these minhop would have credit loops, and ftree would refuse the director. On whole trees
 * hosts would have the same paths, but not switches without hosts: of fattree:16, 32,704 pairs of a
 * switch and a LID would be discarded; with the inverted root none is.
 *
 * Joining. Of the switches that still have no switch above them, some have all leaves below, and
 * stay as they are, unless connect_roots asks for paths between them, which can double the load of
 * the busiest link. For each of the others, a neighbour that was below is put above it. That cable
 * then serves traffic up and, downwards, traffic that does not lead to leaves: if it served leaves
 * too, the neighbour, which prefers paths down, would send all that it can down over it.
 */

#include <string.h>

#include "route/order/orient.h"

#define WORK_MAX (1u << 22) /* edges examined to find the switch for the top */

/* ---- the inverted root ---- */

struct inversion {
	const struct route_graph *graph;
	const uint32_t *rank; /* 0 is that of the roots */
	uint32_t bottom;
	uint32_t n_roots; /* switches of rank 0 that have neighbours */
	uint32_t *seen;	  /* [switch]: the last switch, plus one, that had it as an ancestor */
	uint32_t *queue;  /* a switch and its ancestors */
	uint64_t work;
};

static bool is_root(const struct inversion *inversion, uint32_t sw)
{
	return !inversion->rank[sw] && route_degree(inversion->graph, sw);
}

/* False if a switch that has cables has no rank, or one by the distance from hosts. */
static bool find_roots(struct inversion *inversion)
{
	const struct route_graph *graph = inversion->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (!route_degree(graph, sw))
			continue;
		if (inversion->rank[sw] >= graph->n)
			return false;
		inversion->bottom = MAX(inversion->bottom, inversion->rank[sw]);
		inversion->n_roots += is_root(inversion, sw);
	}
	return true;
}

/* How many roots are above a switch as the tops of a tree, or 0; queue[] gets all above it. */
static uint32_t climb(struct inversion *inversion, uint32_t start, uint32_t *n)
{
	const struct route_graph *graph = inversion->graph;
	uint32_t roots = 0;

	*n = 0;
	inversion->queue[(*n)++] = start;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t sw = inversion->queue[i];

		if (is_root(inversion, sw)) {
			roots++; /* no switch is above it: most edges need not be examined */
			continue;
		}
		inversion->work += route_degree(graph, sw);
		route_each_edge(graph, sw, edge) {
			if (inversion->rank[edge->to] > inversion->rank[sw])
				continue;
			if (inversion->rank[edge->to] == inversion->rank[sw] ||
			    inversion->seen[edge->to] == start + 1)
				return 0;
			inversion->seen[edge->to] = start + 1;
			inversion->queue[(*n)++] = edge->to;
		}
	}
	return roots;
}

/*
 * Finds the switch below the roots with most of them above it, of equals the lowest, then the first
 * by key. best[] gets it and all switches above it; returns their number, 0: no switch is suitable.
 */
static uint32_t find_start(struct inversion *inversion, const uint64_t *key, uint32_t *best)
{
	uint32_t n = inversion->graph->n, n_best = 0, most = 0;
	g_autofree uint32_t *height = g_new(uint32_t, n + 1), *at = NULL;
	g_autofree uint32_t *listed = g_new(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		height[sw] = inversion->bottom - inversion->rank[sw]; /* large if it has no cable */
	at = route_order(n, height, key);
	for (uint32_t sw = 0; sw < n; sw++)
		listed[at[sw]] = sw;
	for (uint32_t i = 0; i < n && height[listed[i]] < inversion->bottom &&
			     most < inversion->n_roots && inversion->work < WORK_MAX;
	     i++) {
		uint32_t n_above, roots = climb(inversion, listed[i], &n_above);

		if (roots <= most)
			continue;
		most = roots;
		n_best = n_above;
		memcpy(best, inversion->queue, n_above * sizeof(*best));
	}
	return n_best;
}

bool route_orient_inverted(struct route_order *order, const uint32_t *rank, const uint64_t *key)
{
	const struct route_graph *graph = order->graph;
	g_autofree uint32_t *place = g_memdup2(rank, (graph->n + 1) * sizeof(*rank));
	g_autofree uint32_t *seen = g_new0(uint32_t, graph->n + 1);
	g_autofree uint32_t *queue = g_new(uint32_t, graph->n + 1);
	g_autofree uint32_t *best = g_new(uint32_t, graph->n + 1);
	struct inversion inversion = {.graph = graph, .rank = rank, .seen = seen, .queue = queue};
	uint32_t n = find_roots(&inversion) ? find_start(&inversion, key, best) : 0;
	bool *inverted;

	if (!n)
		return false;
	inverted = g_new0(bool, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		place[sw] += inversion.bottom + 1;
	for (uint32_t i = 0; i < n; i++) {
		inverted[best[i]] = true;
		place[best[i]] = inversion.bottom - rank[best[i]];
	}
	route_orient(order, place, key);
	order->inverted = inverted;
	return true;
}

/* The one neighbour above an inverted switch; FABRIC_NONE: it is the leaf. */
static uint32_t above(const struct route_order *order, uint32_t sw)
{
	route_each_edge (order->graph, sw, edge)
		if (order->up[edge - order->graph->edges])
			return edge->to;
	return FABRIC_NONE;
}

bool route_inversion_holds(const struct route_order *order, const uint8_t *hops)
{
	const struct route_graph *graph = order->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint8_t *here = hops + (size_t)sw * graph->n, *there;
		uint32_t to = order->inverted[sw] ? above(order, sw) : FABRIC_NONE;

		if (to == FABRIC_NONE)
			continue;
		there = hops + (size_t)to * graph->n;
		for (uint32_t x = 0; x < graph->n; x++)
			if (here[x] < ROUTE_UP && route_has_hosts(graph, x) &&
			    here[x] > route_distance(order, there[x]) + 1)
				return false;
	}
	return true;
}

/* ---- joining ---- */

struct join {
	struct route_order *order;
	const struct route_graph *graph;
	uint32_t *list;	 /* switches in the order under construction */
	uint32_t *place; /* [switch]: its index in list */
	uint32_t *tops;	 /* of the current part: switches with no switch above, in that order */
	uint32_t n_tops;
	uint32_t n_leaves; /* of the current part */
	bool *anchored;	   /* [switch]: it has a way up to the top that stays */
	uint32_t *part;	   /* [switch]: number of its connected part */
	bool *seen;	   /* [switch]: by the current search */
	uint32_t *queue;
};

static bool is_above(const struct join *join, uint32_t sw, uint32_t other)
{
	return join->place[sw] < join->place[other];
}

/* Whether some neighbour of a switch is above it; or below it. */
static bool has_neighbour(const struct join *join, uint32_t sw, bool above)
{
	route_each_edge(join->graph, sw, edge)
		if (is_above(join, edge->to, sw) == above)
			return true;
	return false;
}

static void list_tops(struct join *join, uint32_t part)
{
	join->n_tops = 0;
	for (uint32_t place = 0; place < join->graph->n; place++)
		if (join->part[join->list[place]] == part &&
		    !has_neighbour(join, join->list[place], true))
			join->tops[join->n_tops++] = join->list[place];
}

/* Searches from a switch over the edges that leads() accepts; returns the number put in queue[]. */
static uint32_t search(struct join *join, uint32_t start,
		       bool (*leads)(const struct join *join, uint32_t sw, uint32_t to))
{
	uint32_t n = 0;

	memset(join->seen, false, join->graph->n);
	join->seen[start] = true;
	join->queue[n++] = start;
	for (uint32_t i = 0; i < n; i++)
		route_each_edge(join->graph, join->queue[i], edge) {
			if (join->seen[edge->to] || !leads(join, join->queue[i], edge->to))
				continue;
			join->seen[edge->to] = true;
			join->queue[n++] = edge->to;
		}
	return n;
}

static uint32_t count_below(struct join *join, uint32_t top)
{
	uint32_t n = search(join, top, is_above), count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += join->order->leaf[join->queue[i]];
	return count;
}

/* A switch, and all below it, now has a way up. */
static void anchor(struct join *join, uint32_t start)
{
	uint32_t n = search(join, start, is_above);

	for (uint32_t i = 0; i < n; i++)
		join->anchored[join->queue[i]] = true;
}

/* Number of links over which a switch gets traffic to send up, minus the links up for it. */
static int64_t burden(const struct join *join, uint32_t sw)
{
	int64_t burden = 0;

	route_each_edge(join->graph, sw, edge)
		if (is_above(join, edge->to, sw))
			burden -= edge->n_links;
		else if (!join->order->joined[edge->to])
			burden += edge->n_links;
	return burden;
}

/* The anchored neighbour with the least burden; FABRIC_NONE: none is anchored. */
static uint32_t find_anchored(const struct join *join, uint32_t sw)
{
	uint32_t best = FABRIC_NONE;
	int64_t least = INT64_MAX;

	route_each_edge(join->graph, sw, edge) {
		int64_t here = join->anchored[edge->to] ? burden(join, edge->to) : INT64_MAX;

		best = here < least ? edge->to : best;
		least = MIN(here, least);
	}
	return best;
}

/* Moves a switch to the place right behind another. */
static void move_behind(struct join *join, uint32_t sw, uint32_t behind)
{
	bool rises = is_above(join, behind, sw);
	uint32_t at = join->place[sw], to = join->place[behind] + rises;

	for (; at != to; at = rises ? at - 1 : at + 1) {
		join->list[at] = join->list[rises ? at - 1 : at + 1];
		join->place[join->list[at]] = at;
	}
	join->list[to] = sw;
	join->place[sw] = to;
}

/*
 * Puts a switch right below a neighbour, which first rises as high as it may: right behind the last
 * of the other switches above it.
 */
static void join_below(struct join *join, uint32_t sw, uint32_t neighbour)
{
	uint32_t last = FABRIC_NONE;

	route_each_edge(join->graph, neighbour, edge)
		if (is_above(join, edge->to, neighbour) && edge->to != sw &&
		    (last == FABRIC_NONE || is_above(join, last, edge->to)))
			last = edge->to;
	if (last != FABRIC_NONE)
		move_behind(join, neighbour, last);
	move_behind(join, sw, neighbour);
	join->order->joined[sw] = true;
}

static bool is_unanchored(const struct join *join, uint32_t sw, uint32_t to)
{
	(void)sw;
	return !join->anchored[to];
}

/* Joins a top, or the nearest switch on a path to it that has an anchored neighbour. */
static void join_top(struct join *join, uint32_t top)
{
	uint32_t n = search(join, top, is_unanchored), neighbour = FABRIC_NONE, sw = top;

	for (uint32_t i = 0; i < n && neighbour == FABRIC_NONE; i++) {
		sw = join->queue[i];
		neighbour = find_anchored(join, sw);
	}
	join_below(join, sw, neighbour);
	anchor(join, sw);
}

/* Whether a top has to be joined: it lacks a leaf, or a path to other tops that is wanted. */
static bool misses_any(struct join *join, uint32_t top)
{
	return !join->anchored[top] &&
	       (join->order->connect_roots || count_below(join, top) < join->n_leaves);
}

/* Joins tops to the first of those with most leaves below; false: no top lacks anything. */
static bool join_part(struct join *join, uint32_t part)
{
	uint32_t most = 0, main = part;
	bool any = false, more = true;

	join->n_leaves = 0;
	for (uint32_t sw = 0; sw < join->graph->n; sw++)
		join->n_leaves += join->part[sw] == part && join->order->leaf[sw];
	list_tops(join, part);
	for (uint32_t i = 0; i < join->n_tops; i++) {
		uint32_t n = count_below(join, join->tops[i]);

		main = n > most ? join->tops[i] : main;
		most = MAX(most, n);
	}
	anchor(join, main);
	for (; more; any |= more) {
		more = false;
		for (uint32_t i = 0; i < join->n_tops; i++) {
			if (!misses_any(join, join->tops[i]))
				continue;
			join_top(join, join->tops[i]);
			more = true;
		}
		list_tops(join, part);
	}
	return any;
}

void route_join_tops(struct route_order *order)
{
	const struct route_graph *graph = order->graph;
	uint32_t n = graph->n + 1;
	g_autofree uint32_t *list = g_new(uint32_t, n);
	g_autofree uint32_t *place = g_memdup2(order->place, graph->n * sizeof(*place));
	g_autofree uint32_t *tops = g_new(uint32_t, n), *part = route_parts(graph, NULL);
	g_autofree uint32_t *queue = g_new(uint32_t, n);
	g_autofree bool *seen = g_new(bool, n), *anchored = g_new0(bool, n);
	struct join join = {.order = order,
			    .graph = graph,
			    .list = list,
			    .place = place,
			    .tops = tops,
			    .anchored = anchored,
			    .part = part,
			    .seen = seen,
			    .queue = queue};
	bool any = false;

	order->joined = g_new0(bool, n);
	order->leaf = g_new(bool, n);
	/* leaves must be reached even without hosts, or each host would change the order */
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		list[place[sw]] = sw;
		order->leaf[sw] = !has_neighbour(&join, sw, false) || route_is_source(graph, sw);
	}
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (part[sw] == sw && route_degree(graph, sw))
			any |= join_part(&join, sw);
	if (!any) {
		g_clear_pointer(&order->joined, g_free);
		g_clear_pointer(&order->leaf, g_free);
		return;
	}
	order->base = order->place;
	order->place = g_steal_pointer(&place);
	route_orient_edges(order);
}
