// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Trees whose order has an inverted root: minhop and updn go up and then down everywhere, on whole
 * trees and after losses, and hosts get the paths that they would get without any order.
 */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "route/fill/shortest.h"
#include "route/graph/bits.h"
#include "route/order/orient.h"
#include "route/renew/renew.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_churn.h"

static const struct route_input nothing = {.threads = 1};

static struct routing *compute(const struct fabric *fabric, const char *engine)
{
	g_autoptr(GError) error = NULL;
	struct routing *routing = route_compute(route_find(engine), fabric, &nothing, &error);

	ck_assert_msg(routing != NULL, "%s: %s", engine, error ? error->message : "no error");
	return routing;
}

/* Complete and free of loops of any kind, proven by the order alone; nothing is discarded. */
static void expect_good(const struct fabric *fabric, const struct routing *routing,
			const char *what)
{
	struct route_verdict verdict;

	ck_assert_msg(routing->promises & ROUTE_DEADLOCK_FREE, "%s: no promise", what);
	ck_assert_ptr_nonnull(routing->order);
	checker_accept_owned(fabric, routing, what);
	ck_assert(route_verify(fabric, routing, &verdict));
	ck_assert_msg(verdict.acyclic && !verdict.discarded, "%s: %s", what, verdict.witness);
	ck_assert_msg(verdict.by_order, "%s: not by order", what);
	route_verdict_clear(&verdict);
}

/* ---- whole trees ---- */

static const struct {
	const char *spec;
	uint8_t lmc;
} trees[] = {
	{"fattree:4", 0},
	{"fattree:8", 0},
	{"fattree:8", 2},
	{"fattree:12", 0},
	{"xgft:6,8:1,4", 0},
	{"xgft:8,8:1,4:1,2", 0},
	{"xgft:4,4,4:1,4,4:1,1,2", 1},
	{"xgft:3,3,3,3:1,3,3,3", 0},
	{"xgft:2,3,4,2:1,2,2,3", 0},
};

static uint8_t *any_way(struct route_plan *plan, const struct fabric *fabric,
			const struct route_input *input, uint8_t *next, GError **error)
{
	(void)fabric;
	(void)input;
	return route_hops_or_error(&plan->order, next, error);
}

/* minhop without an order. */
static struct routing *compute_any_way(const struct fabric *fabric)
{
	static struct route_engine engine; /* the routing points to it */

	engine = route_engine_minhop;
	engine.hops = any_way;
	return route_by_hops(&engine, fabric, &nothing, NULL, NULL);
}

START_TEST(test_hosts_of_whole_trees_lose_nothing)
{
	struct fabric *fabric = make_fabric(trees[_i].spec, trees[_i].lmc);
	struct routing *legal = compute(fabric, "minhop"), *plain = compute_any_way(fabric);
	struct routing *updn = compute(fabric, "updn");

	expect_good(fabric, legal, trees[_i].spec);
	checker_same_tables(legal, updn, trees[_i].spec);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);

		if (port == FABRIC_NONE || fabric_is_switch(fabric, fabric->ports[port].node))
			continue;
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			ck_assert_msg(routing_port(legal, sw, lid) == routing_port(plain, sw, lid),
				      "%s: switch %u LID %u: port %u, without an order %u",
				      trees[_i].spec, sw, lid, routing_port(legal, sw, lid),
				      routing_port(plain, sw, lid));
	}
	routing_unref(legal);
	routing_unref(plain);
	routing_unref(updn);
	fabric_unref(fabric);
}
END_TEST

static const char *const others[] = {"torus:4x4", "mesh:3x3", "dragonfly:3:2:1", "hypercube:3"};

START_TEST(test_others_stay_as_they_are)
{
	struct fabric *fabric = make_fabric(others[_i], 0);
	struct routing *routing = compute(fabric, "minhop"), *plain = compute_any_way(fabric);

	ck_assert_ptr_null(routing->order);
	ck_assert_uint_eq(routing->promises, ROUTE_SHORTEST);
	checker_same_tables(routing, plain, others[_i]);
	routing_unref(routing);
	routing_unref(plain);
	fabric_unref(fabric);
}
END_TEST

/* ---- hosts on upper switches ---- */

/* Four leaves with two hosts each below two spines, which have these numbers of hosts. */
static struct fabric *with_high_hosts(unsigned int one, unsigned int other)
{
	GString *text = g_string_new("Switch 16 \"s0\"\n");
	g_autofree char *file = NULL;
	int fd = g_file_open_tmp("high-XXXXXX", &file, NULL);
	struct fabric *fabric;

