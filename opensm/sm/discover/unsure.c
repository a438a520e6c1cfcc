// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports of switches that were read while PortStateChange was set. It stays set until there is a
 * master (step_calm), to notify the SM that becomes it; so a change between the read of a port and
 * that moment was not reported. If the link fell, this was noticed when the port was brought up; a
 * port that was idle, or another device behind a cable, was not. The light sweep that follows the
 * first one, when the subnet is up, checks them.
 */
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/* The device that was there when the port was read has gone, or may have. */
static void look_again(struct sm *sm, struct builder_node *node)
{
	node->recheck_from = 0;
	sweep_look_at(sm, node);
}

static void on_neighbour(struct sm_request *request)
{
	const struct builder_port *peer = request->port->peer;
	struct iba_node_info info;

	if (!sm_request_ok(request)) {
		/* The device is not confirmed: treated as brought up after all that was. */
		if (request->phase != REQUEST_NO_ROUTE)
			request->port->activated = request->sm->builder->sweep + 1;
		look_again(request->sm, request->node);
		return;
	}
	wire_decode(&iba_node_info_type, request->mad.data, &info);
	if (!peer || !builder_port_is(peer, &info))
		look_again(request->sm, request->node);
}

static void on_idle_port(struct sm_request *request)
{
	struct iba_port_info info;

	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if (!sm_request_ok(request) || info.port_state != IBA_PORT_DOWN)
		look_again(request->sm, request->node);
}

/* Each cable is checked from one end, also one between two ports of the same switch. */
static bool is_checked_here(const struct builder_port *port)
{
	const struct builder_port *peer = port->peer;

	if (!peer)
		return false;
	if (!peer->node->read_uncleared)
		return true;
	return port->node == peer->node ? port->num < peer->num
					: port->node->guid < peer->node->guid;
}

static void check_cable(struct sm *sm, struct builder_port *port)
{
	struct sm_request *request;

	if (builder_is_down(port)) {
		request = sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, port->num);
		request->done = on_idle_port;
	} else if (is_checked_here(port)) {
		request = sm_request_beyond(sm, port);
		request->done = on_neighbour;
	} else {
		return;
	}
	sm_request_send(request);
}

void unsure_check(struct sm *sm, struct builder_node *node)
{
	for (unsigned int num = 1; node->read_uncleared && num <= node->info.num_ports; num++)
		check_cable(sm, &node->ports[num]);
}

bool unsure_remains(const struct sm *sm)
{
	const GPtrArray *switches = sm->builder->switches;

	for (guint i = 0; i < switches->len; i++)
		if (((const struct builder_node *)switches->pdata[i])->read_uncleared)
			return true;
	return false;
}

/* Not earlier: a sweep that is cancelled leaves them to the next one. */
enum step_result step_sure(struct sm *sm)
{
	const GPtrArray *switches = sm->builder->switches;

	for (guint i = 0; i < switches->len; i++)
		((struct builder_node *)switches->pdata[i])->read_uncleared = false;
	return STEP_NEXT;
}
