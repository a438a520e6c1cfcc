// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The node name map: what its lines mean, what is wrong with them, and what nodes are called. */
#include <check.h>
#include <string.h>

#include "core/skipped_lines.h"
#include "policy/names/node_name_map.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A64 "a" A63
#define CUT_OFF "...', expected a name of at most 128 octets, the rest is cut off"
#define WANTS_GUID "expected the GUID of a node or a port, as 0x and hex digits, and a name"
#define WANTS_TEXT "expected a name in UTF-8 without control characters"

static const struct {
	const char *text;
	const char *name;    /* of GUID 0x10; NULL: none */
	const char *warning; /* all of it; NULL: none */
} lines[] = {
	{"", NULL, NULL},
	{"\n \t\r\n# 0x10 \"no\"\n   # none\n", NULL, NULL},
	{"0x10 \"leaf 1\"\n", "leaf 1", NULL},
	{"0X0000000000000010\t\"leaf 1\" # the first\r\n", "leaf 1", NULL},
	{"16 leaf 1", "leaf 1", NULL},
	{"020 leaf 1", "leaf 1", NULL},
	{"\v 0x10   leaf 1   # the first", "leaf 1", NULL},
	{"0x10 \"leaf 1", "leaf 1", NULL},
	{"0x10 \"leaf#1\"", "leaf", NULL}, /* as infiniband-diags reads it */
	{"0x10 o'leaf\\1", "o'leaf\\1", NULL},
	{"0x10 \"B\303\274ro 1\"\n", "B\303\274ro 1", NULL},
	{"0x10", NULL, NULL},
	{"0x10#leaf", NULL, NULL},
	{"0x10 # leaf", NULL, NULL},
	{"0x10 \"\" leaf", NULL, NULL},
	{"0x10 \"  \"", NULL, NULL},
	{"leaf\n0x10 a", "a", "f:1: found 'leaf', " WANTS_GUID},
	{"0x10 a\n0x10a1\"b\"\n", "a", "f:2: found '0x10a1\"b\"', " WANTS_GUID},
	{"0002c90300000001 a", NULL, "f:1: found '0002c90300000001 a', " WANTS_GUID},
	{"0 a", NULL, "f:1: found '0 a', " WANTS_GUID},
	{"-16 a", NULL, "f:1: found '-16 a', " WANTS_GUID},
	{"0x a", NULL, "f:1: found '0x a', " WANTS_GUID},
	{"0x10000000000000000 a", NULL, "f:1: found '0x10000000000000000 a', " WANTS_GUID},
	{"0x10 a\n16 b\n", "a",
	 "f:2: found 'b', expected one line for 0x0000000000000010, which line 1 has named "
	 "already"},
	{"0x10 a\033[2J", NULL, "f:1: found 'a\\033[2J', " WANTS_TEXT},
	{"0x10 a\177", NULL, "f:1: found 'a\\177', " WANTS_TEXT},
	{"0x10 a\302\205b", NULL, "f:1: found 'a\\302\\205b', " WANTS_TEXT},
	{"0x10 a\342\200\250b", NULL, "f:1: found 'a\\342\\200\\250b', " WANTS_TEXT},
	{"0x10 a\342\200\256b", NULL, "f:1: found 'a\\342\\200\\256b', " WANTS_TEXT},
	{"0x10 B\374ro", NULL, "f:1: found 'B\\374ro', " WANTS_TEXT},
	{"0x10 " A64 A64, A64 A64, NULL},
	{"0x10 " A64 A64 "b", A64 A64, "f:1: found '" A64 CUT_OFF},
	{"0x10 " A64 A63 "\303\274", A64 A63, "f:1: found '" A64 CUT_OFF},
};

START_TEST(a_line)
{
	const char *text = lines[_i].text, *told;
	struct node_names *names = node_name_map_parse("f", text, strlen(text));

	ck_assert_pstr_eq(node_names_find(names, 0x10), lines[_i].name);
	ck_assert_uint_eq(names->warnings->len, lines[_i].warning != NULL);
	told = names->warnings->len ? names->warnings->pdata[0] : NULL;
	ck_assert_pstr_eq(told, lines[_i].warning);
	node_names_unref(names);
}
END_TEST

