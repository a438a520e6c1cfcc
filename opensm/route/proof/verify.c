// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verifier: follows what a set of LFTs really does and does not depend on how it was made.
 *
 * An order of the switches (verify_order.c), which the engine claims or the verifier guesses,
 * proves most tables of most engines right. Where it does not, all LIDs are walked (verify_walk.c),
 * and the dependencies of all channels are collected (verify_lanes.c), which finds out what is
 * wrong. Both ways give the same verdict.
 *
 * Channel dependencies are those of packets from any channel adapter, and from the subnet manager
 * on any node, to any LID, and from any switch to any channel adapter. Packets from switch to
 * switch are excluded: management of VL 15 needs no credits that a cycle could hold, and general
 * packets between two switches need a subnet manager or client on a switch. In trees these would
 * close cycles that no other can.
 *
 * LIDs that no port owns are not examined. Entries above the LinearFDBCap of a switch, and those of
 * blocks that it refuses, do not exist, whatever the tables say; the tables are not at fault if
 * some pair has no path without them.
 */
#include "route/graph/watch.h"
#include "route/order/orient.h"
#include "route/proof/verify.h"
#include "route/transition/fdb_cap.h"
#include "route/value/lanes.h"

static const struct route_input all_to_all = {.threads = 1};

/* ---- data of all parts ---- */

static void index_ports(struct verify *verify)
{
	const struct fabric *fabric = verify->fabric;
	uint32_t n = 0;

	verify->first = g_new(uint32_t, fabric->n_switches + 1);
	verify->to = g_new(uint32_t, fabric->n_ports + 1);
	verify->back = g_new0(uint8_t, fabric->n_ports + 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		verify->first[sw] = n;
		verify->to[n++] = FABRIC_NONE;
		for (unsigned int num = 1; num <= node->num_ports; num++, n++) {
			verify->to[n] = route_switch_across(fabric, node->first_port + num);
			if (verify->to[n] != FABRIC_NONE)
				verify->back[n] =
					fabric->ports[fabric->ports[node->first_port + num].peer]
						.num;
		}
	}
	verify->first[fabric->n_switches] = n;
}

void verify_mark_parts(struct verify *verify, uint32_t lid)
{
	uint32_t n = verify->graph->n;
	g_autofree bool *small = NULL;

	if (verify->part && lid >= verify->part_first && lid <= verify->part_last)
		return;
	small = g_new(bool, n + 1);
	verify->whole = !verify->room;
	for (uint32_t sw = 0; sw < n; sw++)
		small[sw] = verify_lacks(verify, sw, lid);
	g_free(verify->part);
	verify->part = route_parts(verify->graph, small);
	for (uint32_t sw = 0; sw < n; sw++)
		verify->whole &= verify->part[sw] == 0;
	verify->part_first = lid;
	verify->part_last = verify->room ? route_room_next(verify->room, lid) - 1 : FABRIC_LIDS;
}

static struct verify *verify_new(const struct fabric *fabric, const struct routing *routing,
				 const struct route_input *input, struct route_verdict *verdict)
{
	struct verify *verify = g_new0(struct verify, 1);

	verify->fabric = fabric;
	verify->routing = routing;
	verify->verdict = verdict;
	verify->graph = route_graph_new(fabric);
	verify->graph->threads = input->threads;
	verify->graph->watch = input->watch;
	route_wishes_init(&verify->wishes, verify->graph);
	route_mark_demand(&verify->wishes, fabric, input);
	verify->n_lids = fabric->max_lid + 1u;
	verify->room = route_room_new(fabric);
	verify->owners = g_new0(struct verify_owner, verify->n_lids);
	for (uint32_t lid = 0; lid < verify->n_lids; lid++)
		verify->owners[lid].sw =
			route_leaf_of(fabric, lid, &verify->owners[lid].exit);
	verify->turns = routing_has_turns(routing);
	g_assert(!routing->lanes || routing->lanes->n_switches == fabric->n_switches);
	verify->hosts_everywhere = true;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		verify->hosts_everywhere &= route_has_hosts(verify->graph, sw);
	index_ports(verify);
	verify_mark_parts(verify, 0);
	return verify;
}

