// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dumps of routes, and the engine file that reads them: written dumps read back to the same tables,
 * on regular and random fabrics, by every engine.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/dump/dump.h"
#include "policy/files/lft_file.h"
#include "subnet/subnet.h"
#include "subnet/trees.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static const struct route_input nothing = {.threads = 1};

static struct fabric *random_fabric(uint64_t seed, uint8_t lmc)
{
	struct builder *builder = make_random(seed, 12);
	struct fabric *fabric;

	make_lids(builder, lmc);
	fabric = builder_freeze(builder);
	builder_free(builder);
	return fabric;
}

static struct routing *route(const struct fabric *fabric, const char *engine,
			     const struct route_input *input)
{
	GError *error = NULL;
	struct routing *routing = route_compute(route_find(engine), fabric, input, &error);

	ck_assert_msg(routing != NULL, "%s", error ? error->message : "");
	return routing;
}

/* The text of a dump; free it. */
static char *dump(const char *name, struct fabric *fabric, struct routing *routing,
		  const struct mc_trees *trees)
{
	struct partitions *partitions = partitions_default(fabric);
	struct options *options = options_new();
	struct subnet *subnet = subnet_new(fabric, routing, partitions, options);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert(dump_write(name, subnet, trees, &nothing, out));
	ck_assert_int_eq(fclose(out), 0);
	subnet_unref(subnet);
	options_unref(options);
	partitions_unref(partitions);
	return text;
}

static struct lft_file *lfts_of(struct fabric *fabric, struct routing *routing)
{
	char *text = dump("opensm-lfts.dump", fabric, routing, NULL);
	GError *error = NULL;
	struct lft_file *file = lft_file_parse("lfts", text, strlen(text), &error);

	ck_assert_msg(file != NULL, "%s", error ? error->message : "");
	free(text);
	return file;
}

static struct routing *route_by_file(const struct fabric *fabric, const struct lft_file *file)
{
	struct route_input input = {.threads = 1, .lfts = lft_file_input(file)};

	return route(fabric, "file", &input);
}

/* Every entry that exists; open ones may be filled. */
static void same_tables(const struct fabric *fabric, const struct routing *a,
			const struct routing *b, uint64_t seed)
{
	ck_assert_uint_eq(a->top, b->top);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		for (uint32_t lid = 1; lid <= a->top; lid++)
			ck_assert_msg(a->lft[sw][lid] == ROUTE_NO_PORT ||
					      a->lft[sw][lid] == b->lft[sw][lid],
				      "seed %u switch %u LID %u", (unsigned int)seed, sw, lid);
}

static void check_round_trip(struct fabric *fabric, const char *engine, uint64_t seed)
{
	struct routing *routing = route(fabric, engine, &nothing), *again;
	struct lft_file *file = lfts_of(fabric, routing);

	again = route_by_file(fabric, file);
	same_tables(fabric, routing, again, seed);
	ck_assert_str_eq(again->engine->name, "file");
	ck_assert_uint_eq(again->promises, 0);
	ck_assert_ptr_nonnull(strstr(again->note, "lfts: "));
	ck_assert_ptr_null(strstr(again->note, "not in the subnet"));
	lft_file_free(file);
	routing_unref(again);
	routing_unref(routing);
}

START_TEST(test_round_trip)
{
	static const char *const specs[] = {"fattree:4", "torus:3x3", "torus:5"};
	static const char *const engines[] = {"minhop", "updn", "dor"};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct fabric *fabric = make_fabric(specs[i], i);

		for (size_t k = 0; k < G_N_ELEMENTS(engines); k++)
			check_round_trip(fabric, engines[k], 0);
		fabric_unref(fabric);
	}
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct fabric *fabric = random_fabric(seed, seed % 3);

		if (fabric->n_switches)
			check_round_trip(fabric, "minhop", seed);
		fabric_unref(fabric);
	}
}
END_TEST

