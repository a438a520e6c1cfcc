// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Answers about the fabric: they are JSON, agree with the fabric, and stay small. */
#include <check.h>
#include <inttypes.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

#include "iba/constants.h"
#include "tests/run_suite.h"
#include "tests/unit/image_bed.h"
#include "web/fabric/fabric.h"

static struct image_bed *bed;
static struct fabric_view *view;
static JsonParser *parser;

static void look(void)
{
	int file;

	bed->source.alarms = bed->alarms;
	file = fabric_image_make(&bed->source, NULL);
	g_clear_pointer(&view, fabric_view_free);
	view = fabric_view_new(file, NULL);
	ck_assert_ptr_nonnull(view);
	close(file);
}

static void begin(const char *spec)
{
	bed = image_bed_new(spec);
	parser = json_parser_new();
	look();
}

static void end(void)
{
	g_clear_pointer(&view, fabric_view_free);
	g_clear_object(&parser);
	image_bed_free(bed);
}

/* ---- asking ---- */

/* "name=value&name=value" */
static const char *argument(const void *from, const char *name)
{
	static char value[256];
	g_auto(GStrv) parts = g_strsplit(from, "&", -1);
	size_t n = strlen(name);

	for (unsigned int i = 0; parts[i]; i++)
		if (!strncmp(parts[i], name, n) && parts[i][n] == '=') {
			g_strlcpy(value, parts[i] + n + 1, sizeof(value));
			return g_intern_string(value);
		}
	return NULL;
}

static JsonObject *ask(fabric_answer_fn *question, const char *arguments)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	ck_assert_msg(question(view, argument, arguments, out, &error), "%s: %s", arguments,
		      error ? error->message : "?");
	ck_assert_msg(json_parser_load_from_data(parser, out->str, (gssize)out->len, &error),
		      "%s: %s", error ? error->message : "?", out->str);
	return json_node_get_object(json_parser_get_root(parser));
}

static void expect_wrong(fabric_answer_fn *question, const char *arguments, int code,
			 const char *text)
{
	g_autoptr(GString) out = g_string_new("before");
	g_autoptr(GError) error = NULL;

	ck_assert(!question(view, argument, arguments, out, &error));
	ck_assert_str_eq(out->str, "before");
	ck_assert_str_eq(error->message, text);
	ck_assert_int_eq(error->code, code);
}

/* ---- tables ---- */

static JsonArray *rows(JsonObject *answer, const char *table)
{
	return json_object_get_array_member(json_object_get_object_member(answer, table), "rows");
}

static guint n_rows(JsonObject *answer, const char *table)
{
	return json_array_get_length(rows(answer, table));
}

static JsonNode *cell(JsonObject *answer, const char *table, guint row, const char *column)
{
	JsonArray *columns = json_object_get_array_member(
		json_object_get_object_member(answer, table), "columns");
	JsonArray *cells = json_array_get_array_element(rows(answer, table), row);

	ck_assert_uint_eq(json_array_get_length(columns), json_array_get_length(cells));
	for (guint i = 0; i < json_array_get_length(columns); i++)
		if (!strcmp(json_array_get_string_element(columns, i), column))
			return json_array_get_element(cells, i);
	ck_abort_msg("no column %s", column);
}

static const char *text_at(JsonObject *answer, const char *table, guint row, const char *column)
{
	JsonNode *node = cell(answer, table, row, column);

	return JSON_NODE_HOLDS_NULL(node) ? NULL : json_node_get_string(node);
}

static gint64 number_at(JsonObject *answer, const char *table, guint row, const char *column)
{
	return json_node_get_int(cell(answer, table, row, column));
}

static gint64 sum(JsonObject *answer, const char *table, const char *column)
{
	gint64 all = 0;

	for (guint i = 0; i < n_rows(answer, table); i++)
		all += number_at(answer, table, i, column);
	return all;
}

static gint64 total(JsonObject *answer, const char *name)
{
	return json_object_get_int_member(json_object_get_object_member(answer, "totals"), name);
}

/* ---- the summary, and what it opens to ---- */

