// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A switch that cannot be written sends each packet out by all ports that it holds for the MLID. So
 * all links that it holds are part of the tree, or it gets no packets at all. These links, and
 * those of the previous tree, form pieces, each of which is a tree (bound). Other links join two
 * switches that can be written: a search adds the fewest that join the pieces. Finally branches
 * without members are cut off, from the ends inwards.
 *
 *	A --- K --- B	K holds both links: what is sent to A or B reaches the other through K
 *	A     k --- B	k holds one of two: A gets there around k, or not at all
 */
#include "route/multicast/multicast_held.h"

#include <string.h>

#include "route/graph/bits.h"

#define UNSEEN 0xFF /* as the port to a parent; 0: a search began there */

struct spread {
	const struct fabric *fabric;
	const struct route_graph *graph;
	const struct route_group *group;
	bool *unfit;		      /* [switch]: its links make a ring: nothing is sent there */
	struct route_port_set *bound; /* [switch]: ports with links that are sure to be used */
	uint32_t *top;		      /* [switch]: towards the representative of its piece */
	struct route_port_set *exits; /* [switch]: of members there */
	uint32_t *members;	      /* [switch]: how many members are there */
	uint8_t *up;		      /* [switch]: its port to the parent */
	uint32_t *queue, n_queue;     /* switches, each behind its parent */
};

static const struct route_port_set *held_by(const struct spread *spread, uint32_t sw)
{
	return spread->group->held[sw];
}

static uint32_t find_top(uint32_t *top, uint32_t sw)
{
	while (top[sw] != sw)
		sw = top[sw] = top[top[sw]];
	return sw;
}

/* The switch across a cable that trees may use, and its port there; or FABRIC_NONE. */
static uint32_t across(const struct spread *spread, uint32_t sw, uint32_t num, uint8_t *there)
{
	const struct fabric *fabric = spread->fabric;
	uint32_t port, to;

	if (!num || num > fabric->nodes[fabric->switches[sw].node].num_ports)
		return FABRIC_NONE;
	port = fabric_switch_port(fabric, sw, (uint8_t)num);
	to = route_switch_across(fabric, port);
	if (to == FABRIC_NONE || to == sw || route_edge_to(spread->graph, sw, to) == FABRIC_NONE)
		return FABRIC_NONE;
	*there = fabric->ports[fabric->ports[port].peer].num;
	return to;
}

/* False if the link closes a ring of bound links. */
static bool bind(struct spread *spread, uint32_t sw, uint32_t num, uint32_t to, uint8_t there)
{
	uint32_t a = find_top(spread->top, sw), b = find_top(spread->top, to);

	if (bits_has(spread->bound[sw].bits, num))
		return true;
	if (a == b)
		return false;
	spread->top[a] = b;
	bits_put(spread->bound[sw].bits, num, true);
	bits_put(spread->bound[to].bits, there, true);
	return true;
}

/* ---- links that switches hold ---- */

/* Whether packets to a switch would go on to one that is unfit, or that holds no link back. */
static bool leads_astray(const struct spread *spread, uint32_t sw)
{
	uint8_t there;

	bits_each (held_by(spread, sw)->bits, 1, 256, num) {
		uint32_t to = across(spread, sw, num, &there);

		if (to != FABRIC_NONE && held_by(spread, to) &&
		    (spread->unfit[to] || !bits_has(held_by(spread, to)->bits, there)))
			return true;
	}
	return false;
}

/* Binds the links that a switch holds; false if they close a ring. */
static bool bind_held(struct spread *spread, uint32_t sw)
{
	uint8_t there;

	bits_each (held_by(spread, sw)->bits, 1, 256, num) {
		uint32_t to = across(spread, sw, num, &there);

		if (to != FABRIC_NONE && !bind(spread, sw, num, to, there))
			return false;
	}
	return true;
}

static void unbind_all(struct spread *spread)
{
	uint32_t n = spread->graph->n;

	memset(spread->bound, 0, n * sizeof(*spread->bound));
	for (uint32_t sw = 0; sw < n; sw++)
		spread->top[sw] = sw;
}

/* Starts again for each switch that turns out to be unfit. */
static void bind_all_held(struct spread *spread)
{
	uint32_t n = spread->graph->n, sw = 0;

	unbind_all(spread);
	while (sw < n) {
		if (!held_by(spread, sw) || spread->unfit[sw] ||
		    (!leads_astray(spread, sw) && bind_held(spread, sw))) {
			sw++;
			continue;
		}
		spread->unfit[sw] = true;
		unbind_all(spread);
		sw = 0;
	}
}

