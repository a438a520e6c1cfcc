// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The way to a verdict on any table. Each LID is walked (verify_walk.c). For credit loops, the
 * channels that its packets wait for are followed from all switches where they may start, and added
 * to one dependency graph of all lanes.
 *
 * A path may be used with the SL from its source to its destination and with that of the reverse
 * path, since it carries the answers to packets of that path. Packets to and from the SM may have
 * the SL of the SM too. Pairs without an SL send nothing, which is right only between hosts and
 * switches, and where the demand says so. Each SL must stay on its lane, so every port between
 * switches must have that lane.
 *
 * Packets are followed by kind. The kind is their VL, from switch to switch; but if lanes change by
 * turns it is the SL, with any level of QoS, and they are followed from each port at which they may
 * enter, since that determines their first VL.
 */
#include <stdatomic.h>
#include <string.h>

#include "iba/codes.h"
#include "route/graph/order.h"
#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/proof/verify.h"
#include "route/value/lanes.h"

#define SHARES_MAX 64
#define BATCH 64 /* LIDs whose entries are side by side */

/* ---- entries ---- */

/* Whether packets may start at this port: of the switch itself, or of a host. */
static bool is_entry(const struct verify *verify, uint32_t sw, uint8_t num)
{
	const struct fabric *fabric = verify->fabric;

	if (!num)
		return true;
	return verify_across(verify, sw, num) == FABRIC_NONE &&
	       fabric->ports[fabric_switch_port(fabric, sw, num)].peer != FABRIC_NONE;
}

/* Number of ports of a switch that matter as entries of packets. */
static unsigned int n_entries(const struct verify *verify, uint32_t sw)
{
	return verify->turns ? verify_width(verify, sw) : 1;
}

/* [channel * ROUTE_SLS + SL]: VLs, as bits, on which packets that enter at its switch leave it. */
static uint16_t *find_entry_vls(const struct verify *verify)
{
	const struct route_lanes *lanes = verify->routing->lanes;
	uint32_t n = verify->graph->n;
	uint16_t *vls = g_new0(uint16_t, (size_t)verify->first[n] * ROUTE_SLS + 1), *at;

	for (uint32_t sw = 0; sw < n; sw++)
		for (unsigned int in = 0; in < verify_width(verify, sw); in++) {
			if (!is_entry(verify, sw, in))
				continue;
			at = &vls[(size_t)verify->first[sw] * ROUTE_SLS];
			for (unsigned int out = 0; out < verify_width(verify, sw); out++)
				for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
					*at++ |= 1u << route_lanes_vl(lanes, sw, in, out, sl);
		}
	return vls;
}

/* ---- paths ---- */

/* Notes that packets that leave a switch by a port on a VL need the port next then. */
static inline void note_on(struct dependency *found, unsigned int kind, uint8_t vl, uint32_t sw,
			   uint8_t out, uint8_t next)
{
	const struct verify *verify = found->verify;
	uint32_t channel = verify->first[sw] + out, to = verify->to[channel];
	uint8_t next_vl = kind;

	if (verify->turns) {
		if (verify_across(verify, to, next) == FABRIC_NONE)
			next = ROUTE_NO_PORT;
		else
			next_vl = route_lanes_vl(verify->routing->lanes, to, verify->back[channel],
						 next, kind);
	}
	dependency_add(found, channel, vl, next, next_vl);
}

/* Notes that packets from one port of a switch to another need the port next there. */
static inline void note(struct dependency *found, unsigned int kind, uint32_t sw, uint8_t in,
			uint8_t out, uint8_t next)
{
	const struct verify *verify = found->verify;
	uint8_t vl = verify->turns ? route_lanes_vl(verify->routing->lanes, sw, in, out, kind)
				   : kind;

	note_on(found, kind, vl, sw, out, next);
}

/* Beyond the next switch, all depends on that switch alone, not on where packets came from. */
static inline void follow(struct verify_share *share, uint32_t sw, uint8_t in, unsigned int kind)
{
	const struct verify *verify = share->verify;
	bool again = false;

	while (!again) {
		struct verify_spot *spot = &share->spots[sw];

		again = spot->passed >> kind & 1;
		if ((again && !verify->turns) || spot->next == FABRIC_NONE)
			return;
		spot->passed |= 1u << kind;
		note(share->found, kind, sw, in, spot->exit, share->spots[spot->next].exit);
		in = verify->back[verify->first[sw] + spot->exit];
		sw = spot->next;
	}
}

