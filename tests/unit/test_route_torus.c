// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine torus-2QoS: tori and meshes, whole and damaged, with cables in any ports. Its routes are
 * right by the slow checker, on the SLs of the whole torus, and multicast trees keep to its trunk;
 * fabrics that it does not route it refuses with a reason.
 */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "policy/files/torus_file.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 150

struct net {
	struct builder *builder;
	unsigned int radix[3];
	bool loops;
	struct torus_file *file;
};

static unsigned int places(const struct net *net)
{
	return net->radix[0] * net->radix[1] * net->radix[2];
}

static struct builder_node *switch_at(const struct net *net, unsigned int place)
{
	g_autofree char *name = g_strdup_printf("switch-%u-%u-%u", place % net->radix[0],
						place / net->radix[0] % net->radix[1],
						place / net->radix[0] / net->radix[1]);

	return make_found(net->builder, name);
}

/* Links of a seed in all directions that exist; the origin is place 0. */
static void add_seed(const struct net *net, GString *text, unsigned int place)
{
	unsigned int stride = 1;

	for (unsigned int d = 0; d < 3; d++) {
		unsigned int radix = net->radix[d], at = place / stride % radix;

		for (unsigned int minus = 0; minus < 2 && radix > 1; minus++) {
			unsigned int to = (at + (minus ? radix - 1 : 1)) % radix;

			if (!net->loops && to != at + 1 - 2 * minus)
				continue;
			g_string_append_printf(
				text, "%c%c_link 0x%" PRIx64 " 0x%" PRIx64 "\n", "xyz"[d],
				"pm"[minus], switch_at(net, place) -> guid,
				switch_at(net, place + to * stride - at * stride) -> guid);
		}
		g_string_append_printf(text, "%c_dateline %d\n", "xyz"[d], -(int)at);
		stride *= radix;
	}
}

static void net_init(struct net *net, unsigned int x, unsigned int y, unsigned int z, bool loops,
		     unsigned int hosts)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *spec =
		g_strdup_printf("%s:%ux%ux%u:%u", loops ? "torus" : "mesh", x, y, z, hosts);
	g_autoptr(GError) error = NULL;

	*net = (struct net){.radix = {x, y, z}, .loops = loops};
	net->builder = make_builder_of(spec);
	make_lids(net->builder, 0);
	g_string_append_printf(text, "# what it is\n%s %u %u %u name\n", loops ? "torus" : "mesh",
			       x, y, z);
	add_seed(net, text, 0);
	g_string_append(text, "next_seed\n");
	add_seed(net, text, places(net) - 1);
	g_string_append(text, "next_seed\n");
	add_seed(net, text, places(net) / 2);
	net->file = torus_file_parse("torus-2QoS.conf", text->str, text->len, &error);
	ck_assert_msg(net->file, "%s", error ? error->message : "");
}

static void net_clear(struct net *net)
{
	builder_free(net->builder);
	torus_file_free(net->file);
}

static void take_out(const struct net *net, struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		if (peer && peer->node->info.node_type != IBA_NODE_SWITCH)
			builder_remove(net->builder, peer->node);
	}
	builder_remove(net->builder, node);
}

static struct routing *compute(const struct net *net, struct fabric *fabric, unsigned int vls,
			       GError **error)
{
	struct route_input input = {.threads = 1, .vls = vls, .torus = torus_file_input(net->file)};

	return route_compute(route_find("torus-2QoS"), fabric, &input, error);
}

/* ---- multicast ---- */

static void check_trunk(struct fabric *fabric, const struct routing *routing, const char *what)
{
	struct route_multicast_base *base = route_multicast_base_new(fabric, routing, 0);
	g_autofree uint32_t *members = g_new(uint32_t, fabric->n_ports + 1);
	struct route_group group = {.members = members};
	g_autofree char *witness = NULL;
	struct route_tree *tree;
	uint32_t excluded;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].lid && !fabric_is_switch(fabric, fabric->ports[i].node))
			members[group.n_members++] = i;
	tree = route_multicast_on(base, fabric, &group, NULL, NULL, &excluded);
	ck_assert_uint_eq(excluded, 0);
	ck_assert_msg(route_tree_verify(fabric, tree, &group, &witness), "%s: %s", what, witness);
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t sw = tree->switches[i], to = checker_next_switch(fabric, sw, tree->up[i]);

		ck_assert_msg(to == FABRIC_NONE || routing->trunk[sw] == tree->up[i] ||
				      checker_next_switch(fabric, to, routing->trunk[to]) == sw,
			      "%s: off the trunk", what);
	}
	route_tree_unref(tree);
	route_multicast_base_free(base);
}