/* Links of the previous tree between switches that can be written. */
static void bind_before(struct spread *spread, const struct route_tree *before,
			const uint32_t *moved)
{
	for (uint32_t i = 0; before && i < before->n; i++) {
		uint32_t sw = moved ? moved[before->switches[i]] : before->switches[i], to;
		uint8_t there;

		if (sw == FABRIC_NONE || held_by(spread, sw))
			continue;
		to = across(spread, sw, before->up[i], &there);
		if (to != FABRIC_NONE && !held_by(spread, to))
			bind(spread, sw, before->up[i], to, there);
	}
}

/* ---- where the members are ---- */

/* A switch that holds no port to a member can still send what the member sends. */
static void place_members(struct spread *spread)
{
	const struct route_group *group = spread->group;

	for (uint32_t i = 0; i < group->n_members; i++) {
		uint8_t exit;
		uint32_t sw = fabric_leaf(spread->fabric, group->members[i], &exit);

		if (sw == FABRIC_NONE || fabric_mlids(spread->fabric, sw) < group->room)
			continue;
		spread->members[sw]++;
		if (group->only_sends && group->only_sends[i])
			continue;
		if (!held_by(spread, sw) || bits_has(held_by(spread, sw)->bits, exit))
			bits_put(spread->exits[sw].bits, exit, true);
	}
}

/* ---- the search ---- */

static void reach(struct spread *spread, uint32_t sw, uint8_t up)
{
	spread->up[sw] = up;
	spread->queue[spread->n_queue++] = sw;
}

/* Adds a switch, and with it its whole piece. */
static void enter(struct spread *spread, uint32_t from, uint8_t up)
{
	uint32_t i = spread->n_queue;
	uint8_t there;

	for (reach(spread, from, up); i < spread->n_queue; i++) {
		uint32_t sw = spread->queue[i];

		bits_each (spread->bound[sw].bits, 1, 256, num) {
			uint32_t to = across(spread, sw, num, &there);

			if (spread->up[to] == UNSEEN)
				reach(spread, to, there);
		}
	}
}

/* Searches all that can be joined with a switch; returns the number of members there. */
static uint32_t search(struct spread *spread, uint32_t from)
{
	uint32_t i = spread->n_queue, n_members = 0;
	uint8_t there = 0;

	for (enter(spread, from, 0); i < spread->n_queue; i++) {
		uint32_t sw = spread->queue[i];

		n_members += spread->members[sw];
		if (held_by(spread, sw))
			continue;
		route_each_edge (spread->graph, sw, edge) {
			if (spread->up[edge->to] != UNSEEN || held_by(spread, edge->to))
				continue;
			across(spread, sw, spread->graph->links[edge->first_link], &there);
			enter(spread, edge->to, there);
		}
	}
	return n_members;
}

/* The root of the previous tree, if it is to be kept. */
static uint32_t root_of(const struct route_tree *before, const uint32_t *moved)
{
	if (!before || !before->n)
		return FABRIC_NONE;
	return moved ? moved[before->root] : before->root;
}

/* Of the unconnected parts, the one with the most members: begin to end of queue. */
static void choose_lot(struct spread *spread, uint32_t first, uint32_t *begin, uint32_t *end)
{
	uint32_t most = 0;

	*begin = *end = 0;
	for (uint32_t i = 0; i <= spread->graph->n; i++) {
		uint32_t sw = i ? i - 1 : first, from = spread->n_queue, n_members;

		if (sw == FABRIC_NONE || spread->up[sw] != UNSEEN || (i && !spread->members[sw]))
			continue;
		n_members = search(spread, sw);
		if (n_members <= most)
			continue;
		most = n_members;
		*begin = from;
		*end = spread->n_queue;
	}
}

/* ---- the result ---- */

static bool is_empty(const struct route_port_set *ports)
{
	static const struct route_port_set none;

	return !memcmp(ports, &none, sizeof(none));
}

/* From the ends inwards; after that the sets have the ports of links and those of members. */
static void cut(struct spread *spread, uint32_t begin, uint32_t end, bool *in_tree)
{
	uint8_t there = 0;

	for (uint32_t i = end; i-- > begin;) {
		uint32_t sw = spread->queue[i], to;

		in_tree[sw] |= spread->members[sw] != 0;
		if (!in_tree[sw] || !spread->up[sw])
			continue;
		to = across(spread, sw, spread->up[sw], &there);
		bits_put(spread->exits[sw].bits, spread->up[sw], true);
		bits_put(spread->exits[to].bits, there, true);
		in_tree[to] = true;
	}
}

