// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Topology generators, and the parser against good, contradictory and hostile files. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "complib/hash.h"
#include "libvendor/sim/topology.h"
#include "tests/run_suite.h"

static char *dir;

static struct topology *parse(const char *text, size_t length, GError **error)
{
	g_autofree char *file = g_build_filename(dir, "net", NULL);
	struct topology *topology;

	ck_assert(g_file_set_contents(file, text, length, NULL));
	topology = topology_load(file, error);
	g_unlink(file);
	return topology;
}

static struct topology *parse_ok(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct topology *topology = parse(text, strlen(text), &error);

	ck_assert_msg(topology != NULL, "%s", error ? error->message : "?");
	return topology;
}

/* The error must name the line and contain the text. */
static void parse_bad(const char *text, unsigned int line, const char *part)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *where = g_strdup_printf("line %u:", line);

	ck_assert_ptr_null(parse(text, strlen(text), &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error->message, where) && strstr(error->message, part) &&
			      strstr(error->message, "/net"),
		      "%s", error->message);
}

static int find(const struct topology *topology, const char *description)
{
	for (unsigned int i = 0; i < topology->nodes->len; i++)
		if (!strcmp(topology_node(topology, i)->description, description))
			return i;
	return -1;
}

/* Cables agree at both ends, GUIDs are unique, all nodes are connected. */
static void check_sound(const struct topology *topology)
{
	unsigned int n = topology->nodes->len;
	GHashTable *guids = g_hash_table_new(hash_uint64, g_int64_equal);
	g_autofree bool *seen = g_new0(bool, n);
	g_autofree unsigned int *queue = g_new(unsigned int, n);
	unsigned int head = 0, tail = 0;

	queue[tail++] = 0;
	seen[0] = true;
	while (head < tail) {
		unsigned int i = queue[head++];

		for (unsigned int p = 1; p <= topology_node(topology, i)->num_ports; p++) {
			const struct topology_port *port = topology_port(topology, i, p);
			const struct topology_port *far;

			if (port->peer < 0)
				continue;
			far = topology_port(topology, port->peer, port->peer_port);
			ck_assert_int_eq(far->peer, i);
			ck_assert_int_eq(far->peer_port, p);
			if (!seen[port->peer]) {
				seen[port->peer] = true;
				queue[tail++] = port->peer;
			}
		}
	}
	ck_assert_uint_eq(tail, n);
	for (unsigned int i = 0; i < topology->ports->len; i++) {
		struct topology_port *port =
			&g_array_index(topology->ports, struct topology_port, i);

		if (port->guid)
			ck_assert(g_hash_table_add(guids, &port->guid));
	}
	ck_assert_uint_eq(g_hash_table_size(guids),
			  topology->switches + topology->hosts); /* hosts have one port */
	g_hash_table_destroy(guids);
}

static const struct {
	const char *spec;
	unsigned int hosts, switches, cables;
} generated[] = {
	{"fattree:2", 2, 5, 2 + 2 + 2},
	{"fattree:4", 16, 20, 48},
	{"fattree:16", 1024, 320, 3072},
	{"torus:4x4x2:3", 96, 32, 96 + 32 + 32 + 16},
	{"torus:3", 3, 3, 3 + 3},
	{"mesh:4x3", 12, 12, 12 + 9 + 8},
	{"hypercube:5:2", 64, 32, 64 + 80},
	{"dragonfly:4:2:2", 72, 36, 72 + 9 * 6 + 36},
	{"random:50:6:2:7", 100, 50, 0},
	{"random:1:0:3:7", 3, 1, 3},
	{"xgft:4,2,3:1,2,2", 24, 6 + 6 + 4, 24 + 12 + 12},
	{"xgft:4,2,3:1,2,2:1,2,3", 24, 6 + 6 + 4, 24 + 2 * 12 + 3 * 12},
	{"xgft:3:1", 3, 1, 3},
	{"slimfly:5:4", 200, 50, 200 + 50 * 7 / 2},
	{"slimfly:7", 98, 98, 98 + 98 * 11 / 2},
	{"slimfly:9", 162, 162, 162 + 162 * 13 / 2},
	{"hyperx:4x3:2", 24, 12, 24 + 18 + 12},
	{"hyperx:5", 5, 5, 5 + 10},
	{"megafly:3:2:2:4", 60, 25, 60 + 5 * 6 + 10},
	{"xgft:2,2,2,2,2,2,2,2:1,2,2,2,2,2,2,2", 256, 1024, 256 + 7 * 256},
};

