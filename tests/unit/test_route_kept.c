// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A lost cable leaves the tables and SLs of a layered engine as they are, except for routes over
 * it: hosts keep the SL that they asked for once. When it is back everything is as it was. A daemon
 * that is started then, and has nothing to keep, also has enough lanes.
 */
#include <string.h>

#include "tests/run_suite.h"

#include "route/renew/renew.h"
#include "route/value/lanes.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_churn.h"
#include "tests/unit/route_shapes.h"

#define CABLES 5
#define CHANGES 6
#define FEW_STEPS 120
#define FEW_OUT 70

struct bed {
	const struct route_engine *engine;
	struct route_input input;
	struct builder *builder;
	struct churn *churn;
	uint64_t state;
};

/* A routing with its fabric. */
struct made {
	struct fabric *fabric;
	struct routing *routing;
	enum route_way way;
};

static struct made make(const struct bed *bed, const struct made *before)
{
	struct made made = {.fabric = builder_freeze(bed->builder)};

	made.routing = routing_renew(bed->engine, made.fabric, &bed->input,
				     before ? before->routing : NULL, &made.way, NULL);
	return made;
}

static void made_clear(struct made *made)
{
	routing_unref(made->routing);
	fabric_unref(made->fabric);
}

static void expect_right(const struct bed *bed, const struct made *made, const char *what)
{
	struct route_verdict verdict;

	ck_assert_msg(made->routing != NULL, "%s: refused", what);
	ck_assert_msg(route_verify_by(made->fabric, made->routing, &bed->input, &verdict),
		      "%s: %s", what, verdict.witness);
	route_verdict_clear(&verdict);
}

/* ---- what may differ ---- */

/* Whether an entry begins a shortest path. */
static bool leads_nearer(const struct checker *checker, uint32_t sw, uint16_t lid, uint8_t port)
{
	uint32_t leaf = checker_leaf(checker->fabric, lid);
	uint32_t next = checker_next_switch(checker->fabric, sw, port);

	return next != FABRIC_NONE && checker_distance(checker, next, leaf) + 1 ==
					      checker_distance(checker, sw, leaf);
}

/*
 * Entries that cannot stay differ, and some for the sake of balance, or as packets on their lane
 * must go another way; returns their number.
 */
static uint32_t expect_kept(const struct made *old, const struct made *now, bool shortest)
{
	struct checker checker;
	uint32_t moved = 0, forced = 0;

	checker_run(&checker, now->fabric, now->routing);
	for (uint32_t sw = 0; sw < now->fabric->n_switches; sw++)
		for (uint32_t lid = 1; lid <= now->fabric->max_lid; lid++) {
			uint8_t was = routing_port(old->routing, sw, lid);

			if (was == routing_port(now->routing, sw, lid))
				continue;
			moved++;
			forced += !leads_nearer(&checker, sw, lid, was);
		}
	checker_clear(&checker);
	ck_assert_msg(!shortest || moved <= 3 * forced, "%u moved, %u had to", moved, forced);
	return moved;
}

static bool same_path(const struct made *old, const struct made *now, uint32_t sw, uint16_t lid)
{
	uint32_t leaf = checker_leaf(now->fabric, lid);

	while (sw != leaf && sw != FABRIC_NONE) {
		uint8_t port = routing_port(now->routing, sw, lid);

		if (port != routing_port(old->routing, sw, lid))
			return false;
		sw = checker_next_switch(now->fabric, sw, port);
	}
	return true;
}

/* From each switch to each LID: whether the whole path is as before. */
static bool *find_same(const struct made *old, const struct made *now)
{
	uint32_t n = now->fabric->n_switches;
	bool *same = g_new(bool, n * n);

	memset(same, true, n * n);
	for (uint32_t lid = 1; lid <= now->fabric->max_lid; lid++)
		for (uint32_t sw = 0; sw < n; sw++)
			same[sw * n + checker_leaf(now->fabric, lid)] &=
				same_path(old, now, sw, lid);
	return same;
}

