// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Everything that may be in, or in place of, a file that a routing option names: each of these
 * files is accepted as a whole or refused with a message that names it, the line, its text and what
 * was expected.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/options.h"
#include "core/options_private.h"
#include "policy/files/route_files.h"
#include "policy/files/unknown_guids.h"
#include "route/value/fingerprint.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define LARGE (1u << 20)
#define VERY_LARGE (20u << 20) /* of one list and one table */

enum kind {
	GUIDS,	 /* a GUID a line */
	IDS,	 /* and a number */
	IGNORED, /* and possibly a port */
	ORDERS,	 /* and ports */
	WEIGHTS, /* and a port and a weight */
	LFTS,
	HOPS,
	KINDS,
};

#define FILES(X)                                                                                   \
	X(root_guid_file, GUIDS)                                                                   \
	X(cn_guid_file, GUIDS)                                                                     \
	X(io_guid_file, GUIDS)                                                                     \
	X(guid_routing_order_file, GUIDS)                                                          \
	X(ids_guid_file, IDS)                                                                      \
	X(port_prof_ignore_file, IGNORED)                                                          \
	X(port_search_ordering_file, ORDERS)                                                       \
	X(hop_weights_file, WEIGHTS)                                                               \
	X(lfts_file, LFTS)                                                                         \
	X(lid_matrix_dump_file, HOPS)

static const struct {
	const char *option;
	size_t offset;
	enum kind kind;
} files[] = {
#define X(name, kind) {#name, offsetof(struct options, name), kind},
	FILES(X)
#undef X
};

/* A right line of each kind, and the one before it if one is required. */
static const struct {
	const char *before, *line;
	const char *expected; /* in messages about a wrong one */
} kinds[KINDS] = {
	[GUIDS] = {"", "0x%x", "expected a GUID a line"},
	[IDS] = {"", "0x%x 7", "expected a node GUID and its number a line"},
	[IGNORED] = {"", "0x%x 1", "expected a port GUID, or a node GUID and the number of a port"},
	[ORDERS] = {"", "0x%x 2 1", "expected a switch GUID and its ports a line"},
	[WEIGHTS] = {"", "0x%x 1 4", "expected a switch GUID, a port and its weight from 1 to 255"},
	[LFTS] = {"Unicast lids guid 0x200000:\n", "0x%x 1", "expected 'Unicast lids ... guid"},
	[HOPS] = {"Switch: guid 0x200000\n", "0x%x: 00 01", "expected 'Switch: guid GUID'"},
};

/* ---- possible contents ---- */

#define ALL ((1u << KINDS) - 1)
#define OF(kind) (1u << (kind))
#define ROUTES (OF(LFTS) | OF(HOPS))
#define GUID_FILES (ALL & ~ROUTES)

/*
 * After a right line; %L is a right line, %0 that without 0x. Kinds of files that accept it; all
 * others name the line, counted from 1 with that of the switch in front, and these words.
 */
static const struct {
	const char *what, *text;
	unsigned int taken; /* by kinds */
	unsigned int line;
	const char *told;
} contents[] = {
	{"nothing more", "", ALL, 0, NULL},
	{"blank lines and remarks", "\n\n  # remark\n\t\n", ALL, 0, NULL},
	{"a remark behind", "%L # remark\n", ALL, 0, NULL},
	{"CRLF", "%L\r\n\r\n", ALL, 0, NULL},
	{"no line end", "%L", ALL, 0, NULL},
	{"a GUID without 0x", "%0\n", ALL, 0, NULL},
	{"the same line twice", "%L\n%L\n", GUID_FILES, 3, "is listed twice"},
	{"a name behind", "%L spine-1\n", GUID_FILES, 2, "spine-1"},
	{"words", "garbage\n", 0, 2, "'garbage'"},
	{"octets", "\x7f\x01\xfe\xff\n", 0, 2, "'\\177\\001\\376\\377'"},
	{"GUID 0", "0x0\n", 0, 2, "'0x0'"},
	{"a GUID of 17 digits", "0x10000000000000000 1 1\n", 0, 2, "'0x10000000000000000"},
	{"a sign", "-1 1 1\n", 0, 2, "'-1 1 1'"},
	{"port 300", "0x9 300 300\n", OF(GUIDS) | OF(IDS), 2, "'0x9 300 300'"},
	{"port 300 and a colon", "0x9: 300\n", 0, 2, "'0x9: 300'"},
	{"port 0", "0x9 0 1\n", OF(GUIDS) | OF(IDS) | OF(IGNORED), 2, "'0x9 0 1'"},
	{"weight 0", "0x9 1 0\n", GUID_FILES & ~OF(ORDERS), 2, "'0x9 1 0'"},
	{"part of a line", "0x9 \n", OF(GUIDS) | OF(IGNORED), 2, "'0x9"},
	{"too many numbers", "0x9 1 2 3 x\n", GUID_FILES, 2, "'0x9 1 2 3 x'"},
	{"an escape", "\x1b[2J\n", 0, 2, "'\\033[2J'"},
};

