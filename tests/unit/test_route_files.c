// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files of GUIDs: what is accepted, and the words of each refusal. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/files/guid_file.h"
#include "tests/run_suite.h"

static const struct guid_file_form forms[] = {
	{ "a GUID", 0, 0, 0, true },
	{ "a GUID, a port and a weight", 2, 2, 255, true },
	{ "a GUID and ports", 1, 3, 255, false },
};

static const struct {
	unsigned int form;
	const char *text;
	unsigned int rows, numbers;
} good[] = {
	{ 0, "", 0, 0 },
	{ 0, "\n# nothing\n  \t\n", 0, 0 },
	{ 0, "0x1\n2 # two\r\n0XABCDEF0123456789", 3, 0 },
	{ 0, "1\n1\n", 2, 0 },
	{ 1, "0x10 1 2\n0x10 2 0xff\n", 2, 4 },
	{ 2, "0x10 1\n\t0x11 1 2 3\n", 2, 4 },
	{ 2, "0x10 1\n0x11 1 2 3\n0x10 2 3\n", 2, 6 },
};

/* Accepted, as by the classic daemon, but reported: the first of a kind, and how many more. */
static const struct {
	unsigned int form;
	const char *text;
	uint64_t number; /* the first of the first row; 0: none */
	const char *told, *more; /* "": no more */
} odd[] = {
	{0, "0x1 spine-1\n", 0,
	 "f:1: 'spine-1' is ignored: expected a GUID, and a # before a comment", ""},
	{0, "0x1 2\n0x2\n0x3 \x1b[2J x\n0x4 a\n", 0, "f:1: '2' is ignored: expected",
	 "f: 2 more lines with words that are ignored"},
	{1, "0x1 2 3 4\n", 2, "f:1: '4' is ignored: expected", ""},
	{1, "0x1 2 3 \x1b[2J\n", 2, "f:1: '\\033[2J' is ignored: expected", ""},
	{2, "0x1 2\n\n0x1 3\n", 3,
	 "f:3: GUID 0x0000000000000001 is also in line 1, which this line replaces", ""},
	{2, "0x1 2\n0x1 3\n0x1 4\n", 4,
	 "f:2: GUID 0x0000000000000001 is also in line 1, which this line replaces",
	 "f: 1 more lines that repeat a GUID"},
	{2, "0x1 3 name 4\n", 3, "f:1: 'name' is ignored: expected", ""},
};

static const struct {
	unsigned int form;
	const char *text, *told;
} bad[] = {
	{0, "0x0\n", "f:1: '0x0' is not a GUID, expected a GUID"},
	{0, "0x1\nspine-1\n", "f:2: 'spine-1' is not a GUID, expected a GUID"},
	{0, "0x10000000000000000\n", "is not a GUID"},
	{0, "-1\n", "is not a GUID"},
	{1, "0x1 2\n", "1 numbers after the GUID, expected a GUID, a port and a weight"},
	{1, "0x1 2 256\n", "'256' is not a number from 0 to 255"},
	{1, "0x1 2 -3\n", "'-3' is not a number from 0 to 255"},
	{1, "0x1 2 3x\n", "'3x' is not a number from 0 to 255"},
	{2, "0x1 300\n", "'300' is not a number from 0 to 255"},
	{2, "0x1 1 300\n", "'300' is not a number from 0 to 255"},
	{2, "0x1 name\n", "'name' is not a number from 0 to 255"},
	{0, "\x01\xff\n", "is not a GUID"},
};

START_TEST(test_good)
{
	GError *error = NULL;
	struct guid_table *table = guid_file_parse("f", good[_i].text, strlen(good[_i].text),
						   &forms[good[_i].form], NULL, &error);

	ck_assert_msg(table != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(table->rows->len, good[_i].rows);
	ck_assert_uint_eq(table->numbers->len, good[_i].numbers);
	guid_table_free(table);
}
END_TEST

START_TEST(test_odd)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	struct guid_table *table = guid_file_parse("f", odd[_i].text, strlen(odd[_i].text),
						   &forms[odd[_i].form], warnings, NULL);
	const struct guid_row *row;

	ck_assert_ptr_nonnull(table);
	row = &g_array_index(table->rows, struct guid_row, 0);
	ck_assert_uint_eq(row->n ? g_array_index(table->numbers, uint64_t, row->first) : 0,
			  odd[_i].number);
	ck_assert_uint_eq(warnings->len, *odd[_i].more ? 2 : 1);
	ck_assert_msg(g_str_has_prefix(warnings->pdata[0], odd[_i].told), "%s",
		      (char *)warnings->pdata[0]);
	if (*odd[_i].more)
		ck_assert_str_eq(warnings->pdata[1], odd[_i].more);
	guid_table_free(table);
}
END_TEST

START_TEST(test_values)
{
	static const char text[] = "0xABC 7 0x10\nabc 8 9";
	struct guid_table *table =
		guid_file_parse("f", text, strlen(text), &forms[1], NULL, NULL);
	const struct guid_row *row;

	ck_assert_ptr_nonnull(table);
	row = &g_array_index(table->rows, struct guid_row, 1);
	ck_assert_uint_eq(row[-1].guid, 0xABC);
	ck_assert_uint_eq(row->guid, 0xABC);
	ck_assert_uint_eq(row->first, 2);
	ck_assert_uint_eq(row->n, 2);
	ck_assert_uint_eq(g_array_index(table->numbers, uint64_t, 1), 0x10);
	ck_assert_uint_eq(g_array_index(table->numbers, uint64_t, 3), 9);
	guid_table_free(table);
}
END_TEST

START_TEST(test_bad)
{
	GError *error = NULL;

	ck_assert_ptr_null(guid_file_parse("f", bad[_i].text, strlen(bad[_i].text),
					   &forms[bad[_i].form], NULL, &error));
	ck_assert_msg(strstr(error->message, bad[_i].told) != NULL, "%s", error->message);
	g_error_free(error);
}
END_TEST

START_TEST(test_nul_and_no_file)
{
	GError *error = NULL;

	ck_assert_ptr_null(guid_file_parse("f", "0x1\n0x\0002", 7, &forms[0], NULL, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "f:2: "));
	g_clear_error(&error);
	ck_assert_ptr_null(guid_file_load("/nonexistent/roots", &forms[0], NULL, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/nonexistent/roots"));
	g_error_free(error);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_files");
	TCase *tcase = tcase_create("guid_file");

	tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
	tcase_add_loop_test(tcase, test_odd, 0, G_N_ELEMENTS(odd));
	tcase_add_test(tcase, test_values);
	tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
	tcase_add_test(tcase, test_nul_and_no_file);
	suite_add_tcase(suite, tcase);
	return suite;
}