START_TEST(test_generated)
{
	g_autoptr(GError) error = NULL;
	struct topology *topology = topology_load(generated[_i].spec, &error);
	unsigned int ends = 0;

	ck_assert_msg(topology != NULL, "%s", error ? error->message : "?");
	ck_assert_uint_eq(topology_hosts(topology), generated[_i].hosts);
	ck_assert_uint_eq(topology_switches(topology), generated[_i].switches);
	check_sound(topology);
	for (unsigned int i = 0; i < topology->ports->len; i++)
		ends += g_array_index(topology->ports, struct topology_port, i).peer >= 0;
	if (generated[_i].cables)
		ck_assert_uint_eq(ends, 2 * generated[_i].cables);
	topology_free(topology);
}
END_TEST

/* All switches have as many links to others, and no two are farther apart. */
static const struct {
	const char *spec;
	unsigned int degree, diameter;
} regular[] = {
	{"slimfly:3", 5, 2},	   {"slimfly:5", 7, 2},	      {"slimfly:7", 11, 2},
	{"slimfly:9", 13, 2},	   {"slimfly:11", 17, 2},     {"slimfly:13", 19, 2},
	{"hyperx:4x5", 7, 2},	   {"hyperx:3x3x3", 6, 3},    {"hyperx:6", 5, 1},
	{"dragonfly:4:2:1", 5, 3}, {"megafly:4:4:4:1", 0, 5},
};

/* Hops over switches to the farthest of them; n_reached: their number. */
static unsigned int farthest(const struct topology *topology, unsigned int from,
			     unsigned int *n_reached)
{
	g_autofree unsigned int *hops = g_new0(unsigned int, topology->nodes->len);
	g_autofree unsigned int *queue = g_new(unsigned int, topology->nodes->len);
	unsigned int n = 0;

	queue[n++] = from;
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int p = 1; p <= topology_node(topology, queue[i])->num_ports; p++) {
			int peer = topology_port(topology, queue[i], p)->peer;

			if (peer < 0 || peer == (int)from || hops[peer] ||
			    topology_node(topology, peer)->type != IBA_NODE_SWITCH)
				continue;
			hops[peer] = hops[queue[i]] + 1;
			queue[n++] = peer;
		}
	}
	*n_reached = n;
	return hops[queue[n - 1]];
}

static unsigned int degree_of(const struct topology *topology, unsigned int node)
{
	unsigned int n = 0;

	for (unsigned int p = 1; p <= topology_node(topology, node)->num_ports; p++) {
		int peer = topology_port(topology, node, p)->peer;

		n += peer >= 0 && topology_node(topology, peer)->type == IBA_NODE_SWITCH;
	}
	return n;
}

START_TEST(test_regular)
{
	struct topology *topology = topology_load(regular[_i].spec, NULL);
	unsigned int most = 0, n;

	for (unsigned int i = 0; i < topology->nodes->len; i++) {
		if (topology_node(topology, i)->type != IBA_NODE_SWITCH)
			continue;
		if (regular[_i].degree)
			ck_assert_uint_eq(degree_of(topology, i), regular[_i].degree);
		most = MAX(most, farthest(topology, i, &n));
		ck_assert_uint_eq(n, topology->switches);
	}
	ck_assert_uint_eq(most, regular[_i].diameter);
	topology_free(topology);
}
END_TEST

