// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verifier of multicast trees. It uses only cables and port sets: it floods from one switch of
 * the tree as a packet would spread, and counts what the flood reaches.
 */
#include <stdarg.h>
#include <string.h>

#include "route/engine.h"
#include "route/graph/bits.h"
#include "route/graph/graph.h"
#include "route/order/orient.h"

struct flood {
	const struct fabric *fabric;
	const struct route_tree *tree;
	const struct route_group *group;
	uint32_t *place;     /* [switch]: index in the tree, or FABRIC_NONE */
	bool *member;	     /* [port]: it gets packets */
	bool *met;	     /* [place] */
	uint32_t *queue;     /* switches of the tree */
	uint32_t n_met, n_crossings;
	char *witness;
};

static bool G_GNUC_PRINTF(4, 5)
	fail(struct flood *flood, uint32_t sw, uint8_t num, const char *format, ...)
{
	const struct fabric *fabric = flood->fabric;
	uint32_t node = fabric->switches[sw].node;
	g_autofree char *what = NULL;
	char buffer[128];
	const char *name;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	num = num > fabric->nodes[node].num_ports ? 0 : num;
	name = fabric_port_name(fabric, fabric_port_of(fabric, node, num), buffer, sizeof(buffer));
	flood->witness = g_strdup_printf("%s: %s", name, what);
	return false;
}

/* The far end of one port of a switch in the tree. */
static bool flood_port(struct flood *flood, uint32_t sw, unsigned int num)
{
	const struct fabric *fabric = flood->fabric;
	uint32_t port, peer, to;

	if (num > fabric->nodes[fabric->switches[sw].node].num_ports)
		return fail(flood, sw, num, "the switch has no port %u", num);
	port = fabric_switch_port(fabric, sw, num);
	peer = num ? fabric->ports[port].peer : port;
	if (peer == FABRIC_NONE)
		return fail(flood, sw, num, "no cable");
	to = fabric->nodes[fabric->ports[peer].node].sw;
	if (to == FABRIC_NONE || num == 0)
		return flood->member[peer] || fail(flood, sw, num, "leads to no member");
	if (flood->place[to] == FABRIC_NONE ||
	    !bits_has(flood->tree->ports[flood->place[to]].bits, fabric->ports[peer].num))
		return fail(flood, sw, num, "the other end is not in the tree");
	flood->n_crossings++;
	if (flood->met[flood->place[to]])
		return true;
	flood->met[flood->place[to]] = true;
	flood->queue[flood->n_met++] = to;
	return true;
}

/* Connected, with as few links as possible: then it is a tree. */
static bool flood_tree(struct flood *flood)
{
	const struct route_tree *tree = flood->tree;

	if (!tree->n)
		return true;
	flood->met[0] = true;
	flood->queue[flood->n_met++] = tree->switches[0];
	for (uint32_t i = 0; i < flood->n_met; i++) {
		uint32_t sw = flood->queue[i];

		bits_each(tree->ports[flood->place[sw]].bits, 0, 256, num)
			if (!flood_port(flood, sw, num))
				return false;
	}
	if (flood->n_met != tree->n)
		return fail(flood, tree->switches[0], 0, "reaches %u of the %u switches",
			    flood->n_met, tree->n);
	if (flood->n_crossings != 2 * (tree->n - 1))
		return fail(flood, tree->switches[0], 0, "loop: %u links join %u switches",
			    flood->n_crossings / 2, tree->n);
	return true;
}

static bool is_held(const struct flood *flood, uint32_t sw)
{
	return flood->group->held && flood->group->held[sw];
}

/* Whether a switch that cannot be written forwards as the tree says, and no more into it. */
static bool does_as_held(struct flood *flood, uint32_t place)
{
	const struct fabric *fabric = flood->fabric;
	uint32_t sw = flood->tree->switches[place];
	const struct route_port_set *ports = &flood->tree->ports[place];

	for (uint32_t num = 0; num <= fabric->nodes[fabric->switches[sw].node].num_ports; num++) {
		bool has = bits_has(flood->group->held[sw]->bits, num);
		bool wants = bits_has(ports->bits, num);
		uint32_t to = num ? route_switch_across(fabric, fabric_switch_port(fabric, sw, num))
				  : FABRIC_NONE;

		if (wants && !has)
			return fail(flood, sw, num,
				    "the switch cannot be written, and has not the port");
		if (has && !wants && to != FABRIC_NONE && flood->place[to] != FABRIC_NONE)
			return fail(flood, sw, num,
				    "the switch cannot be written, and has the port");
	}
	return true;
}

