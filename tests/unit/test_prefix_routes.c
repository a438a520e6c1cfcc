// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files of prefix routes: what is accepted or refused, and which router a prefix leads to. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "policy/files/prefix_routes.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static const struct {
	const char *text;
	const char *told; /* prefix, GUID in hex; "*" for any; or the error after the file's name */
} files[] = {
	{"", ""},
	{"\n  \t\r\n# all of it\n   # and this\n", ""},
	{"fec0000000000001 2c90200000001", "fec0000000000001 2c90200000001;"},
	{"0xFEC0000000000001\t0X0002c90200000001 # to b\r\n", "fec0000000000001 2c90200000001;"},
	{"* *", "* *;"},
	{"fec0000000000001 *#x\n* 5\nfec0000000000001 6\n",
	 "fec0000000000001 *;* 5;fec0000000000001 6;"},
	{"ffffffffffffffff ffffffffffffffff\n", "ffffffffffffffff ffffffffffffffff;"},
	{"fec0000000000001\n", ":1: found 'fec0000000000001'"},
	{"\n* # 5\n", ":2: found '* # 5'"},
	{"* 5 6\n", ":1: found '* 5 6'"},
	{"* 5 *\n", ":1: found '* 5 *'"},
	{"** 5\n", ":1: found '** 5'"},
	{"* 0\n", ":1: found '* 0'"},
	{"0x0 *\n", ":1: found '0x0 *'"},
	{"* 0x\n", ":1: found '* 0x'"},
	{"* -1\n", ":1: found '* -1'"},
	{"* 5g\n", ":1: found '* 5g'"},
	{"fec0::1 5\n", ":1: found 'fec0::1 5'"},
	{"* 10000000000000000\n", ":1: found '* 10000000000000000'"},
	{"* 5\n\x01\xff\n", ":2: found '\\001\\377'"},
};

static char *tell(const struct prefix_routes *routes)
{
	GString *told = g_string_new(NULL);

	for (guint i = 0; i < routes->routes->len; i++) {
		const struct prefix_route *route =
			&g_array_index(routes->routes, struct prefix_route, i);

		if (route->prefix)
			g_string_append_printf(told, "%" G_GINT64_MODIFIER "x ", route->prefix);
		else
			g_string_append(told, "* ");
		if (route->guid)
			g_string_append_printf(told, "%" G_GINT64_MODIFIER "x;", route->guid);
		else
			g_string_append(told, "*;");
	}
	return g_string_free(told, FALSE);
}

START_TEST(read_and_reread)
{
	g_autoptr(GError) error = NULL;
	const char *text = files[_i].text;
	struct prefix_routes *routes = prefix_routes_parse("f", text, strlen(text), &error);
	g_autofree char *told = routes ? tell(routes) : NULL;

	ck_assert(!routes == !!error);
	if (*files[_i].told == ':') {
		g_autofree char *begin = g_strdup_printf("f%s, expected ", files[_i].told);

		ck_assert_msg(error && g_str_has_prefix(error->message, begin), "'%s': %s", text,
			      error ? error->message : "taken");
	} else {
		ck_assert_msg(told && !strcmp(told, files[_i].told), "'%s': %s", text,
			      told ? told : error->message);
	}
	prefix_routes_unref(routes);
}
END_TEST

START_TEST(a_nul_octet_is_refused)
{
	static const char text[] = "* 5\0\n";
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(prefix_routes_parse("f", text, sizeof(text) - 1, &error));
	ck_assert_ptr_nonnull(error);
}
END_TEST

START_TEST(loaded)
{
	g_autoptr(GError) error = NULL;
	struct prefix_routes *routes = prefix_routes_load("/nonexistent/file", &error);

	ck_assert_msg(routes != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(routes->routes->len, 0);
	ck_assert(!routes->has_file);
	prefix_routes_unref(routes);
	routes = prefix_routes_load(NULL, &error);
	ck_assert_ptr_nonnull(routes);
	prefix_routes_unref(routes);
	ck_assert_ptr_null(prefix_routes_load("/", &error));
	ck_assert_ptr_nonnull(error);
}
END_TEST

/* Hosts 0 and 2 of the tree are routers; host 2 has the lower GUID; host 1 stays a CA. */
static struct fabric *make_routers(uint64_t guids[3])
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	uint32_t port[3];
	unsigned int n = 0;

	for (uint32_t i = 0; i < fabric->n_ports && n < 3; i++)
		if (fabric_is_endport(fabric, i) &&
		    !fabric_is_switch(fabric, fabric->ports[i].node))
			port[n++] = i;
	ck_assert_uint_eq(n, 3);
	fabric->nodes[fabric->ports[port[0]].node].type = IBA_NODE_ROUTER;
	fabric->nodes[fabric->ports[port[2]].node].type = IBA_NODE_ROUTER;
	for (unsigned int i = 0; i < 3; i++)
		guids[i] = fabric->ports[port[i]].guid;
	return fabric;
}

static uint64_t lead(const struct fabric *fabric, uint64_t prefix, const char *format, ...)
{
	va_list args;
	g_autofree char *text = NULL;
	struct prefix_routes *routes;
	uint32_t port;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	routes = prefix_routes_parse("f", text, strlen(text), NULL);
	ck_assert_ptr_nonnull(routes);
	port = prefix_routes_find(routes, fabric, prefix_routes_first_router(fabric), prefix);
	prefix_routes_unref(routes);
	return port == FABRIC_NONE ? 0 : fabric->ports[port].guid;
}

START_TEST(found)
{
	uint64_t g[3];
	struct fabric *fabric = make_routers(g);
	uint64_t first = MIN(g[0], g[2]);

#define X "%" G_GINT64_MODIFIER "x"
	ck_assert(lead(fabric, 1, "2 *") == 0);
	ck_assert(lead(fabric, 1, "1 *") == first);
	ck_assert(lead(fabric, 1, "* *") == first);
	ck_assert(lead(fabric, 1, "* " X, g[2]) == g[2]);
	ck_assert(lead(fabric, 1, "2 *\n1 " X "\n* *", g[2]) == g[2]);
	/* a missing router, a port of a CA: the next line for the prefix */
	ck_assert(lead(fabric, 1, "1 77\n1 " X "\n1 " X, g[1], g[2]) == g[2]);
	ck_assert(lead(fabric, 1, "1 77\n2 *") == 0);
	ck_assert(lead(fabric, 1, "1 " X, g[1]) == 0);
#undef X
	ck_assert_uint_eq(prefix_routes_find(NULL, fabric, 1, 1), FABRIC_NONE);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("prefix_routes");
	TCase *tcase = tcase_create("prefix_routes");

	tcase_add_loop_test(tcase, read_and_reread, 0, G_N_ELEMENTS(files));
	tcase_add_test(tcase, a_nul_octet_is_refused);
	tcase_add_test(tcase, loaded);
	tcase_add_test(tcase, found);
	suite_add_tcase(suite, tcase);
	return suite;
}
