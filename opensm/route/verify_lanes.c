// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Credit loops: what packets of each LID wait for on their way is followed from all switches where
 * they may begin, and added up in one dependency graph of all lanes.
 *
 * A path may be used with the SL from its source to its destination and with that the other way
 * round, as it carries the answers to what came on that. What goes to the SM, or comes from it, may
 * bear the SL of the SM too. Pairs without an SL send nothing, which is right only between hosts
 * and switches, and where demand says so. Each SL must stay on its lane, so every port between
 * switches must have that.
 *
 * Packets are followed by kind. That is their VL, from switch to switch; but if lanes change by
 * turns it is the SL, any level of QoS of it too, and they are followed from each port at which
 * they may come in, as that counts for their first VL.
 */
#include <string.h>

#include "iba/codes.h"
#include "route/bits.h"
#include "route/demand.h"
#include "route/lanes.h"
#include "route/parallel.h"
#include "route/verify.h"

#define SHARES_MAX 16 /* each has a graph of its own */
#define TILE 64	      /* LIDs whose entries are brought together */

struct following {
	const struct verify *verify;
	const struct route_lanes *lanes; /* NULL: all is sent on VL 0 */
	bool turns;			 /* lanes change by turns */
	bool hosts_only;		 /* what hosts send to hosts is looked at */
	bool hosts_everywhere;		 /* each switch has some */
	uint16_t *lids;
	uint32_t n_lids;
	uint32_t n_shares; /* of LIDs, followed by as many threads */
	struct dependency *found[SHARES_MAX];
};

/* One LID: its entries, and the kinds of packets that were followed from there. Both [switch]. */
struct column {
	const uint8_t *ports;
	uint16_t *passed;
	struct dependency *found;
};

/* ---- paths ---- */

/* Notes that what came to a switch by a port, and leaves by another, asks for one (next) there. */
static inline void note(const struct following *following, struct dependency *found,
			unsigned int kind, uint32_t sw, uint8_t in, uint8_t out, uint8_t next)
{
	const struct verify *verify = following->verify;
	uint32_t channel = verify->first[sw] + out, to = verify->to[channel];
	uint8_t vl = kind, next_vl = kind;

	if (following->turns) {
		vl = route_lanes_vl(following->lanes, sw, in, out, kind);
		if (verify_across(verify, to, next) == FABRIC_NONE)
			next = ROUTE_NO_PORT;
		else
			next_vl = route_lanes_vl(following->lanes, to, verify->back[channel], next,
						 kind);
	}
	dependency_add(found, channel, vl, next, next_vl);
}

/* Behind the next switch all depends on that alone, and not on where packets came from. */
static inline void follow(const struct following *following, struct column *column, uint32_t sw,
			  uint8_t in, unsigned int kind)
{
	const struct verify *verify = following->verify;
	bool again = false;

	while (!again) {
		uint8_t out = column->ports[sw];
		uint32_t to;

		again = column->passed[sw] >> kind & 1;
		if (again && !following->turns)
			return;
		to = verify_across(verify, sw, out);
		if (to == FABRIC_NONE)
			return;
		column->passed[sw] |= 1u << kind;
		note(following, column->found, kind, sw, in, out, column->ports[to]);
		in = verify->back[verify->first[sw] + out];
		sw = to;
	}
}

/* Whether packets may begin at this port: of the switch itself, or of a host. */
static bool is_entry(const struct verify *verify, uint32_t sw, uint8_t num)
{
	const struct fabric *fabric = verify->fabric;

	if (!num)
		return true;
	return verify_across(verify, sw, num) == FABRIC_NONE &&
	       fabric->ports[fabric_switch_port(fabric, sw, num)].peer != FABRIC_NONE;
}

/* Ports of a switch by which it matters that packets come in. */
static unsigned int n_entries(const struct following *following, uint32_t sw)
{
	return following->turns ? verify_width(following->verify, sw) : 1;
}

/* Kinds of packets between two switches, as bits. */
static uint16_t kinds_between(const struct following *following, uint32_t from, uint32_t to)
{
	const struct route_lanes *lanes = following->lanes;
	uint32_t sm = following->verify->graph->sm_switch;
	uint16_t bits = 0;

	if (!following->turns)
		return route_lanes_between(lanes, from, to, sm);
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++) {
		uint8_t plain = sl & ~lanes->levels;

		if (plain == route_lanes_sl(lanes, from, to) ||
		    plain == route_lanes_sl(lanes, to, from) ||
		    (sl == lanes->sm_sl && !lanes->sm_by_path && (from == sm || to == sm)))
			bits |= 1u << sl;
	}
	return bits;
}