/* Each box opens to as many switches as it says; each switch to its hosts. */
static void open_all(JsonObject *answer, gint64 *switches, gint64 *hosts)
{
	guint n = n_rows(answer, "boxes");
	GPtrArray *opens = g_ptr_array_new_with_free_func(g_free);
	g_autofree gint64 *counts = g_new(gint64, 2 * n + 1);

	for (guint i = 0; i < n; i++) {
		g_ptr_array_add(opens, g_strdup(text_at(answer, "boxes", i, "open")));
		counts[2 * i] = number_at(answer, "boxes", i, "switches");
		counts[2 * i + 1] = number_at(answer, "boxes", i, "hosts");
	}
	for (guint i = 0; i < n; i++) {
		const char *open = opens->pdata[i];
		gint64 in[2] = {0};

		if (g_str_has_prefix(open, "switch=")) {
			in[0] = 1;
			in[1] = n_rows(ask(fabric_nodes, open), "nodes");
		} else {
			open_all(ask(fabric_links, open), &in[0], &in[1]);
		}
		ck_assert_int_eq(in[0], counts[2 * i]);
		ck_assert_int_eq(in[1], counts[2 * i + 1]);
		*switches += in[0];
		*hosts += in[1];
	}
	g_ptr_array_unref(opens);
}

static const struct {
	const char *spec;
	guint boxes; /* of the summary */
} fabrics[] = {
	{"fattree:4", 4 + 4},	 /* pods and single tops */
	{"fattree:16", 16 + 64}, /* as many as fit */
	{"fattree:20", 20 + 10}, /* pods, and tops with the same neighbours */
	{"torus:4x4", 16},	 /* all switches are on one level */
	{"torus:10x10", 50},	 /* in pairs */
	{"mesh:2", 2},
};

START_TEST(boxes_open)
{
	JsonObject *answer;
	gint64 switches = 0, hosts = 0, all;

	begin(fabrics[_i].spec);
	answer = ask(fabric_summary, "");
	ck_assert_uint_eq(n_rows(answer, "boxes"), fabrics[_i].boxes);
	ck_assert_int_eq(total(answer, "switches"), bed->subnet.fabric->n_switches);
	ck_assert_int_eq(sum(answer, "boxes", "switches"), bed->subnet.fabric->n_switches);
	ck_assert_int_eq(sum(answer, "levels", "switches"), bed->subnet.fabric->n_switches);
	all = total(answer, "hosts");
	ck_assert_int_eq(all, bed->subnet.fabric->n_nodes - bed->subnet.fabric->n_switches);
	ck_assert_int_eq(total(answer, "cables"), bed->subnet.fabric->n_links);
	open_all(answer, &switches, &hosts);
	ck_assert_int_eq(switches, bed->subnet.fabric->n_switches);
	ck_assert_int_eq(hosts, all);
	end();
}
END_TEST

/* A pod has cables to each set of tops, and inside none that the summary shows. */
START_TEST(bundles)
{
	JsonObject *answer;

	begin("fattree:8");
	answer = ask(fabric_links, "");
	ck_assert_uint_eq(n_rows(answer, "boxes"), 8 + 16);
	ck_assert_uint_eq(n_rows(answer, "bundles"), 8 * 16);
	ck_assert_int_eq(sum(answer, "bundles", "cables"), 8 * 16);
	answer = ask(fabric_links, "");
	{
		g_autofree char *pod = NULL;

		for (guint i = 0; i < n_rows(answer, "boxes"); i++)
			if (!pod && !strcmp(text_at(answer, "boxes", i, "kind"), "group"))
				pod = g_strdup(text_at(answer, "boxes", i, "open"));
		answer = ask(fabric_links, pod);
	}
	ck_assert_uint_eq(n_rows(answer, "boxes"), 4 + 4);
	/* Each pair, and what leads out of the pod. */
	ck_assert_uint_eq(n_rows(answer, "bundles"), 4 * 4 + 4);
	ck_assert_int_eq(sum(answer, "bundles", "cables"), 4 * 4 + 4 * 4);
	end();
}
END_TEST

/* All switches with their own cables, in the groups that the boxes of the summary are. */
START_TEST(whole)
{
	JsonObject *answer;
	JsonArray *groups;
	guint in_pods = 0;

	begin("fattree:8");
	answer = ask(fabric_whole, "");
	ck_assert_uint_eq(n_rows(answer, "boxes"), 80);
	ck_assert_int_eq(sum(answer, "boxes", "hosts"), 128);
	ck_assert_uint_eq(n_rows(answer, "bundles"), 2 * 128);
	ck_assert_int_eq(sum(answer, "bundles", "cables"), 2 * 128);
	groups = json_object_get_array_member(answer, "group_of");
	ck_assert_uint_eq(json_array_get_length(groups), 80);
	for (guint i = 0; i < 80; i++) {
		guint group = (guint)json_array_get_int_element(groups, i);

		ck_assert_int_eq(number_at(answer, "groups", group, "level"),
				 number_at(answer, "boxes", i, "level"));
		if (number_at(answer, "boxes", i, "level") == 2) {
			ck_assert_int_eq(number_at(answer, "groups", group, "switches"), 8);
			in_pods++;
		}
	}
	ck_assert_uint_eq(in_pods, 32);
	end();
	begin("torus:8x8x8");
	expect_wrong(fabric_whole, "", FABRIC_WRONG,
		     "the fabric has 512 switches: too many for one answer, which has at most 500");
	end();
}
END_TEST

