// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Computations of routes that are cancelled at any step, and what they report meanwhile. */
#include <check.h>
#include <string.h>

#include "route/graph/watch.h"
#include "route/renew/renew.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"

static const char *const nets[] = {"fattree:4", "torus:3x4", "random:12:4:3:1", "dragonfly:3:1:2"};

#define STEPS_AFTER 128 /* by loops over some 20 switches, which do nothing then */

struct bed {
	struct builder *builder;
	struct fabric *fabric;
	struct route_input input;
};

static void bed_init(struct bed *bed, const char *spec)
{
	*bed = (struct bed){ .builder = make_builder_of(spec), .input.threads = 1 };
	make_lids(bed->builder, 0);
	bed->fabric = builder_freeze(bed->builder);
}

static void bed_clear(struct bed *bed)
{
	fabric_unref(bed->fabric);
	builder_free(bed->builder);
}

/* Computes and verifies; false if that was cancelled. Its steps are counted in *steps. */
static bool run(struct bed *bed, const struct route_engine *engine, uint64_t steps_max,
		uint64_t *steps)
{
	struct route_watch *watch = route_watch_new(0);
	g_autoptr(GError) error = NULL;
	struct route_verdict verdict;
	struct routing *routing;
	bool good = false;

	watch->steps_max = steps_max;
	bed->input.watch = watch;
	routing = route_compute(engine, bed->fabric, &bed->input, &error);
	if (routing) {
		good = route_verify_by(bed->fabric, routing, &bed->input, &verdict);
		if (route_is_cancelled(watch))
			ck_assert(!good);
		route_verdict_clear(&verdict);
	} else if (route_is_cancelled(watch)) {
		ck_assert(g_error_matches(error, ROUTE_ERROR, ROUTE_ERROR_CANCELLED));
	}
	*steps = watch->steps;
	routing_unref(routing);
	route_watch_unref(watch);
	bed->input.watch = NULL;
	return good;
}

START_TEST(test_each_step)
{
	struct bed bed;

	bed_init(&bed, nets[_i]);
	for (const struct route_engine *const *engine = route_engines(); *engine; engine++) {
		uint64_t all, steps;

		if (!run(&bed, *engine, 0, &all))
			continue; /* it cannot route this network */
		ck_assert_msg(all > 1, "%s", (*engine)->name);
		for (uint64_t at = 1; at < all; at += MAX(all / 40, 1)) {
			ck_assert_msg(!run(&bed, *engine, at, &steps), "%s", (*engine)->name);
			ck_assert_msg(steps <= at + STEPS_AFTER,
				      "%s: step %u is followed by %u more", (*engine)->name,
				      (unsigned int)at, (unsigned int)(steps - at));
		}
	}
	bed_clear(&bed);
}
END_TEST

START_TEST(test_text)
{
	struct route_watch *watch = route_watch_new(NS_PER_S);
	g_autofree char *nothing = route_watch_text(watch, NS_PER_S), *half = NULL;

	ck_assert_str_eq(nothing, "routes, for 0.0 s");
	route_watch_engine(watch, "dfsssp");
	route_watch_begin(watch, "lanes", 4);
	ck_assert(route_watch_step(watch) && route_watch_step(watch));
	half = route_watch_text(watch, 3 * NS_PER_S + NS_PER_S / 2);
	ck_assert_str_eq(half, "routes by dfsssp: lanes, 50 %, for 2.5 s");
	route_watch_cancel(watch);
	ck_assert(!route_watch_step(watch));
	route_watch_unref(watch);
	ck_assert(route_watch_step(NULL));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_watch");
	TCase *tcase = tcase_create("watch");

	tcase_add_test(tcase, test_text);
	tcase_add_loop_test(tcase, test_each_step, 0, G_N_ELEMENTS(nets));
	suite_add_tcase(suite, tcase);
	return suite;
}
