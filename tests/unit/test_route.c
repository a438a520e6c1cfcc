// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engines and the verifier on well-known shapes, and multicast trees on random fabrics. For engines
 * and the verifier on random fabrics see test_route_property.c.
 */
#include <check.h>
#include <string.h>

#include "route/engine.h"
#include "route/graph/graph.h"
#include "route/renew/renew.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_shapes.h"

/* ---- helpers ---- */

static struct fabric *random_fabric(uint64_t seed, unsigned int max_switches)
{
	struct builder *builder = make_random(seed, max_switches);
	struct fabric *fabric;

	make_lids(builder, seed % 4 == 0 ? 2 : 0);
	fabric = builder_freeze(builder);
	builder_free(builder);
	return fabric;
}

static struct routing *route(const struct fabric *fabric, const char *engine)
{
	const struct route_input input = {.threads = 1};
	GError *error = NULL;
	struct routing *routing = route_compute(route_find(engine), fabric, &input, &error);

	ck_assert_msg(routing, "%s", error ? error->message : "no error told");
	return routing;
}

/* The verifier and the slow checker must agree. */
static void compare(const struct fabric *fabric, const struct routing *routing, uint64_t seed)
{
	g_autofree char *what = g_strdup_printf("seed %u", (unsigned int)seed);
	struct checker checker;

	checker_run(&checker, fabric, routing);
	checker_agrees(&checker, 1 + seed % 3, what);
	checker_clear(&checker);
}

/* And both must confirm its promises. */
static void check_accepted(const struct fabric *fabric, const struct routing *routing,
			   uint64_t seed)
{
	g_autofree char *what = g_strdup_printf("seed %u", (unsigned int)seed);

	checker_accept(fabric, routing, what);
}

/* ---- dor ---- */

static void check_dor(const char *spec, bool promise)
{
	struct fabric *fabric = make_fabric(spec, 1);
	struct routing *routing = route(fabric, "dor");
	struct route_verdict verdict;

	ck_assert(route_verify(fabric, routing, &verdict));
	ck_assert_msg(verdict.acyclic == promise, "%s", spec);
	ck_assert_msg(!(routing->promises & ROUTE_DEADLOCK_FREE) == !promise, "%s", spec);
	route_verdict_clear(&verdict);
	check_accepted(fabric, routing, 0);
	routing_unref(routing);
	fabric_unref(fabric);
}

START_TEST(test_dor_promises_what_it_can)
{
	check_dor("mesh:4x3", true);
	check_dor("mesh:3x3x3", true);
	check_dor("hypercube:4", true);
	check_dor("torus:5x4", false);
	check_dor("torus:3x3", true); /* rings of three: no path is longer than a step */
}
END_TEST

/* On a mesh whose y dimension comes first, a corner reaches its column by y alone. */
START_TEST(test_dor_keeps_the_order_given)
{
	struct fabric *fabric = make_fabric("mesh:3x3", 0);
	GArray *orders = g_array_new(FALSE, FALSE, sizeof(struct route_port_order));
	struct route_input input = {.threads = 1};
	struct routing *plain = route(fabric, "dor"), *turned;
	uint32_t differ = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
		struct route_port_order order = {.guid = node->guid};

		for (unsigned int num = node->num_ports; num; num--)
			order.ports[order.n++] = num;
		g_array_append_val(orders, order);
	}
	input.port_orders = (const struct route_port_order *)orders->data;
	input.n_port_orders = orders->len;
	turned = route_compute(route_find("dor"), fabric, &input, NULL);
	ck_assert_ptr_nonnull(turned);
	ck_assert(turned->promises & ROUTE_DEADLOCK_FREE);
	check_accepted(fabric, turned, 0);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++)
			differ += plain->lft[sw][lid] != turned->lft[sw][lid];
	ck_assert_uint_gt(differ, 0);
	g_array_unref(orders);
	routing_unref(plain);
	routing_unref(turned);
	fabric_unref(fabric);
}
END_TEST

/* For one group, without an order. */
static struct route_tree *grow_tree(const struct fabric *fabric, const struct route_group *group,
				    uint32_t *excluded)
{
	struct route_multicast_base *base = route_multicast_base_new(fabric, NULL, group->room);
	struct route_tree *tree = route_multicast_on(base, fabric, group, NULL, NULL, excluded);

	route_multicast_base_free(base);
	return tree;
}

