// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Discovery. A node is read when a sweep finds it for the first time; through each port of a switch
 * whose link is up and whose cable was not found yet, the other end is probed. A heavy sweep begins
 * at the SM's own port, a partial one at the nodes marked dirty; both continue as long as nodes are
 * marked, which traps and lost cables do meanwhile.
 *
 * Reports of nodes are not trusted: port numbers are checked, and cables.c decides which device is
 * where.
 *
 * PortStateChange of a switch is cleared before its ports are read: later changes set it again. It
 * shows that some link went down or came up by itself; so when it is set, all ports that this SM
 * brought up since it was clear are treated as if they had bounced, whatever they report now, and
 * so is the switch itself: our own Sets may have hidden that it was reset.
 */
#include <string.h>

#include "sm/discover/discover_private.h"
#include "sm/election/mastership.h"
#include "sm/health/health.h"
#include "sm/keys/advice.h"
#include "sm/keys/keys.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define MAX_HOPS 63
#define MAX_ROUNDS (4 * MAX_HOPS) /* of a partial discovery */

static bool is_fresh(const struct sm *sm, const struct builder_port *port)
{
	return port->read == sm->builder->sweep;
}

static const char bounced_ca[] = "its link was down";

void node_lose_trust(struct sm *sm, struct builder_node *node, const char *why)
{
	char name[SM_NAME_SIZE];

	log_verbose(sm->log, "the tables of %s will be read again: %s",
		    sm_node_name(node, name, sizeof(name)), why);
	trust_lose(node);
}

/* ---- nodes, ports, cables: they lead to each other, so this is one cycle ---- */

static void on_node_info(struct sm_request *request);

void port_probe(struct sm *sm, struct builder_port *port)
{
	struct sm_request *request;

	if (port->node->hops >= MAX_HOPS) {
		health_too_far(sm, port);
		return;
	}
	builder_cable(port, CABLE_EVENT_ASKED);
	request = sm_request_beyond(sm, port);
	if (mastership_was_missed(sm, port->peer)) /* a host that probably hangs */
		request->mad.tries = MISSED_TRIES;
	request->done = on_node_info;
	sm_request_send(request);
}

/*
 * A cable was or is down: traps of other nodes through it were lost, so all switches are queried.
 */
static void note_traps(struct sm *sm, const struct builder_port *port)
{
	const struct builder_port *peer = port->peer;

	sm->schedule.traps_lost |= builder_is_switch(port->node) && peer &&
				   (builder_is_switch(peer->node) || peer == sm->builder->sm_port);
}

/*
 * The link of a port went down and up: what this sweep saw of its cable is outdated. So is the
 * other end if it is a channel adapter's, which does not report by itself and may be another one.
 */
static void link_bounced(struct sm *sm, struct builder_port *port)
{
	struct builder_port *peer = port->peer;

	note_traps(sm, port);
	builder_cable(port, CABLE_EVENT_STALE);
	port->node->check = true;
	if (!peer)
		return;
	if (builder_is_switch(peer->node)) { /* it may have been reset since it was read */
		peer->node->check = true;
		return;
	}
	peer->read = 0;
	node_lose_trust(sm, peer->node, bounced_ca);
}

static bool may_have_bounced(const struct builder_port *port, const struct iba_port_info *now)
{
	const struct builder_node *node = port->node;

	if (!builder_is_switch(node) || !port->num || !port->known)
		return false;
	if (now->port_state == IBA_PORT_INIT)
		return port->info.port_state > IBA_PORT_INIT;
	return port->activated >= node->recheck_from;
}

/* The SM that was there has gone, or the port obeys another one: writes since then are unknown. */
static bool tells_of_other_sm(const struct builder_port *port, const struct iba_port_info *now)
{
	const struct iba_port_info *before = &port->info;

	return port->guid && port->known &&
	       ((before->capability_mask & ~now->capability_mask & IBA_PORT_CAP_SM) ||
		(now->master_sm_lid && before->master_sm_lid &&
		 now->master_sm_lid != before->master_sm_lid));
}

/* The link of a switch port certainly went down since the port was last known. */
static bool has_fallen(const struct builder_port *port, const struct iba_port_info *now)
{
	return builder_is_switch(port->node) && port->num && port->known &&
	       now->port_state <= IBA_PORT_INIT && now->port_state < port->info.port_state;
}