/* ---- whole and damaged ---- */

static void check_routing(struct fabric *fabric, const struct routing *routing, const char *what)
{
	checker_accept(fabric, routing, what);
	if (routing->trunk)
		check_trunk(fabric, routing, what);
	else
		ck_assert_ptr_nonnull(strstr(routing->note, "multicast has no tree"));
}

static const struct {
	unsigned int x, y, z;
	bool loops;
	unsigned int vls; /* 0: it needs no lanes */
} whole[] = {
	{5, 1, 1, true, 8}, {6, 5, 1, true, 8},	 {4, 4, 4, true, 8},  {5, 4, 3, true, 2},
	{2, 2, 2, true, 1}, {7, 2, 3, true, 4},	 {1, 4, 5, true, 8},  {1, 1, 9, true, 2},
	{4, 1, 6, true, 8}, {4, 5, 3, false, 1}, {6, 6, 1, false, 8}, {3, 3, 3, true, 2},
};

START_TEST(test_whole)
{
	g_autofree char *what = g_strdup_printf("%ux%ux%u", whole[_i].x, whole[_i].y, whole[_i].z);
	g_autoptr(GError) error = NULL;
	struct net net;
	struct fabric *fabric;
	struct routing *routing;
	uint64_t state = _i;

	net_init(&net, whole[_i].x, whole[_i].y, whole[_i].z, whole[_i].loops, 2);
	make_shuffled_ports(net.builder, &state);
	fabric = builder_freeze(net.builder);
	routing = compute(&net, fabric, whole[_i].vls, &error);
	ck_assert_msg(routing, "%s: %s", what, error ? error->message : "");
	ck_assert((routing->lanes != NULL) == (whole[_i].vls > 1));
	check_routing(fabric, routing, what);
	routing_unref(routing);
	fabric_unref(fabric);
	net_clear(&net);
}
END_TEST

/* SLs by the GUIDs of leaf switches stay as they were. */
static void same_sls(const struct fabric *fabric, const struct routing *routing,
		     const struct fabric *before, const struct routing *old, const char *what)
{
	for (uint32_t a = 0; a < fabric->n_switches; a++) {
		uint32_t was_a =
			before->nodes[fabric_node_by_guid(
					      before, fabric->nodes[fabric->switches[a].node].guid)]
				.sw;

		for (uint32_t b = 0; b < fabric->n_switches; b++) {
			uint64_t guid = fabric->nodes[fabric->switches[b].node].guid;
			uint32_t was_b = before->nodes[fabric_node_by_guid(before, guid)].sw;

			ck_assert_msg(route_lanes_sl(routing->lanes, a, b) ==
					      route_lanes_sl(old->lanes, was_a, was_b),
				      "%s: another SL", what);
		}
	}
}

/* Cuts some cables between switches, at most this many. */
static unsigned int cut_cables(const struct net *net, uint64_t *state, unsigned int most)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < most; i++) {
		struct builder_node *node = switch_at(net, make_number(state, places(net)));
		struct builder_port *port =
			&node->ports[1 + make_number(state, node->info.num_ports)];

		if (!port->peer || port->peer->node->info.node_type != IBA_NODE_SWITCH)
			continue;
		builder_unlink(port);
		n++;
	}
	return n;
}