/* From the root on, while it leads to a single other switch; returns the new root. */
static uint32_t cut_root(struct spread *spread, uint32_t root, bool *in_tree)
{
	uint8_t there = 0;

	while (!spread->members[root] && !is_empty(&spread->exits[root])) {
		uint32_t num = bits_next(spread->exits[root].bits, 1, 256);
		uint32_t to = across(spread, root, num, &there);

		if (bits_next(spread->exits[root].bits, num + 1, 256) < 256)
			break;
		bits_put(spread->exits[root].bits, num, false);
		bits_put(spread->exits[to].bits, there, false);
		in_tree[root] = false;
		spread->up[to] = 0;
		root = to;
	}
	return root;
}

static struct route_tree *list_tree(const struct spread *spread, uint32_t root, const bool *in_tree)
{
	struct route_tree *tree = g_new0(struct route_tree, 1);
	uint32_t n = spread->graph->n, i = 0;

	ref_init(&tree->ref);
	for (uint32_t sw = 0; sw < n; sw++)
		tree->n += in_tree[sw];
	tree->root = root;
	tree->switches = g_new(uint32_t, tree->n);
	tree->ports = g_new(struct route_port_set, tree->n);
	tree->up = g_malloc(tree->n + 1);
	for (uint32_t sw = 0; sw < n; sw++) {
		if (!in_tree[sw])
			continue;
		tree->switches[i] = sw;
		tree->up[i] = spread->up[sw];
		tree->ports[i++] = spread->exits[sw];
	}
	return tree;
}

static uint32_t count_left_out(const struct spread *spread, const bool *in_tree)
{
	const struct route_group *group = spread->group;
	uint32_t n = 0;

	for (uint32_t i = 0; i < group->n_members; i++) {
		bool gets = !group->only_sends || !group->only_sends[i];
		uint8_t exit;
		uint32_t sw = fabric_leaf(spread->fabric, group->members[i], &exit);

		if (sw == FABRIC_NONE)
			n++;
		else if (fabric_mlids(spread->fabric, sw) >= group->room)
			n += !in_tree[sw] || (gets && !bits_has(spread->exits[sw].bits, exit));
	}
	return n;
}

struct route_tree *route_multicast_held(const struct route_graph *graph,
					const struct fabric *fabric,
					const struct route_group *group,
					const struct route_tree *before, const uint32_t *moved,
					uint32_t *excluded)
{
	uint32_t n = graph->n, begin, end, root = FABRIC_NONE;
	g_autofree bool *in_tree = g_new0(bool, n + 1), *unfit = g_new0(bool, n + 1);
	g_autofree struct route_port_set *bound = g_new0(struct route_port_set, n + 1);
	g_autofree struct route_port_set *exits = g_new0(struct route_port_set, n + 1);
	g_autofree uint32_t *top = g_new0(uint32_t, n + 1), *members = g_new0(uint32_t, n + 1);
	g_autofree uint32_t *queue = g_new0(uint32_t, n + 1);
	g_autofree uint8_t *up = g_malloc(n + 1);
	struct spread spread = {.fabric = fabric,
				.graph = graph,
				.group = group,
				.unfit = unfit,
				.bound = bound,
				.top = top,
				.exits = exits,
				.members = members,
				.up = up,
				.queue = queue};

	memset(up, UNSEEN, n + 1);
	bind_all_held(&spread);
	bind_before(&spread, before, moved);
	place_members(&spread);
	choose_lot(&spread, root_of(before, moved), &begin, &end);
	cut(&spread, begin, end, in_tree);
	if (begin < end)
		root = cut_root(&spread, queue[begin], in_tree);
	*excluded = count_left_out(&spread, in_tree);
	return list_tree(&spread, root == FABRIC_NONE ? 0 : root, in_tree);
}

bool route_tree_meets_held(const struct route_tree *tree, const struct fabric *fabric,
			   const struct route_group *group)
{
	uint8_t exit;

	for (uint32_t i = 0; i < tree->n; i++)
		if (group->held[tree->switches[i]])
			return true;
	for (uint32_t i = 0; i < group->n_members; i++) {
		uint32_t sw = fabric_leaf(fabric, group->members[i], &exit);

		if (sw != FABRIC_NONE && group->held[sw])
			return true;
	}
	return false;
}
