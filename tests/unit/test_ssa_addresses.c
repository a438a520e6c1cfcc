// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file of addresses of the Scalable SA: what it means, and what is refused. */
#include <check.h>
#include <string.h>

#include "ssa/core/addresses.h"
#include "tests/run_suite.h"

static struct ssa_addresses *parse(const char *text, GError **error)
{
	return ssa_addresses_parse("f", text, strlen(text), error);
}

START_TEST(kinds)
{
	g_autoptr(GError) error = NULL;
	struct ssa_addresses *addresses = parse("# hosts\n"
						"b fe80::2 0x10 0x40 # a comment\n"
						"a fe80::1\n"
						"10.0.0.7 fe80::1 65537\n"
						"[pkey=0x8001]\n"
						"fd00::7 fe80::1\n"
						"a fe80::1\n"
						"a fe80::1\n",
						&error);
	const struct ssa_name *names;
	const struct ssa_ipv4 *ipv4;

	ck_assert_msg(addresses != NULL, "%s", error ? error->message : "");
	names = (const void *)addresses->names->data;
	ck_assert_uint_eq(addresses->names->len, 3);
	ck_assert_str_eq(names[0].name, "a");
	ck_assert_uint_eq(ssa_16(names[0].rest.p_key), 0x8001);
	ck_assert_str_eq(names[1].name, "a");
	ck_assert_uint_eq(ssa_16(names[1].rest.p_key), 0xFFFF);
	ck_assert_str_eq(names[2].name, "b");
	ck_assert_uint_eq(names[2].rest.gid[15], 2);
	ck_assert_uint_eq(names[2].rest.qpn[2], 0x10);
	ck_assert_uint_eq(names[2].rest.flags, SSA_ADDRESS_UC);
	ck_assert_uint_eq(addresses->ipv4->len, 1);
	ipv4 = (const void *)addresses->ipv4->data;
	ck_assert_uint_eq(ipv4->address[3], 7);
	ck_assert_uint_eq(ipv4->rest.qpn[0], 1);
	ck_assert_uint_eq(ipv4->rest.qpn[2], 1);
	ck_assert_uint_eq(ipv4->rest.flags, SSA_ADDRESS_RC);
	ck_assert_uint_eq(addresses->ipv6->len, 1);
	ssa_addresses_unref(addresses);
}
END_TEST

static const struct {
	const char *line, *why;
} bad[] = {
	{"a", "a GID after the address"},
	{"a b", "a GID such as"},
	{"a 10.0.0.1", "a GID such as"},
	{"a ff12::1", "not of a multicast group"},
	{"a fe80::1 0x1000000", "at most 24 bits"},
	{"a fe80::1 x", "at most 24 bits"},
	{"a fe80::1 -1", "at most 24 bits"},
	{"a fe80::1 1 0x20", "flags"},
	{"a fe80::1 1 0x80 x", "the end of the line"},
	{"[pkey=0]", "P_Key"},
	{"[pkey=0x8000]", "P_Key"},
	{"[pkey=0x10000]", "P_Key"},
	{"[pkey=]", "P_Key"},
	{"[pkey]", "P_Key"},
	{"[pkey=0x8001] x", "the end of the line"},
	{"0123456789012345678901234567890123456789012345678901234567890123 fe80::1", "63 octets"},
};

START_TEST(refused)
{
	g_autofree char *text = g_strdup_printf("# first\n%s\nlast fe80::1\n", bad[_i].line);
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(parse(text, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error->message, bad[_i].why) && strstr(error->message, "f:2:"), "%s",
		      error->message);
}
END_TEST

START_TEST(absent)
{
	struct ssa_addresses *addresses = ssa_addresses_load("/nonexistent/file", NULL);

	ck_assert_ptr_nonnull(addresses);
	ck_assert_uint_eq(addresses->names->len, 0);
	ssa_addresses_unref(addresses);
	ck_assert_ptr_null(ssa_addresses_load("/dev", NULL));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_addresses");
	TCase *tcase = tcase_create("file");

	tcase_add_test(tcase, kinds);
	tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(bad));
	tcase_add_test(tcase, absent);
	suite_add_tcase(suite, tcase);
	return suite;
}