static void try_damage(uint64_t seed, unsigned int *routed, unsigned int *refused)
{
	uint64_t state = seed * 7919;
	unsigned int x = 3 + make_number(&state, 4), y = 3 + make_number(&state, 4);
	unsigned int z = make_number(&state, 2) ? 1 : 3 + make_number(&state, 3), cut;
	bool out = make_number(&state, 3) == 0, must;
	struct fabric *before, *fabric;
	struct routing *old, *routing;
	g_autoptr(GError) error = NULL;
	g_autofree char *what = NULL;
	struct net net;

	net_init(&net, x, y, z, true, 1);
	make_shuffled_ports(net.builder, &state);
	before = builder_freeze(net.builder);
	old = compute(&net, before, 8, NULL);
	cut = cut_cables(&net, &state, make_number(&state, 4));
	if (out)
		take_out(&net, switch_at(&net, 1 + make_number(&state, places(&net) - 1)));
	what = g_strdup_printf("ROUTE_SEEDS=%u: torus %ux%ux%u, %u cables out%s",
			       (unsigned int)seed, x, y, z, cut, out ? ", a switch out" : "");
	must = (out ? 1 : 0) + cut <= 1 && MIN(x, y) > 4 && (z == 1 || z > 4);
	fabric = builder_freeze(net.builder);
	routing = compute(&net, fabric, 8, &error);
	*routed += routing != NULL;
	*refused += routing == NULL;
	ck_assert_msg(routing || error, "%s: no reason", what);
	ck_assert_msg(routing || !must, "%s: %s", what, routing ? "" : error->message);
	if (routing)
		same_sls(fabric, routing, before, old, what);
	if (routing && (must || cut == 0 || !out))
		check_routing(fabric, routing, what);
	routing_unref(routing);
	routing_unref(old);
	fabric_unref(fabric);
	fabric_unref(before);
	net_clear(&net);
}

START_TEST(test_damaged)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	unsigned int routed = 0, refused = 0;

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
		try_damage(seed, &routed, &refused);
	ck_assert_msg(seeds.first == seeds.last || (routed > refused && refused), "%u of %u",
		      routed, routed + refused);
}
END_TEST

/* Each switch of a torus may be gone, and its neighbour in the last dimension. */
START_TEST(test_each_switch)
{
	for (unsigned int gone = 1; gone < 30; gone++) {
		unsigned int other = (gone + 6) % 30; /* the subnet manager is at 0 */
		g_autofree char *what = g_strdup_printf("without %u", gone);
		g_autoptr(GError) error = NULL;
		struct fabric *fabric;
		struct routing *routing;
		struct net net;

		net_init(&net, 6, 5, 1, true, 1);
		if (_i && other)
			take_out(&net, switch_at(&net, other));
		take_out(&net, switch_at(&net, gone));
		fabric = builder_freeze(net.builder);
		routing = compute(&net, fabric, 4, &error);
		ck_assert_msg(routing || strstr(error->message, "seeds"), "%s: %s", what,
			      routing ? "" : error->message);
		if (routing)
			check_routing(fabric, routing, what);
		routing_unref(routing);
		fabric_unref(fabric);
		net_clear(&net);
	}
}
END_TEST

/* The coordinate of a switch, which is in its description. */
static unsigned int coordinate(const struct fabric *fabric, uint32_t sw, unsigned int dimension)
{
	const char *text = fabric->nodes[fabric->switches[sw].node].description;

	for (unsigned int d = 0; d <= dimension; d++)
		text = strchr(text, '-') + 1;
	return (unsigned int)atoi(text);
}

/* No path takes a cable from the first to the last of a dimension. */
static void check_line(const struct fabric *fabric, const struct routing *routing,
		       unsigned int dimension, unsigned int radix)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
			uint32_t to =
				checker_next_switch(fabric, sw, routing_port(routing, sw, lid));
			unsigned int here = coordinate(fabric, sw, dimension), there;

			if (to == FABRIC_NONE || to == sw)
				continue;
			there = coordinate(fabric, to, dimension);
			ck_assert_uint_lt(MAX(here, there) - MIN(here, there), radix - 1);
		}
}

