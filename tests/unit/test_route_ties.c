// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables that partitions are tied to: no best path to an endport passes fewer cables of others, by
 * an independent search over the fabric, and on trees as many hosts share a cable as without.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"

#include "osmroute/quality.h"
#include "policy/files/ties.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "tests/unit/fabric_make.h"

#define OTHERS 1000 /* a cable of others counts as this many untied ones */

/* Host i, by LID, is in partition i % n, which has bit i % n. */
struct net {
	struct fabric *fabric;
	uint64_t *partitions; /* [port] */
	GArray *rows;	      /* struct route_tie */
	struct route_ties ties;
};

static bool is_host(const struct fabric *fabric, uint32_t port)
{
	return port != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[port].node);
}

static void net_init(struct net *net, const char *spec, uint8_t lmc, unsigned int n)
{
	uint32_t hosts = 0;

	net->fabric = make_fabric(spec, lmc);
	net->partitions = g_new0(uint64_t, net->fabric->n_ports);
	for (uint32_t lid = 1; lid <= net->fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(net->fabric, lid);

		if (is_host(net->fabric, port) && !net->partitions[port])
			net->partitions[port] = UINT64_C(1) << hosts++ % n;
	}
	net->rows = g_array_new(FALSE, FALSE, sizeof(struct route_tie));
}

static void net_clear(struct net *net)
{
	g_array_unref(net->rows);
	g_free(net->partitions);
	fabric_unref(net->fabric);
}

static void tie(struct net *net, uint32_t sw, uint8_t port, uint64_t partitions)
{
	struct route_tie row = {net->fabric->nodes[net->fabric->switches[sw].node].guid,
				partitions, port};

	g_array_append_val(net->rows, row);
	net->ties = (struct route_ties){(const struct route_tie *)(const void *)net->rows->data,
					net->rows->len, net->partitions};
}

/* Ties the tops of a fat tree in turn. */
static void tie_tops(struct net *net, unsigned int n)
{
	const struct fabric *fabric = net->fabric;
	unsigned int turn = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		if (g_str_has_prefix(node->description, "core"))
			tie(net, sw, 0, UINT64_C(1) << turn++ % n);
	}
	ck_assert_uint_ge(turn, n);
}

/* Ties random ports to random partitions. */
static void tie_some(struct net *net, unsigned int n, uint32_t seed)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(seed);

	for (unsigned int i = 0; i < net->fabric->n_switches; i++) {
		uint32_t sw = g_rand_int_range(rand, 0, net->fabric->n_switches);
		uint8_t num_ports =
			net->fabric->nodes[net->fabric->switches[sw].node].num_ports;
		uint8_t port = g_rand_int_range(rand, 0, num_ports + 1);

		tie(net, sw, port, UINT64_C(1) << g_rand_int_range(rand, 0, n));
	}
}

/* ---- the slow way ---- */

static uint64_t tied_at(const struct net *net, uint32_t port)
{
	const struct fabric_port *at = &net->fabric->ports[port];
	uint64_t bits = 0;

	for (uint32_t i = 0; i < net->ties.n; i++)
		if (net->ties.ties[i].guid == net->fabric->nodes[at->node].guid &&
		    (!net->ties.ties[i].port || net->ties.ties[i].port == at->num))
			bits |= net->ties.ties[i].partitions;
	return bits;
}

static uint32_t toll_of(const struct net *net, uint32_t port, uint64_t partitions)
{
	uint64_t bits = tied_at(net, port) | tied_at(net, net->fabric->ports[port].peer);

	return !bits ? 1 : bits & partitions ? 0 : OTHERS;
}

/* The switch behind a port of a switch, or FABRIC_NONE. */
static uint32_t behind(const struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

/* [switch]: hops, and of the shortest paths the least penalty. */
static void search(const struct net *net, uint32_t leaf, uint64_t partitions, uint32_t *hops,
		   uint32_t *toll)
{
	const struct fabric *fabric = net->fabric;
	bool more = true;

	memset(hops, 0x7F, fabric->n_switches * sizeof(*hops));
	memset(toll, 0x7F, fabric->n_switches * sizeof(*toll));
	hops[leaf] = toll[leaf] = 0;
	while (more) {
		more = false;
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
			unsigned int num_ports = fabric->nodes[fabric->switches[sw].node].num_ports;

			for (unsigned int num = 1; num <= num_ports; num++) {
				uint32_t port = fabric_switch_port(fabric, sw, num);
				uint32_t to = behind(fabric, port), sum;

				if (to == FABRIC_NONE)
					continue;
				sum = toll[to] + toll_of(net, port, partitions);
				if (hops[to] + 1 > hops[sw] ||
				    (hops[to] + 1 == hops[sw] && sum >= toll[sw]))
					continue;
				hops[sw] = hops[to] + 1;
				toll[sw] = sum;
				more = true;
			}
		}
	}
}

