// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Discovery. A node is read when it is met for the first time in a sweep; each port of a switch
 * whose link is up and whose cable was not met yet is asked who is at its other end. A heavy sweep
 * begins at the SM's own port, a partial one at the switches marked dirty.
 *
 * What a peer says is not trusted: port numbers are checked, a GUID that shows up at two places
 * is an error of the sweep and the second place is left out.
 */
#include <string.h>

#include "sm/sm_private.h"

#define MAX_HOPS 63
#define SILENT_SWEEPS 3
#define SUSPECT_TRIES 2 /* it is asked again, more often, if its neighbours still see it */
#define MAX_ROUNDS (4 * MAX_HOPS) /* of a partial discovery */

static bool link_is_up(const struct builder_port *port)
{
	return port->known && port->info.port_state != IBA_PORT_DOWN;
}

static bool is_fresh(const struct sm *sm, const struct builder_port *port)
{
	return port->read == sm->builder->sweep;
}

/* ---- nodes, ports, cables: they find each other, so this is one cycle ---- */

static void on_node_info(struct sm_request *request);

/* Asks for the NodeInfo of whatever is at the other end of a port. */
static void ask_beyond(struct sm *sm, struct builder_port *port,
		       void (*done)(struct sm_request *request))
{
	struct builder_node *node = port->node;
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	struct mad_route *route = &request->mad.route;

	if (route->hops >= MAX_HOPS) {
		char name[SM_NAME_SIZE];

		sm_problem(sm, "port %u of %s is more than %u hops away: not discovered", port->num,
			   sm_node_name(node, name, sizeof(name)), MAX_HOPS);
		g_free(request);
		return;
	}
	port->probed = sm->builder->sweep;
	route->parent = node->lid_routed ? node->ports[0].lid : 0;
	route->lid = 0;
	route->path[++route->hops] = port->num;
	request->mad.target_port = port->num;
	request->port = port;
	request->done = done;
	sm_request_send(request);
}

static void probe(struct sm *sm, struct builder_port *port)
{
	ask_beyond(sm, port, on_node_info);
}

static void forget_tables(struct builder_node *node)
{
	builder_table_clear(&node->lft);
	node->row = NULL;
	builder_table_clear(&node->mft);
	node->lid_routed = false;
	node->warm = node->switch_info.linear_fdb_top != 0;
}

/* A switch whose LinearFDBTop is not ours lost its tables, or somebody else wrote them. */
static void check_tables(struct sm *sm, struct builder_node *node)
{
	bool same = sm->routing && node->has_switch_info &&
		    node->switch_info.linear_fdb_top == sm->routing->top;

	if (same && !node->doubtful)
		return;
	node->doubtful = false;
	forget_tables(node);
}

/*
 * A switch port that went down and up since it was last read: what this sweep saw of its cable is
 * old, and so is the other end if that is a channel adapter's, which tells nothing by itself.
 */
static void link_bounced(struct builder_port *port)
{
	port->probed = port->link_seen = 0;
	if (port->peer && !builder_is_switch(port->peer->node))
		port->peer->read = 0;
}

static void port_info_store(struct sm *sm, struct builder_port *port,
			    const struct iba_port_info *info)
{
	bool endport = port->num == 0 || !builder_is_switch(port->node);
	bool bounced = info->port_state == IBA_PORT_INIT;

	if (!port->known || port->inferred || port->info.port_state != info->port_state)
		port->node->unexplained = false;
	port->inferred = false;
	if (bounced && port->known && port->info.port_state > IBA_PORT_INIT &&
	    builder_is_switch(port->node))
		link_bounced(port);
	if (endport && bounced && port->num != 0) { /* it may have been away */
		builder_table_clear(&port->p_keys);
		port->node->lid_routed = false;
	}
	if (port->num == 0 && info->lid == 0)
		forget_tables(port->node); /* it was reset, though we may have set its top since */
	builder_set_info(port, info);
	port->read = sm->builder->sweep;
}

/* A link is gone: until tables are written again no LID is sure to lead anywhere. */
static void distrust_routes(struct sm *sm)
{
	const GPtrArray *switches = sm->builder->switches;

	if (sm->sweep.lost_link)
		return;
	sm->sweep.lost_link = true;
	for (guint i = 0; i < switches->len; i++)
		((struct builder_node *)switches->pdata[i])->lid_routed = false;
}

