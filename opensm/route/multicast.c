// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast trees. The root is the switch with the fewest hops to all members together (the lowest
 * index of equals), or that of the tree before unless another is much better; the tree consists of
 * shortest paths from there, cut to what the members need. A switch that can choose its parent
 * takes the one that it had in the tree before, else one that is in the tree already, else the one
 * behind its lowest port: who joins or leaves moves nobody else. Of members in several unconnected
 * parts the largest lot is served.
 *
 * By the order of a routing the root is above all members, and each parent above its switch.
 */
#include <string.h>

#include "route/bits.h"
#include "route/engine.h"
#include "route/graph.h"
#include "route/orient.h"

#define NOT_IN_TREE 0xFF /* as the port to a parent; 0: it is the root */

struct route_ground {
	struct route_graph *graph; /* without cables to switches that have no room */
	uint32_t room;
	uint8_t *hops; /* [switch * n + switch]: from one to the other, by an order down alone */
	uint8_t *up;   /* the same from the other to the one; without an order it is hops */
	bool keeps;    /* to an order or a trunk */
	struct route_ground *plain; /* that does not, once somebody needed it */
};

struct grow {
	const struct route_graph *graph;
	const struct fabric *fabric;
	uint32_t *members; /* [switch]: members there */
	uint32_t *dests;   /* switches with members, ascending */
	uint32_t n_dests;
	uint32_t root;
	const uint8_t *hops;	      /* [switch]: from the root */
	struct route_port_set *ports; /* [switch] */
	bool *in_tree;
	uint8_t *up;	      /* [switch]: port to the parent */
	uint8_t *up_before;   /* in the tree before */
	uint32_t root_before; /* FABRIC_NONE: there is none */
};

/* ---- the ground ---- */

/* The port of the trunk among those of an edge, or 0. */
static uint8_t trunk_of(const struct route_graph *graph, const struct fabric *fabric,
			const uint8_t *trunk, uint32_t sw, const struct route_edge *edge)
{
	for (unsigned int k = 0; k < edge->n_links; k++) {
		uint8_t num = graph->links[edge->first_link + k];
		uint32_t peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;

		if (trunk[sw] == num || trunk[edge->to] == fabric->ports[peer].num)
			return num;
	}
	return 0;
}

/* Takes cables out of the graph that begin or end at switches without room, or miss the trunk. */
static void leave_out(struct route_graph *graph, const struct fabric *fabric, uint32_t room,
		      const uint8_t *trunk)
{
	uint32_t n = 0, begin = 0;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t end = graph->first_edge[sw + 1];

		for (uint32_t e = begin; e < end; e++) {
			struct route_edge edge = graph->edges[e];
			uint8_t num = trunk ? trunk_of(graph, fabric, trunk, sw, &edge) : 0;

			if (fabric_mlids(fabric, sw) < room ||
			    fabric_mlids(fabric, edge.to) < room || (trunk && !num))
				continue;
			if (trunk) {
				graph->links[edge.first_link] = num;
				edge.n_links = 1;
			}
			graph->edges[n++] = edge;
		}
		begin = end;
		graph->first_edge[sw + 1] = n;
	}
}

/* Row of hops from a root downwards. */
static void find_down(const struct route_graph *graph, uint32_t root, uint32_t *queue, uint8_t *row)
{
	uint32_t n = 0;

	memset(row, ROUTE_FAR, graph->n);
	row[root] = 0;
	queue[n++] = root;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t hops = row[queue[i]];

		route_each_edge(graph, queue[i], edge) {
			if (graph->up[edge - graph->edges] || row[edge->to] != ROUTE_FAR ||
			    hops == ROUTE_FAR - 1)
				continue;
			row[edge->to] = hops + 1;
			queue[n++] = edge->to;
		}
	}
}