/* Each box of the way is in what the one before opens to; the last is the switch. */
static void follow_way(const char *guid, const char *last)
{
	g_autofree char *argument_text = g_strdup_printf("node=%s", guid);
	JsonArray *list = json_object_get_array_member(ask(fabric_where, argument_text), "way");
	g_autoptr(GPtrArray) way = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < json_array_get_length(list); i++)
		g_ptr_array_add(way, g_strdup(json_array_get_string_element(list, i)));
	ck_assert_uint_gt(way->len, 0);
	ck_assert_str_eq(way->pdata[way->len - 1], last);
	for (guint i = 0; i < way->len; i++) {
		JsonObject *answer = ask(fabric_links, i ? way->pdata[i - 1] : "");
		bool found = false;

		for (guint row = 0; row < n_rows(answer, "boxes"); row++)
			found |= !strcmp(text_at(answer, "boxes", row, "open"), way->pdata[i]);
		ck_assert_msg(found, "%s: no %s", guid, (char *)way->pdata[i]);
	}
}

START_TEST(way_to_a_node)
{
	begin(fabrics[_i].spec);
	for (uint32_t i = 0; i < bed->subnet.fabric->n_nodes; i += 7) {
		const struct fabric_node *node = &bed->subnet.fabric->nodes[i];
		const struct fabric_node *sw = node;
		g_autofree char *guid = g_strdup_printf("0x%016" PRIx64, node->guid);
		g_autofree char *last = NULL;

		for (unsigned int num = 1; sw->sw == FABRIC_NONE && num <= node->num_ports; num++) {
			uint32_t peer = bed->subnet.fabric->ports[node->first_port + num].peer;

			if (peer != FABRIC_NONE)
				sw = &bed->subnet.fabric
					      ->nodes[bed->subnet.fabric->ports[peer].node];
		}
		last = g_strdup_printf("switch=0x%016" PRIx64, sw->guid);
		follow_way(guid, last);
	}
	expect_wrong(fabric_where, "node=0x1", FABRIC_NOT_FOUND,
		     "node=0x0000000000000001: not in the fabric now");
	end();
}
END_TEST

/* Cables that lead back to their switch are in no bundle; the ports of a switch have its LID. */
START_TEST(loops_and_lids)
{
	static const char topology[] = "Switch 6 \"S-0000000000000001\" # \"sw\"\n"
				       "[1] \"H-0000000000000011\"[1]\n"
				       "[2] \"S-0000000000000001\"[3]\n"
				       "[3] \"S-0000000000000001\"[2]\n\n"
				       "Hca 1 \"H-0000000000000011\" # \"host\"\n"
				       "[1] \"S-0000000000000001\"[1]\n";
	g_autofree char *file = NULL;
	JsonObject *answer;
	gint64 lid;
	int fd = g_file_open_tmp("loops.XXXXXX", &file, NULL);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert(g_file_set_contents(file, topology, -1, NULL));
	begin(file);
	unlink(file);
	answer = ask(fabric_whole, "");
	ck_assert_uint_eq(n_rows(answer, "bundles"), 0);
	ck_assert_int_eq(number_at(answer, "boxes", 0, "loops"), 1);
	lid = number_at(answer, "boxes", 0, "lid");
	ck_assert_int_gt(lid, 0);
	answer = ask(fabric_ports, "name=sw");
	ck_assert_uint_eq(n_rows(answer, "ports"), 6);
	for (guint i = 0; i < n_rows(answer, "ports"); i++)
		ck_assert_int_eq(number_at(answer, "ports", i, "lid"), lid);
	end();
}
END_TEST

