// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which hosts send to which: hosts of one class send only to each other. The load of channels is
 * counted pair by pair.
 */
#include <string.h>

#include "tests/run_suite.h"

#include "osmroute/quality.h"
#include "route/graph/flows.h"
#include "route/graph/graph.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "route/value/lanes.h"
#include "tests/unit/fabric_make.h"

struct classes {
	const struct fabric *fabric;
	uint32_t *of; /* [port] */
	bool *sends;
	struct route_demand demand;
};

/* Host i, by LID, is of class i % n + 1; switches are of class 0, which sends nothing. */
static void classes_init(struct classes *classes, const struct fabric *fabric, uint32_t n)
{
	uint32_t hosts = 0;

	classes->fabric = fabric;
	classes->of = g_new0(uint32_t, fabric->n_ports);
	classes->sends = g_new0(bool, (n + 1) * (n + 1));
	for (uint32_t i = 1; i <= n; i++)
		classes->sends[i * (n + 1) + i] = true;
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);

		if (port != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[port].node))
			classes->of[port] = hosts++ % n + 1;
	}
	classes->demand = (struct route_demand){n + 1, classes->of, classes->sends};
}

static void classes_clear(struct classes *classes)
{
	g_free(classes->of);
	g_free(classes->sends);
}

/* ---- the slow way ---- */

static void add_path(const struct fabric *fabric, const struct routing *routing, uint32_t from,
		     uint16_t lid, uint64_t *load)
{
	uint8_t exit;
	uint32_t sw = fabric_leaf(fabric, from, &exit);

	for (int hops = 0; hops < 64; hops++) {
		uint32_t port =
			fabric_switch_port(fabric, sw, routing_port(routing, sw, lid));
		uint32_t node = fabric->ports[fabric->ports[port].peer].node;

		if (!fabric_is_switch(fabric, node))
			return;
		load[port]++;
		sw = fabric->nodes[node].sw;
	}
	ck_abort_msg("no path to LID %u", lid);
}

/* Flows on the busiest channel, and the number of flows. */
static uint64_t most_load(const struct classes *classes, const struct routing *routing,
			  uint64_t *flows)
{
	const struct fabric *fabric = classes->fabric;
	g_autofree uint64_t *load = g_new0(uint64_t, fabric->n_ports);
	uint64_t most = 0;

	*flows = 0;
	for (uint32_t from = 0; from < fabric->n_ports; from++)
		for (uint32_t to = 0; to < fabric->n_ports; to++) {
			if (from == to || !classes->of[from] ||
			    classes->of[from] != classes->of[to])
				continue;
			add_path(fabric, routing, from, fabric->ports[to].lid, load);
			++*flows;
		}
	for (uint32_t port = 0; port < fabric->n_ports; port++)
		most = MAX(most, load[port]);
	return most;
}

static uint64_t load_of(const struct classes *classes, const char *engine, bool aware)
{
	const struct route_input input = {.threads = 1,
					  .demand = aware ? &classes->demand : NULL};
	const struct quality_effort none = {0};
	struct routing *routing =
		route_compute(route_find(engine), classes->fabric, &input, NULL);
	struct route_verdict verdict;
	struct quality quality;
	uint64_t most, flows;

	ck_assert_ptr_nonnull(routing);
	ck_assert(route_verify_by(classes->fabric, routing, &input, &verdict));
	route_verdict_clear(&verdict);
	most = most_load(classes, routing, &flows);
	quality_measure(classes->fabric, routing, &classes->demand, &none, &quality);
	ck_assert_uint_eq(quality.most_load, most);
	ck_assert_uint_eq(quality.pairs, flows);
	ck_assert_uint_eq(quality.routed, flows);
	if (aware && routing->repair_state) /* by which repairs are judged */
		ck_assert_uint_eq(routing_peak(routing, 1), most);
	routing_unref(routing);
	return most;
}

static const struct {
	const char *spec, *engine;
	uint32_t n_classes;
	bool better;
} trials[] = {
	{"torus:4x4x4:2", "minhop", 4, true}, {"torus:4x4x4:2", "updn", 4, true},
	{"torus:4x4x4:2", "sssp", 4, true},   {"torus:4x4x4:2", "dfsssp", 4, true},
	{"torus:4x4x4:2", "lash", 4, true},   {"torus:4x4x4:2", "nue", 4, false},
	{"dragonfly:4:2:2", "sssp", 4, true}, {"fattree:8", "minhop", 4, false},
	{"fattree:8", "sssp", 2, false},
};

