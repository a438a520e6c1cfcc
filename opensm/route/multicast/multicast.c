// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast trees. The root is the switch with the fewest hops to all members together (of equals
 * the lowest index), or that of the previous tree unless another is much better; the tree consists
 * of shortest paths from the root, cut to what the members need. A switch that can choose its
 * parent takes its parent in the previous tree, else a switch that is in the tree already, else the
 * one behind its lowest port: a member that joins or leaves moves no other. If members are in
 * several unconnected parts, the part with the most members is served.
 *
 * By the order of a routing the root is above all members, and each parent above its child.
 */
#include <string.h>

#include "route/engine.h"
#include "route/graph/bits.h"
#include "route/graph/plan.h"
#include "route/multicast/multicast_held.h"
#include "route/order/orient.h"

#define NOT_IN_TREE 0xFF /* as the port to a parent; 0: it is the root */

struct route_multicast_base {
	struct route_plan plan;		 /* without cables to switches that have no room */
	const struct route_graph *graph; /* of the plan */
	uint32_t room;
	uint8_t *hops; /* [switch * n + switch]: from one to the other; with an order, down only */
	bool keeps;    /* follows an order or a trunk */
	struct route_multicast_base *plain; /* a base that does not, once it was needed */
};

/* A switch while a tree is built. */
struct spot {
	uint32_t members; /* attached */
	struct route_port_set ports;
	bool in_tree;
	uint8_t up;	   /* port to the parent */
	uint8_t up_before; /* in the previous tree */
};

struct grow {
	const struct route_graph *graph;
	const struct route_order *order;
	const struct fabric *fabric;
	const struct route_group *group;
	struct spot *spots; /* [switch] */
	uint32_t root;
	const uint8_t *hops;  /* [switch]: from the root */
	uint32_t root_before; /* FABRIC_NONE: no tree before */
};

/* ---- what trees have in common ---- */

/* Cables that begin or end at switches without room, or are not in the trunk (NULL: none). */
static bool *find_unused(const struct fabric *fabric, uint32_t room, const uint8_t *trunk)
{
	bool *unused = g_new0(bool, fabric->n_ports + 1);

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		uint32_t sw = fabric->nodes[port->node].sw, to = route_switch_across(fabric, i);

		if (sw == FABRIC_NONE || to == FABRIC_NONE)
			continue;
		unused[i] = fabric_mlids(fabric, sw) < room || fabric_mlids(fabric, to) < room ||
			    (trunk && trunk[sw] != port->num &&
			     trunk[to] != fabric->ports[port->peer].num);
	}
	return unused;
}

struct route_multicast_base *route_multicast_base_new(const struct fabric *fabric,
						      const struct routing *routing, uint32_t room)
{
	struct route_multicast_base *base = g_new0(struct route_multicast_base, 1);
	uint32_t n = fabric->n_switches;
	bool fits = routing && routing->n_switches == n;
	g_autofree bool *unused = find_unused(fabric, room, fits ? routing->trunk : NULL);

	route_plan_init_for(&base->plan, route_graph_new_without(fabric, unused));
	base->graph = base->plan.graph;
	base->room = room;
	base->keeps = routing && (routing->order || routing->trunk);
	if (fits && routing->order)
		route_orient_by(&base->plan.order,
				g_memdup2(routing->order, n * sizeof(*routing->order)));
	base->hops = route_hops_all(&base->plan.order, NULL);
	for (size_t i = 0; base->hops && base->plan.order.up && i < (size_t)n * n; i++)
		if (base->hops[i] & ROUTE_UP)
			base->hops[i] = ROUTE_FAR;
	return base;
}

void route_multicast_base_free(struct route_multicast_base *base)
{
	if (!base)
		return;
	route_multicast_base_free(base->plain);
	route_plan_clear(&base->plan);
	g_free(base->hops);
	g_free(base);
}

