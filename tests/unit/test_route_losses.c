// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tree that lost a cable shares the load among the remaining ones: each pair of hosts is followed
 * hop by hop, and no channel may carry much more than the mean. And few blocks of tables change.
 */
#include <check.h>
#include <string.h>

#include "route/engine.h"
#include "route/renew/renew.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"

/* The switch at the other end of a port, or FABRIC_NONE. */
static uint32_t across(const struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

static GArray *list_hosts(const struct fabric *fabric)
{
	GArray *hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (fabric_is_endport(fabric, port) &&
		    !fabric_is_switch(fabric, fabric->ports[port].node))
			g_array_append_val(hosts, port);
	return hosts;
}

/* Counts one packet on all channels from a switch to the host. */
static void follow(const struct fabric *fabric, const struct routing *routing, uint32_t sw,
		   uint32_t host, uint32_t *load)
{
	uint8_t exit;
	uint32_t leaf = fabric_leaf(fabric, host, &exit);

	for (unsigned int hops = 0; sw != leaf; hops++) {
		uint8_t num = routing_port(routing, sw, fabric->ports[host].lid);
		uint32_t port = fabric_switch_port(fabric, sw, num);

		if (num == ROUTE_NO_PORT || hops == 8) /* an assertion writes each time */
			ck_abort_msg("LID %u does not arrive", fabric->ports[host].lid);
		load[port]++;
		sw = across(fabric, port);
	}
}

/* Load of the busiest channel between switches over the mean of all of them. */
static double load_ratio(const struct fabric *fabric, const struct routing *routing)
{
	GArray *hosts = list_hosts(fabric);
	uint32_t *load = g_new0(uint32_t, fabric->n_ports);
	uint32_t most = 0, channels = 0;
	uint64_t sum = 0;

	for (uint32_t a = 0; a < hosts->len; a++) {
		uint8_t exit;
		uint32_t leaf = fabric_leaf(fabric, g_array_index(hosts, uint32_t, a), &exit);

		for (uint32_t b = 0; b < hosts->len; b++)
			follow(fabric, routing, leaf, g_array_index(hosts, uint32_t, b), load);
	}
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		if (fabric_is_switch(fabric, fabric->ports[port].node) &&
		    across(fabric, port) != FABRIC_NONE)
			channels++;
		most = MAX(most, load[port]);
		sum += load[port];
	}
	g_free(load);
	g_array_unref(hosts);
	return (double)most * channels / sum;
}

struct cable {
	struct builder_port *a, *b;
};

static GArray *list_cables(struct builder *builder)
{
	GArray *cables = g_array_new(FALSE, FALSE, sizeof(struct cable));
	GPtrArray *order = builder_walk(builder);

	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports; num++) {
			struct cable cable = { &node->ports[num], node->ports[num].peer };

			if (builder_is_switch(node) && cable.b &&
			    builder_is_switch(cable.b->node) &&
			    node->index < cable.b->node->index)
				g_array_append_val(cables, cable);
		}
	}
	g_ptr_array_unref(order);
	return cables;
}

/* With any of the cables lost, each step-th tried, no channel has more than this. */
static void lose_one(const char *engine, const char *spec, uint8_t lmc, uint32_t step, double most)
{
	const struct route_input input = { .threads = 1 };
	struct builder *builder = make_builder_of(spec);
	GArray *cables;

	make_lids(builder, lmc);
	cables = list_cables(builder);
	ck_assert_uint_gt(cables->len, 0);
	for (uint32_t i = 0; i < cables->len; i += step) {
		struct cable *cable = &g_array_index(cables, struct cable, i);
		struct fabric *fabric;
		struct routing *routing;
		double ratio;

		builder_unlink(cable->a);
		fabric = builder_freeze(builder);
		builder_link(cable->a, cable->b);
		routing = route_compute(route_find(engine), fabric, &input, NULL);
		ck_assert_ptr_nonnull(routing);
		ratio = load_ratio(fabric, routing);
		ck_assert_msg(ratio <= most, "%s %s without cable %u: %.3f", engine, spec, i,
			      ratio);
		routing_unref(routing);
		fabric_unref(fabric);
	}
	g_array_unref(cables);
	builder_free(builder);
}

