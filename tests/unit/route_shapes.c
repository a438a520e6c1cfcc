// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random fabrics for tests of routing. A kind is a function that makes a topology; what all kinds
 * share (damage, hosts, LIDs) works on the builder. All random numbers come from one state.
 */
#include "tests/unit/route_shapes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libvendor/sim/topology.h"

#define PORTS 48 /* of switches that are made here */
#define SEEDS_VARIABLE "ROUTE_SEEDS"

/* A number from low to high. */
static unsigned int between(struct shape *shape, unsigned int low, unsigned int high)
{
	return low + make_number(&shape->state, high - low + 1);
}

static bool one_in(struct shape *shape, unsigned int n)
{
	return make_number(&shape->state, n) == 0;
}

/* ---- pieces ---- */

static unsigned int add_switch(struct topology *topology)
{
	unsigned int n = topology->nodes->len;
	g_autofree char *name = g_strdup_printf("sw-%u", n);
	unsigned int node = topology_add(topology, IBA_NODE_SWITCH, PORTS, name, name,
					 0x200000000000 + n * 0x100);

	topology_default_port_guids(topology, node);
	return node;
}

static unsigned int free_port(const struct topology *topology, unsigned int node)
{
	for (unsigned int num = 1; num <= topology_node(topology, node)->num_ports; num++)
		if (topology_port(topology, node, num)->peer < 0)
			return num;
	return 0;
}

static void add_cables(struct topology *topology, unsigned int a, unsigned int b, unsigned int n)
{
	while (a != b && n-- && free_port(topology, a) && free_port(topology, b))
		topology_connect(topology, a, free_port(topology, a), b, free_port(topology, b));
}

static void add_hosts(struct topology *topology, unsigned int leaf, unsigned int n)
{
	while (n-- && free_port(topology, leaf)) {
		unsigned int i = topology->nodes->len;
		g_autofree char *name = g_strdup_printf("host-%u", i);
		unsigned int node = topology_add(topology, IBA_NODE_CA, 1, name, name,
						 0x100000000000 + i * 0x100);

		topology_default_port_guids(topology, node);
		topology_connect(topology, leaf, free_port(topology, leaf), node, 1);
	}
}

static struct topology *generate(struct shape *shape, char *spec)
{
	GError *error = NULL;
	struct topology *topology = topology_generate(spec, &error);

	if (!topology)
		g_error("%s: %s", spec, error ? error->message : "no such kind");
	g_string_append_printf(shape->what, " %s", spec);
	g_free(spec);
	return topology;
}

/* ---- trees ---- */

static struct topology *fattree(struct shape *shape)
{
	unsigned int k = one_in(shape, 12) ? 8 : 2 * between(shape, 1, 3);

	return generate(shape, g_strdup_printf("fattree:%u", k));
}

struct xgft {
	struct topology *topology;
	unsigned int height, hosts;
	unsigned int down[4], up[4], cables[4]; /* [level] from 1 */
};

/* A tree of this height; gives the switches at its top. */
static GArray *xgft_build(struct xgft *xgft, unsigned int height)
{
	GArray *tops = g_array_new(FALSE, FALSE, sizeof(unsigned int));

	if (height == 0) {
		unsigned int leaf = add_switch(xgft->topology);

		add_hosts(xgft->topology, leaf, xgft->hosts);
		return g_array_append_val(tops, leaf);
	}
	for (unsigned int copy = 0; copy < xgft->down[height]; copy++) {
		GArray *below = xgft_build(xgft, height - 1);

		for (unsigned int i = 0; !copy && i < below->len * xgft->up[height]; i++) {
			unsigned int top = add_switch(xgft->topology);

			g_array_append_val(tops, top);
		}
		for (unsigned int i = 0; i < tops->len; i++)
			add_cables(xgft->topology,
				   g_array_index(below, unsigned int, i / xgft->up[height]),
				   g_array_index(tops, unsigned int, i), xgft->cables[height]);
		g_array_unref(below);
	}
	return tops;
}

