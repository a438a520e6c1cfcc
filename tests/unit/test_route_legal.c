// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Layered engines on damaged trees: paths up and then down are as short as any, so they take these,
 * on one lane, and load cables evenly; also by each of the LIDs that an LMC gives.
 */
#include <string.h>

#include "tests/run_suite.h"

#include "route/engine.h"
#include "route/renew/renew.h"
#include "route/value/lanes.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_churn.h"
#include "tests/unit/route_shapes.h"

static const char *const engines[] = {"sssp", "dfsssp", "lash", "hoplanes"};

static struct routing *compute(const char *engine, const struct fabric *fabric,
			       unsigned int threads)
{
	struct route_input input = {.threads = threads};
	struct routing *routing = route_compute(route_find(engine), fabric, &input, NULL);

	ck_assert_msg(routing != NULL, "%s refuses", engine);
	return routing;
}

/* Without these many percent of its cables between switches. */
static struct fabric *damage(struct builder *builder, uint64_t state, uint32_t percent)
{
	struct churn *churn = churn_new(builder);
	uint32_t n = 0;
	struct fabric *fabric;

	for (guint i = 0; i < churn->things->len; i++)
		n += g_array_index(churn->things, struct churn_thing, i).kind == CHURN_CABLE;
	for (n = (n * percent + 99) / 100; n; n--)
		churn_toggle(churn, churn_choose(churn, &state, CHURN_CABLE, false));
	fabric = builder_freeze(builder);
	churn_free(churn);
	return fabric;
}

/* ---- what paths are like ---- */

static bool goes_up(const struct routing *routing, uint32_t from, uint32_t to)
{
	return routing->order[to] < routing->order[from];
}

/* Whether a path goes down and then up. */
static bool turns_up(const struct fabric *fabric, const struct routing *routing, uint32_t sw,
		     uint16_t lid)
{
	bool down = false, any = false;
	uint32_t leaf = checker_leaf(fabric, lid);

	while (sw != leaf) {
		uint32_t next =
			checker_next_switch(fabric, sw, routing_port(routing, sw, lid));

		any |= down && goes_up(routing, sw, next);
		down |= !goes_up(routing, sw, next);
		sw = next;
	}
	return any;
}

/* For each LID that a host has with this number, and each other leaf. */
#define each_flow(fabric, index, lid, sw)                                                          \
	for (uint32_t lid = 1; lid <= (fabric)->max_lid; lid++)                                    \
		for (uint32_t sw = 0; sw < (fabric)->n_switches; sw++)                             \
			if (is_flow(fabric, index, lid, sw))

static bool is_flow(const struct fabric *fabric, unsigned int index, uint32_t lid, uint32_t sw)
{
	uint32_t port = fabric_port_by_lid(fabric, lid);

	if (port == FABRIC_NONE || fabric_is_switch(fabric, fabric->ports[port].node) ||
	    lid != fabric->ports[port].lid + index)
		return false;
	for (uint32_t p = 0; p < fabric->n_ports; p++)
		if (!fabric_is_switch(fabric, fabric->ports[p].node) && fabric->ports[p].lid &&
		    checker_leaf(fabric, fabric->ports[p].lid) == sw)
			return sw != checker_leaf(fabric, lid);
	return false;
}

/* The load of the busiest channel between switches as a multiple of the mean. */
static double find_peak(const struct fabric *fabric, const struct routing *routing,
			unsigned int index)
{
	g_autofree uint32_t *load = g_new0(uint32_t, (size_t)fabric->n_switches * 256);
	uint64_t sum = 0, n = 0, most = 0;

	each_flow(fabric, index, lid, from)
	{
		uint32_t leaf = checker_leaf(fabric, lid);

		for (uint32_t sw = from; sw != leaf;) {
			uint8_t port = routing_port(routing, sw, lid);

			load[sw * 256 + port]++;
			sw = checker_next_switch(fabric, sw, port);
		}
	}
	for (uint32_t i = 0; i < fabric->n_switches * 256; i++) {
		sum += load[i];
		n += checker_next_switch(fabric, i / 256, i % 256) != FABRIC_NONE;
		most = MAX(most, load[i]);
	}
	return (double)most * n / sum;
}

