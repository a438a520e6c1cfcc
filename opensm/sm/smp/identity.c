// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Is it still the same device? Answers to SMPs do not identify their sender, and behind a cable
 * that was moved there is another device. So a node is queried for its NodeInfo when its answer
 * makes no sense: an error status, or a PortGUID that another endport also has; and when it reports
 * that a link is up behind which no device answers.
 */
#include "sm/sm_private.h"
#include "sm/smp/smp_private.h"

#define TRIES 2
#define ONCE_NS (300 * NS_PER_MS) /* minimum time between two such queries of a node */

struct builder_port *identity_entry(const struct sm_request *request)
{
	return builder_is_switch(request->node) ? NULL : request->port;
}

struct builder_port *identity_parent(const struct sm *sm, const struct builder_node *node,
				     const struct builder_port *entry)
{
	return entry ? entry->peer : reach_guide(sm, node);
}

/* Another device answers, so the ports of the switch before it may lead elsewhere, too. */
static void is_another(const struct sm_request *request, uint64_t guid)
{
	struct sm *sm = request->sm;
	struct builder_node *node = request->node;
	struct builder_port *parent = identity_parent(sm, node, identity_entry(request));
	char name[SM_NAME_SIZE];

	log_verbose(sm->log, "%s is no longer there: 0x%016" G_GINT64_MODIFIER "x answers",
		    sm_node_name(node, name, sizeof(name)), guid);
	trust_lose(node);
	if (!parent)
		return;
	parent->node->recheck_from = 0;
	builder_mark(parent->node);
}

bool identity_is_same(const struct sm_request *request)
{
	struct builder_node *node = request->node;
	struct iba_node_info info;
	unsigned int num;

	wire_decode(&iba_node_info_type, request->mad.data, &info);
	num = builder_is_switch(node) ? 0 : MIN(info.local_port_num, node->info.num_ports);
	if (info.node_guid == node->guid && info.port_guid == node->ports[num].guid)
		return true;
	if (info.node_guid == node->guid)
		builder_set_guid(&node->ports[num], info.port_guid);
	else
		is_another(request, info.node_guid);
	sweep_want(request->sm, SWEEP_CHANGE);
	return false;
}

static void on_identity(struct sm_request *request)
{
	if (sm_request_ok(request) && request->node->builder)
		identity_is_same(request);
}

void identity_ask(struct sm *sm, struct builder_node *node, struct builder_port *entry)
{
	struct sm_request *request;
	uint64_t now = actor_now(sm->actor), *last_ns = node_table_of(sm->smp->identified, node);

	if (!identity_parent(sm, node, entry) || (*last_ns && now - *last_ns < ONCE_NS))
		return;
	*last_ns = now;
	if (entry)
		request = sm_request_port(sm, entry, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	else
		request = sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	request->sender = REQUEST_FAULT_PROBE;
	request->mad.tries = TRIES;
	request->done = on_identity;
	sm_request_send(request);
}
