// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The light sweep: one Get(SwitchInfo) a switch. A switch that reports a port state change, or
 * whose tables are no longer ours, is marked for a partial sweep; one that does not answer asks
 * for a heavy one.
 */
#include "sm/sm_private.h"

static void on_switch_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct iba_switch_info info;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_switch_info_type, request->mad.data, &info);
	if (!info.port_state_change && sm->routing && info.linear_fdb_top == sm->routing->top)
		return;
	builder_mark(request->node);
	sweep_want(sm, SWEEP_CHANGE);
}

static void on_own_port(struct sm_request *request)
{
	struct iba_port_info info;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if (info.port_state != request->port->info.port_state)
		sweep_want(request->sm, SWEEP_HEAVY);
}

/* Where no switch is at the other end of the SM's cable nobody else can tell that it was pulled. */
static void ask_own_port(struct sm *sm)
{
	struct builder_port *own = sm->builder->sm_port;
	struct sm_request *request;

	if (!own || builder_is_switch(own->node) ||
	    (own->peer && builder_is_switch(own->peer->node)))
		return;
	request = sm_request_port(sm, own, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, own->num);
	request->done = on_own_port;
	sm_request_send(request);
}

enum step_result step_light(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = builder_order(sm->builder);

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (!builder_is_switch(node))
			continue;
		sm_get(sm, node, IBA_ATTR_SWITCH_INFO, 0, on_switch_info);
		discover_silent(sm, node);
	}
	ask_own_port(sm);
	return STEP_WAIT;
}
