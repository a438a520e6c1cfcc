// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The cost and the result of repairs, by counts: one thing goes and comes back, many times over.
 * Networks that are not trees stay as even as in a full recomputation; in trees only what is
 * concerned is recomputed.
 */
#include <check.h>
#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/flows.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_churn.h"

struct bed {
	struct builder *builder;
	struct churn *churn;
	const struct route_engine *engine;
	struct route_input input;
	struct fabric *fabric;
	struct routing *routing;
	uint32_t tried, moved;
	uint64_t changed, whole; /* entries */
};

static void bed_init(struct bed *bed, const char *spec, const char *engine)
{
	*bed = (struct bed){ .builder = make_builder_of(spec), .input.threads = 1 };
	make_lids(bed->builder, 0);
	bed->churn = churn_new(bed->builder);
	bed->engine = route_find(engine);
	bed->fabric = builder_freeze(bed->builder);
	bed->routing = route_compute(bed->engine, bed->fabric, &bed->input, NULL);
	ck_assert_ptr_nonnull(bed->routing);
}

static void bed_clear(struct bed *bed)
{
	routing_unref(bed->routing);
	fabric_unref(bed->fabric);
	churn_free(bed->churn);
	builder_free(bed->builder);
}

/* Entries that differ, of switches in both. */
static uint64_t count_changes(const struct bed *bed, const struct fabric *fabric,
			      const struct routing *routing)
{
	uint64_t n = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint64_t guid = fabric->nodes[fabric->switches[sw].node].guid;
		uint32_t node = fabric_node_by_guid(bed->fabric, guid);

		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++)
			n += fabric_port_by_lid(fabric, lid) != FABRIC_NONE &&
			     routing_port(routing, sw, lid) !=
				     routing_port(bed->routing, bed->fabric->nodes[node].sw, lid);
	}
	return n;
}

static void expect_same(const struct routing *a, const struct routing *b, const char *what)
{
	ck_assert_uint_eq(a->n_switches, b->n_switches);
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		if (memcmp(a->lft[sw], b->lft[sw], a->n_blocks * 64) != 0)
			ck_abort_msg("%s: tables of switch %u differ", what, sw);
}

static struct routing *renew(const struct bed *bed, const struct fabric *fabric,
			     const struct routing *old, unsigned int threads)
{
	struct route_input input = bed->input;
	struct routing *routing;
	enum route_way way;

	input.threads = threads;
	routing = routing_renew(bed->engine, fabric, &input, old, &way, NULL);
	ck_assert_ptr_nonnull(routing);
	ck_assert_int_eq(way, ROUTE_REPAIRED);
	return routing;
}

static struct routing *lose(struct bed *bed, uint32_t thing, struct fabric **fabric)
{
	struct routing *routing, *again;
	struct route_verdict verdict;
	char name[128];

	churn_toggle(bed->churn, thing);
	churn_name(bed->churn, thing, name, sizeof(name));
	*fabric = builder_freeze(bed->builder);
	routing = renew(bed, *fabric, bed->routing, 1);
	again = renew(bed, *fabric, bed->routing, 3);
	expect_same(routing, again, name);
	routing_unref(again);
	ck_assert_msg(route_verify(*fabric, routing, &verdict), "%s: %s", name, verdict.witness);
	route_verdict_clear(&verdict);
	bed->tried++;
	bed->moved += routing->repair_state->moved;
	bed->changed += count_changes(bed, *fabric, routing);
	return routing;
}

static void come_back(struct bed *bed, uint32_t thing, struct fabric *fabric,
		      struct routing *routing)
{
	struct routing *back;

	churn_toggle(bed->churn, thing);
	back = renew(bed, bed->fabric, routing, 2);
	expect_same(bed->routing, back, "back");
	routing_unref(back);
	routing_unref(routing);
	fabric_unref(fabric);
}