START_TEST(a_nul_costs_its_line)
{
	static const char text[] = "0x10 a\n0x11 b\0c\n0x12 d\n";
	struct node_names *names = node_name_map_parse("f", text, sizeof(text) - 1);

	ck_assert_str_eq(node_names_find(names, 0x10), "a");
	ck_assert_ptr_null(node_names_find(names, 0x11));
	ck_assert_str_eq(node_names_find(names, 0x12), "d");
	ck_assert_uint_eq(names->warnings->len, 1);
	ck_assert_str_eq(names->warnings->pdata[0],
			 "f:2: found '0x11 b', expected text, without NUL");
	node_names_unref(names);
}
END_TEST

START_TEST(many_wrong_lines_are_counted)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct node_names *names;

	for (unsigned int i = 0; i < SKIPPED_LINES_TOLD + 7; i++)
		g_string_append(text, "x\n");
	g_string_append(text, "0x10 a");
	names = node_name_map_parse("f", text->str, text->len);
	ck_assert_str_eq(node_names_find(names, 0x10), "a");
	ck_assert_uint_eq(names->warnings->len, SKIPPED_LINES_TOLD + 1);
	ck_assert_str_eq(names->warnings->pdata[SKIPPED_LINES_TOLD], "f: 7 more lines are wrong");
	node_names_unref(names);
}
END_TEST

START_TEST(a_missing_file_is_an_error_except_at_a_start)
{
	g_autoptr(GError) error = NULL;
	struct node_names *names = node_name_map_load("/nonexistent/file", true, &error);

	ck_assert_ptr_nonnull(names);
	ck_assert(node_names_are_empty(names));
	ck_assert_uint_eq(names->warnings->len, 1);
	ck_assert_ptr_nonnull(strstr(names->warnings->pdata[0], "/nonexistent/file: No such file"));
	node_names_unref(names);
	ck_assert_ptr_null(node_name_map_load("/nonexistent/file", false, &error));
	ck_assert_ptr_nonnull(error);
	g_clear_error(&error);
	ck_assert_ptr_null(node_name_map_load("/", true, &error)); /* no start with a directory */
	ck_assert_ptr_nonnull(error);
}
END_TEST

START_TEST(no_file_is_no_map)
{
	struct node_names *names = node_name_map_load(_i ? "" : NULL, false, NULL);

	ck_assert_ptr_nonnull(names);
	ck_assert(node_names_are_empty(names));
	ck_assert_uint_eq(names->warnings->len, 0);
	node_names_unref(names);
}
END_TEST

static struct node_names *make(const char *text)
{
	return node_name_map_parse("f", text, strlen(text));
}

START_TEST(compared)
{
	struct node_names *a = make("0x10 a\n0x11 b\n"), *b = make("17 \"b\"\nwrong\n16 a # x\n");
	struct node_names *c = make("0x10 a\n0x11 c\n"), *d = make("0x10 a\n");

	ck_assert(node_names_same(a, b));
	ck_assert(!node_names_same(a, c));
	ck_assert(!node_names_same(a, d));
	ck_assert(!node_names_same(d, a));
	node_names_unref(a);
	node_names_unref(b);
	node_names_unref(c);
	node_names_unref(d);
}
END_TEST

/* A map with one line. */
static struct node_names *name_one(uint64_t guid, const char *name)
{
	struct node_names *names = node_names_new();

	node_names_add(names, guid, name);
	return names;
}

static uint32_t host_of(const struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (!fabric_is_switch(fabric, i))
			return i;
	ck_abort_msg("there is no host");
}