/* ---- files ---- */

static char *directory;

static char *path(void)
{
	return g_build_filename(directory, "input", NULL);
}

static void make_directory(void)
{
	directory = g_dir_make_tmp("inputs-XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
	ck_assert_int_eq(chmod(directory, 0755), 0);
}

static void remove_directory(void)
{
	g_autofree char *name = path();

	if (unlink(name))
		rmdir(name);
	rmdir(directory);
	g_free(directory);
}

/* Without the synchronization of g_file_set_contents(). */
static void put(const char *name, const char *text, ssize_t length)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	if (length < 0)
		length = strlen(text);
	ck_assert_uint_eq(fwrite(text, 1, length, file), length);
	ck_assert_int_eq(fclose(file), 0);
}

static char *right_line(enum kind kind, unsigned int number, bool prefix)
{
	char *line = g_strdup_printf(kinds[kind].line, number); /* one of this file */

	if (!prefix)
		memmove(line, line + 2, strlen(line) - 1);
	return line;
}

/* The text with lines of this kind inserted; free it. */
static char *expand(enum kind kind, const char *text)
{
	g_autofree char *line = right_line(kind, 0x10, true), *bare = right_line(kind, 0x11, false);
	g_auto(GStrv) parts = g_strsplit(text, "%L", -1);
	g_autofree char *with = g_strjoinv(line, parts);
	g_auto(GStrv) rest = g_strsplit(with, "%0", -1);

	return g_strjoinv(bare, rest);
}

static struct route_files *load(size_t file, const char *name, GError **error)
{
	struct options *options = options_new();
	char **option = (char **)((char *)options + files[file].offset);
	struct route_files *loaded;

	ck_assert_ptr_null(*option);
	*option = g_strdup(name);
	loaded = route_files_load(options, error);
	ck_assert_msg(!error || !loaded == !!*error, "%s", files[file].option);
	options_unref(options);
	return loaded;
}

/* Refused with these words, and nothing that could harm a terminal. */
static void refused(size_t file, const char *name, const char *told)
{
	GError *error = NULL;
	bool harmless = true;

	ck_assert_msg(!load(file, name, &error), "%s: taken", files[file].option);
	ck_assert_msg(strstr(error->message, told) != NULL, "%s: '%s' is not in: %s",
		      files[file].option, told, error->message);
	for (const char *c = error->message; *c; c++)
		harmless &= ((unsigned char)*c >= ' ' && *c != 0x7f) ||
			    *c == '\n'; /* one mistake a line */
	ck_assert_msg(harmless, "%s", error->message);
	ck_assert_uint_lt(strlen(error->message), 20 * 1000); /* the first mistakes, one a line */
	g_error_free(error);
}

static void taken(size_t file, const char *name)
{
	GError *error = NULL;
	struct route_files *loaded = load(file, name, &error);

	ck_assert_msg(loaded != NULL, "%s: %s", files[file].option, error ? error->message : "");
	route_files_unref(loaded);
}

