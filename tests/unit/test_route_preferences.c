// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The operator's choices among best paths: all stay best, and the choice shows. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/options.h"
#include "iba/constants.h"
#include "policy/files/route_files.h"
#include "route/engine.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static struct routing *route(const struct fabric *fabric, const char *engine,
			     const struct route_input *input)
{
	GError *error = NULL;
	struct routing *routing = route_compute(route_find(engine), fabric, input, &error);
	struct route_verdict verdict;

	ck_assert_msg(routing != NULL, "%s", error ? error->message : "");
	ck_assert_msg(route_verify(fabric, routing, &verdict), "%s", verdict.witness);
	ck_assert(verdict.complete && verdict.loop_free);
	if (!strcmp(engine, "minhop")) /* as short as without any preferences */
		ck_assert_uint_eq(verdict.max_hops, routing->max_hops);
	route_verdict_clear(&verdict);
	return routing;
}

/* Entries in which two routings of a fabric differ. */
static unsigned int differences(const struct routing *a, const struct routing *b)
{
	unsigned int n = 0;

	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (uint32_t lid = 1; lid <= a->top; lid++)
			n += a->lft[sw][lid] != b->lft[sw][lid];
	return n;
}

/* GUIDs of the hosts' ports by LID; free them. */
static uint64_t *hosts_of(const struct fabric *fabric, uint32_t *n)
{
	uint64_t *guids = g_new(uint64_t, fabric->n_nodes);

	*n = 0;
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);

		if (port != FABRIC_NONE && fabric->ports[port].lid == lid &&
		    !fabric_is_switch(fabric, fabric->ports[port].node))
			guids[(*n)++] = fabric->ports[port].guid;
	}
	return guids;
}

static bool is_in(uint64_t guid, const uint64_t *guids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (guids[i] == guid)
			return true;
	return false;
}

/*
 * How uneven the LIDs of these ports are on the cables between switches: the sum of squares of
 * their number on each.
 */
static uint64_t squares(const struct fabric *fabric, const struct routing *routing,
			const uint64_t *guids, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint64_t used[256] = {0};

		for (uint32_t lid = 1; lid <= routing->top; lid++) {
			uint32_t port = fabric_port_by_lid(fabric, lid), peer;

			if (port == FABRIC_NONE || !is_in(fabric->ports[port].guid, guids, n))
				continue;
			peer = fabric->ports[fabric_switch_port(fabric, sw, routing->lft[sw][lid])]
				       .peer;
			if (peer != FABRIC_NONE &&
			    fabric_is_switch(fabric, fabric->ports[peer].node))
				used[routing->lft[sw][lid]]++;
		}
		for (unsigned int num = 1; num < 256; num++)
			sum += used[num] * used[num];
	}
	return sum;
}