/* Follows packets from all ports at which they may enter: these differ only in the first VL. */
static inline void enter(struct verify_share *share, uint32_t sw, unsigned int kind)
{
	const struct verify *verify = share->verify;
	struct verify_spot *spot = &share->spots[sw];
	uint32_t channel = verify->first[sw] + spot->exit;
	uint16_t vls;

	if (!verify->turns) {
		follow(share, sw, 0, kind);
		return;
	}
	if (spot->next == FABRIC_NONE)
		return;
	for (vls = verify->entry_vls[(size_t)channel * ROUTE_SLS + kind]; vls; vls &= vls - 1)
		note_on(share->found, kind, __builtin_ctz(vls), sw, spot->exit,
			share->spots[spot->next].exit);
	if (spot->passed >> kind & 1)
		return;
	spot->passed |= 1u << kind;
	follow(share, spot->next, verify->back[channel], kind);
}

/* Kinds of packets between two switches, as bits. */
static uint16_t kinds_between(const struct verify *verify, uint32_t from, uint32_t to)
{
	const struct route_lanes *lanes = verify->routing->lanes;
	uint32_t sm = verify->graph->sm_switch;

	return verify->turns ? route_lanes_sls_between(lanes, from, to, sm)
			     : route_lanes_between(lanes, from, to, sm);
}

/* On one lane, if packets start everywhere: then paths need not be told apart. */
static void follow_everywhere(struct verify_share *share)
{
	const struct verify_spot *spots = share->spots;

	for (uint32_t sw = 0; sw < share->verify->graph->n; sw++)
		if (spots[sw].next != FABRIC_NONE)
			dependency_add(share->found, share->verify->first[sw] + spots[sw].exit, 0,
				       spots[spots[sw].next].exit, 0);
}

/* LIDs of hosts get packets from everywhere, those of switches where hosts or the SM are. */
static void follow_lid(struct verify_share *share)
{
	const struct verify *verify = share->verify;
	const struct route_graph *graph = verify->graph;
	const struct verify_owner *owner = &verify->owners[share->lid];

	if (verify->hosts_only && !owner->exit)
		return;
	if (!verify->routing->lanes &&
	    (verify->hosts_everywhere || (owner->exit && !verify->hosts_only))) {
		follow_everywhere(share);
		return;
	}
	for (uint32_t from = 0; from < graph->n; from++) {
		uint16_t kinds;

		if (verify->hosts_only ? !route_has_hosts(graph, from)
				       : !owner->exit && !route_is_source(graph, from))
			continue;
		kinds = kinds_between(verify, from, owner->sw);
		if (!verify->turns)
			kinds &= ~share->spots[from].passed;
		for (; kinds; kinds &= kinds - 1)
			enter(share, from, __builtin_ctz(kinds));
	}
}

/* ---- all LIDs ---- */

struct shares {
	uint16_t *lids; /* to be examined: all in use that the same switches hold */
	uint32_t n_lids;
	_Atomic uint32_t next; /* among lids: the next batch to be examined */
	uint32_t n; /* number of shares, one for each thread */
	struct verify_share shares[SHARES_MAX];
};

/* A switch discards a LID that it cannot hold. */
static void read_column(struct verify_share *share)
{
	const struct verify *verify = share->verify;
	uint16_t lid = share->lid;

	for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
		uint8_t exit = verify_lacks(verify, sw, lid)
				       ? ROUTE_NO_PORT
				       : routing_port(verify->routing, sw, lid);

		share->spots[sw] = (struct verify_spot){
			.exit = exit, .next = verify_across(verify, sw, exit)};
	}
}

static void follow_share(struct verify_share *share, uint32_t lid)
{
	share->lid = lid;
	read_column(share);
	if (!share->verify->hosts_only)
		verify_walk(share);
	follow_lid(share);
}

