// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verifier comes to the same verdict in each way: by the order that the engine claims, by one
 * of its own, by a senseless one, or without any; and it is that of the slow checker. On tables of
 * engines, and on these with one entry changed.
 *
 * Each seed is independent: ROUTE_SEEDS=17 runs only that one, ROUTE_SEEDS=1-100000 many.
 */
#include <check.h>
#include <string.h>

#include "route/proof/verify.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 1500

static const char *const engines[] = { "updn", "minhop", "ftree", "dnup", "dor" };

enum way { WAY_CLAIMED, WAY_OWN, WAY_NONSENSE, WAY_WALKED, WAYS };

static const char *const way_names[WAYS] = { "claimed order", "own order", "nonsense order",
					     "walked" };

/* Counts cases, so that the test can tell that it tests something. */
struct tally {
	unsigned int accepted[WAYS]; /* proven by order */
	unsigned int refused[WAYS];
	unsigned int loops; /* credit loops found although there was an order */
};

/* Any numbers, including equal ones and the highest. */
static uint32_t *nonsense(uint32_t n, uint64_t *state)
{
	uint32_t *order = g_new(uint32_t, n + 1);
	uint32_t range = 1 + make_number(state, 2 * n + 1);

	for (uint32_t i = 0; i < n; i++)
		order[i] = make_number(state, 8) ? make_number(state, range) : UINT32_MAX;
	return order;
}

static void compare(const struct checker *checker, const struct route_verdict *fast,
		    const char *way, const char *what)
{
	const struct route_verdict *slow = &checker->verdict;
	bool wrong = !fast->complete || !fast->loop_free || !fast->acyclic;

	ck_assert_msg(fast->complete == slow->complete && fast->loop_free == slow->loop_free &&
			      fast->acyclic == slow->acyclic && fast->cut == slow->cut &&
			      fast->discarded == slow->discarded && fast->paths == slow->paths,
		      "%s, %s: complete %d %d, loop free %d %d, acyclic %d %d, cut %d %d, "
		      "discarded %u %u, paths %u %u: %s",
		      what, way, fast->complete, slow->complete, fast->loop_free, slow->loop_free,
		      fast->acyclic, slow->acyclic, fast->cut, slow->cut,
		      (unsigned int)fast->discarded, (unsigned int)slow->discarded,
		      (unsigned int)fast->paths, (unsigned int)slow->paths,
		      fast->witness ? fast->witness : "no example");
	if (fast->by_order || (fast->complete && !fast->discarded))
		ck_assert_msg(fast->max_hops == slow->max_hops, "%s, %s: %u hops, not %u", what,
			      way, fast->max_hops, slow->max_hops);
	ck_assert_msg(wrong == (fast->witness != NULL), "%s, %s: witness", what, way);
}

static void verify_one_way(const struct checker *checker, struct routing *routing, enum way way,
			   unsigned int threads, struct tally *tally, const char *what)
{
	struct route_verdict verdict;
	const struct route_input input = {.threads = threads};
	bool ok = verify_on_ways(checker->fabric, routing, &input, way != WAY_WALKED, &verdict);

	compare(checker, &verdict, way_names[way], what);
	ck_assert_msg(ok == (verdict.complete && verdict.loop_free &&
			     (verdict.acyclic || !(routing->promises & ROUTE_DEADLOCK_FREE))),
		      "%s, %s: accepted %d", what, way_names[way], ok);
	ck_assert(!verdict.by_order || way != WAY_WALKED);
	ck_assert(!verdict.by_order || (verdict.loop_free && verdict.acyclic));
	tally->accepted[way] += verdict.by_order;
	tally->refused[way] += !ok;
	tally->loops += way == WAY_CLAIMED && routing->order && !verdict.acyclic;
	route_verdict_clear(&verdict);
}

/* Whether all agree on which switches have hosts, even where all LIDs of these went to others. */
static bool hosts_are_known(const struct checker *checker)
{
	struct route_graph *graph = route_graph_new(checker->fabric);
	bool known = true;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		known &= route_has_hosts(graph, sw) == checker->hosts[sw];
	route_graph_free(graph);
	return known;
}

static void verify_all_ways(const struct fabric *fabric, struct routing *routing, uint64_t *state,
			    struct tally *tally, const char *what)
{
	uint32_t *claimed = routing->order;
	struct checker checker;