	ck_assert_int_ge(fd, 0);
	for (unsigned int i = 0; i < one; i++)
		g_string_append_printf(text, "[%u] \"h0%u\"[1]\n", 8 + i, i);
	g_string_append(text, "\nSwitch 16 \"s1\"\n");
	for (unsigned int i = 0; i < other; i++)
		g_string_append_printf(text, "[%u] \"h1%u\"[1]\n", 8 + i, i);
	for (unsigned int i = 0; i < 4; i++)
		g_string_append_printf(text,
				       "\nSwitch 8 \"l%u\"\n[1] \"s0\"[%u]\n[2] \"s1\"[%u]\n"
				       "[3] \"a%u\"[1]\n[4] \"b%u\"[1]\n",
				       i, i + 1, i + 1, i, i);
	for (unsigned int i = 0; i < 4; i++)
		g_string_append_printf(text, "\nHca 1 \"a%u\"\n\nHca 1 \"b%u\"\n", i, i);
	for (unsigned int i = 0; i < one; i++)
		g_string_append_printf(text, "\nHca 1 \"h0%u\"\n", i);
	for (unsigned int i = 0; i < other; i++)
		g_string_append_printf(text, "\nHca 1 \"h1%u\"\n", i);
	ck_assert(g_file_set_contents(file, text->str, -1, NULL));
	fabric = make_fabric(file, 0);
	close(fd);
	unlink(file);
	g_string_free(text, TRUE);
	return fabric;
}

/* All traffic between hosts of two spines would go over one leaf. */
START_TEST(test_hosts_on_spines)
{
	static const unsigned int high[][3] = {{1, 0, true}, {1, 1, false}};
	struct fabric *fabric = with_high_hosts(high[_i][0], high[_i][1]);
	struct routing *routing = compute(fabric, "minhop");

	checker_accept(fabric, routing, "hosts on spines");
	ck_assert_int_eq((routing->promises & ROUTE_DEADLOCK_FREE) != 0, high[_i][2]);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/* ---- losses ---- */

static const char *const lossy[] = {
	"fattree:4",	   "fattree:6", "fattree:8", "xgft:6,8:1,4", "xgft:3,3,3,3:1,3,3,3",
	"xgft:8,8:1,4:1,2"};

/* One to three lost cables that, as they mostly do, leave a leaf with all tops above it. */
START_TEST(test_losses_leave_it_legal)
{
	const char *spec = lossy[_i];
	unsigned int legal = 0, trials = 0;

	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct builder *builder = make_builder_of(spec);
		struct churn *churn = churn_new(builder);
		struct routing *routing;
		struct fabric *fabric;
		uint64_t state = seed;

		for (unsigned int i = 0; i < 1 + seed % 3; i++)
			churn_toggle(churn, churn_choose(churn, &state, CHURN_CABLE, false));
		make_lids(builder, 0);
		fabric = builder_freeze(builder);
		routing = compute(fabric, "minhop");
		checker_accept(fabric, routing, spec);
		if (routing->promises & ROUTE_DEADLOCK_FREE)
			expect_good(fabric, routing, spec);
		legal += (routing->promises & ROUTE_DEADLOCK_FREE) != 0;
		trials++;
		routing_unref(routing);
		fabric_unref(fabric);
		churn_free(churn);
		builder_free(builder);
	}
	ck_assert_msg(legal * 10 >= trials * (_i ? 9 : 6), "%s: %u of %u", spec, legal, trials);
}
END_TEST

/* ---- repairs ---- */

/* A subnet while cables go and come back. */
struct net {
	struct builder *builder;
	struct fabric *fabric;
	struct routing *routing;
	enum route_way way;
};

static void net_follow(struct net *net)
{
	struct routing *old = net->routing;

	if (net->fabric)
		fabric_unref(net->fabric);
	net->fabric = builder_freeze(net->builder);
	net->routing =
		routing_renew(route_find("minhop"), net->fabric, &nothing, old, &net->way, NULL);
	ck_assert_ptr_nonnull(net->routing);
	checker_accept_owned(net->fabric, net->routing, "renewed");
	routing_unref(old);
}

static void net_init(struct net *net, const char *spec)
{
	*net = (struct net){.builder = make_builder_of(spec)};
	make_lids(net->builder, 0);
	net_follow(net);
}