/* ---- damaged trees ---- */

static const struct {
	const char *spec;
	uint32_t percent;
	double peak, lash_peak; /* at most */
} trees[] = {
	{"fattree:8", 1, 2.1, 2.2},	 {"fattree:8", 5, 2.0, 2.2},
	{"fattree:12", 1, 1.4, 1.9},	 {"fattree:12", 10, 1.9, 1.9},
	{"xgft:8,16:1,4", 5, 1.7, 1.9},	 {"xgft:4,4,8:1,4,4", 10, 2.2, 2.3},
	{"xgft:6,8:1,3:1,2", 5, 1.9, 2.6},
};

START_TEST(test_damaged)
{
	struct builder *builder = make_builder_of(trees[_i].spec);
	struct fabric *fabric;

	make_lids(builder, 0);
	fabric = damage(builder, 1, trees[_i].percent);
	for (unsigned int e = 0; e < G_N_ELEMENTS(engines); e++) {
		struct routing *routing = compute(engines[e], fabric, 1);
		bool lash = !strcmp(engines[e], "lash");
		uint64_t wrong = 0;

		checker_accept(fabric, routing, engines[e]);
		ck_assert_ptr_null(routing->lanes);
		ck_assert_ptr_null(routing->note);
		ck_assert_ptr_nonnull(routing->order);
		ck_assert_uint_eq(routing->promises, ROUTE_DEADLOCK_FREE | ROUTE_SHORTEST);
		each_flow(fabric, 0, lid, sw)
			wrong += turns_up(fabric, routing, sw, lid);
		ck_assert_uint_eq(wrong, 0);
		ck_assert_double_le(find_peak(fabric, routing, 0),
				    lash ? trees[_i].lash_peak : trees[_i].peak);
		for (unsigned int threads = 2; threads <= 4; threads += 2) {
			struct routing *same = compute(engines[e], fabric, threads);

			checker_same_tables(routing, same, engines[e]);
			routing_unref(same);
		}
		routing_unref(routing);
	}
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/* ---- where the shortest path of some hosts is not legal ---- */

static const struct {
	const char *spec;
	uint64_t seed;
	uint32_t percent;
	unsigned int lanes; /* at most */
	bool with_sm; /* paths to the SM turn where its SL has no room for that */
} worse[] = {
	{"fattree:8", 2, 15, 2},	{"fattree:8", 10, 20, 3, true},
	{"xgft:4,4,8:1,4,4", 6, 15, 2}, {"xgft:6,5,7:1,3,2", 5, 10, 2},
	{"xgft:6,5,7:1,3,2", 10, 15, 3}, {"xgft:8,6,10:1,4,3", 7, 15, 3},
};

/* Pairs of switches with hosts: all, those with a path that turns up. */
struct turned {
	uint32_t pairs, turn;
};

static struct turned count_turned(const struct fabric *fabric, const struct routing *routing)
{
	uint32_t n = fabric->n_switches;
	g_autofree uint8_t *seen = g_new0(uint8_t, (size_t)n * n); /* 1: a pair, 2: it turns up */
	struct turned turned = {0};

	each_flow(fabric, 0, lid, sw)
	{
		uint32_t leaf = checker_leaf(fabric, lid);
		size_t at = (size_t)MIN(sw, leaf) * n + MAX(sw, leaf);

		seen[at] |= 1 | turns_up(fabric, routing, sw, lid) << 1;
	}
	for (size_t i = 0; i < (size_t)n * n; i++) {
		uint8_t sl = route_lanes_sl(routing->lanes, i / n, i % n);

		turned.pairs += seen[i] & 1;
		turned.turn += seen[i] >> 1;
		ck_assert_msg(!seen[i] || seen[i] >> 1 || !sl, "a legal pair has SL %u", sl);
	}
	return turned;
}

/* The SLs that are unsafe for multicast are so: paths there close loops with what it may do. */
static void expect_loops(const struct fabric *fabric, struct routing *routing)
{
	struct checker checker;

	routing->lanes->sls_unsafe_for_multicast = 0;
	checker_run(&checker, fabric, routing);
	checker_agrees(&checker, 1, "unsafe for multicast");
	ck_assert(!checker.verdict.acyclic);
	checker_clear(&checker);
}

/* All others stay on the first lane, where multicast follows the order as before. */
START_TEST(test_few_turn)
{
	struct builder *builder = make_builder_of(worse[_i].spec);
	struct fabric *fabric;

	make_lids(builder, 0);
	fabric = damage(builder, worse[_i].seed, worse[_i].percent);
	for (unsigned int e = 1; e < G_N_ELEMENTS(engines); e++) {
		struct routing *routing = compute(engines[e], fabric, 1);
		struct turned turned;

		checker_accept(fabric, routing, engines[e]);
		ck_assert_uint_eq(routing->promises, ROUTE_DEADLOCK_FREE | ROUTE_SHORTEST);
		ck_assert_ptr_nonnull(routing->order);
		ck_assert_ptr_nonnull(routing->lanes);
		ck_assert_uint_le(routing->lanes->n, worse[_i].lanes);
		ck_assert_uint_eq(routing->lanes->sls_unsafe_for_multicast & 1, 0);
		turned = count_turned(fabric, routing);
		ck_assert_int_eq(routing->lanes->sm_by_path, worse[_i].with_sm);
		ck_assert_uint_gt(turned.turn, 0);
		ck_assert_uint_le(turned.turn * 10, turned.pairs);
		for (unsigned int threads = 2; threads <= 4; threads += 2) {
			struct routing *same = compute(engines[e], fabric, threads);

			checker_same_tables(routing, same, engines[e]);
			routing_unref(same);
		}
		ck_assert_uint_ne(routing->lanes->sls_unsafe_for_multicast, 0);
		expect_loops(fabric, routing);
		routing_unref(routing);
	}
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/*
 * On the old lanes, multicast follows the old order: the checker counts all steps that it allows.
 * Returns how many repairs there were.
 */
static uint32_t repair_each(struct builder *builder, const struct route_engine *engine,
			    const struct routing *old, uint64_t state)
{
	struct route_input input = {.threads = 1};
	struct churn *churn = churn_new(builder);
	uint32_t n = 0;

	for (unsigned int cables = 1; cables <= 6; cables++) {
		struct routing *routing;
		struct fabric *fabric;

		churn_toggle(churn, churn_choose(churn, &state, CHURN_CABLE, false));
		fabric = builder_freeze(builder);
		routing = routing_keep_sls(engine, fabric, &input, old);
		if (routing) {
			checker_accept(fabric, routing, engine->name);
			ck_assert_ptr_nonnull(routing->order);
			ck_assert_int_eq(routing->lanes->sm_by_path, old->lanes->sm_by_path);
			ck_assert_ptr_null(strstr(routing->note ? routing->note : "", "trees may"));
			n++;
		}
		routing_unref(routing);
		fabric_unref(fabric);
	}
	churn_free(churn);
	return n;
}

START_TEST(test_repaired_on_lanes)
{
	const unsigned int per_net = G_N_ELEMENTS(engines) - 1;
	uint32_t n = 0;

	for (unsigned int i = 0; i < G_N_ELEMENTS(worse) * per_net; i++) {
		const struct route_engine *engine = route_find(engines[1 + i % per_net]);
		struct builder *builder = make_builder_of(worse[i / per_net].spec);
		struct fabric *fabric;
		struct routing *old;

		make_lids(builder, 0);
		fabric = damage(builder, worse[i / per_net].seed, worse[i / per_net].percent);
		old = compute(engine->name, fabric, 1);
		old->lanes->sm_by_path |= i % 2; /* these paths close no loops, either */
		n += repair_each(builder, engine, old, worse[i / per_net].seed);
		routing_unref(old);
		fabric_unref(fabric);
		builder_free(builder);
	}
	ck_assert_uint_gt(n, 12);
}
END_TEST

/* Trees of any shape that lost anything. */
START_TEST(test_any_tree)
{
	static const enum shape_kind kinds[] = {SHAPE_FATTREE, SHAPE_XGFT, SHAPE_LAYERED};
	struct shape_seeds seeds = shape_seeds(200);

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		struct shape shape;
		struct fabric *fabric;

		shape_whole(&shape, seed, kinds[seed % G_N_ELEMENTS(kinds)]);
		fabric = damage(shape.builder, seed, seed % 16);
		for (unsigned int e = 0; e < G_N_ELEMENTS(engines); e++) {
			struct route_input input = {
				.threads = 1 + seed % 4,
				.sm_sl = seed % 5 ? 0 : 3,
				.lash_start_vl = seed % 3 ? 0 : 1,
				.vls = seed % 7 ? 0 : 2,
			};
			struct routing *routing =
				route_compute(route_find(engines[e]), fabric, &input, NULL);

			if (routing)
				checker_accept(fabric, routing, shape.what->str);
			routing_unref(routing);
		}
		fabric_unref(fabric);
		shape_clear(&shape);
	}
}
END_TEST

/* ---- several LIDs a port ---- */

static const struct {
	const char *spec, *engine;
	bool together; /* all LIDs of a switch share a path, as that loads channels less */
} nets[] = {
	{"fattree:8", "sssp", false},	 {"fattree:8", "dfsssp", false},
	{"fattree:8", "hoplanes", false}, {"fattree:8", "nue", false},
	{"torus:4x4:2", "sssp", false},	 {"torus:4x4:2", "dfsssp", true},
	{"dragonfly:4:2:2", "hoplanes", true},
};

static struct fabric *with_lmc(const char *spec, uint8_t lmc)
{
	struct builder *builder = make_builder_of(spec);
	struct fabric *fabric;

	make_lids(builder, lmc);
	fabric = builder_freeze(builder);
	builder_free(builder);
	return fabric;
}

/* How many pairs of a leaf and a host have the same way out by the first two LIDs. */
static double find_equal(const struct fabric *fabric, const struct routing *routing)
{
	uint32_t n = 0, equal = 0;

	each_flow(fabric, 0, lid, sw)
	{
		n++;
		equal += routing_port(routing, sw, lid) == routing_port(routing, sw, lid + 1);
	}
	return (double)equal / n;
}

START_TEST(test_each_index)
{
	struct fabric *one = with_lmc(nets[_i].spec, 0);
	struct routing *routing = compute(nets[_i].engine, one, 1);
	double peak = find_peak(one, routing, 0);

	routing_unref(routing);
	fabric_unref(one);
	for (uint8_t lmc = 1; lmc <= 3; lmc++) {
		struct fabric *fabric = with_lmc(nets[_i].spec, lmc);

		routing = compute(nets[_i].engine, fabric, 1);
		checker_accept(fabric, routing, nets[_i].spec);
		ck_assert_double_le(find_peak(fabric, routing, 0), peak + .01);
		ck_assert_double_le(find_peak(fabric, routing, (1u << lmc) - 1), peak * 1.25);
		ck_assert(nets[_i].together || find_equal(fabric, routing) <= .75);
		routing_unref(routing);
		fabric_unref(fabric);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_legal");
	TCase *tests = tcase_create("legal");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, test_damaged, 0, G_N_ELEMENTS(trees));
	tcase_add_loop_test(tests, test_few_turn, 0, G_N_ELEMENTS(worse));
	tcase_add_test(tests, test_repaired_on_lanes);
	tcase_add_test(tests, test_any_tree);
	tcase_add_loop_test(tests, test_each_index, 0, G_N_ELEMENTS(nets));
	suite_add_tcase(suite, tests);
	return suite;
}