/* Each thread takes batches, and notes what it finds there in its share. */
static void follow_shares(void *arg, uint32_t first, G_GNUC_UNUSED uint32_t last)
{
	struct shares *all = arg;
	struct verify_share *share = &all->shares[first];
	uint32_t i;

	while ((i = atomic_fetch_add(&all->next, BATCH)) < all->n_lids)
		for (uint32_t end = MIN(i + BATCH, all->n_lids); i < end; i++) {
			if (!route_watch_step(share->verify->graph->watch))
				return;
			follow_share(share, all->lids[i]);
		}
}

/* Adds the results to the verdict. Reports the fault of the least LID. */
static void add_shares(struct verify *verify, struct shares *all)
{
	struct route_verdict *verdict = verify->verdict;
	struct verify_wrong wrong = {0};

	for (uint32_t i = 0; i < all->n; i++) {
		struct verify_share *share = &all->shares[i];

		verdict->complete &= !share->wrong.lid;
		verdict->loop_free &= !share->loops;
		verdict->discarded += share->discarded;
		verdict->max_hops = MAX(verdict->max_hops, share->max_hops);
		if (share->wrong.lid && (!wrong.lid || share->wrong.lid < wrong.lid))
			wrong = share->wrong;
		g_free(share->spots);
	}
	if (wrong.lid)
		verify_add_witness(verify, &wrong);
}

/* All LIDs, by ranges that the same switches hold. */
static void follow_lids(struct verify *verify, struct dependency *found)
{
	uint32_t n = verify->graph->n, lid = 1;
	struct shares all = {.n = CLAMP(verify->graph->threads, 1, SHARES_MAX)};

	route_watch_begin(verify->graph->watch, "proof", verify->n_lids);
	all.lids = g_new(uint16_t, verify->n_lids);
	for (uint32_t i = 0; i < all.n; i++)
		all.shares[i] = (struct verify_share){
			.verify = verify,
			.found = found,
			.spots = g_new(struct verify_spot, n + 1),
		};
	while (lid < verify->n_lids) {
		verify_mark_parts(verify, lid);
		for (all.n_lids = 0; lid < verify->n_lids && lid <= verify->part_last; lid++)
			if (verify->owners[lid].sw != FABRIC_NONE)
				all.lids[all.n_lids++] = lid;
		atomic_store(&all.next, 0);
		route_parallel(all.n, all.n, follow_shares, &all);
	}
	add_shares(verify, &all);
	g_free(all.lids);
}

/* ---- multicast on a trunk, or by an order of the switches ---- */

/* No engine has an order of the switches and lanes that change by turns. */
static bool has_multicast(const struct verify *verify)
{
	const struct routing *routing = verify->routing;

	return routing->trunk || (routing->order && routing->lanes && !verify->turns);
}

/* Whether multicast may use a port: if it follows a tree, one of this. */
static bool is_trunk(const struct verify *verify, uint32_t sw, uint8_t num)
{
	const uint8_t *trunk = verify->routing->trunk;
	uint32_t to = verify_across(verify, sw, num);

	return to != FABRIC_NONE && (!trunk || trunk[sw] == num ||
				     trunk[to] == verify->back[verify->first[sw] + num]);
}

/* Whether multicast may continue from one port to another: by an order up, then down. */
static bool may_continue(const struct verify *verify, uint32_t sw, uint8_t out, uint8_t next)
{
	const uint32_t *order = verify->routing->order;
	uint32_t channel = verify->first[sw] + out, to = verify->to[channel], beyond;

	if (next == verify->back[channel] || !is_trunk(verify, to, next))
		return false;
	beyond = verify_across(verify, to, next);
	return verify->routing->trunk ||
	       (beyond != sw && (order[to] < order[sw] || order[beyond] > order[to]));
}

/* Packets that leave a switch by a port continue by others of the next switch. */
static void follow_trunk_port(struct dependency *found, unsigned int kind, uint32_t sw, uint8_t out)
{
	const struct verify *verify = found->verify;
	uint32_t channel = verify->first[sw] + out, to = verify->to[channel];

	for (unsigned int in = 0; in < n_entries(verify, sw); in++) {
		if (in == out || !(is_entry(verify, sw, in) || is_trunk(verify, sw, in)))
			continue;
		note(found, kind, sw, in, out, ROUTE_NO_PORT);
		for (unsigned int next = 1; next < verify_width(verify, to); next++)
			if (may_continue(verify, sw, out, next))
				note(found, kind, sw, in, out, next);
	}
}