static struct topology *xgft(struct shape *shape)
{
	struct xgft xgft = { .topology = topology_new(), .height = between(shape, 1, 3) };
	unsigned int most = xgft.height == 3 ? 2 : 4;

	xgft.hosts = between(shape, 1, 3);
	g_string_append_printf(shape->what, " XGFT of height %u,", xgft.height);
	for (unsigned int i = 1; i <= xgft.height; i++) {
		xgft.down[i] = between(shape, 2, MAX(most, 2));
		xgft.up[i] = between(shape, 1, most);
		xgft.cables[i] = one_in(shape, 3) ? 2 : 1;
		g_string_append_printf(shape->what, " %u:%u:%u", xgft.down[i], xgft.up[i],
				       xgft.cables[i]);
	}
	g_array_unref(xgft_build(&xgft, xgft.height));
	return xgft.topology;
}

static struct topology *layered(struct shape *shape)
{
	struct topology *topology = topology_new();
	unsigned int layers = between(shape, 2, 4), first = 0, n = 0;

	g_string_append_printf(shape->what, " %u layers", layers);
	for (unsigned int layer = 0; layer < layers; layer++) {
		unsigned int above = first, n_above = n;

		first = topology->nodes->len;
		n = between(shape, 1, 2 + 2 * layer);
		for (unsigned int i = 0; i < n; i++)
			add_switch(topology);
		for (unsigned int i = 0; n_above && i < n; i++)
			for (unsigned int cable = between(shape, 1, 4); cable; cable--) {
				unsigned int cables = one_in(shape, 4) ? 2 : 1;

				add_cables(topology, first + i,
					   above + between(shape, 0, n_above - 1), cables);
			}
	}
	for (unsigned int i = 0; i < n; i++)
		add_hosts(topology, first + i, between(shape, i ? 0 : 1, 4));
	return topology;
}

/* ---- grids ---- */

static struct topology *grid(struct shape *shape, const char *name)
{
	GString *spec = g_string_new(name);
	unsigned int dimensions = between(shape, 1, 3);

	for (unsigned int i = 0; i < dimensions; i++)
		g_string_append_printf(spec, "%c%u", i ? 'x' : ':',
				       between(shape, 1, 6 - dimensions));
	g_string_append_printf(spec, ":%u", between(shape, 1, 2));
	return generate(shape, g_string_free(spec, FALSE));
}

static struct topology *torus(struct shape *shape)
{
	return grid(shape, "torus");
}

static struct topology *mesh(struct shape *shape)
{
	return grid(shape, "mesh");
}

static struct topology *hypercube(struct shape *shape)
{
	unsigned int hosts = between(shape, 1, 2), dimensions = between(shape, 1, 4);

	return generate(shape, g_strdup_printf("hypercube:%u:%u", dimensions, hosts));
}

static struct topology *line(struct shape *shape)
{
	unsigned int hosts = between(shape, 1, 2), length = between(shape, 2, 24);

	return generate(shape, g_strdup_printf("mesh:%u:%u", length, hosts));
}

static struct topology *ring(struct shape *shape)
{
	unsigned int hosts = between(shape, 1, 2), length = between(shape, 3, 16);

	return generate(shape, g_strdup_printf("torus:%u:%u", length, hosts));
}

static struct topology *dragonfly(struct shape *shape)
{
	unsigned int hosts = between(shape, 1, 2), globals = between(shape, 1, 2);
	unsigned int switches = between(shape, 2, 4);

	return generate(shape, g_strdup_printf("dragonfly:%u:%u:%u", switches, globals, hosts));
}

/* ---- others ---- */

static struct topology *regular(struct shape *shape)
{
	unsigned int seed = between(shape, 1, 100000), hosts = between(shape, 1, 3);
	unsigned int degree = between(shape, 2, 5), switches = between(shape, 4, 20);

