// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engine file on a fabric that is no longer that of its files: cables gone, hosts elsewhere,
 * switches missing. Entries of the file are kept where they lead somewhere, and everything is
 * reached.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/dump/dump.h"
#include "policy/files/lft_file.h"
#include "subnet/subnet.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static const struct route_input nothing = {.threads = 1};

static struct routing *route(const struct fabric *fabric, const char *engine,
			     const struct route_input *input)
{
	GError *error = NULL;
	struct routing *routing = route_compute(route_find(engine), fabric, input, &error);

	ck_assert_msg(routing != NULL, "%s", error ? error->message : "");
	return routing;
}

/* The text of a dump; free it. */
static char *dump(const char *name, struct fabric *fabric, struct routing *routing)
{
	struct partitions *partitions = partitions_default(fabric);
	struct options *options = options_new();
	struct subnet *subnet = subnet_new(fabric, routing, partitions, options);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert(dump_write(name, subnet, NULL, &nothing, out));
	ck_assert_int_eq(fclose(out), 0);
	subnet_unref(subnet);
	options_unref(options);
	partitions_unref(partitions);
	return text;
}

/* Both files as an engine of the older fabric has them. */
struct files {
	struct lft_file *lfts;
	struct hops_file *hops;
};

static struct files files_of(struct fabric *fabric, struct routing *routing)
{
	char *lfts = dump("opensm-lfts.dump", fabric, routing);
	char *hops = dump("opensm-lid-matrix.dump", fabric, routing);
	struct files files = {
		.lfts = lft_file_parse("lfts", lfts, strlen(lfts), NULL),
		.hops = hops_file_parse("hops", hops, strlen(hops), NULL),
	};

	ck_assert(files.lfts && files.hops);
	free(lfts);
	free(hops);
	return files;
}

static void files_clear(struct files *files)
{
	lft_file_free(files->lfts);
	hops_file_free(files->hops);
}

/* By one of the files; complete and free of loops; of credit loops too if it must be acyclic. */
static struct routing *route_by(const struct fabric *fabric, const struct files *files, bool hops,
				bool acyclic)
{
	struct route_input input = {.threads = 1};
	struct route_verdict verdict;
	struct routing *routing;

	if (hops)
		input.hops = hops_file_input(files->hops);
	else
		input.lfts = lft_file_input(files->lfts);
	routing = route(fabric, "file", &input);
	ck_assert_msg(route_verify(fabric, routing, &verdict), "%s", verdict.witness);
	ck_assert(verdict.complete && verdict.loop_free);
	ck_assert_msg(verdict.acyclic || !acyclic, "%s", verdict.witness);
	ck_assert_uint_eq(verdict.max_hops, routing->max_hops);
	route_verdict_clear(&verdict);
	return routing;
}

static void cut_cables(struct builder *builder, uint64_t *state, unsigned int n)
{
	GPtrArray *order = builder_walk(builder);

	for (unsigned int i = 0; i < n; i++) {
		struct builder_node *node = order->pdata[make_number(state, order->len)];
		unsigned int num = 1 + make_number(state, node->info.num_ports);

		if (node->ports[num].peer && node != order->pdata[0] &&
		    node->ports[num].peer->node != order->pdata[0]) /* the SM's own stays */
			builder_unlink(&node->ports[num]);
	}
	g_ptr_array_unref(order);
}

static uint32_t old_switch(const struct fabric *old, const struct fabric *now, uint32_t sw)
{
	return old->nodes[fabric_node_by_guid(old, now->nodes[now->switches[sw].node].guid)].sw;
}

