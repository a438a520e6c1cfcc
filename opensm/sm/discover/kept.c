// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Nodes that do not answer, and are kept. A hanging SMA does not show that the node stopped passing
 * packets: a switch forwards by its tables, and a host continues to work.
 *
 *	        all tries failed, and it is               it answers: read again, and
 *	        behind a cable that is up                 its tables compared
 *	 well -------------------------------> silent -------------------------------> well
 *	                                         |
 *	                                         | no cable leads to it any more
 *	                                         v
 *	                                       gone
 *
 * A cable is gone when one of its ends reports that it is down, or that it was (INIT), or when
 * another device answers at its end. Silence does not remove a cable, in any kind of sweep: what
 * was known of the node stays, with its LIDs, its routes and its records, and so do the nodes
 * behind it. Directed routes may end at a switch that hangs; nodes behind it are queried by their
 * LIDs (reach.c).
 *
 * Nothing is written to a silent node, and it is only queried for whether it answers again: in
 * discovery, by light sweeps, and when it is its turn (health.c). Routes use its tables (fixed.c).
 */
#include "sm/discover/discover_private.h"
#include "sm/health/health.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define BLOCK_BYTES sizeof(struct iba_linear_forwarding_table)

static bool is_own(const struct sm *sm, const struct builder_node *node)
{
	return sm->builder->sm_port && sm->builder->sm_port->node == node;
}

/* The forwarding tables of a switch, or that it forwards nothing. */
static bool is_table_known(const struct builder_node *node)
{
	bool known = node->has_switch_info && !node->switch_info.linear_fdb_top;

	for (uint32_t block = 0; !known && block < trust_n_blocks(&node->lft); block++)
		known = trust_last(&node->lft, block, BLOCK_BYTES) != NULL;
	return known;
}

bool kept_was_read(const struct builder_node *node)
{
	bool known = builder_is_switch(node) && node->has_switch_info && node->ports[0].known &&
		     is_table_known(node);

	for (unsigned int num = 1; !builder_is_switch(node) && num <= node->info.num_ports; num++)
		known |= node->ports[num].known;
	return known;
}

/* The port by which a node last fell silent; NULL: it never did. */
static struct builder_port **lost_by(const struct sm *sm, const struct builder_node *node)
{
	return node_table_of(sm->discovery->lost_by, node);
}

static void fall_silent(struct sm *sm, struct builder_node *node)
{
	bool is_new = !builder_is_silent(node);

	if (is_new) {
		*lost_by(sm, node) = node->entry;
		builder_set_silent(node, MAX(actor_now(sm->actor), 1));
	}
	health_silent(sm, node,
		      is_own(sm, node) ? "it does not answer, but the SM runs on it: its "
					 "configuration is kept"
				       : "it does not answer, but its link is up: it is kept "
					 "with its configuration",
		      is_new);
}

bool kept_failed(const struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_node *node = request->node;
	bool looks = sweep_is_discovering(sm) || sm->sweep.kind == SWEEP_KIND_LIGHT;

	if (request->mad.result != MAD_TIMEOUT || request->beyond || !looks || !node->builder ||
	    !kept_was_read(node) ||
	    !sm->schedule.discovered) /* what was found may have been cut off since */
		return false;
	fall_silent(sm, node);
	return true;
}

bool kept_skips(const struct sm_request *request)
{
	const struct sm *sm = request->sm;

	if (!builder_is_silent(request->node) || request->beyond ||
	    request->sender != REQUEST_OF_SWEEP)
		return false;
	return !sweep_is_discovering(sm) && sm->sweep.kind != SWEEP_KIND_LIGHT;
}

/*
 * The cable through which it was lost may be gone without a report, as the other end is silent,
 * too.
 */
static void avoid_cable(const struct sm *sm, const struct builder_node *node)
{
	struct builder_port *port = *lost_by(sm, node);

	if (port && port != node->entry && port->peer && builder_is_silent(port->peer->node))
		port->avoided = true;
}