static void walk(const struct net *net, const struct routing *routing, uint32_t sw, uint16_t lid,
		 uint32_t *hops, uint32_t *toll)
{
	const struct fabric *fabric = net->fabric;
	uint64_t partitions = net->partitions[fabric_port_by_lid(fabric, lid)];

	*hops = *toll = 0;
	for (; *hops < 64; ++*hops) {
		uint32_t port = fabric_switch_port(fabric, sw, routing_port(routing, sw, lid));

		if (behind(fabric, port) == FABRIC_NONE)
			return;
		*toll += toll_of(net, port, partitions);
		sw = behind(fabric, port);
	}
	ck_abort_msg("no path to LID %u", lid);
}

/* ---- tests ---- */

static struct routing *compute(const struct net *net, const char *engine, unsigned int threads,
			       bool tied)
{
	const struct route_input input = {.threads = threads, .ties = tied ? &net->ties : NULL};
	enum route_way way;
	struct routing *routing =
		routing_renew(route_find(engine), net->fabric, &input, NULL, &way, NULL);
	struct route_verdict verdict;

	ck_assert_ptr_nonnull(routing);
	ck_assert_msg(route_verify_by(net->fabric, routing, &input, &verdict), "%s",
		      verdict.witness);
	route_verdict_clear(&verdict);
	return routing;
}

static uint64_t busiest(const struct net *net, const struct routing *routing)
{
	const struct quality_effort none = {0};
	struct quality quality;

	quality_measure(net->fabric, routing, NULL, &none, &quality);
	return quality.most_load;
}

static bool *find_leaves(const struct fabric *fabric)
{
	bool *leaves = g_new0(bool, fabric->n_switches);
	uint8_t exit;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (is_host(fabric, port) && fabric->ports[port].lid)
			leaves[fabric_leaf(fabric, port, &exit)] = true;
	return leaves;
}

/* Paths of hosts that pass cables of others; all are as short as possible and none passes more. */
static uint64_t check_paths(const struct net *net, const struct routing *routing)
{
	const struct fabric *fabric = net->fabric;
	g_autofree uint32_t *hops = g_new(uint32_t, fabric->n_switches);
	g_autofree uint32_t *toll = g_new(uint32_t, fabric->n_switches);
	g_autofree bool *leaves = find_leaves(fabric);
	uint64_t n = 0;

	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid), leaf;
		uint8_t exit;

		if (!is_host(fabric, port))
			continue;
		leaf = fabric_leaf(fabric, port, &exit);
		search(net, leaf, net->partitions[port], hops, toll);
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
			uint32_t is_hops, is_toll;

			walk(net, routing, sw, lid, &is_hops, &is_toll);
			if (!leaves[sw])
				continue;
			ck_assert_uint_eq(is_hops, hops[sw]);
			ck_assert_msg(is_toll <= toll[sw], "toll %u to LID %u, not %u", is_toll,
				      lid, toll[sw]);
			n += is_toll >= OTHERS;
		}
	}
	return n;
}

static const char *const tree_engines[] = {"ftree", "updn", "dnup", "minhop",
					   "dfsssp", "sssp", "lash"};

/* Two partitions, whose hosts are side by side, on spines of their own. */
START_TEST(test_own_spines)
{
	static const char *const specs[] = {"fattree:8", "fattree:4"};
	struct net net;
	struct routing *with, *without;

	net_init(&net, specs[_i % 2], 0, 2);
	tie_tops(&net, 2);
	with = compute(&net, tree_engines[_i / 2], 1, true);
	without = compute(&net, tree_engines[_i / 2], 1, false);
	ck_assert_uint_eq(check_paths(&net, with), 0);
	ck_assert_ptr_null(with->note);
	/* sssp and similar engines take the least at the time, which is nearly even without ties */
	ck_assert_uint_le(busiest(&net, with),
			  busiest(&net, without) * (without->engine->route ? 2 : 1));
	routing_unref(with);
	routing_unref(without);
	net_clear(&net);
}
END_TEST