/* As squares(), for the packets that every host sends to each of these ports. */
static uint64_t flow_squares(const struct fabric *fabric, const struct routing *routing,
			     const uint64_t *hosts, uint32_t n, const uint64_t *to, uint32_t n_to)
{
	g_autofree uint64_t *load = g_new0(uint64_t, fabric->n_ports);
	uint64_t sum = 0;
	uint8_t exit;

	for (uint32_t i = 0; i < n * n_to; i++) {
		uint16_t lid = fabric->ports[fabric_port_by_guid(fabric, to[i % n_to])].lid;
		uint32_t sw = fabric_leaf(fabric, fabric_port_by_guid(fabric, hosts[i / n_to]),
					  &exit);

		while (sw != FABRIC_NONE) {
			uint32_t port = fabric_switch_port(fabric, sw, routing->lft[sw][lid]);

			load[port]++;
			sw = fabric->nodes[fabric->ports[fabric->ports[port].peer].node].sw;
		}
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		sum += load[i] * load[i];
	return sum;
}

/* Every second host does not count: the others are spread better than before. */
static void check_ignored(const char *spec)
{
	struct fabric *fabric = make_fabric(spec, 0);
	struct route_endport ports[64];
	struct route_input plain = {.threads = 1}, input = {.threads = 1, .ignored = ports};
	uint32_t n, counted = 0;
	g_autofree uint64_t *hosts = hosts_of(fabric, &n), *left = g_new(uint64_t, n);
	struct routing *before = route(fabric, "minhop", &plain), *after;

	for (uint32_t i = 0; i < n; i++) {
		if (i % 2)
			ports[input.n_ignored++] = (struct route_endport){hosts[i], -1};
		else
			left[counted++] = hosts[i];
	}
	after = route(fabric, "minhop", &input);
	ck_assert_uint_lt(flow_squares(fabric, after, hosts, n, left, counted),
			  flow_squares(fabric, before, hosts, n, left, counted));
	routing_unref(before);
	routing_unref(after);
	fabric_unref(fabric);
}

/* If none counts they are spread among themselves as if all did. */
static void check_all_ignored(const char *spec)
{
	struct fabric *fabric = make_fabric(spec, 0);
	struct route_endport ports[64];
	struct route_input plain = {.threads = 1}, input = {.threads = 1, .ignored = ports};
	g_autofree uint64_t *hosts = hosts_of(fabric, &input.n_ignored);
	struct routing *before = route(fabric, "minhop", &plain), *after;
	uint32_t n = input.n_ignored;

	for (uint32_t i = 0; i < n; i++)
		ports[i] = (struct route_endport){hosts[i], -1};
	after = route(fabric, "minhop", &input);
	ck_assert_uint_le(flow_squares(fabric, after, hosts, n, hosts, n),
			  flow_squares(fabric, before, hosts, n, hosts, n) * 51 / 50);
	routing_unref(before);
	routing_unref(after);
	fabric_unref(fabric);
}

START_TEST(test_ignored)
{
	check_ignored("fattree:4");
	check_ignored("torus:4x4:2");
	check_all_ignored("fattree:4");
	check_all_ignored("torus:4x4:2");
}
END_TEST

/* Node GUID and port number name the same port; names of missing ports do no harm. */
START_TEST(test_ignored_names)
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	uint32_t n;
	g_autofree uint64_t *hosts = hosts_of(fabric, &n);
	uint32_t port = fabric_port_by_guid(fabric, hosts[1]);
	struct route_endport by_port = {hosts[1], -1}, by_node[] = {
		{ fabric->nodes[fabric->ports[port].node].guid, fabric->ports[port].num },
		{ 0xdead, -1 }, { 0xdead, 1 }, { fabric->nodes[0].guid, 200 },
	};
	struct route_input a = {.threads = 1, .ignored = &by_port, .n_ignored = 1};
	struct route_input b = {.threads = 1, .ignored = by_node, .n_ignored = 4};
	struct route_input plain = {.threads = 1};
	struct routing *x = route(fabric, "updn", &a), *y = route(fabric, "updn", &b);
	struct routing *z = route(fabric, "updn", &plain);

	ck_assert_uint_eq(differences(x, y), 0);
	ck_assert_uint_gt(differences(x, z), 0);
	routing_unref(x);
	routing_unref(y);
	routing_unref(z);
	fabric_unref(fabric);
}
END_TEST

/* In a tree the order of turns is that of the list; the natural one changes nothing. */
START_TEST(test_ahead)
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	uint32_t n;
	g_autofree uint64_t *hosts = hosts_of(fabric, &n);
	struct route_input plain = {.threads = 1};
	struct route_input input = {.threads = 1, .ahead = hosts, .n_ahead = n};
	struct routing *natural = route(fabric, "minhop", &plain), *back, *ftree, *same;

	for (uint32_t i = 0; i < n / 2; i++) {
		uint64_t guid = hosts[i];

		hosts[i] = hosts[n - 1 - i];
		hosts[n - 1 - i] = guid;
	}
	back = route(fabric, "minhop", &input);
	ck_assert_uint_gt(differences(natural, back), 0);
	ck_assert_uint_eq(squares(fabric, natural, hosts, n), squares(fabric, back, hosts, n));
	ftree = route(fabric, "ftree", &plain);
	same = route(fabric, "ftree", &input); /* has no such option */
	ck_assert_uint_eq(differences(ftree, same), 0);
	routing_unref(natural);
	routing_unref(back);
	routing_unref(ftree);
	routing_unref(same);
	fabric_unref(fabric);
}
END_TEST

