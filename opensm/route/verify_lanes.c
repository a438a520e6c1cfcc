// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Credit loops of tables that share the cables out by lanes: one dependency graph a lane.
 *
 * A path may be used with the SL from its source to its destination and with that the other way
 * round, as it carries the answers to what came on that. What goes to the SM, or comes from it, may
 * bear the SL of the SM too. Pairs without an SL send nothing, which is right only between hosts
 * and switches, and where demand says so. Each SL must stay on its lane, so every port between
 * switches must have that.
 */
#include <string.h>

#include "iba/codes.h"
#include "route/bits.h"
#include "route/demand.h"
#include "route/lanes.h"
#include "route/parallel.h"
#include "route/verify.h"

#define SHARES_MAX 16 /* each has graphs of its own */
#define AT_ONCE 64    /* LIDs: those of hosts and switches may stand by turns */

struct lane_check {
	struct verify *verify;
	const struct route_lanes *lanes;  /* NULL: all is sent on VL 0 */
	bool hosts_only;		  /* what hosts send to hosts is looked at */
	struct dependency *of[ROUTE_SLS]; /* [VL]; NULL: nothing is sent on it */
	uint32_t n_shares;		  /* of LIDs, followed by as many threads */
	uint16_t *passed; /* [switch]: VLs on which the LID at hand was followed from there; while
			     LIDs are followed */
};

static struct dependency *dependency_of(struct lane_check *check, unsigned int vl)
{
	const struct verify *verify = check->verify;

	if (!check->of[vl])
		check->of[vl] = dependency_new(verify->graph->n, verify->first, verify->to);
	return check->of[vl];
}

static void follow(struct lane_check *check, uint32_t sw, uint16_t lid, unsigned int vl)
{
	const struct verify *verify = check->verify;

	while (!(check->passed[sw] >> vl & 1) && !verify_is_above_cap(verify, sw, lid)) {
		uint8_t port = routing_port(verify->routing, sw, lid);
		uint32_t to = verify_across(verify, sw, port);

		check->passed[sw] |= 1u << vl;
		if (to == FABRIC_NONE)
			return;
		dependency_add(dependency_of(check, vl), sw, port,
			       verify_is_above_cap(verify, to, lid)
				       ? ROUTE_NO_PORT
				       : routing_port(verify->routing, to, lid));
		sw = to;
	}
}

/* A LID of a host is sent to from everywhere, that of a switch from where hosts or the SM are. */
static void follow_lid(struct lane_check *check, uint16_t lid)
{
	const struct verify *verify = check->verify;
	const struct route_graph *graph = verify->graph;
	uint8_t exit;
	uint32_t to = route_leaf_of(verify->fabric, lid, &exit);

	if (to == FABRIC_NONE || (check->hosts_only && !exit))
		return;
	memset(check->passed, 0, graph->n * sizeof(*check->passed));
	for (uint32_t from = 0; from < graph->n; from++) {
		uint16_t bits = route_lanes_between(check->lanes, from, to, graph->sm_switch);

		if (check->hosts_only ? !route_has_hosts(graph, from)
				      : !exit && !route_is_source(graph, from))
			continue;
		for (; bits; bits &= bits - 1)
			follow(check, from, lid, __builtin_ctz(bits));
	}
}

/* Threads note the dependencies of their shares of the LIDs apart. */
static void follow_shares(void *arg, uint32_t share, uint32_t last)
{
	struct lane_check *checks = arg;

	for (; share < last; share++) {
		struct lane_check *check = &checks[share];

		check->passed = g_new0(uint16_t, check->verify->graph->n + 1);
		for (uint32_t lid = 1; lid < FABRIC_LIDS; lid++)
			if (lid / AT_ONCE % check->n_shares == share)
				follow_lid(check, lid);
		g_free(check->passed);
	}
}

/* What was found apart comes together. */
static void join(struct lane_check *check, const struct lane_check *share)
{
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++) {
		if (!share->of[vl])
			continue;
		dependency_add_all(dependency_of(check, vl), share->of[vl]);
		dependency_free(share->of[vl]);
	}
}

static void follow_all(struct lane_check *check)
{
	uint32_t n = CLAMP(check->verify->graph->threads, 1, SHARES_MAX);
	struct lane_check checks[SHARES_MAX];

	check->n_shares = n;
	for (uint32_t i = 0; i < n; i++)
		checks[i] = *check;
	route_parallel(n, n, follow_shares, checks);
	*check = checks[0];
	for (uint32_t i = 1; i < n; i++)
		join(check, &checks[i]);
}

/* ---- multicast on a trunk ---- */

uint32_t verify_cross(const struct verify *verify, uint32_t sw, uint8_t num, uint8_t *back)
{
	const struct fabric *fabric = verify->fabric;
	uint32_t to = verify_across(verify, sw, num);

	if (to != FABRIC_NONE)
		*back = fabric->ports[fabric->ports[fabric_switch_port(fabric, sw, num)].peer].num;
	return to;
}

bool verify_is_trunk(const struct verify *verify, uint32_t sw, uint8_t num)
{
	const uint8_t *trunk = verify->routing->trunk;
	uint8_t back;
	uint32_t to = trunk ? verify_cross(verify, sw, num, &back) : FABRIC_NONE;

	return to != FABRIC_NONE && (trunk[sw] == num || trunk[to] == back);
}

/* What a packet that leaves by a port waits for on a lane. */
static void add_from_trunk(struct dependency *dependency, const struct verify *verify, uint32_t sw,
			   uint8_t num)
{
	uint8_t back;
	uint32_t to = verify_cross(verify, sw, num, &back);

	for (unsigned int out = 1; out < ROUTE_NO_PORT; out++)
		if (out != back && verify_is_trunk(verify, to, out))
			dependency_add(dependency, sw, num, out);
}

