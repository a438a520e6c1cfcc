// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine ftree on trees of all shapes. What a tree can carry follows from its numbers alone: a
 * switch of level l has at most N hosts below it, and C cables lead up from all switches that have
 * the same hosts below them; then some cable carries N / C flows of a shift permutation, rounded
 * up, if each host sends beyond. The engine must not need more.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route/fill/shortest.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"

#define LEVELS_MAX 16

static const char *const shapes[] = {
	/* full bisection: k-ary n-trees and others */
	"xgft:4,4:1,4", "xgft:4,4,4:1,4,4", "xgft:3,3,3,3:1,3,3,3", "xgft:2,2,2,2,2:1,2,2,2,2",
	"xgft:2,2,2,2,2,2:1,2,2,2,2,2", "xgft:2,2,2,2,2,2,2:1,2,2,2,2,2,2",
	"xgft:2,2,2,2,2,2,2,2:1,2,2,2,2,2,2,2", "xgft:2,3,4:1,2,3", "xgft:6,2,5:1,6,2",
	"xgft:2,1,2,1,2,1,2,1,2,2:1,1,2,1,1,1,2,1,2,1", "fattree:6",
	/* more hosts than cables above them, on one level or on all */
	"xgft:8,4:1,4", "xgft:7,5:1,3", "xgft:4,4,4:1,2,4", "xgft:4,4,4:1,4,2",
	"xgft:4,2,3:1,2,2", "xgft:6,4,4:1,3,3", "xgft:5,3,3:1,4,4", "xgft:7,5,3:1,4,4",
	"xgft:3,3,3,3:1,2,2,2",
	/* more cables than hosts */
	"xgft:3,4,4:1,4,4", "xgft:2,6:1,5", "xgft:3,3,3:1,4,4", "xgft:1,4,4:1,2,2",
	/* cables in parallel */
	"xgft:4,8:1,2:1,2", "xgft:4,8:1,4:1,2", "xgft:6,6:1,2:1,3", "xgft:4,4,4:1,2,4:1,2,1",
	"xgft:4,4,4:1,4,2:1,1,2", "xgft:4,3,3:1,2,2:1,2,2", "xgft:8,4,4:1,2,2:1,4,8",
	"xgft:5,3,4:1,2,3:1,3,2", "xgft:6,4,3:1,3,2:1,1,3",
};

/* A tree of a shape, and its routes. */
struct net {
	const char *shape;
	unsigned int h, m[LEVELS_MAX], w[LEVELS_MAX], p[LEVELS_MAX];
	struct builder *builder;
	struct fabric *fabric;
	struct routing *routing;
	GArray *hosts; /* uint16_t LIDs of compute nodes in the order of the engine */
	uint32_t n_all; /* hosts, others included */
};

static unsigned int read_list(const char **at, unsigned int list[LEVELS_MAX])
{
	unsigned int n = 0;

	do {
		char *end;

		ck_assert_uint_lt(n, LEVELS_MAX);
		list[n++] = strtoul(++*at, &end, 10);
		*at = end;
	} while (**at == ',');
	return n;
}

static void net_open(struct net *net, const char *shape)
{
	unsigned int k;
	const char *at = shape + 4;

	*net = (struct net){.shape = shape};
	for (unsigned int i = 0; i < LEVELS_MAX; i++)
		net->p[i] = 1;
	if (sscanf(shape, "fattree:%u", &k) == 1) {
		net->h = 3;
		memcpy(net->m, (unsigned int[]){k / 2, k / 2, k}, 3 * sizeof(k));
		memcpy(net->w, (unsigned int[]){1, k / 2, k / 2}, 3 * sizeof(k));
	} else {
		net->h = read_list(&at, net->m);
		ck_assert_uint_eq(read_list(&at, net->w), net->h);
		if (*at)
			ck_assert_uint_eq(read_list(&at, net->p), net->h);
	}
	net->builder = make_builder_of(shape);
}