static void check_content(size_t file, size_t i)
{
	enum kind kind = files[file].kind;
	bool behind = *kinds[kind].before; /* the line of the switch */
	g_autofree char *name = path(), *first = right_line(kind, 1, true);
	g_autofree char *rest = expand(kind, contents[i].text);
	g_autofree char *text = g_strconcat(kinds[kind].before, first, "\n", rest, NULL);
	g_autofree char *where = NULL;

	put(name, text, -1);
	if (contents[i].taken & OF(kind)) {
		taken(file, name);
		return;
	}
	where = g_strdup_printf("%s:%u: ", name, contents[i].line + behind);
	refused(file, name, where);
	refused(file, name, contents[i].told);
	refused(file, name, kinds[kind].expected);
}

/* Loop test: each file with each content. */
START_TEST(test_contents)
{
	for (size_t file = 0; file < G_N_ELEMENTS(files); file++)
		check_content(file, _i);
}
END_TEST

START_TEST(test_no_file)
{
	g_autofree char *name = path();

	for (size_t file = 0; file < G_N_ELEMENTS(files); file++)
		refused(file, name, name);
	for (size_t file = 0; file < G_N_ELEMENTS(files); file++)
		refused(file, name, "No such file");
	ck_assert_int_eq(mkdir(name, 0755), 0);
	for (size_t file = 0; file < G_N_ELEMENTS(files); file++) {
		refused(file, name, name);
		refused(file, name, "irectory");
	}
}
END_TEST

