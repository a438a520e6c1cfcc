// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Details: what a sweep needs to know of endports but not to find its way: NodeDescriptions and
 * P_Key tables. They are read when the switches forward by LID, so that thousands of them do not
 * pass hop by hop through the SMA of the SM's own switch. A table is read once, then known.
 */
#include "sm/sm_private.h"

#define P_KEYS_PER_BLOCK 32

static void on_description(struct sm_request *request)
{
	struct builder_node *node = request->node;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_node_description_type, request->mad.data, &node->description);
	node->has_description = true;
	builder_touch(node);
}

void details_description(struct sm *sm, struct builder_node *node)
{
	sm_get(sm, node, IBA_ATTR_NODE_DESCRIPTION, 0, on_description);
}

void details_forget_descriptions(struct sm *sm)
{
	GHashTableIter iter;
	void *value;

	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct builder_node *node = value;

		node->has_description = false;
	}
	builder_touch_all(sm->builder);
	sm->names_wanted = true; /* a sweep that runs may be past that step */
	sweep_want(sm, SWEEP_CHANGE);
}

static void on_p_keys(struct sm_request *request)
{
	if (!sm_block_read(request, &request->port->p_keys, &iba_p_key_table_type))
		sm_request_failed(request);
}

static void read_p_keys(struct sm *sm, struct builder_port *port)
{
	uint32_t cap = port->node->info.partition_cap;
	uint32_t blocks = MAX(1, (cap + P_KEYS_PER_BLOCK - 1) / P_KEYS_PER_BLOCK);

	builder_table_reserve(&port->p_keys, blocks, sizeof(struct iba_p_key_table));
	for (uint32_t block = 0; block < blocks; block++) {
		struct sm_request *request;

		if (builder_table_get(&port->p_keys, block, sizeof(struct iba_p_key_table)))
			continue;
		request = sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_P_KEY_TABLE, block);
		request->block = block;
		request->done = on_p_keys;
		sm_request_send(request);
	}
}

enum step_result step_details(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = NULL;

	nodes = sweep_is_local(sm) ? g_ptr_array_ref(sm->builder->touched)
				   : builder_order(sm->builder);
	sm->names_wanted = false;
	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (!node->has_description)
			details_description(sm, node);
		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (node->ports[num].guid && node->ports[num].known)
				read_p_keys(sm, &node->ports[num]);
	}
	return STEP_WAIT;
}
