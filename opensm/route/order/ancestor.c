// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ancestors, one of each rank, over which a destination of a layered network is reached.
 *
 * Targets climb from their leaves, rank by rank, each to the parent of its present switch that has
 * the fewest targets. All switches list their parents in one order, which is made from the top:
 * parents are sorted by the place of their own first parent, so that switches of the same plane are
 * side by side.
 *
 * Lost links stay in the list. Planes are told apart by groups: a switch at the top is a group;
 * below it, switches are of one group if they have parents in a common group. The links to a group
 * above that the switch with most links has, and another one of its group lacks, are cables that
 * were lost. The turns continue as if they were there; so only the targets whose turn is on a lost
 * link move. The remaining links share these, as long as each link gets the same number. One more
 * for only some links would double their load; so the last targets get no ancestor: each source
 * chooses for itself, and all links share their load.
 */
#include <glib.h>
#include <string.h>

#include "complib/hash.h"
#include "route/fill/ties.h"
#include "route/order/leaves.h"
#include "route/order/tree.h"

/* A way up from a switch: the present or lost links to one parent. */
struct way {
	uint32_t to;	/* the parent; FABRIC_NONE: unknown, as the links are lost */
	uint32_t group; /* of the parent */
	uint32_t load;	/* targets that use it */
	uint16_t n_links;
	uint8_t first;	/* link of the first target */
};

static bool is_lost(const struct way *way)
{
	return way->to == FABRIC_NONE;
}

struct climb_switch {
	uint32_t links;	   /* to parents */
	uint32_t model;	   /* if it is the least of its group: the switch with most links */
	uint32_t standing; /* if it is the least of its group: place in the common order */
	int32_t lost;	   /* if it is the least of its group: scratch, 0 */
	uint32_t first_way, n_ways;
	uint32_t load;	     /* targets that come down through it */
	uint32_t n, n_late;  /* of the current class, not placed yet */
	uint32_t n_left_out; /* the last ones, without an ancestor */
};

struct climb_target {
	uint32_t number; /* its own, then the rest of it for the ranks above */
	uint32_t at;	 /* its last ancestor; FABRIC_NONE: the climb has ended */
	bool late;	 /* takes the least used way after the others */
};

struct climb {
	struct tree *tree;
	uint32_t *group; /* [switch]: the least of its group, once known */
	struct climb_switch *switches;
	struct climb_target *targets;
	struct way *ways;
	uint32_t most[TREE_RANKS_MAX]; /* [rank]: most links of any switch of this rank */
	uint64_t partitions; /* of the climbing targets, if cables have ties (ties.h) */
	uint32_t *above;     /* [switch]: least penalty of its ways up for these; NULL: no ties */
};

/* ---- groups ---- */

static void join_groups(struct climb *climb, uint32_t a, uint32_t b)
{
	a = route_find_part(climb->group, a);
	b = route_find_part(climb->group, b);
	climb->group[MAX(a, b)] = MIN(a, b);
}

/* To the next rank; edges that lead further are left to the search. */
static bool is_up(const struct tree *tree, uint32_t sw, const struct route_edge *edge)
{
	return tree->rank[edge->to] == tree->rank[sw] + 1;
}

/* Switches of a rank whose parents share a group become one group; child_of is scratch. */
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

/* Counts the links up of switches, and finds the switch with most of them in each group. */
static void count_links(struct climb *climb)
{
	const struct tree *tree = climb->tree;

	for (uint32_t sw = 0; sw < tree->graph->n; sw++) {
		struct climb_switch *own = &climb->switches[sw];
		uint32_t *model = &climb->switches[climb->group[sw]].model;

		route_each_edge(tree->graph, sw, edge)
			own->links += is_up(tree, sw, edge) ? edge->n_links : 0;
		if (tree->rank[sw] == TREE_NO_RANK)
			continue;
		climb->most[tree->rank[sw]] = MAX(climb->most[tree->rank[sw]], own->links);
		if (*model == FABRIC_NONE || own->links > climb->switches[*model].links)
			*model = sw;
	}
}

