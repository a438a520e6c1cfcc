// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How a node is called in the log, and which port of the builder a published one is. */
#include "sm/base/base.h"
#include "sm/sm_private.h"

const char *sm_node_name(const struct builder_node *node, char *buffer, size_t size)
{
	char text[BUILDER_NAME_SIZE];

	if (!node->guid) { /* sm->local */
		g_strlcpy(buffer, "the SM's own port", size);
		return buffer;
	}
	g_snprintf(buffer, size, "'%s' (0x%016" G_GINT64_MODIFIER "x)",
		   builder_called(node, text), node->guid);
	return buffer;
}

struct builder_port *port_published(const struct sm *sm, uint32_t index)
{
	const struct fabric *fabric = sm->fabric;
	struct builder_node *node;
	uint8_t num;

	if (index == FABRIC_NONE)
		return NULL;
	num = fabric->ports[index].num;
	node = builder_find(sm->builder, fabric->nodes[fabric->ports[index].node].guid);
	return node && num <= node->info.num_ports ? &node->ports[num] : NULL;
}
