// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ancestors, one of each rank, by which a destination of a layered network is reached.
 *
 * Targets climb from their leaves, rank by rank, each to that parent of the switch where it stands
 * which has fewest of them. All switches list their parents in one order, which is made from the
 * top: parents are sorted by where their own first parent stands, so that switches of the same
 * plane stand together.
 *
 * What is lost stays in the list. Planes are told apart by groups: a switch of the top is a group,
 * below it switches are of one group if they have parents in a common one. What the complete
 * switches of a group have and another does not is a cable that was lost. The turns go on as if
 * it were there; so nothing moves but the targets whose turn it is there. The remaining links share
 * them, as far as they are so many that each link gets as many. One more for some links only would
 * double what these carry; so the last ones get no ancestor: each source chooses for itself, and
 * all links share their load.
 */
#include <glib.h>
#include <string.h>

#include "route/leaves.h"
#include "route/ties.h"
#include "route/tree.h"

/* A way up from a switch: what leads to one parent, or did. */
struct way {
	uint32_t to;	/* the parent */
	uint32_t group; /* of the parent */
	uint32_t load[2]; /* [ignored]: targets that got it */
	uint16_t n_links;
	uint16_t n_lost; /* of these; the last ones */
	uint8_t first[2]; /* [ignored]: link of the first target */
	bool unknown;	 /* all are lost, and to is but another that stands near in the order */
};

struct climb {
	struct tree *tree;
	uint32_t *group;	/* [switch]: the least of its group, once that is known */
	uint32_t *standing;	/* [switch]: place in the common order; of a group, by its least */
	uint32_t *width;	/* [group]: links to it that one switch has, at most */
	uint32_t *links;	/* [switch]: to parents */
	uint32_t *width_of;	/* [group]: sum of the widths of the groups above */
	uint32_t *model;	/* [group]: a switch that has all of these, or FABRIC_NONE */
	uint32_t most[TREE_RANKS_MAX]; /* [rank]: links that a switch of this rank has, at most */
	uint32_t *first_way;	/* [switch] */
	uint32_t *n_ways;	/* [switch] */
	struct way *ways;
	uint32_t *load[2]; /* [ignored][switch]: targets that come down through it */
	uint32_t *number; /* [target]: its own, then what is left of it for the ranks above */
	uint32_t *at;	  /* [target]: its last ancestor; FABRIC_NONE: it climbs no more */
	uint32_t *n;	/* [switch]: targets of the class at hand that are not placed yet */
	uint32_t *n_left_out; /* [switch]: the last so many of them get no ancestor */
	uint32_t *n_late;     /* [switch]: of these, on hold as their turn is a lost link */
	uint32_t *lost_way;   /* [target]: in ways; FABRIC_NONE: its turn was none */
	bool *late;	      /* [target]: takes what others leave */
	uint64_t partitions; /* whose targets climb, where cables are tied to any (ties.h) */
	uint32_t *above;     /* [switch]: least toll of its ways up for these; NULL: no ties */
};

/* ---- groups ---- */

static void join_groups(struct climb *climb, uint32_t a, uint32_t b)
{
	a = route_find_part(climb->group, a);
	b = route_find_part(climb->group, b);
	climb->group[MAX(a, b)] = MIN(a, b);
}

/* To the next rank; what leads past that is left to the search. */
static bool is_up(const struct tree *tree, uint32_t sw, const struct route_edge *edge)
{
	return tree->rank[edge->to] == tree->rank[sw] + 1;
}

/* Switches of a rank whose parents have a group in common become one; child_of is scratch. */
static void group_rank(struct climb *climb, unsigned int rank, uint32_t *child_of)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;

	memset(child_of, 0xFF, graph->n * sizeof(*child_of));
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (tree->rank[sw] != rank)
			continue;
		route_each_edge(graph, sw, edge) {
			uint32_t above = climb->group[edge->to];

			if (!is_up(tree, sw, edge))
				continue;
			if (child_of[above] == FABRIC_NONE)
				child_of[above] = sw;
			else
				join_groups(climb, sw, child_of[above]);
		}
	}
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (tree->rank[sw] == rank)
			climb->group[sw] = route_find_part(climb->group, sw);
}