/* The other end went down with it; if that is a switch more of it may have changed. */
static void link_lost(struct sm *sm, struct builder_port *port)
{
	struct builder_port *peer = port->peer;

	port->silent = 0;
	port->probed = port->link_seen = 0; /* it may come up again within this sweep */
	if (!peer)
		return;
	peer->probed = peer->link_seen = 0;
	peer->inferred |= peer->info.port_state != IBA_PORT_DOWN;
	peer->info.port_state = IBA_PORT_DOWN;
	if (builder_is_switch(peer->node) && !is_fresh(sm, peer)) {
		peer->node->suspect |= !peer->node->dirty;
		builder_mark(peer->node);
	}
	distrust_routes(sm);
	builder_unlink(port);
}

/* A switch port whose state was read: does it lead somewhere new? */
static void follow_port(struct sm *sm, struct builder_port *port)
{
	uint64_t sweep = sm->builder->sweep;
	bool bounced = port->info.port_state == IBA_PORT_INIT;

	if (port->num == 0)
		return;
	if (!link_is_up(port)) {
		link_lost(sm, port);
		return;
	}
	if (port->link_seen == sweep || port->probed == sweep)
		return;
	if (sm->sweep.kind == SWEEP_KIND_PARTIAL && port->peer && !bounced) {
		port->link_seen = port->peer->link_seen = sweep; /* nothing happened here */
		return;
	}
	probe(sm, port);
}

static void get_port_info(struct sm *sm, struct builder_node *node, uint8_t num, bool extended);

static bool wants_extended(const struct builder_port *port, const struct sm_request *request)
{
	const struct builder_port *who =
		builder_is_switch(port->node) ? &port->node->ports[0] : port;

	return !(request->mad.modifier & IBA_PORT_INFO_MOD_EXTENDED_SPEEDS) && who->known &&
	       who->info.capability_mask & IBA_PORT_CAP_EXTENDED_SPEEDS && port->num != 0 &&
	       link_is_up(port) && !port->info.link_speed_ext_supported;
}

static void on_port_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *port = request->port;
	struct iba_port_info info;
	bool asked_twice = request->mad.modifier & IBA_PORT_INFO_MOD_EXTENDED_SPEEDS;

	if (!sm_request_ok(request)) {
		if (!asked_twice)
			sm_request_failed(request);
		return;
	}
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	/* Read again in one sweep: in INIT it may be again, with something else behind it. */
	if (is_fresh(sm, port) && !asked_twice && info.port_state == IBA_PORT_INIT &&
	    builder_is_switch(port->node))
		link_bounced(port);
	port_info_store(sm, port, &info);
	if (wants_extended(port, request))
		get_port_info(sm, port->node, port->num, true);
	if (builder_is_switch(port->node))
		follow_port(sm, port);
	else if (port == sm->builder->sm_port && link_is_up(port) &&
		 port->probed != sm->builder->sweep)
		probe(sm, port); /* the SM's CA sees the subnet through one port */
}

static void get_port_info(struct sm *sm, struct builder_node *node, uint8_t num, bool extended)
{
	uint32_t modifier = num | (extended ? IBA_PORT_INFO_MOD_EXTENDED_SPEEDS : 0);
	struct sm_request *request = sm_request_port(sm, &node->ports[num], IBA_METHOD_GET,
						     IBA_ATTR_PORT_INFO, modifier);

	request->done = on_port_info;
	sm_request_send(request);
}

static void read_ports(struct sm *sm, struct builder_node *node)
{
	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		get_port_info(sm, node, num, false);
}

static void on_change_cleared(struct sm_request *request)
{
	if (sm_request_ok(request)) {
		request->node->switch_info.port_state_change = 0;
		builder_touch(request->node);
		request->node->unexplained = true;
	} else {
		sm_request_failed(request);
	}
	read_ports(request->sm, request->node);
}

/* PortStateChange is cleared before the ports are read: what happens after that sets it again. */
static void clear_change(struct sm *sm, struct builder_node *node)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_SWITCH_INFO, 0);

	wire_encode(&iba_switch_info_type, &node->switch_info, request->mad.data);
	request->done = on_change_cleared;
	sm_request_send(request);
}

/* A switch that a neighbour lost and that is silent: if it is dead, all its neighbours know. */
static bool ask_neighbours(const struct sm *sm, struct builder_node *node)
{
	if (!node->suspect)
		return false;
	node->suspect = false;
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		if (peer && builder_is_switch(peer->node) && !is_fresh(sm, peer))
			builder_mark(peer->node);
	}
	return true;
}