static void list_hosts(struct net *net, const struct route_input *input)
{
	uint32_t *order = g_new(uint32_t, net->fabric->n_switches + 1);
	const struct route_graph *graph;
	struct route_plan plan;

	route_plan_init(&plan, net->fabric);
	graph = plan.graph;
	net->hosts = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	ck_assert_msg(route_ftree_order(&plan.wishes, net->fabric, input, order) > 0, "%s",
		      net->shape);
	for (uint32_t i = 0; i < graph->n; i++)
		for (uint32_t t = graph->first_target[order[i]];
		     t < graph->first_target[order[i] + 1]; t++) {
			net->n_all += !graph->targets[t].offset;
			if (!graph->targets[t].offset && !plan.wishes.of[t].later)
				g_array_append_val(net->hosts, graph->targets[t].lid);
		}
	g_free(order);
	route_plan_clear(&plan);
}

static void net_route(struct net *net, uint8_t lmc, const struct route_input *input)
{
	g_autoptr(GError) error = NULL;

	make_lids(net->builder, lmc);
	net->fabric = builder_freeze(net->builder);
	net->routing = route_compute(route_find("ftree"), net->fabric, input, &error);
	ck_assert_msg(net->routing != NULL, "%s: %s", net->shape, error ? error->message : "");
	list_hosts(net, input);
}

static void net_close(struct net *net)
{
	if (net->hosts)
		g_array_unref(net->hosts);
	routing_unref(net->routing);
	fabric_unref(net->fabric);
	builder_free(net->builder);
}

/* ---- what a tree can carry ---- */

static uint32_t round_up(uint32_t n, uint32_t by)
{
	return (n + by - 1) / by;
}

/* Hosts below a switch of a level in the full tree. */
static uint32_t hosts_below(const struct net *net, unsigned int level)
{
	uint32_t n = 1;

	for (unsigned int i = 0; i < level; i++)
		n *= net->m[i];
	return n;
}

/* Cables up from a level, of all switches that have the same hosts below them. */
static uint32_t cables_above(const struct net *net, unsigned int level)
{
	uint32_t n = net->p[level];

	for (unsigned int i = 0; i <= level; i++)
		n *= net->w[i];
	return n;
}

/* Of the LIDs in the list, the number below the switch that has most of them on this level. */
static uint32_t most_below(const struct net *net, unsigned int level)
{
	uint32_t size = hosts_below(net, level), *n = g_new0(uint32_t, hosts_below(net, net->h));
	uint32_t most = 0;

	for (uint32_t i = 0; i < net->hosts->len; i++) {
		uint32_t port = fabric_port_by_lid(net->fabric,
						   g_array_index(net->hosts, uint16_t, i));
		const char *name = net->fabric->nodes[net->fabric->ports[port].node].description;
		unsigned int index;

		if (sscanf(name, "host-%u", &index) != 1)
			ck_abort_msg("no number in %s", name);
		n[index / size]++;
		most = MAX(most, n[index / size]);
	}
	g_free(n);
	return most;
}

static uint32_t bound_of_shift(const struct net *net)
{
	uint32_t bound = 1;

	for (unsigned int level = 1; level < net->h; level++)
		bound = MAX(bound, round_up(most_below(net, level), cables_above(net, level)));
	return bound;
}

/*
 * Whether the numbers of hosts continue from the last to the first as they do everywhere else. If
 * not, hosts that send beyond the last may share cables with hosts that do not.
 */
static bool comes_round(const struct net *net)
{
	for (unsigned int level = 1; level < net->h; level++)
		if (net->hosts->len % cables_above(net, level))
			return false;
	return true;
}

/* All hosts sending to all, in a full tree: the busiest cable up, or down. */
static uint64_t bound_of_all(const struct net *net)
{
	uint64_t all = hosts_below(net, net->h), bound = 0;

	for (unsigned int level = 1; level < net->h; level++) {
		uint64_t below = hosts_below(net, level), cables = cables_above(net, level);

		bound = MAX(bound, below * round_up(all - below, cables));
		bound = MAX(bound, (all - below) * round_up(below, cables));
	}
	return bound;
}

/* ---- what it carries ---- */