/* A switch that has w cables up, and loses one, has w / (w - 1) on each of the others at best. */
START_TEST(test_one_lost_cable_burdens_all)
{
	static const char *const engines[] = { "minhop", "updn", "ftree" };

	for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
		lose_one(engines[i], "fattree:8", 0, 7, 1.45);
		lose_one(engines[i], "fattree:16", 0, 401, 1.20);
		lose_one(engines[i], "xgft:8,8,4:1,8,8", 0, 29, 1.50);
	}
}
END_TEST

/* First LIDs of ports are spread as if there were no others. */
START_TEST(test_one_lost_cable_with_more_lids)
{
	lose_one("minhop", "fattree:8", 1, 11, 1.45);
	lose_one("updn", "fattree:8", 2, 31, 1.45);
}
END_TEST

/* Parallel cables, too: the remaining ones to the same parent share, and so do other parents. */
START_TEST(test_one_lost_parallel_cable)
{
	lose_one("minhop", "xgft:8,8:1,4:1,2", 0, 3, 1.30);
}
END_TEST

/* Half of the cables would do, and carry twice the mean: without one there are still enough. */
START_TEST(test_spare_cables_are_used)
{
	lose_one("minhop", "xgft:4,8:1,8", 0, 1, 2.26);
}
END_TEST

/* Whether the switch has hosts. */
static bool is_leaf(const struct fabric *fabric, const struct builder_node *node)
{
	uint32_t sw = fabric->nodes[fabric_node_by_guid(fabric, node->info.node_guid)].sw;

	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		uint8_t exit;

		if (fabric_is_endport(fabric, port) &&
		    !fabric_is_switch(fabric, fabric->ports[port].node) &&
		    fabric_leaf(fabric, port, &exit) == sw)
			return true;
	}
	return false;
}

/* Of two routings of fabrics with the same switches. */
static uint32_t count_changed_blocks(const struct routing *a, const struct routing *b)
{
	uint32_t n = 0;

	ck_assert_uint_eq(a->n_blocks, b->n_blocks);
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (uint32_t block = 0; block < a->n_blocks; block++)
			n += memcmp(a->lft[sw] + block * 64, b->lft[sw] + block * 64, 64) != 0;
	return n;
}

/* Mean number of blocks that the repair of one lost cable between upper switches changes. */
static double mean_repair(const char *engine, const char *spec, uint32_t step)
{
	const struct route_input input = { .threads = 1 };
	struct builder *builder = make_builder_of(spec);
	struct fabric *whole;
	struct routing *routing;
	uint32_t n = 0, blocks = 0;
	GArray *cables;

	make_lids(builder, 0);
	whole = builder_freeze(builder);
	routing = route_compute(route_find(engine), whole, &input, NULL);
	cables = list_cables(builder);
	for (uint32_t i = 0; i < cables->len; i += step) {
		struct cable *cable = &g_array_index(cables, struct cable, i);
		struct fabric *fabric;
		struct routing *repaired;

		if (is_leaf(whole, cable->a->node) || is_leaf(whole, cable->b->node))
			continue;
		builder_unlink(cable->a);
		fabric = builder_freeze(builder);
		builder_link(cable->a, cable->b);
		repaired = routing_repair(fabric, &input, routing, NULL);
		ck_assert_ptr_nonnull(repaired);
		blocks += count_changed_blocks(repaired, routing);
		n++;
		routing_unref(repaired);
		fabric_unref(fabric);
	}
	ck_assert_uint_gt(n, 0);
	g_array_unref(cables);
	routing_unref(routing);
	fabric_unref(whole);
	builder_free(builder);
	return (double)blocks / n;
}

/*
 * Each of the k/2 switches that the cable leads to through another switch changes a block for the
 * hosts of one leaf, and the lower end those for a leaf of each pod.
 */
START_TEST(test_few_blocks_change)
{
	double minhop = mean_repair("minhop", "fattree:16", 29);
	double updn = mean_repair("updn", "fattree:16", 29);

	ck_assert_double_gt(minhop, 32); /* 2 * 15 blocks of hosts cannot stay */
	ck_assert_double_le(minhop, 75);
	ck_assert_double_le(updn, 100);
}
END_TEST

/* The present fabric, renewed from an old routing. */
static struct routing *renew(struct builder *builder, const struct routing *old,
			     enum route_way *way)
{
	const struct route_input input = { .threads = 1 };
	struct fabric *fabric = builder_freeze(builder);
	struct routing *routing =
		routing_renew(route_find("minhop"), fabric, &input, old, way, NULL);