static void find_ordered_hops(struct route_ground *ground)
{
	uint32_t n = ground->graph->n;
	g_autofree uint32_t *queue = g_new(uint32_t, n + 1);

	ground->hops = g_malloc((size_t)n * n + 1);
	ground->up = g_malloc((size_t)n * n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		find_down(ground->graph, sw, queue, ground->hops + (size_t)sw * n);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			ground->up[(size_t)a * n + b] = ground->hops[(size_t)b * n + a];
}

struct route_ground *route_ground_new(const struct fabric *fabric, const struct routing *routing,
				      uint32_t room)
{
	struct route_ground *ground = g_new0(struct route_ground, 1);
	struct route_graph *graph = route_graph_new(fabric);
	bool fits = routing && routing->n_switches == graph->n;

	ground->graph = graph;
	ground->room = room;
	leave_out(graph, fabric, room, fits ? routing->trunk : NULL);
	ground->keeps = routing && (routing->order || routing->trunk);
	if (!fits || !routing->order) {
		ground->hops = ground->up = route_hops_all(graph, NULL);
		return ground;
	}
	route_orient_by(graph, g_memdup2(routing->order, graph->n * sizeof(*routing->order)));
	find_ordered_hops(ground);
	return ground;
}

void route_ground_free(struct route_ground *ground)
{
	if (!ground)
		return;
	route_ground_free(ground->plain);
	route_graph_free(ground->graph);
	if (ground->up != ground->hops)
		g_free(ground->up);
	g_free(ground->hops);
	g_free(ground);
}

bool *route_ground_compare(const struct route_ground *a, const struct route_ground *b)
{
	uint32_t n = a->graph->n;
	bool *differs = g_new0(bool, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		differs[sw] = !a->up || !b->up ||
			      memcmp(a->up + (size_t)sw * n, b->up + (size_t)sw * n, n);
	return differs;
}

/* Whether an edge of a switch leads to one that may be its parent. */
static bool leads_up(const struct route_graph *graph, const uint8_t *hops, uint32_t sw,
		     const struct route_edge *edge)
{
	return hops[edge->to] + 1 == hops[sw] && (!graph->up || graph->up[edge - graph->edges]);
}

/* Far from its root it is only by an order that it does not keep to. */
static bool same_way(const struct route_tree *tree, uint32_t i, const struct route_ground *a,
		     const struct route_ground *b)
{
	size_t place = (size_t)tree->root * a->graph->n + tree->switches[i];

	return a->hops[place] == b->hops[place] && a->hops[place] != ROUTE_FAR;
}

/* Whether a switch of a tree hangs on its parent by a cable by which it could be grown so. */
static bool may_hang(const struct route_ground *ground, uint32_t root, uint32_t sw, uint8_t up)
{
	const struct route_graph *graph = ground->graph;
	const uint8_t *hops = ground->hops + (size_t)root * graph->n;

	route_each_edge(graph, sw, edge)
		if (up && memchr(graph->links + edge->first_link, up, edge->n_links))
			return leads_up(graph, hops, sw, edge);
	return sw == root;
}

bool route_tree_stays(const struct route_tree *tree, const struct route_ground *before,
		      const struct fabric *from, const struct route_ground *ground,
		      const struct fabric *fabric)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t port = fabric_switch_port(fabric, tree->switches[i], tree->up[i]);

		if (!same_way(tree, i, before, ground) ||
		    !may_hang(ground, tree->root, tree->switches[i], tree->up[i]) ||
		    from->ports[port].peer != fabric->ports[port].peer)
			return false;
	}
	return true;
}

/* ---- a tree ---- */

/* Counts members by switch; a member named twice counts once, who only sends gets no exit. */
static void place_members(struct grow *grow, const struct route_group *group)
{
	for (uint32_t i = 0; i < group->n_members; i++) {
		uint8_t exit;
		uint32_t sw = fabric_leaf(grow->fabric, group->members[i], &exit);

		if (sw == FABRIC_NONE || fabric_mlids(grow->fabric, sw) < group->room)
			continue;
		if (group->only_sends && group->only_sends[i]) {
			grow->members[sw] += !grow->members[sw];
		} else if (!bits_has(grow->ports[sw].bits, exit)) {
			grow->members[sw]++;
			bits_put(grow->ports[sw].bits, exit, true);
		}
	}
	for (uint32_t sw = 0; sw < grow->graph->n; sw++)
		if (grow->members[sw])
			grow->dests[grow->n_dests++] = sw;
}

#define LOST (UINT64_C(1) << 32) /* costs more than all hops together */

static void add_row(const uint8_t *row, uint32_t n, uint64_t weight, uint64_t *costs)
{
	for (uint32_t sw = 0; sw < n; sw++)
		costs[sw] += weight * (row[sw] == ROUTE_FAR ? LOST : row[sw]);
}