/* Adds a flow to the load of each cable on its way; returns the number of cables. */
static unsigned int add_flow(const struct net *net, uint16_t from, uint16_t to, uint32_t *load)
{
	const struct fabric *fabric = net->fabric;
	uint32_t sw = checker_leaf(fabric, from), leaf = checker_leaf(fabric, to);
	unsigned int hops = 0;

	for (; sw != leaf; hops++) {
		uint8_t num = routing_port(net->routing, sw, to);
		uint32_t next = checker_next_switch(fabric, sw, num);

		if (next == FABRIC_NONE || hops == 64)
			ck_abort_msg("%s: no way to %u", net->shape, to);
		load[fabric_switch_port(fabric, sw, num)]++;
		sw = next;
	}
	return hops;
}

static uint32_t most_load(const struct net *net, const uint32_t *load)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < net->fabric->n_ports; i++)
		most = MAX(most, load[i]);
	return most;
}

/* The worst of all shifts to LIDs at this offset above the base LIDs; round, or to the end. */
static uint32_t worst_shift(const struct net *net, unsigned int offset, bool round)
{
	g_autofree uint32_t *load = g_new(uint32_t, net->fabric->n_ports);
	uint32_t n = net->hosts->len, worst = 0;

	for (uint32_t s = 1; s < n; s++) {
		memset(load, 0, net->fabric->n_ports * sizeof(*load));
		for (uint32_t i = 0; i < (round ? n : n - s); i++)
			add_flow(net, g_array_index(net->hosts, uint16_t, i),
				 g_array_index(net->hosts, uint16_t, (i + s) % n) + offset, load);
		worst = MAX(worst, most_load(net, load));
	}
	return worst;
}

static uint32_t all_to_all(const struct net *net)
{
	g_autofree uint32_t *load = g_new0(uint32_t, net->fabric->n_ports);

	for (uint32_t i = 0; i < net->hosts->len; i++)
		for (uint32_t j = 0; j < net->hosts->len; j++)
			add_flow(net, g_array_index(net->hosts, uint16_t, i),
				 g_array_index(net->hosts, uint16_t, j), load);
	return most_load(net, load);
}

/* No pair may be left without a path, not even of switches. */
static void check_paths(const struct net *net)
{
	struct route_verdict verdict;

	checker_accept(net->fabric, net->routing, net->shape);
	ck_assert(route_verify(net->fabric, net->routing, &verdict));
	ck_assert_msg(!verdict.discarded, "%s: %u paths left out", net->shape,
		      (unsigned int)verdict.discarded);
	route_verdict_clear(&verdict);
}

static void check_shifts(const struct net *net, unsigned int offset, unsigned int more)
{
	uint32_t bound = bound_of_shift(net), ahead = worst_shift(net, offset, false);
	uint32_t round = worst_shift(net, offset, true);

	ck_assert_msg(ahead <= bound + more, "%s: %u, not %u", net->shape, ahead, bound);
	ck_assert_msg(round <= bound + more + !comes_round(net), "%s: round %u, not %u", net->shape,
		      round, bound);
}

/* ---- full trees ---- */

/* The SM on any host, cables in any ports. */
static void rearrange(struct builder *builder, uint64_t seed)
{
	GPtrArray *nodes = builder_walk(builder);
	uint64_t state = seed;
	struct builder_node *node;

	make_shuffled_ports(builder, &state);
	do
		node = nodes->pdata[make_number(&state, nodes->len)];
	while (builder_is_switch(node));
	builder->sm_port = &node->ports[1];
	g_ptr_array_unref(nodes);
}

/* Hops of the longest path between hosts; each pair must have a path. */
static unsigned int longest(const struct net *net)
{
	g_autofree uint32_t *load = g_new0(uint32_t, net->fabric->n_ports);
	unsigned int most = 0;

	for (uint32_t i = 0; i < net->hosts->len; i++)
		for (uint32_t j = 0; j < net->hosts->len; j++)
			most = MAX(most, add_flow(net, g_array_index(net->hosts, uint16_t, i),
						  g_array_index(net->hosts, uint16_t, j), load));
	return most;
}