static void verify_free(struct verify *verify)
{
	route_wishes_clear(&verify->wishes);
	route_graph_free(verify->graph);
	g_clear_pointer(&verify->cycle, g_array_unref);
	g_free(verify->owners);
	g_free(verify->hops);
	g_free(verify->entry_vls);
	g_free(verify->part);
	route_room_free(verify->room);
	g_free(verify->first);
	g_free(verify->to);
	g_free(verify->back);
	g_free(verify);
}

/* ---- verdict ---- */

static char *name_cycle(const struct verify *verify)
{
	GString *text = g_string_new("credit loop: ");

	for (uint32_t i = 0; i < verify->cycle->len && i < VERIFY_WITNESS_HOPS; i++) {
		uint32_t channel = g_array_index(verify->cycle, uint32_t, i), sw = 0;

		while (verify->first[sw + 1] <= channel)
			sw++;
		if (i)
			g_string_append(text, " -> ");
		verify_add_hop(verify, text, sw, channel - verify->first[sw]);
	}
	return g_string_free(text, FALSE);
}

/* Whether hosts alone close no cycle; else report that cycle. */
static bool are_hosts_free(struct verify *verify)
{
	GArray *cycle;

	if (verify->turns)
		return false; /* packets from switches are not told apart there */
	cycle = verify_hosts(verify);
	if (!cycle)
		return true;
	g_array_unref(verify->cycle);
	verify->cycle = cycle;
	return false;
}

/* LIDs in use are counted for all switches; those with a leaf in another part need no path. */
static void count_paths(struct verify *verify)
{
	for (uint32_t lid = 1; lid < verify->n_lids; lid++) {
		if (verify->owners[lid].sw == FABRIC_NONE)
			continue;
		verify_mark_parts(verify, lid);
		if (verify->whole) {
			verify->verdict->paths += verify->graph->n;
			continue;
		}
		for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
			if (verify_is_joined(verify, sw, lid))
				verify->verdict->paths++;
			else
				verify->verdict->cut = true;
		}
	}
}

bool verify_on_ways(const struct fabric *fabric, const struct routing *routing,
		    const struct route_input *input, bool by_order, struct route_verdict *verdict)
{
	struct verify *verify;

	g_assert(routing->n_switches == fabric->n_switches);
	*verdict = (struct route_verdict){ .complete = true, .loop_free = true };
	verify = verify_new(fabric, routing, input, verdict);
	/* in a fabric of several parts, tables have entries that lead nowhere */
	verdict->by_order = by_order && !routing->lanes && verify->whole && verify_by_order(verify);
	if (!verdict->by_order)
		verify->cycle = verify_lanes(verify);
	count_paths(verify);
	verdict->acyclic = !verify->cycle;
	verdict->hosts_acyclic = !verify->cycle || are_hosts_free(verify);
	if (verify->cycle && !verdict->witness)
		verdict->witness = name_cycle(verify);
	verify_free(verify);
	verdict->complete &= !route_is_cancelled(input->watch);
	return verdict->complete && verdict->loop_free &&
	       (verdict->acyclic || !(routing->promises & ROUTE_DEADLOCK_FREE));
}

bool route_verify_by(const struct fabric *fabric, const struct routing *routing,
		     const struct route_input *input, struct route_verdict *verdict)
{
	return verify_on_ways(fabric, routing, input, true, verdict);
}

bool route_verify(const struct fabric *fabric, const struct routing *routing,
		  struct route_verdict *verdict)
{
	return route_verify_by(fabric, routing, &all_to_all, verdict);
}

void route_verdict_clear(struct route_verdict *verdict)
{
	g_free(verdict->witness);
	*verdict = (struct route_verdict){ 0 };
}