	checker_run(&checker, fabric, routing);
	for (enum way way = 0; way < WAYS && hosts_are_known(&checker); way++) {
		g_autofree uint32_t *order =
			way == WAY_NONSENSE ? nonsense(fabric->n_switches, state) : NULL;

		routing->order = way == WAY_CLAIMED ? claimed : order;
		verify_one_way(&checker, routing, way, 1 + make_number(state, 3), tally, what);
	}
	routing->order = claimed;
	checker_clear(&checker);
}

/* Mostly to another port; or to any octet. */
static void change_entry(const struct fabric *fabric, struct routing *routing, uint64_t *state)
{
	uint32_t sw = make_number(state, fabric->n_switches);
	uint32_t lid = 1 + make_number(state, fabric->max_lid);
	unsigned int num_ports = fabric->nodes[fabric->switches[sw].node].num_ports;

	routing_put(routing, sw, lid,
		    make_number(state, 4) ? make_number(state, num_ports + 1u)
					  : make_number(state, 256));
}

/* As if ranges of LIDs overlapped: some LIDs belong to another endport than those around them. */
static void give_away_lids(struct fabric *fabric, uint64_t *state)
{
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = make_number(state, fabric->n_ports);

		if (make_number(state, 10) == 0 && fabric_is_endport(fabric, port))
			fabric->lid_port[lid] = port;
	}
}

/* Sends a LID anywhere. */
static void shuffle_column(const struct fabric *fabric, struct routing *routing, uint64_t *state)
{
	uint16_t lid = 1 + make_number(state, fabric->max_lid);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint32_t node = fabric->switches[sw].node;

		routing_put(routing, sw, lid,
			    make_number(state, fabric->nodes[node].num_ports + 1u));
	}
}

/* A LID takes some random steps before it continues as before. */
static void make_detour(const struct fabric *fabric, struct routing *routing, uint64_t *state)
{
	uint32_t sw = make_number(state, fabric->n_switches);
	uint16_t lid = 1 + make_number(state, fabric->max_lid);

	for (unsigned int step = 1 + make_number(state, 4); step--;) {
		unsigned int n = fabric->nodes[fabric->switches[sw].node].num_ports;
		unsigned int num = 1 + make_number(state, n), tries = 4 * n;
		uint32_t to = checker_next_switch(fabric, sw, num);

		for (; to == FABRIC_NONE && tries; tries--) {
			num = 1 + make_number(state, n);
			to = checker_next_switch(fabric, sw, num);
		}
		if (to == FABRIC_NONE)
			return;
		routing_put(routing, sw, lid, num);
		sw = to;
	}
}

/* To a port that is cabled to another one of its switch, if there is one. */
static void use_plug(const struct fabric *fabric, struct routing *routing, uint64_t *state)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		for (unsigned int num = 1; num < 256; num++)
			if (checker_next_switch(fabric, sw, num) == sw &&
			    make_number(state, 2))
				routing_put(routing, sw, 1 + make_number(state, fabric->max_lid),
					    num);
}

static void (*const damages[])(const struct fabric *, struct routing *, uint64_t *) = {
	change_entry, change_entry, make_detour, make_detour, shuffle_column, use_plug,
};

static void try_engine(const struct fabric *fabric, const char *engine, uint64_t *state,
		       struct tally *tally, const char *what)
{
	const struct route_input input = { .threads = 1 };
	struct routing *routing = route_compute(route_find(engine), fabric, &input, NULL);
	g_autofree char *whole = g_strdup_printf("%s, %s", what, engine);

	if (!routing)
		return;
	verify_all_ways(fabric, routing, state, tally, whole);
	for (unsigned int i = 1; fabric->n_switches && fabric->max_lid && i <= 3; i++) {
		g_autofree char *broken = g_strdup_printf("%s, %u changed", whole, i);

		damages[make_number(state, G_N_ELEMENTS(damages))](fabric, routing, state);
		verify_all_ways(fabric, routing, state, tally, broken);
	}
	routing_unref(routing);
}

START_TEST(test_all_ways_lead_to_one_verdict)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	struct tally tally = { { 0 } };

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		struct shape shape;
		struct fabric *fabric;

		shape_random(&shape, seed);
		fabric = builder_freeze(shape.builder);
		if (seed % 8 == 0)
			shape_cut(fabric, &shape.state, 10);
		if (seed % 8 == 1)
			give_away_lids(fabric, &shape.state);
		try_engine(fabric, engines[seed % G_N_ELEMENTS(engines)], &shape.state, &tally,
			   shape.what->str);
		fabric_unref(fabric);
		shape_clear(&shape);
	}
	if (seeds.last - seeds.first + 1 < SEEDS)
		return;
	ck_assert_uint_gt(tally.accepted[WAY_CLAIMED], 400);
	ck_assert_uint_gt(tally.refused[WAY_CLAIMED], 400);
	ck_assert_uint_gt(tally.accepted[WAY_OWN], 400);
	ck_assert_uint_gt(tally.refused[WAY_OWN], 400);
	ck_assert_uint_gt(tally.accepted[WAY_NONSENSE], 0);
	ck_assert_uint_gt(tally.refused[WAY_NONSENSE], 0);
	ck_assert_uint_gt(tally.loops, 20);
}
END_TEST