START_TEST(test_less_load)
{
	struct fabric *fabric = make_fabric(trials[_i].spec, 0);
	struct classes classes;
	uint64_t plain, aware;

	classes_init(&classes, fabric, trials[_i].n_classes);
	plain = load_of(&classes, trials[_i].engine, false);
	aware = load_of(&classes, trials[_i].engine, true);
	ck_assert_uint_le(aware, plain);
	if (trials[_i].better)
		ck_assert_uint_lt(aware, plain);
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

/* Scattered paths, which are moved away from cables loaded by these hosts. */
START_TEST(test_rebalanced)
{
	struct fabric *fabric = make_fabric("torus:4x4x4:2", 0);
	struct route_input input = {.threads = 1, .scatter = 7};
	uint64_t most[2], flows;
	struct classes classes;

	classes_init(&classes, fabric, 4);
	for (unsigned int aware = 0; aware < 2; aware++) {
		struct routing *routing;

		input.demand = aware ? &classes.demand : NULL;
		routing = route_compute(route_find("minhop"), fabric, &input, NULL);
		route_rebalance(routing, 1);
		most[aware] = most_load(&classes, routing, &flows);
		routing_unref(routing);
	}
	ck_assert_uint_lt(most[1], most[0]);
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

/*
 * This number of lanes suffices for hosts that talk to each other, but not for all: the engine says
 * so, and the verifier accepts such routes for those hosts and for no others.
 */
static const struct {
	const char *spec, *engine;
	uint32_t n_classes, vls;
	bool refused; /* without demand */
} lanes_trials[] = {
	{"torus:5x5x5:1", "lash", 2, 3, true},
	{"torus:5x5x5:1", "dfsssp", 2, 3, true},
	{"torus:6x6:1", "lash", 5, 2, true},
	{"torus:6x6:1", "nue", 5, 8, false},
	{"torus:6x6:1", "hoplanes", 4, 3, false},
};

/* Pairs that talk, or include the SM, have an SL; returns how many pairs of hosts have none. */
static uint64_t expect_sls(const struct classes *classes, const struct routing *routing)
{
	const struct fabric *fabric = classes->fabric;
	uint64_t without = 0;

	for (uint32_t a = 0; a < fabric->n_ports; a++)
		for (uint32_t b = 0; b < fabric->n_ports; b++) {
			uint8_t sl = 0;

			if (!classes->of[a] || !classes->of[b] ||
			    routing_path_sl(routing, fabric, a, b, false, &sl))
				continue;
			without++;
			ck_assert_uint_ne(classes->of[a], classes->of[b]);
			ck_assert(a != fabric->sm_port && b != fabric->sm_port);
		}
	return without;
}

/* From one host of a class to another one of it. */
static void lose_sl(const struct classes *classes, struct route_lanes *lanes)
{
	const struct fabric *fabric = classes->fabric;
	uint32_t a = fabric->max_lid, b = fabric->max_lid;
	uint8_t exit;

	while (!classes->of[fabric_port_by_lid(fabric, a)])
		a--;
	for (b = a - 1; classes->of[fabric_port_by_lid(fabric, b)] !=
			classes->of[fabric_port_by_lid(fabric, a)];)
		b--;
	a = fabric_leaf(fabric, fabric_port_by_lid(fabric, a), &exit);
	b = fabric_leaf(fabric, fabric_port_by_lid(fabric, b), &exit);
	lanes->sl[(size_t)a * lanes->n_switches + b] = ROUTE_NO_SL;
}

START_TEST(test_fewer_lanes)
{
	struct fabric *fabric = make_fabric(lanes_trials[_i].spec, 0);
	const struct route_engine *engine = route_find(lanes_trials[_i].engine);
	struct route_input input = {.threads = 1, .vls = lanes_trials[_i].vls};
	struct routing *routing;
	struct route_verdict verdict;
	struct classes classes;

	classes_init(&classes, fabric, lanes_trials[_i].n_classes);
	input.nue_max_num_vls = input.vls;
	routing = route_compute(engine, fabric, &input, NULL);
	ck_assert(lanes_trials[_i].refused == !routing);
	routing_unref(routing);
	input.demand = &classes.demand;
	routing = route_compute(engine, fabric, &input, NULL);
	ck_assert_ptr_nonnull(routing);
	ck_assert_uint_gt(expect_sls(&classes, routing), 0);
	ck_assert(route_verify_by(fabric, routing, &input, &verdict) && verdict.acyclic);
	route_verdict_clear(&verdict);
	ck_assert(!route_verify(fabric, routing, &verdict));
	ck_assert(strstr(verdict.witness, "hosts without an SL"));
	route_verdict_clear(&verdict);
	lose_sl(&classes, routing->lanes);
	ck_assert(!route_verify_by(fabric, routing, &input, &verdict));
	route_verdict_clear(&verdict);
	routing_unref(routing);
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

static void expect_free_of_loops(const char *engine, const struct fabric *fabric,
				 const struct route_input *input, uint32_t n_classes)
{
	GError *error = NULL;
	struct routing *routing = route_compute(route_find(engine), fabric, input, &error);
	struct route_verdict verdict;

	ck_assert_msg(routing && !error, "%s, %u classes: %s", engine, n_classes,
		      error ? error->message : "");
	ck_assert(route_verify_by(fabric, routing, input, &verdict) && verdict.acyclic);
	route_verdict_clear(&verdict);
	routing_unref(routing);
}

/* Tables for these classes take more lanes than tables for all; there are enough for the latter. */
START_TEST(test_never_more_lanes)
{
	struct fabric *fabric = make_fabric("torus:5x5x5:1", 0);
	struct route_input input = {.threads = 1, .vls = 4};
	struct classes classes;

	for (uint32_t n = 2; n < 9; n++) {
		classes_init(&classes, fabric, n);
		input.demand = &classes.demand;
		expect_free_of_loops("dfsssp", fabric, &input, n);
		classes_clear(&classes);
	}
	fabric_unref(fabric);
}
END_TEST

/* Each host is alone in its class, and none asks the subnet manager: then no pair has a lane. */
START_TEST(test_nobody_sends)
{
	static const char *const engines[] = {"dfsssp", "lash", "nue", "hoplanes"};
	struct fabric *fabric = make_fabric("torus:3x3:1", 0);
	struct route_input input = {.threads = 1};
	struct classes classes;

	fabric->sm_port = FABRIC_NONE;
	classes_init(&classes, fabric, 9);
	input.demand = &classes.demand;
	expect_free_of_loops(engines[_i], fabric, &input, 9);
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

/* Other classes are a reason to recompute; the same ones are not. */
START_TEST(test_renewed)
{
	struct fabric *fabric = make_fabric("torus:5x5:2", 0);
	struct route_input input = {.threads = 1};
	struct classes classes[2];
	struct routing *old, *same, *other;
	enum route_way way;

	classes_init(&classes[0], fabric, 2);
	classes_init(&classes[1], fabric, 5);
	input.demand = &classes[0].demand;
	old = routing_renew(route_find("lash"), fabric, &input, NULL, &way, NULL);
	same = routing_renew(route_find("lash"), fabric, &input, old, &way, NULL);
	ck_assert(same == old && way == ROUTE_SAME);
	input.demand = &classes[1].demand;
	other = routing_renew(route_find("lash"), fabric, &input, old, &way, NULL);
	ck_assert(way != ROUTE_SAME);
	expect_sls(&classes[1], other);
	routing_unref(old);
	routing_unref(same);
	routing_unref(other);
	classes_clear(&classes[0]);
	classes_clear(&classes[1]);
	fabric_unref(fabric);
}
END_TEST

/* One class that sends to itself is the same as none. */
START_TEST(test_one_class)
{
	struct fabric *fabric = make_fabric("torus:4x4:2", 0);
	struct classes classes;
	static const char *const engines[] = {"minhop", "sssp", "nue"};

	classes_init(&classes, fabric, 1);
	for (unsigned int i = 0; i < G_N_ELEMENTS(engines); i++) {
		const struct route_input with = {.threads = 1, .demand = &classes.demand};
		const struct route_input without = {.threads = 1};
		struct routing *a = route_compute(route_find(engines[i]), fabric, &with, NULL);
		struct routing *b = route_compute(route_find(engines[i]), fabric, &without, NULL);

		for (uint32_t sw = 0; sw < a->n_switches; sw++)
			ck_assert_mem_eq(a->lft[sw], b->lft[sw], a->top + 1);
		routing_unref(a);
		routing_unref(b);
	}
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_demand");
	TCase *tcase = tcase_create("demand");

	tcase_add_loop_test(tcase, test_less_load, 0, G_N_ELEMENTS(trials));
	tcase_add_loop_test(tcase, test_fewer_lanes, 0, G_N_ELEMENTS(lanes_trials));
	tcase_add_test(tcase, test_never_more_lanes);
	tcase_add_test(tcase, test_rebalanced);
	tcase_add_loop_test(tcase, test_nobody_sends, 0, 4);
	tcase_add_test(tcase, test_renewed);
	tcase_add_test(tcase, test_one_class);
	suite_add_tcase(suite, tcase);
	return suite;
}