/* A dead leaf, a lost cable, load and errors stand out where they are. */
START_TEST(trouble_stands_out)
{
	JsonObject *answer;
	uint32_t port;
	guint worst = 0;

	begin("fattree:8");
	port = image_bed_port(bed, "leaf-0-0", 5);
	image_bed_cut(bed, port);
	image_bed_count(bed, image_bed_port(bed, "leaf-0-0", 6), PERF_XMIT_DATA, 15000000000);
	image_bed_count(bed, image_bed_port(bed, "leaf-0-0", 6), PERF_SYMBOL_ERRORS, 100);
	look();
	answer = ask(fabric_summary, "");
	ck_assert_int_eq(total(answer, "lost"), 1);
	ck_assert_int_eq(total(answer, "ports_with_errors"), 1);
	for (guint i = 0; i < n_rows(answer, "boxes"); i++)
		if (number_at(answer, "boxes", i, "lost"))
			worst = i;
	ck_assert_str_eq(text_at(answer, "boxes", worst, "kind"), "group");
	ck_assert_int_eq(number_at(answer, "boxes", worst, "lost"), 2);
	{
		g_autofree char *pod = g_strdup(text_at(answer, "boxes", worst, "open"));

		answer = ask(fabric_links, pod);
	}
	ck_assert_int_eq(sum(answer, "bundles", "lost"), 1);
	for (guint i = 0; i < n_rows(answer, "bundles"); i++) {
		double load = json_node_get_double(cell(answer, "bundles", i, "load"));
		double errors = json_node_get_double(cell(answer, "bundles", i, "errors_minute"));

		ck_assert_int_eq(load > 0, errors > 0);
	}
	answer = ask(fabric_ports, "problem=lost");
	ck_assert_uint_eq(n_rows(answer, "ports"), 2);
	ck_assert_str_eq(text_at(answer, "ports", 0, "state"), "down");
	ck_assert_ptr_nonnull(text_at(answer, "ports", 0, "peer"));
	answer = ask(fabric_ports, "sort=load");
	ck_assert_uint_eq(n_rows(answer, "ports"), 1);
	ck_assert_str_eq(text_at(answer, "ports", 0, "node"), "leaf-0-0");
	ck_assert_int_eq(number_at(answer, "ports", 0, "port"), 6);
	end();
}
END_TEST

/* ---- lists ---- */

START_TEST(ports_in_parts)
{
	g_autofree char *arguments = g_strdup("limit=7");
	unsigned int n = 0, parts = 0;

	begin("fattree:4");
	for (;;) {
		JsonObject *answer = ask(fabric_ports, arguments);
		const char *next = json_object_get_null_member(answer, "next")
					   ? NULL
					   : json_object_get_string_member(answer, "next");

		n += n_rows(answer, "ports");
		parts++;
		g_free(arguments);
		arguments = NULL;
		if (!next)
			break;
		ck_assert_uint_eq(n_rows(answer, "ports"), 7);
		arguments = g_strdup_printf("limit=7&after=%s", next);
	}
	ck_assert_uint_eq(n, 20 * 4 + 16);
	ck_assert_uint_eq(parts, (20 * 4 + 16 + 6) / 7);
	end();
}
END_TEST

START_TEST(ports_that_fit)
{
	begin("fattree:4");
	ck_assert_uint_eq(n_rows(ask(fabric_ports, "name=LEAF-0-0"), "ports"), 4);
	ck_assert_uint_eq(n_rows(ask(fabric_ports, "state=active"), "ports"), 96);
	ck_assert_uint_eq(n_rows(ask(fabric_ports, "state=down"), "ports"), 0);
	ck_assert_uint_eq(n_rows(ask(fabric_ports, "problem=any"), "ports"), 0);
	ck_assert_uint_eq(n_rows(ask(fabric_ports, "name=host-3&limit=1"), "ports"), 1);
	ck_assert_uint_eq(n_rows(ask(fabric_ports, "node=0x0200000000000400"), "ports"), 1);
	ck_assert_uint_eq(n_rows(ask(fabric_ports, "node=0x0200000000000401"), "ports"), 1);
	ck_assert_uint_eq(n_rows(ask(fabric_nodes, "level=1"), "nodes"), 8);
	ck_assert_uint_eq(n_rows(ask(fabric_nodes, "level=3"), "nodes"), 4);
	ck_assert_uint_eq(n_rows(ask(fabric_nodes, "name=host-1"), "nodes"), 7);
	ck_assert_uint_eq(n_rows(ask(fabric_nodes, "limit=3"), "nodes"), 3);
	expect_wrong(fabric_ports, "limit=1001", FABRIC_WRONG,
		     "limit=1001: expected a number from 1 to 1000");
	expect_wrong(fabric_ports, "state=up", FABRIC_WRONG,
		     "state=up: expected ?, down, initialize, armed, active");
	expect_wrong(fabric_ports, "node=12", FABRIC_WRONG, "node=12: expected 0x and 16 digits");
	expect_wrong(fabric_ports, "after=x", FABRIC_WRONG,
		     "after=x: expected what the answer before had as next");
	expect_wrong(fabric_ports, "level=1", FABRIC_WRONG, "level= is not for this list");
	expect_wrong(fabric_ports, "sort=load&after=0x1", FABRIC_WRONG,
		     "sort= has one part only, without after=");
	expect_wrong(fabric_nodes, "switch=0x1", FABRIC_NOT_FOUND,
		     "switch=0x0000000000000001: not in the fabric now");
	expect_wrong(fabric_links, "group=0x1", FABRIC_NOT_FOUND,
		     "group=0x0000000000000001: not in the fabric now");
	expect_wrong(fabric_links, "group=0x1&set=0x2", FABRIC_WRONG,
		     "expected one of group=, set= and groups=");
	end();
}
END_TEST

