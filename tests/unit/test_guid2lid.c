// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file guid2lid: what was written is read again, malformed lines affect only themselves. */
#include <check.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sm/store/guid2lid.h"
#include "tests/run_suite.h"

#define SOMEBODY 65534 /* uid of an unprivileged user */

static uid_t user;
static char *directory, *file, *bad;
static GString *text; /* of the log */
static struct log *logger;
static struct guid2lid *map;

static void setup(void)
{
	user = geteuid();
	if (user == 0) /* some tests continue as another user: TMPDIR may be root's own */
		g_setenv("TMPDIR", P_tmpdir, TRUE);
	directory = g_dir_make_tmp("opensm-guid2lid-XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
	file = g_build_filename(directory, "guid2lid", NULL);
	bad = g_build_filename(directory, "guid2lid.bad", NULL);
	text = g_string_new(NULL);
	logger = log_new_capture(text);
	map = NULL;
}

static void teardown(void)
{
	ck_assert_int_eq(seteuid(user), 0);
	guid2lid_free(map);
	log_free(logger);
	g_string_free(text, TRUE);
	g_remove(file);
	g_remove(bad);
	g_chmod(directory, 0700);
	g_remove(directory);
	g_free(file);
	g_free(bad);
	g_free(directory);
}

static void load(const char *contents, gssize length)
{
	ck_assert(g_file_set_contents(file, contents, length, NULL));
	map = guid2lid_new(directory, logger);
}

static void check(uint64_t guid, uint16_t lid, uint16_t count)
{
	uint16_t found = 0xFFFF;

	ck_assert_uint_eq(guid2lid_get(map, guid, &found), lid);
	ck_assert_uint_eq(found, count);
}

static void count_one(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	(void)guid;
	(void)lid;
	(void)count;
	++*(unsigned int *)arg;
}

static unsigned int entries(void)
{
	unsigned int n = 0;

	guid2lid_each(map, count_one, &n);
	return n;
}

START_TEST(test_good_file)
{
	load("# comment\n\n0x0002c90300000001 0x0001 0x0001\n\n  0x2 0x8 0xF\t\r\n"
	     "FFFFFFFFFFFFFFFF 0xbfff 0xbfff",
	     -1);
	check(0x0002c90300000001, 1, 1);
	check(2, 8, 8);
	check(UINT64_MAX, 0xBFFF, 1);
	check(3, 0, 0);
	ck_assert_uint_eq(entries(), 3);
	ck_assert_ptr_null(strstr(text->str, "line is ignored"));
	ck_assert(!g_file_test(bad, G_FILE_TEST_EXISTS));
}
END_TEST

/* LIDs without 0x are decimal, or octal after a 0, as in the classic daemon; GUIDs are not. */
START_TEST(test_bases)
{
	load("0x100 20 20\n200 24 0x1f\n0300 014 15\n", -1);
	check(0x100, 20, 1);
	check(0x200, 24, 8);
	check(0x300, 12, 4);
	ck_assert_uint_eq(entries(), 3);
	ck_assert_ptr_null(strstr(text->str, "line is ignored"));
}
END_TEST

static const char *const garbage[] = {
	"0x9 f f",
	"0x9 9 9a",
	"0x9 08 08",
	"0x9",
	"0x9 0x9",
	"0x9 0x9 0x9 0x9",
	"0x9 0x9 0x9 x",
	"hello",
	"0x9 0x9 0x9;",
	"0x9,0x9,0x9",
	"-9 9 9",
	"0x9 -1 0x9",
	"0x0 0x9 0x9",
	"0x9 0x0 0x0",
	"0x9 0x0 0x7",
	"0x9 0xC000 0xC000",
	"0x9 0xBFFF 0xC000",
	"0x9 0xFFFFFFFFFFFFFFFF 0xFFFFFFFFFFFFFFFF",
	"0x9 0x1 0xFFFFFFFFFFFFFFFF",
	"0x10000000000000009 0x9 0x9",
	"0x9 0x8 0xA",	   /* three LIDs */
	"0x9 0xA 0xD",	   /* not aligned */
	"0x9 0x100 0x1FF", /* more LIDs than LMC 7 gives */
	"0x9 0xA 0x9",
	"0x1 0x9 0x9", /* listed before */
	"0x9 0x5 0x5", /* of another GUID */
	"0x9 0x4 0x7", /* contains one of another GUID */
};

/* Between two good lines: both stay, the log names file and line, the file is set aside. */
START_TEST(test_garbage_line)
{
	g_autofree char *contents = g_strdup_printf("0x1 0x5 0x5\n%s\n0x2 0x6 0x6\n", garbage[_i]);
	g_autofree char *place = g_strdup_printf("%s:2: ", file);
	g_autofree char *kept = NULL;

	load(contents, -1);
	check(1, 5, 1);
	check(2, 6, 1);
	check(9, 0, 0);
	ck_assert_uint_eq(entries(), 2);
	ck_assert_msg(strstr(text->str, place) != NULL, "%s", text->str);
	ck_assert(g_file_get_contents(bad, &kept, NULL, NULL));
	ck_assert_str_eq(kept, contents);
}
END_TEST

/* As the end of a file may be after a loss of power: lines with zeros are lost, the others kept. */
START_TEST(test_zeros)
{
	load("0x1 0x5 0x5\n0x2 0x6 0x6\0\n0x3 0x7 0x7\n\0\0\0", 40);
	check(1, 5, 1);
	check(3, 7, 1);
	ck_assert_uint_eq(entries(), 2);
	ck_assert_ptr_nonnull(strstr(text->str, ":2: '0x2 0x6 0x6?': "));
	ck_assert_ptr_nonnull(strstr(text->str, ":4: '\?\?\?': ")); /* not a trigraph */
	ck_assert(g_file_test(bad, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(test_very_long_line_and_many_bad_ones)
{
	GString *contents = g_string_new(NULL);

	for (unsigned int i = 0; i < 100000; i++)
		g_string_append(contents, i % 100 ? "x" : "\ny");
	g_string_append_len(contents, "\n0x1 0x1 0x1\n", 13);
	load(contents->str, contents->len);
	check(1, 1, 1);
	ck_assert_uint_lt(text->len, 20 * 1000);
	g_string_free(contents, TRUE);
}
END_TEST

/* A daemon that ends before it writes the file leaves the good lines to the next. */
START_TEST(test_bad_line_twice)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (i == 0)
			load("0x1 0x1 0x1\nnonsense\n", -1);
		else
			map = guid2lid_new(directory, logger);
		check(1, 1, 1);
		ck_assert_uint_eq(entries(), 1);
		ck_assert(g_file_test(bad, G_FILE_TEST_IS_REGULAR));
		ck_assert(guid2lid_save(map, NULL, true)); /* nothing has changed */
		if (i == 0)
			g_clear_pointer(&map, guid2lid_free);
	}
}
END_TEST

START_TEST(test_directory_instead_of_file)
{
	g_mkdir(file, 0700);
	map = guid2lid_new(directory, logger);
	ck_assert_uint_eq(entries(), 0);
	ck_assert_ptr_nonnull(strstr(text->str, "guid2lid"));
	ck_assert(g_file_test(bad, G_FILE_TEST_IS_DIR));
	guid2lid_set(map, 1, 1, 1);
	ck_assert(guid2lid_save(map, NULL, true));
	ck_assert(g_file_test(file, G_FILE_TEST_IS_REGULAR));
}
END_TEST

START_TEST(test_fifo_instead_of_file)
{
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	map = guid2lid_new(directory, logger);
	ck_assert_uint_eq(entries(), 0);
	ck_assert_ptr_nonnull(strstr(text->str, "is a FIFO"));
	guid2lid_set(map, 1, 1, 1);
	ck_assert(guid2lid_save(map, NULL, true));
	ck_assert(g_file_test(file, G_FILE_TEST_IS_REGULAR));
}
END_TEST

START_TEST(test_missing_directory)
{
	g_autofree char *missing = g_build_filename(directory, "missing", NULL);

	map = guid2lid_new(missing, logger);
	ck_assert_uint_eq(text->len, 0); /* there was no last run */
	guid2lid_set(map, 1, 1, 1);
	ck_assert(!guid2lid_save(map, NULL, true));
	ck_assert(!guid2lid_save(map, NULL, true)); /* not forgotten */
	ck_assert_uint_eq(g_mkdir(missing, 0700), 0);
	ck_assert(guid2lid_save(map, NULL, true));
	g_free(file);
	file = g_build_filename(missing, "guid2lid", NULL);
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	g_remove(file);
	g_remove(missing);
}
END_TEST

/* Root may read and write everything: continue as another user, which owns the directory. */
static void leave_root(void)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(directory, SOMEBODY, SOMEBODY), 0);
	ck_assert_int_eq(seteuid(SOMEBODY), 0);
}