static void net_clear(struct net *net)
{
	routing_unref(net->routing);
	fabric_unref(net->fabric);
	builder_free(net->builder);
}

/* The port of one switch that leads to another. */
static struct builder_port *port_to(struct builder *builder, const char *from, const char *to)
{
	struct builder_node *node = make_found(builder, from), *other = make_found(builder, to);

	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		if (node->ports[num].peer && node->ports[num].peer->node == other)
			return &node->ports[num];
	ck_abort_msg("no cable from %s to %s", from, to);
	return NULL;
}

/* A lost cable elsewhere than at the inverted root: everything is as before when it is back. */
START_TEST(test_a_cable_lost_and_back)
{
	static const char *const cables[][2] = {{"leaf-1-0", "spine-1-2"},
						{"spine-2-1", "core-1-3"}};
	struct net net;
	struct routing *whole;
	struct builder_port *port, *peer;

	net_init(&net, "fattree:8");
	whole = routing_ref(net.routing);
	port = port_to(net.builder, cables[_i][0], cables[_i][1]);
	peer = port->peer;
	builder_unlink(port);
	net_follow(&net);
	ck_assert_int_eq(net.way, ROUTE_REPAIRED);
	expect_good(net.fabric, net.routing, "repaired");
	ck_assert(!memcmp(net.routing->order, whole->order,
			  whole->n_switches * sizeof(*whole->order)));
	routing_unref(net.routing);
	net.routing = compute(net.fabric, "minhop");
	ck_assert(!memcmp(net.routing->order, whole->order,
			  whole->n_switches * sizeof(*whole->order)));
	routing_unref(net.routing);
	net.routing = routing_ref(whole);
	builder_link(port, peer);
	net_follow(&net);
	checker_same_tables(whole, net.routing, "back");
	routing_unref(whole);
	net_clear(&net);
}
END_TEST

/* Two leaves of a pod keep one parent each, not the same: hosts reach the other over a third. */
START_TEST(test_damage_that_needs_turns)
{
	struct builder_port *ports[6], *peers[6];
	struct net net;
	unsigned int n = 0;

	net_init(&net, "fattree:8");
	ck_assert(net.routing->promises & ROUTE_DEADLOCK_FREE);
	for (unsigned int i = 0; i < 8; i++) {
		g_autofree char *leaf = g_strdup_printf("leaf-1-%u", i / 4);
		g_autofree char *spine = g_strdup_printf("spine-1-%u", i % 4);

		if (i % 4 == i / 4)
			continue;
		ports[n] = port_to(net.builder, leaf, spine);
		peers[n] = ports[n]->peer;
		n++;
	}
	for (unsigned int i = 0; i < n; i++)
		builder_unlink(ports[i]);
	net_follow(&net);
	ck_assert_int_ne(net.way, ROUTE_REPAIRED);
	ck_assert_uint_eq(net.routing->promises, ROUTE_SHORTEST);
	ck_assert_ptr_null(net.routing->order);
	for (unsigned int i = 0; i < n; i++) {
		builder_link(ports[i], peers[i]);
		net_follow(&net);
	}
	expect_good(net.fabric, net.routing, "healed");
	net_clear(&net);
}
END_TEST

/* In a large tree, too, the leaf is found if only those of the last pod have all tops above. */
START_TEST(test_the_last_pod_will_do)
{
	struct builder *builder = make_builder_of("fattree:40");
	g_autofree uint64_t *keys = NULL;
	g_autofree uint32_t *rank = NULL;
	struct route_plan plan;
	uint32_t n, tops = 0;
	struct fabric *fabric;

	for (unsigned int pod = 0; pod < 39; pod++) {
		g_autofree char *spine = g_strdup_printf("spine-%u-0", pod);
		g_autofree char *core = g_strdup_printf("core-0-%u", pod % 20);

		builder_unlink(port_to(builder, spine, core));
	}
	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	route_plan_init(&plan, fabric);
	n = plan.graph->n;
	keys = route_keys(fabric, &nothing);
	rank = g_new0(uint32_t, n + 1);
	ck_assert(route_tree_rank(&plan.wishes, rank) &&
		  route_orient_inverted(&plan.order, rank, keys));
	for (uint32_t sw = 0; sw < n; sw++)
		tops += !rank[sw] && !plan.order.inverted[sw];
	ck_assert_uint_eq(tops, 0);
	route_plan_clear(&plan);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/* ---- multicast ---- */

static const struct {
	const char *spec, *engine;
	unsigned int lost; /* cables */
} nets[] = {
	{"torus:4x4x4", "updn", 0},   {"dragonfly:3:2:1", "updn", 0},
	{"hypercube:4", "dnup", 0},   {"fattree:8", "minhop", 0},
	{"fattree:8", "updn", 20},    {"fattree:8", "ftree", 30},
	{"fattree:12", "minhop", 60}, {"xgft:3,3,3,3:1,3,3,3", "updn", 20},
	{"torus:4x4x4", "minhop", 0},
};

static uint32_t *list_hosts(const struct fabric *fabric, uint32_t *n)
{
	uint32_t *members = g_new(uint32_t, fabric->n_ports + 1);

	*n = 0;
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);

		if (port != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[port].node) &&
		    checker_leaf(fabric, lid) != FABRIC_NONE)
			members[(*n)++] = port;
	}
	return members;
}