/* The fate of a packet that follows the older tables now. */
static bool arrives(const struct fabric *old, const struct routing *was, const struct fabric *now,
		    uint32_t sw, uint16_t lid)
{
	uint32_t own = fabric_port_by_lid(now, lid), peer;

	for (uint32_t hops = 0; hops <= now->n_switches; hops++) {
		uint8_t port = was->lft[old_switch(old, now, sw)][lid];

		if (port == ROUTE_NO_PORT)
			return false;
		if (port == 0)
			return now->ports[own].node == now->switches[sw].node;
		peer = now->ports[fabric_switch_port(now, sw, port)].peer;
		if (peer == FABRIC_NONE || !fabric_is_switch(now, now->ports[peer].node))
			return peer == own;
		sw = now->nodes[now->ports[peer].node].sw;
	}
	return false;
}

/*
 * Entries from which packets arrive are kept, but LIDs of switches may be omitted for freedom of
 * credit loops; returns how many no longer do.
 */
static unsigned int check_kept(const struct fabric *old, const struct routing *was,
			       const struct fabric *now, const struct routing *is)
{
	unsigned int gone = 0;

	for (uint32_t sw = 0; sw < now->n_switches; sw++) {
		const uint8_t *row = was->lft[old_switch(old, now, sw)];

		for (uint32_t lid = 1; lid <= now->max_lid; lid++) {
			uint32_t port = fabric_port_by_lid(now, lid);

			if (port == FABRIC_NONE || row[lid] == ROUTE_NO_PORT ||
			    (is->promises & ROUTE_DEADLOCK_FREE &&
			     fabric_is_switch(now, now->ports[port].node)))
				continue;
			if (!arrives(old, was, now, sw, lid))
				gone++;
			else if (is->lft[sw][lid] != row[lid])
				ck_abort_msg("switch %u, LID %u", sw, lid);
		}
	}
	return gone;
}

static const struct {
	const char *spec, *engine;
	uint8_t lmc;
} cases[] = {
	{"fattree:4", "minhop", 0}, {"fattree:4", "updn", 2},	  {"fattree:8", "ftree", 0},
	{"torus:4x4:1", "dor", 0},  {"torus:5x5:1", "updn", 1},	  {"torus:3x3x3:1", "dnup", 0},
	{"torus:6", "updn", 0},	    {"dragonfly:3:2:1", "minhop", 1},
};

#define DAMAGES 40 /* of each case */

/* Loop test: one case each; more and more cables go. One less does not harm a tree. */
START_TEST(test_damage)
{
	bool tree = g_str_has_prefix(cases[_i].spec, "fattree");
	unsigned int gone = 0, overruled = 0;
	uint64_t state = _i;

	for (unsigned int damage = 1; damage <= DAMAGES; damage++) {
		struct builder *builder = make_builder_of(cases[_i].spec);
		unsigned int n = (damage + 3) / 4;
		struct fabric *old, *now;
		struct routing *was, *is;
		struct files files;

		make_lids(builder, cases[_i].lmc);
		old = builder_freeze(builder);
		was = route(old, cases[_i].engine, &nothing);
		files = files_of(old, was);
		cut_cables(builder, &state, n);
		now = builder_freeze(builder);
		is = route_by(now, &files, false, tree && n == 1);
		gone += check_kept(old, was, now, is);
		overruled += strstr(is->note, "overruled") != NULL;
		routing_unref(is);
		is = route_by(now, &files, true, tree && n == 1);
		routing_unref(is);
		files_clear(&files);
		routing_unref(was);
		fabric_unref(old);
		fabric_unref(now);
		builder_free(builder);
	}
	ck_assert_uint_gt(gone, 100);
	ck_assert_uint_gt(overruled, 0);
}
END_TEST