/* Root may read everything: as another user, which ends with this process. */
START_TEST(test_no_permission)
{
	g_autofree char *name = path();

	put(name, "0x1\n", -1);
	ck_assert_int_eq(chmod(name, 0), 0);
	if (!geteuid())
		ck_assert_int_eq(seteuid(65534), 0);
	for (size_t file = 0; file < G_N_ELEMENTS(files); file++) {
		refused(file, name, name);
		refused(file, name, "ermission denied");
	}
	if (!getuid())
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* An empty file: a list may be empty, tables may not. */
START_TEST(test_empty)
{
	g_autofree char *name = path();

	put(name, "", 0);
	for (size_t file = 0; file < G_N_ELEMENTS(files); file++) {
		if (ROUTES & OF(files[file].kind))
			refused(file, name, "ends without any switch, expected");
		else
			refused(file, name, "it is empty; write its contents");
	}
}
END_TEST

/* Octets that are not text: NUL among them, and all values. */
START_TEST(test_binary)
{
	g_autofree char *name = path();
	g_autofree char *octets = g_malloc(65536);
	uint64_t state = 1;

	for (unsigned int seed = 0; seed < 20; seed++) {
		for (unsigned int i = 0; i < 65536; i++)
			octets[i] = (char)make_number(&state, 256);
		put(name, octets, 65536);
		for (size_t file = 0; file < G_N_ELEMENTS(files); file++)
			refused(file, name, "input:");
	}
}
END_TEST

/* Cut anywhere: accepted or refused, depending on the cut, but never anything else. */
START_TEST(test_truncated)
{
	g_autofree char *name = path();

	for (size_t file = 0; file < G_N_ELEMENTS(files); file++) {
		enum kind kind = files[file].kind;
		g_autofree char *line = right_line(kind, 0x1000, true);
		g_autofree char *text = g_strconcat(kinds[kind].before, line, "\n", NULL);

		for (size_t length = strlen(text); length; length--) {
			GError *error = NULL;
			struct route_files *loaded;

			put(name, text, length);
			loaded = load(file, name, &error);
			ck_assert(length < strlen(text) - 1 || loaded);
			ck_assert_msg(!error || strstr(error->message, "expected"), "%s",
				      error ? error->message : "");
			g_clear_error(&error);
			route_files_unref(loaded);
		}
	}
}
END_TEST

/* Megabytes of right lines are read, and a wrong one after them is found; so is one long line. */
START_TEST(test_large)
{
	size_t file = _i;
	enum kind kind = files[file].kind;
	GString *text = g_string_new(kinds[kind].before);
	g_autofree char *name = path();
	size_t size = file && kind != LFTS ? LARGE : VERY_LARGE;
	unsigned int n = 0;

	while (text->len < size) {
		if (ROUTES & OF(kind) && n % 0xBFFF == 0 && n)
			g_string_append_printf(text, kind == LFTS ? "Unicast lids guid 0x%x:\n"
								  : "Switch: guid 0x%x\n", n);
		g_string_append_printf(text, kinds[kind].line,
				       ROUTES & OF(kind) ? 1 + n % 0xBFFF : 1 + n);
		g_string_append_c(text, '\n');
		n++;
	}
	put(name, text->str, text->len);
	taken(file, name);
	g_string_append(text, "garbage\n");
	put(name, text->str, text->len);
	refused(file, name, "'garbage'");
	memset(text->str, 'x', text->len);
	put(name, text->str, text->len);
	refused(file, name, "input:1: 'xxxx");
	g_string_free(text, TRUE);
}
END_TEST

/*
 * Loaded as hop_weights_file: the warning, one that counts further ones or NULL, the n-th weight.
 */
static void check_weights(const char *text, const char *warning, const char *more, uint32_t n,
			  uint8_t weight)
{
	g_autofree char *name = path();
	struct route_files *loaded;
	struct route_input input;
	struct options *options = options_new();
	size_t file = 0;

	while (files[file].kind != WEIGHTS)
		file++;
	put(name, text, -1);
	loaded = load(file, name, NULL);
	ck_assert_ptr_nonnull(loaded);
	ck_assert_uint_eq(route_files_warnings(loaded)->len, more ? 2 : 1);
	if (more)
		ck_assert_ptr_nonnull(strstr(route_files_warnings(loaded)->pdata[1], more));
	ck_assert_msg(strstr(route_files_warnings(loaded)->pdata[0], warning) != NULL, "%s",
		      (char *)route_files_warnings(loaded)->pdata[0]);
	ck_assert(g_str_has_prefix(route_files_warnings(loaded)->pdata[0], "hop_weights_file: "));
	route_files_input(loaded, options, &input);
	ck_assert_uint_gt(input.n_weights, n);
	ck_assert_uint_eq(input.weights[n].weight, weight);
	route_files_unref(loaded);
	options_unref(options);
}

/* As in the classic daemon: 0 as if it were missing, and of two weights the last. */
START_TEST(test_odd_weights)
{
	check_weights("0x5 1 2\n0x5 2 3\n0x5 1 3\n0x5 1 3\n",
		      "input:3: port 1 of switch 0x0000000000000005 has weight 2 in line 1, which "
		      "weight 3 of this line replaces", NULL, 2, 3);
	check_weights("0x5 1 2\n# a\n0x5 2 0\n",
		      "input:3: weight 0 of port 2 of switch 0x0000000000000005 counts as 1, "
		      "expected 1 to 255", NULL, 1, 1);
	check_weights("0x5 1 0\n0x5 2 0\n0x5 3 0x0\n",
		      "input:1: weight 0 of port 1 of switch 0x0000000000000005 counts as 1",
		      "input: 2 more lines with weight 0", 2, 1);
}
END_TEST

/* Equal files compare as equal; different ones do not. */
START_TEST(test_same)
{
	g_autofree char *name = path();

	for (size_t file = 0; file < G_N_ELEMENTS(files); file++) {
		enum kind kind = files[file].kind;
		g_autofree char *a = right_line(kind, 5, true), *b = right_line(kind, 6, true);
		g_autofree char *one = g_strconcat(kinds[kind].before, a, NULL);
		g_autofree char *two = g_strconcat(kinds[kind].before, b, NULL);
		struct route_files *first, *second, *none = load(file, NULL, NULL);

		put(name, one, -1);
		first = load(file, name, NULL);
		ck_assert(route_files_same(first, first));
		ck_assert(!route_files_same(first, none));
		put(name, two, -1);
		second = load(file, name, NULL);
		ck_assert(!route_files_same(first, second));
		route_files_unref(first);
		route_files_unref(second);
		route_files_unref(none);
	}
}
END_TEST

/* ---- well formed but unknown ---- */

/* Each file with unknown GUIDs is named, with the first of them and the reason. */
START_TEST(test_strangers)
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	uint32_t sw = fabric->switches[0].node, host = 0;
	struct route_input input = {0};
	char *text = unknown_guids_tell(fabric, &input);

	ck_assert_ptr_null(text);
	while (fabric_is_switch(fabric, host))
		host++;
	uint64_t switch_guid = fabric->nodes[sw].guid, node_guid = fabric->nodes[host].guid;
	uint64_t port_guid = fabric->ports[fabric_port_of(fabric, host, 1)].guid;
	uint64_t ports[] = {port_guid, node_guid, 0xdead};
	struct route_id ids[] = {{switch_guid, 1}, {0xbeef, 2}};
	struct route_endport ignored[] = {
		{port_guid, -1}, {node_guid, 1}, {node_guid, 9}, {0xdead, 1}, {0xdead, -1},
	};
	struct route_port_order orders[] = {{switch_guid, 1, {1}}, {node_guid, 1, {1}}};

	input.ahead = input.compute = input.io = ports;
	input.n_ahead = 3;
	input.n_compute = 1;
	input.ids = ids;
	input.n_ids = 2;
	input.ignored = ignored;
	input.n_ignored = G_N_ELEMENTS(ignored);
	input.port_orders = orders;
	input.n_port_orders = 2;
	ck_assert(port_guid != node_guid);
	text = unknown_guids_tell(fabric, &input);
	g_autofree char *expected = g_strdup_printf(
		"guid_routing_order_file: 2 of 3 lines name no port of the subnet (0x%016" PRIx64
		" is that of a node); ids_guid_file: 1 of 2 lines name no switch of the subnet "
		"(0x000000000000beef is not in the subnet); port_search_ordering_file: 1 of 2 "
		"lines name no switch of the subnet (0x%016" PRIx64 " is not a switch); "
		"port_prof_ignore_file: 3 of 5 lines name no port of the subnet (0x%016" PRIx64
		" has no port of that number)",
		node_guid, node_guid, node_guid);
	ck_assert_str_eq(text, expected);
	g_free(text);
	fabric_unref(fabric);
}
END_TEST

