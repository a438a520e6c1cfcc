// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A sweep that finds no change gets the existing routing, whatever engine and files made it; and
 * any difference that routing could see gives another routing.
 */
#include <check.h>
#include <string.h>

#include "route/renew/renew.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"

struct bed {
	struct builder *builder;
	struct fabric *fabric;
	struct route_input input;
	struct routing *tables; /* of minhop, in the form of a file */
	struct route_lft *lfts;
	struct route_lft_entry *entries;
};

/* Tables in the form of a file. */
static void make_lfts(struct bed *bed)
{
	uint32_t n = bed->fabric->n_switches, top = bed->fabric->max_lid, i = 0;

	bed->tables = route_compute(route_find("minhop"), bed->fabric, &bed->input, NULL);
	bed->lfts = g_new0(struct route_lft, n);
	bed->entries = g_new0(struct route_lft_entry, (size_t)n * top);
	for (uint32_t sw = 0; sw < n; sw++) {
		bed->lfts[sw].guid = bed->fabric->nodes[bed->fabric->switches[sw].node].guid;
		bed->lfts[sw].first = i;
		for (uint32_t lid = 1; lid <= top; lid++)
			if (routing_port(bed->tables, sw, lid) != ROUTE_NO_PORT)
				bed->entries[i++] = (struct route_lft_entry){
					.lid = lid,
					.port = routing_port(bed->tables, sw, lid),
				};
		bed->lfts[sw].n = i - bed->lfts[sw].first;
	}
	bed->input.lfts = (struct route_lfts){ "tables", bed->lfts, n, bed->entries };
}

static void bed_init(struct bed *bed, const char *spec)
{
	*bed = (struct bed){ .builder = make_builder_of(spec), .input.threads = 1 };
	make_lids(bed->builder, 0);
	bed->fabric = builder_freeze(bed->builder);
}

static void bed_clear(struct bed *bed)
{
	routing_unref(bed->tables);
	g_free(bed->lfts);
	g_free(bed->entries);
	fabric_unref(bed->fabric);
	builder_free(bed->builder);
}

static struct routing *renew(const struct bed *bed, const struct route_engine *engine,
			     const struct route_input *input, const struct routing *old,
			     enum route_way *way)
{
	struct fabric *fabric = builder_freeze(bed->builder);
	GError *error = NULL;
	struct routing *routing = routing_renew(engine, fabric, input, old, way, &error);

	ck_assert_msg(routing != NULL, "%s: %s", engine->name, error ? error->message : "");
	fabric_unref(fabric);
	return routing;
}

/* Equal input, with any number of threads, gives the identical routing. */
static void expect_same(const struct bed *bed, const struct route_engine *engine,
			const struct route_input *input, const struct routing *routing)
{
	struct route_input other = *input;
	enum route_way way;

	for (other.threads = 1; other.threads <= 3; other.threads++) {
		struct routing *again = renew(bed, engine, &other, routing, &way);

		ck_assert_int_eq(way, ROUTE_SAME);
		ck_assert_ptr_eq(again, routing);
		routing_unref(again);
	}
}

static void expect_other(const struct bed *bed, const struct route_engine *engine,
			 const struct route_input *input, const struct routing *routing,
			 const char *what)
{
	enum route_way way;
	struct routing *other = renew(bed, engine, input, routing, &way);

	ck_assert_msg(way != ROUTE_SAME && other != routing, "%s: %s is not noticed",
		      engine->name, what);
	expect_same(bed, engine, input, other);
	routing_unref(other);
}

static struct builder_port *some_cable(const struct bed *bed, bool of_host)
{
	GPtrArray *order = builder_walk(bed->builder);
	struct builder_port *found = NULL;

	for (uint32_t i = order->len; i-- && !found;) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports && !found; num++)
			if (node->ports[num].peer && builder_is_switch(node) &&
			    builder_is_switch(node->ports[num].peer->node) != of_host)
				found = &node->ports[num];
	}
	g_ptr_array_unref(order);
	ck_assert_ptr_nonnull(found);
	return found;
}