void kept_answered(struct sm *sm, struct builder_node *node)
{
	char name[SM_NAME_SIZE];

	if (!builder_is_silent(node) || !node->builder)
		return;
	log_info(sm->log, "%s answers again, after %.1f s", sm_node_name(node, name, sizeof(name)),
		 (actor_now(sm->actor) - node->silent_ns) / (double)NS_PER_S);
	avoid_cable(sm, node);
	builder_set_silent(node, 0);
	if (builder_is_switch(node))
		node->check = true; /* nodes behind it may be reachable through its tables only */
	else
		node_lose_trust(sm, node, "it did not answer for a while");
	if (!sweep_is_discovering(sm) || node->looked_at != sm->sweep.serial)
		sweep_look_at(sm, node);
}

/* ---- in discovery: nodes behind it are queried, and may be silent, too ---- */

static void keep(struct sm *sm, struct builder_node *node);

/* A directed route reaches the device at that cable; a LID may lead to any device. */
static bool is_another(const struct sm_request *request)
{
	struct iba_node_info info;

	wire_decode(&iba_node_info_type, request->mad.data, &info);
	return info.node_guid != request->node->guid && !request->mad.by_lid;
}

static void on_followed(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_node *node = request->node;
	struct builder_port *entry = node->entry;

	if (node->looked_at == sm->sweep.serial || !node->builder || !entry || !entry->peer)
		return; /* it was found elsewhere, or is gone */
	if (!sm_request_ok(request))
		keep(sm, node);
	else if (is_another(request))
		port_probe(sm, entry->peer);
	else
		read_node(sm, node, entry, entry->peer->node);
}

static void follow(struct sm *sm, struct builder_port *port)
{
	struct builder_port *far = port->peer;
	struct builder_node *node = far ? far->node : NULL;
	struct sm_request *request;

	if (!far || builder_is_down(port) || builder_is_down(far))
		return;
	builder_link_seen(port);
	if (sm->sweep.kind != SWEEP_KIND_HEAVY || node->looked_at == sm->sweep.serial ||
	    is_own(sm, node))
		return;
	node_place(sm, node, far, port->node);
	request = builder_is_switch(node)
			  ? sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0)
			  : sm_request_port(sm, far, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	request->done = on_followed;
	sm_request_send(request);
}

/* It stays as it was, and so do its cables, unless the other end reports otherwise. */
static void keep(struct sm *sm, struct builder_node *node)
{
	node->seen = sm->builder->sweep;
	node->looked_at = sm->sweep.serial;
	builder_unmark(node);
	fall_silent(sm, node);
	for (unsigned int num = 1; builder_is_switch(node) && num <= node->info.num_ports; num++)
		follow(sm, &node->ports[num]);
}

/*
 * The link was up all the time since the other end was identified: it does not report otherwise,
 * and was seen to be up without a change since this SM brought it up.
 */
static bool was_always_up(const struct builder_port *port)
{
	const struct builder_node *node = port->node;

	return port->known && port->info.port_state > IBA_PORT_INIT &&
	       !builder_cable_is(port, CABLE_CONTESTED) &&
	       port->activated < MAX(node->recheck_from, node->confirmed_until);
}

bool kept_behind(struct sm *sm, struct builder_port *port)
{
	struct builder_port *far = port->peer;

	if (!far || !was_always_up(port) || !kept_was_read(far->node))
		return false;
	builder_link_seen(port);
	if (far->node->looked_at == sm->sweep.serial)
		return true;
	node_place(sm, far->node, far, port->node);
	keep(sm, far->node);
	return true;
}

bool kept_own(struct sm *sm)
{
	struct builder_port *own = sm->builder->sm_port;

	if (!own || !kept_was_read(own->node))
		return false;
	keep(sm, own->node);
	if (!builder_is_switch(own->node) && !builder_cable_is(own, CABLE_ASKED))
		port_probe(sm, own);
	return true;
}