static struct routing *route(const struct fabric *fabric, const char *engine)
{
	const struct route_input input = { .threads = 1 };
	struct routing *routing = route_compute(route_find(engine), fabric, &input, NULL);

	ck_assert_ptr_nonnull(routing);
	return routing;
}

static void check_quick(const char *spec, const char *engine)
{
	struct fabric *fabric = make_fabric(spec, 0);
	struct routing *routing = route(fabric, engine);
	struct route_verdict verdict;

	ck_assert(route_verify(fabric, routing, &verdict));
	ck_assert_msg(verdict.by_order, "%s of %s takes the long way", engine, spec);
	ck_assert(verdict.acyclic);
	route_verdict_clear(&verdict);
	routing_unref(routing);
	fabric_unref(fabric);
}

/* Tables that the verifier must be quick at. */
START_TEST(test_order_shows_the_usual)
{
	check_quick("fattree:8", "minhop");
	check_quick("fattree:8", "updn");
	check_quick("fattree:8", "ftree");
	check_quick("torus:4x4x4", "updn");
	check_quick("torus:5x5", "dnup");
	check_quick("hypercube:5", "updn");
}
END_TEST

/* The order of updn does not excuse the table of minhop on a ring, nor the reverse. */
START_TEST(test_order_of_another_table)
{
	struct fabric *fabric = make_fabric("torus:5", 0);
	struct routing *updn = route(fabric, "updn"), *minhop = route(fabric, "minhop");
	struct route_verdict verdict;

	ck_assert_ptr_nonnull(updn->order);
	ck_assert_ptr_null(minhop->order);
	minhop->order = g_memdup2(updn->order, fabric->n_switches * sizeof(*updn->order));
	minhop->promises = ROUTE_DEADLOCK_FREE;
	ck_assert(!route_verify(fabric, minhop, &verdict));
	ck_assert(verdict.complete && verdict.loop_free && !verdict.acyclic);
	ck_assert(g_str_has_prefix(verdict.witness, "credit loop: "));
	route_verdict_clear(&verdict);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		updn->order[sw] = fabric->n_switches - updn->order[sw];
	ck_assert(route_verify(fabric, updn, &verdict));
	ck_assert(verdict.acyclic);
	route_verdict_clear(&verdict);
	routing_unref(updn);
	routing_unref(minhop);
	fabric_unref(fabric);
}
END_TEST

static bool has_hosts(const struct fabric *fabric, uint32_t sw)
{
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);

		if (port != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[port].node) &&
		    checker_leaf(fabric, lid) == sw)
			return true;
	}
	return false;
}

/* A switch far from all hosts. */
static uint32_t find_spine(const struct fabric *fabric, unsigned int ports)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		bool near = has_hosts(fabric, sw);

		for (unsigned int num = 1; num <= ports && !near; num++)
			near = has_hosts(fabric, checker_next_switch(fabric, sw, num));
		if (!near)
			return sw;
	}
	ck_abort_msg("no spine");
}