	ck_assert_ptr_nonnull(routing);
	fabric_unref(fabric);
	return routing;
}

/*
 * In a large tree a new switch changes little, as other entries are kept. With every 30th cable
 * lost little could be kept, and not evenly: the tables are those of the engine.
 */
START_TEST(test_large_changes)
{
	struct builder *builder = make_builder_of("fattree:24");
	struct builder_node *spine = make_found(builder, "spine-2-0");
	GArray *cables = list_cables(builder);
	struct routing *without, *whole, *damaged, *anew;
	enum route_way way;

	make_lids(builder, 0);
	for (unsigned int num = 1; num <= spine->info.num_ports; num++)
		builder_unlink(&spine->ports[num]);
	without = renew(builder, NULL, &way);
	for (uint32_t i = 0; i < cables->len; i++) {
		const struct cable *cable = &g_array_index(cables, struct cable, i);

		if (!cable->a->peer)
			builder_link(cable->a, cable->b);
	}
	whole = renew(builder, without, &way);
	ck_assert_int_eq(way, ROUTE_STICKY);
	for (uint32_t i = 0; i < cables->len; i += 30)
		builder_unlink(g_array_index(cables, struct cable, i).a);
	damaged = renew(builder, whole, &way);
	ck_assert_int_eq(way, ROUTE_ANEW);
	anew = renew(builder, NULL, &way);
	checker_same_tables(damaged, anew, "30th cables");
	routing_unref(anew);
	routing_unref(damaged);
	routing_unref(whole);
	routing_unref(without);
	g_array_unref(cables);
	builder_free(builder);
}
END_TEST

/* Ports up through which a switch sends LIDs of hosts on a leaf. */
static unsigned int count_ports(const struct fabric *fabric, const struct routing *routing,
				uint32_t sw, uint32_t leaf)
{
	uint8_t exit, met = ROUTE_NO_PORT;
	unsigned int n = 0;

	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		uint8_t num;

		if (!fabric_is_endport(fabric, port) ||
		    fabric_is_switch(fabric, fabric->ports[port].node) ||
		    fabric_leaf(fabric, port, &exit) != leaf)
			continue;
		num = routing_port(routing, sw, fabric->ports[port].lid);
		n += num != met;
		met = num;
	}
	return n;
}

/* A switch above the leaves sends all LIDs of a leaf the same way. */
START_TEST(test_lids_of_a_leaf_stay_together)
{
	const struct route_input input = { .threads = 1 };
	struct builder *builder = make_builder_of("fattree:8");
	GPtrArray *order = builder_walk(builder);
	struct fabric *fabric;
	struct routing *routing;

	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	routing = route_compute(route_find("minhop"), fabric, &input, NULL);
	for (uint32_t i = 0; i < order->len; i++) {
		const struct builder_node *node = order->pdata[i];
		uint32_t sw = fabric->nodes[fabric_node_by_guid(fabric, node->info.node_guid)].sw;

		if (!builder_is_switch(node) || is_leaf(fabric, node))
			continue;
		for (uint32_t leaf = 0; leaf < fabric->n_switches; leaf++)
			if (count_ports(fabric, routing, sw, leaf) > 1)
				ck_abort_msg("switch %u sends leaf %u several ways", sw, leaf);
	}
	g_ptr_array_unref(order);
	routing_unref(routing);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/* The tables of one thread are those of several. */
static void check_threads(const struct fabric *fabric, const char *engine)
{
	struct route_input input = { .threads = 1 };
	struct routing *one = route_compute(route_find(engine), fabric, &input, NULL);

	ck_assert_ptr_nonnull(one);
	for (input.threads = 2; input.threads <= 3; input.threads++) {
		struct routing *many = route_compute(route_find(engine), fabric, &input, NULL);

		ck_assert_ptr_nonnull(many);
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			ck_assert_mem_eq(one->lft[sw], many->lft[sw], one->n_blocks * 64);
		routing_unref(many);
	}
	routing_unref(one);
}

/* With some cables lost; unlinking one twice does nothing. */
static void check_threads_of(const char *spec, uint8_t lmc)
{
	struct builder *builder = make_builder_of(spec);
	struct fabric *fabric;
	GArray *cables;
	uint64_t state = 1;

	make_lids(builder, lmc);
	cables = list_cables(builder);
	for (uint32_t i = 0; i < cables->len / 12; i++)
		builder_unlink(g_array_index(cables, struct cable,
					     make_number(&state, cables->len)).a);
	fabric = builder_freeze(builder);
	check_threads(fabric, "minhop");
	check_threads(fabric, "updn");
	g_array_unref(cables);
	fabric_unref(fabric);
	builder_free(builder);
}

START_TEST(test_threads_change_nothing)
{
	check_threads_of("fattree:8", 0);
	check_threads_of("fattree:12", 1);
	check_threads_of("xgft:8,8:1,4:1,2", 1);
	check_threads_of("torus:4x4x3:2", 0);
}
END_TEST

/* Number of pairs of switches that are discarded. */
static uint64_t count_cut_off(const struct fabric *fabric, const struct routing *routing)
{
	struct route_verdict verdict;
	uint64_t n;

	ck_assert(route_verify(fabric, routing, &verdict));
	n = verdict.discarded;
	route_verdict_clear(&verdict);
	return n;
}

static const struct {
	const char *spec, *engine;
} cut_offs[] = {
	{"fattree:4", "minhop"}, {"fattree:4", "updn"},	   {"fattree:4", "ftree"},
	{"fattree:8", "minhop"}, {"xgft:4,4:1,2", "minhop"}, {"xgft:4,3,2:1,2,2", "dnup"},
};

/* Pulls the cables of a switch to others; peers[port] get the far ends, or NULL. */
static void take_away(struct builder_node *node, struct builder_port *peers[256])
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		peers[num] = peer && builder_is_switch(peer->node) ? peer : NULL;
		if (peers[num])
			builder_unlink(peer);
	}
}

