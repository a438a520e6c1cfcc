// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * NodeDescriptions. A sweep needs them only for names, so those of channel adapters are read when
 * the switches forward by LID: thousands of them then do not pass hop by hop through the SMA of the
 * SM's own switch.
 */
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

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

void description_get(struct sm *sm, struct builder_node *node)
{
	sm_get(sm, node, IBA_ATTR_NODE_DESCRIPTION, 0, on_description);
}

void descriptions_forget(struct sm *sm)
{
	GHashTableIter iter;
	void *value;

	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct builder_node *node = value;

		node->has_description = false;
	}
	builder_touch_all(sm->builder);
	sm->schedule.names_wanted = true; /* a running sweep may be past that step */
	sweep_want(sm, SWEEP_CHANGE);
}

static void read_name(struct sm *sm, void *item)
{
	const struct builder_node *node = item;

	if (!node->has_description)
		description_get(sm, item);
}

enum step_result step_names(struct sm *sm)
{
	sm->schedule.names_wanted = false;
	sweep_walk(sm, sweep_nodes(sm), 1, read_name);
	return STEP_NEXT;
}
