// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files of forwarding tables and hop counts: what is accepted, and the words of each refusal. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/files/lft_file.h"
#include "tests/run_suite.h"

#define HEAD "Unicast lids [0x0-0x3] of switch Lid 2 guid 0x0000000000200000 (a guid 0x7):\n"
#define SWITCH "Switch: guid 0x200000\n"

static const struct {
	const char *text;
	unsigned int lfts, entries;
} good[] = {
	{ HEAD, 1, 0 },
	{ "# nothing\n\n" HEAD "  Lid  Out   Destination\n       Port     Info \n"
	  "0x0001 003 : (Channel Adapter portguid 0x0000000000100001: 'H0')\n"
	  "0x0002 000 : (Switch portguid 0x0000000000200000: 'L0')\n2 valid lids dumped \n", 1, 2 },
	{ HEAD "0x0001 003 # Switch portguid 0x1: 'portguid x'\r\n1 lids dumped\n", 1, 1 },
	{ HEAD "0x0000 255 : (path #0 - illegal port)\n0x0001 255\n0x2 1\n3 lids dumped\n", 1, 1 },
	{ HEAD "0x0001 003\nUnicast lids [0-1] of switch DR path slid 0; dlid 0; 0,1 guid 0x1 ():\n"
	  "0x1 254", 2, 2 },
	{ HEAD "0x1 1\n1 lids dumped\n\n*** WARNING ***: this command has been replaced\n", 1, 1 },
	{ HEAD "0xbfff 1 # unknown node and type\n", 1, 1 },
};

static const struct {
	const char *text, *told;
} bad[] = {
	{"", "f:0: '': the file ends without any switch, expected 'Unicast lids"},
	{"0x1 1\n", "f:1: '0x1 1': there is no switch before it"},
	{"x\n", "f:1: 'x': there is no switch before it"},
	{"Unicast lids [0x0-0x24] of switch Lid 2\n", "f:1: 'Unicast lids"},
	{"Unicast lids of guid 0x0 (x):\n", "there is no GUID of a switch"},
	{"Unicast lids of guid 0x10000000000000000 (x):\n", "there is no GUID of a switch"},
	{HEAD HEAD, "f:2: 'Unicast lids"},
	{HEAD "0x1 1\n0x01 2\n", "f:3: '0x01 2': LID 0x0001 of this switch is listed twice"},
	{HEAD "0xc000 1\n", "it does not start with a unicast LID"},
	{HEAD "garbage\n", "f:2: 'garbage': it does not start with a unicast LID"},
	{HEAD "0x1 256\n", "f:2: '0x1 256': there is no port from 0 to 255 after the LID"},
	{HEAD "0x1 -1\n", "no port from 0 to 255"},
	{HEAD "0x1 1x\n", "no port from 0 to 255"},
	{HEAD "0x1\n", "no port from 0 to 255"},
	{HEAD "0x1 1 1\n", "'1' after the port"},
	{HEAD "0x1 1 \x1b[2J\n", "'\\033[2J' after the port"},
	{HEAD "0x0 1\n", "a port for LID 0"},
	{HEAD "0x1 1 # Switch portguid H0\n", "there is no GUID after portguid"},
	{HEAD "1 lids dumped\n0x1 1\n", "f:3: '0x1 1': there is no switch before it"},
	{"Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x1 (L0-0):\n", "multicast"},
	{HEAD "\x01\xff\n", "'\\001\\377': it does not start with a unicast LID"},
};

static const struct {
	const char *text;
	unsigned int rows, hops; /* rows, including those that begin a switch */
} good_hops[] = {
	{ SWITCH, 1, 0 },
	{ SWITCH "0x0002: 00 ff ff 02 02 # portguid 0x0000000000200000\n"
		 "0x0003: 02 ff ff 02 02\nSwitch: guid 0x1\n0x3: 01 01", 5, 12 },
};