/* The busiest cable carries at most a tenth more than in a full recomputation. */
static void expect_even(struct bed *bed, const struct fabric *fabric,
			const struct routing *routing)
{
	struct routing *whole = route_compute(bed->engine, fabric, &bed->input, NULL);
	uint64_t is = routing_peak(routing, 1), should = routing_peak(whole, 1);

	ck_assert_msg(is <= should + should / 10, "%u flows, not %u", (unsigned int)is,
		      (unsigned int)should);
	bed->whole += count_changes(bed, fabric, whole);
	routing_unref(whole);
}

static const char *const grids[] = { "torus:4x4x4:4", "torus:6x6:3", "hypercube:6:3",
				     "dragonfly:4:2:2" };

START_TEST(test_even)
{
	struct bed bed;

	bed_init(&bed, grids[_i], "minhop");
	ck_assert(bed.routing->base->peak >= 1);
	for (uint32_t thing = 0; thing < bed.churn->things->len; thing += 7) {
		const struct churn_thing *t =
			&g_array_index(bed.churn->things, struct churn_thing, thing);
		struct fabric *fabric;
		struct routing *routing;

		if (t->kind == CHURN_HOST)
			continue;
		routing = lose(&bed, thing, &fabric);
		expect_even(&bed, fabric, routing);
		come_back(&bed, thing, fabric, routing);
	}
	ck_assert_uint_gt(bed.tried, 8);
	ck_assert_uint_gt(bed.moved, bed.tried / 2);
	ck_assert_msg(bed.changed * 2 < bed.whole, "%u entries changed, %u if computed whole",
		      (unsigned int)bed.changed, (unsigned int)bed.whole);
	bed_clear(&bed);
}
END_TEST

/* ---- trees ---- */

/* ---- repeated damage ---- */

/* Something goes, or comes back, more likely the more is out; a new routing follows. */
static void churn(struct bed *bed, uint64_t *state)
{
	enum churn_kind kind = make_number(state, 6) ? CHURN_CABLE : CHURN_SWITCH;
	bool back = make_number(state, 12) < bed->churn->n_out;
	uint32_t thing = churn_choose(bed->churn, state, kind, back);
	struct fabric *fabric;
	struct routing *routing;
	enum route_way way;

	if (thing == FABRIC_NONE)
		return;
	churn_toggle(bed->churn, thing);
	fabric = builder_freeze(bed->builder);
	routing = routing_renew(bed->engine, fabric, &bed->input, bed->routing, &way, NULL);
	ck_assert_ptr_nonnull(routing);
	routing_unref(bed->routing);
	fabric_unref(bed->fabric);
	bed->routing = routing;
	bed->fabric = fabric;
	bed->tried++;
}

/* Whether the busiest cable carries over a tenth more than in a full recomputation. */
static bool is_uneven(const struct bed *bed)
{
	struct routing *whole = route_compute(bed->engine, bed->fabric, &bed->input, NULL);
	uint64_t should = routing_peak(whole, 1);

	routing_unref(whole);
	return routing_peak(bed->routing, 1) > should + should / 10;
}

static const char *const nets[] = { "fattree:8", "torus:4x4x4:2" };

/* In a small tree a tenth is less than one LID on a cable. */
START_TEST(test_damage)
{
	uint64_t state = 11;
	uint32_t uneven = 0;
	struct bed bed;

	bed_init(&bed, nets[_i], "minhop");
	for (unsigned int step = 0; step < 120; step++) {
		churn(&bed, &state);
		uneven += is_uneven(&bed);
	}
	ck_assert_uint_gt(bed.tried, 100);
	ck_assert_uint_le(uneven * 20, bed.tried);
	bed_clear(&bed);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_rebalance");
	TCase *tcase = tcase_create("one thing");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, test_even, 0, G_N_ELEMENTS(grids));
	tcase_add_loop_test(tcase, test_damage, 0, G_N_ELEMENTS(nets));
	suite_add_tcase(suite, tcase);
	return suite;
}