/* Adds lost links: those to groups above that the model has and this switch lacks. */
static void add_lost(struct climb *climb, uint32_t sw, GArray *ways, uint32_t first)
{
	const struct tree *tree = climb->tree;
	struct climb_switch *switches = climb->switches;
	uint32_t model = switches[climb->group[sw]].model, last = ways->len;

	if (switches[sw].links == switches[model].links)
		return;
	tree->lacks[sw] = true;
	route_each_edge(tree->graph, model, edge)
		if (is_up(tree, model, edge))
			switches[climb->group[edge->to]].lost += edge->n_links;
	for (uint32_t i = first; i < last; i++) {
		const struct way *way = &g_array_index(ways, struct way, i);

		switches[way->group].lost -= way->n_links;
	}
	route_each_edge(tree->graph, model, edge) {
		uint32_t group = climb->group[edge->to];
		int32_t n = switches[group].lost;
		struct way way = {.to = FABRIC_NONE, .group = group, .n_links = n};

		switches[group].lost = 0;
		if (n > 0)
			g_array_append_val(ways, way);
	}
	for (uint32_t i = first; i < last; i++)
		switches[g_array_index(ways, struct way, i).group].lost = 0;
}

static gint compare_ways(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct way *x = a, *y = b;
	const struct climb_switch *groups = data;

	if (groups[x->group].standing != groups[y->group].standing)
		return groups[x->group].standing < groups[y->group].standing ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void list_ways_of(struct climb *climb, uint32_t sw, GArray *ways)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	struct climb_switch *group = &climb->switches[climb->group[sw]];
	uint32_t first = ways->len, n, standing;
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
	add_lost(climb, sw, ways, first);
	n = ways->len - first;
	own = n ? &g_array_index(ways, struct way, first) : NULL;
	if (n > 1)
		g_qsort_with_data(own, n, sizeof(*own), compare_ways, climb->switches);
	standing = n ? climb->switches[own[0].group].standing : sw;
	group->standing = MIN(group->standing, standing);
	climb->switches[sw].first_way = first;
	climb->switches[sw].n_ways = n;
}

/* From the top, since the order of ways depends on the ranks above. */
static void list_ways(struct climb *climb)
{
	const struct tree *tree = climb->tree;
	uint32_t n = tree->graph->n;
	GArray *ways = g_array_new(FALSE, FALSE, sizeof(struct way));

	for (int rank = tree->max_rank; rank >= 0; rank--)
		for (uint32_t sw = 0; sw < n; sw++)
			if (tree->rank[sw] == rank)
				list_ways_of(climb, sw, ways);
	climb->ways = (struct way *)g_array_free(ways, FALSE);
}

/* ---- the climb ---- */

/*
 * How many earlier LIDs of the same port have this ancestor; 256 more if any of them has one in the
 * same system.
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

/* Penalty of going up this way, if cables are tied to partitions. */
static uint32_t penalty_of(const struct climb *climb, uint32_t sw, const struct way *way)
{
	if (!climb->above || is_lost(way))
		return 0;
	return climb->above[way->to] +
	       route_penalty_to(climb->tree->wishes, sw, way->to, climb->partitions);
}

static uint32_t least_penalty(const struct climb *climb, uint32_t sw, bool lost_too)
{
	const struct way *ways = &climb->ways[climb->switches[sw].first_way];
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < climb->switches[sw].n_ways; i++)
		if (lost_too || !is_lost(&ways[i]))
			least = MIN(least, penalty_of(climb, sw, &ways[i]));
	return least;
}