/* Whether the root of before is good enough: it loses no more, and is not much farther. */
static bool keeps_root(const struct grow *grow, const uint64_t *costs)
{
	uint64_t best = costs[grow->root];

	return grow->root_before != FABRIC_NONE &&
	       costs[grow->root_before] <= best + (best % LOST) / 2;
}

/* Of those about as near the members as the best, the one that is the root of the fewest trees. */
static uint32_t least_loaded(const struct grow *grow, const uint64_t *costs, const uint32_t *load)
{
	uint64_t best = costs[grow->root], limit = best + (best % LOST) / 8;
	uint32_t root = grow->root;

	for (uint32_t sw = 0; sw < grow->graph->n; sw++)
		if (costs[sw] <= limit &&
		    (load[sw] < load[root] || (load[sw] == load[root] && costs[sw] < costs[root])))
			root = sw;
	return root;
}

/* Most members in reach, then fewest hops to them, then the lowest index. */
static bool choose_root(struct grow *grow, const uint8_t *up, const uint32_t *load)
{
	uint32_t n = grow->graph->n, n_members = 0;
	g_autofree uint64_t *costs = g_new0(uint64_t, n + 1);

	for (uint32_t i = 0; up && i < grow->n_dests; i++) {
		uint32_t weight = grow->members[grow->dests[i]];

		add_row(up + (size_t)grow->dests[i] * n, n, weight, costs);
		n_members += weight;
	}
	for (uint32_t sw = 0; sw < n; sw++)
		if (costs[sw] < costs[grow->root])
			grow->root = sw;
	if (keeps_root(grow, costs))
		grow->root = grow->root_before;
	else if (load)
		grow->root = least_loaded(grow, costs, load);
	return costs[grow->root] / LOST < n_members;
}

/* Whether a cable of an edge led to the parent in the tree before. */
static bool has_before(const struct grow *grow, const struct route_edge *edge, uint32_t sw)
{
	uint8_t before = grow->up_before[sw];

	return before && before != NOT_IN_TREE &&
	       memchr(grow->graph->links + edge->first_link, before, edge->n_links);
}

/* The better, the higher: the parent before, one in the tree, one that was in it, any. */
static unsigned int parent_merit(const struct grow *grow, const struct route_edge *edge,
				 uint32_t sw)
{
	if (has_before(grow, edge, sw))
		return 4;
	if (grow->in_tree[edge->to])
		return 3;
	return grow->up_before[edge->to] != NOT_IN_TREE ? 2 : 1;
}

static const struct route_edge *choose_parent(const struct grow *grow, uint32_t sw)
{
	const struct route_edge *best = NULL;
	unsigned int most = 0;

	route_each_edge(grow->graph, sw, edge) {
		unsigned int merit = 0;

		if (leads_up(grow->graph, grow->hops, sw, edge))
			merit = parent_merit(grow, edge, sw);
		if (merit > most) {
			most = merit;
			best = edge;
		}
	}
	return best;
}

static void join_parent(struct grow *grow, uint32_t sw)
{
	const struct route_edge *edge = choose_parent(grow, sw);
	uint8_t port = has_before(grow, edge, sw) ? grow->up_before[sw]
						  : grow->graph->links[edge->first_link];
	uint32_t peer = grow->fabric->ports[fabric_switch_port(grow->fabric, sw, port)].peer;

	grow->up[sw] = port;
	bits_put(grow->ports[sw].bits, port, true);
	bits_put(grow->ports[edge->to].bits, grow->fabric->ports[peer].num, true);
	grow->in_tree[edge->to] = true;
}

/* From the farthest switches inwards: when a switch's turn comes, it is known whether it is in. */
static uint32_t grow_tree(struct grow *grow)
{
	uint32_t n = grow->graph->n, n_tree = 0;
	unsigned int most = 0;

	for (uint32_t sw = 0; sw < n; sw++) {
		grow->in_tree[sw] = grow->members[sw] && grow->hops[sw] != ROUTE_FAR;
		if (grow->in_tree[sw])
			most = MAX(most, grow->hops[sw]);
	}
	for (unsigned int hops = most; hops > 0; hops--)
		for (uint32_t sw = 0; sw < n; sw++)
			if (grow->in_tree[sw] && grow->hops[sw] == hops)
				join_parent(grow, sw);
	for (uint32_t sw = 0; sw < n; sw++)
		n_tree += grow->in_tree[sw];
	return n_tree;
}