	return generate(shape,
			g_strdup_printf("random:%u:%u:%u:%u", switches, degree, hosts, seed));
}

static struct topology *star(struct shape *shape)
{
	struct topology *topology = topology_new();
	unsigned int centre = add_switch(topology), n = between(shape, 1, 12);

	g_string_append_printf(shape->what, " star of %u", n);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int leaf = add_switch(topology);

		add_cables(topology, centre, leaf, between(shape, 1, 3));
		add_hosts(topology, leaf, between(shape, i ? 0 : 1, 3));
	}
	add_hosts(topology, centre, between(shape, 0, 2));
	return topology;
}

static struct topology *one_switch(struct shape *shape)
{
	struct topology *topology = topology_new();

	g_string_append(shape->what, " one switch");
	add_hosts(topology, add_switch(topology), between(shape, 1, 12));
	return topology;
}

static struct topology *back_to_back(struct shape *shape)
{
	struct topology *topology = topology_new();

	g_string_append(shape->what, " two hosts");
	for (unsigned int i = 0; i < 2; i++) {
		topology_add(topology, IBA_NODE_CA, between(shape, 1, 2), "host", "host",
			     256 * i + 256);
		topology_default_port_guids(topology, i);
	}
	topology_connect(topology, 0, 1, 1, 1);
	return topology;
}

static struct topology *no_cable(struct shape *shape)
{
	struct topology *topology = topology_new();
	unsigned int ports = between(shape, 1, 4);

	g_string_append(shape->what, " one node");
	topology_add(topology, one_in(shape, 2) ? IBA_NODE_CA : IBA_NODE_SWITCH, ports, "alone",
		     "alone", 256);
	topology_default_port_guids(topology, 0);
	return topology;
}

/* More switches than there are bits in a word or two. */
static struct topology *large(struct shape *shape)
{
	static const char *const specs[] = { "fattree:10", "torus:6x5x5:1", "mesh:12x11:1",
					     "hypercube:7:1", "random:130:5:2:7" };

	return generate(shape, g_strdup(specs[make_number(&shape->state, G_N_ELEMENTS(specs))]));
}

/* ---- common to all ---- */

/* Swaps the cables of each switch over its ports: nothing may depend on tidy cabling. */
static void shuffle_ports(struct shape *shape, const GPtrArray *order)
{
	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = node->info.num_ports; builder_is_switch(node) && num > 1;
		     num--) {
			struct builder_port *a = &node->ports[num];
			struct builder_port *b = &node->ports[between(shape, 1, num)];
			struct builder_port *peer_a = a->peer, *peer_b = b->peer;

			if (a == b || !peer_a || !peer_b || peer_a->node == node ||
			    peer_b->node == node)
				continue;
			builder_link(a, peer_b);
			builder_link(b, peer_a);
		}
	}
	g_string_append(shape->what, ", ports shuffled");
}

static void lose_cables(struct shape *shape, const GPtrArray *order, unsigned int percent)
{
	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			if (make_number(&shape->state, 100) < percent &&
			    &node->ports[num] != shape->builder->sm_port)
				builder_unlink(&node->ports[num]);
	}
	g_string_append_printf(shape->what, ", %u %% of cables out", percent);
}

static void lose_switch(struct shape *shape, const GPtrArray *order)
{
	struct builder_node *node = order->pdata[make_number(&shape->state, order->len)];

	if (!builder_is_switch(node))
		return;
	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		if (node->ports[num].peer != shape->builder->sm_port)
			builder_unlink(&node->ports[num]);
	g_string_append(shape->what, ", a switch out");
}