static const struct {
	const char *spec, *engine;
	uint8_t lmc;
} anywhere[] = {
	{"torus:4x4:2", "minhop", 0},	   {"torus:4x4:2", "dfsssp", 0},
	{"torus:4x4:2", "sssp", 0},	   {"torus:4x4:2", "lash", 0},
	{"torus:4x4:2", "hoplanes", 0},	   {"torus:3x3x3:2", "minhop", 2},
	{"torus:3x3x3:2", "sssp", 1},	   {"dragonfly:4:2:2", "dfsssp", 0},
	{"dragonfly:4:2:2", "minhop", 0},  {"random:20:6:4:7", "dfsssp", 0},
	{"random:20:6:4:7", "minhop", 0},  {"random:20:6:4:7", "lash", 0},
	{"fattree:4", "minhop", 0},	   {"fattree:4", "updn", 1},
	{"xgft:4,4:1,2", "ftree", 0},	   {"xgft:4,4,2:1,2,2:1,2,1", "dnup", 0},
	{"torus:2x4:2", "minhop", 0},	   {"torus:2x4:2", "lash", 0}, /* cables in parallel */
};

/* Cables tied at random, some to two partitions: the paths of least penalty among the shortest. */
START_TEST(test_least_toll)
{
	struct net net;
	struct routing *routing, *again;
	uint64_t n;

	net_init(&net, anywhere[_i].spec, anywhere[_i].lmc, 3);
	tie_some(&net, 3, _i);
	routing = compute(&net, anywhere[_i].engine, 1, true);
	again = compute(&net, anywhere[_i].engine, 2, true);
	n = check_paths(&net, routing);
	ck_assert_int_eq(n > 0,
			 routing->note && strstr(routing->note, "of hosts pass cables that are"));
	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		ck_assert_mem_eq(routing->lft[sw], again->lft[sw], routing->top + 1);
	routing_unref(routing);
	routing_unref(again);
	net_clear(&net);
}
END_TEST

/* What is unchanged stays; hosts that are in a partition now use its cables. */
START_TEST(test_renewed)
{
	struct net net;
	enum route_way way;
	struct routing *first, *second;
	struct route_input input = {.threads = 1};
	uint32_t host;

	net_init(&net, "fattree:4", 0, 2);
	tie_tops(&net, 2);
	input.ties = &net.ties;
	first = compute(&net, tree_engines[_i], 1, true);
	second = routing_renew(route_find(tree_engines[_i]), net.fabric, &input, first, &way,
			       NULL);
	ck_assert_int_eq(way, ROUTE_SAME);
	ck_assert_ptr_eq(first, second);
	routing_unref(second);
	for (host = 0; !is_host(net.fabric, host) || !net.partitions[host]; host++)
		continue;
	net.partitions[host] ^= 3;
	second = routing_renew(route_find(tree_engines[_i]), net.fabric, &input, first, &way,
			       NULL);
	ck_assert_int_ne(way, ROUTE_SAME);
	ck_assert_uint_eq(check_paths(&net, second), 0);
	routing_unref(first);
	routing_unref(second);
	net_clear(&net);
}
END_TEST

/* An engine that must choose otherwise says so, and so does one whose paths have no alternative. */
START_TEST(test_told)
{
	struct net net;
	struct routing *routing;

	net_init(&net, "torus:4x4:1", 0, 2);
	tie(&net, 0, 0, 1);
	routing = compute(&net, "dor", 1, true);
	ck_assert_ptr_nonnull(strstr(routing->note, "does not respect reserved cables"));
	routing_unref(routing);
	net_clear(&net);
}
END_TEST

/* ---- the file ---- */

static GArray *load(const char *text, GError **error)
{
	g_autofree char *path = NULL;
	GArray *rows;
	int fd = g_file_open_tmp(NULL, &path, NULL);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	rows = ties_load(path, NULL, error);
	if (error && *error)
		ck_assert(g_str_has_prefix((*error)->message, path));
	unlink(path);
	return rows;
}

