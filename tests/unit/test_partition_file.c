// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A partitions.conf that says something must not be ignored. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "policy/partition_file.h"
#include "tests/run_suite.h"

static bool check_text(const char *text, gssize length, GError **error)
{
	g_autofree char *dir = g_dir_make_tmp("partition-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(dir, "partitions.conf", NULL);
	bool good;

	ck_assert(g_file_set_contents(file, text, length, NULL));
	good = partition_file_check(file, error);
	g_unlink(file);
	g_rmdir(dir);
	return good;
}

static const char *const harmless[] = {"", "\n\n", "# Default=0x7fff:ALL;\n", "  \t\n\t# x\n"};

START_TEST(test_harmless)
{
	g_autoptr(GError) error = NULL;

	ck_assert(check_text(harmless[_i], -1, &error));
	ck_assert_ptr_null(error);
}
END_TEST

static const struct {
	const char *text;
	const char *place;
} defining[] = {
	{"Default=0x7fff,ipoib:ALL=full;\n", "partitions.conf:1:"},
	{"# one\n\n  A=1:ALL;", "partitions.conf:3:"},
	{"garbage", "partitions.conf:1:"},
	{"\n;", "partitions.conf:2:"},
};

START_TEST(test_defining)
{
	g_autoptr(GError) error = NULL;

	ck_assert(!check_text(defining[_i].text, -1, &error));
	ck_assert(g_error_matches(error, PARTITION_ERROR, PARTITION_ERROR_NOT_YET));
	ck_assert_ptr_nonnull(strstr(error->message, defining[_i].place));
}
END_TEST

START_TEST(test_binary)
{
	g_autoptr(GError) error = NULL;

	ck_assert(!check_text("#\0A=1:ALL;", 10, &error));
	ck_assert(g_error_matches(error, PARTITION_ERROR, PARTITION_ERROR_NOT_YET));
}
END_TEST

START_TEST(test_absent_and_unreadable)
{
	g_autoptr(GError) error = NULL;

	ck_assert(partition_file_check(NULL, &error));
	ck_assert(partition_file_check("/nonexistent/partitions.conf", &error));
	ck_assert(!partition_file_check("/", &error));
	ck_assert(g_error_matches(error, PARTITION_ERROR, PARTITION_ERROR_FILE));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("partition_file");
	TCase *tcase = tcase_create("partition_file");

	tcase_add_loop_test(tcase, test_harmless, 0, G_N_ELEMENTS(harmless));
	tcase_add_loop_test(tcase, test_defining, 0, G_N_ELEMENTS(defining));
	tcase_add_test(tcase, test_binary);
	tcase_add_test(tcase, test_absent_and_unreadable);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