/* Each rail is whole, and separate. */
START_TEST(test_rails)
{
	struct topology *topology = topology_load("rails:4:3:2:5", NULL);
	unsigned int n;

	ck_assert_uint_eq(topology->hosts, 60);
	ck_assert_uint_eq(topology->switches, 20);
	for (unsigned int i = 0; i < topology->switches; i++) {
		ck_assert_uint_eq(farthest(topology, i, &n), 2);
		ck_assert_uint_eq(n, 5);
	}
	topology_free(topology);
}
END_TEST

static const char *const bad_specs[] = {
	"fattree:",
	"fattree:3",
	"fattree:0",
	"fattree:66",
	"fattree:4:1",
	"fattree:4x4",
	"fattree:4 ",
	"torus:0x4",
	"torus:4x",
	"torus:1x1x1x1x1x1x1x1x1",
	"torus:9999x9999",
	"mesh:4:255",
	"hypercube:17",
	"hypercube:0",
	"dragonfly:1:2",
	"dragonfly:200:200:200",
	"random:3:1:1:1",
	"random:5:4:1",
	"random:99999999999:2:1:1",
	"dragonfly:0:1:1",
	"random:100:4294967295:2:1",
	"slimfly:6",
	"slimfly:15",
	"slimfly:1",
	"slimfly:5:250",
	"slimfly:4294967299",
	"slimfly:5x5",
	"hyperx:0x3",
	"hyperx:200x200",
	"hyperx:1:0",
	"hyperx:4:1:1",
	"megafly:1:1:1",
	"megafly:0:1:1:1",
	"megafly:200:100:54:1",
	"megafly:250:1:5:1",
	"rails:1:2:0:1",
	"rails:0:1:1:1",
	"rails:999999999:2:1:1",
	"rails:1:1:0:0",
	"xgft:",
	"xgft:4",
	"xgft:4,2:1",
	"xgft:4,2:1,2:1",
	"xgft:4,2:1,2:1,1:1,1",
	"xgft:4,2:2,2",
	"xgft:4,2:1,2:2,1",
	"xgft:4,0:1,2",
	"xgft:4,2:1,2,",
	"xgft:4,2:1,2 ",
	"xgft:4x2:1,2",
	"xgft:3,2,2,2,2,2,2,2,2,2,2,2,2,2,3,3:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
	"xgft:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
	"xgft:200,200,200:1,50,50",
	"xgft:250,4:1,2:1,3",
	"xgft:99999999999,1:1,1",
};

START_TEST(test_bad_spec)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(topology_load(bad_specs[_i], &error));
	ck_assert_msg(error && strstr(error->message, "expected"), "%s", bad_specs[_i]);
}
END_TEST

static const char ibnetdiscover[] =
	"#\n# Topology file: generated on Sat Nov 21 09:14:18 2026\n#\n"
	"vendid=0x2c9\ndevid=0xb924\nsysimgguid=0x200001\nswitchguid=0x200001(200001)\n"
	"Switch\t8 \"S-0000000000200001\"\t\t# \"leaf 1\" enhanced port 0 lid 3 lmc 0\n"
	"[1]\t\"H-0000000000100003\"[2](100005) \t\t# \"host [1] \" lid 7 4xHDR\n"
	"[8][ext 12]\t\"R-0000000000300000\"[1](300001)\t\t# \"router\" lid 0 1xFDR10\n\n"
	"vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x100003\ncaguid=0x100003\n"
	"Ca\t2 \"H-0000000000100003\"\t\t# \"host [1] \"\n"
	"[2](100005) \t\"S-0000000000200001\"[1]\t\t# lid 7 lmc 0 \"leaf 1\" lid 3 4xHDR\n\n"
	"rtguid=0x300000\nRt\t1 \"R-0000000000300000\"\t\t# \"router\"\n"
	"[1](300001) \t\"S-0000000000200001\"[8]\t\t# lid 0 lmc 0 \"leaf 1\" lid 3 1xFDR10\n";