/* With other LIDs the same cables are used: entries follow port GUIDs, and offsets under LMC. */
START_TEST(test_moved)
{
	struct fabric *old = make_fabric("fattree:4", 1), *now;
	struct builder *builder = make_builder_of("fattree:4");
	struct routing *routing = route(old, "minhop", &nothing), *again;
	struct lft_file *file = lfts_of(old, routing);

	make_lids(builder, 1);
	now = builder_freeze(builder);
	for (uint32_t i = 0; i < now->n_ports; i++)
		if (now->ports[i].lid)
			now->ports[i].lid += 64;
	memset(now->lid_port, 0xFF, FABRIC_LIDS * sizeof(*now->lid_port));
	for (uint32_t i = 0; i < now->n_ports; i++)
		for (unsigned int k = 0; now->ports[i].lid && k < 1u << now->ports[i].lmc; k++)
			now->lid_port[now->ports[i].lid + k] = i;
	now->max_lid += 64;
	again = route_by_file(now, file);
	for (uint32_t sw = 0; sw < now->n_switches; sw++)
		for (uint32_t lid = 1; lid <= routing->top; lid++)
			ck_assert_uint_eq(routing->lft[sw][lid], again->lft[sw][lid + 64]);
	ck_assert_ptr_null(strstr(again->note, "minhop"));
	lft_file_free(file);
	routing_unref(again);
	routing_unref(routing);
	builder_free(builder);
	fabric_unref(old);
	fabric_unref(now);
}
END_TEST

/* The engine's answer to a text of forwarding tables. */
static struct routing *route_text(const struct fabric *fabric, const char *text, GError **error)
{
	struct lft_file *file = lft_file_parse("f", text, strlen(text), NULL);
	struct route_input input = {.threads = 1, .lfts = lft_file_input(file)};
	struct routing *routing = route_compute(route_find("file"), fabric, &input, error);

	lft_file_free(file);
	return routing;
}

START_TEST(test_gaps)
{
	struct fabric *fabric = make_fabric("torus:5", 0);
	uint64_t guid = fabric->nodes[fabric->switches[2].node].guid;
	struct routing *minhop = route(fabric, "minhop", &nothing), *routing;
	g_autofree char *text = g_strdup_printf("Unicast lids guid 0x%" G_GINT64_MODIFIER "x:\n"
						"0x9999 1\n"
						"0x1 255\n"
						"Unicast lids guid 0xabcdef:\n"
						"0x1 1\n",
						guid);

	routing = route_text(fabric, text, NULL);
	same_tables(fabric, minhop, routing, 0);
	ck_assert_ptr_nonnull(strstr(routing->note, "0 entries of 1 switches"));
	ck_assert_ptr_nonnull(strstr(routing->note, "4 switches that are missing in it and are"));
	ck_assert_ptr_nonnull(strstr(routing->note, "1 switches that are not in the subnet"));
	ck_assert_ptr_nonnull(strstr(routing->note, "1 entries for LIDs or ports that are not in"));
	routing_unref(routing);
	routing_unref(minhop);
	fabric_unref(fabric);
}
END_TEST

START_TEST(test_wrong_port)
{
	struct fabric *fabric = make_fabric("torus:5", 0);
	uint64_t guid = fabric->nodes[fabric->switches[0].node].guid;
	g_autofree char *text = g_strdup_printf("Unicast lids guid 0x%" G_GINT64_MODIFIER "x:\n"
						"0x1 200\n",
						guid);
	GError *error = NULL;

	ck_assert_ptr_null(route_text(fabric, text, &error));
	ck_assert_msg(g_str_has_prefix(error->message, "f:2: port 200, but switch 0x"), "%s",
		      error->message);
	g_clear_error(&error);
	ck_assert_ptr_null(route_compute(route_find("file"), fabric, &nothing, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "lfts_file"));
	g_error_free(error);
	fabric_unref(fabric);
}
END_TEST

