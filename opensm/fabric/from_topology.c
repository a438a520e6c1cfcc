// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From nodes and cables to a builder, with the attributes that a sweep would have read, as far as
 * routing and names need them: types, GUIDs, descriptions, port states.
 */
#include "fabric/from_topology.h"

#include <string.h>

#include "libvendor/sim/topology.h"

static void port_up(struct builder_port *port)
{
	port->known = true;
	port->info.port_state = IBA_PORT_ACTIVE;
	port->info.port_physical_state = IBA_PHYS_LINK_UP;
	port->info.link_width_active = IBA_WIDTH_4X;
	port->info.link_speed_active = IBA_SPEED_QDR;
	port->info.neighbor_mtu = IBA_MTU_4096;
	port->info.mtu_cap = IBA_MTU_4096;
	port->info.vl_cap = IBA_VLS_VL0_7;
	port->info.operational_vls = IBA_VLS_VL0_7;
	port->info.local_port_num = port->num;
}

static void port_down(struct builder_port *port)
{
	port->known = true;
	port->info.port_state = IBA_PORT_DOWN;
	port->info.port_physical_state = IBA_PHYS_POLLING;
}

static struct builder_node *add_node(struct builder *builder, const struct topology *topology,
				     unsigned int index)
{
	const struct topology_node *from = topology_node(topology, index);
	bool is_switch = from->type == IBA_NODE_SWITCH;
	struct iba_node_info info = {
		.node_type = from->type,
		.num_ports = from->num_ports,
		.node_guid = from->node_guid,
		.port_guid = topology_port(topology, index, is_switch ? 0 : 1)->guid,
		.partition_cap = UINT16_MAX, /* a topology gives no limit */
		.local_port_num = 1,
	};
	struct builder_node *node = builder_add(builder, &info);

	memcpy(node->description.node_string, from->description,
	       MIN(strlen(from->description), sizeof(node->description.node_string)));
	node->has_description = true;
	node->has_switch_info = is_switch;
	for (unsigned int num = 0; num <= from->num_ports; num++) {
		node->ports[num].guid = topology_port(topology, index, num)->guid;
		if (num || is_switch)
			port_down(&node->ports[num]);
	}
	if (is_switch)
		port_up(&node->ports[0]);
	return node;
}

static void add_cables(const struct topology *topology, struct builder_node **nodes)
{
	for (unsigned int i = 0; i < topology->nodes->len; i++) {
		for (unsigned int num = 1; num <= topology_node(topology, i)->num_ports; num++) {
			const struct topology_port *port = topology_port(topology, i, num);

			if (port->peer < 0)
				continue;
			builder_link(&nodes[i]->ports[num],
				     &nodes[port->peer]->ports[port->peer_port]);
			port_up(&nodes[i]->ports[num]);
		}
	}
}

/* The port of the node for an SM; NULL if cabled is requested and no end port has a cable. */
static struct builder_port *sm_port_of(struct builder_node *node, bool cabled)
{
	unsigned int first = builder_is_switch(node) ? 0 : 1;

	if (!cabled)
		return &node->ports[first];
	for (unsigned int num = 1; first && num <= node->info.num_ports; num++)
		if (node->ports[num].peer)
			return &node->ports[num];
	return NULL;
}

static struct builder_port *choose_sm_port(struct builder_node *const *nodes, unsigned int n)
{
	struct builder_port *port = NULL;

	for (unsigned int i = 0; i < n && !port; i++)
		port = sm_port_of(nodes[i], true);
	for (unsigned int i = 0; i < n && !port; i++)
		if (builder_is_switch(nodes[i]))
			port = sm_port_of(nodes[i], false);
	return port || !n ? port : sm_port_of(nodes[0], false);
}

struct builder *builder_from_topology(const struct topology *topology)
{
	struct builder *builder = builder_new();
	unsigned int n = topology->nodes->len;
	struct builder_node **nodes = g_new(struct builder_node *, n + 1);

	for (unsigned int i = 0; i < n; i++)
		nodes[i] = add_node(builder, topology, i);
	add_cables(topology, nodes);
	builder->sm_port = choose_sm_port(nodes, n);
	g_free(nodes);
	return builder;
}

/* The LIDs of one port, aligned; *lid is the first free one and is advanced. */
static bool give_lids(struct builder_port *port, uint8_t lmc, uint32_t *lid)
{
	uint32_t n = 1u << lmc, base = (*lid + n - 1) & ~(n - 1);

	if (base + n > FABRIC_LIDS)
		return false;
	port->lid = port->info.lid = base;
	port->lmc = port->info.lmc = lmc;
	*lid = base + n;
	return true;
}

bool builder_give_lids(struct builder *builder, uint8_t lmc)
{
	GPtrArray *order = builder_walk(builder);
	uint32_t lid = 1;
	bool enough = true;

	for (uint32_t i = 0; i < order->len && enough; i++) {
		struct builder_node *node = order->pdata[i];

		if (builder_is_switch(node)) {
			enough = give_lids(&node->ports[0], 0, &lid);
			continue;
		}
		for (unsigned int num = 1; num <= node->info.num_ports && enough; num++)
			if (node->ports[num].peer)
				enough = give_lids(&node->ports[num], lmc, &lid);
	}
	g_ptr_array_unref(order);
	return enough;
}