/* Kinds of packets that groups may have; for lanes, those on which anything is sent. */
static uint16_t trunk_kinds(const struct dependency *found)
{
	const struct route_lanes *lanes = found->verify->routing->lanes;
	uint16_t vls = 0;

	if (!lanes || found->verify->turns)
		return lanes ? ~lanes->sls_unsafe_for_multicast : 1;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		vls |= !(lanes->sls_unsafe_for_multicast >> sl & 1) << lanes->vl[sl];
	return vls & dependency_vls(found);
}

static void follow_trunk(struct dependency *found)
{
	const struct verify *verify = found->verify;

	for (uint16_t kinds = trunk_kinds(found); kinds; kinds &= kinds - 1)
		for (uint32_t sw = 0; sw < verify->graph->n; sw++)
			for (unsigned int num = 1; num < verify_width(verify, sw); num++)
				if (is_trunk(verify, sw, num))
					follow_trunk_port(found, __builtin_ctz(kinds), sw, num);
}

/* ---- lanes that are wrong ---- */

static void complain(const struct verify *verify, const char *what, uint32_t a, uint32_t b)
{
	const struct fabric *fabric = verify->fabric;
	char one[FABRIC_NAME_SIZE], other[FABRIC_NAME_SIZE];

	verify->verdict->complete = false;
	if (verify->verdict->witness)
		return;
	fabric_port_name(fabric, a, one, sizeof(one));
	fabric_port_name(fabric, b, other, sizeof(other));
	verify->verdict->witness = g_strdup_printf("%s: %s and %s", what, one, other);
}

static void check_pairs(struct verify *verify)
{
	const struct route_graph *graph = verify->graph;

	verify_mark_parts(verify, 0);
	for (uint32_t a = 0; a < graph->n; a++)
		for (uint32_t b = 0; route_has_hosts(graph, a) && b < graph->n; b++)
			if (verify->part[a] == verify->part[b] &&
			    route_lanes_sl(verify->routing->lanes, a, b) >= ROUTE_SLS &&
			    route_sends(&verify->wishes, a, b))
				complain(verify, "hosts without an SL",
					 fabric_switch_port(verify->fabric, a, 0),
					 fabric_switch_port(verify->fabric, b, 0));
}

/* Every cable must have the highest lane in use. */
static void check_cables(const struct verify *verify, uint16_t vls)
{
	const struct fabric *fabric = verify->fabric;
	unsigned int most = vls ? 31 - __builtin_clz(vls) : 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		if (fabric_is_switch(fabric, port->node) &&
		    route_switch_across(fabric, i) != FABRIC_NONE &&
		    most >= MAX(iba_vls_count(port->info.vl_cap), 1))
			complain(verify, "a cable without the virtual lanes of the routes", i,
				 port->peer);
	}
}

/* Follows all paths, and multicast where it has its way. */
static void follow_all(struct verify *verify, struct dependency *found)
{
	follow_lids(verify, found);
	if (has_multicast(verify))
		follow_trunk(found);
}

static GArray *take_cycle(struct dependency *found)
{
	GArray *cycle = dependency_cycle(found);

	dependency_free(found);
	return cycle;
}

GArray *verify_lanes(struct verify *verify)
{
	struct dependency *found = dependency_new(verify);
	const struct route_order any = {.graph = verify->graph};

	verify->hops = route_hops_all(&any, NULL);
	if (verify->turns)
		verify->entry_vls = find_entry_vls(verify);
	follow_all(verify, found);
	if (verify->routing->lanes) {
		check_pairs(verify);
		check_cables(verify, dependency_vls(found));
	}
	return take_cycle(found);
}

GArray *verify_hosts(struct verify *verify)
{
	struct dependency *found = dependency_new(verify);

	verify->hosts_only = true;
	follow_all(verify, found);
	return take_cycle(found);
}