/* Two neighbours that send a LID to each other: the verifier refuses it. */
START_TEST(test_loop)
{
	struct fabric *fabric = make_fabric("torus:5", 0);
	struct routing *routing = route(fabric, "minhop", &nothing), *again;
	struct lft_file *file;
	struct route_verdict verdict;
	uint16_t lid = 0;
	uint32_t sw = 0, there = FABRIC_NONE;

	/* Some LID that leaves the first switch for a second one. */
	while (there == FABRIC_NONE) {
		uint8_t port = routing->lft[0][++lid];
		uint32_t peer = port == ROUTE_NO_PORT
					? FABRIC_NONE
					: fabric->ports[fabric_switch_port(fabric, sw, port)].peer;

		if (peer == FABRIC_NONE || !fabric_is_switch(fabric, fabric->ports[peer].node))
			continue;
		there = fabric->nodes[fabric->ports[peer].node].sw;
		routing->lft[there][lid] = fabric->ports[peer].num;
	}
	file = lfts_of(fabric, routing);
	again = route_by_file(fabric, file);
	ck_assert(!route_verify(fabric, again, &verdict));
	ck_assert(!verdict.loop_free);
	ck_assert_ptr_nonnull(verdict.witness);
	route_verdict_clear(&verdict);
	lft_file_free(file);
	routing_unref(again);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

static struct routing *route_by_hops_of(struct fabric *fabric, struct routing *routing)
{
	char *text = dump("opensm-lid-matrix.dump", fabric, routing, NULL);
	GError *error = NULL;
	struct hops_file *file = hops_file_parse("hops", text, strlen(text), &error);
	struct route_input input = {.threads = 1};
	struct routing *again;

	ck_assert_msg(file != NULL, "%s", error ? error->message : "");
	input.hops = hops_file_input(file);
	again = route(fabric, "file", &input);
	hops_file_free(file);
	free(text);
	return again;
}

/* Hops of minhop give shortest paths again, on any fabric. */
START_TEST(test_hops)
{
	unsigned int tried = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct fabric *fabric = random_fabric(seed, seed % 2);
		struct routing *routing = route(fabric, "minhop", &nothing), *again;
		struct route_verdict a, b;

		if (!fabric->n_switches) {
			routing_unref(routing);
			fabric_unref(fabric);
			continue;
		}
		tried++;
		again = route_by_hops_of(fabric, routing);
		ck_assert(route_verify(fabric, again, &a));
		ck_assert(route_verify(fabric, routing, &b));
		ck_assert_uint_eq(a.max_hops, b.max_hops);
		ck_assert_uint_eq(a.paths, b.paths);
		route_verdict_clear(&a);
		route_verdict_clear(&b);
		routing_unref(again);
		routing_unref(routing);
		fabric_unref(fabric);
	}
	ck_assert_uint_gt(tried, 40);
}
END_TEST

