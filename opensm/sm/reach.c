// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How an SMP gets to a node. That follows from what is known, and from nothing else:
 *
 *	LID-routed	the blocks that are known lead from the SM to the node's LID and from the
 *			node to the SM's LID
 *	mixed		they do so for a switch on the way, from there it is directed
 *	directed	otherwise: hop by hop along the cables
 *
 * A block that is not known, a cable that is gone, a LID that was not acknowledged end the walk.
 * What a walk found is kept until builder_reach_changed(). Where the walk says yes and SMPs get
 * through by the directed route only, something that is known is wrong: the switches on the way are
 * marked to be compared with the hardware.
 */
#include "sm/sm_private.h"

#define LIDS_PER_BLOCK 64
#define BLOCK_BYTES sizeof(struct iba_linear_forwarding_table)
#define FAILURES_MAX 3 /* in a row: one or two may be loss */

/* The port by which a switch is known to forward a LID; NULL if that is not known. */
static struct builder_port *forwards_to(const struct builder_node *node, uint16_t lid)
{
	const uint8_t *block = trust_get(node, &node->lft, lid / LIDS_PER_BLOCK, BLOCK_BYTES);

	if (!block || !node->has_switch_info || lid > node->switch_info.linear_fdb_top ||
	    block[lid % LIDS_PER_BLOCK] > node->info.num_ports)
		return NULL;
	return &node->ports[block[lid % LIDS_PER_BLOCK]];
}

/*
 * Walks the tables from a switch to an endport, calling each(switch) if that is not NULL; false if
 * they are not known to lead there.
 */
static bool walk(struct builder_node *from, const struct builder_port *to,
		 void (*each)(struct builder_node *node))
{
	for (unsigned int hops = 0; hops <= IBA_MAX_HOPS; hops++) {
		struct builder_port *out = forwards_to(from, to->lid);

		if (each)
			each(from);
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

/* The switch by which an endport sends: its own, or that at the other end of its cable. */
static struct builder_node *first_switch(const struct builder_port *endport)
{
	if (builder_is_switch(endport->node))
		return endport->node;
	if (!endport->peer || builder_is_down(endport) || !builder_is_switch(endport->peer->node))
		return NULL;
	return endport->peer->node;
}

static bool is_reached_by_lid(const struct sm *sm, const struct builder_port *endport)
{
	const struct builder_port *own = sm->builder->sm_port;
	struct builder_node *here, *there;

	if (!own || own == endport || !has_its_lid(own) || !has_its_lid(endport))
		return false;
	if (endport->peer == own)
		return !builder_is_down(own) && !builder_is_down(endport);
	here = first_switch(own);
	there = first_switch(endport);
	return here && there && walk(here, endport, NULL) && walk(there, own, NULL);
}

/* The endport by which a node is asked: NULL for one that is not reached at all. */
static struct builder_port *asked_by(struct builder_node *node)
{
	return builder_is_switch(node) ? &node->ports[0] : node->entry;
}

bool reach_by_lid(const struct sm *sm, struct builder_node *node)
{
	struct node_reach *reach = &node->reach;
	const struct builder_port *endport = asked_by(node);

	/* A heavy discovery believes in no cable that it has not seen. */
	if (!endport || sm->builder->only_seen ||
	    (reach->failures >= FAILURES_MAX && reach->failed == sm->builder->sweep))
		return false;
	if (reach->epoch != sm->builder->reach_epoch) {
		reach->epoch = sm->builder->reach_epoch;
		reach->by_lid = is_reached_by_lid(sm, endport);
	}
	return reach->by_lid;
}

uint16_t reach_likely_lid(const struct sm *sm, const struct builder_node *node)
{
	const struct builder_port *port = &node->ports[0];

	if (sm->lids.changing || !builder_is_switch(node) || !has_its_lid(port) ||
	    !has_its_lid(sm->builder->sm_port) ||
	    (node->reach.failures && node->reach.failed == sm->builder->sweep))
		return 0;
	return port->lid;
}

/* ---- routes ---- */

/* The route goes LID-routed to the last switch on the way that is reached so, or to itself. */
static void find_via(const struct sm *sm, struct builder_node *last, struct mad_route *route)
{
	route->via = 0;
	route->via_hops = 1;
	while (last->entry && last->entry->peer && !reach_by_lid(sm, last)) {
		last = last->entry->peer->node;
		route->via_hops++;
	}
	if (last->entry && last->entry->peer)
		route->via = last->ports[0].lid;
}

/* Goes on from the end of a route through a port; false if it is too long. */
static bool add_hop(const struct sm *sm, struct mad_route *route, struct builder_node *last,
		    uint8_t port)
{
	if (route->hops >= IBA_MAX_HOPS - 1)
		return false;
	route->path[++route->hops] = port;
	route->lid = 0;
	find_via(sm, last, route);
	return true;
}

static bool directed_to(struct builder_node *node, struct mad_route *route)
{
	int hops = builder_path(node, route->path);

	route->hops = hops < 0 ? 0 : (uint8_t)hops;
	route->lid = route->via = 0;
	return hops >= 0;
}

struct builder_port *reach_guide(const struct sm *sm, const struct builder_node *node)
{
	struct builder_port *best = node->entry ? node->entry->peer : NULL;

	if (!best || !builder_is_switch(node) || reach_by_lid(sm, best->node))
		return best;
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		if (peer && peer->node != node && !builder_is_down(peer) &&
		    !builder_is_down(&node->ports[num]) && builder_is_switch(peer->node) &&
		    peer->node->hops <= node->hops && reach_by_lid(sm, peer->node))
			return peer;
	}
	return best;
}

bool reach_node(const struct sm *sm, struct builder_node *node, struct mad_route *route)
{
	struct builder_port *guide;

	if (!node->builder || !node->entry) /* the SM's own, or none */
		return directed_to(node, route);
	guide = reach_guide(sm, node);
	if (!guide || !directed_to(guide->node, route) ||
	    !add_hop(sm, route, guide->node, guide->num))
		return false;
	if (reach_by_lid(sm, node))
		route->lid = asked_by(node)->lid;
	return true;
}

/* True for a port of a CA or router that is not the one its node is reached by. */
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

bool reach_port(const struct sm *sm, struct builder_port *port, struct mad_route *route)
{
	if (reach_is_cut_off(sm, port))
		return false;
	if (!is_second_port(sm, port))
		return reach_node(sm, port->node, route);
	if (!reach_beyond(sm, port->peer, route))
		return false;
	if (!sm->builder->only_seen && is_reached_by_lid(sm, port))
		route->lid = port->lid;
	return true;
}

bool reach_beyond(const struct sm *sm, struct builder_port *port, struct mad_route *route)
{
	return directed_to(port->node, route) && add_hop(sm, route, port->node, port->num);
}

/* ---- what came of it ---- */

static void check_switch(struct builder_node *node)
{
	node->check = true;
}

void reach_result(struct sm *sm, struct builder_node *node, bool fell_back)
{
	struct node_reach *reach = &node->reach;
	const struct builder_port *own = sm->builder->sm_port, *endport;

	reach->failures = fell_back ? MIN(reach->failures + 1, FAILURES_MAX) : 0;
	reach->failed = sm->builder->sweep;
	if (reach->failures != FAILURES_MAX || !node->builder || !own)
		return;
	endport = asked_by(node);
	if (!endport || !first_switch(own) || !first_switch(endport))
		return;
	walk(first_switch(own), endport, check_switch);
	walk(first_switch(endport), own, check_switch);
}