/* Rings that the file calls lines are lines: their last cable carries nothing. */
START_TEST(test_rings_as_lines)
{
	static const unsigned int radixes[][3] = {{4, 4, 1}, {5, 3, 1}, {3, 3, 3}};
	const unsigned int *radix = radixes[_i / 7];
	g_autoptr(GError) error = NULL;
	struct fabric *fabric;
	struct routing *routing;
	struct net net;

	net_init(&net, radix[0], radix[1], radix[2], true, 1);
	for (unsigned int d = 0; d < 3; d++)
		net.file->torus.loops[d] = !((_i % 7 + 1) >> d & 1);
	fabric = builder_freeze(net.builder);
	routing = compute(&net, fabric, 8, &error);
	ck_assert_msg(routing, "%s", routing ? "" : error->message);
	check_routing(fabric, routing, "lines");
	for (unsigned int d = 0; d < 3; d++)
		if (!net.file->torus.loops[d] && radix[d] > 1)
			check_line(fabric, routing, d, radix[d]);
	routing_unref(routing);
	fabric_unref(fabric);
	net_clear(&net);
}
END_TEST

/* ---- refusals ---- */

static void refused(const struct net *net, unsigned int vls, const char *why)
{
	struct fabric *fabric = builder_freeze(net->builder);
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(compute(net, fabric, vls, &error));
	ck_assert_msg(strstr(error->message, why), "%s", error->message);
	fabric_unref(fabric);
}

START_TEST(test_refusals)
{
	struct torus_file *file;
	struct net net;

	net_init(&net, 5, 5, 1, true, 1);
	refused(&net, 1, "it takes 2 virtual lanes, but the cables between switches have only 1");
	net.file->torus.radix[0] = 6;
	refused(&net, 8, "is not the 6x5x1 torus or mesh of torus_config");
	net.file->torus.radix[0] = 5;
	net.file->torus.max_ports = 1;
	refused(&net, 8, "portgroup_max_ports is 1, but 2");
	net.file->torus.max_ports = 16;
	take_out(&net, switch_at(&net, 7));
	refused(&net, 2, "it takes 4 virtual lanes to go around a switch");
	take_out(&net, switch_at(&net, 8));
	refused(&net, 8, "2 or more switches of the torus are gone");
	file = net.file;
	net.file = NULL;
	refused(&net, 8, "it needs torus-2QoS.conf");
	net.file = file;
	g_array_set_size(file->seeds, 0);
	refused(&net, 8, "no complete seed");
	net_clear(&net);
}
END_TEST

/* ---- the file ---- */

static const struct {
	const char *text, *expected;
} wrong[] = {
	{"", "f:0: '': expected a line with torus or mesh"},
	{"# nothing\n", "f:1: '': expected a line with torus or mesh"},
	{"xp_link 1 2\n", "f:1: 'xp_link': expected torus or mesh first"},
	{"torus 4 4\n", "f:1: '': expected three numbers"},
	{"torus 4 4 4x\n", "f:1: '4x': expected three numbers"},
	{"torus 0 4 4\n", "f:1: '0': expected three numbers"},
	{"torus t 4 4\n", "f:1: 't': expected three numbers"},
	{"torus 255 255 255\n", "expected at most 49151 switches"},
	{"mesh 3 1 1\ntorus 3 1 1\n", "f:2: 'torus': expected one line"},
	{"mesh 3 1 1\n", "f:1: 'seed of line 1': expected a link in each dimension"},
	{"torus 4 1 1\nxp_link 1 2\n", "of a ring of four switches both directions"},
	{"torus 5 1 1\nxp_link 1 1\n", "f:2: '1': expected the node GUIDs of two switches"},
	{"torus 5 1 1\nxp_link 1\n", "expected the node GUIDs of two switches"},
	{"torus 5 1 1\nxp_link 1 0x\n", "expected the node GUIDs of two switches"},
	{"torus 5 1 1\nxp_link 1 2\nxm_link 2 1\n", "f:3: '2': expected the first switch"},
	{"torus 5 1 1\nxp_link 1 2\nxp_link 1 3\n", "f:3: '3': expected one link a direction"},
	{"torus 5 1 1\nyp_link 1 2\n", "links only in dimensions of at least 2"},
	{"torus 5 1 1\nxp_link 1 2\nx_dateline 5\n", "f:3: '5': expected a number nearer to 0"},
	{"torus 5 1 1\nxp_link 1 2\nnext_seed\n", "f:3: 'seed of line 3'"},
	{"torus 5 1 1\nnext_seed\n", "f:2: 'seed of line 1'"},
	{"torus 5 1 1\nxp_link 1 2\nport_order 1 255\n", "f:3: '255': expected ports"},
	{"torus 5 1 1\nxp_link 1 2\nportgroup_max_ports 0\n", "expected a number from 1 to"},
	{"torus 5 1 1\nxp_link 1 2\nmax_changes\n", "expected a number from 1 to"},
	{"torus 5 1 1\nxq_link 1 2\n", "f:2: 'xq_link': expected xp_link, xm_link"},
};