/* An endport has lost its assigned LID, and no error explains that. */
static bool was_reset(const struct sm *sm, const struct builder_port *port,
		      const struct iba_port_info *now)
{
	bool had = !port->known || port->info.lid;

	return port->guid && !now->lid && had && sm->schedule.succeeded &&
	       !health_is_sick(sm, port->node) &&
	       guid2lid_is_assigned(sm->store.guid2lid, port->guid);
}

/* Or the switch to which it leads was reset. */
static void ca_bounced(struct sm *sm, struct builder_port *port)
{
	node_lose_trust(sm, port->node, bounced_ca);
	if (port->peer && builder_is_switch(port->peer->node))
		port->peer->node->check = true;
}

/* True if the link may have been down since the port was last known. */
static bool port_info_store(struct sm *sm, struct builder_port *port,
			    const struct iba_port_info *info)
{
	bool bounced = may_have_bounced(port, info);

	if (has_fallen(port, info))
		port_health_fell(sm, port);
	if (was_reset(sm, port, info))
		port_health_event(sm, port, PORT_REBOOT);
	if (bounced)
		link_bounced(sm, port);
	if (!builder_is_switch(port->node) && info->port_state == IBA_PORT_INIT && port->known &&
	    port->info.port_state > IBA_PORT_INIT)
		ca_bounced(sm, port);
	if (port->num == 0 && info->lid == 0 && port->known && port->info.lid)
		node_lose_trust(sm, port->node, "it was reset");
	/* A switch that was reset comes up like that, however often its ports were set since. */
	if (builder_is_switch(port->node) && info->port_state == IBA_PORT_INIT)
		port->node->check = true;
	if (tells_of_other_sm(port, info))
		audit_all_soon(sm);
	builder_cable(port, CABLE_EVENT_READ);
	if (port->info.lid != info->lid)
		builder_reach_changed(port->node->builder);
	builder_set_info(port, info);
	port->read = sm->builder->sweep;
	return bounced;
}

/* The other end went down with it; if that is a switch more of it may have changed. */
static void link_lost(struct sm *sm, struct builder_port *port)
{
	struct builder_port *peer = port->peer;

	builder_cable(port, CABLE_EVENT_DOWN); /* it may come up again within this sweep */
	if (!peer)
		return;
	note_traps(sm, port);
	if (peer->info.port_state != IBA_PORT_DOWN)
		builder_cable(peer, CABLE_EVENT_LOST);
	peer->info.port_state = IBA_PORT_DOWN;
	builder_lose_link(port);
	if (!builder_is_switch(peer->node))
		health_nodes_gone(sm); /* or one of its ports, with a GUID that another may claim */
	if (builder_is_switch(peer->node) && !(sweep_is_discovering(sm) && is_fresh(sm, peer)))
		builder_mark(peer->node);
	sweep_want(sm, SWEEP_CHANGE);
}

void port_exclude(struct builder_port *port)
{
	builder_lose_link(port);
	builder_cable(port, CABLE_EVENT_EXCLUDED);
}

/* The state of a switch port was read: does it lead somewhere new? */
static void follow_port(struct sm *sm, struct builder_port *port, bool bounced)
{
	if (port->num == 0)
		return;
	if (!builder_link_is_up(port)) {
		link_lost(sm, port);
		return;
	}
	if (port_health_excludes(sm, port, port->peer)) {
		port_exclude(port);
		return;
	}
	if (builder_cable_is(port, CABLE_SEEN | CABLE_ASKED))
		return;
	if (sm->sweep.kind == SWEEP_KIND_PARTIAL && port->peer && !bounced &&
	    !builder_cable_is(port, CABLE_CONTESTED) && port->info.port_state != IBA_PORT_INIT) {
		builder_link_seen(port); /* nothing happened here */
		return;
	}
	port_probe(sm, port);
}

static bool is_extended(const struct sm_request *request)
{
	return request->mad.modifier & IBA_PORT_INFO_MOD_EXTENDED_SPEEDS;
}

/* The SMA's endport says it, which for a switch is port 0. */
static bool speaks_extended(const struct builder_port *port)
{
	const struct builder_port *who =
		builder_is_switch(port->node) ? &port->node->ports[0] : port;

	return port->num != 0 && who->known &&
	       who->info.capability_mask & IBA_PORT_CAP_EXTENDED_SPEEDS;
}

/* Some devices tell extended speeds only if they are asked for them. */
static bool hides_extended(const struct builder_port *port)
{
	return speaks_extended(port) && builder_link_is_up(port) &&
	       !port->info.link_speed_ext_supported;
}

