// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/fabric_make.h"

#include "complib/random.h"
#include "libvendor/sim/topology.h"

void make_lids(struct builder *builder, uint8_t lmc)
{
	bool enough = builder_give_lids(builder, lmc);

	g_assert(enough);
}

struct builder *make_builder_of(const char *spec_or_file)
{
	GError *error = NULL;
	struct topology *topology = topology_load(spec_or_file, &error);
	struct builder *builder;

	if (!topology)
		g_error("%s", error->message);
	builder = builder_from_topology(topology);
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

/* The switch at a port, or FABRIC_NONE. */
static uint32_t switch_at(const struct fabric *fabric, uint32_t port)
{
	return port == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[port].node].sw;
}

struct fabric *make_thinned(const char *spec_or_file, unsigned int percent, uint64_t seed)
{
	struct fabric *fabric = make_fabric(spec_or_file, 0);
	uint64_t state = seed;

	for (uint32_t p = 0; p < fabric->n_ports; p++) {
		uint32_t peer = fabric->ports[p].peer;

		if (switch_at(fabric, p) == FABRIC_NONE || switch_at(fabric, peer) == FABRIC_NONE ||
		    peer < p || random_below(&state, 100) >= percent)
			continue;
		fabric->ports[p].peer = fabric->ports[peer].peer = FABRIC_NONE;
	}
	return fabric;
}

/* ---- random shapes ---- */

uint32_t make_number(uint64_t *state, uint32_t limit)
{
	return random_below(state, limit);
}

void make_shuffled_ports(struct builder *builder, uint64_t *state)
{
	GPtrArray *order = builder_walk(builder);

	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		if (!builder_is_switch(node))
			continue;
		for (unsigned int num = node->info.num_ports; num > 1; num--) {
			struct builder_port *a = &node->ports[num];
			struct builder_port *b = &node->ports[1 + make_number(state, num)];
			struct builder_port *peer_a = a->peer, *peer_b = b->peer;

			if (a == b || !peer_a || !peer_b || peer_a->node == node)
				continue;
			builder_link(a, peer_b);
			builder_link(b, peer_a);
		}
	}
	g_ptr_array_unref(order);
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

static void port_down(struct builder_port *port)
{
	port->known = true;
	port->info.port_state = IBA_PORT_DOWN;
	port->info.port_physical_state = IBA_PHYS_POLLING;
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
	for (unsigned int i = 0; i < cables; i++) {
		unsigned int to = make_number(&state, n);

		random_cable(topology, make_number(&state, n), to);
	}
	random_hosts(topology, &state, n);
	builder = builder_from_topology(topology);
	topology_free(topology);
	if (make_number(&state, 2))
		break_cables(builder, &state, make_number(&state, 30));
	return builder;
}

struct builder_node *make_found(struct builder *builder, const char *description)
{
	GPtrArray *nodes = builder_walk(builder);
	struct builder_node *found = NULL;

	for (uint32_t i = 0; i < nodes->len && !found; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (!strncmp((const char *)node->description.node_string, description,
			     sizeof(node->description.node_string)))
			found = node;
	}
	if (!found)
		g_error("no %s", description);
	g_ptr_array_unref(nodes);
	return found;
}