START_TEST(test_wrong_file)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(torus_file_parse("f", wrong[_i].text, strlen(wrong[_i].text), &error));
	ck_assert_msg(strstr(error->message, wrong[_i].expected), "%s", error->message);
}
END_TEST

/* The page describes a torus in a file of which each line is accepted. */
START_TEST(test_manual)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path = g_build_filename(top ? top : ".", "man/torus-2QoS.conf.5", NULL);
	g_autofree char *page = NULL;
	g_autoptr(GError) error = NULL;
	struct torus_file *file;
	struct route_torus torus;
	char *text, *end;

	ck_assert(g_file_get_contents(path, &page, NULL, NULL));
	text = strstr(page, ".Bd -literal");
	ck_assert_ptr_nonnull(text);
	text = strchr(text, '\n');
	end = strstr(text, "\n.Ed");
	ck_assert_ptr_nonnull(end);
	file = torus_file_parse("example", text, end - text, &error);
	ck_assert_msg(file, "%s", error ? error->message : "");
	torus = torus_file_input(file);
	ck_assert(torus.radix[0] == 1 && torus.radix[1] == 4 && torus.radix[2] == 5);
	ck_assert_uint_eq(torus.n_seeds, 2);
	ck_assert_int_eq(torus.seeds[1].dateline[1], -2);
	torus_file_free(file);
}
END_TEST

START_TEST(test_file)
{
	static const char text[] =
		"\n  # a comment\nmesh 3T 4 5m and more\r\nxm_link 0x20 30\nyp_link 20 31 # y\n"
		"zp_link 20 32\nz_dateline -4\nportgroup_max_ports 20\nport_order 7 9 7 8 # them\n"
		"next_seed\nxp_link 40 41\nyp_link 40 42\nzp_link 40 43\nmax_changes 9";
	struct torus_file *file = torus_file_parse("f", text, strlen(text), NULL);
	struct route_torus torus = torus_file_input(file);

	ck_assert(torus.loops[0] && !torus.loops[1] && !torus.loops[2]);
	ck_assert(torus.radix[0] == 3 && torus.radix[1] == 4 && torus.radix[2] == 5);
	ck_assert_uint_eq(torus.n_seeds, 2);
	ck_assert(torus.seeds[0].from == 0x20 && torus.seeds[0].to[1] == 0x30 &&
		  torus.seeds[0].to[2] == 0x31 && torus.seeds[1].to[4] == 0x43);
	ck_assert_int_eq(torus.seeds[0].dateline[2], -4);
	ck_assert_uint_eq(torus.max_ports, 20);
	ck_assert(torus.n_port_order == 3 && !memcmp(torus.port_order, "\7\11\10", 3));
	torus_file_free(file);
}
END_TEST

TEST_SUITE
{
	TCase *tcase = tcase_create("torus");
	Suite *suite = suite_create("route_torus");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, test_whole, 0, G_N_ELEMENTS(whole));
	tcase_add_test(tcase, test_damaged);
	tcase_add_loop_test(tcase, test_each_switch, 0, 2);
	tcase_add_loop_test(tcase, test_rings_as_lines, 0, 3 * 7);
	tcase_add_test(tcase, test_refusals);
	tcase_add_loop_test(tcase, test_wrong_file, 0, G_N_ELEMENTS(wrong));
	tcase_add_test(tcase, test_file);
	tcase_add_test(tcase, test_manual);
	suite_add_tcase(suite, tcase);
	return suite;
}