static void find_groups(struct climb *climb)
{
	uint32_t n = climb->tree->graph->n, *child_of = g_new(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		climb->group[sw] = sw;
	for (unsigned int rank = climb->tree->max_rank; rank-- > 0;)
		group_rank(climb, rank, child_of);
	memset(child_of, 0, n * sizeof(*child_of));
	for (uint32_t sw = 0; sw < n; sw++)
		climb->tree->place[sw] = child_of[climb->group[sw]]++;
	g_free(child_of);
}

/* ---- ways ---- */

/* Counts the links of a switch to each group above; seen is scratch of zeros, and stays so. */
static void measure_switch(struct climb *climb, uint32_t sw, uint32_t *seen)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;

	route_each_edge(graph, sw, edge) {
		uint32_t above = climb->group[edge->to];

		if (!is_up(tree, sw, edge))
			continue;
		climb->links[sw] += edge->n_links;
		seen[above] += edge->n_links;
		climb->width[above] = MAX(climb->width[above], seen[above]);
	}
	route_each_edge(graph, sw, edge)
		seen[climb->group[edge->to]] = 0;
	climb->most[tree->rank[sw]] = MAX(climb->most[tree->rank[sw]], climb->links[sw]);
}

/* A group above belongs to one group below: so its width counts there once. */
static void measure_groups(struct climb *climb)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	uint32_t *seen = g_new0(uint32_t, graph->n + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (tree->rank[sw] != TREE_NO_RANK)
			measure_switch(climb, sw, seen);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (tree->rank[sw] == TREE_NO_RANK)
			continue;
		route_each_edge(graph, sw, edge) {
			uint32_t above = climb->group[edge->to];

			if (!is_up(tree, sw, edge) || seen[above])
				continue;
			seen[above] = 1;
			climb->width_of[climb->group[sw]] += climb->width[above];
		}
	}
	g_free(seen);
	for (uint32_t sw = graph->n; sw-- > 0;)
		if (climb->links[sw] && climb->links[sw] == climb->width_of[climb->group[sw]])
			climb->model[climb->group[sw]] = sw;
}

/* Whether this switch has all links that any has to the group above. */
static bool is_complete(const struct climb *climb, uint32_t sw, uint32_t above)
{
	uint32_t n = 0;

	route_each_edge(climb->tree->graph, sw, edge)
		if (is_up(climb->tree, sw, edge) && climb->group[edge->to] == above)
			n += edge->n_links;
	return n == climb->width[above];
}

/* A switch next to sw, as it has a parent in common, that is complete; sw itself if none is. */
static uint32_t find_near(const struct climb *climb, uint32_t sw, uint32_t above)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;

	route_each_edge(graph, sw, up) {
		if (!is_up(tree, sw, up))
			continue;
		route_each_edge(graph, up->to, down)
			if (tree->rank[down->to] == tree->rank[sw] &&
			    is_complete(climb, down->to, above))
				return down->to;
	}
	return sw;
}

/* Adds lost links to the way up to this parent. */
static void add_lost(GArray *ways, uint32_t first, uint32_t to, uint32_t group, uint16_t n_lost)
{
	struct way way = {
		.to = to,
		.group = group,
		.n_links = n_lost,
		.n_lost = n_lost,
		.unknown = to == FABRIC_NONE,
	};

	for (uint32_t i = first; i < ways->len; i++) {
		struct way *known = &g_array_index(ways, struct way, i);

		if (known->to != to || way.unknown)
			continue;
		known->n_links += n_lost;
		known->n_lost += n_lost;
		return;
	}
	g_array_append_val(ways, way);
}