static void on_switch_info(struct sm_request *request)
{
	struct builder_node *node = request->node;

	if (request->mad.result == MAD_TIMEOUT && request->mad.tries &&
	    ask_neighbours(request->sm, node)) {
		builder_mark(node); /* asked again if it is still there then */
		return;
	}
	node->suspect = false;
	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_switch_info_type, request->mad.data, &node->switch_info);
	node->has_switch_info = true;
	builder_touch(node);
	check_tables(request->sm, node);
	if (node->switch_info.port_state_change)
		clear_change(request->sm, node);
	else
		read_ports(request->sm, node);
}

static void read_switch(struct sm *sm, struct builder_node *node)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_SWITCH_INFO, 0);

	builder_unmark(node);
	if (node->suspect && sm->sweep.kind == SWEEP_KIND_PARTIAL) /* which can ask it again */
		request->mad.tries = SUSPECT_TRIES;
	request->done = on_switch_info;
	sm_request_send(request);
}

/* Trap 144: something about a CA or router changed by itself. */
static void read_local_change(struct sm *sm, struct builder_node *node)
{
	builder_unmark(node);
	node->has_description = false;
	builder_touch(node);
	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		if (node->ports[num].guid)
			get_port_info(sm, node, num, false);
}

/* Where all paths begin; what a partial sweep meets there is the way back to itself. */
static bool is_own(const struct sm *sm, const struct builder_node *node)
{
	const struct builder_port *own = sm->builder->sm_port;

	return own && own->node == node;
}

/* First meeting of a node in this sweep, through its port `entry`. */
static void read_node(struct sm *sm, struct builder_node *node, struct builder_port *entry,
		      struct builder_node *parent)
{
	node->seen = sm->builder->sweep;
	builder_touch(node);
	if (is_own(sm, node)) {
		node->entry = NULL;
		node->hops = 0;
	} else if (sm->sweep.kind == SWEEP_KIND_HEAVY || !node->entry || !node->entry->peer) {
		node->entry = entry;
		node->hops = parent->hops + 1;
	} /* else it keeps its path: it may be nearer to the SM than the one that met it */
	node->has_description = false;
	if (builder_is_switch(node)) {
		details_description(sm, node);
		read_switch(sm, node);
	} else {
		get_port_info(sm, node, entry->num, false);
	}
}

static bool node_info_sane(struct sm *sm, const struct sm_request *request,
			   const struct iba_node_info *info)
{
	/* No cable ends at port 0: a switch is asked through it only if we sit there. */
	bool port_0 = info->node_type == IBA_NODE_SWITCH && !request->port;
	char name[SM_NAME_SIZE];

	if (info->node_guid && info->node_type >= IBA_NODE_CA &&
	    info->node_type <= IBA_NODE_ROUTER && info->num_ports &&
	    info->num_ports <= IBA_SWITCH_MAX_PORT && info->local_port_num <= info->num_ports &&
	    info->port_guid && (info->local_port_num || port_0))
		return true;
	sm_problem(sm,
		   "behind port %u of %s: NodeInfo makes no sense (GUID 0x%016" G_GINT64_MODIFIER
		   "x, type %u, %u ports, port %u): left out",
		   request->port ? request->port->num : 0,
		   sm_node_name(request->node, name, sizeof(name)), info->node_guid,
		   info->node_type, info->num_ports, info->local_port_num);
	return false;
}

/* Whether the node has answered in this sweep: then another one with its GUID is the impostor. */
static bool is_met(const struct sm *sm, const struct builder_node *node)
{
	return node->seen == sm->builder->sweep || is_own(sm, node);
}

/* The node of that NodeInfo, made if it is new; NULL if another node has its GUID. */
static struct builder_node *meet_node(struct sm *sm, const struct iba_node_info *info)
{
	struct builder_node *node = builder_find(sm->builder, info->node_guid);

	if (!node) {
		node = builder_add(sm->builder, info);
		node->seen = 0; /* met, but not read yet */
		return node;
	}
	if (node->info.node_type == info->node_type && node->info.num_ports == info->num_ports) {
		if (node->seen != sm->builder->sweep)
			node->info = *info;
		builder_touch(node);
		return node;
	}
	sm_problem(sm, "GUID 0x%016" G_GINT64_MODIFIER "x: %s node type or number of ports",
		   info->node_guid,
		   is_met(sm, node) ? "two nodes have it, of different" : "another");
	if (!is_met(sm, node)) /* dropped between the steps, found anew by the next sweep */
		node->gone = sm->builder->some_gone = true;
	return NULL;
}