/* Elsewhere too, with several LIDs a port, and with duplicate or unknown names. */
START_TEST(test_ahead_balance)
{
	struct fabric *fabric = make_fabric("torus:3x3", 2);
	uint32_t n;
	g_autofree uint64_t *hosts = hosts_of(fabric, &n);
	uint64_t list[] = {hosts[n - 1], 0xdead, hosts[2], hosts[n - 1]};
	struct route_input plain = {.threads = 1};
	struct route_input input = {.threads = 1, .ahead = list, .n_ahead = 4};
	struct routing *a = route(fabric, "minhop", &plain);
	struct routing *b = route(fabric, "minhop", &input);

	ck_assert_uint_gt(differences(a, b), 0);
	routing_unref(a);
	routing_unref(b);
	fabric_unref(fabric);
}
END_TEST

static void check_scatter(const char *spec)
{
	struct fabric *fabric = make_fabric(spec, 0);
	uint32_t n;
	g_autofree uint64_t *hosts = hosts_of(fabric, &n);
	struct route_input one = {.threads = 1, .scatter = 1}, two = {.threads = 1, .scatter = 2};
	struct route_input not_them = {.threads = 1, .scatter = 1, .ahead = hosts, .n_ahead = n,
				       .ahead_not_scattered = true};
	struct routing *a = route(fabric, "minhop", &one), *b = route(fabric, "minhop", &one);
	struct routing *c = route(fabric, "minhop", &two), *d = route(fabric, "minhop", &not_them);
	struct routing *e;

	not_them.scatter = 2;
	e = route(fabric, "minhop", &not_them);
	ck_assert_uint_eq(differences(a, b), 0);
	ck_assert_uint_gt(differences(a, c), 0);
	/* Then the seed moves only the LIDs of switches, and entries that give way to them. */
	ck_assert_msg(differences(d, e) && differences(d, e) * 10 < differences(a, c) * 9,
		      "%s: %u, %u", spec, differences(d, e), differences(a, c));
	routing_unref(a);
	routing_unref(b);
	routing_unref(c);
	routing_unref(d);
	routing_unref(e);
	fabric_unref(fabric);
}

START_TEST(test_scatter)
{
	check_scatter("fattree:8");
	check_scatter("torus:4x4");
}
END_TEST

/* As even as before, but begun elsewhere. */
START_TEST(test_shift)
{
	static const char *const specs[] = {"fattree:4", "fattree:8", "torus:4x4"};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct fabric *fabric = make_fabric(specs[i], i % 2);
		struct route_input plain = {.threads = 1}, input = {.threads = 1, .shift = true};
		struct routing *a = route(fabric, "minhop", &plain);
		struct routing *b = route(fabric, "minhop", &input);
		uint32_t n;
		g_autofree uint64_t *hosts = hosts_of(fabric, &n);
		uint64_t even = squares(fabric, a, hosts, n);

		ck_assert_uint_gt(differences(a, b), 0);
		ck_assert_uint_le(squares(fabric, b, hosts, n), even + even / 20);
		routing_unref(a);
		routing_unref(b);
		fabric_unref(fabric);
	}
}
END_TEST

/* LIDs of hosts that leave a switch through a port. */
static unsigned int leaving(const struct fabric *fabric, const struct routing *routing, uint32_t sw,
			    uint8_t port)
{
	unsigned int n = 0;

	for (uint32_t lid = 1; lid <= routing->top; lid++) {
		uint32_t owner = fabric_port_by_lid(fabric, lid);

		n += owner != FABRIC_NONE &&
		     !fabric_is_switch(fabric, fabric->ports[owner].node) &&
		     routing->lft[sw][lid] == port;
	}
	return n;
}

