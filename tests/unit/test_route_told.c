// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SLs that hosts were told by earlier routings, over changes of SLs and of switches. */
#include <string.h>

#include "tests/run_suite.h"

#include "route/value/lanes.h"
#include "route/value/told.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_churn.h"

#define SWITCHES 9

struct bed {
	struct builder *builder;
	struct churn *churn;
	struct routing *routing; /* the last one */
};

/* Follows the last routing by one in which all pairs have an SL; no_lanes: and none is needed. */
static void follow(struct bed *bed, uint8_t sl, bool no_lanes)
{
	struct fabric *fabric = builder_freeze(bed->builder);
	struct routing *routing = routing_new(fabric, route_find("lash"), 0);
	uint32_t n = fabric->n_switches;

	routing->layered.n_channels = 1;
	for (uint32_t sw = 0; sw < n; sw++)
		routing_put(routing, sw, fabric->max_lid, 0);
	if (!no_lanes) {
		routing->lanes = route_lanes_new(n, 0);
		memset(routing->lanes->sl, sl, (size_t)n * n);
	}
	routing_set_told(routing, bed->routing);
	routing_unref(bed->routing);
	bed->routing = routing;
	fabric_unref(fabric);
}

static void setup(struct bed *bed)
{
	*bed = (struct bed){.builder = make_builder_of("torus:3x3:1")};
	make_lids(bed->builder, 0);
	bed->churn = churn_new(bed->builder);
}

static void teardown(struct bed *bed)
{
	routing_unref(bed->routing);
	churn_free(bed->churn);
	builder_free(bed->builder);
}

/* All pairs of present switches. */
static void expect(const struct bed *bed, uint16_t sls)
{
	const struct routing *routing = bed->routing;

	for (uint32_t a = 0; a < routing->n_switches; a++)
		for (uint32_t b = 0; b < routing->n_switches; b++)
			ck_assert_uint_eq(route_told_sls(routing->told, a, b), a == b ? 0 : sls);
	ck_assert_uint_eq(routing_told_sls(routing), sls);
	ck_assert_uint_eq(routing_count_told(routing),
			  sls ? routing->n_switches * (routing->n_switches - 1) / 2 : 0);
}

START_TEST(test_changes)
{
	struct bed bed;
	uint8_t vl[ROUTE_SLS];

	setup(&bed);
	follow(&bed, 0, true);
	follow(&bed, 0, true);
	ck_assert_ptr_null(bed.routing->told);
	follow(&bed, 0, false);
	ck_assert_ptr_null(bed.routing->told);
	follow(&bed, 3, false);
	expect(&bed, 1 << 0);
	follow(&bed, 3, false);
	expect(&bed, 1 << 0);
	follow(&bed, 5, false);
	expect(&bed, 1 << 0 | 1 << 3);
	ck_assert_uint_eq(routing_sl_to_vl(bed.routing, vl) & 1 << 3, 1 << 3);
	follow(&bed, ROUTE_NO_SL, false);
	expect(&bed, 1 << 0 | 1 << 3 | 1 << 5);
	follow(&bed, 0, true);
	expect(&bed, 1 << 3 | 1 << 5);
	bed.routing->lanes = route_lanes_new(SWITCHES, 0);
	bed.routing->lanes->levels = 8;
	ck_assert_uint_eq(route_told_at_levels(bed.routing->told, 0, 1, 8),
			  1 << 3 | 1 << 5 | 1 << 11 | 1 << 13);
	routing_forget_told(bed.routing);
	follow(&bed, 0, false);
	teardown(&bed);
}
END_TEST

static uint32_t lose(struct bed *bed, uint64_t seed)
{
	uint32_t thing = churn_choose(bed->churn, &seed, CHURN_SWITCH, false);

	churn_toggle(bed->churn, thing);
	return thing;
}

/* Told of pairs with a switch, and of others. */
static void expect_apart(const struct bed *bed, const struct builder_node *node, uint16_t sls,
			 uint16_t others)
{
	const struct routing *routing = bed->routing;
	const struct fabric *fabric = routing->fabric;

	ck_assert_uint_eq(fabric->n_switches, SWITCHES);
	for (uint32_t a = 0; a < SWITCHES; a++)
		for (uint32_t b = 0; b < a; b++) {
			bool is = fabric->nodes[fabric->switches[a].node].guid == node->guid ||
				  fabric->nodes[fabric->switches[b].node].guid == node->guid;

			ck_assert_uint_eq(route_told_sls(routing->told, a, b), is ? sls : others);
		}
}

/* no_lanes: until the switch is back. */
static void run_absent(bool no_lanes)
{
	struct bed bed;
	const struct churn_thing *thing;
	uint32_t first, second;

	setup(&bed);
	follow(&bed, 0, no_lanes);
	first = lose(&bed, 1);
	thing = &g_array_index(bed.churn->things, struct churn_thing, first);
	follow(&bed, 0, no_lanes);
	expect(&bed, 0);
	second = lose(&bed, 2);
	ck_assert_uint_ne(second, FABRIC_NONE);
	follow(&bed, 0, no_lanes);
	expect(&bed, 0);
	ck_assert_uint_eq(bed.routing->told->n, SWITCHES);
	churn_toggle(bed.churn, second);
	follow(&bed, 0, no_lanes);
	expect(&bed, 0);
	churn_toggle(bed.churn, first);
	follow(&bed, 2, false);
	expect_apart(&bed, thing->node, 1 << 0, 1 << 0);
	follow(&bed, 0, false);
	expect_apart(&bed, thing->node, 1 << 2, 1 << 2);
	churn_toggle(bed.churn, first);
	follow(&bed, 4, false);
	expect(&bed, 1 << 0 | 1 << 2);
	churn_toggle(bed.churn, first);
	follow(&bed, 4, false);
	expect_apart(&bed, thing->node, 1 << 0 | 1 << 2, 1 << 0 | 1 << 2);
	follow(&bed, 6, false);
	expect(&bed, 1 << 0 | 1 << 2 | 1 << 4);
	teardown(&bed);
}

START_TEST(test_absent)
{
	run_absent(_i);
}
END_TEST

/* At most as many as there are; the latest are kept. */
START_TEST(test_absent_are_bounded)
{
	struct bed bed;

	setup(&bed);
	follow(&bed, 1, false);
	while (bed.routing->n_switches > 4) { /* others may be cut off with it */
		lose(&bed, bed.routing->n_switches);
		follow(&bed, 1, false);
		ck_assert_uint_eq(bed.routing->told->n, MIN(SWITCHES, 2 * bed.routing->n_switches));
	}
	ck_assert_uint_lt(bed.routing->told->n, SWITCHES);
	teardown(&bed);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_told");
	TCase *tcase = tcase_create("told");

	tcase_add_test(tcase, test_changes);
	tcase_add_loop_test(tcase, test_absent, 0, 2);
	tcase_add_test(tcase, test_absent_are_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
