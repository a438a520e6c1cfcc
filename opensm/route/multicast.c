// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast trees. The root is the switch with the fewest hops to all members together (the lowest
 * index of equals); the tree consists of shortest paths from there, cut to what the members need.
 * A switch that can choose its parent takes one that is in the tree already, else the one behind
 * its lowest port. Of members in several unconnected parts the largest lot is served.
 */
#include <string.h>

#include "route/engine.h"
#include "route/graph.h"
#include "route/orient.h"

struct grow {
	const struct route_graph *graph;
	const struct fabric *fabric;
	uint32_t *members; /* [switch]: members there */
	uint32_t *dests;   /* switches with members, ascending */
	uint32_t n_dests;
	uint32_t root;
	uint32_t served; /* members that the root can reach */
	uint32_t *hops;	 /* [switch]: from the root, or ROUTE_NO_RANK */
	struct route_port_set *ports; /* [switch] */
	bool *in_tree;
};

static void port_set_add(struct route_port_set *set, uint8_t port)
{
	set->bits[port / 64] |= UINT64_C(1) << port % 64;
}

static bool port_set_has(const struct route_port_set *set, uint8_t port)
{
	return set->bits[port / 64] >> port % 64 & 1;
}

/* Counts members by switch; a member named twice counts once. */
static void place_members(struct grow *grow, const uint32_t *members, uint32_t n_members)
{
	for (uint32_t i = 0; i < n_members; i++) {
		uint8_t exit;
		uint32_t sw = fabric_leaf(grow->fabric, members[i], &exit);

		if (sw == FABRIC_NONE || port_set_has(&grow->ports[sw], exit))
			continue;
		grow->members[sw]++;
		port_set_add(&grow->ports[sw], exit);
	}
	for (uint32_t sw = 0; sw < grow->graph->n; sw++)
		if (grow->members[sw])
			grow->dests[grow->n_dests++] = sw;
}

/* Most members in reach, then fewest hops to them, then the lowest index. */
static bool choose_root(struct grow *grow)
{
	uint32_t n = grow->graph->n;
	uint8_t *hops = g_malloc((size_t)n * grow->n_dests + 1);
	uint64_t best_sum = UINT64_MAX;
	bool ok = route_hops(grow->graph, grow->dests, grow->n_dests, hops, NULL);

	for (uint32_t sw = 0; ok && sw < n; sw++) {
		const uint8_t *row = hops + (size_t)sw * grow->n_dests;
		uint32_t served = 0;
		uint64_t sum = 0;

		for (uint32_t i = 0; i < grow->n_dests; i++) {
			if (row[i] == ROUTE_FAR || (grow->graph->up && row[i] >= ROUTE_UP))
				continue;
			served += grow->members[grow->dests[i]];
			sum += (uint64_t)row[i] * grow->members[grow->dests[i]];
		}
		if (served < grow->served || (served == grow->served && sum >= best_sum))
			continue;
		grow->served = served;
		grow->root = sw;
		best_sum = sum;
	}
	g_free(hops);
	return grow->served > 0;
}

/* Hops from the root, in an oriented graph down alone. */
static void find_hops(struct grow *grow)
{
	const struct route_graph *graph = grow->graph;
	g_autofree uint32_t *queue = g_new(uint32_t, graph->n + 1);
	uint32_t n = 0;

	memset(grow->hops, 0xFF, graph->n * sizeof(*grow->hops));
	grow->hops[grow->root] = 0;
	queue[n++] = grow->root;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = queue[i];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (grow->hops[to] != ROUTE_NO_RANK || (graph->up && graph->up[e]))
				continue;
			grow->hops[to] = grow->hops[sw] + 1;
			queue[n++] = to;
		}
	}
}

/* The edge to the parent: in the tree already if there is such a one, else the first. */
static const struct route_edge *choose_parent(const struct grow *grow, uint32_t sw)
{
	const struct route_graph *graph = grow->graph;
	const struct route_edge *best = NULL;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		const struct route_edge *edge = &graph->edges[e];

		if (grow->hops[edge->to] + 1 != grow->hops[sw] || (graph->up && !graph->up[e]))
			continue;
		if (grow->in_tree[edge->to])
			return edge;
		if (!best)
			best = edge;
	}
	return best;
}