START_TEST(both_ends)
{
	g_autofree char *arguments = NULL, *line = NULL;
	JsonObject *answer;
	uint32_t port;
	uint64_t guid;

	begin("fattree:4");
	port = image_bed_port(bed, "leaf-0-0", 1);
	guid = bed->subnet.fabric->nodes[bed->subnet.fabric->ports[port].node].guid;
	image_bed_count(bed, port, PERF_XMIT_DATA, UINT64_C(1) << 52);
	image_bed_count(bed, port, PERF_SYMBOL_ERRORS, 5);
	look();
	arguments = g_strdup_printf("node=0x%016" G_GINT64_MODIFIER "x&port=1", guid);
	answer = ask(fabric_cable, arguments);
	ck_assert_uint_eq(n_rows(answer, "ends"), 2);
	ck_assert_str_eq(text_at(answer, "ends", 0, "node"), "leaf-0-0");
	ck_assert_str_eq(text_at(answer, "ends", 1, "node"), text_at(answer, "ends", 0, "peer"));
	ck_assert_str_eq(text_at(answer, "counters", PERF_XMIT_DATA, "first"), "18014398509481984");
	ck_assert_int_eq(number_at(answer, "counters", PERF_SYMBOL_ERRORS, "first"), 5);
	ck_assert_int_eq(number_at(answer, "counters", PERF_SYMBOL_ERRORS, "second"), 0);
	line = fabric_history_line(argument, arguments, NULL);
	ck_assert_ptr_nonnull(strstr(line, "perfmgr history 0x"));
	ck_assert_ptr_nonnull(strstr(line, ":1 rate json"));
	expect_wrong(fabric_cable, "port=1", FABRIC_WRONG, "expected node= and port=");
	end();
}
END_TEST

/* Any host can put anything into the 64 octets of its NodeDescription. */
START_TEST(names_are_text)
{
	struct fabric_node *node;
	JsonObject *answer;

	begin("mesh:2");
	node = &bed->subnet.fabric->nodes[bed->subnet.fabric->switches[0].node];
	g_strlcpy(node->description, "<img src=x>\"\\\n\xff\xe2\x82\xac",
		  sizeof(node->description));
	look();
	answer = ask(fabric_nodes, "name=img");
	ck_assert_uint_eq(n_rows(answer, "nodes"), 1);
	ck_assert_str_eq(text_at(answer, "nodes", 0, "name"),
			 "<img src=x>\"\\\\x0a\\xff\xe2\x82\xac");
	end();
}
END_TEST

START_TEST(nothing_yet)
{
	begin("mesh:2");
	bed->source = (struct fabric_image_source){.run = 1};
	look();
	ck_assert_uint_eq(n_rows(ask(fabric_summary, ""), "boxes"), 0);
	ck_assert_uint_eq(n_rows(ask(fabric_ports, ""), "ports"), 0);
	ck_assert_uint_eq(n_rows(ask(fabric_nodes, ""), "nodes"), 0);
	end();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("web_fabric");
	TCase *pictures = tcase_create("pictures"), *lists = tcase_create("lists");

	tcase_add_loop_test(pictures, boxes_open, 0, G_N_ELEMENTS(fabrics));
	tcase_add_test(pictures, bundles);
	tcase_add_test(pictures, whole);
	tcase_add_loop_test(pictures, way_to_a_node, 0, G_N_ELEMENTS(fabrics));
	tcase_add_test(pictures, trouble_stands_out);
	tcase_add_test(pictures, loops_and_lids);
	suite_add_tcase(suite, pictures);
	tcase_add_test(lists, ports_in_parts);
	tcase_add_test(lists, ports_that_fit);
	tcase_add_test(lists, both_ends);
	tcase_add_test(lists, names_are_text);
	tcase_add_test(lists, nothing_yet);
	suite_add_tcase(suite, lists);
	return suite;
}