/* A subnet of a host, or of two hosts and a cable, has no switch to program. */
START_TEST(test_no_switch)
{
	struct builder *builder = builder_new();
	struct iba_node_info info = {.node_type = IBA_NODE_CA,
				     .num_ports = 1,
				     .node_guid = 1,
				     .port_guid = 2,
				     .local_port_num = 1};
	struct builder_node *a = builder_add(builder, &info), *b;
	struct fabric *fabric;
	struct routing *routing;
	struct route_verdict verdict;
	struct route_tree *tree;
	uint32_t members[2] = {1, 3}, excluded;
	const struct route_group group = {.members = members, .n_members = 2};

	builder->sm_port = &a->ports[1];
	info.node_guid = 3;
	info.port_guid = 4;
	b = builder_add(builder, &info);
	builder_link(&a->ports[1], &b->ports[1]);
	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	ck_assert_uint_eq(fabric->n_nodes, 2);
	routing = route(fabric, "minhop");
	ck_assert(route_verify(fabric, routing, &verdict));
	ck_assert_uint_eq(verdict.paths, 0);
	route_verdict_clear(&verdict);
	tree = grow_tree(fabric, &group, &excluded);
	ck_assert_uint_eq(tree->n, 0);
	ck_assert_uint_eq(excluded, 2);
	ck_assert(route_tree_verify(fabric, tree, &group, NULL));
	route_tree_unref(tree);
	routing_unref(routing);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/* Paths longer than a distance can express are refused, and the verifier walks instead. */
START_TEST(test_very_long_chain)
{
	const struct route_input input = {.threads = 1};
	struct fabric *fabric = make_fabric("mesh:300", 0);
	GError *error = NULL;
	struct routing *routing;

	ck_assert_ptr_null(route_compute(route_find("minhop"), fabric, &input, &error));
	ck_assert(g_error_matches(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE));
	g_clear_error(&error);
	routing = routing_new(fabric, route_find("minhop"), 0);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint8_t exit;
		uint32_t leaf = fabric_leaf(fabric, fabric_port_by_lid(fabric, lid), &exit);

		for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
			routing->lft[sw][lid] = exit;
			for (unsigned int num = 1; num < 256 && sw != leaf; num++) {
				uint32_t to = checker_next_switch(fabric, sw, num);

				if (to != FABRIC_NONE && (to < sw) == (leaf < sw))
					routing->lft[sw][lid] = num;
			}
		}
	}
	compare(fabric, routing, 0);
	routing->lft[7][fabric->max_lid] = ROUTE_NO_PORT;
	compare(fabric, routing, 0);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/* ---- evenness ---- */

/* Flows over each channel if every host i sends to host i + shift. */
static unsigned int worst_of_shift(const struct fabric *fabric, const struct routing *routing,
				   const GArray *hosts, unsigned int shift)
{
	unsigned int *load = g_new0(unsigned int, fabric->n_ports), most = 0;

	for (unsigned int i = 0; i < hosts->len; i++) {
		uint32_t from = g_array_index(hosts, uint32_t, i), target;
		uint32_t sw, leaf;
		uint8_t exit;

		target = g_array_index(hosts, uint32_t, (i + shift) % hosts->len);
		leaf = fabric_leaf(fabric, target, &exit);
		sw = fabric_leaf(fabric, from, &exit);
		while (sw != leaf) {
			uint8_t num = routing_port(routing, sw, fabric->ports[target].lid);
			uint32_t channel = fabric_switch_port(fabric, sw, num);

			load[channel]++;
			most = MAX(most, load[channel]);
			sw = checker_next_switch(fabric, sw, num);
		}
	}
	g_free(load);
	return most;
}

/* Hosts leaf by leaf, in the order of the leaf's ports. */
static GArray *hosts_in_order(const struct fabric *fabric)
{
	GArray *hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		for (unsigned int num = 1; num <= node->num_ports; num++) {
			uint32_t peer = fabric->ports[node->first_port + num].peer;

			if (peer != FABRIC_NONE && fabric_is_endport(fabric, peer))
				g_array_append_val(hosts, peer);
		}
	}
	return hosts;
}

