// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The light sweep: one Get(SwitchInfo) per switch. A switch that reports a port state change, or
 * whose tables are no longer ours, or have another size, is marked for a partial sweep; one that
 * does not answer is examined by silence.c. Ports that are up without a known device behind them
 * are probed: the device did not answer, or was dropped, as the node before it did not answer.
 */
#include "sm/discover/discover.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define REJECTED_MAX 6 /* once in 64 light sweeps */

/* Firmware that was still starting up when it was read may have reported less than it has. */
static bool has_other_tables(const struct builder_node *node, const struct iba_switch_info *now)
{
	const struct iba_switch_info *before = &node->switch_info;

	return now->linear_fdb_cap != before->linear_fdb_cap ||
	       now->multicast_fdb_cap != before->multicast_fdb_cap ||
	       now->partition_enforcement_cap != before->partition_enforcement_cap;
}

static void on_switch_info(struct sm_request *request)
{
	struct iba_switch_info info;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_switch_info_type, request->mad.data, &info);
	/* An earlier Set may arrive late and set MulticastFDBTop back. */
	if (info.port_state_change || !switch_kept_tables(request->node, &info) ||
	    info.multicast_fdb_top != request->node->switch_info.multicast_fdb_top ||
	    has_other_tables(request->node, &info))
		sweep_look_at(request->sm, request->node);
	else
		switch_set_confirmed(request->node);
}

/* A device answered behind such a port. */
static bool is_excluded(const struct sm_request *request, const struct iba_node_info *info)
{
	struct builder *builder = request->sm->builder;
	const struct builder_node *node = builder_find(builder, info->node_guid);

	return node && info->local_port_num <= node->info.num_ports &&
	       port_health_excludes(request->sm, request->port, &node->ports[info->local_port_num]);
}

static void on_rejected_port(struct sm_request *request)
{
	struct iba_node_info info;

	if (!sm_request_ok(request)) {
		if (request->phase != REQUEST_NO_ROUTE)
			port_health_event(request->sm, request->port, PORT_UNRESPONSIVE);
		return;
	}
	wire_decode(&iba_node_info_type, request->mad.data, &info);
	if (builder_port_is(request->port, &info) || is_excluded(request, &info))
		return; /* a loopback plug, or an excluded device */
	if (keys_exclude(request->sm, request->port, info.port_guid))
		return;
	builder_cable(request->port, CABLE_EVENT_ANSWERED);
	if (!keys_were_unknown(request->sm, info.port_guid)) /* those are retried separately */
		request->port->cable.rejected += request->port->cable.rejected < REJECTED_MAX;
	sweep_look_at(request->sm, request->node);
}

/* A device that answers but is not accepted is probed at growing intervals. */
static bool is_due_for_probe(struct sm *sm, const struct builder_port *port)
{
	return builder_link_is_up(port) && !port->peer &&
	       sm->schedule.lights % (1u << port->cable.rejected) == 0 &&
	       !port_health_excludes(sm, port, NULL);
}

static void probe_rejected_ports(struct sm *sm, struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *port = &node->ports[num];
		struct sm_request *request;

		if (port->peer)
			port->cable.rejected = 0;
		if (!is_due_for_probe(sm, port))
			continue;
		request = sm_request_beyond(sm, port);
		request->sender = REQUEST_FAULT_PROBE;
		request->done = on_rejected_port;
		sm_request_send(request);
	}
}

static void ask_switch(struct sm *sm, void *item)
{
	if (!builder_is_switch(item))
		return;
	sm_get(sm, item, IBA_ATTR_SWITCH_INFO, 0, on_switch_info);
	unsure_check(sm, item);
	probe_rejected_ports(sm, item);
}

enum step_result step_light(struct sm *sm)
{
	sm->schedule.lights++;
	sweep_walk(sm, builder_order(sm->builder), 1, ask_switch);
	return STEP_NEXT;
}
