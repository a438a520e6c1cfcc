// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Computations of routes that are cancelled at any step, and what they report meanwhile. */
#include <check.h>
#include <string.h>

#include "route/graph/watch.h"
#include "route/renew/renew.h"
#include "route/transition/fixed.h"
#include "route/transition/lane_changes.h"
#include "route/transition/transition.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_churn.h"

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

/* ---- changes of tables ---- */

/* Tables of a whole network, and the network after a loss. */
struct change {
	struct bed bed;
	struct fabric *before;
	struct routing *old;
	bool *silent;	       /* [switch]: it does not answer */
	const uint8_t **held; /* [switch]: its old row */
};

/* A cable is lost, a switch holds few LIDs, and one does not answer. */
static bool change_init(struct change *change, const char *spec, const struct route_engine *engine)
{
	uint64_t state = 3;
	struct churn *churn;
	uint32_t n;

	*change = (struct change){0};
	bed_init(&change->bed, spec);
	change->before = change->bed.fabric;
	change->old = route_compute(engine, change->before, &change->bed.input, NULL);
	churn = churn_new(change->bed.builder);
	churn_toggle(churn, churn_choose(churn, &state, CHURN_CABLE, false));
	change->bed.fabric = builder_freeze(change->bed.builder);
	churn_free(churn);
	n = change->bed.fabric->n_switches;
	ck_assert_uint_eq(n, change->before->n_switches);
	if (engine->hops)
		change->bed.fabric->switches[n - 1].info.linear_fdb_cap =
			change->before->max_lid - 2;
	change->silent = g_new0(bool, n);
	change->silent[0] = true;
	change->held = g_new0(const uint8_t *, n);
	for (uint32_t sw = 1; change->old && sw < n; sw++)
		change->held[sw] = change->old->lft[sw];
	return change->old;
}

static void change_clear(struct change *change)
{
	fabric_unref(change->before);
	routing_unref(change->old);
	g_free(change->silent);
	g_free(change->held);
	bed_clear(&change->bed);
}

/* The stages, to be freed; NULL: it was cancelled. */
static struct route_stages *plan_change(const struct change *change, const struct routing *routing,
					uint64_t work, struct route_watch *watch)
{
	struct lane_change lanes = {change->old, routing, change->held, NULL, true, watch};
	struct route_verdict verdict;
	struct route_stages *stages;

	route_lane_changes(change->old, routing, watch);
	route_verify_by(change->bed.fabric, routing, &change->bed.input, &verdict);
	lanes.stages = stages = route_stages_new(change->bed.fabric, change->held, false, routing,
						 &verdict, work, watch);
	ck_assert(!stages == route_is_cancelled(watch));
	if (stages && route_lanes_mix(&lanes, ROUTE_MIX_WORK))
		ck_assert(!route_is_cancelled(watch));
	route_verdict_clear(&verdict);
	return stages;
}

/* Renews and plans; false if that was cancelled. */
static bool run_change(struct change *change, const struct route_engine *engine, uint64_t work,
		       uint64_t steps_max, uint64_t *steps)
{
	struct route_watch *watch = route_watch_new(0);
	struct routing *made, *routing = NULL;
	enum route_way way;
	bool good;

	watch->steps_max = steps_max;
	change->bed.input.watch = watch;
	made = routing_renew(engine, change->bed.fabric, &change->bed.input, change->old, &way,
			     NULL);
	if (made)
		routing = routing_fix(change->bed.fabric, made, change->held, change->silent,
				      watch);
	if (routing)
		route_stages_free(plan_change(change, routing, work, watch));
	good = routing && !route_is_cancelled(watch);
	*steps = watch->steps;
	routing_unref(made);
	routing_unref(routing);
	route_watch_unref(watch);
	change->bed.input.watch = NULL;
	return good;
}

/* With the usual work, and with so little that other ways to plan are taken. */
static const uint64_t works[] = {ROUTE_STAGES_WORK, 2000, 0};

START_TEST(test_each_step_of_a_change)
{
	const char *spec = nets[_i / G_N_ELEMENTS(works)];
	uint64_t work = works[_i % G_N_ELEMENTS(works)], all, steps;
	unsigned int n = 0;

	for (const struct route_engine *const *engine = route_engines(); *engine; engine++) {
		struct change change;

		if (change_init(&change, spec, *engine) &&
		    run_change(&change, *engine, work, 0, &all)) {
			n++;
			for (uint64_t at = 1; at < all; at += MAX(all / 80, 1)) {
				ck_assert(!run_change(&change, *engine, work, at, &steps));
				ck_assert_msg(steps <= at + STEPS_AFTER,
					      "%s: step %u is followed by %u more", (*engine)->name,
					      (unsigned int)at, (unsigned int)(steps - at));
			}
		}
		change_clear(&change);
	}
	ck_assert_uint_ge(n, 4);
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
	tcase_add_loop_test(tcase, test_each_step_of_a_change, 0,
			    G_N_ELEMENTS(nets) * G_N_ELEMENTS(works));
	suite_add_tcase(suite, tcase);
	return suite;
}