static void send_get_port_info(struct sm *sm, struct builder_port *port, bool extended,
			       void (*done)(struct sm_request *request))
{
	uint32_t modifier = port->num | (extended ? IBA_PORT_INFO_MOD_EXTENDED_SPEEDS : 0);
	struct sm_request *request =
		sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, modifier);

	request->reading = port->node->reading;
	request->done = done;
	sm_request_send(request);
}

/* False: it is not the answer to the latest question, or not to be used. */
static bool take_port_info(struct sm_request *request, bool first)
{
	struct sm *sm = request->sm;
	struct builder_port *port = request->port;
	struct iba_port_info info;
	bool bounced;

	if (request->reading != port->node->reading)
		return false; /* it was queried again since, and this answer is older */
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if ((!builder_is_switch(port->node) || port->num == 0) &&
	    keys_still_unknown(sm, port, &info))
		return false;
	/* Read again in one sweep: it may be in INIT again, with another device behind it. */
	if (is_fresh(sm, port) && first && info.port_state == IBA_PORT_INIT &&
	    builder_is_switch(port->node))
		link_bounced(sm, port);
	bounced = port_info_store(sm, port, &info);
	if (builder_is_switch(port->node))
		follow_port(sm, port, bounced);
	else if (port == sm->builder->sm_port && builder_link_is_up(port) &&
		 !builder_cable_is(port, CABLE_ASKED))
		port_probe(sm, port); /* the SM's CA sees the subnet through one port */
	return true;
}

/* The other form of the question: what the first one told stays if this one fails. */
static void on_port_info_again(struct sm_request *request)
{
	if (sm_request_ok(request))
		take_port_info(request, false);
	else if (!is_extended(request))
		sm_request_failed(request);
}

static void on_port_info(struct sm_request *request)
{
	struct builder_port *port = request->port;

	if (!sm_request_ok(request)) {
		if (is_extended(request) && request->mad.result == MAD_STATUS)
			send_get_port_info(request->sm, port, false, on_port_info_again);
		else
			sm_request_failed(request);
		return;
	}
	if (take_port_info(request, true) && !is_extended(request) && hides_extended(port))
		send_get_port_info(request->sm, port, true, on_port_info_again);
}

void port_info_seen(struct sm_request *request)
{
	struct builder_port *port = request->port;
	struct iba_port_info info;
	bool bounced;

	wire_decode(&iba_port_info_type, request->mad.data, &info);
	bounced = port_info_store(request->sm, port, &info);
	if (!builder_link_is_up(port))
		link_lost(request->sm, port);
	else if (bounced)
		sweep_look_at(request->sm, port->node);
}

static void get_port_info(struct sm *sm, struct builder_node *node, unsigned int num)
{
	struct builder_port *port = &node->ports[num];

	send_get_port_info(sm, port, speaks_extended(port), on_port_info);
}

static void read_outer_ports(struct sm *sm, void *item)
{
	struct builder_node *node = item;

	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		get_port_info(sm, node, num);
}

static void read_each_port(struct sm *sm, void *item)
{
	get_port_info(sm, item, 0);
	read_outer_ports(sm, item);
}

/* Switches that answer one by one have more ports in total than should be queried at once. */
static void walk_ports(struct sm *sm, struct builder_node *node, sweep_visit *visit)
{
	GPtrArray *nodes = g_ptr_array_new();

	g_ptr_array_add(nodes, node);
	sweep_walk(sm, nodes, 1, visit);
}

static void on_port_0(struct sm_request *request)
{
	bool answered = request->mad.result == MAD_OK || request->mad.result == MAD_STATUS;

	on_port_info(request);
	if (answered && request->reading == request->node->reading)
		walk_ports(request->sm, request->node, read_outer_ports);
}

/* Port 0 of a new switch first, which tells in what form to ask for the others. */
static void read_ports(struct sm *sm, struct builder_node *node)
{
	if (node->ports[0].known)
		walk_ports(sm, node, read_each_port);
	else
		send_get_port_info(sm, &node->ports[0], false, on_port_0);
}

/* It may have the M_Key of another SM, which PortInfo of port 0 shows, or hides. */
static void on_change_cleared(struct sm_request *request)
{
	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		get_port_info(request->sm, request->node, 0);
		return;
	}
	request->node->switch_info.port_state_change = 0;
	builder_touch(request->node);
	read_ports(request->sm, request->node);
}