static bool all_do_as_held(struct flood *flood)
{
	for (uint32_t i = 0; i < flood->tree->n; i++)
		if (is_held(flood, flood->tree->switches[i]) && !does_as_held(flood, i))
			return false;
	return true;
}

/*
 * The part of each switch, not counting cables to switches without room, or to those that cannot be
 * written.
 */
static uint32_t *find_parts(const struct flood *flood)
{
	uint32_t n = flood->fabric->n_switches, *parts;
	struct route_graph *graph = route_graph_new(flood->fabric);
	g_autofree bool *apart = g_new(bool, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		apart[sw] =
			fabric_mlids(flood->fabric, sw) < flood->group->room || is_held(flood, sw);
	parts = route_parts(graph, apart);
	route_graph_free(graph);
	return parts;
}

/* Whether the tree has a switch of a part; or is empty. */
static bool meets_part(const struct flood *flood, const uint32_t *parts, uint32_t part)
{
	const struct route_tree *tree = flood->tree;

	for (uint32_t i = 0; i < tree->n; i++)
		if (!is_held(flood, tree->switches[i]) && parts[tree->switches[i]] == part)
			return true;
	return !tree->n;
}

/*
 * After a flood of the whole tree: members that get packets have an exit there, and those that only
 * send need none. A member may miss its packets, and its own packets may be lost, only if no cables
 * lead to it over switches with room that can be written; if any member has a switch with room, one
 * is reached.
 */
static bool all_served(struct flood *flood)
{
	const struct route_group *group = flood->group;
	const struct route_tree *tree = flood->tree;
	g_autofree uint32_t *parts = NULL;

	for (uint32_t i = 0; i < group->n_members; i++) {
		uint8_t exit;
		uint32_t sw = fabric_leaf(flood->fabric, group->members[i], &exit), place;

		if (sw == FABRIC_NONE || fabric_mlids(flood->fabric, sw) < group->room ||
		    is_held(flood, sw))
			continue;
		place = flood->place[sw];
		if (place != FABRIC_NONE && (!flood->member[group->members[i]] ||
					     bits_has(tree->ports[place].bits, exit)))
			continue;
		if (!parts)
			parts = find_parts(flood);
		if (meets_part(flood, parts, parts[sw]))
			return fail(flood, sw, exit, "member is not served");
	}
	return true;
}

static bool place_switches(struct flood *flood)
{
	const struct route_tree *tree = flood->tree;

	memset(flood->place, 0xFF, (flood->fabric->n_switches + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t sw = tree->switches[i];

		if (sw >= flood->fabric->n_switches || (i && sw <= tree->switches[i - 1])) {
			flood->witness = g_strdup_printf("switch %u at place %u", sw, i);
			return false;
		}
		flood->place[sw] = i;
		if (fabric_mlids(flood->fabric, sw) < flood->group->room)
			return fail(flood, sw, 0, "no room for MLID %u of the switch",
				    flood->group->room);
	}
	return true;
}

bool route_tree_verify(const struct fabric *fabric, const struct route_tree *tree,
		       const struct route_group *group, char **witness)
{
	g_autofree uint32_t *place = g_new(uint32_t, fabric->n_switches + 1);
	g_autofree uint32_t *queue = g_new(uint32_t, fabric->n_switches + 1);
	g_autofree bool *met = g_new0(bool, tree->n + 1);
	g_autofree bool *member = g_new0(bool, fabric->n_ports);
	struct flood flood = {fabric, tree, group, place, member, met, queue};
	bool ok;

	for (uint32_t i = 0; i < group->n_members; i++)
		member[group->members[i]] |= !group->only_sends || !group->only_sends[i];
	ok = place_switches(&flood) && flood_tree(&flood) && all_do_as_held(&flood) &&
	     all_served(&flood);
	if (witness)
		*witness = flood.witness;
	else
		g_free(flood.witness);
	return ok;
}
