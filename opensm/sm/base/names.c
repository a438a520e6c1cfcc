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

void sm_about(struct sm_about *out, const char *kind, const struct builder_node *node,
	      unsigned int num)
{
	const struct builder_port *port;

	out->about = (struct about){.kind = kind};
	if (!node || !node->guid)
		return;
	port = &node->ports[builder_is_switch(node) ? 0 : MIN(num, node->info.num_ports)];
	out->about.guid = node->guid;
	out->about.node = builder_called(node, out->name);
	out->about.port = (uint8_t)num;
	out->about.lid = port->lid ? port->lid : port->info.lid;
}

void sm_about_own(struct sm_about *out, const char *kind, const struct sm *sm)
{
	const struct builder_port *own = sm->builder->sm_port;

	sm_about(out, kind, own ? own->node : NULL, own ? own->num : 0);
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
