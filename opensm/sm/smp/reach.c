// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How an SMP gets to a node. This depends only on what is known:
 *
 *	LID-routed	the known blocks lead from the SM to the node's LID and from the
 *			node to the SM's LID
 *	mixed		they do so for a switch on the way, from there it is directed
 *	directed	otherwise: hop by hop along the cables
 *
 * An unknown block, a lost cable, or a LID that was not acknowledged ends the search. Its result is
 * cached until builder_reach_changed().
 *
 * A route by LID according to the tables may still not work: a switch on it forwards otherwise than
 * it reports, or accepts packets meant for another LID. A Get does no harm there and is answered by
 * the wrong LID, or not at all; a Set would be applied. So Sets use a route only after a Get to the
 * same node came back from its LID (proven), and mixed routes begin with such a route. Where only
 * the directed route works (failed), something that is known is wrong: the switches on the way are
 * marked to be compared with the hardware; a node that was reached by LID before is read again; and
 * the route is tried again after a growing interval, or when the tables or cables on it change.
 */
#include "complib/hash.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define LIDS_PER_BLOCK 64
#define BLOCK_BYTES sizeof(struct iba_linear_forwarding_table)
#define FAILURES_MAX 3 /* in a row: one or two may be loss */
#define RETRY_FIRST_NS NS_PER_S
#define RETRIES_MAX 6 /* at growing intervals */

bool reach_is_blind(const struct builder_node *node)
{
	for (unsigned int hops = 0; hops < IBA_MAX_HOPS && node->entry && node->entry->peer;
	     hops++) {
		node = node->entry->peer->node;
		if (builder_is_silent(node))
			return true;
	}
	return false;
}

/* Where directed routes end, a table in doubt is used as it was last known. */
static const uint8_t *block_of(const struct builder_node *node, uint32_t block)
{
	const void *known = trust_get(node, &node->lft, block, BLOCK_BYTES);

	if (known || !(builder_is_silent(node) || reach_is_blind(node)))
		return known;
	return trust_last(&node->lft, block, BLOCK_BYTES);
}

/* The port through which a switch is known to forward a LID; NULL if unknown. */
static struct builder_port *forwards_to(const struct builder_node *node, uint16_t lid)
{
	const uint8_t *block = block_of(node, lid / LIDS_PER_BLOCK);

	if (!block || !node->has_switch_info || lid > node->switch_info.linear_fdb_top ||
	    block[lid % LIDS_PER_BLOCK] > node->info.num_ports)
		return NULL;
	return &node->ports[block[lid % LIDS_PER_BLOCK]];
}

/* What the walk from the SM to a node and back has found. */
struct way {
	const struct builder_node *to;
	uint64_t digest;
	bool failed; /* a switch on it is not reached by its LID, so nodes beyond are not either */
	bool check;  /* the switches on it must be compared with the hardware */
};

static void meet(struct way *way, struct builder_node *node, const struct builder_port *out)
{
	const struct node_reach *reach = &node->reach;

	way->digest = hash_spread(way->digest ^ node->guid ^ (uint64_t)(out ? out->num : 0) << 56);
	way->failed |= node != way->to && reach->failures && reach->failed &&
		       reach->failed != reach->proven;
	node->check |= way->check;
}

/* Follows the tables from a switch to an endport; false if they are not known to lead there. */
static bool walk(struct builder_node *from, const struct builder_port *to, struct way *way)
{
	for (unsigned int hops = 0; hops <= IBA_MAX_HOPS; hops++) {
		struct builder_port *out = forwards_to(from, to->lid);

		meet(way, from, out);
		if (!out || out == to)
			return out == to;
		if (builder_is_down(out) || !out->peer || out->peer == to)
			return !builder_is_down(out) && out->peer == to;
		from = out->peer->node;
		if (!builder_is_switch(from))
			return false;
	}
	return false;
}

static bool has_its_lid(const struct builder_port *port)
{
	return port->lid && port->known && port->info.lid == port->lid;
}

/* The switch through which an endport sends: its own, or that at the other end of its cable. */
static struct builder_node *first_switch(const struct builder_port *endport)
{
	if (builder_is_switch(endport->node))
		return endport->node;
	if (!endport->peer || builder_is_down(endport) || !builder_is_switch(endport->peer->node))
		return NULL;
	return endport->peer->node;
}