/* Among equals the port that the operator named first. */
START_TEST(test_port_order)
{
	static const char *const engines[] = {"minhop", "updn", "dnup"};
	struct fabric *fabric = make_fabric("fattree:4", _i / 3);
	uint32_t sw = 0;
	uint8_t exit;

	while (fabric_leaf(fabric, fabric_port_by_lid(fabric, 1 << _i / 3), &exit) != sw)
		sw++;
	/* Of four ports of a leaf the last two go up; fourteen hosts are not below it. */
	struct route_port_order up = {fabric->nodes[fabric->switches[sw].node].guid, 2, {3, 4}};
	struct route_port_order down = {up.guid, 1, {4}}, gone = {0xdead, 2, {4, 3}};
	struct route_input plain = {.threads = 1}, input = {.threads = 1, .n_port_orders = 1};
	struct routing *a, *b, *none, *unknown;

	none = route(fabric, engines[_i % 3], &plain);
	input.port_orders = &gone;
	unknown = route(fabric, engines[_i % 3], &input);
	ck_assert_uint_eq(differences(none, unknown), 0);
	input.port_orders = &up;
	a = route(fabric, engines[_i % 3], &input);
	input.port_orders = &down;
	b = route(fabric, engines[_i % 3], &input);
	ck_assert_uint_gt(differences(a, b), 0);
	ck_assert_uint_eq(leaving(fabric, a, sw, 3) + leaving(fabric, a, sw, 4), 14 << _i / 3);
	ck_assert_uint_ge(leaving(fabric, a, sw, 3), leaving(fabric, a, sw, 4));
	ck_assert_uint_ge(leaving(fabric, b, sw, 4), leaving(fabric, b, sw, 3));
	routing_unref(none);
	routing_unref(unknown);
	routing_unref(a);
	routing_unref(b);
	fabric_unref(fabric);
}
END_TEST

START_TEST(test_count_switches)
{
	struct fabric *fabric = make_fabric("torus:4x4", 0);
	struct route_input plain = {.threads = 1}, input = {.threads = 1, .count_switches = true};
	struct routing *a = route(fabric, "minhop", &plain), *b = route(fabric, "minhop", &input);
	g_autofree uint64_t *all = g_new(uint64_t, fabric->n_ports);
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].guid)
			all[n++] = fabric->ports[i].guid;
	ck_assert_uint_gt(differences(a, b), 0);
	ck_assert_uint_le(squares(fabric, b, all, n), squares(fabric, a, all, n));
	routing_unref(a);
	routing_unref(b);
	fabric_unref(fabric);
}
END_TEST