static uint8_t sl_of(const struct made *made, uint32_t a, uint32_t b)
{
	const struct route_lanes *lanes = made->routing->lanes;

	return lanes ? route_lanes_sl(lanes, a, b) : 0;
}

/* Whether multicast keeps the previous tree, which pairs give way to. */
static bool same_trunk(const struct made *old, const struct made *now)
{
	return old->routing->trunk && now->routing->trunk &&
	       !memcmp(old->routing->trunk, now->routing->trunk, now->fabric->n_switches);
}

static uint32_t expect_sls(const struct made *old, const struct made *now)
{
	g_autofree bool *same = find_same(old, now);
	uint32_t n = now->fabric->n_switches, kept = 0;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			if (a == b || !same[a * n + b] || !same[b * n + a])
				continue;
			ck_assert_uint_eq(sl_of(now, a, b), sl_of(old, a, b));
			kept++;
		}
	return kept;
}

static void expect_same(const struct made *a, const struct made *b)
{
	const struct route_lanes *x = a->routing->lanes, *y = b->routing->lanes;
	uint32_t n = a->fabric->n_switches;

	checker_same_tables(a->routing, b->routing, "the cable is back");
	ck_assert(!x == !y);
	if (x && x->sl)
		ck_assert(!memcmp(x->sl, y->sl, (size_t)n * n));
	if (x)
		ck_assert(!memcmp(x->vl, y->vl, sizeof(x->vl)));
}

/* ---- one cable ---- */

static const struct {
	const char *spec, *engine;
	uint8_t vls; /* nue_max_num_vls; on few lanes its paths are not the shortest */
} nets[] = {
	{"torus:6x6x6:2", "dfsssp", 0},	     {"torus:6x6x6:2", "lash", 0},
	{"torus:6x6:1", "dfsssp", 0},	     {"torus:5x4x4:1", "lash", 0},
	{"dragonfly:4:2:2", "dfsssp", 0},    {"dragonfly:4:2:2", "lash", 0},
	{"dragonfly:4:2:2", "nue", 0},	     {"random:40:6:3:2", "dfsssp", 0},
	{"torus:6x6x6:2", "nue", 1},	     {"dragonfly:4:2:2", "nue", 1},
	{"slimfly:5:2", "nue", 1},	     {"torus:4x4x4:2", "sssp", 0},
	{"torus:6x6x6:2", "nue", 2},	     {"random:40:6:3:2", "nue", 2},
	{"random:40:6:3:2", "nue", 3},	     {"fattree:8", "nue", 1},
	{"fattree:8", "nue", 4},	     {"dragonfly:4:2:2", "nue", 2},
	{"dragonfly:4:2:2", "hoplanes", 0},  {"hyperx:4x4:2", "hoplanes", 0},
	{"fattree:8", "dfsssp", 0},	     {"hypercube:5:2", "lash", 0},
};

static bool is_grown(int i)
{
	return nets[i].vls != 0;
}

static void bed_init(struct bed *bed, const char *engine, struct builder *builder)
{
	*bed = (struct bed){
		.engine = route_find(engine),
		.input.threads = 1,
		.builder = builder,
		.churn = churn_new(builder),
		.state = 1,
	};
}

static void lose_and_return(struct bed *bed, const struct made *whole, int i)
{
	uint32_t cable = churn_choose(bed->churn, &bed->state, CHURN_CABLE, false), moved;
	size_t entries = (size_t)whole->fabric->n_switches * whole->fabric->max_lid;
	struct made lost, back;

	churn_toggle(bed->churn, cable);
	lost = make(bed, whole);
	expect_right(bed, &lost, nets[i].engine);
	ck_assert(lost.way == ROUTE_STICKY ||
		  (lost.way == ROUTE_REPAIRED && lost.routing->order));
	moved = expect_kept(whole, &lost, !is_grown(i));
	ck_assert_uint_gt(moved, 0);
	ck_assert_uint_lt(moved, entries / 5);
	if (same_trunk(whole, &lost) && !routing_has_turns(lost.routing))
		ck_assert_uint_gt(expect_sls(whole, &lost), whole->fabric->n_switches);
	churn_toggle(bed->churn, cable);
	back = make(bed, &lost);
	expect_right(bed, &back, nets[i].engine);
	expect_same(whole, &back);
	made_clear(&lost);
	made_clear(&back);
}