static void list_tree(const struct grow *grow, struct route_tree *tree, uint32_t n_tree)
{
	tree->root = grow->root;
	tree->switches = g_new(uint32_t, n_tree);
	tree->ports = g_new(struct route_port_set, n_tree);
	tree->up = g_malloc(n_tree + 1);
	for (uint32_t sw = 0; sw < grow->graph->n; sw++) {
		if (!grow->in_tree[sw])
			continue;
		tree->switches[tree->n] = sw;
		tree->up[tree->n] = grow->up[sw];
		tree->ports[tree->n++] = grow->ports[sw];
	}
}

/* moved: see route_multicast_on(). */
static void take_over(struct grow *grow, const struct route_tree *before, const uint32_t *moved)
{
	grow->root_before = FABRIC_NONE;
	memset(grow->up_before, NOT_IN_TREE, grow->graph->n + 1);
	for (uint32_t i = 0; before && i < before->n; i++) {
		uint32_t sw = moved ? moved[before->switches[i]] : before->switches[i];

		if (sw == FABRIC_NONE)
			continue;
		grow->up_before[sw] = before->up[i];
		if (before->switches[i] == before->root)
			grow->root_before = sw;
	}
}

/* Members on switches that could have them. */
static uint32_t count_left_out(const struct grow *grow, const struct route_group *group)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < group->n_members; i++) {
		uint8_t exit;
		uint32_t sw = fabric_leaf(grow->fabric, group->members[i], &exit);

		n += sw == FABRIC_NONE ||
		     (!grow->in_tree[sw] && fabric_mlids(grow->fabric, sw) >= group->room);
	}
	return n;
}

static void grow_init(struct grow *grow, const struct route_ground *ground,
		      const struct fabric *fabric)
{
	uint32_t n = ground->graph->n;

	*grow = (struct grow){.graph = ground->graph, .fabric = fabric};
	grow->members = g_new0(uint32_t, n + 1);
	grow->dests = g_new(uint32_t, n + 1);
	grow->ports = g_new0(struct route_port_set, n + 1);
	grow->in_tree = g_new0(bool, n + 1);
	grow->up = g_malloc0(n + 1);
	grow->up_before = g_malloc(n + 1);
}

static void grow_clear(struct grow *grow)
{
	g_free(grow->members);
	g_free(grow->dests);
	g_free(grow->ports);
	g_free(grow->in_tree);
	g_free(grow->up);
	g_free(grow->up_before);
}

static struct route_tree *grow_on(const struct route_ground *ground, const struct fabric *fabric,
				  const struct route_group *group, const struct route_tree *before,
				  const uint32_t *moved, uint32_t *left_out)
{
	struct route_tree *tree = g_new0(struct route_tree, 1);
	struct grow grow;

	ref_init(&tree->ref);
	grow_init(&grow, ground, fabric);
	take_over(&grow, before, moved);
	place_members(&grow, group);
	if (choose_root(&grow, ground->up, group->load)) {
		grow.hops = ground->hops + (size_t)grow.root * grow.graph->n;
		list_tree(&grow, tree, grow_tree(&grow));
	}
	*left_out = count_left_out(&grow, group);
	grow_clear(&grow);
	return tree;
}

struct route_tree *route_multicast_on(struct route_ground *ground, const struct fabric *fabric,
				      const struct route_group *group,
				      const struct route_tree *before, const uint32_t *moved,
				      uint32_t *left_out)
{
	struct route_tree *tree = grow_on(ground, fabric, group, before, moved, left_out), *other;
	uint32_t without;

	if (!ground->keeps || !*left_out)
		return tree;
	if (!ground->plain)
		ground->plain = route_ground_new(fabric, NULL, ground->room);
	other = grow_on(ground->plain, fabric, group, before, moved, &without);
	if (without >= *left_out) {
		route_tree_unref(other);
		return tree;
	}
	route_tree_unref(tree);
	*left_out = without;
	return other;
}

struct route_tree *route_multicast(const struct fabric *fabric, const struct route_group *group,
				   uint32_t *left_out)
{
	struct route_ground *ground = route_ground_new(fabric, NULL, group->room);
	struct route_tree *tree = route_multicast_on(ground, fabric, group, NULL, NULL, left_out);

	route_ground_free(ground);
	return tree;
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