void verify_add_trunk(const struct verify *verify, struct dependency *dependency)
{
	for (uint32_t sw = 0; verify->routing->trunk && sw < verify->graph->n; sw++)
		for (unsigned int num = 1; num < ROUTE_NO_PORT; num++)
			if (verify_is_trunk(verify, sw, num))
				add_from_trunk(dependency, verify, sw, num);
}

/* On the lanes of SLs with which groups may be. */
static void follow_trunk(const struct lane_check *check)
{
	const struct route_lanes *lanes = check->lanes;
	uint16_t vls = lanes ? 0 : 1;

	for (unsigned int sl = 0; lanes && sl < ROUTE_SLS; sl++)
		vls |= !(lanes->bare >> sl & 1) << lanes->vl[sl];
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		if (check->of[vl] && vls >> vl & 1)
			verify_add_trunk(check->verify, check->of[vl]);
}

/* ---- lanes that are not what they should be ---- */

static void complain(const struct lane_check *check, const char *what, uint32_t a, uint32_t b)
{
	const struct fabric *fabric = check->verify->fabric;
	char one[FABRIC_NAME_SIZE], other[FABRIC_NAME_SIZE];

	check->verify->verdict->complete = false;
	if (check->verify->verdict->witness)
		return;
	fabric_port_name(fabric, a, one, sizeof(one));
	fabric_port_name(fabric, b, other, sizeof(other));
	check->verify->verdict->witness = g_strdup_printf("%s: %s and %s", what, one, other);
}

static void check_pairs(const struct lane_check *check)
{
	const struct verify *verify = check->verify;
	const struct route_graph *graph = verify->graph;

	verify_mark_parts(check->verify, 0);
	for (uint32_t a = 0; a < graph->n; a++)
		for (uint32_t b = 0; route_has_hosts(graph, a) && b < graph->n; b++)
			if (verify->part[a] == verify->part[b] &&
			    route_lanes_sl(check->lanes, a, b) >= ROUTE_SLS &&
			    route_sends(graph, a, b))
				complain(check, "hosts without an SL",
					 fabric_switch_port(verify->fabric, a, 0),
					 fabric_switch_port(verify->fabric, b, 0));
}

/* The highest lane that is used must be one that a cable has. */
static void check_cables(const struct lane_check *check, uint16_t vls)
{
	const struct fabric *fabric = check->verify->fabric;
	unsigned int most = vls ? 31 - __builtin_clz(vls) : 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		if (fabric_is_switch(fabric, port->node) &&
		    route_switch_across(fabric, i) != FABRIC_NONE &&
		    most >= MAX(iba_vls_count(port->info.vl_cap), 1))
			complain(check, "a cable without the virtual lanes of the routes", i,
				 port->peer);
	}
}

/* A packet that came by a cable of the tree leaves by all others. */
static void add_tree(struct dependency *dependency, const struct verify *verify,
		     const struct route_tree *tree)
{
	g_autofree uint32_t *place = g_new(uint32_t, verify->graph->n + 1);

	memset(place, 0xFF, verify->graph->n * sizeof(*place));
	for (uint32_t i = 0; i < tree->n; i++)
		place[tree->switches[i]] = i;
	for (uint32_t i = 0; i < tree->n; i++)
		bits_each(tree->ports[i].bits, 0, ROUTE_NO_PORT, num) {
			uint8_t back;
			uint32_t sw = tree->switches[i], to = verify_cross(verify, sw, num, &back);

			if (to == FABRIC_NONE || place[to] == FABRIC_NONE)
				continue;
			bits_each(tree->ports[place[to]].bits, 0, ROUTE_NO_PORT, out)
				if (out && out != back)
					dependency_add(dependency, sw, num, out);
		}
}

static GArray *find_cycle(struct lane_check *check)
{
	GArray *cycle = NULL;

	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++) {
		if (check->of[vl] && !cycle)
			cycle = dependency_cycle(check->of[vl]);
		dependency_free(check->of[vl]);
	}
	return cycle;
}

static struct lane_check start(struct verify *verify, bool hosts_only)
{
	struct lane_check check = {
		.verify = verify,
		.lanes = verify->routing->lanes,
		.hosts_only = hosts_only,
	};

	g_assert(!check.lanes || check.lanes->n_switches == verify->graph->n);
	if (!routing_has_turns(verify->routing)) {
		follow_all(&check);
		follow_trunk(&check);
	}
	return check;
}

GArray *verify_lanes(struct verify *verify)
{
	struct lane_check check = start(verify, false);
	uint16_t vls = 0;
	GArray *cycle,
		*by_turn = routing_has_turns(verify->routing) ? verify_by_turn(verify, &vls) : NULL;

	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		vls |= (check.of[vl] != NULL) << vl;
	if (check.lanes) {
		check_pairs(&check);
		check_cables(&check, vls);
	}
	cycle = find_cycle(&check);
	return by_turn ? by_turn : cycle;
}

GArray *verify_hosts(struct verify *verify)
{
	struct lane_check check = start(verify, true);

	return find_cycle(&check);
}

GArray *verify_trees(struct verify *verify, const struct route_tree *const *trees, uint32_t n,
		     uint8_t sl)
{
	struct lane_check check = start(verify, false);
	unsigned int vl = check.lanes ? check.lanes->vl[sl % ROUTE_SLS] : 0;

	g_assert(!routing_has_turns(verify->routing)); /* their trees are a part of the routing */
	for (uint32_t i = 0; i < n; i++)
		add_tree(dependency_of(&check, vl), verify, trees[i]);
	return find_cycle(&check);
}