bool *route_multicast_base_compare(const struct route_multicast_base *a,
				   const struct route_multicast_base *b)
{
	uint32_t n = a->graph->n;
	bool *differs = g_new0(bool, n + 1);

	for (uint32_t from = 0; from < n; from++)
		for (uint32_t sw = 0; sw < n; sw++)
			differs[sw] |=
				!a->hops || !b->hops ||
				a->hops[(size_t)from * n + sw] != b->hops[(size_t)from * n + sw];
	return differs;
}

/* Whether an edge of a switch leads to one that can be its parent. */
static bool leads_up(const struct route_order *order, const uint8_t *hops, uint32_t sw,
		     const struct route_edge *edge)
{
	return hops[edge->to] + 1 == hops[sw] &&
	       (!order->up || order->up[edge - order->graph->edges]);
}

/* Whether a switch of a tree is joined to its parent by a cable that a new tree could use so. */
static bool may_hang(const struct route_multicast_base *base, uint32_t root, uint32_t sw,
		     uint8_t up)
{
	const struct route_graph *graph = base->graph;
	const uint8_t *hops = base->hops + (size_t)root * graph->n;

	route_each_edge (graph, sw, edge)
		if (up && memchr(graph->links + edge->first_link, up, edge->n_links))
			return leads_up(&base->plan.order, hops, sw, edge);
	return sw == root;
}

bool route_tree_stays(const struct route_tree *tree, const struct route_multicast_base *before,
		      const struct fabric *from, const struct route_multicast_base *base,
		      const struct fabric *fabric)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t sw = tree->switches[i], port = fabric_switch_port(fabric, sw, tree->up[i]);
		size_t place = (size_t)tree->root * base->graph->n + sw;

		/* Only an order that it does not follow can put it far from its root. */
		if (base->hops[place] == ROUTE_FAR || before->hops[place] != base->hops[place] ||
		    !may_hang(base, tree->root, sw, tree->up[i]) ||
		    from->ports[port].peer != fabric->ports[port].peer)
			return false;
	}
	return true;
}

/* ---- a tree ---- */

/* Whether a switch has room for the group. */
static bool has_room(const struct grow *grow, uint32_t sw)
{
	return fabric_mlids(grow->fabric, sw) >= grow->group->room;
}

/* Counts members by switch; a member named twice counts once, one that only sends gets no exit. */
static void place_members(struct grow *grow)
{
	const struct route_group *group = grow->group;

	for (uint32_t i = 0; i < group->n_members; i++) {
		uint8_t exit;
		uint32_t sw = fabric_leaf(grow->fabric, group->members[i], &exit);
		struct spot *spot;

		if (sw == FABRIC_NONE || !has_room(grow, sw))
			continue;
		spot = &grow->spots[sw];
		if (group->only_sends && group->only_sends[i]) {
			spot->members += !spot->members;
		} else if (!bits_has(spot->ports.bits, exit)) {
			spot->members++;
			bits_put(spot->ports.bits, exit, true);
		}
	}
}

#define LOST (UINT64_C(1) << 32) /* costs more than all hops together */