START_TEST(a_frozen_fabric_keeps_its_names)
{
	struct builder *builder = make_builder_of("fattree:4");
	struct fabric *before = builder_freeze_changes(builder), *named, *without;
	uint32_t host = host_of(before);
	const struct fabric_node *node = &before->nodes[host];
	uint64_t port = before->ports[node->first_port + 1].guid;
	const char *description = node->description;
	struct builder_node *built = builder_find(builder, node->guid);
	char name[FABRIC_NAME_SIZE], buffer[BUILDER_NAME_SIZE];
	struct node_names *names = name_one(_i ? port : node->guid, "B\303\274ro 1");
	g_autofree char *shown = NULL;

	ck_assert_ptr_null(fabric_given_name(before, host));
	ck_assert_str_eq(builder_called(built, buffer), description);
	builder_set_names(builder, names);
	node_names_unref(names);
	ck_assert(!builder_is_frozen(builder, before));
	ck_assert_str_eq(builder_called(built, buffer), "B\303\274ro 1");
	named = builder_freeze_changes(builder);
	builder_set_names(builder, NULL);
	without = builder_freeze_changes(builder);

	ck_assert_str_eq(fabric_called(before, host), description);
	ck_assert_str_eq(fabric_called(named, host), "B\303\274ro 1");
	ck_assert_str_eq(fabric_called(without, host), description);
	ck_assert_uint_eq(named->shape, before->shape);
	ck_assert_str_eq(named->nodes[host].description, description);
	ck_assert(fabric_is_called(named, host, description));
	ck_assert(fabric_is_called(named, host, "B\303\274ro 1"));
	ck_assert(!fabric_is_called(before, host, "B\303\274ro 1"));
	ck_assert(
		g_str_has_prefix(fabric_port_name(named, node->first_port + 1u, name, sizeof(name)),
				 "B\303\274ro 1 (0x"));
	shown = fabric_shown_name(named, host);
	ck_assert_str_eq(shown, "B\303\274ro 1");
	for (uint32_t i = 0; i < named->n_nodes; i++)
		ck_assert(i == host || !fabric_given_name(named, i));
	fabric_unref(before);
	fabric_unref(named);
	fabric_unref(without);
	builder_free(builder);
}
END_TEST

/* A node without a name is shown by its GUID, and octets that no terminal should get as others. */
START_TEST(names_are_shown)
{
	static const char *const descriptions[] = {"a\tb", ""};
	struct builder *builder = make_builder_of("fattree:4");
	struct fabric *fabric = builder_freeze(builder);
	struct fabric_node *node = &fabric->nodes[host_of(fabric)];
	g_autofree char *guid = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", node->guid);
	const char *expected[] = {"a\\x09b", guid};

	for (unsigned int i = 0; i < G_N_ELEMENTS(descriptions); i++) {
		g_autofree char *shown = NULL;

		g_strlcpy(node->description, descriptions[i], sizeof(node->description));
		shown = fabric_shown_name(fabric, (uint32_t)(node - fabric->nodes));
		ck_assert_str_eq(shown, expected[i]);
	}
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

START_TEST(the_longest_name_fits)
{
	struct builder *builder = make_builder_of("fattree:4");
	struct fabric *fabric = builder_freeze(builder);
	uint64_t guid = fabric->nodes[0].guid;
	struct node_names *names = name_one(guid, A64 A64);
	g_autofree char *expected =
		g_strdup_printf(A64 A64 " (0x%016" G_GINT64_MODIFIER "x)", guid);
	char name[FABRIC_NAME_SIZE], few[10];

	fabric_unref(fabric);
	builder_set_names(builder, names);
	node_names_unref(names);
	fabric = builder_freeze(builder);
	ck_assert_str_eq(fabric_node_name(fabric, 0, name, sizeof(name)), expected);
	ck_assert_str_eq(fabric_node_name(fabric, 0, few, sizeof(few)), "aaaaaaaaa");
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("node_names");
	TCase *tcase = tcase_create("node_names");

	tcase_add_loop_test(tcase, a_line, 0, G_N_ELEMENTS(lines));
	tcase_add_test(tcase, a_nul_costs_its_line);
	tcase_add_test(tcase, many_wrong_lines_are_counted);
	tcase_add_test(tcase, a_missing_file_is_an_error_except_at_a_start);
	tcase_add_loop_test(tcase, no_file_is_no_map, 0, 2);
	tcase_add_test(tcase, compared);
	tcase_add_loop_test(tcase, a_frozen_fabric_keeps_its_names, 0, 2);
	tcase_add_test(tcase, names_are_shown);
	tcase_add_test(tcase, the_longest_name_fits);
	suite_add_tcase(suite, tcase);
	return suite;
}
