// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Trees load their busiest cable hardly more than a local search finds possible. */
#include <check.h>

#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_search.h"

#define ROUNDS 12
#define EACH 1.12 /* times the load that the search finds */
#define MEAN 1.02
#define SEED 7

static const char *const engines[] = {"minhop", "updn", "dnup", "ftree", "dfsssp", "lash", "nue"};

/* Uneven when whole, or after the loss of some cables. */
static const struct {
	const char *spec;
	uint32_t lost; /* percent */
} nets[] = {
	{"fattree:8", 1},	  {"fattree:8", 5},	   {"fattree:8", 10},
	{"xgft:7,3,4:1,4,3", 0},  {"xgft:9,5,3:1,4,2", 0}, {"xgft:5,4,3:1,3,2", 0},
	{"xgft:8,4,4:1,4,4", 5},  {"xgft:9,5,3:1,3,3", 5}, {"xgft:12,4,3:1,4,2", 10},
	{"xgft:6,4,4:1,3,2:1,2,1", 5},
};

START_TEST(test_uneven_trees)
{
	double sum = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(nets); i++) {
		struct fabric *fabric = make_thinned(nets[i].spec, nets[i].lost, SEED);
		struct route_input input = {.threads = 1};
		struct routing *routing =
			route_compute(route_find(engines[_i]), fabric, &input, NULL);
		double ratio;

		ck_assert_ptr_nonnull(routing);
		ratio = search_ratio(fabric, routing, ROUNDS);
		ck_assert_msg(ratio <= EACH, "%s %s: %.3f", nets[i].spec, engines[_i], ratio);
		sum += ratio;
		routing_unref(routing);
		fabric_unref(fabric);
	}
	ck_assert_msg(sum <= MEAN * G_N_ELEMENTS(nets), "%s: %.3f", engines[_i],
		      sum / G_N_ELEMENTS(nets));
}
END_TEST

/* Any number of threads adds up the same loads. */
START_TEST(test_threads)
{
	struct fabric *fabric = make_thinned("xgft:8,4,4:1,4,4", 5, SEED);
	struct route_input one = {.threads = 1}, three = {.threads = 3};
	const struct route_engine *engine = route_find("updn");
	struct routing *a = route_compute(engine, fabric, &one, NULL);
	struct routing *b = route_compute(engine, fabric, &three, NULL);

	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (uint32_t lid = 0; lid <= a->top; lid++)
			ck_assert_uint_eq(routing_port(a, sw, lid), routing_port(b, sw, lid));
	routing_unref(a);
	routing_unref(b);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_even");
	TCase *tcase = tcase_create("trees");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_uneven_trees, 0, G_N_ELEMENTS(engines));
	tcase_add_test(tcase, test_threads);
	suite_add_tcase(suite, tcase);
	return suite;
}