/* On one lane, if packets begin everywhere: then paths need not be told apart. */
static void follow_everywhere(const struct verify *verify, struct column *column)
{
	for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
		uint8_t out = column->ports[sw];
		uint32_t to = verify_across(verify, sw, out);

		if (to != FABRIC_NONE)
			dependency_add(column->found, verify->first[sw] + out, 0,
				       column->ports[to], 0);
	}
}

/* A LID of a host is sent to from everywhere, that of a switch from where hosts or the SM are. */
static void follow_lid(const struct following *following, struct column *column, uint16_t lid)
{
	const struct verify *verify = following->verify;
	const struct route_graph *graph = verify->graph;
	const struct verify_owner *owner = &verify->owners[lid];

	if (!following->lanes &&
	    (following->hosts_everywhere || (owner->exit && !following->hosts_only))) {
		follow_everywhere(verify, column);
		return;
	}
	memset(column->passed, 0, graph->n * sizeof(*column->passed));
	for (uint32_t from = 0; from < graph->n; from++) {
		uint16_t kinds;

		if (following->hosts_only ? !route_has_hosts(graph, from)
					  : !owner->exit && !route_is_source(graph, from))
			continue;
		kinds = kinds_between(following, from, owner->sw);
		if (!following->turns)
			kinds &= ~column->passed[from];
		for (; kinds; kinds &= kinds - 1)
			for (unsigned int in = 0; in < n_entries(following, from); in++)
				if (is_entry(verify, from, in))
					follow(following, column, from, in, __builtin_ctz(kinds));
	}
}

/* Columns of the tables of n LIDs; a LID that a switch cannot hold is discarded there. */
static void read_tile(const struct verify *verify, const uint16_t *lids, uint32_t n, uint8_t *tile)
{
	uint32_t n_switches = verify->graph->n;

	for (uint32_t sw = 0; sw < n_switches; sw++) {
		const uint8_t *lft = verify->routing->lft[sw];

		for (uint32_t i = 0; i < n; i++)
			tile[(size_t)i * n_switches + sw] =
				verify_is_above_cap(verify, sw, lids[i]) ? ROUTE_NO_PORT
									 : lft[lids[i]];
	}
}

/* Threads note the dependencies of their shares of the LIDs apart. */
static void follow_shares(void *arg, uint32_t share, uint32_t last)
{
	const struct following *following = arg;
	uint32_t n_switches = following->verify->graph->n;
	g_autofree uint8_t *tile = g_malloc((size_t)TILE * n_switches + 1);
	g_autofree uint16_t *passed = g_new(uint16_t, n_switches + 1);

	for (; share < last; share++)
		for (uint32_t i = share * TILE; i < following->n_lids;
		     i += following->n_shares * TILE) {
			uint32_t n = MIN(following->n_lids - i, TILE);

			read_tile(following->verify, following->lids + i, n, tile);
			for (uint32_t k = 0; k < n; k++) {
				struct column column = {tile + (size_t)k * n_switches, passed,
							following->found[share]};

				follow_lid(following, &column, following->lids[i + k]);
			}
		}
}

static void list_lids(struct following *following)
{
	const struct verify *verify = following->verify;

	following->lids = g_new(uint16_t, verify->n_lids);
	for (uint32_t lid = 1; lid <= verify->routing->top && lid < verify->n_lids; lid++)
		if (verify->owners[lid].sw != FABRIC_NONE && !verify->noted[lid] &&
		    (verify->owners[lid].exit || !following->hosts_only))
			following->lids[following->n_lids++] = lid;
}

/* ---- multicast on a trunk ---- */

/* Whether a port is of the tree that multicast keeps to. */
static bool is_trunk(const struct verify *verify, uint32_t sw, uint8_t num)
{
	const uint8_t *trunk = verify->routing->trunk;
	uint32_t to = verify_across(verify, sw, num);

	return to != FABRIC_NONE &&
	       (trunk[sw] == num || trunk[to] == verify->back[verify->first[sw] + num]);
}

/* What may come in anywhere, and leaves a switch by a port, goes on by all others. */
static void follow_trunk_port(const struct following *following, struct dependency *found,
			      unsigned int kind, uint32_t sw, uint8_t out)
{
	const struct verify *verify = following->verify;
	uint32_t channel = verify->first[sw] + out, to = verify->to[channel];

	for (unsigned int in = 0; in < n_entries(following, sw); in++) {
		if (in == out || !(is_entry(verify, sw, in) || is_trunk(verify, sw, in)))
			continue;
		note(following, found, kind, sw, in, out, ROUTE_NO_PORT);
		for (unsigned int next = 1; next < verify_width(verify, to); next++)
			if (next != verify->back[channel] && is_trunk(verify, to, next))
				note(following, found, kind, sw, in, out, next);
	}
}