/* An unreadable file is not overwritten: the next daemon may be able to read it. */
START_TEST(test_unreadable)
{
	leave_root();
	ck_assert(g_file_set_contents(file, "0x1 0x1 0x1\n", -1, NULL));
	g_chmod(file, 0);
	map = guid2lid_new(directory, logger);
	ck_assert_ptr_nonnull(strstr(text->str, " of the last run are lost"));
	ck_assert_uint_eq(entries(), 0);
	ck_assert(g_file_test(bad, G_FILE_TEST_EXISTS));
	guid2lid_set(map, 2, 2, 1);
	ck_assert(guid2lid_save(map, NULL, false));
	ck_assert(g_file_test(bad, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(test_unwritable)
{
	leave_root();
	g_chmod(directory, 0500);
	map = guid2lid_new(directory, logger);
	guid2lid_set(map, 1, 1, 1);
	ck_assert(!guid2lid_save(map, NULL, false));
	ck_assert_ptr_nonnull(strstr(text->str, "could not be saved"));
	g_chmod(directory, 0700);
	ck_assert(guid2lid_save(map, NULL, false));
}
END_TEST

START_TEST(test_bad_lines_are_counted)
{
	map = guid2lid_new(NULL, logger);
	ck_assert_uint_eq(guid2lid_parse(map, "text", "0x1 0x0001 0x0001\n\nx\n0x2 y\n"), 2);
	ck_assert_uint_eq(guid2lid_parse(map, "text", "0x3 0x0003 0x0003\n"), 0);
}
END_TEST

START_TEST(test_no_directory)
{
	map = guid2lid_new(NULL, logger);
	guid2lid_set(map, 1, 4, 4);
	check(1, 4, 4);
	ck_assert(guid2lid_save(map, NULL, true));
}
END_TEST

START_TEST(test_round_trip)
{
	map = guid2lid_new(directory, logger);
	for (uint64_t i = 1; i <= 5000; i++)
		guid2lid_set(map, i * UINT64_C(0x9E3779B97F4A7C15), 8 * i, 1u << i % 4);
	guid2lid_remove(map, UINT64_C(0x9E3779B97F4A7C15));
	ck_assert(guid2lid_save(map, NULL, _i));
	guid2lid_free(map);
	map = guid2lid_new(directory, logger);
	ck_assert_uint_eq(entries(), 4999);
	for (uint64_t i = 2; i <= 5000; i++)
		check(i * UINT64_C(0x9E3779B97F4A7C15), 8 * i, 1u << i % 4);
	ck_assert_uint_eq(text->len, 0);
	ck_assert(!g_file_test(bad, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(test_saves_only_changes)
{
	load("0x1 0x1 0x1\n", -1);
	g_remove(file);
	guid2lid_set(map, 1, 1, 1);
	guid2lid_remove(map, 2);
	ck_assert(guid2lid_save(map, NULL, false));
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
	guid2lid_clear(map);
	ck_assert(guid2lid_save(map, NULL, false));
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	ck_assert_uint_eq(entries(), 0);
}
END_TEST

static unsigned int mode(void)
{
	struct stat is;

	ck_assert_int_eq(stat(file, &is), 0);
	return is.st_mode & 07777;
}

/* Also one that an older version left readable for all. */
START_TEST(test_private)
{
	ck_assert(g_file_set_contents(file, "0x1 0x1 0x1\n", -1, NULL));
	ck_assert_int_eq(g_chmod(file, 0644), 0);
	map = guid2lid_new(directory, logger);
	ck_assert_uint_eq(mode(), 0600);
	ck_assert_int_eq(g_chmod(file, 0644), 0);
	guid2lid_set(map, 2, 2, 1);
	ck_assert(guid2lid_save(map, NULL, false));
	ck_assert_uint_eq(mode(), 0600);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, test_good_file);
	tcase_add_test(tcase, test_bases);
	tcase_add_loop_test(tcase, test_garbage_line, 0, G_N_ELEMENTS(garbage));
	tcase_add_test(tcase, test_zeros);
	tcase_add_test(tcase, test_very_long_line_and_many_bad_ones);
	tcase_add_test(tcase, test_bad_line_twice);
	tcase_add_test(tcase, test_directory_instead_of_file);
	tcase_add_test(tcase, test_fifo_instead_of_file);
	tcase_add_test(tcase, test_missing_directory);
	tcase_add_test(tcase, test_unreadable);
	tcase_add_test(tcase, test_unwritable);
	tcase_add_test(tcase, test_bad_lines_are_counted);
	tcase_add_test(tcase, test_no_directory);
	tcase_add_loop_test(tcase, test_round_trip, 0, 2);
	tcase_add_test(tcase, test_saves_only_changes);
	tcase_add_test(tcase, test_private);
}

TEST_SUITE
{
	Suite *suite = suite_create("guid2lid");
	TCase *tcase = tcase_create("guid2lid");

	tcase_add_checked_fixture(tcase, setup, teardown);
	add_tests(tcase);
	suite_add_tcase(suite, tcase);
	return suite;
}
