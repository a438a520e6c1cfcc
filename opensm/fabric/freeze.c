// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the builder to the immutable fabric: one pass over the nodes in the order of the walk. A
 * cable is in the fabric if both of its ends were met and neither is down. The sm actor freezes;
 * after that any thread reads, and the last reference frees.
 */
#include <string.h>

#include "fabric/builder.h"
#include "fabric/fabric_private.h"
#include "iba/codes.h"

static struct fabric *fabric_alloc(const GPtrArray *order)
{
	struct fabric *fabric = g_new0(struct fabric, 1);

	ref_init(&fabric->ref);
	fabric->n_nodes = order->len;
	for (uint32_t i = 0; i < order->len; i++) {
		const struct builder_node *node = order->pdata[i];

		fabric->n_ports += node->info.num_ports + 1u;
		fabric->n_switches += builder_is_switch(node);
	}
	fabric->nodes = g_new0(struct fabric_node, fabric->n_nodes);
	fabric->switches = g_new0(struct fabric_switch, fabric->n_switches);
	fabric->ports = g_new0(struct fabric_port, fabric->n_ports);
	fabric->lid_port = g_new(uint32_t, FABRIC_LIDS);
	memset(fabric->lid_port, 0xFF, FABRIC_LIDS * sizeof(uint32_t));
	return fabric;
}

static void freeze_node(struct fabric_node *to, const struct builder_node *from)
{
	to->guid = from->guid;
	to->type = from->info.node_type;
	to->num_ports = from->info.num_ports;
	to->info = from->info;
	if (from->has_description)
		memcpy(to->description, from->description.node_string,
		       sizeof(from->description.node_string));
}

/* Nodes, switches and the first port of each: after this an index can be told for every port. */
static void freeze_nodes(struct fabric *fabric, const GPtrArray *order)
{
	uint32_t first_port = 0, sw = 0;

	for (uint32_t i = 0; i < order->len; i++) {
		const struct builder_node *from = order->pdata[i];
		struct fabric_node *to = &fabric->nodes[i];

		freeze_node(to, from);
		to->first_port = first_port;
		to->sw = FABRIC_NONE;
		first_port += to->num_ports + 1u;
		if (!builder_is_switch(from))
			continue;
		to->sw = sw;
		fabric->switches[sw].node = i;
		fabric->switches[sw].hops = from->hops;
		fabric->switches[sw].info = from->switch_info;
		sw++;
	}
}

static bool is_down(const struct builder_port *port)
{
	return port->known && port->info.port_state == IBA_PORT_DOWN;
}

static uint32_t freeze_peer(const struct fabric *fabric, const struct builder_port *port)
{
	const struct builder_port *peer = port->peer;

	if (!peer || peer->node->index == FABRIC_NONE || is_down(port) || is_down(peer))
		return FABRIC_NONE;
	return fabric->nodes[peer->node->index].first_port + peer->num;
}

static uint8_t freeze_rate(const struct iba_port_info *info)
{
	if (info->port_state <= IBA_PORT_DOWN)
		return 0;
	return iba_link_rate(info->link_width_active, info->link_speed_active,
			     info->link_speed_ext_active, info->link_speed_ext_active2);
}

static uint8_t freeze_mtu(const struct builder_port *port)
{
	if (!port->num || !port->info.neighbor_mtu)
		return port->info.mtu_cap;
	return port->info.neighbor_mtu;
}

static void freeze_lids(struct fabric *fabric, uint32_t port)
{
	uint32_t lid = fabric->ports[port].lid, last = lid + (1u << fabric->ports[port].lmc) - 1;

	if (!lid || last >= FABRIC_LIDS)
		return;
	for (; lid <= last; lid++)
		if (fabric->lid_port[lid] == FABRIC_NONE)
			fabric->lid_port[lid] = port;
	fabric->max_lid = MAX(fabric->max_lid, last);
}

static void freeze_port(struct fabric *fabric, uint32_t index, const struct builder_port *from)
{
	struct fabric_port *to = &fabric->ports[index];
	bool endport = builder_is_switch(from->node) ? from->num == 0 : from->num != 0;

	to->node = from->node->index;
	to->num = from->num;
	to->peer = freeze_peer(fabric, from);
	to->known = from->known;
	to->info = from->info;
	if (from->known) {
		to->rate = freeze_rate(&from->info);
		to->mtu = freeze_mtu(from);
	}
	fabric->n_links += to->peer != FABRIC_NONE && to->peer >= index;
	if (!endport || !from->guid)
		return;
	to->guid = from->guid;
	to->lid = from->lid;
	to->lmc = from->lmc;
	freeze_lids(fabric, index);
}

struct fabric *builder_freeze(struct builder *builder)
{
	GPtrArray *order = builder_walk(builder);
	struct fabric *fabric = NULL;

	if (order->len) {
		fabric = fabric_alloc(order);
		fabric->generation = ++builder->generation;
		freeze_nodes(fabric, order);
		for (uint32_t i = 0; i < order->len; i++) {
			const struct builder_node *node = order->pdata[i];

			for (unsigned int num = 0; num <= node->info.num_ports; num++)
				freeze_port(fabric, fabric_port_of(fabric, i, num),
					    &node->ports[num]);
		}
		fabric->sm_port = fabric_port_of(fabric, 0, builder->sm_port->num);
		fabric_index_guids(fabric);
	}
	g_ptr_array_unref(order);
	return fabric;
}

struct fabric *fabric_ref(struct fabric *fabric)
{
	ref_get(&fabric->ref);
	return fabric;
}

void fabric_unref(struct fabric *fabric)
{
	if (!fabric || !ref_put(&fabric->ref))
		return;
	fabric_guid_index_free(fabric->by_guid);
	g_free(fabric->lid_port);
	g_free(fabric->ports);
	g_free(fabric->switches);
	g_free(fabric->nodes);
	g_free(fabric);
}