/* Kinds of packets that groups may have: of lanes, those on which anything is sent at all. */
static uint16_t trunk_kinds(const struct following *following, const struct dependency *found)
{
	const struct route_lanes *lanes = following->lanes;
	uint16_t vls = 0;

	if (!lanes || following->turns)
		return lanes ? ~lanes->bare : 1;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		vls |= !(lanes->bare >> sl & 1) << lanes->vl[sl];
	return vls & dependency_vls(found);
}

static void follow_trunk(const struct following *following, struct dependency *found)
{
	const struct verify *verify = following->verify;
	uint16_t kinds = verify->routing->trunk ? trunk_kinds(following, found) : 0;

	for (; kinds; kinds &= kinds - 1)
		for (uint32_t sw = 0; sw < verify->graph->n; sw++)
			for (unsigned int num = 1; num < verify_width(verify, sw); num++)
				if (is_trunk(verify, sw, num))
					follow_trunk_port(following, found, __builtin_ctz(kinds),
							  sw, num);
}

/* Adds all that verify->noted[] does not say is there. */
static void follow_all(const struct verify *verify, bool hosts_only, struct dependency *found)
{
	struct following following = {
		.verify = verify,
		.lanes = verify->routing->lanes,
		.turns = routing_has_turns(verify->routing),
		.hosts_only = hosts_only,
		.hosts_everywhere = true,
		.n_shares = CLAMP(verify->graph->threads, 1, SHARES_MAX),
		.found[0] = found,
	};

	g_assert(!following.lanes || following.lanes->n_switches == verify->graph->n);
	if (following.turns)
		following.n_shares = 1; /* graphs of these are large */
	for (uint32_t sw = 0; sw < verify->graph->n; sw++)
		following.hosts_everywhere &= route_has_hosts(verify->graph, sw);
	list_lids(&following);
	for (uint32_t i = 1; i < following.n_shares; i++)
		following.found[i] = dependency_new(verify);
	route_parallel(following.n_shares, following.n_shares, follow_shares, &following);
	for (uint32_t i = 1; i < following.n_shares; i++) {
		dependency_add_all(found, following.found[i]);
		dependency_free(following.found[i]);
	}
	g_free(following.lids);
	follow_trunk(&following, found);
}

/* ---- lanes that are not what they should be ---- */

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
			    route_sends(graph, a, b))
				complain(verify, "hosts without an SL",
					 fabric_switch_port(verify->fabric, a, 0),
					 fabric_switch_port(verify->fabric, b, 0));
}

/* The highest lane that is used must be one that a cable has. */
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

/* A packet that came by a cable of the tree leaves by all others. */
static void add_tree(struct dependency *dependency, const struct verify *verify,
		     const struct route_tree *tree, unsigned int vl)
{
	g_autofree uint32_t *place = g_new(uint32_t, verify->graph->n + 1);

	memset(place, 0xFF, verify->graph->n * sizeof(*place));
	for (uint32_t i = 0; i < tree->n; i++)
		place[tree->switches[i]] = i;
	for (uint32_t i = 0; i < tree->n; i++)
		bits_each(tree->ports[i].bits, 0, ROUTE_NO_PORT, num) {
			uint32_t sw = tree->switches[i], to = verify_across(verify, sw, num);

			if (to == FABRIC_NONE || place[to] == FABRIC_NONE)
				continue;
			bits_each(tree->ports[place[to]].bits, 1, ROUTE_NO_PORT, out)
				if (out != verify->back[verify->first[sw] + num])
					dependency_add(dependency, verify->first[sw] + num, vl, out,
						       vl);
		}
}

GArray *verify_lanes(struct verify *verify)
{
	follow_all(verify, false, verify->dependency);
	if (verify->routing->lanes) {
		check_pairs(verify);
		check_cables(verify, dependency_vls(verify->dependency));
	}
	return dependency_cycle(verify->dependency);
}

GArray *verify_hosts(struct verify *verify)
{
	struct dependency *found = dependency_new(verify);
	GArray *cycle;

	memset(verify->noted, false, verify->n_lids * sizeof(*verify->noted));
	follow_all(verify, true, found);
	cycle = dependency_cycle(found);
	dependency_free(found);
	return cycle;
}

GArray *verify_trees(struct verify *verify, const struct route_tree *const *trees, uint32_t n,
		     uint8_t sl)
{
	const struct route_lanes *lanes = verify->routing->lanes;

	g_assert(!routing_has_turns(verify->routing)); /* their trees are a part of the routing */
	follow_all(verify, false, verify->dependency);
	for (uint32_t i = 0; i < n; i++)
		add_tree(verify->dependency, verify, trees[i],
			 lanes ? lanes->vl[sl % ROUTE_SLS] : 0);
	return dependency_cycle(verify->dependency);
}
