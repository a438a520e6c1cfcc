// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Limits of memory: of this machine, and of control groups in a folder that looks like theirs. */
#include <check.h>
#include <complib/memory.h>
#include <glib.h>
#include <glib/gstdio.h>

#include "tests/run_suite.h"

static const struct {
	const char *groups;
	uint64_t limit;
} cases[] = {
	{"0::/outer/inner\n", 1000},
	{"12:cpu:/x\n0::/outer\n", 2000},
	{"0::/other/inner\n", 3000}, /* it has no files: those around it count */
	{"0::/\n", 3000},
	{"0::/outer/free", 2000}, /* "max" */
	{"4:memory:/outer/inner\n", UINT64_MAX}, /* version 1 */
	{"", UINT64_MAX},
};

static void put(const char *root, const char *group, const char *limit)
{
	g_autofree char *folder = g_build_filename(root, group, NULL);
	g_autofree char *file = g_build_filename(folder, "memory.max", NULL);

	ck_assert_int_eq(g_mkdir_with_parents(folder, 0700), 0);
	ck_assert(g_file_set_contents(file, limit, -1, NULL));
}

static void drop(const char *root, const char *group)
{
	g_autofree char *folder = g_build_filename(root, group, NULL);
	g_autofree char *file = g_build_filename(folder, "memory.max", NULL);

	g_remove(file);
	ck_assert_int_eq(g_rmdir(folder), 0);
}

START_TEST(test_groups)
{
	g_autofree char *root = g_dir_make_tmp("memory-XXXXXX", NULL);

	put(root, ".", "3000\n");
	put(root, "outer", "2000\n");
	put(root, "outer/inner", "1000\n");
	put(root, "outer/free", "max\n");
	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_msg(memory_of_group(root, cases[i].groups) == cases[i].limit, "%s",
			      cases[i].groups);
	drop(root, "outer/free");
	drop(root, "outer/inner");
	drop(root, "outer");
	drop(root, "");
}
END_TEST

START_TEST(test_machine)
{
	ck_assert_uint_gt(memory_of_machine(), 64 << 20);
	ck_assert_uint_lt(memory_of_machine(), UINT64_MAX);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("memory");
	TCase *tcase = tcase_create("memory");

	tcase_add_test(tcase, test_groups);
	tcase_add_test(tcase, test_machine);
	suite_add_tcase(suite, tcase);
	return suite;
}