static void check_fat_tree(const char *engine, unsigned int k, bool shuffle)
{
	g_autofree char *spec = g_strdup_printf("fattree:%u", k);
	struct builder *builder = make_builder_of(spec);
	uint64_t state = k;
	struct fabric *fabric;
	struct routing *routing;
	struct route_verdict verdict;
	GArray *hosts;

	if (shuffle)
		make_shuffled_ports(builder, &state);
	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	routing = route(fabric, engine);
	hosts = hosts_in_order(fabric);
	ck_assert_uint_eq(hosts->len, k * k * k / 4);
	for (unsigned int shift = 1; shift < hosts->len; shift++)
		ck_assert_msg(worst_of_shift(fabric, routing, hosts, shift) == 1,
			      "%s k %u shuffle %d shift %u", engine, k, shuffle, shift);
	ck_assert(route_verify(fabric, routing, &verdict));
	ck_assert(verdict.acyclic);
	/* over the inverted root from one switch without hosts to another */
	ck_assert_uint_eq(verdict.max_hops, 6);
	route_verdict_clear(&verdict);
	g_array_unref(hosts);
	routing_unref(routing);
	fabric_unref(fabric);
	builder_free(builder);
}

START_TEST(test_fat_trees_carry_shifts)
{
	static const char *const engines[] = {"minhop", "updn", "dnup", "ftree"};

	for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
		for (unsigned int k = 4; k <= 12; k += 4) {
			check_fat_tree(engines[i], k, false);
			check_fat_tree(engines[i], k, true);
		}
	}
}
END_TEST

/* The LIDs of a port leave each leaf of another pod through as many ports as there are. */
static void check_lmc(const char *spec, uint8_t lmc, unsigned int hops, unsigned int ways)
{
	struct fabric *fabric = make_fabric(spec, lmc);
	struct routing *routing = route(fabric, "minhop");
	struct checker checker;
	GArray *hosts = hosts_in_order(fabric);
	unsigned int pairs = 0;

	checker_run(&checker, fabric, routing);
	for (unsigned int i = 0; i < hosts->len; i++) {
		uint32_t port = g_array_index(hosts, uint32_t, i);
		uint8_t exit;
		uint32_t leaf = fabric_leaf(fabric, port, &exit);

		for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
			bool used[256] = {false};
			unsigned int n = 0;

			if (checker_distance(&checker, sw, leaf) != hops || !checker.hosts[sw])
				continue;
			for (unsigned int j = 0; j < 1u << lmc; j++) {
				uint8_t num = routing->lft[sw][fabric->ports[port].lid + j];

				n += !used[num];
				used[num] = true;
			}
			ck_assert_uint_eq(n, MIN(1u << lmc, ways));
			pairs++;
		}
	}
	ck_assert_uint_gt(pairs, 0);
	g_array_unref(hosts);
	checker_clear(&checker);
	routing_unref(routing);
	fabric_unref(fabric);
}

START_TEST(test_lids_of_a_port_spread)
{
	check_lmc("fattree:8", 1, 4, 4);
	check_lmc("fattree:8", 2, 4, 4);
	check_lmc("fattree:8", 2, 2, 4);
	check_lmc("fattree:4", 3, 4, 2);
	check_lmc("torus:4x4", 2, 4, 4);
	check_lmc("hypercube:3", 1, 3, 3);
}
END_TEST

static void check_threads(const struct fabric *fabric, const char *engine)
{
	struct routing *one = route(fabric, engine);

	for (unsigned int threads = 0; threads <= 5; threads++) {
		const struct route_input input = {.threads = threads};
		struct routing *many = route_compute(route_find(engine), fabric, &input, NULL);

		ck_assert_ptr_nonnull(many);
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			ck_assert_mem_eq(one->lft[sw], many->lft[sw], one->n_blocks * 64);
		ck_assert_int_eq(!one->lanes, !many->lanes);
		if (one->lanes)
			ck_assert_mem_eq(one->lanes->sl, many->lanes->sl,
					 (size_t)fabric->n_switches * fabric->n_switches);
		ck_assert_str_eq(one->note ? one->note : "", many->note ? many->note : "");
		routing_unref(many);
	}
	routing_unref(one);
}

