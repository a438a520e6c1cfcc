// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine nue loads no cable more than up/down tables do, makes shorter paths of each lane that it
 * may use, and keeps its tables when a cable is lost. Each pair of hosts is followed hop by hop.
 */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "route/renew/renew.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_churn.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 120

/* ---- load and length of paths ---- */

struct measure {
	uint64_t busiest; /* pairs of hosts on the busiest channel */
	uint64_t hops;	  /* of all pairs together */
};

/* Whether a LID is the base LID of a host. */
static bool is_base(const struct fabric *fabric, uint32_t lid)
{
	uint32_t port = fabric_port_by_lid(fabric, lid);

	return port != FABRIC_NONE && fabric->ports[port].lid == lid &&
	       !fabric_is_switch(fabric, fabric->ports[port].node);
}

/* Between base LIDs. */
static struct measure measure(const struct fabric *fabric, const struct routing *routing)
{
	g_autofree uint64_t *load = g_new0(uint64_t, fabric->n_ports);
	struct measure sum = {0};

	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t leaf = checker_leaf(fabric, lid);

		for (uint32_t from = 1; from <= fabric->max_lid && is_base(fabric, lid); from++) {
			uint32_t sw = checker_leaf(fabric, from);

			if (!is_base(fabric, from))
				continue;
			while (sw != leaf) {
				uint8_t num = routing_port(routing, sw, lid);
				uint32_t port = fabric_switch_port(fabric, sw, num);

				load[port]++;
				sum.busiest = MAX(sum.busiest, load[port]);
				sum.hops++;
				sw = checker_next_switch(fabric, sw, num);
			}
		}
	}
	return sum;
}

static struct routing *route(const char *engine, const struct fabric *fabric, uint8_t vls)
{
	const struct route_input input = {.threads = 1, .nue_max_num_vls = vls};
	struct routing *routing = route_compute(route_find(engine), fabric, &input, NULL);

	ck_assert_ptr_nonnull(routing);
	checker_accept(fabric, routing, engine);
	ck_assert(routing->promises & ROUTE_DEADLOCK_FREE);
	return routing;
}

static struct fabric *make_damaged(const char *spec, unsigned int lost)
{
	struct builder *builder = make_builder_of(spec);
	struct churn *churn;
	struct fabric *fabric;
	uint64_t state = 1;

	make_lids(builder, 0);
	churn = churn_new(builder);
	for (unsigned int i = 0; i < lost; i++)
		churn_toggle(churn, churn_choose(churn, &state, CHURN_CABLE, false));
	fabric = builder_freeze(builder);
	churn_free(churn);
	builder_free(builder);
	return fabric;
}

/* ---- never worse than up/down ---- */

static const struct {
	const char *spec;
	unsigned int lost; /* cables */
} nets[] = {
	{"fattree:8", 0},	{"fattree:8", 1},	{"fattree:8", 12},
	{"megafly:4:4:4:4", 0}, {"megafly:4:4:4:4", 2}, {"xgft:4,4,4:1,4,4", 3},
	{"dragonfly:4:2:2", 0}, {"slimfly:5:2", 0},	{"mesh:6x6:2", 1},
	{"torus:4x4x4:2", 0},	{"hyperx:4x4:2", 2},	{"random:40:6:3:2", 0},
};

START_TEST(test_not_worse)
{
	struct fabric *fabric = make_damaged(nets[_i].spec, nets[_i].lost);
	struct routing *updn = route("updn", fabric, 0);
	uint64_t most = measure(fabric, updn).busiest;

	for (uint8_t vls = 1; vls <= 8; vls *= 2) {
		struct routing *nue = route("nue", fabric, vls);

		ck_assert_msg(measure(fabric, nue).busiest <= most,
			      "%s, %u cables lost, %u lanes: %" PRIu64 ", up/down %" PRIu64,
			      nets[_i].spec, nets[_i].lost, vls, measure(fabric, nue).busiest,
			      most);
		routing_unref(nue);
	}
	routing_unref(updn);
	fabric_unref(fabric);
}
END_TEST