/* What sw lacks of so many links to the group above, most likely: what a switch next to it has. */
static void add_lost_to(const struct climb *climb, uint32_t sw, uint32_t above, uint32_t n_lost,
			GArray *ways, uint32_t first)
{
	const struct route_graph *graph = climb->tree->graph;
	uint32_t near = find_near(climb, sw, above);

	route_each_edge(graph, near, edge) {
		uint32_t own = route_edge_to(graph, sw, edge->to);
		uint16_t has = own == FABRIC_NONE ? 0 : graph->edges[own].n_links, lost;

		if (!is_up(climb->tree, near, edge) || climb->group[edge->to] != above ||
		    has >= edge->n_links || !n_lost)
			continue;
		lost = MIN((uint32_t)edge->n_links - has, n_lost);
		add_lost(ways, first, edge->to, above, lost);
		n_lost -= lost;
	}
	if (n_lost)
		add_lost(ways, first, FABRIC_NONE, above, n_lost);
}

/* Adds what the switch lacks of the links that a complete switch of its group has. */
static void add_all_lost(const struct climb *climb, uint32_t sw, GArray *ways, uint32_t first)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	uint32_t model = climb->model[climb->group[sw]], last = ways->len;

	if (model == FABRIC_NONE || climb->links[sw] == climb->links[model])
		return;
	climb->tree->lacks[sw] = true;
	route_each_edge(graph, model, edge) {
		uint32_t above = climb->group[edge->to], has = 0;
		bool met = !is_up(tree, model, edge);

		for (uint32_t i = first; i < ways->len; i++) {
			const struct way *way = &g_array_index(ways, struct way, i);

			if (way->group != above)
				continue;
			has += way->n_links;
			met |= i >= last;
		}
		if (!met && has < climb->width[above])
			add_lost_to(climb, sw, above, climb->width[above] - has, ways, first);
	}
}

static gint compare_ways(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct way *x = a, *y = b;
	const uint32_t *standing = data;

	if (standing[x->group] != standing[y->group])
		return standing[x->group] < standing[y->group] ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Those whose parent is unknown go by the load of the next one that is known. */
static void name_unknown(struct way *ways, uint32_t n)
{
	uint32_t to = FABRIC_NONE;

	for (uint32_t i = 2 * n; i-- > 0;) {
		struct way *way = &ways[i % n];

		if (!way->unknown)
			to = way->to;
		else
			way->to = to;
	}
}

static void list_ways_of(struct climb *climb, uint32_t sw, GArray *ways)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	uint32_t first = ways->len, n, group = climb->group[sw], standing;
	struct way *own;

	route_each_edge(graph, sw, edge) {
		struct way way = {
			.to = edge->to,
			.group = climb->group[edge->to],
			.n_links = edge->n_links,
		};

		if (is_up(tree, sw, edge))
			g_array_append_val(ways, way);
	}
	add_all_lost(climb, sw, ways, first);
	n = ways->len - first;
	own = n ? &g_array_index(ways, struct way, first) : NULL;
	if (n > 1)
		g_qsort_with_data(own, n, sizeof(*own), compare_ways, climb->standing);
	name_unknown(own, n);
	standing = n ? climb->standing[own[0].group] : sw;
	climb->standing[group] = MIN(climb->standing[group], standing);
}

/* From the top, as the order of ways depends on what stands above. */
static void list_ways(struct climb *climb)
{
	const struct tree *tree = climb->tree;
	uint32_t n = tree->graph->n;
	GArray *ways = g_array_new(FALSE, FALSE, sizeof(struct way));

	for (int rank = tree->max_rank; rank >= 0; rank--) {
		for (uint32_t sw = 0; sw < n; sw++) {
			if (tree->rank[sw] != rank)
				continue;
			climb->first_way[sw] = ways->len;
			list_ways_of(climb, sw, ways);
			climb->n_ways[sw] = ways->len - climb->first_way[sw];
		}
	}
	climb->ways = (struct way *)g_array_free(ways, FALSE);
}

/* ---- the climb ---- */

/*
 * How often the earlier LIDs of the same port have this ancestor; as if 256 times more if some have
 * one in the same system.
 */
static uint64_t repeats(const struct tree *tree, unsigned int level, uint32_t target,
			uint32_t ancestor)
{
	const uint32_t *system = tree->graph->system;
	uint64_t n = 0;

	for (uint32_t i = target - tree->graph->targets[target].offset; i < target; i++) {
		uint32_t other = tree->ancestor[level][i];

		if (system[other] == system[ancestor])
			n = (n | 1u << 8) + (other == ancestor);
	}
	return n;
}