static void lose_cable(const struct bed *bed, const struct route_engine *engine,
		       const struct routing *routing, bool of_host)
{
	struct builder_port *port = some_cable(bed, of_host), *peer = port->peer;

	builder_unlink(port);
	expect_other(bed, engine, &bed->input, routing, "a cable that is gone");
	builder_link(port, peer);
	expect_same(bed, engine, &bed->input, routing);
}

START_TEST(test_engines)
{
	const struct route_engine *engine = route_engines()[_i];
	bool is_file = !strcmp(engine->name, "file");
	struct routing *routing;
	enum route_way way;
	struct bed bed;

	if (!strcmp(engine->name, "torus-2QoS"))
		return; /* it needs a torus, and a file that describes it: test_route_torus.c */
	bed_init(&bed, strcmp(engine->name, "dor") != 0 ? "fattree:4" : "mesh:3x3:2");
	if (is_file)
		make_lfts(&bed);
	routing = renew(&bed, engine, &bed.input, NULL, &way);
	ck_assert_int_eq(way, ROUTE_ANEW);
	expect_same(&bed, engine, &bed.input, routing);
	if (is_file) {
		bed.entries[0].line++;
		expect_other(&bed, engine, &bed.input, routing, "another entry");
	} else {
		lose_cable(&bed, engine, routing, false);
		lose_cable(&bed, engine, routing, true);
	}
	routing_unref(routing);
	bed_clear(&bed);
}
END_TEST

/* Each input of the operator, one after the other. */
START_TEST(test_inputs)
{
	static const char *const engines[] = { "minhop", "updn", "ftree" };
	const struct route_engine *engine = route_find(engines[_i]);
	struct bed bed;
	struct routing *routing;
	enum route_way way;

	bed_init(&bed, "fattree:4");
	const struct fabric *fabric = bed.fabric;
	uint64_t sw = fabric->nodes[fabric->switches[1].node].guid;
	uint64_t host = fabric->ports[fabric->sm_port].guid;
	struct route_id id = { sw, 7 };
	struct route_weight weight = { sw, 1, 3 };
	struct route_endport endport = { host, -1 };
	struct route_port_order order = { sw, 2, { 2, 1 } };
	const struct route_input inputs[] = {
		{.threads = 1, .roots = &sw, .n_roots = 1},
		{.threads = 1, .ids = &id, .n_ids = 1},
		{.threads = 1, .compute = &host, .n_compute = 1},
		{.threads = 1, .io = &host, .n_io = 1},
		{.threads = 1, .port_orders = &order, .n_port_orders = 1},
		{.threads = 1, .ignored = &endport, .n_ignored = 1},
		{.threads = 1, .ahead = &host, .n_ahead = 1},
		{.threads = 1, .weights = &weight, .n_weights = 1},
		{.threads = 1, .scatter = 1},
		{.threads = 1, .ahead_not_scattered = true},
		{.threads = 1, .shift = true},
		{.threads = 1, .from_roots = true},
		{.threads = 1, .count_switches = true},
	};

	routing = renew(&bed, engine, &bed.input, NULL, &way);
	for (size_t i = 0; i < G_N_ELEMENTS(inputs); i++) {
		struct fabric *again = builder_freeze(bed.builder);
		struct routing *other =
			routing_renew(engine, again, &inputs[i], routing, &way, NULL);

		fabric_unref(again);
		ck_assert_msg(!other || way > ROUTE_REPAIRED, "%s: input %zu", engine->name, i);
		if (other)
			expect_same(&bed, engine, &inputs[i], other);
		routing_unref(other);
	}
	weight.weight = 4;
	expect_other(&bed, engine, &inputs[7], routing, "a weight");
	routing_unref(routing);
	bed_clear(&bed);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_same");
	TCase *tcase = tcase_create("same");
	int n = 0;

	while (route_engines()[n])
		n++;
	tcase_add_loop_test(tcase, test_engines, 0, n);
	tcase_add_loop_test(tcase, test_inputs, 0, 3);
	suite_add_tcase(suite, tcase);
	return suite;
}