/* A tree, whole or damaged, has one lane, and no SL that hosts could have to ask for again. */
START_TEST(test_tree)
{
	for (unsigned int lost = 0; lost <= 24; lost += 8) {
		struct fabric *fabric = make_damaged("fattree:8", lost);
		struct routing *nue = route("nue", fabric, 8);

		ck_assert_ptr_null(nue->lanes);
		ck_assert_ptr_nonnull(nue->order);
		routing_unref(nue);
		fabric_unref(fabric);
	}
}
END_TEST

/* ---- each lane helps ---- */

static const char *const few_lanes[] = {
	"random:40:6:3:2", "torus:6x6x6:1", "dragonfly:6:3:2", "torus:8x8:2", "random:60:4:3:5",
};

START_TEST(test_lanes)
{
	struct fabric *fabric = make_fabric(few_lanes[_i], 0);
	uint64_t before = UINT64_MAX;

	for (uint8_t vls = 1; vls <= 3; vls++) {
		struct routing *nue = route("nue", fabric, vls);
		uint64_t hops = measure(fabric, nue).hops;

		ck_assert_uint_lt(hops, before);
		ck_assert_uint_eq(nue->lanes ? nue->lanes->n : 1, vls);
		before = hops;
		routing_unref(nue);
	}
	fabric_unref(fabric);
}
END_TEST

/* ---- and takes load off the busiest cable ---- */

static const char *const dimensions[] = {"torus:8x8x8:1", "torus:6x6x6:1", "torus:10x10:2"};

/* What a lane carries above the load of dor: two lanes leave at most 5/8 of it, four 3/8. */
START_TEST(test_busiest)
{
	struct fabric *fabric = make_fabric(dimensions[_i], 0);
	const struct route_input input = {.threads = 1};
	struct routing *dor = route_compute(route_find("dor"), fabric, &input, NULL);
	uint64_t least = measure(fabric, dor).busiest, one = 0;
	const uint64_t left[] = {[1] = 8, [2] = 5, [4] = 3};

	for (uint8_t vls = 1; vls <= 4; vls *= 2) {
		struct routing *nue = route("nue", fabric, vls);
		uint64_t most = measure(fabric, nue).busiest;

		one = vls == 1 ? most : one;
		ck_assert_msg(most <= least + (one - least) * left[vls] / 8,
			      "%s, %u lanes: %" PRIu64 "; one: %" PRIu64 ", dor: %" PRIu64,
			      dimensions[_i], vls, most, one, least);
		routing_unref(nue);
	}
	routing_unref(dor);
	fabric_unref(fabric);
}
END_TEST

/* ---- hosts that use base LIDs only do not lose by the others ---- */

static const char *const with_lmc[] = {"torus:8x8:2", "torus:6x6x6:1", "random:64:8:4:1"};

START_TEST(test_base_lids)
{
	for (uint8_t vls = 1; vls <= 3; vls += 2) {
		uint64_t most = UINT64_MAX;

		for (uint8_t lmc = 0; lmc <= 2; lmc++) {
			struct fabric *fabric = make_fabric(with_lmc[_i], lmc);
			struct routing *nue = route("nue", fabric, vls);
			uint64_t busiest = measure(fabric, nue).busiest;

			ck_assert_msg(busiest <= most, "%s, LMC %u, %u lanes: %" PRIu64,
				      with_lmc[_i], lmc, vls, busiest);
			most = lmc ? most : busiest + busiest / 32;
			routing_unref(nue);
			fabric_unref(fabric);
		}
	}
}
END_TEST

/* ---- what stays ---- */

static uint32_t count_changed(const struct routing *a, const struct routing *b)
{
	uint32_t blocks = 0;

	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (uint32_t first = 0; first <= a->top; first += 64)
			blocks += memcmp(a->lft[sw] + first, b->lft[sw] + first, 64) != 0;
	return blocks;
}