/* Unknown GUIDs and ports do not harm any engine: the routes are those without the file. */
START_TEST(test_unknown)
{
	static const char *const engines[] = {"minhop", "updn", "dnup", "ftree", "dor"};
	struct fabric *fabric = make_fabric("fattree:4", 0);
	g_autofree char *name = path();

	for (size_t file = 0; file < G_N_ELEMENTS(files); file++) {
		enum kind kind = files[file].kind;
		g_autofree char *line = right_line(kind, 0xdead, true);
		struct route_input plain, input;
		struct route_files *loaded;
		struct options *options;

		if (ROUTES & OF(kind))
			continue; /* see test_dump, test_route_file */
		options = options_new();
		put(name, line, -1);
		loaded = load(file, name, NULL);
		route_files_input(NULL, options, &plain);
		route_files_input(loaded, options, &input);
		for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
			const struct route_engine *engine = route_find(engines[i]);
			g_autoptr(GError) error = NULL;
			struct routing *a = route_compute(engine, fabric, &plain, NULL);
			struct routing *b = route_compute(engine, fabric, &input, &error);

			ck_assert(a && (b || error));
			if (!b) /* an engine may require one of those that are named */
				ck_assert_msg(strstr(error->message, "root") ||
						      strstr(error->message, "compute node"),
					      "%s", error->message);
			for (uint32_t sw = 0; b && sw < a->n_switches; sw++)
				if (files[file].kind != GUIDS)
					ck_assert_int_eq(memcmp(a->lft[sw], b->lft[sw],
								a->top + 1u), 0);
			routing_unref(a);
			routing_unref(b);
		}
		route_files_unref(loaded);
		options_unref(options);
	}
	fabric_unref(fabric);
}
END_TEST

