// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * P_Key tables: policy against what was read. Keys that stay keep their index, because clients
 * hold on to indexes; the default key stands at index 0 (o10-5.1.1 expects it there).
 */
#include <string.h>

#include "sm/sm_private.h"

#define PER_BLOCK 32

struct p_key_plan {
	uint32_t room; /* entries the port has */
	uint16_t *is, *want;
};

static bool read_table(const struct builder_port *port, struct p_key_plan *plan)
{
	const struct builder_table *table = &port->p_keys;

	plan->room = table->n_blocks * PER_BLOCK;
	plan->is = g_new0(uint16_t, plan->room);
	for (uint32_t block = 0; block < table->n_blocks; block++) {
		const void *bytes = builder_table_get(table, block, sizeof(struct iba_p_key_table));

		if (!bytes)
			return false;
		memcpy(plan->is + block * PER_BLOCK, bytes, sizeof(struct iba_p_key_table));
	}
	return true;
}

static bool holds(const uint16_t *keys, uint32_t n, uint16_t key)
{
	for (uint32_t i = 0; i < n; i++)
		if (keys[i] == key)
			return true;
	return false;
}

/* Places the keys that have no index yet; false if there is no room. */
static bool place_new(struct p_key_plan *plan, const uint16_t *keys, uint32_t n)
{
	uint32_t slot = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (holds(plan->want, plan->room, keys[i]))
			continue;
		while (slot < plan->room && plan->want[slot])
			slot++;
		if (slot == plan->room)
			return false;
		plan->want[slot] = keys[i];
	}
	return true;
}

static bool make_plan(struct p_key_plan *plan, const uint16_t *keys, uint32_t n)
{
	plan->want = g_new0(uint16_t, plan->room);
	for (uint32_t i = 0; i < n; i++)
		if (P_KEY_BASE(keys[i]) == P_KEY_BASE(P_KEY_DEFAULT))
			plan->want[0] = keys[i];
	for (uint32_t i = 0; i < plan->room; i++)
		if (plan->is[i] && !plan->want[i] && holds(keys, n, plan->is[i]) &&
		    !holds(plan->want, plan->room, plan->is[i]))
			plan->want[i] = plan->is[i];
	return place_new(plan, keys, n);
}

static void on_set(struct sm_request *request)
{
	struct iba_p_key_table table;

	if (!sm_request_ok(request)) {
		request->port->p_keys.known[request->block] = false;
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_p_key_table_type, request->mad.data, &table);
	builder_table_set(&request->port->p_keys, request->block, sizeof(table), &table);
}

static void send_block(struct sm *sm, struct builder_port *port, uint32_t block,
		       const uint16_t *entries)
{
	struct sm_request *request =
		sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_P_KEY_TABLE, block);

	wire_encode(&iba_p_key_table_type, entries, request->mad.data);
	request->block = block;
	request->done = on_set;
	sm_request_send(request);
}

static void send_difference(struct sm *sm, struct builder_port *port, const uint16_t *keys,
			    uint32_t n)
{
	struct p_key_plan plan = {0};
	char name[SM_NAME_SIZE];

	if (read_table(port, &plan)) {
		if (!make_plan(&plan, keys, n))
			sm_problem(sm, "P_Key table of %s port %u has room for %u keys, not for %u",
				   sm_node_name(port->node, name, sizeof(name)), port->num,
				   plan.room, n);
		for (uint32_t block = 0; block < plan.room / PER_BLOCK; block++)
			if (memcmp(plan.is + block * PER_BLOCK, plan.want + block * PER_BLOCK,
				   sizeof(struct iba_p_key_table)))
				send_block(sm, port, block, plan.want + block * PER_BLOCK);
	}
	g_free(plan.is);
	g_free(plan.want);
}

enum step_result step_p_keys(struct sm *sm)
{
	const struct fabric *fabric = sm->fabric;

	partitions_unref(sm->partitions);
	sm->partitions = partitions_default(fabric);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		struct builder_node *node;
		const uint16_t *keys;
		uint32_t n;

		if (!port->guid || !port->known)
			continue;
		node = builder_find(sm->builder, fabric->nodes[port->node].guid);
		keys = partitions_of(sm->partitions, i, &n);
		send_difference(sm, &node->ports[port->num], keys, n);
	}
	return STEP_WAIT;
}