/* The way of sw whose turn it is; lost ones count only if asked. NULL: none. */
static struct way *choose_way(const struct climb *climb, unsigned int level, uint32_t target,
			      uint32_t sw, bool lost_too)
{
	const struct tree *tree = climb->tree;
	const struct route_graph *graph = tree->graph;
	struct way *ways = &climb->ways[climb->switches[sw].first_way], *best = NULL;
	uint32_t n = climb->switches[sw].n_ways, turn = n ? graph->targets[target].offset % n : 0;
	uint32_t start = climb->targets[target].number + turn + (tree->wishes->shift ? sw : 0);
	uint32_t least = least_penalty(climb, sw, lost_too);
	uint64_t best_cost = UINT64_MAX;

	start = n ? start % n : 0;
	for (uint32_t i = 0; i < n; i++) {
		struct way *way = &ways[start + i < n ? start + i : start + i - n];
		uint64_t rounds = way->load / way->n_links;
		uint64_t cost = rounds << 32 | (is_lost(way) ? 0 : climb->switches[way->to].load);

		if ((is_lost(way) && !lost_too) || penalty_of(climb, sw, way) > least)
			continue;
		if (turn && !is_lost(way))
			cost += repeats(tree, level, target, way->to) << 48;
		if (cost >= best_cost)
			continue;
		best_cost = cost;
		best = way;
	}
	return best;
}

/*
 * One target takes its turn, and the parent becomes its ancestor. If its turn is a lost link it is
 * late: it takes the least used way after all others, here and further up. The last ones get no
 * ancestor from here on: the last of the late targets, or of all targets if no links were lost.
 */
static void climb_one(struct climb *climb, uint32_t t, unsigned int rank)
{
	struct tree *tree = climb->tree;
	struct climb_target *target = &climb->targets[t];
	struct climb_switch *sw = &climb->switches[target->at];
	unsigned int level = rank - tree->rank[tree->graph->targets[t].leaf];
	uint32_t left = target->late ? --sw->n_late : --sw->n;
	struct way *way = NULL;

	if (left < sw->n_left_out && (target->late || !tree->lacks[target->at]))
		tree->orphan[t] = ++tree->n_orphans;
	else
		way = choose_way(climb, level, t, target->at, !target->late);
	if (!way) {
		target->at = FABRIC_NONE;
		return;
	}
	target->number /= sw->n_ways;
	if (!way->load++)
		way->first = target->number % way->n_links;
	if (is_lost(way)) {
		target->late = true;
		sw->n_late++;
		return;
	}
	if (tree->graph->parallel)
		tree->turn[level][t] = (way->first + way->load - 1) % way->n_links;
	tree->ancestor[level][t] = target->at = way->to;
	climb->switches[way->to].load++;
}

/*
 * How many targets get no ancestor at a switch with fewer links than others of its rank: those of
 * the last round of turns, unless the other switches need as many rounds.
 */
static uint32_t count_left_out(const struct climb *climb, uint32_t sw)
{
	uint32_t links = climb->switches[sw].links, most = climb->most[climb->tree->rank[sw]];
	uint32_t n = climb->switches[sw].n + climb->switches[sw].n_late;

	if (climb->above)
		return 0; /* each follows the ties of its partitions */
	if (!links || links == most || (n + links - 1) / links == (n + most - 1) / most)
		return 0;
	return n % links;
}

static bool stands_at(const struct climb *climb, uint32_t target, unsigned int rank)
{
	uint32_t sw = climb->targets[target].at;

	return sw != FABRIC_NONE && climb->tree->rank[sw] == rank;
}

/* Gives targets of one class, in this order, their ancestors above this rank. */
static void climb_class(struct climb *climb, const GArray *class, unsigned int rank)
{
	const uint32_t *targets = (const uint32_t *)class->data;

	for (uint32_t sw = 0; sw < climb->tree->graph->n; sw++)
		climb->switches[sw].n = climb->switches[sw].n_late = 0;
	for (uint32_t i = 0; i < class->len; i++) {
		const struct climb_target *target = &climb->targets[targets[i]];

		if (stands_at(climb, targets[i], rank) && target->late)
			climb->switches[target->at].n_late++;
		else if (stands_at(climb, targets[i], rank))
			climb->switches[target->at].n++;
	}
	for (uint32_t sw = 0; sw < climb->tree->graph->n; sw++)
		if (climb->tree->rank[sw] == rank)
			climb->switches[sw].n_left_out = count_left_out(climb, sw);
	for (int late = 0; late < 2; late++)
		for (uint32_t i = 0; i < class->len; i++)
			if (climb->targets[targets[i]].late == late &&
			    stands_at(climb, targets[i], rank))
				climb_one(climb, targets[i], rank);
}

/* ---- targets in order ---- */