START_TEST(test_files)
{
	struct options *options = options_new();
	g_autofree char *file = NULL;
	GError *error = NULL;
	struct route_files *files;
	struct route_input input;
	int fd = g_file_open_tmp("preferences-XXXXXX", &file, NULL);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert(g_file_set_contents(file, "0x10\n0x20 2 # node and port\n", -1, NULL));
	g_free(options->port_prof_ignore_file);
	options->port_prof_ignore_file = g_strdup(file);
	options->scatter_ports = 7;
	files = route_files_load(options, &error);
	ck_assert_msg(files != NULL, "%s", error ? error->message : "");
	route_files_input(files, options, &input);
	ck_assert_uint_eq(input.n_ignored, 2);
	ck_assert_uint_eq(input.ignored[0].guid, 0x10);
	ck_assert_int_eq(input.ignored[0].num, -1);
	ck_assert_int_eq(input.ignored[1].num, 2);
	ck_assert_uint_eq(input.scatter, 7);
	route_files_unref(files);
	options->guid_routing_order_file = g_strdup(file); /* a number does not fit in */
	files = route_files_load(options, &error);
	ck_assert_msg(files != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(route_files_warnings(files)->len, 1);
	ck_assert_msg(g_str_has_prefix(route_files_warnings(files)->pdata[0],
				       "guid_routing_order_file: ") &&
			      strstr(route_files_warnings(files)->pdata[0], ":2: '2' is ignored"),
		      "%s", (char *)route_files_warnings(files)->pdata[0]);
	route_files_unref(files);
	unlink(file);
	options_unref(options);
}
END_TEST

/* Of a cable between switches: one end's report is enough. False: the port has no such cable. */
static bool throttle(struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	if (peer == FABRIC_NONE || !fabric_is_switch(fabric, fabric->ports[port].node) ||
	    !fabric_is_switch(fabric, fabric->ports[peer].node))
		return false;
	fabric->ports[port].info.link_width_supported = IBA_WIDTH_1X | IBA_WIDTH_4X;
	fabric->ports[peer].info.link_width_supported = IBA_WIDTH_1X | IBA_WIDTH_4X;
	fabric->ports[port].info.link_width_active = IBA_WIDTH_1X;
	return true;
}

/* LIDs that the switch of a port sends out there. */
static unsigned int entries_over(const struct fabric *fabric, const struct routing *routing,
				 uint32_t port)
{
	uint32_t sw = fabric->nodes[fabric->ports[port].node].sw;
	unsigned int n = 0;

	for (uint32_t lid = 1; lid <= routing->top; lid++)
		n += routing->lft[sw][lid] == fabric->ports[port].num;
	return n;
}

static const char *const avoiding[] = {"sssp", "dfsssp", "nue", "lash", "hoplanes"};

/* Each cable separately, some of them parallel: each can be avoided. */
START_TEST(test_throttled)
{
	const struct route_input input = {.threads = 1, .avoid_throttled = true, .vls = 8};
	const char *spec = _i % 2 ? "xgft:2,3:1,2:1,2" : "torus:4x3";
	unsigned int n = 0;

	for (uint32_t port = 0;; port++) {
		struct fabric *fabric = make_fabric(spec, 0);
		bool end = port == fabric->n_ports;

		if (!end && throttle(fabric, port)) {
			struct routing *routing = route(fabric, avoiding[_i / 2], &input);

			ck_assert_uint_eq(entries_over(fabric, routing, port), 0);
			ck_assert_uint_eq(entries_over(fabric, routing, fabric->ports[port].peer),
					  0);
			ck_assert_ptr_nonnull(strstr(routing->note, "1 carry no paths, and 0 do"));
			routing_unref(routing);
			n++;
		}
		fabric_unref(fabric);
		if (end)
			break;
	}
	ck_assert_uint_gt(n, 20);
}
END_TEST

/* A chain: nothing else connects its switches. Without the option nothing is avoided. */
START_TEST(test_throttled_bridges)
{
	struct route_input input = {.threads = 1, .avoid_throttled = true};
	struct fabric *fabric = make_fabric("mesh:4", 0);
	struct routing *routing;
	uint32_t over = 0;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (throttle(fabric, port))
			over = port;
	routing = route(fabric, avoiding[_i], &input);
	ck_assert_uint_gt(entries_over(fabric, routing, over), 0);
	ck_assert_ptr_nonnull(strstr(routing->note, "0 carry no paths, and 3 do"));
	routing_unref(routing);
	input.avoid_throttled = false;
	routing = route(fabric, avoiding[_i], &input);
	ck_assert(!routing->note || !strstr(routing->note, "carry no paths"));
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

static const struct {
	const char *spec;
	unsigned int lanes;
} meshes[] = {
	{"mesh:5x4x3", 1},  {"mesh:9x7", 1},  {"hypercube:6", 1}, {"torus:4x4x4", 1},
	{"torus:5x5x5", 7}, {"torus:6x6", 3}, {"torus:8x8x8", 8},
};

/* Dimensions are recognised by cables, whatever the ports. */
START_TEST(test_mesh)
{
	const struct route_input input = {.threads = 1, .vls = 8, .find_mesh = true};
	struct builder *builder = make_builder_of(meshes[_i].spec);
	uint64_t state = 1 + _i;
	struct fabric *fabric;
	struct routing *routing;

	make_shuffled_ports(builder, &state);
	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	routing = route(fabric, "lash", &input);
	ck_assert(routing->promises & ROUTE_DEADLOCK_FREE);
	ck_assert_msg((routing->lanes ? routing->lanes->n : 1) <= meshes[_i].lanes, "%s: %u lanes",
		      meshes[_i].spec, routing->lanes->n);
	routing_unref(routing);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_preferences");
	TCase *tests = tcase_create("route_preferences");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, test_ignored);
	tcase_add_test(tests, test_ignored_names);
	tcase_add_test(tests, test_ahead);
	tcase_add_test(tests, test_ahead_balance);
	tcase_add_test(tests, test_scatter);
	tcase_add_test(tests, test_shift);
	tcase_add_loop_test(tests, test_port_order, 0, 6);
	tcase_add_test(tests, test_count_switches);
	tcase_add_test(tests, test_files);
	tcase_add_loop_test(tests, test_throttled, 0, 2 * G_N_ELEMENTS(avoiding));
	tcase_add_loop_test(tests, test_throttled_bridges, 0, G_N_ELEMENTS(avoiding));
	tcase_add_loop_test(tests, test_mesh, 0, G_N_ELEMENTS(meshes));
	suite_add_tcase(suite, tests);
	return suite;
}