/* A digest of the route by LID to an endport and back; 0: there is none. */
static uint64_t route_by_lid(const struct sm *sm, const struct builder_port *endport)
{
	const struct builder_port *own = sm->builder->sm_port;
	struct way way = {endport->node, (uint64_t)endport->lid << 16, false, false};
	struct builder_node *here, *there;

	if (!own || own == endport || !has_its_lid(own) || !has_its_lid(endport))
		return 0;
	way.digest |= own->lid;
	if (endport->peer == own)
		return builder_is_down(own) || builder_is_down(endport) ? 0 : way.digest;
	here = first_switch(own);
	there = first_switch(endport);
	if (!here || !there || !walk(here, endport, &way) || !walk(there, own, &way) || way.failed)
		return 0;
	return way.digest | 1;
}

/* The endport through which a node is queried: NULL if it is not reachable. */
static struct builder_port *asked_by(struct builder_node *node)
{
	return builder_is_switch(node) ? &node->ports[0] : node->entry;
}

uint64_t reach_route(const struct sm *sm, struct builder_node *node)
{
	struct node_reach *reach = &node->reach;
	const struct builder_port *endport = asked_by(node);

	/* A heavy discovery uses only cables that it has seen, if it can see any. */
	if (!endport || (sm->builder->only_seen && !reach_is_blind(node)))
		return 0;
	if (reach->epoch != sm->builder->reach_epoch) {
		reach->epoch = sm->builder->reach_epoch;
		reach->route = route_by_lid(sm, endport);
	}
	if (reach->failures >= FAILURES_MAX && reach->failed == reach->route &&
	    actor_now(sm->actor) < reach->retry_ns)
		return 0;
	return reach->route;
}

static bool is_proven(const struct sm *sm, struct builder_node *node)
{
	uint64_t route = reach_route(sm, node);

	return route && route == node->reach.proven &&
	       !(node->reach.failures && node->reach.failed == route);
}

bool reach_is_unproven(const struct sm *sm, struct builder_node *node)
{
	return reach_route(sm, node) && !is_proven(sm, node);
}

uint16_t reach_likely_lid(const struct sm *sm, const struct builder_node *node)
{
	const struct builder_port *port = &node->ports[0];

	if (sm->lids.changing || !builder_is_switch(node) || !has_its_lid(port) ||
	    !has_its_lid(sm->builder->sm_port) || node->reach.failures)
		return 0;
	return port->lid;
}

/* ---- routes ---- */

/* LID-routed to the last switch on the way that is reached that way, or to the node itself. */
static void find_via(const struct sm *sm, struct builder_node *last, struct mad_route *route)
{
	route->via = 0;
	route->via_hops = 1;
	while (last->entry && last->entry->peer && !is_proven(sm, last)) {
		last = last->entry->peer->node;
		route->via_hops++;
	}
	if (last->entry && last->entry->peer)
		route->via = last->ports[0].lid;
}

/* Continues from the end of a route through a port; false if it is too long. */
static bool add_hop(const struct sm *sm, struct mad_route *route, struct builder_node *last,
		    uint8_t port)
{
	if (route->hops >= IBA_MAX_HOPS - 1)
		return false;
	route->path[++route->hops] = port;
	route->lid = 0;
	route->blind = builder_is_silent(last) || reach_is_blind(last);
	find_via(sm, last, route);
	return true;
}

static bool directed_to(struct builder_node *node, struct mad_route *route)
{
	int hops = builder_path(node, route->path);

	route->hops = hops < 0 ? 0 : (uint8_t)hops;
	route->lid = route->via = 0;
	route->blind = false;
	return hops >= 0;
}

struct builder_port *reach_guide(const struct sm *sm, const struct builder_node *node)
{
	struct builder_port *best = node->entry ? node->entry->peer : NULL;

	if (!best || !builder_is_switch(node) || is_proven(sm, best->node))
		return best;
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		if (peer && peer->node != node && !builder_is_down(peer) &&
		    !builder_is_silent(peer->node) &&
		    !builder_is_down(&node->ports[num]) && builder_is_switch(peer->node) &&
		    peer->node->hops <= node->hops && is_proven(sm, peer->node))
			return peer;
	}
	return best;
}