/* Where cables are tied to partitions, what it costs to go up this way. */
static uint32_t toll_of(const struct climb *climb, uint32_t sw, const struct way *way)
{
	if (!climb->above)
		return 0;
	return climb->above[way->to] +
	       route_toll_to(climb->tree->graph, sw, way->to, climb->partitions);
}

static uint32_t links_of(const struct way *way, bool lost_too)
{
	return way->n_links - (lost_too ? 0 : way->n_lost);
}

static uint32_t least_toll(const struct climb *climb, uint32_t sw, bool lost_too)
{
	const struct way *ways = &climb->ways[climb->first_way[sw]];
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < climb->n_ways[sw]; i++)
		if (links_of(&ways[i], lost_too))
			least = MIN(least, toll_of(climb, sw, &ways[i]));
	return least;
}

/* The way of sw whose turn it is; lost ones count only if they are to. NULL: there is none. */
static struct way *choose_way(const struct climb *climb, unsigned int level, uint32_t target,
			      uint32_t sw, bool lost_too)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	struct way *ways = &climb->ways[climb->first_way[sw]], *best = NULL;
	uint32_t n = climb->n_ways[sw], turn = n ? graph->targets[target].offset % n : 0;
	uint32_t start = climb->number[target] + turn + (graph->shift ? sw : 0);
	uint32_t least = least_toll(climb, sw, lost_too);
	uint64_t best_cost = UINT64_MAX;
	bool ignored = graph->targets[target].ignored;

	start = n ? start % n : 0;
	for (uint32_t i = 0; i < n; i++) {
		struct way *way = &ways[start + i < n ? start + i : start + i - n];
		uint32_t links = links_of(way, lost_too);
		uint64_t rounds = links <= 1 ? way->load[ignored] : way->load[ignored] / links;
		uint64_t cost = rounds << 32 | climb->load[ignored][way->to];

		if (!links || toll_of(climb, sw, way) > least)
			continue;
		if (turn)
			cost += repeats(tree, level, target, way->to) << 48;
		if (cost >= best_cost)
			continue;
		best_cost = cost;
		best = way;
	}
	return best;
}

/* The target takes its turn on this way from sw; which of so many links. */
static uint32_t take_turn(struct climb *climb, uint32_t target, uint32_t sw, struct way *way,
			  uint32_t links)
{
	bool ignored = climb->tree->graph->targets[target].ignored;

	climb->number[target] /= climb->n_ways[sw];
	if (!way->load[ignored])
		way->first[ignored] = climb->number[target] % links;
	return (way->first[ignored] + way->load[ignored]++) % links;
}

static unsigned int level_of(const struct tree *tree, uint32_t target, unsigned int rank)
{
	return rank - tree->rank[tree->graph->targets[target].leaf];
}

/* The target goes up to the parent, which becomes its ancestor unless it gets none any more. */
static void go_up(struct climb *climb, uint32_t target, const struct way *way, unsigned int level,
		  uint32_t link)
{
	struct tree *tree = climb->tree;

	if (tree->graph->parallel)
		tree->turn[level][target] = link;
	climb->at[target] = way->unknown ? FABRIC_NONE : way->to;
	if (way->unknown)
		return;
	climb->load[tree->graph->targets[target].ignored][way->to]++;
	if (!tree->spare[target])
		tree->ancestor[level][target] = way->to;
}

/* Without an ancestor from here on. */
static void set_spare(struct climb *climb, uint32_t target)
{
	struct tree *tree = climb->tree;

	if (!tree->spare[target])
		tree->spare[target] = ++tree->n_spares;
}