/*
 * The targets in ahead come first. First LIDs of all ports come before second ones; within these,
 * the LIDs that matter most before later ones, then those that are not load: the turns of each kind
 * are balanced by themselves.
 */
enum kind { KIND_FIRST, KIND_LATER, KIND_IGNORED, KINDS };
#define CLASS_AHEAD 0
#define CLASS(offset, kind) (1 + KINDS * (offset) + (kind))
#define CLASSES CLASS(128, KIND_FIRST) /* LMC is at most 7 */

static unsigned int class_of(const struct route_target *target, const struct route_wish *wish)
{
	if (wish->ignored)
		return CLASS(target->offset, KIND_IGNORED);
	if (wish->ahead)
		return CLASS_AHEAD;
	return CLASS(target->offset, wish->later ? KIND_LATER : KIND_FIRST);
}

/* Whether it fills a table of its own, or continues that of the previous class. */
static bool begins_a_table(unsigned int class)
{
	return class > CLASS(0, KIND_FIRST) && (class - 1) % KINDS != KIND_LATER;
}

/* Unless the current partitions are others. Numbers a target by its place in the class. */
static void add_to_class(struct climb *climb, uint32_t target, GArray **classes)
{
	const struct tree *tree = climb->tree;
	const struct route_wishes *wishes = tree->wishes;
	GArray **class = &classes[class_of(&tree->graph->targets[target], &wishes->of[target])];

	if (climb->above && wishes->partitions[target] != climb->partitions)
		return;
	if (!*class)
		*class = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	climb->targets[target].number = (*class)->len;
	g_array_append_val(*class, target);
}

/* By leaf, unless an order is given. */
static void sort_targets(struct climb *climb, GArray **classes)
{
	const struct tree *tree = climb->tree;
	const struct route_wishes *wishes = tree->wishes;
	const struct route_graph *graph = tree->graph;
	g_autofree uint32_t *leaves = g_new(uint32_t, graph->n + 1);

	for (uint32_t i = 0; i < wishes->n_ahead; i++)
		add_to_class(climb, wishes->ahead[i], classes);
	route_order_leaves(wishes, tree->rank, tree->max_rank, leaves);
	for (uint32_t i = 0; i < graph->n; i++) {
		uint32_t last = graph->first_target[leaves[i] + 1];

		for (uint32_t t = graph->first_target[leaves[i]]; t < last; t++)
			if (!wishes->of[t].ahead)
				add_to_class(climb, t, classes);
	}
}

/*
 * LIDs with the same offset in their ports make a table of their own, balanced as the previous one,
 * but turned by one port: loads of the others do not matter.
 */
static void forget_loads(struct climb *climb)
{
	for (uint32_t sw = 0; sw < climb->tree->graph->n; sw++) {
		climb->switches[sw].load = 0;
		for (uint32_t i = 0; i < climb->switches[sw].n_ways; i++)
			climb->ways[climb->switches[sw].first_way + i].load = 0;
	}
}

/*
 * Even: the switches of a rank have equally many links up, and these, and the switches above,
 * equally many targets. Where that holds at all ranks, sources load the links up evenly, too, as
 * all go up by the planes of these ancestors.
 */
static enum tree_form form_of_rank(const struct climb *climb, unsigned int rank)
{
	const struct tree *tree = climb->tree;
	enum tree_form form = TREE_EVEN;
	uint32_t each = FABRIC_NONE, above = FABRIC_NONE;

	for (uint32_t i = 0; i < tree->graph->n; i++) {
		const struct climb_switch *sw = &climb->switches[i];

		if (tree->rank[i] == rank + 1 && above == FABRIC_NONE)
			above = sw->load;
		if (tree->rank[i] == rank + 1 && sw->load != above)
			form = TREE_WHOLE;
		for (uint32_t k = 0; tree->rank[i] == rank && k < sw->n_ways; k++) {
			const struct way *way = &climb->ways[sw->first_way + k];

			if (sw->links != climb->most[rank] || is_lost(way))
				return TREE_DAMAGED;
			if (each == FABRIC_NONE)
				each = way->load / way->n_links;
			if (way->load != each * way->n_links)
				form = TREE_WHOLE;
		}
	}
	return form;
}