/* Later changes set PortStateChange again. */
static void clear_change(struct sm *sm, struct builder_node *node)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_SWITCH_INFO, 0);

	wire_encode(&iba_switch_info_type, &node->switch_info, request->mad.data);
	request->done = on_change_cleared;
	sm_request_send(request);
}

bool switch_kept_tables(const struct builder_node *node, const struct iba_switch_info *now)
{
	return !node->has_switch_info || now->linear_fdb_top == node->switch_info.linear_fdb_top ||
	       now->linear_fdb_top == node->top_sent;
}

static void switch_info_store(struct sm *sm, struct builder_node *node,
			      const struct iba_switch_info *info)
{
	if (!switch_kept_tables(node, info))
		node_lose_trust(sm, node, "its LinearFDBTop differs from the value written");
	if (info->linear_fdb_top != node->switch_info.linear_fdb_top)
		builder_reach_changed(node->builder);
	node->switch_info = *info;
	node->top_sent = info->linear_fdb_top;
	node->has_switch_info = true;
	builder_touch(node);
}

static void on_switch_info(struct sm_request *request)
{
	struct builder_node *node = request->node;
	struct iba_switch_info info;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_switch_info_type, request->mad.data, &info);
	switch_info_store(request->sm, node, &info);
	if (info.port_state_change)
		node->recheck_from = MIN(node->recheck_from, node->confirmed_until);
	/* Before there is a master it stays set, to notify the SM that becomes master. */
	node->read_uncleared =
		info.port_state_change &&
		(!sm_is_master(request->sm) || keys_were_unknown(request->sm, node->ports[0].guid));
	if (info.port_state_change && !node->read_uncleared)
		clear_change(request->sm, node);
	else
		read_ports(request->sm, node);
}

static void read_switch(struct sm *sm, struct builder_node *node)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_SWITCH_INFO, 0);

	builder_unmark(node);
	node->reading++;
	node->looked_at = sm->sweep.serial;
	request->done = on_switch_info;
	sm_request_send(request);
}

/* Trap 144: something about a CA or router changed by itself. */
static void read_local_change(struct sm *sm, struct builder_node *node)
{
	builder_unmark(node);
	node->looked_at = sm->sweep.serial;
	node->has_description = false;
	builder_touch(node);
	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		if (node->ports[num].guid && !reach_is_cut_off(sm, &node->ports[num]))
			get_port_info(sm, node, num);
}

/* The SM's node, where all paths begin; what a partial sweep finds there is its own way back. */
static bool is_own(const struct sm *sm, const struct builder_node *node)
{
	const struct builder_port *own = sm->builder->sm_port;

	return own && own->node == node;
}

void node_place(struct sm *sm, struct builder_node *node, struct builder_port *entry,
		const struct builder_node *parent)
{
	if (is_own(sm, node)) {
		node->entry = NULL;
		node->hops = 0;
	} else if (sm->sweep.kind == SWEEP_KIND_HEAVY || !node->entry || !node->entry->peer) {
		node->entry = entry;
		node->hops = parent->hops + 1;
	} /* otherwise it keeps its path: it may be nearer to the SM than the node that found it */
}

/* The node is found for the first time in this sweep, through its port `entry`. */
void read_node(struct sm *sm, struct builder_node *node, struct builder_port *entry,
	       const struct builder_node *parent)
{
	node->seen = sm->builder->sweep;
	node->looked_at = sm->sweep.serial;
	builder_touch(node);
	node_place(sm, node, entry, parent);
	node->has_description = false;
	if (builder_is_switch(node)) {
		description_get(sm, node);
		read_switch(sm, node);
	} else {
		get_port_info(sm, node, entry->num);
	}
}

static bool node_info_sane(struct sm *sm, const struct sm_request *request,
			   const struct iba_node_info *info)
{
	/* No cable ends at port 0: a switch is queried through it only if the SM is there. */
	bool port_0 = info->node_type == IBA_NODE_SWITCH && !request->port;

	if (info->node_guid && info->node_type >= IBA_NODE_CA &&
	    info->node_type <= IBA_NODE_ROUTER && info->num_ports &&
	    info->num_ports <= IBA_SWITCH_MAX_PORT && info->local_port_num <= info->num_ports &&
	    info->port_guid && (info->local_port_num || port_0))
		return true;
	if (request->port)
		port_health_event(sm, request->port, PORT_ILLEGAL);
	health_exclude(sm, request->node,
		       "NodeInfo from behind port %u is invalid (GUID 0x%016" G_GINT64_MODIFIER
		       "x, type %u, %u ports, port %u)",
		       request->port ? request->port->num : 0, info->node_guid, info->node_type,
		       info->num_ports, info->local_port_num);
	return false;
}

