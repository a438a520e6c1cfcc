// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Walks through the tables, one LID at a time, to find the fate of packets from each switch. */
#include <string.h>

#include "route/proof/verify.h"

enum { FATE_NEW, FATE_ON_PATH, FATE_REACHED, FATE_DISCARDED, FATE_HOLE, FATE_LOOP };

/* ---- witness ---- */

void verify_add_hop(const struct verify *verify, GString *text, uint32_t sw, uint8_t num)
{
	const struct fabric *fabric = verify->fabric;
	uint32_t node = fabric->switches[sw].node;
	char name[FABRIC_NAME_SIZE];

	if (num <= fabric->nodes[node].num_ports) {
		g_string_append(text, fabric_port_name(fabric, fabric_port_of(fabric, node, num),
						       name, sizeof(name)));
		return;
	}
	/* The switch has no such port. */
	g_string_append_printf(text, "%s entry 0x%02x",
			       fabric_node_name(fabric, node, name, sizeof(name)), num);
}

void verify_add_witness(struct verify *verify, const struct verify_wrong *wrong)
{
	GString *text = g_string_new(NULL);
	g_autofree bool *met = g_new0(bool, verify->graph->n + 1);
	uint32_t sw = wrong->sw;

	g_string_printf(text, "LID %u: %s: ", wrong->lid, wrong->loops ? "loop" : "not delivered");
	for (unsigned int i = 0; i < VERIFY_WITNESS_HOPS && sw != FABRIC_NONE; i++) {
		uint8_t num = routing_port(verify->routing, sw, wrong->lid);

		if (i)
			g_string_append(text, " -> ");
		verify_add_hop(verify, text, sw, num);
		if (met[sw])
			break;
		met[sw] = true;
		sw = verify_across(verify, sw, num);
	}
	verify->verdict->witness = g_string_free(text, FALSE);
}

/* ---- one LID ---- */

/* Walks from sw to a switch whose fate is known, and gives that fate to all on the way. */
static void walk_from(struct verify_spot *spots, uint32_t sw)
{
	uint32_t n = 0, depth;
	uint8_t fate;

	for (; spots[sw].fate == FATE_NEW; sw = spots[sw].next) {
		spots[sw].fate = FATE_ON_PATH;
		spots[n++].path = sw;
	}
	fate = spots[sw].fate == FATE_ON_PATH ? FATE_LOOP : spots[sw].fate;
	depth = spots[sw].depth;
	while (n--) {
		struct verify_spot *spot = &spots[spots[n].path];

		spot->fate = fate;
		spot->depth = ++depth;
	}
}

/* Whether a pair may have no path: it is for management, but not by the subnet manager. */
static bool may_discard(const struct verify *verify, uint32_t sw, const struct verify_owner *owner)
{
	if (sw == verify->graph->sm_switch || owner->sw == verify->graph->sm_switch)
		return false;
	return verify->routing->promises & ROUTE_DEADLOCK_FREE &&
	       (!route_has_hosts(verify->graph, sw) || !owner->exit);
}

/* Whether the loss of a packet from sw violates what the tables must do. */
static bool is_wrong(struct verify_share *share, uint32_t sw)
{
	const struct verify *verify = share->verify;

	if (share->spots[sw].fate == FATE_LOOP)
		return true;
	if (!verify_is_joined(verify, sw, share->lid))
		return false;
	if (share->spots[sw].fate == FATE_HOLE ||
	    !may_discard(verify, sw, &verify->owners[share->lid]))
		return true;
	share->discarded++;
	return false;
}

/*
 * Whether every switch leads nearer to the owner by distance in cables, so that all packets arrive
 * on shortest paths. Then nothing needs a walk, which would take most of the time.
 */
static bool leads_nearer(struct verify_share *share)
{
	const struct verify *verify = share->verify;
	uint32_t n = verify->graph->n, home = verify->owners[share->lid].sw, others = 0;
	const uint8_t *hops;
	uint8_t most = 0;

	if (!verify->hops || share->spots[home].exit != verify->owners[share->lid].exit)
		return false;
	hops = verify->hops + (size_t)home * n;
	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t to = share->spots[sw].next;

		others += to == FABRIC_NONE || hops[to] + 1u != hops[sw];
		most = MAX(most, hops[sw]);
	}
	if (others > 1) /* switches other than the owner's own */
		return false;
	share->max_hops = MAX(share->max_hops, most);
	return true;
}

/* What is known without a walk: switches that do not send the LID to another switch. */
static void begin(struct verify_share *share)
{
	const struct verify *verify = share->verify;
	const struct verify_owner *owner = &verify->owners[share->lid];

	for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
		struct verify_spot *spot = &share->spots[sw];

		if (spot->next == FABRIC_NONE)
			spot->fate = spot->exit == ROUTE_NO_PORT &&
						     !verify_lacks(verify, sw, share->lid)
					     ? FATE_DISCARDED
					     : FATE_HOLE;
	}
	if (share->spots[owner->sw].exit == owner->exit)
		share->spots[owner->sw].fate = FATE_REACHED;
}

void verify_walk(struct verify_share *share)
{
	if (leads_nearer(share))
		return;
	begin(share);
	for (uint32_t sw = 0; sw < share->verify->graph->n; sw++) {
		const struct verify_spot *spot = &share->spots[sw];

		walk_from(share->spots, sw);
		if (spot->fate == FATE_REACHED) {
			share->max_hops = MAX(share->max_hops, spot->depth);
		} else if (is_wrong(share, sw)) {
			share->loops |= spot->fate == FATE_LOOP;
			if (!share->wrong.lid)
				share->wrong = (struct verify_wrong){share->lid, sw,
								     spot->fate == FATE_LOOP};
		}
	}
}