/* A host with one or two ports on a switch that has free ones, inner switches included. */
static void new_host(struct shape *shape, const GPtrArray *order, unsigned int i)
{
	uint8_t type = one_in(shape, 8) ? IBA_NODE_ROUTER : IBA_NODE_CA;
	unsigned int num_ports = between(shape, 1, 2);
	struct iba_node_info info = {
		.node_type = type,
		.num_ports = num_ports,
		.node_guid = 0x300000000000 + i * 0x100,
		.port_guid = 0x300000000001 + i * 0x100,
		.local_port_num = 1,
	};
	struct builder_node *host = builder_add(shape->builder, &info);

	for (unsigned int num = 1; num <= info.num_ports; num++) {
		struct builder_node *to = order->pdata[make_number(&shape->state, order->len)];

		host->ports[num].guid = info.port_guid + num - 1;
		for (unsigned int at = 1; builder_is_switch(to) && at <= to->info.num_ports; at++) {
			if (to->ports[at].peer)
				continue;
			builder_link(&host->ports[num], &to->ports[at]);
			to->ports[at].known = host->ports[num].known = true;
			to->ports[at].info.port_state = IBA_PORT_ACTIVE;
			host->ports[num].info.port_state = IBA_PORT_ACTIVE;
			break;
		}
	}
}

static void new_hosts(struct shape *shape, const GPtrArray *order)
{
	unsigned int n = between(shape, 1, 5);

	for (unsigned int i = 0; i < n; i++)
		new_host(shape, order, i);
	g_string_append_printf(shape->what, ", %u more hosts", n);
}

static void move_sm(struct shape *shape, const GPtrArray *order)
{
	struct builder_node *node = order->pdata[make_number(&shape->state, order->len)];

	unsigned int num = builder_is_switch(node) ? 0 : 1;

	while (num && num <= node->info.num_ports && !node->ports[num].peer)
		num++;
	if (num <= node->info.num_ports)
		shape->builder->sm_port = &node->ports[num];
}

static void give_lid(struct shape *shape, struct builder_port *port, uint8_t lmc, uint32_t *lid)
{
	uint32_t n = 1u << lmc;

	if (!port->guid || (port->num && !port->peer))
		return;
	if (one_in(shape, 6))
		*lid += between(shape, 1, 70);
	*lid = (*lid + n - 1) & ~(n - 1);
	port->lid = port->info.lid = *lid;
	port->lmc = port->info.lmc = lmc;
	*lid += n;
}

/* In any order, with holes, and some ports have none. */
static void scatter_lids(struct shape *shape, GPtrArray *order, uint8_t lmc)
{
	uint32_t lid = 1;

	for (uint32_t i = order->len; i > 1; i--) {
		uint32_t other = make_number(&shape->state, i);
		gpointer swap = order->pdata[i - 1];

		order->pdata[i - 1] = order->pdata[other];
		order->pdata[other] = swap;
	}
	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];
		uint8_t own = one_in(shape, 4) ? make_number(&shape->state, lmc + 1u) : lmc;

		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (!one_in(shape, 12))
				give_lid(shape, &node->ports[num],
					 builder_is_switch(node) && !one_in(shape, 8) ? 0 : own,
					 &lid);
	}
	g_string_append_printf(shape->what, ", LMC up to %u, LIDs scattered", lmc);
}

static void tidy_lids(struct shape *shape, uint8_t lmc)
{
	make_lids(shape->builder, lmc);
	g_string_append_printf(shape->what, ", LMC %u", lmc);
}

/* ---- the whole ---- */

static const struct {
	struct topology *(*make)(struct shape *shape);
	unsigned int weight;
} kinds[SHAPE_KINDS] = {
	[SHAPE_FATTREE] = { fattree, 8 },
	[SHAPE_XGFT] = { xgft, 12 },
	[SHAPE_LAYERED] = { layered, 10 },
	[SHAPE_TORUS] = { torus, 8 },
	[SHAPE_MESH] = { mesh, 8 },
	[SHAPE_HYPERCUBE] = { hypercube, 5 },
	[SHAPE_DRAGONFLY] = { dragonfly, 5 },
	[SHAPE_REGULAR] = { regular, 10 },
	[SHAPE_ANY] = { NULL, 20 },
	[SHAPE_STAR] = { star, 5 },
	[SHAPE_LINE] = { line, 3 },
	[SHAPE_RING] = { ring, 6 },
	[SHAPE_ONE_SWITCH] = { one_switch, 2 },
	[SHAPE_BACK_TO_BACK] = { back_to_back, 1 },
	[SHAPE_NO_CABLE] = { no_cable, 1 },
	[SHAPE_LARGE] = { large, 1 },
};