static void check_full(const char *shape, uint64_t seed)
{
	const struct route_input input = {.threads = 1, .from_roots = seed % 2};
	struct net net;

	net_open(&net, shape);
	if (seed)
		rearrange(net.builder, seed);
	net_route(&net, 0, &input);
	ck_assert_uint_eq(net.hosts->len, hosts_below(&net, net.h));
	check_paths(&net);
	ck_assert_uint_eq(longest(&net), 2 * (net.h - 1));
	/* from switch to switch possibly over the leaf on top of an inverted root */
	ck_assert_uint_le(net.routing->max_hops, 2 * (net.h - 1) + 2 * (net.h - 2));
	check_shifts(&net, 0, 0);
	ck_assert_msg(all_to_all(&net) <= bound_of_all(&net), "%s seed %u: %u, not %u", shape,
		      (unsigned int)seed, all_to_all(&net), (unsigned int)bound_of_all(&net));
	net_close(&net);
}

START_TEST(test_full_tree_carries_shifts)
{
	for (uint64_t seed = 0; seed < 3; seed++)
		check_full(shapes[_i], seed);
}
END_TEST

/* First are the hosts nearest to the subnet manager, or below the first port of the roots. */
START_TEST(test_order_from_roots)
{
	for (unsigned int from_roots = 0; from_roots <= 1; from_roots++) {
		const struct route_input input = {.threads = 1, .from_roots = from_roots};
		struct net net;
		uint32_t port;

		net_open(&net, "xgft:4,4,4:1,4,4");
		net.builder->sm_port = &make_found(net.builder, "host-63")->ports[1];
		net_route(&net, 0, &input);
		port = fabric_port_by_lid(net.fabric, g_array_index(net.hosts, uint16_t, 0));
		ck_assert_str_eq(net.fabric->nodes[net.fabric->ports[port].node].description,
				 from_roots ? "host-0" : "host-60");
		net_close(&net);
	}
}
END_TEST

START_TEST(test_every_lid_carries_shifts)
{
	const struct route_input input = {.threads = 1};
	struct net net;

	net_open(&net, shapes[_i]);
	net_route(&net, 2, &input);
	check_paths(&net);
	for (unsigned int offset = 0; offset < 4; offset++)
		check_shifts(&net, offset, 0);
	net_close(&net);
}
END_TEST

/* ---- fewer hosts ---- */

/* Removes hosts, each with this probability. */
static void lose_hosts(struct builder *builder, uint64_t *state, unsigned int percent)
{
	GPtrArray *nodes = builder_walk(builder);

	for (uint32_t i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (!builder_is_switch(node) && &node->ports[1] != builder->sm_port &&
		    make_number(state, 100) < percent)
			builder_remove(builder, node);
	}
	g_ptr_array_unref(nodes);
}

/* The slow checker takes minutes for the largest shape under a sanitizer: fewer rounds there. */
static unsigned int rounds(const char *shape, unsigned int n)
{
	return strlen(shape) > strlen("xgft:2,2,2,2,2,2:1,2,2,2,2,2") ? 1 + n / 6 : n;
}

START_TEST(test_missing_hosts_do_no_harm)
{
	const struct route_input input = {.threads = 1};

	for (uint64_t seed = 1; seed <= rounds(shapes[_i], 5); seed++) {
		uint64_t state = seed;
		struct net net;

		net_open(&net, shapes[_i]);
		rearrange(net.builder, seed);
		lose_hosts(net.builder, &state, 20 * seed - 8);
		net_route(&net, 0, &input);
		check_paths(&net);
		check_shifts(&net, 0, 0);
		net_close(&net);
	}
}
END_TEST

/* ---- damage ---- */

static bool is_between_switches(const struct builder_port *port)
{
	return port->peer && builder_is_switch(port->node) && builder_is_switch(port->peer->node);
}

/* Removes cables between switches, each with this probability, and sometimes a switch. */
static void damage(struct builder *builder, uint64_t *state, unsigned int percent)
{
	GPtrArray *nodes = builder_walk(builder);

	for (uint32_t i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			if (is_between_switches(&node->ports[num]) &&
			    make_number(state, 200) < percent)
				builder_unlink(&node->ports[num]);
		if (builder_is_switch(node) && builder->sm_port->peer->node != node &&
		    make_number(state, 600) < percent)
			builder_remove(builder, node);
	}
	g_ptr_array_unref(nodes);
}