/* The node that answered a Get(NodeInfo), NULL if its answer is not to be believed. */
static struct builder_node *node_answered(const struct sm_request *request,
					  struct iba_node_info *info)
{
	wire_decode(&iba_node_info_type, request->mad.data, info);
	return node_info_sane(request->sm, request, info) ? meet_node(request->sm, info) : NULL;
}

/* A cable that moved, or a second node with the GUID of the one at this port: which is it? */
static void ask_old_neighbour(const struct sm *sm, struct builder_port *port)
{
	if (builder_is_switch(port->node) && !is_fresh(sm, port))
		builder_mark(port->node);
}

/*
 * At another cable in this sweep; or it is the SM's own, from which all paths lead: a sweep that
 * begins there is to tell whether it moved.
 */
static bool is_elsewhere(const struct sm *sm, const struct builder_port *port,
			 const struct builder_port *far)
{
	return far->peer && far->peer != port &&
	       (far->link_seen == sm->builder->sweep || far == sm->builder->sm_port);
}

/* Joins the two ends unless either was met at another cable in this sweep: a duplicate GUID. */
static bool join(struct sm *sm, struct builder_port *port, struct builder_port *far)
{
	uint64_t sweep = sm->builder->sweep;
	char near_name[SM_NAME_SIZE], far_name[SM_NAME_SIZE];

	if (far == port)
		return false; /* a loopback plug */
	if (is_elsewhere(sm, port, far)) {
		sm_problem(sm,
			   "duplicate GUID or cable moved: port %u of %s was met at two places, "
			   "also behind port %u of %s",
			   far->num, sm_node_name(far->node, far_name, sizeof(far_name)), port->num,
			   sm_node_name(port->node, near_name, sizeof(near_name)));
		sm->sweep.twins = true;
		return false;
	}
	if (far->peer && far->peer != port) {
		far->node->doubtful = true;
		ask_old_neighbour(sm, far->peer);
	}
	if (port->peer != far)
		builder_link(port, far);
	port->link_seen = far->link_seen = sweep;
	return true;
}

/*
 * A port that is up but answers nothing. The first times it makes the sweep be repeated; a device
 * that stays silent shall not keep the subnet from coming up: light sweeps ask again.
 */
static void nobody_there(const struct sm_request *request)
{
	struct builder_port *port = request->port;
	char name[SM_NAME_SIZE];

	if (port->peer && port->link_seen == request->sm->builder->sweep)
		return; /* met from the other end meanwhile */
	builder_unlink(port);
	if (port->silent < SILENT_SWEEPS) {
		port->silent++;
		sm_request_failed(request);
		return;
	}
	log_error(request->sm->log, "nobody answers behind port %u of %s: left out", port->num,
		  sm_node_name(port->node, name, sizeof(name)));
}

static void on_node_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *far;
	struct builder_node *node;
	struct iba_node_info info;

	if (!sm_request_ok(request)) {
		nobody_there(request);
		return;
	}
	request->port->silent = 0;
	node = node_answered(request, &info);
	if (!node)
		return;
	far = &node->ports[info.local_port_num];
	if (!join(sm, request->port, far))
		return;
	builder_set_guid(builder_is_switch(node) ? &node->ports[0] : far, info.port_guid);
	if (node->seen != sm->builder->sweep)
		read_node(sm, node, far, request->node);
	else if (!builder_is_switch(node) && !is_fresh(sm, far))
		get_port_info(sm, node, far->num, false);
}

/* ---- steps ---- */

/* Between steps only: no request points to a node then. */
static void drop_gone(struct sm *sm)
{
	g_autoptr(GPtrArray) gone = g_ptr_array_new();
	GHashTableIter iter;
	struct builder_node *node;

	if (!sm->builder->some_gone)
		return;
	sm->builder->some_gone = false;
	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		if (node->gone)
			g_ptr_array_add(gone, node);
	for (guint i = 0; i < gone->len; i++)
		builder_remove(sm->builder, gone->pdata[i]);
}

/* A heavy sweep trusts nothing: it goes by directed routes only. */
enum step_result step_forget(struct sm *sm)
{
	GHashTableIter iter;
	struct builder_node *node;

	sm->builder->sweep++;
	drop_gone(sm); /* of a sweep that was cut short */
	if (sm->sweep.kind != SWEEP_KIND_HEAVY)
		return STEP_NEXT;
	builder_touch_all(sm->builder);
	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		node->lid_routed = false;
	return STEP_NEXT;
}

