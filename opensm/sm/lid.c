// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LIDs: from the builder to the plain values that the assignment (lid_plan.c) works on, and back.
 */
#include "sm/lid_plan.h"
#include "sm/sm_private.h"

static uint8_t wanted_lmc(const struct sm *sm, const struct builder_port *port)
{
	if (!builder_is_switch(port->node))
		return sm->options->lmc;
	return port->node->switch_info.enhanced_port0 && sm->options->lmc_esp0 ? sm->options->lmc
									       : 0;
}

static uint16_t last_lid(const GPtrArray *nodes, struct builder_node **smallest)
{
	uint16_t last = IBA_LID_UCAST_LAST;

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (!node->has_switch_info || !builder_is_switch(node))
			continue;
		if (node->switch_info.linear_fdb_cap && node->switch_info.linear_fdb_cap <= last) {
			last = node->switch_info.linear_fdb_cap - 1;
			*smallest = node;
		}
	}
	return last;
}

/* The endports that were read, in the order of the walk. */
static GPtrArray *endports(const GPtrArray *nodes)
{
	GPtrArray *ports = g_ptr_array_new();

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (node->ports[num].guid && node->ports[num].known)
				g_ptr_array_add(ports, &node->ports[num]);
	}
	return ports;
}

/* What the plan says of a port becomes what is wanted of it. */
static void apply(struct sm *sm, struct builder_port *port, const struct lid_plan_port *planned)
{
	char name[SM_NAME_SIZE];

	if (port->lid != planned->lid || port->lmc != planned->lmc)
		builder_touch(port->node);
	if (port->lid != planned->lid)
		builder_reach_changed(sm->builder);
	port->lid = planned->lid;
	port->lmc = planned->lmc;
	sm->lids.short_of |= planned->duplicate;
	if (planned->duplicate)
		sm_problem(sm,
			   "port %u of %s: another port has its GUID 0x%016" G_GINT64_MODIFIER
			   "x too",
			   port->num, sm_node_name(port->node, name, sizeof(name)), port->guid);
}

static void assign(struct sm *sm, const GPtrArray *nodes)
{
	g_autoptr(GPtrArray) ports = endports(nodes);
	struct builder_node *smallest = NULL;
	struct lid_plan plan = {
		.ports = g_new0(struct lid_plan_port, ports->len),
		.n = ports->len,
		.last = last_lid(nodes, &smallest),
		.reassign = sm->options->reassign_lids && !sm->schedule.succeeded,
	};

	for (guint i = 0; i < ports->len; i++) {
		const struct builder_port *port = ports->pdata[i];

		plan.ports[i].guid = port->guid;
		plan.ports[i].carried = port->info.lid;
		plan.ports[i].lmc = wanted_lmc(sm, port);
	}
	lid_plan_make(&plan, sm->guid2lid);
	sm->lids.arrivals = sm->builder->arrivals;
	sm->lids.last = plan.last;
	sm->lids.short_of = plan.without != 0;
	for (guint i = 0; i < ports->len; i++)
		apply(sm, ports->pdata[i], &plan.ports[i]);
	if (plan.without)
		health_fault(sm, smallest ? smallest : sm->local,
			     "no free LID for %u ports: it forwards LIDs up to 0x%04x%s",
			     plan.without, plan.last,
			     sm->options->lmc ? "; with a smaller lmc they need fewer" : "");
	g_free(plan.ports);
}

static bool has_its_lids(const struct sm *sm, const struct builder_port *port)
{
	return port->lid && port->info.lid == port->lid && port->lmc == wanted_lmc(sm, port);
}

/* Whether an assignment would find the node as the last one did. */
static bool is_settled(const struct sm *sm, const struct builder_node *node)
{
	uint16_t cap = node->switch_info.linear_fdb_cap;

	if (builder_is_switch(node) && cap && cap <= sm->lids.last)
		return false;
	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		if (node->ports[num].guid && node->ports[num].known &&
		    !has_its_lids(sm, &node->ports[num]))
			return false;
	return true;
}

/* Nobody came or forgot his LIDs since all had some; those of who went are kept for him. */
static bool all_are_settled(const struct sm *sm)
{
	const GPtrArray *touched = sm->builder->touched;

	if (!sweep_is_local(sm) || sm->lids.short_of || sm->lids.arrivals != sm->builder->arrivals)
		return false;
	for (guint i = 0; i < touched->len; i++)
		if (!is_settled(sm, touched->pdata[i]))
			return false;
	return true;
}

/* The SM's own port has its LID from here on: LID-routed SMPs need a source. */
static void configure_own_port(struct sm *sm)
{
	struct builder_port *own = sm->builder->sm_port;
	struct iba_port_info want;

	if (port_wanted(sm, own, &want))
		port_send(sm, own, &want, IBA_PORT_NO_CHANGE);
	mad_set_own_lid(sm->mad, own->lid, sm->options->sm_sl);
}

enum step_result step_lids(struct sm *sm)
{
	if (!all_are_settled(sm)) {
		g_autoptr(GPtrArray) nodes = builder_order(sm->builder);

		assign(sm, nodes);
	}
	if (!sm->builder->sm_port->lid)
		return STEP_ABORT;
	configure_own_port(sm);
	return STEP_NEXT;
}