static void note_form(struct climb *climb, unsigned int rank)
{
	climb->tree->form = MIN(climb->tree->form, form_of_rank(climb, rank));
}

/* Rank by rank: the targets of a switch must be known before it distributes them. */
static void climb_ranks(struct climb *climb)
{
	GArray *classes[CLASSES] = {NULL};

	sort_targets(climb, classes);
	for (unsigned int rank = 0; rank < climb->tree->max_rank; rank++) {
		for (unsigned int c = 0; c < CLASSES; c++) {
			if (!classes[c])
				continue;
			if (begins_a_table(c)) {
				note_form(climb, rank);
				forget_loads(climb);
			}
			climb_class(climb, classes[c], rank);
		}
		note_form(climb, rank);
	}
	for (unsigned int c = 0; c < CLASSES; c++)
		if (classes[c])
			g_array_free(classes[c], TRUE);
}

/* Targets in the same tied partitions have their own numbers, added to the load of the others. */
static void climb_tied(struct climb *climb)
{
	const struct tree *tree = climb->tree;
	const struct route_wishes *wishes = tree->wishes;
	g_autoptr(GHashTable) done = g_hash_table_new(hash_uint64, g_int64_equal);

	for (uint32_t t = 0; t < route_n_targets(tree->graph); t++) {
		if (!g_hash_table_add(done, &wishes->partitions[t]))
			continue;
		climb->partitions = wishes->partitions[t];
		climb->above =
			route_penalties_up(wishes, tree->rank, tree->max_rank, climb->partitions);
		climb_ranks(climb);
		g_free(climb->above);
	}
}

static void init_ancestors(struct tree *tree)
{
	const struct route_graph *graph = tree->graph;
	uint32_t n = route_n_targets(graph);

	tree->lids = g_new(uint16_t, n + 1);
	tree->leaf = g_new(uint16_t, n + 1);
	tree->orphan = g_new0(uint16_t, n + 1);
	tree->lacks = g_new0(bool, graph->n + 1);
	tree->place = g_new0(uint16_t, graph->n + 1);
	for (unsigned int level = 0; level < tree->max_rank; level++) {
		tree->ancestor[level] = g_new(uint16_t, n + 1);
		if (graph->parallel)
			tree->turn[level] = g_malloc0(n + 1);
	}
	for (uint32_t t = 0; t < n; t++) {
		tree->lids[t] = graph->targets[t].lid;
		tree->leaf[t] = graph->targets[t].leaf;
		for (unsigned int level = 0; level < tree->max_rank; level++)
			tree->ancestor[level][t] = graph->targets[t].leaf;
	}
}

void tree_find_ancestors(struct tree *tree)
{
	const struct route_graph *graph = tree->graph;
	struct climb climb = { .tree = tree };

	init_ancestors(tree);
	tree->form = tree->wishes->tied ? TREE_DAMAGED : TREE_EVEN;
	climb.group = g_new(uint32_t, graph->n + 1);
	climb.switches = g_new0(struct climb_switch, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		climb.switches[sw].model = climb.switches[sw].standing = FABRIC_NONE;
	climb.targets = g_new0(struct climb_target, route_n_targets(graph) + 1);
	for (uint32_t t = 0; t < route_n_targets(graph); t++)
		climb.targets[t].at = graph->targets[t].leaf;
	find_groups(&climb);
	count_links(&climb);
	list_ways(&climb);
	if (tree->wishes->tied)
		climb_tied(&climb);
	else
		climb_ranks(&climb);
	tree->form = tree->n_orphans ? TREE_DAMAGED : tree->form;
	g_free(climb.group);
	g_free(climb.switches);
	g_free(climb.targets);
	g_free(climb.ways);
}

void tree_clear_ancestors(struct tree *tree)
{
	for (unsigned int level = 0; level < TREE_RANKS_MAX; level++) {
		g_free(tree->ancestor[level]);
		g_free(tree->turn[level]);
	}
	g_free(tree->lids);
	g_free(tree->leaf);
	g_free(tree->orphan);
	g_free(tree->lacks);
	g_free(tree->place);
}