START_TEST(test_one_cable)
{
	struct builder *builder = make_builder_of(nets[_i].spec);
	struct made whole;
	struct bed bed;

	make_lids(builder, 0);
	bed_init(&bed, nets[_i].engine, builder);
	bed.input.nue_max_num_vls = nets[_i].vls;
	whole = make(&bed, NULL);
	expect_right(&bed, &whole, nets[_i].spec);
	for (unsigned int i = 0; i < CABLES; i++)
		lose_and_return(&bed, &whole, _i);
	made_clear(&whole);
	churn_free(bed.churn);
	builder_free(builder);
}
END_TEST

static const struct {
	const char *spec, *engine;
	unsigned int lost;
} damaged[] = {
	{"torus:6x6x6:2", "dfsssp", 1},	 {"torus:6x6x6:2", "lash", 1},
	{"torus:6x6x6:2", "dfsssp", 20}, {"torus:6x6x6:2", "lash", 20},
	{"torus:8x8x8:1", "dfsssp", 0},	 {"torus:8x8x8:1", "lash", 5},
	{"torus:6x6x6:2", "nue", 1},
};

START_TEST(test_damaged_anew)
{
	struct builder *builder = make_builder_of(damaged[_i].spec);
	struct made made;
	struct bed bed;

	make_lids(builder, 0);
	bed_init(&bed, damaged[_i].engine, builder);
	for (unsigned int i = 0; i < damaged[_i].lost; i++)
		churn_toggle(bed.churn, churn_choose(bed.churn, &bed.state, CHURN_CABLE, false));
	made = make(&bed, NULL);
	expect_right(&bed, &made, damaged[_i].spec);
	ck_assert(made.routing->promises & ROUTE_DEADLOCK_FREE);
	ck_assert(made.routing->promises & ROUTE_SHORTEST || bed.engine == route_find("nue"));
	ck_assert_uint_gt(made.routing->lanes->n, 1);
	ck_assert_uint_le(made.routing->lanes->n, 8);
	made_clear(&made);
	churn_free(bed.churn);
	builder_free(builder);
}
END_TEST

/* ---- SLs that hosts use ---- */

static const struct {
	const char *spec, *engine;
	unsigned int most; /* of ten cables: those whose loss may change an SL */
} stays[] = {
	{"torus:5x4:1", "dfsssp", 1},	    {"torus:5x4:1", "lash", 1},
	{"torus:5x4:1", "nue", 1},	    {"dragonfly:4:2:1", "dfsssp", 1},
	{"dragonfly:4:2:1", "lash", 1},	    {"slimfly:5:1", "dfsssp", 1},
	{"slimfly:5:1", "nue", 1},	    {"random:30:5:1:3", "lash", 0},
	{"random:30:5:1:3", "dfsssp", 0},
};

/* How many pairs of switches have another SL. */
static unsigned int count_sls(const struct made *old, const struct made *now)
{
	unsigned int n = 0;

	for (uint32_t a = 0; a < now->fabric->n_switches; a++)
		for (uint32_t b = 0; b < a; b++)
			n += sl_of(now, a, b) != sl_of(old, a, b);
	return n;
}

/* One cable after the other is lost and returns: pairs keep the SL that their hosts use. */
START_TEST(test_sls_stay)
{
	struct builder *builder = make_builder_of(stays[_i].spec);
	unsigned int changes = 0;
	struct made whole;
	struct bed bed;

	make_lids(builder, 0);
	bed_init(&bed, stays[_i].engine, builder);
	whole = make(&bed, NULL);
	for (unsigned int i = 0; i < 10; i++) {
		uint32_t cable = churn_choose(bed.churn, &bed.state, CHURN_CABLE, false);
		struct made lost;

		churn_toggle(bed.churn, cable);
		lost = make(&bed, &whole);
		expect_right(&bed, &lost, stays[_i].spec);
		changes += count_sls(&whole, &lost) != 0;
		churn_toggle(bed.churn, cable);
		made_clear(&lost);
	}
	ck_assert_msg(changes <= stays[_i].most, "%s, %s: %u of 10 losses change SLs",
		      stays[_i].spec, stays[_i].engine, changes);
	made_clear(&whole);
	churn_free(bed.churn);
	builder_free(builder);
}
END_TEST