/*
 * Whether it was routed: hosts may have lost each other by up and down paths. A result is right,
 * and the same with several threads.
 */
static bool check_damaged(const char *shape, uint64_t seed)
{
	struct route_input input = {.threads = 1};
	uint64_t state = seed;
	struct net net;
	bool routed;

	net_open(&net, shape);
	rearrange(net.builder, seed);
	damage(net.builder, &state, 1 + seed);
	make_lids(net.builder, seed % 3);
	net.fabric = builder_freeze(net.builder);
	net.routing = route_compute(route_find("ftree"), net.fabric, &input, NULL);
	routed = net.routing != NULL;
	if (routed) {
		struct routing *again;

		checker_accept(net.fabric, net.routing, shape);
		input.threads = 3;
		again = route_compute(route_find("ftree"), net.fabric, &input, NULL);
		checker_same_tables(net.routing, again, shape);
		routing_unref(again);
	}
	net_close(&net);
	return routed;
}

START_TEST(test_damaged_trees)
{
	unsigned int refused = 0, n = rounds(shapes[_i], 12), single = 0;
	struct net net;

	for (uint64_t seed = 1; seed <= n; seed++)
		refused += !check_damaged(shapes[_i], seed);
	net_open(&net, shapes[_i]);
	for (unsigned int level = 1; level < net.h; level++)
		single += net.w[level] * net.p[level] == 1;
	net_close(&net);
	/* a single cable up may be all that a subtree has */
	ck_assert_msg(refused <= (single ? n / 2 : n / 6), "%s: %u of %u refused", shapes[_i],
		      refused, n);
}
END_TEST

/* ---- I/O nodes ---- */

/* One host of each leaf, not always at the same port. */
static void list_io(struct net *net, GArray *io)
{
	uint32_t leaves = hosts_below(net, net->h) / net->m[0];

	for (uint32_t leaf = 0; leaf < leaves; leaf++) {
		g_autofree char *name = g_strdup_printf(
			"host-%u", leaf * net->m[0] + (leaf * 7 + leaf / 3) % net->m[0]);

		g_array_append_val(io, make_found(net->builder, name)->ports[1].guid);
	}
}

/* Listed hosts do not disturb the others, and are spread well among themselves. */
static void check_io_on_leaves(const char *shape, bool named_compute)
{
	g_autoptr(GArray) io = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct route_input input = {.threads = 1};
	struct net net;

	net_open(&net, shape);
	list_io(&net, io);
	*(named_compute ? &input.compute : &input.io) = (const uint64_t *)(void *)io->data;
	*(named_compute ? &input.n_compute : &input.n_io) = io->len;
	net_route(&net, 0, &input);
	check_paths(&net);
	ck_assert_uint_eq(net.hosts->len, named_compute ? io->len : net.n_all - io->len);
	ck_assert_uint_eq(bound_of_shift(&net), 1);
	check_shifts(&net, 0, 0);
	net_close(&net);
}

START_TEST(test_io_nodes_do_not_disturb)
{
	static const char *const with_io[] = {
		"xgft:5,8:1,4", "xgft:5,4,4:1,4,4", "xgft:4,3,3,3:1,3,3,3", "xgft:5,8:1,2:1,2",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(with_io); i++) {
		check_io_on_leaves(with_io[i], false);
		check_io_on_leaves(with_io[i], true);
	}
}
END_TEST

/* Moves a host to a root, which loses one of two cables to the same switch below. */
static uint64_t move_to_root(struct net *net, unsigned int host, unsigned int root)
{
	g_autofree char *host_name = g_strdup_printf("host-%u", host);
	g_autofree char *root_name = g_strdup_printf("spine-%u-%u", net->h, root);
	struct builder_port *port = &make_found(net->builder, host_name)->ports[1];
	struct builder_node *node = make_found(net->builder, root_name);

	builder_link(&node->ports[1], port);
	return port->guid;
}