/* One target takes its turn; if that is a lost link, what becomes of it is left for later. */
static void climb_in_turn(struct climb *climb, uint32_t target, unsigned int rank)
{
	const struct tree *tree = climb->tree;
	uint32_t sw = climb->at[target], link;
	bool counts = !tree->graph->targets[target].ignored;
	struct way *way = NULL;

	climb->n[sw] -= counts;
	if (!counts || tree->lacks[sw] || climb->n[sw] >= climb->n_left_out[sw])
		way = choose_way(climb, level_of(tree, target, rank), target, sw, true);
	else
		set_spare(climb, target);
	if (!way) {
		climb->at[target] = FABRIC_NONE;
		return;
	}
	link = take_turn(climb, target, sw, way, way->n_links);
	if (link >= (uint32_t)way->n_links - way->n_lost) {
		climb->lost_way[target] = way - climb->ways;
		climb->late[target] = true;
		climb->n_late[sw]++;
	} else {
		go_up(climb, target, way, level_of(tree, target, rank), link);
	}
}

/*
 * One whose turn was a lost link. The last of these go on as if it were there, without ancestors;
 * the others, and what is late since a rank below, take what has least.
 */
static void climb_late(struct climb *climb, uint32_t target, unsigned int rank)
{
	const struct tree *tree = climb->tree;
	unsigned int level = level_of(tree, target, rank);
	uint32_t sw = climb->at[target], lost = climb->lost_way[target];
	struct way *way;

	climb->lost_way[target] = FABRIC_NONE;
	if (lost != FABRIC_NONE && climb->n_late[sw]-- <= climb->n_left_out[sw]) {
		way = &climb->ways[lost];
		climb->late[target] = false;
		set_spare(climb, target);
		go_up(climb, target, way, level, way->n_links - 1);
		return;
	}
	way = choose_way(climb, level, target, sw, false);
	climb->at[target] = FABRIC_NONE;
	if (way)
		go_up(climb, target, way, level,
		      take_turn(climb, target, sw, way, way->n_links - way->n_lost));
}

/*
 * How many of n targets get no ancestor at a switch with fewer links than others of its rank: those
 * of the last round of turns, unless the others need as many rounds.
 */
static uint32_t count_left_out(const struct climb *climb, uint32_t sw, uint32_t n)
{
	uint32_t links = climb->links[sw], most = climb->most[climb->tree->rank[sw]];

	if (climb->above)
		return 0; /* each goes by what its partitions are tied to */
	if (!links || links == most || (n + links - 1) / links == (n + most - 1) / most)
		return 0;
	return n % links;
}

static bool stands_at(const struct climb *climb, uint32_t target, unsigned int rank)
{
	return climb->at[target] != FABRIC_NONE && climb->tree->rank[climb->at[target]] == rank;
}

/* Some targets of one class, in this order, get their ancestors above this rank. */
static void climb_class(struct climb *climb, const uint32_t *targets, uint32_t n, unsigned int rank)
{
	const struct route_graph *graph = climb->tree->graph;
	bool any_late = false;

	memset(climb->n, 0, graph->n * sizeof(*climb->n));
	for (uint32_t i = 0; i < n; i++)
		if (stands_at(climb, targets[i], rank) && !graph->targets[targets[i]].ignored)
			climb->n[climb->at[targets[i]]]++;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (climb->tree->rank[sw] == rank)
			climb->n_left_out[sw] = count_left_out(climb, sw, climb->n[sw]);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = targets[i];

		if (stands_at(climb, t, rank) && !climb->late[t])
			climb_in_turn(climb, t, rank);
		any_late |= climb->late[t];
	}
	for (uint32_t i = 0; any_late && i < n; i++)
		if (stands_at(climb, targets[i], rank) && climb->late[targets[i]])
			climb_late(climb, targets[i], rank);
}

/* ---- targets in order ---- */

/* Whether a target is one of those whose ancestors are looked for now. */
static bool climbs_now(const struct climb *climb, uint32_t target)
{
	const struct route_graph *graph = climb->tree->graph;

	return !climb->above || graph->partitions[target] == climb->partitions;
}

/*
 * LIDs of hosts that matter most are numbered as if there were no others, and so are the first LIDs
 * of ports, the second ones ... Targets by leaf go to in_order; how many they are.
 */