/* Hops of updn keep a ring free of credit loops, which shortest paths do not. */
START_TEST(test_hops_restrict)
{
	struct fabric *fabric = make_fabric("torus:5", 0);
	struct routing *routing = route(fabric, "updn", &nothing);
	struct routing *minhop = route(fabric, "minhop", &nothing);
	struct routing *again = route_by_hops_of(fabric, routing);
	struct route_verdict verdict;

	ck_assert(route_verify(fabric, again, &verdict));
	ck_assert(verdict.acyclic);
	route_verdict_clear(&verdict);
	ck_assert(route_verify(fabric, minhop, &verdict));
	ck_assert(!verdict.acyclic);
	route_verdict_clear(&verdict);
	routing_unref(again);
	routing_unref(minhop);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

START_TEST(test_fdbs)
{
	struct fabric *fabric = make_fabric("torus:5", 0);
	struct routing *routing = route(fabric, "minhop", &nothing);
	char *text = dump("opensm.fdbs", fabric, routing, NULL);
	uint16_t lid = 1;

	ck_assert_ptr_null(strstr(text, "No "));
	ck_assert_ptr_null(strstr(text, "UNREACHABLE"));
	free(text);
	while (fabric->ports[fabric_switch_port(fabric, 0, routing->lft[0][lid])].peer ==
	       FABRIC_NONE)
		lid++;
	routing->lft[0][lid] = ROUTE_NO_PORT;
	routing->lft[1][lid] = 255 - 1;
	text = dump("opensm.fdbs", fabric, routing, NULL);
	ck_assert_ptr_nonnull(strstr(text, " : UNREACHABLE\n"));
	ck_assert_ptr_nonnull(strstr(text, " : 254  : HOPS UNKNOWN\n"));
	free(text);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/* Around a ring the long way: the dump names a port with a shorter path. */
START_TEST(test_fdbs_detour)
{
	struct fabric *fabric = make_fabric("torus:5", 0);
	struct routing *routing = route(fabric, "updn", &nothing);
	char *text;

	routing->engine = route_find("minhop"); /* judged by shortest paths */
	text = dump("opensm.fdbs", fabric, routing, NULL);
	ck_assert_ptr_nonnull(strstr(text, " hop path possible via port "));
	free(text);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

START_TEST(test_mcfdbs)
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	struct routing *routing = route(fabric, "minhop", &nothing);
	struct route_tree *grown[MC_N_MLIDS] = {NULL};
	struct route_multicast_base *base = route_multicast_base_new(fabric, NULL, 0);
	uint32_t members[2], n = 0, excluded;
	struct mc_trees *trees;
	char *text, *at;

	for (uint32_t i = 0; i < fabric->n_ports && n < 2; i++)
		if (fabric->ports[i].guid && !fabric_is_switch(fabric, fabric->ports[i].node))
			members[n++] = i;
	grown[1] = route_multicast_on(base, fabric,
				      &(struct route_group){.members = members, .n_members = n},
				      NULL, NULL, &excluded);
	route_multicast_base_free(base);
	trees = mc_trees_new(fabric, grown);
	route_tree_unref(grown[1]);
	text = dump("opensm.mcfdbs", fabric, routing, trees);
	ck_assert_msg(g_str_has_prefix(text, "\nSwitch 0x"), "%s", text);
	at = strstr(text, "\nLID    : Out Port(s)\n0xC001 : 0x0");
	ck_assert_msg(at != NULL, "%s", text);
	free(text);
	text = dump("opensm.mcfdbs", fabric, routing, NULL);
	ck_assert_str_eq(text, "");
	free(text);
	mc_trees_unref(trees);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/* Names come from devices: none may end a line or its braces. */
START_TEST(test_names)
{
	struct fabric *fabric = make_fabric("torus:3", 0);
	struct routing *routing = route(fabric, "minhop", &nothing);
	struct lft_file *file;
	char *text;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		strcpy(fabric->nodes[i].description, "}\n0x1 1\nguid 0x1 portguid x");
	file = lfts_of(fabric, routing);
	ck_assert_uint_eq(file->lfts->len, 3);
	lft_file_free(file);
	text = dump("opensm-subnet.lst", fabric, routing, NULL);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(g_str_has_prefix(line, "{ ") && strstr(line, "} PHY="), "%s", line);
	free(text);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("dump");
	TCase *tests = tcase_create("dump");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, test_round_trip);
	tcase_add_test(tests, test_moved);
	tcase_add_test(tests, test_gaps);
	tcase_add_test(tests, test_wrong_port);
	tcase_add_test(tests, test_loop);
	tcase_add_test(tests, test_hops);
	tcase_add_test(tests, test_hops_restrict);
	tcase_add_test(tests, test_fdbs);
	tcase_add_test(tests, test_fdbs_detour);
	tcase_add_test(tests, test_mcfdbs);
	tcase_add_test(tests, test_names);
	suite_add_tcase(suite, tests);
	return suite;
}