static unsigned int level_of(const struct fabric *fabric, uint32_t sw)
{
	const char *name = fabric->nodes[fabric->switches[sw].node].description;
	unsigned int level = 1;

	if (sscanf(name, "spine-%u-", &level) != 1)
		ck_assert_msg(g_str_has_prefix(name, "leaf-"), "%s", name);
	return level;
}

/* Hops down that are followed by hops up on the way between hosts; UINT_MAX if there is no path. */
static unsigned int wrong_hops(const struct net *net, uint16_t from, uint16_t to)
{
	const struct fabric *fabric = net->fabric;
	uint32_t sw = checker_leaf(fabric, from), leaf = checker_leaf(fabric, to);
	unsigned int down = 0, wrong = 0;

	while (sw != leaf) {
		uint32_t next = checker_next_switch(fabric, sw, routing_port(net->routing, sw, to));

		if (next == FABRIC_NONE)
			return UINT_MAX;
		if (level_of(fabric, next) < level_of(fabric, sw))
			down++;
		else
			wrong = down;
		sw = next;
	}
	return wrong;
}

/* The most hops the wrong way of any pair of hosts on roots. */
static unsigned int most_wrong_hops(const struct net *net, const uint64_t *guids, unsigned int n)
{
	const struct fabric *fabric = net->fabric;
	unsigned int most = 0;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int j = 0; j < n; j++) {
			uint16_t from = fabric->ports[fabric_port_by_guid(fabric, guids[i])].lid;
			uint16_t to = fabric->ports[fabric_port_by_guid(fabric, guids[j])].lid;

			most = MAX(most, i == j ? 0 : wrong_hops(net, from, to));
		}
	return most;
}

static const struct io_case {
	const char *shape;
	unsigned int roots, most; /* hops down and then up: as many as ranks below the roots */
	bool io; /* they are named as such; else the others are, as compute nodes */
} io_cases[] = {
	{"xgft:5,4:1,4:1,2", 4, 1, true},
	{"xgft:5,4:1,4:1,2", 4, 1, false},
	{"xgft:5,4,4:1,2,2:1,1,2", 4, 2, true},
	{"xgft:3,2,2,3:1,2,2,2:1,1,1,2", 8, 3, true},
};

START_TEST(test_io_nodes_on_roots)
{
	const struct io_case *io_case = &io_cases[_i];
	g_autoptr(GArray) compute = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct route_input input = {.threads = 1};
	uint64_t guids[8];
	struct net net;

	net_open(&net, io_case->shape);
	for (unsigned int root = 0; root < io_case->roots; root++)
		guids[root] = move_to_root(&net, 1 + root * net.m[0], root);
	for (unsigned int i = 0; i < hosts_below(&net, net.h); i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		if (i % net.m[0] != 1 || i / net.m[0] >= io_case->roots)
			g_array_append_val(compute, make_found(net.builder, name)->ports[1].guid);
	}
	input.compute = (const uint64_t *)(void *)compute->data;
	input.n_compute = compute->len;
	input.io = guids;
	input.n_io = io_case->io ? io_case->roots : 0;
	net_route(&net, 0, &input);
	checker_accept(net.fabric, net.routing, net.shape);
	ck_assert_uint_le(most_wrong_hops(&net, guids, io_case->roots), io_case->most);
	ck_assert_ptr_null(net.routing->note);
	net_close(&net);
}
END_TEST

/* Plugs some hosts, which are then I/O nodes, into any port of any switch. */
static void scatter_hosts(struct builder *builder, uint64_t *state, GArray *io, GArray *compute)
{
	GPtrArray *nodes = builder_walk(builder);

	for (uint32_t i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i], *sw;
		bool moves = make_number(state, 6) == 0;

		if (builder_is_switch(node) || &node->ports[1] == builder->sm_port)
			continue;
		if (moves || make_number(state, 20) == 0)
			g_array_append_val(io, node->ports[1].guid);
		else
			g_array_append_val(compute, node->ports[1].guid);
		do
			sw = nodes->pdata[make_number(state, nodes->len)];
		while (!builder_is_switch(sw));
		if (moves && sw != builder->sm_port->peer->node)
			builder_link(&sw->ports[1 + make_number(state, sw->info.num_ports)],
				     &node->ports[1]);
	}
	g_ptr_array_unref(nodes);
}