/* Whether a tree follows the order of a routing: no switch of it has two neighbours above. */
static bool tree_follows(const struct routing *routing, const struct fabric *fabric,
			 const struct route_tree *tree)
{
	for (uint32_t i = 0; routing->order && i < tree->n; i++) {
		uint32_t sw = tree->switches[i], above = 0;
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		bits_each (tree->ports[i].bits, 1, node->num_ports + 1u, num) {
			uint32_t to = route_switch_across(fabric, node->first_port + num);

			above += to != FABRIC_NONE && routing->order[to] < routing->order[sw];
		}
		if (above > 1)
			return false;
	}
	return routing->order;
}

/* A group of all hosts: its tree is right, and closes no credit loop with unicast. */
static void check_all_hosts(const struct fabric *fabric, const char *engine, const char *what)
{
	struct routing *routing = compute(fabric, engine);
	struct route_multicast_base *base = route_multicast_base_new(fabric, routing, 0);
	uint32_t n, excluded;
	g_autofree uint32_t *members = list_hosts(fabric, &n);
	g_autofree char *witness = NULL;
	const struct route_group group = {.members = members, .n_members = n};
	struct route_tree *tree = route_multicast_on(base, fabric, &group, NULL, NULL, &excluded);

	ck_assert_msg(!excluded, "%s, %s: %u left out", what, engine, excluded);
	ck_assert_msg(route_tree_verify(fabric, tree, &group, &witness), "%s, %s: %s", what, engine,
		      witness);
	if (routing->promises & ROUTE_DEADLOCK_FREE)
		ck_assert_msg(checker_is_free_with(fabric, routing, tree),
			      "%s, %s: a credit loop with multicast", what, engine);
	ck_assert_int_eq(tree_follows(routing, fabric, tree), routing->order != NULL);
	route_tree_unref(tree);
	route_multicast_base_free(base);
	routing_unref(routing);
}

START_TEST(test_trees_keep_the_order)
{
	for (uint64_t seed = 1; seed <= (nets[_i].lost ? 4 : 1); seed++) {
		struct builder *builder = make_builder_of(nets[_i].spec);
		struct churn *churn = churn_new(builder);
		struct fabric *fabric;
		uint64_t state = seed;

		for (unsigned int i = 0; i < nets[_i].lost; i++)
			churn_toggle(churn, churn_choose(churn, &state, CHURN_CABLE, false));
		make_lids(builder, 0);
		fabric = builder_freeze(builder);
		check_all_hosts(fabric, nets[_i].engine, nets[_i].spec);
		fabric_unref(fabric);
		churn_free(churn);
		builder_free(builder);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_top");
	TCase *tcase = tcase_create("top");

	tcase_set_timeout(tcase, 0);
	tcase_add_loop_test(tcase, test_hosts_of_whole_trees_lose_nothing, 0, G_N_ELEMENTS(trees));
	tcase_add_loop_test(tcase, test_others_stay_as_they_are, 0, G_N_ELEMENTS(others));
	tcase_add_loop_test(tcase, test_hosts_on_spines, 0, 2);
	tcase_add_loop_test(tcase, test_losses_leave_it_legal, 0, G_N_ELEMENTS(lossy));
	tcase_add_loop_test(tcase, test_a_cable_lost_and_back, 0, 2);
	tcase_add_test(tcase, test_damage_that_needs_turns);
	tcase_add_test(tcase, test_the_last_pod_will_do);
	tcase_add_loop_test(tcase, test_trees_keep_the_order, 0, G_N_ELEMENTS(nets));
	suite_add_tcase(suite, tcase);
	return suite;
}