START_TEST(test_threads_change_nothing)
{
	static const char *const specs[] = {"fattree:4", "fattree:20", "torus:9x8x8", "mesh:2"};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct fabric *fabric = make_fabric(specs[i], 0);

		check_threads(fabric, "minhop");
		check_threads(fabric, "updn");
		check_threads(fabric, "dor");
		if (g_str_has_prefix(specs[i], "fattree"))
			check_threads(fabric, "ftree");
		fabric_unref(fabric);
	}
}
END_TEST

START_TEST(test_threads_change_no_lanes)
{
	static const char *const engines[] = {"sssp", "dfsssp", "lash", "nue", "hoplanes"};
	static const char *const specs[] = {"dragonfly:8:4:4", "torus:5x4x3:2", "fattree:8",
					    "random:40:3:5:1", "mesh:2"};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct fabric *fabric = make_fabric(specs[i], 0);

		check_threads(fabric, engines[_i]);
		fabric_unref(fabric);
	}
}
END_TEST

/* ---- ftree ---- */

/* Every other host of a leaf is a compute node: these alone must spread without contention. */
static void check_compute(bool named_compute)
{
	struct fabric *fabric = make_fabric("fattree:8", 0);
	GArray *hosts = hosts_in_order(fabric), *compute, *guids;
	struct route_input input = {.threads = 1};
	struct routing *routing;

	compute = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (unsigned int i = 0; i < hosts->len; i++) {
		uint32_t port = g_array_index(hosts, uint32_t, i);
		bool is_compute = i % 3 != 1;

		if (is_compute)
			g_array_append_val(compute, port);
		if (is_compute == named_compute)
			g_array_append_val(guids, fabric->ports[port].guid);
	}
	*(named_compute ? &input.compute : &input.io) = (const uint64_t *)guids->data;
	*(named_compute ? &input.n_compute : &input.n_io) = guids->len;
	routing = route_compute(route_find("ftree"), fabric, &input, NULL);
	ck_assert_ptr_nonnull(routing);
	for (unsigned int shift = 1; shift < compute->len; shift++)
		ck_assert_uint_le(worst_of_shift(fabric, routing, compute, shift), 2);
	check_accepted(fabric, routing, 0);
	g_array_unref(hosts);
	g_array_unref(compute);
	g_array_unref(guids);
	routing_unref(routing);
	fabric_unref(fabric);
}

START_TEST(test_ftree_spreads_compute_nodes)
{
	GError *error = NULL;
	struct fabric *torus = make_fabric("torus:4x4", 0);
	const struct route_input input = {.threads = 1};

	check_compute(true);
	check_compute(false);
	ck_assert_ptr_null(route_compute(route_find("ftree"), torus, &input, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "this is not a tree"));
	g_error_free(error);
	fabric_unref(torus);
}
END_TEST

/* ---- keeping ---- */

/* Every entry is the previous one where it still begins a shortest path, else the fresh one. */
static void check_kept(const struct fabric *fabric, const struct routing *routing,
		       const struct routing *fresh, const struct fabric *old_fabric,
		       const struct routing *old)
{
	struct checker checker;
	uint32_t n = fabric->n_switches;

	checker_run(&checker, fabric, routing);
	for (uint32_t sw = 0; sw < n; sw++) {
		uint64_t guid = fabric->nodes[fabric->switches[sw].node].guid;
		uint32_t old_sw = old_fabric->nodes[fabric_node_by_guid(old_fabric, guid)].sw;

		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
			uint32_t port = fabric_port_by_lid(fabric, lid), to, leaf = FABRIC_NONE;
			uint8_t was = routing_port(old, old_sw, lid), exit;

			if (port != FABRIC_NONE)
				leaf = fabric_leaf(fabric, port, &exit);
			to = checker_next_switch(fabric, sw, was);
			if (leaf != FABRIC_NONE && to != FABRIC_NONE &&
			    checker_distance(&checker, to, leaf) + 1 ==
				    checker_distance(&checker, sw, leaf))
				ck_assert_uint_eq(routing->lft[sw][lid], was);
			else
				ck_assert_uint_eq(routing->lft[sw][lid], fresh->lft[sw][lid]);
		}
	}
	checker_clear(&checker);
}

