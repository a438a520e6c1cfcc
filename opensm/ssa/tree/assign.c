// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/assign.h"

#include <stdlib.h>

#define LAYERS 4
#define AGENTS 3 /* the lowest layer */

struct tree {
	struct ssa_tree_node *nodes;
	uint32_t n;
	const struct ssa_assign_rules *rules;
	/* The nodes that serve, by each of their roles: core, distribution, access. */
	GArray *servers[AGENTS]; /* uint32_t, ascending */
};

unsigned int ssa_assign_layer(unsigned int roles)
{
	if (roles & SSA_ROLE_CORE)
		return 0;
	if (roles & SSA_ROLE_DISTRIBUTION)
		return 1;
	return roles & SSA_ROLE_ACCESS ? 2 : AGENTS;
}

static int by_guid(const void *a, const void *b)
{
	uint64_t x = ((const struct ssa_tree_node *)a)->guid;
	uint64_t y = ((const struct ssa_tree_node *)b)->guid;

	return x < y ? -1 : x > y;
}

struct ssa_tree_node *ssa_assign_find(struct ssa_tree_node *nodes, uint32_t n, uint64_t guid)
{
	const struct ssa_tree_node wanted = {.guid = guid};

	return n && guid ? bsearch(&wanted, nodes, n, sizeof(*nodes), by_guid) : NULL;
}

/* ---- possible parents ---- */

static bool may_serve(const struct ssa_tree_node *child, const struct ssa_tree_node *parent)
{
	return ssa_assign_layer(parent->roles) < ssa_assign_layer(child->roles) &&
	       parent->guid != child->bad;
}

static bool has_room(const struct tree *tree, const struct ssa_tree_node *child,
		     const struct ssa_tree_node *parent)
{
	unsigned int layer = ssa_assign_layer(child->roles);

	return layer > 0 && parent->children < tree->rules->fanout[layer - 1];
}

static uint32_t hops(const struct tree *tree, const struct ssa_tree_node *child,
		     const struct ssa_tree_node *parent)
{
	return tree->rules->hops ? tree->rules->hops(tree->rules->arg, child, parent) : UINT32_MAX;
}

/* The load that counts for a primary, or for a backup. */
static uint32_t load_of(const struct ssa_tree_node *parent, bool backup)
{
	return backup ? parent->backups : parent->children;
}

/* Whether a is a better parent than b, which comes later by GUID if it comes later at all. */
static bool is_better(const struct tree *tree, const struct ssa_tree_node *child,
		      const struct ssa_tree_node *a, const struct ssa_tree_node *b, bool backup)
{
	uint32_t x = load_of(a, backup), y = load_of(b, backup);

	if (x != y)
		return x < y;
	return hops(tree, child, a) < hops(tree, child, b);
}

/* The best of those with that role; crowded: also one without room. NULL: none. */
static struct ssa_tree_node *best_of(const struct tree *tree, const struct ssa_tree_node *child,
				     unsigned int role, const struct ssa_tree_node *other,
				     bool backup, bool crowded)
{
	const GArray *servers = tree->servers[role];
	struct ssa_tree_node *best = NULL;

	for (guint i = 0; i < servers->len; i++) {
		struct ssa_tree_node *node = &tree->nodes[g_array_index(servers, uint32_t, i)];

		if (node != other && may_serve(child, node) &&
		    (crowded || has_room(tree, child, node)) &&
		    (!best || is_better(tree, child, node, best, backup)))
			best = node;
	}
	return best;
}

/* The nearest layer above that has room; if none has, the nearest layer. */
static struct ssa_tree_node *choose(const struct tree *tree, const struct ssa_tree_node *child,
				    const struct ssa_tree_node *other, bool backup)
{
	unsigned int layer = ssa_assign_layer(child->roles);
	struct ssa_tree_node *best = NULL;

	for (unsigned int crowded = 0; crowded < 2 && !best; crowded++)
		for (unsigned int role = layer; role-- > 0 && !best;)
			best = best_of(tree, child, role, other, backup, crowded);
	return best;
}

/* ---- assignment ---- */

static void set_primary(struct tree *tree, struct ssa_tree_node *child,
			struct ssa_tree_node *parent)
{
	struct ssa_tree_node *old = ssa_assign_find(tree->nodes, tree->n, child->parents[0]);