static void join_parent(struct grow *grow, uint32_t sw)
{
	const struct route_edge *edge = choose_parent(grow, sw);
	uint8_t port = grow->graph->links[edge->first_link];
	uint32_t peer = grow->fabric->ports[fabric_switch_port(grow->fabric, sw, port)].peer;

	port_set_add(&grow->ports[sw], port);
	port_set_add(&grow->ports[edge->to], grow->fabric->ports[peer].num);
	grow->in_tree[edge->to] = true;
}

/* From the farthest switches inwards: when a switch's turn comes, it is known whether it is in. */
static uint32_t grow_tree(struct grow *grow)
{
	uint32_t n = grow->graph->n, n_tree = 0;
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < n; sw++) {
		grow->in_tree[sw] = grow->members[sw] && grow->hops[sw] != ROUTE_NO_RANK;
		if (grow->in_tree[sw])
			most = MAX(most, grow->hops[sw]);
	}
	for (uint32_t hops = most; hops > 0; hops--)
		for (uint32_t sw = 0; sw < n; sw++)
			if (grow->in_tree[sw] && grow->hops[sw] == hops)
				join_parent(grow, sw);
	for (uint32_t sw = 0; sw < n; sw++)
		n_tree += grow->in_tree[sw];
	return n_tree;
}

static void list_tree(const struct grow *grow, struct route_tree *tree, uint32_t n_tree)
{
	tree->switches = g_new(uint32_t, n_tree);
	tree->ports = g_new(struct route_port_set, n_tree);
	for (uint32_t sw = 0; sw < grow->graph->n; sw++) {
		if (!grow->in_tree[sw])
			continue;
		tree->switches[tree->n] = sw;
		tree->ports[tree->n++] = grow->ports[sw];
	}
}

static struct route_tree *grow_on(const struct route_graph *graph, const struct fabric *fabric,
				  const uint32_t *members, uint32_t n_members, uint32_t *left_out)
{
	struct grow grow = { .graph = graph, .fabric = fabric };
	struct route_tree *tree = g_new0(struct route_tree, 1);
	uint32_t n = graph->n;

	grow.members = g_new0(uint32_t, n + 1);
	grow.dests = g_new(uint32_t, n + 1);
	grow.hops = g_new(uint32_t, n + 1);
	grow.ports = g_new0(struct route_port_set, n + 1);
	grow.in_tree = g_new0(bool, n + 1);
	place_members(&grow, members, n_members);
	if (choose_root(&grow)) {
		find_hops(&grow);
		list_tree(&grow, tree, grow_tree(&grow));
	}
	*left_out = 0;
	for (uint32_t i = 0; i < n_members; i++) {
		uint8_t exit;
		uint32_t sw = fabric_leaf(fabric, members[i], &exit);

		*left_out += sw == FABRIC_NONE || !grow.in_tree[sw];
	}
	g_free(grow.members);
	g_free(grow.dests);
	g_free(grow.hops);
	g_free(grow.ports);
	g_free(grow.in_tree);
	return tree;
}

struct route_tree *route_multicast_on(const struct route_graph *graph, const struct fabric *fabric,
				      const uint32_t *members, uint32_t n_members,
				      uint32_t *left_out)
{
	struct route_tree *tree = grow_on(graph, fabric, members, n_members, left_out), *other;
	struct route_graph plain = *graph;
	uint32_t fewest = *left_out;

	if (!graph->up || !*left_out)
		return tree;
	plain.up = NULL;
	plain.joined = NULL;
	other = grow_on(&plain, fabric, members, n_members, left_out);
	if (*left_out < fewest) {
		route_tree_free(tree);
		return other;
	}
	route_tree_free(other);
	*left_out = fewest;
	return tree;
}

struct route_tree *route_multicast(const struct fabric *fabric, const uint32_t *members,
				   uint32_t n_members, uint32_t *left_out)
{
	struct route_graph *graph = route_graph_new(fabric);
	struct route_tree *tree = route_multicast_on(graph, fabric, members, n_members, left_out);

	route_graph_free(graph);
	return tree;
}

struct route_graph *route_trees_graph(const struct fabric *fabric, const struct routing *routing)
{
	struct route_graph *graph = route_graph_new(fabric);

	if (routing && routing->order && routing->n_switches == graph->n)
		route_orient_by(graph,
				g_memdup2(routing->order, graph->n * sizeof(*routing->order)));
	return graph;
}

void route_tree_free(struct route_tree *tree)
{
	if (!tree)
		return;
	g_free(tree->switches);
	g_free(tree->ports);
	g_free(tree);
}
