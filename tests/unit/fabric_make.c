// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/fabric_make.h"

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

struct builder *make_builder(const struct topology *topology)
{
	struct builder *builder = builder_new();
	struct builder_node **nodes = g_new(struct builder_node *, topology->nodes->len);

	for (unsigned int i = 0; i < topology->nodes->len; i++)
		nodes[i] = add_node(builder, topology, i);
	add_cables(topology, nodes);
	for (unsigned int i = 0; i < topology->nodes->len && !builder->sm_port; i++)
		if (!builder_is_switch(nodes[i]))
			builder->sm_port = &nodes[i]->ports[1];
	if (!builder->sm_port)
		builder->sm_port = &nodes[0]->ports[0];
	g_free(nodes);
	return builder;
}

void make_lids(struct builder *builder, uint8_t lmc)
{
	GPtrArray *order = builder_walk(builder);
	uint32_t lid = 1;

	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];
		bool is_switch = builder_is_switch(node);
		unsigned int last = is_switch ? 0 : node->info.num_ports;

		for (unsigned int num = is_switch ? 0 : 1; num <= last; num++) {
			struct builder_port *port = &node->ports[num];
			uint8_t own_lmc = is_switch ? 0 : lmc;

			if (!is_switch && !port->peer)
				continue;
			lid = (lid + (1u << own_lmc) - 1) >> own_lmc << own_lmc;
			g_assert(lid + (1u << own_lmc) <= FABRIC_LIDS);
			port->lid = port->info.lid = lid;
			port->lmc = port->info.lmc = own_lmc;
			lid += 1u << own_lmc;
		}
	}
	g_ptr_array_unref(order);
}

struct builder *make_builder_of(const char *spec_or_file)
{
	GError *error = NULL;
	struct topology *topology = topology_load(spec_or_file, &error);
	struct builder *builder;

	if (!topology)
		g_error("%s", error->message);
	builder = make_builder(topology);
	topology_free(topology);
	return builder;
}

struct fabric *make_fabric(const char *spec_or_file, uint8_t lmc)
{
	struct builder *builder = make_builder_of(spec_or_file);
	struct fabric *fabric;

	make_lids(builder, lmc);
	fabric = builder_freeze(builder);
	builder_free(builder);
	return fabric;
}

/* ---- random shapes ---- */

uint32_t make_number(uint64_t *state, uint32_t limit)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return (x >> 32) * limit >> 32;
}

/* A free port of the node, or 0. */
static unsigned int free_port(const struct topology *topology, unsigned int node)
{
	for (unsigned int num = 1; num <= topology_node(topology, node)->num_ports; num++)
		if (topology_port(topology, node, num)->peer < 0)
			return num;
	return 0;
}

static void random_cable(struct topology *topology, unsigned int a, unsigned int b)
{
	unsigned int port_a = free_port(topology, a), port_b;

	if (!port_a)
		return;
	port_b = free_port(topology, b);
	if (a == b)
		while (port_b && port_b <= topology_node(topology, b)->num_ports &&
		       (port_b == port_a || topology_port(topology, b, port_b)->peer >= 0))
			port_b++;
	if (!port_b || port_b > topology_node(topology, b)->num_ports)
		return;
	topology_connect(topology, a, port_a, b, port_b);
}

static void random_nodes(struct topology *topology, uint64_t *state, unsigned int n_switches)
{
	for (unsigned int i = 0; i < n_switches; i++) {
		g_autofree char *name = g_strdup_printf("sw-%u", i);
		unsigned int node = topology_add(topology, IBA_NODE_SWITCH,
						 4 + make_number(state, 20), name, name,
						 0x200000000000 + i * 0x100);

		topology_default_port_guids(topology, node);
	}
}

static void random_hosts(struct topology *topology, uint64_t *state, unsigned int n_switches)
{
	unsigned int n = 1 + make_number(state, 2 * n_switches + 2);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int ports = 1 + (make_number(state, 4) == 0);
		uint8_t type = make_number(state, 20) ? IBA_NODE_CA : IBA_NODE_ROUTER;
		g_autofree char *name = g_strdup_printf("host-%u", i);
		unsigned int node = topology_add(topology, type, ports, name, name,
						 0x100000000000 + i * 0x100);

		topology_default_port_guids(topology, node);
		for (unsigned int num = 1; num <= ports; num++)
			random_cable(topology, node, make_number(state, n_switches));
	}
}

static void break_cables(struct builder *builder, uint64_t *state, uint32_t percent)
{
	GPtrArray *order = builder_walk(builder);

	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports; num++) {
			if (make_number(state, 100) >= percent)
				continue;
			if (make_number(state, 2))
				builder_unlink(&node->ports[num]);
			else
				port_down(&node->ports[num]);
		}
	}
	g_ptr_array_unref(order);
}

struct builder *make_random(uint64_t seed, unsigned int max_switches)
{
	uint64_t state = seed;
	struct topology *topology = topology_new();
	unsigned int n = 1 + make_number(&state, max_switches);
	unsigned int cables = make_number(&state, 4 * n + 1);
	struct builder *builder;

	random_nodes(topology, &state, n);
	for (unsigned int i = 0; i + 1 < n; i++)
		random_cable(topology, i + 1, make_number(&state, i + 1));
	for (unsigned int i = 0; i < cables; i++)
		random_cable(topology, make_number(&state, n), make_number(&state, n));
	random_hosts(topology, &state, n);
	builder = make_builder(topology);
	topology_free(topology);
	if (make_number(&state, 2))
		break_cables(builder, &state, make_number(&state, 30));
	return builder;
}