/* Whether the node has answered in this sweep: then another one with its GUID is the impostor. */
static bool is_met(const struct sm *sm, const struct builder_node *node)
{
	return node->seen == sm->builder->sweep || is_own(sm, node);
}

/* The node with that NodeInfo, created if new; NULL if another node has its GUID. */
static struct builder_node *meet_node(struct sm *sm, struct builder_node *by,
				      const struct iba_node_info *info)
{
	struct builder_node *node = builder_find(sm->builder, info->node_guid);

	if (!node) {
		node = builder_add(sm->builder, info);
		node->seen = 0; /* found, but not read yet */
		return node;
	}
	if (node->info.node_type == info->node_type && node->info.num_ports == info->num_ports) {
		if (node->seen != sm->builder->sweep)
			node->info = *info;
		builder_touch(node);
		return node;
	}
	health_exclude(sm, by,
		       "GUID 0x%016" G_GINT64_MODIFIER "x on a node next to it: %s node "
		       "type or number of ports",
		       info->node_guid,
		       is_met(sm, node) ? "two nodes have this GUID and a different"
					: "it now has another");
	if (sm->sweep.kind == SWEEP_KIND_HEAVY && !is_met(sm, node))
		node->gone = sm->builder->some_gone = true; /* removed between the steps */
	return NULL;
}

/* The node that answered a Get(NodeInfo), NULL if its answer is not credible. */
static struct builder_node *node_answered(const struct sm_request *request,
					  struct iba_node_info *info)
{
	wire_decode(&iba_node_info_type, request->mad.data, info);
	if (!node_info_sane(request->sm, request, info))
		return NULL;
	return meet_node(request->sm, request->node, info);
}

/*
 * A cable was found from its other end meanwhile. That counts, unless it is the way to the switch
 * there, or that switch would have answered to its key: another device in its place may have sent
 * what seemed to be its reports.
 */
static bool is_seen_from_there(struct sm *sm, struct builder_port *port)
{
	struct builder_port *far = port->peer;

	if (!far || !builder_cable_is(port, CABLE_SEEN) || builder_is_silent(far->node))
		return false; /* a silent switch has not reported anything in this sweep */
	if (!builder_is_switch(far->node) ||
	    (far != far->node->entry && !keys_silence(sm->options)))
		return true;
	cables_drop_unconfirmed(far->node);
	return false;
}

/*
 * A port that is up but gets no answer, unless it went down meanwhile: light sweeps probe again. A
 * device that stays silent must not keep the subnet from coming up.
 */
static void no_device_there(const struct sm_request *request)
{
	struct builder_port *port = request->port;

	if (builder_is_down(port) || is_seen_from_there(request->sm, port))
		return;
	if (request->phase == REQUEST_NO_ROUTE) { /* it may be the only cable that is left */
		builder_cable(port, CABLE_EVENT_UNSENT);
		builder_mark(port->node);
		return;
	}
	port_health_event(request->sm, port, PORT_UNRESPONSIVE);
	if (kept_behind(request->sm, port))
		return;
	builder_lose_link(port);
	builder_cable(port, CABLE_EVENT_NO_ANSWER);
	health_exclude(request->sm, port->node,
		       "no device answers behind port %u: it has no SM agent, or an unknown "
		       "M_Key%s",
		       port->num, keys_silence(request->sm->options) ? ": " KEYS_CABLE_ADVICE : "");
	health_no_device_behind(request->sm, port);
}

static void on_node_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *far;
	struct builder_node *node;
	struct iba_node_info info;

	if (!sm_request_ok(request)) {
		no_device_there(request);
		return;
	}
	wire_decode(&iba_node_info_type, request->mad.data, &info);
	if (keys_exclude(sm, request->port, info.port_guid))
		return;
	builder_cable(request->port, CABLE_EVENT_ANSWERED);
	node = node_answered(request, &info);
	if (!node) {
		builder_lose_link(request->port); /* the device has changed */
		return;
	}
	far = &node->ports[info.local_port_num];
	if (!cable_answered(sm, request->port, far))
		return;
	builder_set_guid(builder_is_switch(node) ? &node->ports[0] : far, info.port_guid);
	keys_joined(sm, request->port, far);
	if (node->looked_at != sm->sweep.serial)
		read_node(sm, node, far, request->node);
	else if (!builder_is_switch(node) && !is_fresh(sm, far))
		get_port_info(sm, node, far->num);
}