	if (old)
		old->children--;
	child->parents[0] = parent ? parent->guid : 0;
	if (parent)
		parent->children++;
}

static void set_backup(struct tree *tree, struct ssa_tree_node *child, struct ssa_tree_node *parent)
{
	struct ssa_tree_node *old = ssa_assign_find(tree->nodes, tree->n, child->parents[1]);

	if (old)
		old->backups--;
	child->parents[1] = parent ? parent->guid : 0;
	if (parent)
		parent->backups++;
}

/* What can stay does, before others are given room. */
static void keep(struct tree *tree, struct ssa_tree_node *child)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct ssa_tree_node *parent =
			ssa_assign_find(tree->nodes, tree->n, child->parents[i]);

		if (!parent || !may_serve(child, parent) ||
		    (i == 1 && child->parents[0] == parent->guid))
			child->parents[i] = 0;
		else if (i == 0)
			parent->children++;
		else
			parent->backups++;
	}
}

/* The backup of a child that has lost its primary becomes that: it knows the way there. */
static void fill(struct tree *tree, struct ssa_tree_node *child)
{
	struct ssa_tree_node *primary, *backup;

	backup = ssa_assign_find(tree->nodes, tree->n, child->parents[1]);
	if (!child->parents[0] && backup) {
		set_backup(tree, child, NULL);
		set_primary(tree, child, backup);
	}
	if (!child->parents[0])
		set_primary(tree, child, choose(tree, child, NULL, false));
	primary = ssa_assign_find(tree->nodes, tree->n, child->parents[0]);
	if (!child->parents[1] && primary)
		set_backup(tree, child, choose(tree, child, primary, true));
}

/* Moves a child to a parent that has fewer children by two at least; false: none is to be moved. */
static bool move_one(struct tree *tree, struct ssa_tree_node *child)
{
	struct ssa_tree_node *from = ssa_assign_find(tree->nodes, tree->n, child->parents[0]);
	struct ssa_tree_node *to = from ? choose(tree, child, from, false) : NULL;

	if (!to || ssa_assign_layer(to->roles) < ssa_assign_layer(from->roles) ||
	    !has_room(tree, child, to))
		return false;
	/* A nearer layer is worth a move by itself: it has come late. */
	if (ssa_assign_layer(to->roles) == ssa_assign_layer(from->roles) &&
	    to->children + 1 >= from->children)
		return false;
	set_primary(tree, child, to);
	set_backup(tree, child, from);
	return true;
}

static uint32_t balance(struct tree *tree)
{
	uint32_t moved = 0;

	for (uint32_t i = tree->n; i-- > 0 && moved < tree->rules->moves;)
		moved += move_one(tree, &tree->nodes[i]);
	return moved;
}

static void find_servers(struct tree *tree)
{
	static const enum ssa_role roles[AGENTS] = {SSA_ROLE_CORE, SSA_ROLE_DISTRIBUTION,
						    SSA_ROLE_ACCESS};

	for (unsigned int role = 0; role < AGENTS; role++) {
		tree->servers[role] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		for (uint32_t i = 0; i < tree->n; i++)
			if (tree->nodes[i].roles & roles[role])
				g_array_append_val(tree->servers[role], i);
	}
}

uint32_t ssa_assign(struct ssa_tree_node *nodes, uint32_t n, const struct ssa_assign_rules *rules)
{
	struct tree tree = {nodes, n, rules, {NULL}};
	uint32_t moved;

	if (n)
		qsort(nodes, n, sizeof(*nodes), by_guid);
	find_servers(&tree);
	for (uint32_t i = 0; i < n; i++)
		nodes[i].children = nodes[i].backups = 0;
	for (uint32_t i = 0; i < n; i++)
		keep(&tree, &nodes[i]);
	for (unsigned int layer = 1; layer < LAYERS; layer++)
		for (uint32_t i = 0; i < n; i++)
			if (ssa_assign_layer(nodes[i].roles) == layer)
				fill(&tree, &nodes[i]);
	moved = balance(&tree);
	for (unsigned int role = 0; role < AGENTS; role++)
		g_array_unref(tree.servers[role]);
	return moved;
}
