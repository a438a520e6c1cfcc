// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * P_Key tables: read where they are not known, policy against what they hold, the difference sent.
 * What a table should hold is decided in pkey_plan.c.
 */
#include <string.h>

#include "sm/pkey_plan.h"
#include "sm/sm_private.h"

#define PER_BLOCK 32
#define BLOCK_BYTES sizeof(struct iba_p_key_table)

/* ---- reading ---- */

static void on_p_keys(struct sm_request *request)
{
	if (!sm_block_read(request))
		sm_request_failed(request);
}

static void read_p_keys(struct sm *sm, struct builder_port *port)
{
	uint32_t cap = port->node->info.partition_cap;
	uint32_t blocks = MAX(1, (cap + PER_BLOCK - 1) / PER_BLOCK);

	trust_reserve(&port->p_keys, blocks, BLOCK_BYTES);
	for (uint32_t block = 0; block < blocks; block++) {
		struct sm_request *request;

		if (trust_get(port->node, &port->p_keys, block, BLOCK_BYTES))
			continue;
		request = sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_P_KEY_TABLE, block);
		request->block = block;
		request->done = on_p_keys;
		sm_request_send(request);
	}
}

static void read_node(struct sm *sm, struct builder_node *node)
{
	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		if (node->ports[num].guid && node->ports[num].known)
			read_p_keys(sm, &node->ports[num]);
}

enum step_result step_p_keys_read(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = sweep_nodes(sm);

	for (guint i = 0; i < nodes->len; i++)
		read_node(sm, nodes->pdata[i]);
	return STEP_NEXT;
}

/* ---- writing ---- */

struct tables {
	uint32_t size; /* entries: whole blocks */
	uint16_t *is, *want;
};

static bool read_table(const struct builder_port *port, struct tables *tables)
{
	const struct trust_table *table = &port->p_keys;

	tables->size = table->n_blocks * PER_BLOCK;
	tables->is = g_new0(uint16_t, tables->size);
	for (uint32_t block = 0; block < table->n_blocks; block++) {
		const void *bytes = trust_get(port->node, table, block, BLOCK_BYTES);

		if (!bytes)
			return false;
		memcpy(tables->is + block * PER_BLOCK, bytes, BLOCK_BYTES);
	}
	return true;
}

/* Entries of the table that the port really has. */
static uint32_t room_of(const struct builder_port *port, const struct tables *tables)
{
	uint32_t cap = MAX(1, port->node->info.partition_cap);

	return MIN(cap, tables->size);
}

static void send_block(struct sm *sm, struct builder_port *port, uint32_t block,
		       const uint16_t *entries)
{
	struct sm_request *request =
		sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_P_KEY_TABLE, block);

	wire_encode(&iba_p_key_table_type, entries, request->mad.data);
	request->block = block;
	sm_block_send(request);
}

static void send_difference(struct sm *sm, struct builder_port *port, const uint16_t *keys,
			    uint32_t n)
{
	struct tables tables = {0};
	char name[SM_NAME_SIZE];

	if (read_table(port, &tables)) {
		tables.want = g_new0(uint16_t, tables.size);
		if (!p_key_plan_make(tables.is, room_of(port, &tables), keys, n, tables.want))
			sm_problem(sm, "P_Key table of %s port %u has room for %u keys, not for %u",
				   sm_node_name(port->node, name, sizeof(name)), port->num,
				   room_of(port, &tables), n);
		for (uint32_t block = 0; block < tables.size / PER_BLOCK; block++)
			if (memcmp(tables.is + block * PER_BLOCK, tables.want + block * PER_BLOCK,
				   BLOCK_BYTES))
				send_block(sm, port, block, tables.want + block * PER_BLOCK);
	}
	g_free(tables.is);
	g_free(tables.want);
}

static void check_port(struct sm *sm, struct builder_node *node, uint32_t port)
{
	const struct fabric_port *frozen = &sm->fabric->ports[port];
	const uint16_t *keys;
	uint32_t n;

	if (!frozen->guid || !frozen->known)
		return;
	keys = partitions_of(sm->partitions, port, &n);
	send_difference(sm, &node->ports[frozen->num], keys, n);
}

static void check_node(struct sm *sm, uint32_t index)
{
	const struct fabric_node *frozen = &sm->fabric->nodes[index];
	struct builder_node *node = builder_node_of(sm->builder, sm->fabric, index);

	for (uint32_t num = 0; num <= frozen->num_ports; num++)
		check_port(sm, node, frozen->first_port + num);
}

static void check_touched(struct sm *sm)
{
	const GPtrArray *nodes = sm->builder->touched;

	for (guint i = 0; i < nodes->len; i++) {
		const struct builder_node *node = nodes->pdata[i];
		uint32_t index = fabric_node_by_guid(sm->fabric, node->guid);

		if (index != FABRIC_NONE)
			check_node(sm, index);
	}
}

enum step_result step_p_keys(struct sm *sm)
{
	const struct fabric *fabric = sm->fabric;

	if (!sm->partitions || sm->partitions_shape != fabric->shape) {
		partitions_unref(sm->partitions);
		sm->partitions = partitions_default(fabric);
		sm->partitions_shape = fabric->shape;
	}
	if (sweep_is_local(sm)) {
		check_touched(sm);
		return STEP_NEXT;
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		check_node(sm, i);
	return STEP_NEXT;
}