static void put_back(struct builder_node *node, struct builder_port *const peers[256])
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		if (peers[num])
			builder_link(&node->ports[num], peers[num]);
}

static void try_without(const struct route_engine *engine, struct builder *builder,
			const struct routing *old)
{
	const struct route_input input = {.threads = 1};
	struct fabric *fabric = builder_freeze(builder);
	struct routing *anew = route_compute(engine, fabric, &input, NULL), *renewed;
	enum route_way way;

	renewed = routing_renew(engine, fabric, &input, old, &way, NULL);
	ck_assert_uint_le(count_cut_off(fabric, renewed), count_cut_off(fabric, anew));
	routing_unref(renewed);
	routing_unref(anew);
	fabric_unref(fabric);
}

/*
 * Switches without hosts reach each other by the leaf that is on top. If it goes, or any other
 * switch, they use another one, as in tables computed from the start.
 */
START_TEST(test_no_switch_is_cut_off)
{
	const struct route_engine *engine = route_find(cut_offs[_i].engine);
	const struct route_input input = {.threads = 1};
	struct builder *builder = make_builder_of(cut_offs[_i].spec);
	GPtrArray *order = builder_walk(builder);
	struct builder_node *last = order->pdata[order->len - 1];
	struct fabric *whole;
	struct routing *routing;

	ck_assert(!builder_is_switch(last));
	builder->sm_port = &last->ports[1]; /* the leaf of the first host is the one on top */
	make_lids(builder, 0);
	whole = builder_freeze(builder);
	routing = route_compute(engine, whole, &input, NULL);
	ck_assert_uint_eq(count_cut_off(whole, routing), 0);
	for (guint i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];
		struct builder_port *peers[256];

		if (!builder_is_switch(node))
			continue;
		take_away(node, peers);
		try_without(engine, builder, routing);
		put_back(node, peers);
	}
	routing_unref(routing);
	fabric_unref(whole);
	g_ptr_array_unref(order);
	builder_free(builder);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_losses");
	TCase *tcase = tcase_create("losses");

	tcase_set_timeout(tcase, 300);
	tcase_add_test(tcase, test_one_lost_cable_burdens_all);
	tcase_add_test(tcase, test_one_lost_cable_with_more_lids);
	tcase_add_test(tcase, test_one_lost_parallel_cable);
	tcase_add_test(tcase, test_spare_cables_are_used);
	tcase_add_test(tcase, test_few_blocks_change);
	tcase_add_test(tcase, test_large_changes);
	tcase_add_loop_test(tcase, test_no_switch_is_cut_off, 0, G_N_ELEMENTS(cut_offs));
	tcase_add_test(tcase, test_lids_of_a_leaf_stay_together);
	tcase_add_test(tcase, test_threads_change_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