START_TEST(test_ibnetdiscover)
{
	struct topology *topology = parse_ok(ibnetdiscover);
	int host = find(topology, "host [1] "), leaf = find(topology, "leaf 1");
	const struct topology_port *port;

	ck_assert_int_ge(host, 0);
	ck_assert_int_ge(leaf, 0);
	ck_assert_uint_eq(topology_node(topology, leaf)->vendor_id, 0x2c9);
	ck_assert_uint_eq(topology_node(topology, leaf)->device_id, 0xb924);
	ck_assert_uint_eq(topology_node(topology, host)->node_guid, 0x100003);
	port = topology_port(topology, host, 2);
	ck_assert_uint_eq(port->guid, 0x100005);
	ck_assert_int_eq(port->peer, leaf);
	ck_assert_uint_eq(port->peer_port, 1);
	ck_assert_uint_eq(port->speed, TOPOLOGY_HDR);
	ck_assert_uint_eq(port->lanes, 4);
	ck_assert_uint_eq(topology_port(topology, host, 1)->guid, 0x100004);
	ck_assert_int_eq(topology_port(topology, host, 1)->peer, -1);
	port = topology_port(topology, leaf, 8);
	ck_assert_uint_eq(port->speed, TOPOLOGY_FDR10);
	ck_assert_uint_eq(port->lanes, 1);
	ck_assert_uint_eq(topology_node(topology, port->peer)->type, IBA_NODE_ROUTER);
	ck_assert_uint_eq(topology_hosts(topology), 1);
	topology_free(topology);
}
END_TEST

START_TEST(test_ibsim)
{
	struct topology *topology = parse_ok(
		"module \"A\"\nSwitch\t8 \"sw\"\n[1]\t\"host\"[1]\n[2] \"#far\"[1]  w=1 s=2 # x\n"
		"[3] \"#far\"[2]\ndo Unlink \"sw\"[3]\nHca 2 \"host\"\n"
		"module \"\"\nHca 2 \"far\"\n");
	int sw = find(topology, "A#sw"), far = find(topology, "far");

	ck_assert_int_ge(sw, 0);
	ck_assert_int_eq(topology_port(topology, sw, 1)->peer, find(topology, "A#host"));
	ck_assert_int_eq(topology_port(topology, sw, 2)->peer, far);
	ck_assert_uint_eq(topology_port(topology, far, 1)->lanes, 1);
	ck_assert_uint_eq(topology_port(topology, far, 1)->speed, TOPOLOGY_DDR);
	ck_assert_int_eq(topology_port(topology, sw, 3)->peer, -1);
	ck_assert_int_eq(topology_port(topology, far, 2)->peer, -1);
	ck_assert_uint_ne(topology_node(topology, sw)->node_guid, 0);
	topology_free(topology);
}
END_TEST