/* Routes of another subnet are useless: the engine says so and leaves it to the next one. */
START_TEST(test_foreign)
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	g_autofree char *name = path();

	for (size_t file = 0; file < G_N_ELEMENTS(files); file++) {
		enum kind kind = files[file].kind;
		g_autofree char *line = right_line(kind, 1, true);
		g_autofree char *text = g_strconcat(kinds[kind].before, line, NULL);
		struct route_files *loaded;
		struct route_input input;
		struct options *options;
		GError *error = NULL;

		if (!(ROUTES & OF(kind)))
			continue;
		put(name, text, -1);
		options = options_new();
		loaded = load(file, name, NULL);
		route_files_input(loaded, options, &input);
		ck_assert_ptr_null(route_compute(route_find("file"), fabric, &input, &error));
		ck_assert_msg(g_str_has_prefix(error->message, name) &&
			      strstr(error->message, ": none of its switches is in the subnet"),
			      "%s", error->message);
		g_error_free(error);
		route_files_unref(loaded);
		options_unref(options);
	}
	fabric_unref(fabric);
}
END_TEST

/* ---- rows of inputs.def ---- */

static char *word_by(const struct options *options, const struct route_files *read)
{
	struct route_input input;

	route_files_input(read, options, &input);
	return fingerprint_of_input(&input);
}

/* A value within the bounds of the option that is not its default. */
static char *other_value(enum option_id id)
{
	const struct option *option = &option_table[id];

	if (option->kind == OPTION_KIND_BOOL)
		return g_strdup(strcmp(option->def, "TRUE") ? "TRUE" : "FALSE");
	return g_strdup_printf("%" PRIu64, (uint64_t)option->min + 1 + !strcmp(option->def, "1"));
}

static const enum option_id given[] = {
#define INPUT(member, type, option) OPTION_##option,
#include "route/inputs.def"
};

/* Each option is part of the input, and changes it. */
START_TEST(test_options_count)
{
	g_autofree char *value = other_value(given[_i]);
	g_autoptr(GError) error = NULL;
	struct options *before = options_new(),
		       *options = options_copy_with(before, given[_i], value, &error);
	g_autofree char *plain = word_by(before, NULL), *word = NULL;

	ck_assert_msg(options, "%s", error ? error->message : "");
	word = word_by(options, NULL);
	ck_assert_msg(strcmp(plain, word) != 0, "%s %s", option_table[given[_i]].name, value);
	options_unref(before);
	options_unref(options);
}
END_TEST

/* Each list of a file counts, by its contents and by its length. */
START_TEST(test_lists_count)
{
	struct options *options = options_new();
	struct route_input plain;
	g_autofree char *before = NULL;

	route_files_input(NULL, options, &plain);
	before = fingerprint_of_input(&plain);
#define LIST(member, kind, option, readers)                                                        \
	{                                                                                          \
		static const ROUTE_LIST_##kind some[2];                                            \
		struct route_input input = plain;                                                  \
		g_autofree char *one = NULL, *two = NULL;                                          \
                                                                                                   \
		input.member = some;                                                               \
		input.n_##member = 1;                                                              \
		one = fingerprint_of_input(&input);                                                \
		input.n_##member = 2;                                                              \
		two = fingerprint_of_input(&input);                                                \
		ck_assert_msg(strcmp(before, one) && strcmp(one, two), #member);                   \
	}
#include "route/inputs.def"
	options_unref(options);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_inputs");
	TCase *tests = tcase_create("route_inputs");

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, make_directory, remove_directory);
	tcase_add_loop_test(tests, test_contents, 0, G_N_ELEMENTS(contents));
	tcase_add_test(tests, test_no_file);
	tcase_add_test(tests, test_no_permission);
	tcase_add_test(tests, test_empty);
	tcase_add_test(tests, test_binary);
	tcase_add_test(tests, test_truncated);
	tcase_add_loop_test(tests, test_large, 0, G_N_ELEMENTS(files));
	tcase_add_test(tests, test_odd_weights);
	tcase_add_test(tests, test_strangers);
	tcase_add_test(tests, test_same);
	tcase_add_test(tests, test_unknown);
	tcase_add_test(tests, test_foreign);
	tcase_add_loop_test(tests, test_options_count, 0, G_N_ELEMENTS(given));
	tcase_add_test(tests, test_lists_count);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