/* ---- trees where a few pairs get no legal path, and have one again ---- */

/* One cable is lost or comes back: the more are out, the more likely one comes back. */
static void lose_or_return(struct bed *bed, unsigned int most)
{
	bool back = make_number(&bed->state, most) < bed->churn->n_out;

	churn_toggle(bed->churn, churn_choose(bed->churn, &bed->state, CHURN_CABLE, back));
}

/* Most pairs keep their legal paths, and so their SLs; about the same ones turn each time. */
START_TEST(test_few_turn)
{
	static const char *const engines[] = {"dfsssp", "lash", "hoplanes"};
	struct builder *builder = make_builder_of("xgft:4,3,4,3:1,3,3,2");
	unsigned int changes = 0, n_lanes = 0;
	struct made made;
	struct bed bed;

	make_lids(builder, 0);
	bed_init(&bed, engines[_i], builder);
	made = make(&bed, NULL);
	for (unsigned int i = 0; i < FEW_STEPS; i++) {
		struct made old = made;

		lose_or_return(&bed, FEW_OUT);
		made = make(&bed, &old);
		expect_right(&bed, &made, engines[_i]);
		changes += count_sls(&old, &made);
		n_lanes += made.routing->lanes != NULL;
		made_clear(&old);
	}
	ck_assert_uint_gt(n_lanes, FEW_STEPS / 8);
	ck_assert_uint_le(changes, 15 * FEW_STEPS);
	made_clear(&made);
	churn_free(bed.churn);
	builder_free(builder);
}
END_TEST

/* ---- anything ---- */

static void change(struct bed *bed)
{
	enum churn_kind kind = make_number(&bed->state, 4)   ? CHURN_CABLE
			       : make_number(&bed->state, 2) ? CHURN_SWITCH
							     : CHURN_HOST;
	uint32_t thing =
		churn_choose(bed->churn, &bed->state, kind, !make_number(&bed->state, 3));

	if (thing != FABRIC_NONE)
		churn_toggle(bed->churn, thing);
}

static void try_seed(uint64_t seed)
{
	static const char *const engines[] = {"sssp", "dfsssp", "lash", "nue", "hoplanes"};
	struct shape shape;
	struct made made;
	struct bed bed;

	shape_random(&shape, seed);
	bed_init(&bed, engines[seed % G_N_ELEMENTS(engines)], shape.builder);
	bed.state = seed;
	bed.input.nue_max_num_vls = make_number(&bed.state, 5);
	made = make(&bed, NULL);
	for (unsigned int i = 0; made.routing && i < CHANGES; i++) {
		struct made old = made;

		change(&bed);
		made = make(&bed, &old);
		if (made.routing)
			expect_right(&bed, &made, shape.what->str);
		made_clear(&old);
	}
	made_clear(&made);
	churn_free(bed.churn);
	shape_clear(&shape);
}

START_TEST(test_random)
{
	struct shape_seeds seeds = shape_seeds(400);

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
		try_seed(seed);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_kept");
	TCase *tcase = tcase_create("kept");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_one_cable, 0, G_N_ELEMENTS(nets));
	tcase_add_loop_test(tcase, test_damaged_anew, 0, G_N_ELEMENTS(damaged));
	tcase_add_loop_test(tcase, test_sls_stay, 0, G_N_ELEMENTS(stays));
	tcase_add_loop_test(tcase, test_few_turn, 0, 3);
	tcase_add_test(tcase, test_random);
	suite_add_tcase(suite, tcase);
	return suite;
}
