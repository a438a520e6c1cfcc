// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The manual pages and samples against the table of options, and that of the thresholds by which
 * routes are kept: they must agree exactly.
 */
#include "core/options_private.h"
#include "tests/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* An entry of a list of options: the words of its .It lines, and the text below. */
struct entry {
	GPtrArray *items; /* of GStrv */
	GString *text;
};

static void entry_free(void *data)
{
	struct entry *entry = data;

	g_ptr_array_unref(entry->items);
	g_string_free(entry->text, TRUE);
	g_free(entry);
}

/* Entries of the section that begins with this line, up to the next section. */
static GPtrArray *read_entries(const char *page, const char *section)
{
	g_autofree char *file = g_build_filename(MAN_DIR, page, NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *entries = g_ptr_array_new_with_free_func(entry_free);
	struct entry *entry = NULL;
	bool inside = false;

	ck_assert_msg(g_file_get_contents(file, &text, NULL, NULL), "%s", file);
	lines = g_strsplit(text, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++) {
		if (g_str_has_prefix(lines[i], ".Sh "))
			inside = strcmp(lines[i] + 4, section) == 0;
		if (!inside)
			continue;
		if (!g_str_has_prefix(lines[i], ".It ")) {
			if (entry)
				g_string_append_printf(entry->text, "%s\n", lines[i]);
			continue;
		}
		if (!entry || entry->text->len) {
			entry = g_new0(struct entry, 1);
			entry->items = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
			entry->text = g_string_new(NULL);
			g_ptr_array_add(entries, entry);
		}
		g_ptr_array_add(entry->items, g_strsplit(lines[i] + 4, " ", -1));
	}
	return entries;
}

/* "Default: VALUE" as a line of the entry, with or without a unit after it. */
static bool tells_default(const struct entry *entry, const char *def)
{
	g_autofree char *bare = g_strdup_printf("Default: %s.\n", def ? def : "unset");
	g_autofree char *with_unit = g_strdup_printf("Default: %s ", def ? def : "unset");

	return strstr(entry->text->str, bare) || strstr(entry->text->str, with_unit);
}

/* An option that does not work as described is marked, and no other. */
static bool tells_state(const struct entry *entry, const struct option *option)
{
	bool always = strstr(entry->text->str, "Always done, regardless of this value.\n");

	return always == (option->state == OPTION_STATE_ALWAYS);
}

/* ---- opensm(8) ---- */

/* The row with this flag or letter, -1 an action, -2 none. */
static int find_flag(const char *word)
{
	bool is_long = word[0] == '-';

	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (is_long ? g_strcmp0(option_table[id].flag, word + 1) == 0
			    : option_table[id].letter == word[0] && !word[1])
			return (int)id;
	for (unsigned int i = 0; i < OPTION_ACTION_COUNT; i++)
		if (is_long ? strcmp(option_actions[i].flag, word + 1) == 0
			    : option_actions[i].letter == word[0] && !word[1])
			return -1;
	return -2;
}

static void check_flag_entry(const struct entry *entry, unsigned int *seen)
{
	char **words = g_ptr_array_index(entry->items, 0);

	for (unsigned int i = 0; words[i]; i++) {
		int id;

		if (strcmp(words[i], "Fl") != 0)
			continue;
		id = find_flag(words[i + 1]);
		ck_assert_msg(id != -2, "opensm(8) has -%s, the table has not", words[i + 1]);
		if (id < 0)
			continue;
		seen[id]++;
		ck_assert_msg(option_table[id].preset || tells_default(entry, option_table[id].def),
			      "opensm(8): default of -%s", words[i + 1]);
		ck_assert_msg(tells_state(entry, &option_table[id]), "opensm(8): state of -%s",
			      words[i + 1]);
	}
}

START_TEST(page_of_the_command_line)
{
	g_autoptr(GPtrArray) entries = read_entries("opensm.8", "OPTIONS");
	unsigned int seen[OPTION_COUNT] = {0};

	for (unsigned int i = 0; i < entries->len; i++)
		check_flag_entry(g_ptr_array_index(entries, i), seen);
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];

		ck_assert_msg(seen[id] == (unsigned int)!!option->flag + !!option->letter,
			      "%s: %u times in opensm(8)", option->name, seen[id]);
	}
}
END_TEST

