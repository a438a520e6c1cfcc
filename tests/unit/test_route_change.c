// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables come and go one after the other, and LIDs change their owners: the distances that change.c
 * carries over from step to step are compared with those of a new search, and the tables repaired
 * with them are verified.
 */
#include <check.h>

#include "complib/random.h"
#include "fabric_make.h"
#include "route/order/orient.h"
#include "route/renew/change.h"
#include "route/renew/renew.h"
#include "tests/run_suite.h"

#define CABLES_MAX 512

struct cable {
	struct builder_port *a, *b;
	bool out;
};

struct bed {
	struct builder *builder;
	const struct route_engine *engine;
	struct route_input input;
	struct cable cables[CABLES_MAX];
	uint32_t n_cables;
	struct fabric *fabric;
	struct routing *routing;
	uint64_t state;
	uint32_t repaired, computed, swapped;
};

/* Whether the cable was found from its other end. */
static bool is_met(const struct builder_port *a, const struct builder_port *b)
{
	if (a->node == b->node)
		return b->num < a->num;
	return builder_is_switch(b->node) && b->node->index < a->node->index;
}

/* All cables except that of the SM's port, which the rest is seen from. */
static void list_cables(struct bed *bed)
{
	GPtrArray *order = builder_walk(bed->builder);

	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; builder_is_switch(node) && num <= node->info.num_ports;
		     num++) {
			struct builder_port *a = &node->ports[num], *b = a->peer;

			if (!b || b->node->hops == 0 || node->hops == 0 || is_met(a, b) ||
			    bed->n_cables == CABLES_MAX)
				continue;
			bed->cables[bed->n_cables++] = (struct cable){ a, b, false };
		}
	}
	g_ptr_array_unref(order);
}

static void toggle(struct bed *bed)
{
	struct cable *cable = &bed->cables[random_below(&bed->state, bed->n_cables)];

	if (cable->out)
		builder_link(cable->a, cable->b);
	else
		builder_unlink(cable->a);
	cable->out = !cable->out;
}

/* Several go out all at once, or all that are out come back. */
static void toggle_many(struct bed *bed, bool out)
{
	for (uint32_t i = 0; i < bed->n_cables; i++) {
		struct cable *cable = &bed->cables[i];

		if (out && !cable->out && random_below(&bed->state, 2))
			builder_unlink(cable->a);
		else if (!out && cable->out)
			builder_link(cable->a, cable->b);
		else
			continue;
		cable->out = out;
	}
}

/* Swaps the LIDs of two end ports, or switches, that have equal numbers of LIDs. */
static void swap_lids(struct bed *bed)
{
	GPtrArray *order = builder_walk(bed->builder);
	struct builder_port *ports[2];
	uint16_t lid;

	for (int i = 0; i < 2; i++) {
		struct builder_node *node = order->pdata[random_below(&bed->state, order->len)];

		ports[i] = builder_is_switch(node) ? &node->ports[0] : node->entry;
	}
	g_ptr_array_unref(order);
	if (!ports[0] || !ports[1] || ports[0]->lmc != ports[1]->lmc)
		return;
	lid = ports[0]->lid;
	ports[0]->lid = ports[1]->lid;
	ports[1]->lid = lid;
	bed->swapped++;
}

static void take(struct bed *bed, struct fabric *fabric, struct routing *routing)
{
	fabric_unref(bed->fabric);
	routing_unref(bed->routing);
	bed->fabric = fabric;
	bed->routing = routing;
}

static void check_hops(const struct bed *bed, const struct fabric *fabric)
{
	struct route_change *change = route_change_new(fabric, &bed->input, bed->routing);
	g_autofree uint8_t *hops = NULL;
	size_t size;

	if (!change)
		return;
	size = (size_t)change->n * change->n;
	hops = route_hops_all(&change->plan.order, NULL);
	for (size_t i = 0; i < size; i++)
		if (change->hops[i] != hops[i])
			ck_abort_msg("%s: %zu to %zu: %02x, not %02x", bed->engine->name,
				     i / change->n, i % change->n, change->hops[i], hops[i]);
	route_change_free(change);
}