static uint64_t lose_and_keep(const char *engine)
{
	const struct route_input input = {.threads = 1};
	bool shortest = route_find(engine)->promises & ROUTE_SHORTEST;
	uint64_t kept = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct builder *builder = make_random(seed, 16);
		struct fabric *old_fabric, *fabric;
		struct routing *old, *routing, *fresh;
		GPtrArray *order;
		uint64_t state = seed, n;

		make_lids(builder, seed % 2);
		old_fabric = builder_freeze(builder);
		old = route(old_fabric, engine);
		order = builder_walk(builder);
		for (unsigned int i = 0; i < 3; i++) {
			struct builder_node *node = order->pdata[make_number(&state, order->len)];
			unsigned int num = 1 + make_number(&state, node->info.num_ports);

			if (&node->ports[num] != builder->sm_port)
				builder_unlink(&node->ports[num]);
		}
		fabric = builder_freeze(builder);
		fresh = route(fabric, engine);
		routing = route(fabric, engine);
		n = routing_stick_to(&input, routing, old);
		kept += n;
		check_accepted(fabric, routing, seed);
		if (!n)
			checker_same_tables(routing, fresh, engine);
		else if (shortest && !routing->order)
			check_kept(fabric, routing, fresh, old_fabric, old);
		g_ptr_array_unref(order);
		routing_unref(old);
		routing_unref(routing);
		routing_unref(fresh);
		fabric_unref(old_fabric);
		fabric_unref(fabric);
		builder_free(builder);
	}
	return kept;
}

START_TEST(test_losses_change_little)
{
	ck_assert_uint_gt(lose_and_keep("minhop"), 0);
	ck_assert_uint_gt(lose_and_keep("updn"), 0);
}
END_TEST

/* ---- the verifier ---- */

/* Going round a ring of four one way only: each LID is reached, and credits can lock up. */
START_TEST(test_credit_loop_is_found)
{
	struct fabric *fabric = make_fabric("torus:4", 0);
	struct routing *routing = route(fabric, "minhop");
	struct route_verdict verdict;
	uint8_t round[4];
	uint32_t sw = 0, last = FABRIC_NONE;

	for (unsigned int i = 0; i < 4; i++) { /* an exit port of each that leads round */
		for (unsigned int num = 1;; num++) {
			uint32_t to = checker_next_switch(fabric, sw, num);

			if (to == FABRIC_NONE || to == last)
				continue;
			round[sw] = num;
			last = sw;
			sw = to;
			break;
		}
	}
	ck_assert_uint_eq(sw, 0);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint8_t exit;
		uint32_t leaf = fabric_leaf(fabric, fabric_port_by_lid(fabric, lid), &exit);

		for (sw = 0; sw < 4; sw++)
			routing->lft[sw][lid] = sw == leaf ? exit : round[sw];
	}
	ck_assert(route_verify(fabric, routing, &verdict));
	ck_assert(!verdict.acyclic);
	ck_assert(g_str_has_prefix(verdict.witness, "credit loop: "));
	ck_assert_uint_eq(verdict.max_hops, 3);
	route_verdict_clear(&verdict);
	routing->promises = ROUTE_DEADLOCK_FREE;
	ck_assert(!route_verify(fabric, routing, &verdict));
	route_verdict_clear(&verdict);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/* ---- multicast ---- */

static bool tree_has(const struct route_tree *tree, uint32_t i, unsigned int port)
{
	return tree->ports[i].bits[port / 64] >> port % 64 & 1;
}

static uint32_t find_root(uint32_t *up, uint32_t sw)
{
	while (up[sw] != sw)
		sw = up[sw];
	return sw;
}

/* Joins the ends of the tree's links; each link must join separate parts: no loop. */
static void check_links(const struct fabric *fabric, const struct route_tree *tree, uint32_t *up,
			bool *served, uint64_t seed)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t sw = tree->switches[i];

		for (unsigned int num = 0; num < 256; num++) {
			uint32_t port, peer, to;

			if (!tree_has(tree, i, num))
				continue;
			port = fabric_switch_port(fabric, sw, num);
			peer = num ? fabric->ports[port].peer : port;
			to = checker_next_switch(fabric, sw, num);
			if (to == FABRIC_NONE) {
				served[peer] = true;
				continue;
			}
			if (port > peer)
				continue;
			ck_assert_msg(find_root(up, sw) != find_root(up, to), "seed %u",
				      (unsigned int)seed);
			up[find_root(up, sw)] = find_root(up, to);
		}
	}
}