/* A spine that lost a cable reaches the hosts behind it by the top, and the order still decides. */
START_TEST(test_order_of_a_damaged_tree)
{
	struct fabric *fabric = make_fabric("fattree:6", 0);
	uint32_t port = fabric_switch_port(fabric, find_spine(fabric, 6), 1);
	struct routing *routing;
	struct route_verdict verdict;

	fabric->ports[fabric->ports[port].peer].peer = FABRIC_NONE;
	fabric->ports[port].peer = FABRIC_NONE;
	routing = route(fabric, "updn");
	ck_assert(route_verify(fabric, routing, &verdict));
	ck_assert(verdict.by_order && verdict.acyclic);
	ck_assert_uint_gt(verdict.max_hops, 4);
	route_verdict_clear(&verdict);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/* The port that leads from one switch to another; 0 if none does. */
static unsigned int port_to(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	unsigned int n = fabric->nodes[fabric->switches[from].node].num_ports;

	for (unsigned int num = 1; num <= n; num++)
		if (checker_next_switch(fabric, from, num) == to)
			return num;
	return 0;
}

static uint32_t find_neighbour(const struct fabric *fabric, uint32_t sw, bool leaf, uint32_t not)
{
	for (uint32_t to = 0; to < fabric->n_switches; to++)
		if (to != not && has_hosts(fabric, to) == leaf && port_to(fabric, sw, to))
			return to;
	ck_abort_msg("no such neighbour");
}

/* Up, down to the next leaf, up and down again, and so on for ever. */
START_TEST(test_loop_over_two_leaves)
{
	struct fabric *fabric = make_fabric("fattree:6", 0);
	struct routing *routing = route(fabric, "updn");
	uint32_t leaf = checker_leaf(fabric, fabric->max_lid), loop[5];
	struct route_verdict verdict;
	uint16_t lid = 1;

	loop[0] = loop[4] = leaf;
	loop[1] = find_neighbour(fabric, loop[0], false, FABRIC_NONE);
	loop[2] = find_neighbour(fabric, loop[1], true, loop[0]);
	loop[3] = find_neighbour(fabric, loop[2], false, loop[1]);
	ck_assert_uint_gt(port_to(fabric, loop[3], loop[0]), 0);
	while (checker_leaf(fabric, lid) == loop[0] || checker_leaf(fabric, lid) == loop[2] ||
	       fabric_is_switch(fabric, fabric->ports[fabric_port_by_lid(fabric, lid)].node))
		lid++;
	for (unsigned int i = 0; i < 4; i++)
		routing_put(routing, loop[i], lid, port_to(fabric, loop[i], loop[i + 1]));
	ck_assert(!route_verify(fabric, routing, &verdict));
	ck_assert(!verdict.loop_free && !verdict.complete && !verdict.acyclic);
	ck_assert_ptr_nonnull(strstr(verdict.witness, "loop"));
	route_verdict_clear(&verdict);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/*
 * On a ring of five, paths of two hops go round it both ways. Packets continue on VL 1; those that
 * enter at the last host of a switch begin on this VL, all others on VL 0.
 */
static struct routing *route_ring(const struct fabric *fabric, uint8_t last_vl)
{
	struct routing *routing = route(fabric, "minhop");
	uint32_t n = fabric->n_switches;
	struct route_lanes *lanes = routing->lanes = route_lanes_new(n, 0);

	memset(lanes->sl, 0, (size_t)n * n);
	lanes->n = 2;
	lanes->sls = 1;
	lanes->turns = route_turns_new(fabric);
	for (uint32_t sw = 0; sw < n; sw++) {
		unsigned int n_ports = fabric->nodes[fabric->switches[sw].node].num_ports;

		for (unsigned int in = 0, hosts = 0; in <= n_ports; in++) {
			uint32_t port = fabric_switch_port(fabric, sw, in);
			bool inner = in && route_switch_across(fabric, port) != FABRIC_NONE;
			bool host = in && !inner && fabric->ports[port].peer != FABRIC_NONE;

			hosts += host;
			for (unsigned int out = 1; out <= n_ports; out++)
				route_turns_put(lanes->turns, sw, in, out, 0,
						inner		     ? 1
						: host && hosts == 2 ? last_vl
								     : 0);
		}
	}
	return routing;
}

/* What begins on the lane of what continues closes a credit loop, at whatever port it enters. */
START_TEST(test_lanes_of_entries)
{
	struct fabric *fabric = make_fabric("torus:5:2", 0);

	for (unsigned int vl = 0; vl < 2; vl++)
		for (unsigned int threads = 1; threads <= 3; threads++) {
			const struct route_input input = {.threads = threads};
			struct routing *routing = route_ring(fabric, vl);
			struct route_verdict verdict;

			route_verify_by(fabric, routing, &input, &verdict);
			ck_assert_uint_eq(verdict.acyclic, !vl);
			route_verdict_clear(&verdict);
			routing_unref(routing);
		}
	fabric_unref(fabric);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_verify");
	TCase *tcase = tcase_create("route_verify");

	tcase_set_timeout(tcase, 600);
	tcase_add_test(tcase, test_order_shows_the_usual);
	tcase_add_test(tcase, test_order_of_another_table);
	tcase_add_test(tcase, test_order_of_a_damaged_tree);
	tcase_add_test(tcase, test_loop_over_two_leaves);
	tcase_add_test(tcase, test_lanes_of_entries);
	tcase_add_test(tcase, test_all_ways_lead_to_one_verdict);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