#define SWITCH "Switch 4 \"s\"\n"
static const struct {
	const char *text;
	unsigned int line;
	const char *part;
} bad_files[] = {
	{"", 1, "no node"},
	{"# only this\n", 1, "no node"},
	{"Bridge 4 \"x\"\n", 1, "'Bridge 4"},
	{"Switch 0 \"x\"\n", 1, "from 1 to 254"},
	{"Switch 255 \"x\"\n", 1, "from 1 to 254"},
	{"Switch 99999999999999999999999 \"x\"\n", 1, "from 1 to 254"},
	{"Switch x \"x\"\n", 1, "number of ports"},
	{"Switch 4\n", 1, "quoted id"},
	{"Switch 4 \"\"\n", 1, "quoted id"},
	{"Switch 4 \"x\n", 1, "quoted id"},
	{SWITCH SWITCH, 2, "second node 's'"},
	{"switchguid=0x1\nSwitch 4 \"a\"\nswitchguid=0x1\nSwitch 4 \"b\"\n", 4, "GUID"},
	{"switchguid=zz\n" SWITCH, 1, "hexadecimal"},
	{"switchguid=0x1(\n" SWITCH, 1, "(GUID)"},
	{"speed=1\n" SWITCH, 1, "speed=1"},
	{"[1] \"x\"[1]\n", 1, "node record before"},
	{SWITCH "[0] \"t\"[1]\n", 2, "from 1 to 254"},
	{SWITCH "[5] \"t\"[1]\n", 2, "at most 4"},
	{SWITCH "[300] \"t\"[1]\n", 2, "from 1 to 254"},
	{SWITCH "[1] \"t\"\n", 2, "[port]"},
	{SWITCH "[1] \"t\"[1]\n", 2, "no such node"},
	{SWITCH "[1] t[1]\n", 2, "quoted id"},
	{SWITCH "[1", 2, "[port]"},
	{SWITCH "[1] \"s\"[1]\n", 2, "same port"},
	{SWITCH "[1] \"t\"[9]\nHca 1 \"t\"\n", 2, "fewer ports"},
	{SWITCH "[1] \"t\"[1]\n[2] \"t\"[1]\nHca 1 \"t\"\n", 3, "one cable a port"},
	{SWITCH "[1] \"t\"[1]\nHca 1 \"t\"\n[1] \"s\"[2]\n", 4, "one cable a port"},
	{SWITCH "[1] \"t\"[1] w=3\nHca 1 \"t\"\n", 2, "w=1, 4, 8 or 12"},
	{SWITCH "[1] \"t\"[1] junk\nHca 1 \"t\"\n", 2, "'junk'"},
	{SWITCH "do Guid \"s\" 0x1\n", 2, "Unlink"},
	{SWITCH "do Unlink \"x\"[1]\n", 2, "'x'"},
	{SWITCH "do Unlink \"s\"[9]\n", 2, "'s'[9]"},
	{"module x\n", 1, "quoted prefix"},
	{"include \n", 1, "name of a file"},
	{"include \"net\"\n", 1, "16 levels"},
};

START_TEST(test_bad_file)
{
	parse_bad(bad_files[_i].text, bad_files[_i].line, bad_files[_i].part);
}
END_TEST

START_TEST(test_missing_file)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(topology_load("/nonexistent/net", &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/nonexistent/net"));
}
END_TEST

/* Every truncation, and a good deal of garbage: an answer or an error, never a crash. */
START_TEST(test_hostile)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	char garbage[sizeof(ibnetdiscover)];

	for (size_t length = 0; length < sizeof(ibnetdiscover); length += 3) {
		g_autoptr(GError) error = NULL;
		struct topology *topology = parse(ibnetdiscover, length, &error);

		ck_assert((topology != NULL) == (error == NULL));
		topology_free(topology);
	}
	for (unsigned int round = 0; round < 300; round++) {
		g_autoptr(GError) error = NULL;
		struct topology *topology;

		memcpy(garbage, ibnetdiscover, sizeof(garbage));
		for (unsigned int i = 0; i < 1 + round / 10; i++) {
			int at = g_rand_int_range(rand, 0, sizeof(garbage));

			garbage[at] = g_rand_int_range(rand, 0, 256);
		}
		topology = parse(garbage, sizeof(garbage) - 1, &error);
		ck_assert((topology != NULL) == (error == NULL));
		if (error)
			ck_assert(g_utf8_validate(error->message, -1, NULL));
		topology_free(topology);
	}
}
END_TEST