START_TEST(page_has_every_action)
{
	g_autofree char *text = NULL;

	ck_assert(g_file_get_contents(MAN_DIR "/opensm.8", &text, NULL, NULL));
	for (unsigned int i = 0; i < OPTION_ACTION_COUNT; i++) {
		g_autofree char *flag = g_strdup_printf("Fl -%s", option_actions[i].flag);

		ck_assert_msg(strstr(text, flag), "opensm(8) lacks %s", flag);
	}
}
END_TEST

/* ---- opensm.conf(5) ---- */

static int find_key(const char *key)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (strcmp(option_table[id].name, key) == 0 &&
		    option_table[id].scope != OPTION_SCOPE_COMMAND)
			return (int)id;
	return -1;
}

/* Roff's words as plain text on one line. */
static char *plain(const char *text)
{
	g_autofree char *line = g_strdelimit(g_strdup(text), "\n", ' ');
	g_auto(GStrv) parts = g_strsplit(line, "\\(ha", -1);

	return g_strjoinv("^", parts);
}

/* "Takes a number from 0 to 7", where more than a text is expected. */
static bool tells_range(const struct entry *entry, const struct option *option)
{
	g_autofree char *expected = option_expected(option, false);
	g_autofree char *takes = g_strdup_printf("Takes %s", expected);
	g_autofree char *text = plain(entry->text->str);

	return option->kind == OPTION_KIND_PATH || option->kind == OPTION_KIND_TEXT ||
	       strstr(text, takes);
}

static void check_key_entry(const struct entry *entry, unsigned int *seen)
{
	for (unsigned int i = 0; i < entry->items->len; i++) {
		char **words = g_ptr_array_index(entry->items, i);
		bool restart = strstr(entry->text->str, "Needs a restart.");
		int id;

		ck_assert_str_eq(words[0], "Cm");
		id = find_key(words[1]);
		ck_assert_msg(id >= 0, "opensm.conf(5) has %s, the table has not", words[1]);
		seen[id]++;
		ck_assert_msg(tells_default(entry, option_table[id].def),
			      "opensm.conf(5): default of %s", words[1]);
		ck_assert_msg(tells_state(entry, &option_table[id]), "opensm.conf(5): state of %s",
			      words[1]);
		ck_assert_msg(tells_range(entry, &option_table[id]), "opensm.conf(5): range of %s",
			      words[1]);
		ck_assert_msg(restart == (option_table[id].scope == OPTION_SCOPE_RESTART),
			      "opensm.conf(5): restart for %s", words[1]);
	}
}

START_TEST(page_of_the_file)
{
	g_autoptr(GPtrArray) entries = read_entries("opensm.conf.5", "KEYS");
	unsigned int seen[OPTION_COUNT] = {0};

	for (unsigned int i = 0; i < entries->len; i++)
		check_key_entry(g_ptr_array_index(entries, i), seen);
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		ck_assert_msg(seen[id] == (option_table[id].scope != OPTION_SCOPE_COMMAND),
			      "%s: %u times in opensm.conf(5)", option_table[id].name, seen[id]);
}
END_TEST

START_TEST(pages_name_directories)
{
	static const char *const pages[] = {MAN_DIR "/opensm.8", MAN_DIR "/opensm.conf.5"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(pages); i++) {
		g_autofree char *text = NULL;

		ck_assert(g_file_get_contents(pages[i], &text, NULL, NULL));
		ck_assert_msg(!strchr(text, '@'), "%s: not substituted", pages[i]);
		ck_assert_msg(strstr(text, OSM_CONF_DIR), "%s: other directory", pages[i]);
	}
}
END_TEST