bool reach_node(const struct sm *sm, struct builder_node *node, bool set, struct mad_route *route)
{
	struct builder_port *guide;

	if (!node->builder || !node->entry) /* the SM's own, or none */
		return directed_to(node, route);
	guide = reach_guide(sm, node);
	if (!guide || !directed_to(guide->node, route) ||
	    !add_hop(sm, route, guide->node, guide->num))
		return false;
	if (set ? is_proven(sm, node) : reach_route(sm, node) != 0)
		route->lid = asked_by(node)->lid;
	return true;
}

/* True for a port of a CA or router other than the one through which its node is reached. */
static bool is_second_port(const struct sm *sm, const struct builder_port *port)
{
	return !builder_is_switch(port->node) && port->num != 0 && port->peer &&
	       port != port->node->entry && port != sm->builder->sm_port;
}

bool reach_is_cut_off(const struct sm *sm, const struct builder_port *port)
{
	return !builder_is_switch(port->node) && port->num != 0 && !port->peer &&
	       port != sm->builder->sm_port;
}

bool reach_port(const struct sm *sm, struct builder_port *port, bool set, struct mad_route *route)
{
	if (reach_is_cut_off(sm, port))
		return false;
	if (!is_second_port(sm, port))
		return reach_node(sm, port->node, set, route);
	if (!reach_beyond(sm, port->peer, route))
		return false;
	if (!set && !sm->builder->only_seen && route_by_lid(sm, port))
		route->lid = port->lid;
	return true;
}

bool reach_beyond(const struct sm *sm, struct builder_port *port, struct mad_route *route)
{
	return directed_to(port->node, route) && add_hop(sm, route, port->node, port->num);
}

/* ---- results ---- */

/* Nodes beyond a switch are reached by LID only as long as the switch is. */
static void note_change(struct builder_node *node)
{
	if (builder_is_switch(node) && node->builder)
		builder_reach_changed(node->builder);
}

void reach_answered(struct builder_node *node, uint64_t route)
{
	struct node_reach *reach = &node->reach;
	reach->proven = route;
	if (!reach->failures || reach->failed != route)
		return;
	reach->failures = 0;
	note_change(node);
}

void reach_failed(struct sm *sm, struct builder_node *node, uint64_t route)
{
	struct node_reach *reach = &node->reach;
	const struct builder_port *own = sm->builder->sm_port, *endport = asked_by(node);
	uint64_t now = actor_now(sm->actor);
	struct way way = {.check = true};
	bool was_proven = reach->proven != 0;

	if (!route && reach->failures && reach->failed)
		return; /* that is weaker evidence */
	if (reach->failed != route)
		reach->failures = 0;
	if (reach->failures >= FAILURES_MAX && now < reach->retry_ns)
		return; /* it was sent before */
	reach->failed = route;
	reach->failures = MIN(reach->failures + 1, FAILURES_MAX + RETRIES_MAX);
	if (reach->failures >= FAILURES_MAX) {
		reach->proven = 0;
		reach->retry_ns = now + (RETRY_FIRST_NS << (reach->failures - FAILURES_MAX));
	}
	note_change(node);
	if (reach->failures != FAILURES_MAX || !node->builder || !own || !endport ||
	    !first_switch(own) || !first_switch(endport))
		return;
	walk(first_switch(own), endport, &way);
	walk(first_switch(endport), own, &way);
	if (was_proven)
		sweep_look_at(sm, node); /* another SM may have assigned it another LID */
}

struct builder_port *sm_port_of_path(const struct sm *sm, const struct iba_dr_smp *smp,
				     unsigned int back_to)
{
	struct builder_port *port = sm->builder->sm_port;

	for (unsigned int hop = smp->hop_count; port && hop > back_to; hop--) {
		struct builder_node *node = port->node;
		unsigned int in = smp->return_path[hop];

		if (builder_is_switch(node))
			port = in && in <= node->info.num_ports ? &node->ports[in] : NULL;
		else if (hop != smp->hop_count)
			return NULL;
		port = port ? port->peer : NULL;
	}
	return port && !back_to && builder_is_switch(port->node) ? &port->node->ports[0] : port;
}