/* A file that knows only some switches: all its entries are kept, and the others fit in with it. */
START_TEST(test_partial)
{
	struct fabric *fabric = make_fabric(cases[_i].spec, cases[_i].lmc);
	struct routing *was = route(fabric, cases[_i].engine, &nothing);
	unsigned int around = 0;
	uint64_t state = _i;

	for (unsigned int part = 1; part < 8; part++) {
		struct files files = files_of(fabric, was);
		struct routing *is;

		for (guint i = files.lfts->lfts->len; i-- > 0;)
			if (make_number(&state, 8) < part)
				g_array_remove_index(files.lfts->lfts, i);
		is = route_by(fabric, &files, false, false);
		around += strstr(is->note, "to agree with") != NULL;
		for (guint i = 0; i < files.lfts->lfts->len; i++) {
			uint64_t guid =
				g_array_index(files.lfts->lfts, struct route_lft, i).guid;
			uint32_t sw = fabric->nodes[fabric_node_by_guid(fabric, guid)].sw;

			/* Only failures are checks: libcheck writes each check to a file. */
			for (uint32_t lid = 1; lid <= was->top; lid++)
				if (was->lft[sw][lid] != ROUTE_NO_PORT &&
				    was->lft[sw][lid] != is->lft[sw][lid])
					ck_abort_msg("switch %u, LID %u", sw, lid);
		}
		files_clear(&files);
		routing_unref(is);
	}
	if (!strcmp(cases[_i].spec, "torus:6")) /* where updn has others than shortest paths */
		ck_assert_uint_gt(around, 0);
	routing_unref(was);
	fabric_unref(fabric);
}
END_TEST

/* The dump of a damaged fabric with several LIDs a port reads back on it. */
START_TEST(test_round_trip_damaged)
{
	uint64_t state = 4711 + _i;
	struct builder *builder = make_builder_of(cases[_i].spec);
	struct fabric *fabric;
	struct routing *was, *is;
	struct files files;

	make_lids(builder, 1 + _i % 3);
	cut_cables(builder, &state, 6);
	fabric = builder_freeze(builder);
	was = route(fabric, "minhop", &nothing);
	files = files_of(fabric, was);
	is = route_by(fabric, &files, false, false);
	ck_assert_uint_eq(is->promises, 0);
	ck_assert_uint_eq(check_kept(fabric, was, fabric, is), 0);
	ck_assert_ptr_null(strstr(is->note, "lead nowhere"));
	ck_assert_ptr_null(strstr(is->note, "to agree with"));
	ck_assert_ptr_null(strstr(is->note, "overruled"));
	routing_unref(is);
	is = route_by(fabric, &files, true, false);
	ck_assert_uint_eq(is->max_hops, was->max_hops);
	ck_assert_ptr_null(strstr(is->note, "usable"));
	routing_unref(is);
	files_clear(&files);
	routing_unref(was);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/* Two hosts swap places: entries that do not lead to their new places are routed again. */
START_TEST(test_moved_hosts)
{
	struct builder *builder = make_builder_of(cases[_i].spec);
	struct builder_node *a = NULL, *b = NULL;
	GPtrArray *order;
	struct builder_port *at_a, *at_b;
	struct fabric *old, *now;
	struct routing *was, *is;
	struct files files;

	make_lids(builder, cases[_i].lmc);
	old = builder_freeze(builder);
	was = route(old, cases[_i].engine, &nothing);
	files = files_of(old, was);
	order = builder_walk(builder);
	for (guint i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		if (node->info.node_type == IBA_NODE_SWITCH)
			continue;
		a = a ? a : node;
		b = node;
	}
	g_ptr_array_unref(order);
	at_a = a->ports[1].peer;
	at_b = b->ports[1].peer;
	builder_unlink(&a->ports[1]);
	builder_unlink(&b->ports[1]);
	builder_link(&a->ports[1], at_b);
	builder_link(&b->ports[1], at_a);
	now = builder_freeze(builder);
	is = route_by(now, &files, false, false);
	ck_assert_uint_gt(check_kept(old, was, now, is), 0);
	ck_assert_ptr_nonnull(strstr(is->note, "to another host"));
	routing_unref(is);
	files_clear(&files);
	routing_unref(was);
	fabric_unref(old);
	fabric_unref(now);
	builder_free(builder);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_file");
	TCase *tests = tcase_create("route_file");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, test_damage, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, test_partial, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, test_round_trip_damaged, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, test_moved_hosts, 0, G_N_ELEMENTS(cases));
	suite_add_tcase(suite, tests);
	return suite;
}
