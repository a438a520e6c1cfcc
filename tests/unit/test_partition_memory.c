// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a start uses: partitions.conf, or its saved copy. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/partition/partition_changes.h"
#include "policy/partition/partition_memory.h"
#include "policy/partition/partition_sources.h"
#include "tests/directory.h"
#include "tests/run_suite.h"

#define GOOD "A=0x11:0x1=full;\n"
#define OPEN "Default=0x7fff,ipoib:ALL=full;\n"

static char *dir, *file, *memory, *state;

static void setup(void)
{
	dir = g_dir_make_tmp("memory-XXXXXX", NULL);
	file = g_build_filename(dir, "partitions.conf", NULL);
	memory = partition_memory_file(dir);
	state = g_build_filename(dir, PARTITION_CHANGES_FILE, NULL);
}

static void teardown(void)
{
	directory_remove(dir);
	g_free(dir);
	g_free(file);
	g_free(memory);
	g_free(state);
}

/* text NULL: removes it. */
static void put(const char *name, const char *text)
{
	if (text)
		ck_assert(g_file_set_contents(name, text, -1, NULL));
	else
		g_remove(name);
}

/* Saves a text, as a daemon does that uses it. */
static void remember(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *kept = NULL;
	struct partition_rules *rules;

	put(file, text);
	rules = partition_rules_load(file, &error);
	ck_assert_msg(rules != NULL, "%s", error ? error->message : "");
	kept = partition_memory_text(rules);
	put(memory, kept);
	partition_rules_unref(rules);
}

/* What the start uses. */
enum by { NOTHING, THE_FILE, MEMORY, EVERYBODY };

static enum by start(const char *name, bool named, char **why)
{
	g_autoptr(GError) error = NULL;
	struct partition_rules *rules = partition_rules_start(name, named, dir, why, &error);
	enum by by;

	if (!rules) {
		*why = g_strdup(error->message);
		return NOTHING;
	}
	by = *why ? MEMORY : rules->built_in ? EVERYBODY : THE_FILE;
	if (by == MEMORY)
		ck_assert_ptr_nonnull(partition_rules_find(rules, 0x11));
	partition_rules_unref(rules);
	return by;
}

enum kept { FRESH, HAD_NONE, HAD_SOME, DAMAGED, CUT, ZEROS, FOREIGN, DIRECTORY, OLD_STATE };

static void remember_as(enum kept kept)
{
	g_autofree char *text = NULL;
	gsize length;

	if (kept == FRESH)
		return;
	if (kept == OLD_STATE) { /* of a version that saved nothing else */
		struct partition_changes *none = partition_changes_load(dir, NULL);
		struct partition_rules *rules = partition_rules_load_with(NULL, none, NULL);
		struct partition_changes *changes =
			partition_changes_edit(none, rules, "0x9: 0x1=full", 2, NULL);

		ck_assert(partition_changes_save(changes, NULL));
		partition_changes_unref(changes);
		partition_changes_unref(none);
		partition_rules_unref(rules);
		return;
	}
	remember(kept == HAD_NONE ? NULL : GOOD);
	if (kept == HAD_NONE || kept == HAD_SOME)
		return;
	ck_assert(g_file_get_contents(memory, &text, &length, NULL));
	if (kept == DAMAGED)
		*strstr(text, "0x11") = '9';
	else if (kept == CUT)
		text[length / 2] = '\0';
	else if (kept == ZEROS)
		memset(text, 0, length);
	put(memory, kept == FOREIGN ? "0x1 0x1 0x1\n" : kept == DIRECTORY ? NULL : text);
	if (kept == ZEROS)
		ck_assert(g_file_set_contents(memory, text, (gssize)length, NULL));
	if (kept == DIRECTORY)
		ck_assert_int_eq(g_mkdir(memory, 0700), 0);
}

static const struct {
	const char *text; /* of partitions.conf; NULL: it is missing */
	bool named;
	enum kept kept;
	enum by by;
	const char *why;
} starts[] = {
	/* A fresh site is as with the classic daemon. */
	{NULL, false, FRESH, EVERYBODY, NULL},
	{"", false, FRESH, EVERYBODY, NULL},
	{"# none yet\n", false, FRESH, EVERYBODY, NULL},
	{NULL, false, HAD_NONE, EVERYBODY, NULL},
	{"# none yet\n", false, HAD_NONE, EVERYBODY, NULL},
	/* So is one that says so. */
	{OPEN, true, FRESH, THE_FILE, NULL},
	{OPEN, true, HAD_SOME, THE_FILE, NULL},
	/* A good file counts, whatever was saved. */
	{GOOD, false, FRESH, THE_FILE, NULL},
	{GOOD, true, HAD_NONE, THE_FILE, NULL},
	{GOOD, true, DAMAGED, THE_FILE, NULL},
	{GOOD, false, DIRECTORY, THE_FILE, NULL},
	/* A named file has to exist, and not be empty. */
	{NULL, true, FRESH, NOTHING, "there is no such file, but the configuration names it"},
	{"", true, FRESH, NOTHING, "it is empty, but the configuration names it"},
	{"# A=0x11:0x1=full;\n", true, HAD_NONE, NOTHING,
	 "it is empty, but the configuration names it"},
	{"A=", false, FRESH, NOTHING, ":1:1: found"},
	{"A=", false, HAD_NONE, NOTHING, ":1:1: found"},
	/* Saved definitions are used. */
	{NULL, false, HAD_SOME, MEMORY, "there is no such file, but there were partitions before"},
	{NULL, true, HAD_SOME, MEMORY, "there is no such file"},
	{"", false, HAD_SOME, MEMORY, "it is empty, but there were partitions before"},
	{"\n#\n", true, HAD_SOME, MEMORY, "it is empty"},
	{"A=", true, HAD_SOME, MEMORY, ":1:1: found"},
	{"include nowhere\n", false, HAD_SOME, MEMORY, ":1: include: "},
	/* If saved definitions are unreadable, nothing is opened. */
	{NULL, false, DAMAGED, NOTHING, "the checksum is not that"},
	{"", false, CUT, NOTHING, "and start again, which replaces the saved policy"},
	{NULL, false, ZEROS, NOTHING, "the checksum is not that"},
	{NULL, false, FOREIGN, NOTHING, "the checksum is not that"},
	{NULL, true, DIRECTORY, NOTHING, "is a directory"},
	{NULL, false, OLD_STATE, NOTHING, "there were changes at run time"},
};