static uint32_t number_targets(struct climb *climb, uint32_t *in_order)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	uint32_t *leaves = g_new(uint32_t, graph->n + 1), numbers[2][256] = { 0 }, n = 0;

	route_order_leaves(graph, tree->rank, tree->max_rank, leaves);
	for (uint32_t i = 0; i < graph->n; i++) {
		uint32_t last = graph->first_target[leaves[i] + 1];

		for (uint32_t t = graph->first_target[leaves[i]]; t < last; t++) {
			const struct route_target *target = &graph->targets[t];

			if (!climbs_now(climb, t))
				continue;
			in_order[n++] = t;
			if (!target->ahead && !target->ignored)
				climb->number[t] = numbers[target->later][target->offset]++;
		}
	}
	for (uint32_t i = 0; i < graph->n_ahead; i++)
		climb->number[graph->ahead[i]] = i;
	g_free(leaves);
	return n;
}

/*
 * Those ahead first. First LIDs of all ports before second ones, and of these the ones that matter
 * most before others: the turns of each are even by themselves.
 */
static unsigned int class_of(const struct route_target *target)
{
	return target->ahead ? 0 : 1 + 2 * target->offset + target->later;
}

#define CLASSES (1 + 2 * 256)

/* Targets by class, and by leaf in each; those of class c begin at first[c]. */
static uint32_t *sort_targets(struct climb *climb, uint32_t first[CLASSES + 1])
{
	const struct route_graph *graph = climb->tree->graph;
	uint32_t n = route_n_targets(graph), at[CLASSES];
	uint32_t *in_order = g_new(uint32_t, n + 1), *sorted = g_new(uint32_t, n + 1);

	n = number_targets(climb, in_order);
	memset(first, 0, (CLASSES + 1) * sizeof(*first));
	for (uint32_t i = 0; i < n; i++)
		first[class_of(&graph->targets[in_order[i]]) + 1]++;
	for (unsigned int c = 1; c <= CLASSES; c++)
		first[c] += first[c - 1];
	memcpy(at, first, sizeof(at));
	for (uint32_t i = 0; i < graph->n_ahead; i++)
		if (climbs_now(climb, graph->ahead[i]))
			sorted[at[0]++] = graph->ahead[i];
	for (uint32_t i = 0; i < n; i++)
		if (!graph->targets[in_order[i]].ahead)
			sorted[at[class_of(&graph->targets[in_order[i]])]++] = in_order[i];
	g_free(in_order);
	return sorted;
}

/*
 * Each of the LIDs of ports makes a table by itself, as even as the one before, but turned by one
 * port: what the others load does not matter.
 */
static void forget_loads(struct climb *climb)
{
	for (uint32_t sw = 0; sw < climb->tree->graph->n; sw++) {
		climb->load[false][sw] = climb->load[true][sw] = 0;
		for (uint32_t i = 0; i < climb->n_ways[sw]; i++)
			memset(climb->ways[climb->first_way[sw] + i].load, 0,
			       sizeof(climb->ways->load));
	}
}

/* Rank by rank: what a switch of the next one gets must be known before it shares that out. */
static void climb_ranks(struct climb *climb)
{
	const struct route_graph *graph = climb->tree->graph;
	uint32_t first[CLASSES + 1], *targets = sort_targets(climb, first);

	for (unsigned int rank = 0; rank < climb->tree->max_rank; rank++)
		for (unsigned int c = 0; c < CLASSES; c++) {
			if (first[c] == first[c + 1])
				continue;
			if (c && graph->targets[targets[first[c]]].offset &&
			    !graph->targets[targets[first[c]]].later)
				forget_loads(climb);
			climb_class(climb, targets + first[c], first[c + 1] - first[c], rank);
		}
	g_free(targets);
}

/* Those who are in the same tied partitions have numbers of their own, beside what others load. */
static void climb_tied(struct climb *climb)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	g_autoptr(GHashTable) done = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		if (!g_hash_table_add(done, &graph->partitions[t]))
			continue;
		climb->partitions = graph->partitions[t];
		climb->above = route_tolls_up(graph, tree->rank, tree->max_rank,
					      climb->partitions);
		climb_ranks(climb);
		g_free(climb->above);
	}
}