/* Costs from each switch to all members. */
static void add_costs(const struct grow *grow, const uint8_t *hops, uint64_t *costs)
{
	uint32_t n = grow->graph->n, n_places = 0;
	g_autofree uint32_t *places = g_new(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		if (grow->spots[sw].members)
			places[n_places++] = sw;
	for (uint32_t sw = 0; sw < n; sw++, hops += n)
		for (uint32_t i = 0; i < n_places; i++) {
			uint64_t cost = hops[places[i]] == ROUTE_FAR ? LOST : hops[places[i]];

			costs[sw] += cost * grow->spots[places[i]].members;
		}
}

/* Of the switches about as near to the members as the best: the root of the fewest trees. */
static uint32_t least_loaded(const struct grow *grow, const uint64_t *costs)
{
	const uint32_t *load = grow->group->load;
	uint64_t best = costs[grow->root], limit = best + (best % LOST) / 8;
	uint32_t root = grow->root;

	for (uint32_t sw = 0; sw < grow->graph->n; sw++)
		if (costs[sw] <= limit &&
		    (load[sw] < load[root] || (load[sw] == load[root] && costs[sw] < costs[root])))
			root = sw;
	return root;
}

/*
 * Most members in reach, then fewest hops to them, then the lowest index; but the root of the
 * previous tree, if it reaches as many, and is not much farther.
 */
static bool choose_root(struct grow *grow, const uint8_t *hops)
{
	uint32_t n = grow->graph->n, n_members = 0, before = grow->root_before;
	g_autofree uint64_t *costs = g_new0(uint64_t, n + 1);
	uint64_t best;

	if (!hops)
		return false;
	add_costs(grow, hops, costs);
	for (uint32_t sw = 0; sw < n; sw++)
		n_members += grow->spots[sw].members;
	for (uint32_t sw = 0; sw < n; sw++)
		if (costs[sw] < costs[grow->root])
			grow->root = sw;
	best = costs[grow->root];
	if (before != FABRIC_NONE && costs[before] <= best + (best % LOST) / 2)
		grow->root = before;
	else if (grow->group->load)
		grow->root = least_loaded(grow, costs);
	return costs[grow->root] / LOST < n_members;
}

/* Whether a cable of an edge led to the parent in the previous tree. */
static bool has_before(const struct grow *grow, const struct route_edge *edge, uint32_t sw)
{
	uint8_t before = grow->spots[sw].up_before;

	return before && before != NOT_IN_TREE &&
	       memchr(grow->graph->links + edge->first_link, before, edge->n_links);
}

/*
 * The higher, the better: the previous parent, one in the tree, one that was in it, any; 0 is none.
 */
static unsigned int parent_merit(const struct grow *grow, const struct route_edge *edge,
				 uint32_t sw)
{
	if (!leads_up(grow->order, grow->hops, sw, edge))
		return 0;
	if (has_before(grow, edge, sw))
		return 4;
	if (grow->spots[edge->to].in_tree)
		return 3;
	return grow->spots[edge->to].up_before != NOT_IN_TREE ? 2 : 1;
}

static void join_parent(struct grow *grow, uint32_t sw)
{
	const struct route_edge *best = &grow->graph->edges[grow->graph->first_edge[sw]];
	struct spot *spot = &grow->spots[sw];
	uint32_t peer;

	route_each_edge (grow->graph, sw, edge)
		if (parent_merit(grow, edge, sw) > parent_merit(grow, best, sw))
			best = edge;
	spot->up =
		has_before(grow, best, sw) ? spot->up_before : grow->graph->links[best->first_link];
	peer = grow->fabric->ports[fabric_switch_port(grow->fabric, sw, spot->up)].peer;
	bits_put(spot->ports.bits, spot->up, true);
	bits_put(grow->spots[best->to].ports.bits, grow->fabric->ports[peer].num, true);
	grow->spots[best->to].in_tree = true;
}

/* From the farthest switches inwards: at its turn, it is known whether a switch is needed. */
static void grow_tree(struct grow *grow)
{
	uint32_t n = grow->graph->n;
	unsigned int most = 0;

	for (uint32_t sw = 0; sw < n; sw++) {
		grow->spots[sw].in_tree = grow->spots[sw].members && grow->hops[sw] != ROUTE_FAR;
		if (grow->spots[sw].in_tree)
			most = MAX(most, grow->hops[sw]);
	}
	for (unsigned int hops = most; hops > 0; hops--)
		for (uint32_t sw = 0; sw < n; sw++)
			if (grow->spots[sw].in_tree && grow->hops[sw] == hops)
				join_parent(grow, sw);
}

static void list_tree(const struct grow *grow, struct route_tree *tree)
{
	uint32_t n = grow->graph->n, i = 0;

	for (uint32_t sw = 0; sw < n; sw++)
		tree->n += grow->spots[sw].in_tree;
	tree->root = grow->root;
	tree->switches = g_new(uint32_t, tree->n);
	tree->ports = g_new(struct route_port_set, tree->n);
	tree->up = g_malloc(tree->n + 1);
	for (uint32_t sw = 0; sw < n; sw++) {
		const struct spot *spot = &grow->spots[sw];

		if (!spot->in_tree)
			continue;
		tree->switches[i] = sw;
		tree->up[i] = spot->up;
		tree->ports[i++] = spot->ports;
	}
}

/* moved: see route_multicast_on(). */
static void take_over(struct grow *grow, const struct route_tree *before, const uint32_t *moved)
{
	for (uint32_t sw = 0; sw < grow->graph->n; sw++)
		grow->spots[sw].up_before = NOT_IN_TREE;
	for (uint32_t i = 0; before && i < before->n; i++) {
		uint32_t sw = moved ? moved[before->switches[i]] : before->switches[i];

		if (sw == FABRIC_NONE)
			continue;
		grow->spots[sw].up_before = before->up[i];
		if (before->switches[i] == before->root)
			grow->root_before = sw;
	}
}

/* Members on switches that could have them, or without a switch. */
static uint32_t count_left_out(const struct grow *grow)
{
	uint32_t n = 0;
	uint8_t exit;

	for (uint32_t i = 0; i < grow->group->n_members; i++) {
		uint32_t sw = fabric_leaf(grow->fabric, grow->group->members[i], &exit);

		n += sw == FABRIC_NONE || (has_room(grow, sw) && !grow->spots[sw].in_tree);
	}
	return n;
}

static struct route_tree *grow_on(const struct route_multicast_base *base,
				  const struct fabric *fabric, const struct route_group *group,
				  const struct route_tree *before, const uint32_t *moved,
				  uint32_t *excluded)
{
	struct route_tree *tree = g_new0(struct route_tree, 1);
	g_autofree struct spot *spots = g_new0(struct spot, base->graph->n + 1);
	struct grow grow = {.graph = base->graph,
			    .order = &base->plan.order,
			    .fabric = fabric,
			    .group = group,
			    .spots = spots,
			    .root_before = FABRIC_NONE};

	ref_init(&tree->ref);
	take_over(&grow, before, moved);
	place_members(&grow);
	if (choose_root(&grow, base->hops)) {
		grow.hops = base->hops + (size_t)grow.root * grow.graph->n;
		grow_tree(&grow);
		list_tree(&grow, tree);
	}
	*excluded = count_left_out(&grow);
	return tree;
}

/* A base without an order or a trunk. */
static struct route_multicast_base *plain_of(struct route_multicast_base *base,
					     const struct fabric *fabric)
{
	if (!base->keeps)
		return base;
	if (!base->plain)
		base->plain = route_multicast_base_new(fabric, NULL, base->room);
	return base->plain;
}

/* Follows the order if it reaches all members; where all switches can be written. */
static struct route_tree *grow_best(struct route_multicast_base *base, const struct fabric *fabric,
				    const struct route_group *group,
				    const struct route_tree *before, const uint32_t *moved,
				    uint32_t *excluded)
{
	struct route_tree *tree = grow_on(base, fabric, group, before, moved, excluded), *other;
	uint32_t without;

	if (!base->keeps || !*excluded)
		return tree;
	other = grow_on(plain_of(base, fabric), fabric, group, before, moved, &without);
	if (without >= *excluded) {
		route_tree_unref(other);
		return tree;
	}
	route_tree_unref(tree);
	*excluded = without;
	return other;
}

struct route_tree *route_multicast_on(struct route_multicast_base *base,
				      const struct fabric *fabric, const struct route_group *group,
				      const struct route_tree *before, const uint32_t *moved,
				      uint32_t *excluded)
{
	struct route_tree *tree = grow_best(base, fabric, group, before, moved, excluded);

	if (!group->held || !route_tree_meets_held(tree, fabric, group))
		return tree;
	route_tree_unref(tree);
	return route_multicast_held(plain_of(base, fabric)->graph, fabric, group, before, moved,
				    excluded);
}

struct route_tree *route_tree_ref(struct route_tree *tree)
{
	ref_get(&tree->ref);
	return tree;
}

void route_tree_unref(struct route_tree *tree)
{
	if (!tree || !ref_put(&tree->ref))
		return;
	g_free(tree->switches);
	g_free(tree->ports);
	g_free(tree->up);
	g_free(tree);
}