static void on_hop0(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_node *stand_in = request->node;
	struct builder_node *node;
	struct iba_node_info info;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	node = node_answered(request, &info);
	if (!node)
		return;
	if (builder_is_switch(node))
		info.local_port_num = 0;
	builder_set_guid(&node->ports[info.local_port_num], info.port_guid);
	sm->builder->sm_port = &node->ports[info.local_port_num];
	g_assert(stand_in->guid == 0);
}

enum step_result step_hop0(struct sm *sm)
{
	sm->builder->sm_port = NULL;
	sm_get(sm, sm->here, IBA_ATTR_NODE_INFO, 0, on_hop0);
	return STEP_WAIT;
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

/* What came in meanwhile marked nodes dirty, and those have been read: no other sweep for it. */
static enum step_result end_partial(struct sm *sm)
{
	unsigned int answered = SWEEP_CHANGE | SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP;

	sm->sweep.reasons |= sm->reasons & answered;
	sm->reasons &= ~answered;
	return STEP_NEXT;
}

/*
 * A partial discovery goes from the SM outwards, one distance a time: what a near switch says of
 * its cables decides by which path the farther ones are asked.
 */
enum step_result step_discover(struct sm *sm)
{
	if (sm->sweep.kind == SWEEP_KIND_PARTIAL) {
		if (sm->sweep.round < MAX_ROUNDS)
			return discover_dirty(sm) ? STEP_AGAIN : end_partial(sm);
		sweep_want(sm, SWEEP_CHANGE); /* traps come faster than they can be followed */
		return STEP_NEXT;
	}
	if (!sm->builder->sm_port)
		return STEP_ABORT;
	read_node(sm, sm->builder->sm_port->node, sm->builder->sm_port, NULL);
	return STEP_WAIT;
}

static void on_silent_probe(struct sm_request *request)
{
	if (!sm_request_ok(request))
		return;
	request->port->silent = 0;
	builder_mark(request->node);
	sweep_want(request->sm, SWEEP_CHANGE);
}

void discover_silent(struct sm *sm, struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *port = &node->ports[num];

		if (link_is_up(port) && !port->peer && port->silent)
			ask_beyond(sm, port, on_silent_probe);
	}
}

/* After a heavy discovery a cable not met again is gone. */
static void drop_unseen(struct sm *sm)
{
	uint64_t sweep = sm->builder->sweep;
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++) {
			struct builder_port *port = &node->ports[num];

			if (port->peer && port->link_seen != sweep)
				builder_unlink(port);
		}
}

/*
 * A switch all of whose links are in INIT, or that tells of a change which none of its ports
 * shows, may have lost power since its tables were written, and have got its LID and LinearFDBTop
 * again since: nothing but a look at the tables tells.
 */
static bool may_have_been_reset(const struct builder_node *node)
{
	unsigned int up = 0, set_up = 0;

	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		const struct builder_port *port = &node->ports[num];

		up += link_is_up(port);
		set_up += port->known && port->info.port_state > IBA_PORT_INIT;
	}
	return node->unexplained || (up && !set_up);
}

static void suspect_tables(struct sm *sm)
{
	const GPtrArray *switches = sm->builder->switches;

	for (guint i = 0; i < switches->len; i++) {
		struct builder_node *node = switches->pdata[i];

		/* With a GUID twice no directed route is sure to end where it should. */
		node->doubtful |= sm->sweep.twins;
		if (!is_fresh(sm, &node->ports[0]))
			continue;
		if (may_have_been_reset(node))
			forget_tables(node);
		node->unexplained = false;
	}
}

enum step_result step_settle(struct sm *sm)
{
	const struct builder_port *port;
	unsigned int dropped;

	drop_gone(sm);
	if (sm->sweep.kind == SWEEP_KIND_HEAVY)
		drop_unseen(sm);
	suspect_tables(sm);
	port = sm->builder->sm_port;
	if (!port || !port->known)
		return STEP_ABORT;
	dropped = builder_prune(sm->builder);
	if (dropped)
		log_info(sm->log, "%u nodes are gone", dropped);
	log_verbose(sm->log, "discovered %u nodes", g_hash_table_size(sm->builder->nodes));
	if (!builder_is_switch(port->node) && !link_is_up(port)) {
		log_error(sm->log, "the SM's port is down: no subnet to manage");
		sm->sweep.errors++;
		return STEP_ABORT;
	}
	return STEP_NEXT;
}