static void init_ancestors(struct tree *tree)
{
	const struct route_graph *graph = tree->graph;
	uint32_t n = route_n_targets(graph);

	tree->levels = tree->max_rank;
	tree->lids = g_new(uint16_t, n + 1);
	tree->leaf = g_new(uint16_t, n + 1);
	tree->spare = g_new0(uint16_t, n + 1);
	tree->lacks = g_new0(bool, graph->n + 1);
	tree->place = g_new0(uint16_t, graph->n + 1);
	for (unsigned int level = 0; level < tree->levels; level++) {
		tree->ancestor[level] = g_new(uint16_t, n + 1);
		if (graph->parallel)
			tree->turn[level] = g_malloc0(n + 1);
	}
	for (uint32_t t = 0; t < n; t++) {
		tree->lids[t] = graph->targets[t].lid;
		tree->leaf[t] = graph->targets[t].leaf;
		for (unsigned int level = 0; level < tree->levels; level++)
			tree->ancestor[level][t] = graph->targets[t].leaf;
	}
}

static void climb_init(struct climb *climb)
{
	const struct route_graph *graph = climb->tree->graph;
	uint32_t n = graph->n + 1, n_targets = route_n_targets(graph);

	climb->group = g_new(uint32_t, n);
	climb->standing = g_new(uint32_t, n);
	memset(climb->standing, 0xFF, n * sizeof(*climb->standing));
	climb->width = g_new0(uint32_t, n);
	climb->links = g_new0(uint32_t, n);
	climb->width_of = g_new0(uint32_t, n);
	climb->model = g_new(uint32_t, n);
	memset(climb->model, 0xFF, n * sizeof(*climb->model));
	climb->first_way = g_new(uint32_t, n);
	climb->n_ways = g_new0(uint32_t, n);
	climb->load[false] = g_new0(uint32_t, n);
	climb->load[true] = g_new0(uint32_t, n);
	climb->number = g_new0(uint32_t, n_targets + 1);
	climb->at = g_new(uint32_t, n_targets + 1);
	for (uint32_t t = 0; t < n_targets; t++)
		climb->at[t] = graph->targets[t].leaf;
	climb->n = g_new(uint32_t, n);
	climb->n_left_out = g_new(uint32_t, n);
	climb->n_late = g_new0(uint32_t, n);
	climb->lost_way = g_new(uint32_t, n_targets + 1);
	memset(climb->lost_way, 0xFF, (n_targets + 1) * sizeof(*climb->lost_way));
	climb->late = g_new0(bool, n_targets + 1);
}

static void climb_clear(struct climb *climb)
{
	g_free(climb->group);
	g_free(climb->standing);
	g_free(climb->width);
	g_free(climb->links);
	g_free(climb->width_of);
	g_free(climb->model);
	g_free(climb->first_way);
	g_free(climb->n_ways);
	g_free(climb->ways);
	g_free(climb->load[false]);
	g_free(climb->load[true]);
	g_free(climb->number);
	g_free(climb->at);
	g_free(climb->n);
	g_free(climb->n_left_out);
	g_free(climb->n_late);
	g_free(climb->lost_way);
	g_free(climb->late);
}

void tree_find_ancestors(struct tree *tree)
{
	struct climb climb = { .tree = tree };

	init_ancestors(tree);
	climb_init(&climb);
	find_groups(&climb);
	measure_groups(&climb);
	list_ways(&climb);
	if (tree->graph->tied)
		climb_tied(&climb);
	else
		climb_ranks(&climb);
	climb_clear(&climb);
}

void tree_clear_ancestors(struct tree *tree)
{
	for (unsigned int level = 0; level < TREE_RANKS_MAX; level++) {
		g_free(tree->ancestor[level]);
		g_free(tree->turn[level]);
	}
	g_free(tree->lids);
	g_free(tree->leaf);
	g_free(tree->spare);
	g_free(tree->lacks);
	g_free(tree->place);
}
