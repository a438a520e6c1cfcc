// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LIDs: from the builder to the plain values that the assignment (lid_plan.c) works on, and back.
 */
#include "sm/discover/discover.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/lid_plan.h"
#include "sm/write/write.h"

#define SWITCHES_TOLD 3 /* switches to name among those that forward too few LIDs */

static uint8_t wanted_lmc(const struct sm *sm, const struct builder_port *port)
{
	if (!builder_is_switch(port->node))
		return sm->options->lmc;
	return port->node->switch_info.enhanced_port0 && sm->options->lmc_esp0 ? sm->options->lmc
									       : 0;
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

/* One of them may have another GUID by now: a node that had the GUID of another was replaced. */
static void ask_who_they_are(struct sm *sm, const GPtrArray *ports, uint64_t guid)
{
	for (guint i = 0; i < ports->len; i++) {
		struct builder_port *port = ports->pdata[i];
		bool is_switch = builder_is_switch(port->node);

		if (port->guid == guid)
			identity_ask(sm, port->node, is_switch ? NULL : port);
	}
}

/* Takes the result for a port over from the plan. */
static void apply(struct sm *sm, struct builder_port *port, const struct lid_plan_port *planned)
{
	char name[SM_NAME_SIZE];

	if (port->lid != planned->lid || port->lmc != planned->lmc)
		builder_touch(port->node);
	if (port->lid != planned->lid)
		builder_reach_changed(sm->builder);
	port->lid = planned->lid;
	port->lmc = planned->lmc;
	sm->lids.changing |= port->info.lid && port->info.lid != port->lid;
	sm->lids.short_of |= planned->duplicate;
	sm->lids.duplicate_guids |= planned->duplicate;
	if (planned->duplicate)
		sm_problem(sm,
			   "port %u of %s: another port has the same GUID 0x%016" G_GINT64_MODIFIER
			   "x",
			   port->num, sm_node_name(port->node, name, sizeof(name)), port->guid);
}

/* ---- how many LIDs the switches forward ---- */

/* The highest LID that a switch forwards. */
static uint16_t last_of(const struct builder_node *node)
{
	return MIN(builder_fdb_cap(node) - 1, IBA_LID_UCAST_LAST);
}

/* The highest LID in use if no port is skipped: all but the smallest ranges need to be aligned. */
static uint32_t lids_needed(const struct lid_plan *plan)
{
	uint32_t sum = 0, most = 1;

	for (uint32_t i = 0; i < plan->n; i++) {
		sum += 1u << plan->ports[i].lmc;
		most = MAX(most, 1u << plan->ports[i].lmc);
	}
	return sum + most - 1;
}

/*
 * The highest LID that all switches forward whose tables are large enough for all ports; if none
 * is, the highest that the best do. The others are excluded: routes avoid them (fdb_cap.c), and
 * ports elsewhere still get LIDs.
 */
static uint16_t last_lid(const GPtrArray *nodes, uint32_t needed)
{
	uint16_t enough = 0, best = 0;

	for (guint i = 0; i < nodes->len; i++) {
		const struct builder_node *node = nodes->pdata[i];
		uint16_t last = last_of(node);

		if (!builder_is_switch(node))
			continue;
		best = MAX(best, last);
		if (last >= needed && (!enough || last < enough))
			enough = last;
	}
	return enough ? enough : best ? best : IBA_LID_UCAST_LAST;
}

/* LIDs used through an excluded switch are below this; 0: it is not excluded. */
static uint16_t cap_of(const struct builder_node *node, uint16_t last)
{
	return last_of(node) < last ? last_of(node) + 1 : 0;
}

static uint16_t least_cap(const GPtrArray *nodes, uint16_t last)
{
	uint16_t least = 0;

	for (guint i = 0; i < nodes->len; i++) {
		uint16_t cap = cap_of(nodes->pdata[i], last);

		least = cap && (!least || cap < least) ? cap : least;
	}
	return least;
}

/*
 * A port behind a small switch, or its port 0, needs a LID that it forwards. So does the SM, for
 * switches to answer it; but if it has a LID, many ports have that by now.
 */
static void set_cap(const struct builder_port *port, bool is_sm, uint16_t least, uint16_t last,
		    struct lid_plan_port *planned)
{
	const struct builder_node *node = port->node;

	planned->is_switch = builder_is_switch(node);
	if (!planned->is_switch && port->peer)
		node = port->peer->node;
	planned->cap = cap_of(node, last);
	if (is_sm && !planned->cap) {
		planned->cap = least;
		planned->keeps = true;
	}
}

/*
 * The best of the switches that keep ports from having LIDs; and, last, what can be done about it.
 */
static void tell_without(struct sm *sm, const GPtrArray *nodes, const struct lid_plan *plan)
{
	unsigned int n = 0;

	for (guint i = 0; i < nodes->len && plan->last < IBA_LID_UCAST_LAST; i++)
		if (builder_is_switch(nodes->pdata[i]) && last_of(nodes->pdata[i]) <= plan->last &&
		    ++n <= SWITCHES_TOLD)
			health_fault(sm, nodes->pdata[i], "it only forwards LIDs up to 0x%04x",
				     last_of(nodes->pdata[i]));
	if (n > SWITCHES_TOLD)
		sm_problem(sm, "%u more switches only forward LIDs up to 0x%04x", n - SWITCHES_TOLD,
			   plan->last);
	sm_problem(sm, "no free LID for %u ports: the switches forward LIDs up to 0x%04x%s",
		   plan->without, plan->last,
		   sm->options->lmc ? "; a smaller lmc needs fewer LIDs" : "");
}

/* ---- the assignment ---- */

static bool is_overruled(const struct lid_plan_port *port)
{
	return port->remembered && port->lid != port->remembered && port->lid == port->carried;
}

/* Warns users who edited guid2lid, or have an old one, that it does not count, and how it would. */
static void tell_overruled(const struct sm *sm, const struct lid_plan *plan)
{
	const struct lid_plan_port *first = NULL;
	unsigned int n = 0;

	for (uint32_t i = 0; !plan->memory_first && i < plan->n; i++) {
		if (!is_overruled(&plan->ports[i]))
			continue;
		first = first ? first : &plan->ports[i];
		n++;
	}
	if (!n)
		return;
	log_info(sm->log,
		 "guid2lid is overruled for %u GUIDs by the LIDs that the ports hold, first "
		 "0x%016" G_GINT64_MODIFIER "x has 0x%04x and not 0x%04x; honor_guid2lid gives "
		 "guid2lid priority",
		 n, first->guid, first->lid, first->remembered);
}

static void set_caps(const struct sm *sm, const GPtrArray *nodes, const GPtrArray *ports,
		     struct lid_plan *plan)
{
	uint16_t least = least_cap(nodes, plan->last);

	for (uint32_t i = 0; least && i < plan->n; i++)
		set_cap(ports->pdata[i], ports->pdata[i] == sm->builder->sm_port, least, plan->last,
			&plan->ports[i]);
}

static void assign(struct sm *sm, const GPtrArray *nodes)
{
	g_autoptr(GPtrArray) ports = endports(nodes);
	struct lid_plan plan = {
		.ports = g_new0(struct lid_plan_port, ports->len),
		.n = ports->len,
		.reassign = sm->options->reassign_lids && !sm->lids.assigned,
		.memory_first = sm->options->honor_guid2lid_file,
	};

	for (guint i = 0; i < ports->len; i++) {
		const struct builder_port *port = ports->pdata[i];

		plan.ports[i].guid = port->guid;
		plan.ports[i].carried = port->info.lid;
		plan.ports[i].lmc = wanted_lmc(sm, port);
	}
	plan.last = last_lid(nodes, lids_needed(&plan));
	set_caps(sm, nodes, ports, &plan);
	lid_plan_make(&plan, sm->store.guid2lid);
	tell_overruled(sm, &plan);
	sm->lids.assigned = true;
	sm->lids.arrivals = sm->builder->arrivals;
	sm->lids.last = plan.last;
	sm->lids.short_of = plan.without != 0;
	sm->lids.duplicate_guids = sm->lids.changing = false;
	for (guint i = 0; i < ports->len; i++) {
		apply(sm, ports->pdata[i], &plan.ports[i]);
		if (plan.ports[i].duplicate)
			ask_who_they_are(sm, ports, plan.ports[i].guid);
	}
	if (plan.without)
		tell_without(sm, nodes, &plan);
	g_free(plan.ports);
}

static bool has_its_lids(const struct sm *sm, const struct builder_port *port)
{
	return port->lid && port->info.lid == port->lid && port->lmc == wanted_lmc(sm, port);
}

/* Whether an assignment would find the node as the last one did. */
static bool is_settled(const struct sm *sm, const struct builder_node *node)
{
	if (last_of(node) < sm->lids.last)
		return false;
	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		if (node->ports[num].guid && node->ports[num].known &&
		    !has_its_lids(sm, &node->ports[num]))
			return false;
	return true;
}

/* No node was added or lost its LIDs since all had some; those of absent nodes stay reserved. */
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
	if (!sm->dry)
		mad_set_own_lid(sm->mad, own->lid, sm->options->sm_sl);
}

enum step_result step_lids(struct sm *sm)
{
	if (!sm->dry && !sm->sweep.round) {
		keys_remember(sm); /* before ports are given any: their keys are found by these */
		if (disk_wait(sm))
			return STEP_LATER;
	}
	qos_note_lanes(sm);
	if (!all_are_settled(sm)) {
		g_autoptr(GPtrArray) nodes = builder_order(sm->builder);

		assign(sm, nodes);
	}
	if (fatal_error_found(sm) || !sm->builder->sm_port->lid)
		return STEP_ABORT;
	configure_own_port(sm);
	return STEP_NEXT;
}
