// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files of GUIDs: what is read, and what is refused with which words. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/guid_file.h"
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
};

static const struct {
	unsigned int form;
	const char *text, *told;
} bad[] = {
	{ 0, "0x0\n", "f:1: '0x0': '0x0' is no GUID, expected a GUID" },
	{ 0, "0x1\nspine-1\n", "f:2: 'spine-1': 'spine-1' is no GUID, expected a GUID" },
	{ 0, "0x10000000000000000\n", "is no GUID" },
	{ 0, "-1\n", "is no GUID" },
	{ 0, "0x1 2\n", "'2' is too much" },
	{ 1, "0x1 2\n", "1 numbers behind the GUID, expected a GUID, a port and a weight" },
	{ 1, "0x1 2 3 4\n", "'4' is too much" },
	{ 1, "0x1 2 256\n", "'256' is no number from 0 to 255" },
	{ 1, "0x1 2 -3\n", "'-3' is no number from 0 to 255" },
	{ 1, "0x1 2 3x\n", "'3x' is no number from 0 to 255" },
	{ 2, "0x1 2\n\n0x1 3\n", "f:3: '0x1 3': the GUID stands there twice" },
	{ 0, "\x01\xff\n", "is no GUID" },
};

START_TEST(test_good)
{
	GError *error = NULL;
	struct guid_table *table = guid_file_parse("f", good[_i].text, strlen(good[_i].text),
						   &forms[good[_i].form], &error);

	ck_assert_msg(table != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(table->rows->len, good[_i].rows);
	ck_assert_uint_eq(table->numbers->len, good[_i].numbers);
	guid_table_free(table);
}
END_TEST

START_TEST(test_values)
{
	static const char text[] = "0xABC 7 0x10\nabc 8 9";
	struct guid_table *table =
		guid_file_parse("f", text, strlen(text), &forms[1], NULL);
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
					   &forms[bad[_i].form], &error));
	ck_assert_msg(strstr(error->message, bad[_i].told) != NULL, "%s", error->message);
	g_error_free(error);
}
END_TEST

START_TEST(test_nul_and_no_file)
{
	GError *error = NULL;

	ck_assert_ptr_null(guid_file_parse("f", "0x1\n0x\0002", 7, &forms[0], &error));
	ck_assert_ptr_nonnull(strstr(error->message, "f:2: "));
	g_clear_error(&error);
	ck_assert_ptr_null(guid_file_load("/nonexistent/roots", &forms[0], &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/nonexistent/roots"));
	g_error_free(error);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_files");
	TCase *tcase = tcase_create("guid_file");

	tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
	tcase_add_test(tcase, test_values);
	tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
	tcase_add_test(tcase, test_nul_and_no_file);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