static void make(struct shape *shape, uint64_t seed)
{
	struct topology *topology;

	shape->what = g_string_new(NULL);
	g_string_printf(shape->what, SEEDS_VARIABLE "=%" PRIu64 ":", seed);
	if (shape->kind == SHAPE_ANY) {
		shape->builder = make_random(seed, 16);
		g_string_append(shape->what, " any");
		return;
	}
	topology = kinds[shape->kind].make(shape);
	shape->builder = builder_from_topology(topology);
	topology_free(topology);
}

void shape_whole(struct shape *shape, uint64_t seed, enum shape_kind kind)
{
	GPtrArray *order;

	*shape = (struct shape){ .kind = kind, .state = seed };
	make(shape, seed);
	order = builder_walk(shape->builder);
	if (one_in(shape, 2))
		shuffle_ports(shape, order);
	g_ptr_array_unref(order);
	tidy_lids(shape, make_number(&shape->state, 3));
}

static enum shape_kind random_kind(uint64_t *state)
{
	uint32_t total = 0, at;

	for (unsigned int i = 0; i < SHAPE_KINDS; i++)
		total += kinds[i].weight;
	at = make_number(state, total);
	for (unsigned int i = 0;; i++) {
		if (at < kinds[i].weight)
			return i;
		at -= kinds[i].weight;
	}
}

void shape_random(struct shape *shape, uint64_t seed)
{
	GPtrArray *order;

	*shape = (struct shape){ .state = seed };
	shape->kind = random_kind(&shape->state);
	make(shape, seed);
	order = builder_walk(shape->builder);
	if (one_in(shape, 3))
		shuffle_ports(shape, order);
	if (one_in(shape, 2))
		lose_cables(shape, order, between(shape, 1, one_in(shape, 3) ? 30 : 8));
	if (one_in(shape, 5))
		lose_switch(shape, order);
	if (one_in(shape, 4))
		new_hosts(shape, order);
	if (one_in(shape, 5))
		move_sm(shape, order);
	g_ptr_array_unref(order);
	order = builder_walk(shape->builder);
	if (one_in(shape, 2))
		scatter_lids(shape, order, make_number(&shape->state, 4));
	else
		tidy_lids(shape, make_number(&shape->state, 4));
	g_ptr_array_unref(order);
}

void shape_clear(struct shape *shape)
{
	builder_free(shape->builder);
	g_string_free(shape->what, TRUE);
}

void shape_cut(struct fabric *fabric, uint64_t *state, uint32_t percent)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t peer = fabric->ports[i].peer;

		if (peer == FABRIC_NONE || make_number(state, 100) >= percent)
			continue;
		fabric->ports[peer].peer = FABRIC_NONE;
		fabric->ports[i].peer = FABRIC_NONE;
	}
}

struct shape_seeds shape_seeds(uint64_t by_default)
{
	const char *text = g_getenv(SEEDS_VARIABLE);
	struct shape_seeds seeds = { 1, by_default };
	char *end;

	if (!text)
		return seeds;
	seeds.first = seeds.last = g_ascii_strtoull(text, &end, 10);
	if (end != text && *end == '-')
		seeds.last = g_ascii_strtoull(end + 1, &end, 10);
	if (*end || !seeds.first || seeds.last < seeds.first)
		g_error("%s is '%s': expected a seed, or two and '-' between them", SEEDS_VARIABLE,
			text);
	return seeds;
}