/* Whatever the files say, a table is right or there is none. */
static bool check_scattered(const char *shape, uint64_t seed)
{
	g_autoptr(GArray) io = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GArray) compute = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct route_input input = {.threads = 1};
	uint64_t state = seed;
	struct net net;
	bool routed;

	net_open(&net, shape);
	rearrange(net.builder, seed);
	scatter_hosts(net.builder, &state, io, compute);
	input.io = (const uint64_t *)(void *)io->data;
	input.n_io = seed % 4 ? io->len : 0;
	input.compute = (const uint64_t *)(void *)compute->data;
	input.n_compute = seed % 3 ? compute->len : 0;
	make_lids(net.builder, seed % 2);
	net.fabric = builder_freeze(net.builder);
	net.routing = route_compute(route_find("ftree"), net.fabric, &input, NULL);
	routed = net.routing != NULL;
	if (routed)
		checker_accept(net.fabric, net.routing, shape);
	net_close(&net);
	return routed;
}

START_TEST(test_hosts_anywhere)
{
	static const char *const with_room[] = {
		"xgft:4,6:1,4:1,3", "xgft:4,4,4:1,2,2:1,2,3", "xgft:3,3,3,3:1,3,2,2:1,1,2,2",
	};
	unsigned int routed = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(with_room); i++)
		for (uint64_t seed = 1; seed <= 40; seed++)
			routed += check_scattered(with_room[i], seed);
	ck_assert_uint_ge(routed, 40);
}
END_TEST

static struct routing *try_root(const struct route_input *input, const char *sm, GError **error)
{
	struct net net;
	uint64_t guids[2];
	struct route_input with_io = *input;
	struct routing *routing;

	net_open(&net, "xgft:5,4:1,4:1,2");
	guids[0] = move_to_root(&net, 1, 0);
	guids[1] = move_to_root(&net, 6, 1);
	with_io.io = guids;
	net.builder->sm_port = &make_found(net.builder, sm)->ports[1];
	make_lids(net.builder, 0);
	net.fabric = builder_freeze(net.builder);
	routing = route_compute(route_find("ftree"), net.fabric, &with_io, error);
	if (routing)
		checker_accept(net.fabric, routing, sm);
	net_close(&net);
	return routing;
}

/* Neither compute nodes nor I/O nodes on roots, the subnet manager on one of them or not. */
START_TEST(test_nobody_is_left_out)
{
	const struct route_input compute = {.threads = 1}, io = {.threads = 1, .n_io = 2};
	static const char *const sm[] = {"host-0", "host-1"};

	for (size_t i = 0; i < G_N_ELEMENTS(sm); i++) {
		g_autoptr(GError) error = NULL;
		struct routing *routing = try_root(&compute, sm[i], &error);

		ck_assert(routing && !routing->note);
		routing_unref(routing);
		routing = try_root(&io, sm[i], &error);
		ck_assert(routing && !routing->note);
		routing_unref(routing);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftree");
	TCase *tcase = tcase_create("shapes");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, test_full_tree_carries_shifts, 0, G_N_ELEMENTS(shapes));
	tcase_add_test(tcase, test_order_from_roots);
	tcase_add_loop_test(tcase, test_every_lid_carries_shifts, 0, G_N_ELEMENTS(shapes));
	tcase_add_loop_test(tcase, test_missing_hosts_do_no_harm, 0, G_N_ELEMENTS(shapes));
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("damage");
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, test_damaged_trees, 0, G_N_ELEMENTS(shapes));
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("io");
	tcase_add_test(tcase, test_io_nodes_do_not_disturb);
	tcase_add_loop_test(tcase, test_io_nodes_on_roots, 0, G_N_ELEMENTS(io_cases));
	tcase_add_test(tcase, test_hosts_anywhere);
	tcase_add_test(tcase, test_nobody_is_left_out);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