static const struct {
	const char *text, *told;
} bad_hops[] = {
	{"0x1: 01\n", "f:1: '0x1: 01': there is no switch before it, expected 'Switch: guid"},
	{"Switch: guid x\n", "there is no GUID of a switch"},
	{SWITCH SWITCH, "f:2: 'Switch: guid 0x200000': the switch is listed twice"},
	{SWITCH "0x1 01\n", "there is no colon after the LID"},
	{SWITCH "0x1:\n", "there are no hops after the LID"},
	{SWITCH "0x1: 100\n", "'100' is not a number of hops"},
	{SWITCH "0x1: 01 zz\n", "'zz' is not a number of hops"},
	{SWITCH "0x1: 01\n0x1: 01\n", "f:3: '0x1: 01': LID 0x0001 of this switch"},
	{SWITCH "0x1: 01 # portguid\t0\n0x2: 1 # portguid 0\n", "there is no GUID after portguid"},
};

START_TEST(test_good)
{
	GError *error = NULL;
	struct lft_file *file = lft_file_parse("f", good[_i].text, strlen(good[_i].text), &error);

	ck_assert_msg(file != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(file->lfts->len, good[_i].lfts);
	ck_assert_uint_eq(file->entries->len, good[_i].entries);
	lft_file_free(file);
}
END_TEST

START_TEST(test_bad)
{
	GError *error = NULL;

	ck_assert_ptr_null(lft_file_parse("f", bad[_i].text, strlen(bad[_i].text), &error));
	ck_assert_msg(strstr(error->message, bad[_i].told) != NULL, "%s", error->message);
	g_error_free(error);
}
END_TEST

START_TEST(test_good_hops)
{
	GError *error = NULL;
	struct hops_file *file = hops_file_parse("f", good_hops[_i].text,
						 strlen(good_hops[_i].text), &error);

	ck_assert_msg(file != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(file->rows->len, good_hops[_i].rows);
	ck_assert_uint_eq(file->hops->len, good_hops[_i].hops);
	hops_file_free(file);
}
END_TEST

START_TEST(test_bad_hops)
{
	GError *error = NULL;

	ck_assert_ptr_null(hops_file_parse("f", bad_hops[_i].text, strlen(bad_hops[_i].text),
					   &error));
	ck_assert_msg(strstr(error->message, bad_hops[_i].told) != NULL, "%s", error->message);
	g_error_free(error);
}
END_TEST

START_TEST(test_values)
{
	static const char text[] = HEAD "0x0003 017 # Router portguid 0x12: 'r'\n0x4 2\n";
	struct lft_file *file = lft_file_parse("f", text, sizeof(text) - 1, NULL);
	struct route_lfts lfts = lft_file_input(file);

	ck_assert_str_eq(lfts.file, "f");
	ck_assert_uint_eq(lfts.n, 1);
	ck_assert_uint_eq(lfts.lfts[0].guid, 0x200000);
	ck_assert_uint_eq(lfts.lfts[0].n, 2);
	ck_assert_uint_eq(lfts.entries[0].lid, 3);
	ck_assert_uint_eq(lfts.entries[0].port, 17);
	ck_assert_uint_eq(lfts.entries[0].guid, 0x12);
	ck_assert_uint_eq(lfts.entries[0].line, 2);
	ck_assert_uint_eq(lfts.entries[1].guid, 0);
	lft_file_free(file);
	ck_assert_ptr_null(lft_file_input(NULL).file);
}
END_TEST

START_TEST(test_no_file)
{
	GError *error = NULL;

	ck_assert_ptr_null(lft_file_load("/nonexistent/lfts", &error));
	ck_assert(strstr(error->message, "/nonexistent/lfts") != NULL);
	g_error_free(error);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("lft_file");
	TCase *tests = tcase_create("lft_file");

	tcase_add_loop_test(tests, test_good, 0, G_N_ELEMENTS(good));
	tcase_add_loop_test(tests, test_bad, 0, G_N_ELEMENTS(bad));
	tcase_add_loop_test(tests, test_good_hops, 0, G_N_ELEMENTS(good_hops));
	tcase_add_loop_test(tests, test_bad_hops, 0, G_N_ELEMENTS(bad_hops));
	tcase_add_test(tests, test_values);
	tcase_add_test(tests, test_no_file);
	suite_add_tcase(suite, tests);
	return suite;
}