/* ---- steps ---- */

static void on_hop0(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_node *node;
	struct iba_node_info info;

	if (!sm_request_ok(request)) {
		if (request->mad.result != MAD_TIMEOUT || !kept_own(sm))
			sm_request_failed(request);
		return;
	}
	sm->builder->sm_port = NULL;
	node = node_answered(request, &info);
	if (!node)
		return;
	kept_answered(sm, node);
	if (builder_is_switch(node))
		info.local_port_num = 0;
	builder_set_guid(&node->ports[info.local_port_num], info.port_guid);
	sm->builder->sm_port = &node->ports[info.local_port_num];
	builder_reach_changed(sm->builder);
}

enum step_result step_hop0(struct sm *sm)
{
	sm_get(sm, sm->local, IBA_ATTR_NODE_INFO, 0, on_hop0);
	return STEP_NEXT;
}

static gint by_index(gconstpointer a, gconstpointer b)
{
	const struct builder_node *const *x = a, *const *y = b;

	return (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

/* The dirty nodes nearest to the SM, in the order of the walk. */
static GPtrArray *nearest_dirty(struct sm *sm)
{
	const GPtrArray *dirty = sm->builder->dirty;
	GPtrArray *nearest = g_ptr_array_new();
	uint32_t hops = UINT32_MAX;

	g_ptr_array_unref(builder_order(sm->builder));
	for (guint i = 0; i < dirty->len; i++) {
		struct builder_node *node = dirty->pdata[i];

		if (node->index == FABRIC_NONE || node->hops > hops)
			continue;
		if (node->hops < hops)
			g_ptr_array_set_size(nearest, 0);
		hops = node->hops;
		g_ptr_array_add(nearest, node);
	}
	g_ptr_array_sort(nearest, by_index);
	return nearest;
}

/* False if there are none. */
static bool discover_dirty(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = nearest_dirty(sm);

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (builder_is_switch(node))
			read_switch(sm, node);
		else
			read_local_change(sm, node);
	}
	return nodes->len != 0;
}

/*
 * Events during the sweep marked nodes dirty, and these have been read: no other sweep is needed.
 */
static enum step_result end_discovery(struct sm *sm)
{
	unsigned int answered =
		sm->schedule.reasons & (SWEEP_CHANGE | SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP);

	sm->sweep.reasons |= answered;
	sm->schedule.reasons &= ~answered;
	return STEP_NEXT;
}

/*
 * Goes from the SM outwards, one distance at a time: what a near switch reports of its cables
 * decides over which path farther ones are queried. Silent nodes are not waited for.
 */
enum step_result step_discover(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;

	if (!sweep->round && sweep->kind == SWEEP_KIND_HEAVY) {
		if (!sm->builder->sm_port)
			return STEP_ABORT;
		if (builder_is_silent(sm->builder->sm_port->node))
			return STEP_LATER; /* devices behind it are being probed */
		read_node(sm, sm->builder->sm_port->node, sm->builder->sm_port, NULL);
		return STEP_LATER;
	}
	/* Directed routes through that switch lead elsewhere, and the device there answers. */
	if (sweep->start_over || (sweep->kind == SWEEP_KIND_PARTIAL && sweep->switch_moved))
		return STEP_HEAVY;
	if (sweep->kind == SWEEP_KIND_HEAVY && sweep->pending > sweep->slow)
		return STEP_LATER;
	if (sweep->layers < MAX_ROUNDS && discover_dirty(sm)) {
		sweep->layers++;
		return STEP_AGAIN;
	}
	if (sweep->pending)
		return STEP_LATER;
	if (sweep->layers >= MAX_ROUNDS)
		return STEP_NEXT;
	if (!cables_settle(sm))
		return end_discovery(sm);
	sweep->layers++;
	return STEP_AGAIN;
}

struct discovery *discovery_new(struct sm *sm)
{
	struct discovery *discovery = g_new0(struct discovery, 1);

	discovery->sm = sm;
	discovery->lost_by = node_table_new(sizeof(struct builder_port *));
	discovery->trap_sources = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	lease_init(discovery);
	own_port_init(discovery);
	return discovery;
}

void discovery_free(struct discovery *discovery)
{
	timer_stop(&discovery->lease);
	timer_stop(&discovery->own_port);
	node_table_free(discovery->lost_by);
	g_hash_table_unref(discovery->trap_sources);
	g_free(discovery);
}