static void check_tree(const struct fabric *fabric, const struct route_tree *tree,
		       const uint32_t *members, uint32_t n, uint32_t excluded, uint64_t seed)
{
	uint32_t *up = g_new(uint32_t, fabric->n_switches + 1), out = 0;
	bool *served = g_new0(bool, fabric->n_ports);
	uint32_t n_served = 0, n_members = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		up[sw] = sw;
	check_links(fabric, tree, up, served, seed);
	for (uint32_t i = 1; i < tree->n; i++)
		ck_assert_uint_eq(find_root(up, tree->switches[i]),
				  find_root(up, tree->switches[0]));
	for (uint32_t i = 0; i < n; i++)
		out += !served[members[i]];
	ck_assert_uint_eq(out, excluded);
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		bool member = false;

		for (uint32_t i = 0; i < n; i++)
			member |= members[i] == port;
		n_served += served[port];
		n_members += served[port] && member;
	}
	ck_assert_uint_eq(n_served, n_members); /* no others */
	g_free(up);
	g_free(served);
}

static void break_tree(const struct fabric *fabric, struct route_tree *tree,
		       const struct route_group *group, uint64_t *state)
{
	uint32_t i = make_number(state, tree->n);
	uint32_t node = fabric->switches[tree->switches[i]].node;
	unsigned int port = make_number(state, fabric->nodes[node].num_ports + 1u);
	char *witness = NULL;

	tree->ports[i].bits[port / 64] ^= UINT64_C(1) << port % 64;
	ck_assert(!route_tree_verify(fabric, tree, group, &witness));
	ck_assert_ptr_nonnull(witness);
	g_free(witness);
}

START_TEST(test_multicast_on_random_fabrics)
{
	unsigned int left = 0;

	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct fabric *fabric = random_fabric(seed, 20);
		uint32_t members[12], n = 0, excluded;
		struct route_group group;
		struct route_tree *tree;
		uint64_t state = seed;
		char *witness = NULL;
		bool ok;

		if (seed % 2)
			shape_cut(fabric, &state, 15);
		for (unsigned int tries = 0; tries < 200 && n < 1 + seed % 12; tries++) {
			members[n] = make_number(&state, fabric->n_ports);
			n += fabric_is_endport(fabric, members[n]);
		}
		group = (struct route_group){.members = members, .n_members = n};
		tree = grow_tree(fabric, &group, &excluded);
		ok = route_tree_verify(fabric, tree, &group, &witness);
		ck_assert_msg(ok, "seed %u: %s", (unsigned int)seed, witness);
		check_tree(fabric, tree, members, n, excluded, seed);
		left += excluded;
		if (tree->n)
			break_tree(fabric, tree, &group, &state);
		route_tree_unref(tree);
		fabric_unref(fabric);
	}
	ck_assert_uint_gt(left, 0);
}
END_TEST

START_TEST(test_registry)
{
	unsigned int n = 0;

	for (const struct route_engine *const *engine = route_engines(); *engine; engine++, n++) {
		ck_assert_ptr_eq(route_find((*engine)->name), *engine);
		ck_assert_uint_gt(strlen((*engine)->summary), 0);
	}
	ck_assert_uint_gt(n, 0);
	ck_assert_ptr_null(route_find("no-such-engine"));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route");
	TCase *tcase = tcase_create("route");

	tcase_set_timeout(tcase, 300);
	tcase_add_test(tcase, test_registry);
	tcase_add_test(tcase, test_no_switch);
	tcase_add_test(tcase, test_very_long_chain);
	tcase_add_test(tcase, test_ftree_spreads_compute_nodes);
	tcase_add_test(tcase, test_dor_promises_what_it_can);
	tcase_add_test(tcase, test_dor_keeps_the_order_given);
	tcase_add_test(tcase, test_fat_trees_carry_shifts);
	tcase_add_test(tcase, test_lids_of_a_port_spread);
	tcase_add_test(tcase, test_threads_change_nothing);
	tcase_add_loop_test(tcase, test_threads_change_no_lanes, 0, 5);
	tcase_add_test(tcase, test_losses_change_little);
	tcase_add_test(tcase, test_credit_loop_is_found);
	tcase_add_test(tcase, test_multicast_on_random_fabrics);
	suite_add_tcase(suite, tcase);
	return suite;
}