START_TEST(test_file)
{
	g_autoptr(GArray) rows = load("# a\n0x10 0x8001 # all\n\n10 2 0x11\n", NULL);
	const struct tie_row *row;

	ck_assert_uint_eq(rows->len, 2);
	row = &g_array_index(rows, struct tie_row, 0);
	ck_assert(row->guid == 0x10 && row->p_key == 1 && !row->port && row->line == 2);
	row = &g_array_index(rows, struct tie_row, 1);
	ck_assert(row->guid == 0x10 && row->p_key == 2 && row->port == 17 && row->line == 4);
}
END_TEST

static const struct {
	const char *text, *why;
} wrong[] = {
	{"0x10\n", ":1: '0x10': 0 numbers after the GUID"},
	{"0x10 1\n0x10 0x8000\n", ":2: P_Key 0x8000 does not belong to a partition"},
	{"0x10 0x10000\n", ":1: '0x10 0x10000': '0x10000' is not a number from 1 to 65535"},
	{"0x10 1 255\n", ":1: port 255, expected 1 to 254"},
	{"0x10 1 0\n", "'0' is not a number"},
	{"core 1\n", "'core' is not a GUID"},
	{"0x10 1 1-4\n", ":1: '0x10 1 1-4': '1-4' is not a number from 1 to 65535"},
	{"0x10 1 -1\n", "'-1' is not a number"},
	{"0x10 1 2 3\n", "'3' is one word too many"},
};

START_TEST(test_wrong_file)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(load(wrong[_i].text, &error));
	ck_assert_msg(strstr(error->message, wrong[_i].why), "%s", error->message);
}
END_TEST

START_TEST(test_too_many)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	GArray *rows;

	for (unsigned int i = 1; i <= TIES_PARTITIONS_MAX; i++)
		g_string_append_printf(text, "0x10 %u\n0x11 %u\n", i, i);
	rows = load(text->str, NULL);
	ck_assert_uint_eq(rows->len, 2 * TIES_PARTITIONS_MAX);
	g_array_unref(rows);
	g_string_append(text, "0x10 0x100\n");
	ck_assert_ptr_null(load(text->str, &error));
	ck_assert_ptr_nonnull(strstr(error->message, ":127: partition 0x0100 exceeds the "));
}
END_TEST

/* P_Keys of ports, full or limited members, become bits; the same bit for the same partition. */
START_TEST(test_members)
{
	struct partition_key keys[] = {{0, 0x8001}, {1, 0x0002}, {1, 0x8001}, {2, 0x8003}};
	g_autoptr(GArray) array = g_array_new(FALSE, FALSE, sizeof(struct partition_key));
	g_autoptr(GArray) rows = load("0x10 2\n0x11 0x8001 3\n0x12 2\n", NULL);
	struct partitions *partitions;
	struct route_ties *ties;

	g_array_append_vals(array, keys, G_N_ELEMENTS(keys));
	partitions = partitions_of_keys(4, array);
	ties = ties_make(rows, partitions);
	ck_assert_uint_eq(ties->n, 3);
	ck_assert_uint_eq(ties->ties[0].partitions, ties->ties[2].partitions);
	ck_assert_uint_eq(ties->ties[1].port, 3);
	ck_assert_uint_eq(ties->partitions[0], ties->ties[1].partitions);
	ck_assert_uint_eq(ties->partitions[1],
			  ties->ties[0].partitions | ties->ties[1].partitions);
	ck_assert_uint_eq(ties->partitions[2], 0);
	ck_assert_uint_eq(ties->partitions[3], 0);
	ck_assert_ptr_null(ties_make(NULL, partitions));
	ck_assert_ptr_null(ties_make(rows, NULL));
	ties_free(ties);
	partitions_unref(partitions);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_ties");
	TCase *tcase = tcase_create("ties"), *file = tcase_create("file");

	tcase_add_loop_test(tcase, test_own_spines, 0, 2 * G_N_ELEMENTS(tree_engines));
	tcase_add_loop_test(tcase, test_least_toll, 0, G_N_ELEMENTS(anywhere));
	tcase_add_loop_test(tcase, test_renewed, 0, G_N_ELEMENTS(tree_engines));
	tcase_add_test(tcase, test_told);
	suite_add_tcase(suite, tcase);
	tcase_add_test(file, test_file);
	tcase_add_loop_test(file, test_wrong_file, 0, G_N_ELEMENTS(wrong));
	tcase_add_test(file, test_too_many);
	tcase_add_test(file, test_members);
	suite_add_tcase(suite, file);
	return suite;
}