START_TEST(test_start)
{
	g_autofree char *why = NULL;
	enum by by;

	remember_as(starts[_i].kept);
	put(file, starts[_i].text);
	by = start(file, starts[_i].named, &why);
	ck_assert_msg(by == starts[_i].by, "%d: %s", by, why);
	ck_assert_msg(!starts[_i].why || (why && strstr(why, starts[_i].why)), "%s", why);
}
END_TEST

/* No name, or one that stands for nothing, says that there are no partitions. */
START_TEST(test_none)
{
	g_autofree char *why = NULL;

	remember(GOOD);
	ck_assert_int_eq(start("/dev/null", true, &why), EVERYBODY);
	ck_assert_int_eq(start(NULL, true, &why), EVERYBODY);
}
END_TEST

/* Included files are saved with it, each with its name; the requests are not. */
START_TEST(test_included)
{
	g_autofree char *other = g_build_filename(dir, "other", NULL), *why = NULL;
	g_autofree char *text = NULL;
	struct partition_rules *rules;
	g_autoptr(GError) error = NULL;

	remember_as(OLD_STATE);
	put(other, "B=0x12:0x2=full;\n");
	put(file, "A=0x11:0x1=full;\ninclude other\ninclude " PARTITION_CHANGES_FILE
		  "\nC=0x13:0x3=full;\n");
	rules = partition_rules_start(file, true, dir, &why, &error);
	ck_assert_msg(rules && !why, "%s%s", error ? error->message : "", why ? why : "");
	ck_assert_ptr_nonnull(partition_rules_find(rules, 0x9));
	text = partition_memory_text(rules);
	partition_rules_unref(rules);
	put(memory, text);
	put(other, NULL);
	rules = partition_rules_start(file, true, dir, &why, &error);
	ck_assert_msg(rules && why, "%s", error ? error->message : "");
	for (uint16_t p_key = 0x11; p_key <= 0x13; p_key++) {
		const struct partition_rule *rule = partition_rules_find(rules, p_key);

		ck_assert_ptr_nonnull(rule);
		ck_assert_uint_eq(rule->file, p_key == 0x12);
	}
	ck_assert_ptr_nonnull(partition_rules_find(rules, 0x9));
	ck_assert_str_eq(rules->files->pdata[1], other);
	ck_assert_uint_eq(rules->n_own_files, 2);
	partition_rules_unref(rules);
}
END_TEST

/* An administrator may choose any name. */
START_TEST(test_names)
{
	g_autofree char *odd = g_build_filename(dir, "a \n\"b\\", NULL), *text = NULL;
	struct partition_sources *sources = partition_sources_new(), *again;
	g_autoptr(GError) error = NULL;
	gsize length;

	put(odd, "file 3 x\nabc\n");
	put(file, "");
	ck_assert_ptr_nonnull(partition_sources_read(sources, NULL, odd, &length, &error));
	ck_assert_ptr_nonnull(partition_sources_read(sources, NULL, file, &length, &error));
	text = partition_sources_format(sources);
	again = partition_sources_parse(text, strlen(text));
	ck_assert_ptr_nonnull(again);
	ck_assert(partition_sources_same(sources, again));
	ck_assert_str_eq(partition_sources_name(again, 0), odd);
	partition_sources_unref(sources);
	partition_sources_unref(again);
}
END_TEST

/* Whatever is cut off or altered anywhere, it is refused, and never used in part. */
START_TEST(test_every_octet)
{
	g_autofree char *text = NULL;
	gsize length;

	remember(GOOD);
	put(file, NULL);
	ck_assert(g_file_get_contents(memory, &text, &length, NULL));
	for (gsize i = 0; i < length; i++) {
		for (unsigned int cut = 0; cut < 2; cut++) {
			g_autofree char *other = g_memdup2(text, length), *why = NULL;

			other[i] ^= 1;
			ck_assert(g_file_set_contents(memory, cut ? text : other,
						      (gssize)(cut ? i : length), NULL));
			ck_assert_int_eq(start(file, false, &why), NOTHING);
		}
	}
}
END_TEST

START_TEST(test_private)
{
	g_autofree char *why = NULL;
	struct stat is;

	remember(GOOD);
	ck_assert_int_eq(g_chmod(memory, 0644), 0);
	ck_assert_int_eq(start(file, false, &why), THE_FILE);
	ck_assert_int_eq(g_stat(memory, &is), 0);
	ck_assert_uint_eq(is.st_mode & 07777, 0600);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("partition_memory");
	TCase *tcase = tcase_create("partition_memory");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_start, 0, G_N_ELEMENTS(starts));
	tcase_add_test(tcase, test_none);
	tcase_add_test(tcase, test_included);
	tcase_add_test(tcase, test_names);
	tcase_add_test(tcase, test_every_octet);
	tcase_add_test(tcase, test_private);
	suite_add_tcase(suite, tcase);
	return suite;
}