/* Complaints of man(1) about the pages; without man, that is printed and the test passes. */
START_TEST(pages_are_well_formed)
{
	static const char *const pages[] = {MAN_DIR "/opensm.8", MAN_DIR "/opensm.conf.5"};
	g_autofree char *man = g_find_program_in_path("man");

	g_setenv("MANWIDTH", "300", TRUE); /* room for directories with long names */
	if (!man)
		printf("no man(1): the form of the pages is not checked\n");
	for (unsigned int i = 0; man && i < G_N_ELEMENTS(pages); i++) {
		const char *argv[] = {man, "--warnings", "-E", "UTF-8", "-l", pages[i], NULL};
		g_autofree char *out = NULL;
		g_autofree char *err = NULL;

		ck_assert(g_spawn_sync(NULL, (char **)argv, NULL, 0, NULL, NULL, &out, &err, NULL,
				       NULL));
		ck_assert_msg(!*err, "%s: %s", pages[i], err);
		ck_assert_msg(strstr(out, "SEE ALSO"), "%s: not to its end", pages[i]);
	}
}
END_TEST

/* ---- sample ---- */

/* Lines of "#key value" are defaults, all others comments. */
START_TEST(sample_shows_defaults)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct options *options = options_new();
	unsigned int keys = 0;

	ck_assert(g_file_get_contents(SAMPLES_DIR "/opensm.conf", &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++) {
		g_auto(GStrv) words = NULL;
		g_autofree char *mistake = NULL;
		int id;

		ck_assert_msg(!*lines[i] || *lines[i] == '#', "%s", lines[i]);
		if (lines[i][0] != '#' || lines[i][1] == ' ')
			continue;
		words = g_strsplit(lines[i] + 1, " ", 2);
		id = find_key(words[0]);
		ck_assert_msg(id >= 0, "sample: %s", lines[i]);
		mistake = option_parse(&option_table[id], option_field(options, (enum option_id)id),
				       words[1], false);
		ck_assert_msg(!mistake, "sample: %s: %s", words[0], mistake);
		keys++;
		if (!option_is_text(&option_table[id]))
			ck_assert_msg(strcmp(words[1], option_table[id].def) == 0, "sample: %s",
				      lines[i]);
	}
	ck_assert_uint_gt(keys, 8);
	options_unref(options);
}
END_TEST

/* ---- thresholds of route/renew ---- */

static const struct threshold {
	bool is_part;
	unsigned int n;
	const char *limits, *reason;
} thresholds[] = {
#define PART(name, n, limits, reason) {true, n, limits, reason},
#define NUMBER(name, n, limits, reason) {false, n, limits, reason},
#include "route/renew/thresholds.def"
};

/* Row by row, in the same order. */
START_TEST(page_of_the_thresholds)
{
	g_autoptr(GPtrArray) entries = read_entries("opensm.8", "WHAT IS KEPT OF ROUTES");

	ck_assert_uint_eq(entries->len, G_N_ELEMENTS(thresholds));
	for (guint i = 0; i < entries->len; i++) {
		const struct threshold *row = &thresholds[i];
		const struct entry *entry = g_ptr_array_index(entries, i);
		char **words = g_ptr_array_index(entry->items, 0);
		g_autofree char *value = g_strdup_printf(row->is_part ? "1/%u" : "%u", row->n);
		g_autofree char *line = g_strdup_printf("%s\n", row->limits);

		ck_assert_str_eq(words[0], value);
		ck_assert_msg(g_str_has_prefix(entry->text->str, line), "opensm(8), %s: %s", value,
			      row->limits);
		ck_assert_uint_gt(row->n, 1);
		ck_assert_uint_gt(strlen(row->reason), 0);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("options_man");
	TCase *tests = tcase_create("manual");

	tcase_add_test(tests, page_of_the_command_line);
	tcase_add_test(tests, page_has_every_action);
	tcase_add_test(tests, page_of_the_file);
	tcase_add_test(tests, pages_name_directories);
	tcase_add_test(tests, pages_are_well_formed);
	tcase_add_test(tests, sample_shows_defaults);
	tcase_add_test(tests, page_of_the_thresholds);
	suite_add_tcase(suite, tests);
	return suite;
}