/* The switch to which another one sends a LID; FABRIC_NONE: none. */
static uint32_t next_switch(const struct fabric *fabric, const struct routing *routing,
			    uint32_t sw, uint16_t lid)
{
	uint8_t port = routing_port(routing, sw, lid);
	uint32_t peer;

	if (!port || port > fabric->nodes[fabric->switches[sw].node].num_ports)
		return FABRIC_NONE;
	peer = fabric->ports[fabric_switch_port(fabric, sw, port)].peer;
	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

/* The verifier skips unassigned LIDs, and those whose owner has no cable: none may loop. */
static void check_loops(const struct bed *bed, const struct fabric *fabric,
			const struct routing *routing)
{
	for (uint32_t lid = 1; lid <= routing->top; lid++) {
		for (uint32_t from = 0; from < fabric->n_switches; from++) {
			uint32_t sw = from;

			for (uint32_t i = 0; sw != FABRIC_NONE && i < fabric->n_switches; i++)
				sw = next_switch(fabric, routing, sw, lid);
			if (sw != FABRIC_NONE)
				ck_abort_msg("%s: LID %u loops from %u", bed->engine->name, lid,
					     from);
		}
	}
}

static void step(struct bed *bed)
{
	struct fabric *fabric = builder_freeze(bed->builder);
	struct routing *routing;
	struct route_verdict verdict;
	GError *error = NULL;

	if (bed->routing)
		check_hops(bed, fabric);
	routing = bed->routing ? routing_repair(fabric, &bed->input, bed->routing, NULL) : NULL;
	if (routing) {
		bed->repaired++;
	} else {
		bed->computed++;
		routing = route_compute(bed->engine, fabric, &bed->input, &error);
	}
	if (!routing) {
		g_clear_error(&error);
		fabric_unref(fabric);
		take(bed, NULL, NULL);
		return;
	}
	ck_assert_msg(route_verify(fabric, routing, &verdict), "%s: %s", bed->engine->name,
		      verdict.witness);
	route_verdict_clear(&verdict);
	check_loops(bed, fabric, routing);
	take(bed, fabric, routing);
}

static void bed_run(struct bed *bed, const char *engine, uint64_t seed, unsigned int steps)
{
	bed->engine = route_find(engine);
	bed->state = seed;
	bed->input = (struct route_input){ .threads = 1 + seed % 3 };
	list_cables(bed);
	for (unsigned int i = 0; i < steps && bed->n_cables; i++) {
		step(bed);
		for (uint32_t n = 1 + random_below(&bed->state, 3); n; n--)
			toggle(bed);
		if (i % 5 > 2)
			toggle_many(bed, i % 5 == 3);
		if (i % 4 == 3)
			swap_lids(bed);
	}
	take(bed, NULL, NULL);
	builder_free(bed->builder);
}

static const char *const engines[] = { "minhop", "updn", "dnup", "ftree" };

START_TEST(test_random_fabrics)
{
	uint32_t repaired = 0, computed = 0;

	for (uint64_t seed = 1; seed <= 90; seed++) {
		struct bed bed = { .builder = make_random(seed, 16) };

		make_lids(bed.builder, seed % 3);
		bed_run(&bed, engines[seed % 3], seed, 20);
		repaired += bed.repaired;
		computed += bed.computed;
	}
	ck_assert_uint_gt(repaired, 1000);
	ck_assert_uint_gt(computed, 200);
}
END_TEST

static const char *const nets[] = { "fattree:4", "fattree:8", "torus:4x4:2", "mesh:3x4:1" };

START_TEST(test_nets)
{
	uint32_t repaired = 0, swapped = 0;

	for (size_t engine = 0; engine < G_N_ELEMENTS(engines); engine++) {
		bool tree = !strcmp(engines[engine], "ftree");
		struct bed bed = { .builder = make_builder_of(nets[_i]) };

		if (tree && _i > 1) {
			builder_free(bed.builder);
			continue;
		}
		make_lids(bed.builder, engine % 2);
		bed_run(&bed, engines[engine], 7 + engine, 40);
		repaired += bed.repaired;
		swapped += bed.swapped;
	}
	ck_assert_uint_gt(repaired, 25);
	ck_assert_uint_gt(swapped, 10);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_change");
	TCase *tcase = tcase_create("sequences");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_random_fabrics);
	tcase_add_loop_test(tcase, test_nets, 0, G_N_ELEMENTS(nets));
	suite_add_tcase(suite, tcase);
	return suite;
}