static const struct {
	const char *spec;
	uint8_t vls;
	unsigned int part; /* of the blocks at most change: one in this many */
} kept[] = {
	{"fattree:8", 1, 5},	   {"fattree:8", 4, 5},	      {"torus:6x6x6:2", 2, 4},
	{"dragonfly:6:3:2", 2, 4}, {"random:64:8:4:1", 3, 5}, {"torus:6x6x6:2", 1, 4},
	{"mesh:8x8:1", 2, 2},	   {"torus:8x8:2", 2, 4},
};

START_TEST(test_one_cable)
{
	const struct route_input input = {.threads = 1, .nue_max_num_vls = kept[_i].vls};
	struct builder *builder = make_builder_of(kept[_i].spec);
	struct fabric *whole, *damaged;
	struct routing *old, *routing;
	struct churn *churn;
	enum route_way way;
	uint64_t state = 1;

	make_lids(builder, 0);
	churn = churn_new(builder);
	whole = builder_freeze(builder);
	old = routing_renew(route_find("nue"), whole, &input, NULL, &way, NULL);
	for (unsigned int i = 0; i < 5; i++) {
		uint32_t cable = churn_choose(churn, &state, CHURN_CABLE, false);
		uint32_t all = old->n_switches * old->n_blocks;

		churn_toggle(churn, cable);
		damaged = builder_freeze(builder);
		routing = routing_renew(route_find("nue"), damaged, &input, old, &way, NULL);
		checker_accept_owned(damaged, routing, kept[_i].spec);
		ck_assert_uint_le(count_changed(old, routing) * kept[_i].part, all);
		ck_assert_uint_le(measure(damaged, routing).busiest,
				  2 * measure(whole, old).busiest);
		churn_toggle(churn, cable);
		routing_unref(routing);
		fabric_unref(damaged);
	}
	routing_unref(old);
	fabric_unref(whole);
	churn_free(churn);
	builder_free(builder);
}
END_TEST

/* ---- any network, any number of lanes, any number of threads ---- */

static void expect_same(const struct routing *a, const struct routing *b, const char *what)
{
	size_t n = (size_t)a->n_switches * a->n_switches;

	checker_same_tables(a, b, what);
	ck_assert_msg(!a->lanes == !b->lanes, "%s", what);
	if (a->lanes)
		ck_assert_msg(!memcmp(a->lanes->sl, b->lanes->sl, n), "%s: other SLs", what);
}

START_TEST(test_random)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		struct route_input input = {.threads = 1, .nue_max_num_vls = seed % 8 + 1};
		struct routing *one, *more;
		struct fabric *fabric;
		struct shape shape;

		shape_random(&shape, seed);
		fabric = builder_freeze(shape.builder);
		one = route_compute(route_find("nue"), fabric, &input, NULL);
		ck_assert_msg(one != NULL, "%s", shape.what->str);
		checker_accept(fabric, one, shape.what->str);
		for (input.threads = 2; input.threads <= 4; input.threads += 2) {
			more = route_compute(route_find("nue"), fabric, &input, NULL);
			expect_same(one, more, shape.what->str);
			routing_unref(more);
		}
		routing_unref(one);
		fabric_unref(fabric);
		shape_clear(&shape);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_nue");
	TCase *tcase = tcase_create("nue");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_not_worse, 0, G_N_ELEMENTS(nets));
	tcase_add_test(tcase, test_tree);
	tcase_add_loop_test(tcase, test_lanes, 0, G_N_ELEMENTS(few_lanes));
	tcase_add_loop_test(tcase, test_busiest, 0, G_N_ELEMENTS(dimensions));
	tcase_add_loop_test(tcase, test_base_lids, 0, G_N_ELEMENTS(with_lmc));
	tcase_add_loop_test(tcase, test_one_cable, 0, G_N_ELEMENTS(kept));
	tcase_add_test(tcase, test_random);
	suite_add_tcase(suite, tcase);
	return suite;
}