START_TEST(test_write)
{
	static const char *const sources[] = {"dragonfly:3:1:2", NULL};
	g_autofree char *file = g_build_filename(dir, "out", NULL);
	struct topology *first = _i ? parse_ok(ibnetdiscover) : topology_load(sources[0], NULL);
	struct topology *again;
	g_autoptr(GError) error = NULL;

	ck_assert(topology_write(first, file, &error));
	again = topology_load(file, &error);
	ck_assert_msg(again != NULL, "%s", error ? error->message : "?");
	ck_assert_uint_eq(again->nodes->len, first->nodes->len);
	for (unsigned int i = 0; i < first->nodes->len; i++) {
		const struct topology_node *a = topology_node(first, i);
		const struct topology_node *b = topology_node(again, i);

		ck_assert_str_eq(a->description, b->description);
		ck_assert_uint_eq(a->node_guid, b->node_guid);
		ck_assert_uint_eq(a->system_image_guid, b->system_image_guid);
		ck_assert_uint_eq(a->type, b->type);
		ck_assert_uint_eq(a->device_id, b->device_id);
	}
	ck_assert_uint_eq(again->ports->len, first->ports->len);
	ck_assert_int_eq(memcmp(again->ports->data, first->ports->data,
				first->ports->len * sizeof(struct topology_port)),
			 0);
	topology_free(first);
	topology_free(again);
	g_unlink(file);
	ck_assert(!topology_write(again = topology_load("fattree:2", NULL), "/nonexistent/x/y",
				  &error));
	topology_free(again);
}
END_TEST

/* Two planes of two switches and a single switch: hosts with a port in each join none of them. */
START_TEST(test_unjoined)
{
	static const char planes[] =
		"Switch 4 \"a0\"\n[1] \"h0\"[1]\n[2] \"h1\"[1]\n[4] \"a1\"[4]\n"
		"Switch 4 \"a1\"\nSwitch 4 \"b0\"\n[1] \"h0\"[2]\n[2] \"h1\"[2]\n[4] \"b1\"[4]\n"
		"Switch 4 \"b1\"\nSwitch 4 \"lone\"\nHca 2 \"h0\"\nHca 2 \"h1\"\nHca 1 \"off\"\n";
	static const char from_a[] =
		"3 switches and 1 other node of the topology that no cables join to h0 port 1: b0, "
		"b1, lone";
	struct topology *topology = parse_ok(planes), *whole = topology_load("fattree:4", NULL);
	const struct topology_port *second = topology_port(topology, find(topology, "h1"), 2);
	const struct topology_port *lone = topology_port(topology, find(topology, "lone"), 0);
	g_autofree char *first = topology_tell_unjoined(topology, 0);
	g_autofree char *of_b = topology_tell_unjoined(topology, second->guid);
	g_autofree char *of_lone = topology_tell_unjoined(topology, lone->guid);

	ck_assert_str_eq(first, from_a);
	ck_assert_msg(g_str_has_suffix(of_b, "to h1 port 2: a0, a1, lone"), "%s", of_b);
	ck_assert_msg(g_str_has_prefix(of_lone, "4 switches and 3 other nodes"), "%s", of_lone);
	ck_assert_ptr_null(topology_tell_unjoined(topology, 0xDEAD));
	ck_assert_ptr_null(topology_tell_unjoined(whole, 0));
	topology_free(topology);
	topology_free(whole);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("topology");
	TCase *tcase = tcase_create("all");
	int result;

	dir = g_dir_make_tmp("topology-XXXXXX", NULL);
	tcase_add_loop_test(tcase, test_generated, 0, G_N_ELEMENTS(generated));
	tcase_add_loop_test(tcase, test_bad_spec, 0, G_N_ELEMENTS(bad_specs));
	tcase_add_test(tcase, test_ibnetdiscover);
	tcase_add_loop_test(tcase, test_regular, 0, G_N_ELEMENTS(regular));
	tcase_add_test(tcase, test_rails);
	tcase_add_test(tcase, test_ibsim);
	tcase_add_loop_test(tcase, test_bad_file, 0, G_N_ELEMENTS(bad_files));
	tcase_add_test(tcase, test_missing_file);
	tcase_add_test(tcase, test_hostile);
	tcase_add_loop_test(tcase, test_write, 0, 2);
	tcase_add_test(tcase, test_unjoined);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	result = run_suite(suite);
	g_rmdir(dir);
	g_free(dir);
	return result;
}
