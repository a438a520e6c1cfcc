// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Golden tests of routing: a topology in, the LFTs and what the verifier finds, as text that is
 * kept beside the topology and reviewed as a diff.
 *
 * `make golden-update` writes the kept texts again.
 */
#include <check.h>
#include <stdlib.h>

#include "route/engine.h"
#include "route/value/lanes.h"
#include "tests/golden/golden.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static const struct golden {
	const char *topology, *engine;
	uint8_t lmc;
	const char *look; /* what to look at; NULL: at everything */
} goldens[] = {
	{"fat_tree_4", "minhop", 0},
	{"fat_tree_4", "minhop", 1},
	{"fat_tree_4_broken", "minhop", 0},
	{"parallel_links", "minhop", 0},
	{"torus_3x3", "minhop", 0},
	{"torus_3x3", "minhop", 2},
	{"ring", "minhop", 0},
	{"irregular", "minhop", 0},
	{"two_hosts", "minhop", 0},
	{"fat_tree_4", "updn", 0},
	{"fat_tree_4_broken", "updn", 0},
	{"torus_3x3", "updn", 0},
	{"ring", "updn", 0},
	{"irregular", "updn", 0},
	{"fat_tree_4_broken", "dnup", 0},
	{"fat_tree_4", "ftree", 0,
	 "Hosts d = 0, 1 ... 15 leave their own pod's leaves, and all others, by plane d %\n"
	 "2, which is port 3 or 4 of a leaf; and a spine of another pod by core d / 2 % 2 of\n"
	 "that plane. Down from a spine, each port carries one host of the leaf."},
	{"fat_tree_4", "ftree", 1,
	 "Both LIDs of a host are numbered alike, but the second begins one port further on:\n"
	 "from any leaf of another pod they leave by different ports."},
	{"fat_tree_4_broken", "ftree", 0,
	 "leaf-1-0 and leaf-1-1 send to other pods by port 4 alone, as spine-1-0 has no\n"
	 "core, and leaf-2-1 has no other. Hosts 35 and 36 on that are reached by plane 1\n"
	 "alone, port 4 of leaves of other pods; hosts 26 to 29 of pod 3 in plane 1 by\n"
	 "core-1-0 alone. spine-1-0, LID 32, is reached by way of leaf-1-0."},
	{"parallel_links", "ftree", 0,
	 "Four hosts of a leaf come down to it by the four cables, two a spine, and from the\n"
	 "other leaves they leave by four different ports. The host on spine-0, LID 10, is\n"
	 "reached by that. The spines, LIDs 6 and 7, reach each other by a turn at leaf-0\n"
	 "and nowhere else."},
	{"uneven_tree", "ftree", 0,
	 "Six hosts d = 0 to 5 in the order of leaves go by spine d % 3: host-0-0 to spine-0\n"
	 "and so on, host-1-0 again to spine-0, host-3-0 to spine-1, host-3-1 to spine-2.\n"
	 "The leaf without hosts is reached too."},
	{"ring", "ftree", 0, "It is refused: a ring of five is no tree."},
	{"mesh_3x3", "dor", 0,
	 "A path ends its way along x, ports 2 and 3, before it leaves by port 4 or 5, even\n"
	 "to LIDs of switches. So dependencies have no cycle."},
	{"hypercube_3", "dor", 0,
	 "The lowest bit that differs is mended first: from sw-000 port 2 leads to all whose\n"
	 "bit 0 is set, port 3 to sw-010 and sw-110, port 4 to sw-100 alone."},
	{"ring", "lash", 0,
	 "Each switch sends its two hops either way round: five such paths would close the\n"
	 "ring. So one pair, sw-4 and sw-2, is on another lane. All LIDs of a switch go the\n"
	 "same way, but for cables in parallel."},
	{"ring", "dfsssp", 0, "The same, but each LID by the cable that carries less."},
	{"ring", "nue", 0,
	 "On one lane: paths of two hops go all the way round, but by one or the other of the\n"
	 "cables in parallel, so that no ring of channels is closed. Some take three hops\n"
	 "instead, by cables that carry less."},
	{"torus_3x3", "sssp", 0,
	 "Of ways that carry the same the first port is taken. That comes out even: a switch\n"
	 "sends six LIDs each way along x, and two or three each way along y."},
	{"torus_3x3", "dor", 0,
	 "In each dimension the way is a single hop, as rings have three switches: so\n"
	 "dependencies have no cycle here, other than in tori that are larger."},
};

static const char *golden_dir(void)
{
	const char *srcdir = getenv("srcdir"); /* as automake sets it */

	return srcdir ? srcdir : ".";
}

/* What a port leads to: "host-1", "spine-0 port 3", "itself". */
static void add_peer(const struct fabric *fabric, uint32_t port, GString *text)
{
	uint32_t peer = fabric->ports[port].peer;
	const struct fabric_node *node;

	if (!fabric->ports[port].num) {
		g_string_append(text, "itself");
		return;
	}
	if (peer == FABRIC_NONE) {
		g_string_append(text, "nothing");
		return;
	}
	node = &fabric->nodes[fabric->ports[peer].node];
	g_string_append(text, node->description);
	if (node->num_ports > 1)
		g_string_append_printf(text, " port %u", fabric->ports[peer].num);
}

/* The LIDs that leave through one port, as ranges; nothing if there are none. */
static void add_port(const struct fabric *fabric, const struct routing *routing, uint32_t sw,
		     unsigned int num, GString *text)
{
	bool any = false;

	for (uint32_t lid = 1; lid <= routing->top; lid++) {
		uint32_t last = lid;

		if (routing->lft[sw][lid] != num)
			continue;
		while (last < routing->top && routing->lft[sw][last + 1] == num)
			last++;
		if (!any) {
			g_string_append_printf(text, "  %3u to ", num);
			add_peer(fabric, fabric_switch_port(fabric, sw, num), text);
			g_string_append_c(text, ':');
		}
		any = true;
		g_string_append_printf(text, last > lid ? " %u-%u" : " %u", lid, last);
		lid = last;
	}
	if (any)
		g_string_append_c(text, '\n');
}

static void add_switch(const struct fabric *fabric, const struct routing *routing, uint32_t sw,
		       GString *text)
{
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

	g_string_append_printf(text, "\nswitch %s, LID %u\n", node->description,
			       fabric->ports[node->first_port].lid);
	for (unsigned int num = 0; num <= node->num_ports; num++)
		add_port(fabric, routing, sw, num, text);
}

static void add_verdict(const struct fabric *fabric, const struct routing *routing, GString *text)
{
	struct route_verdict verdict;

	route_verify(fabric, routing, &verdict);
	g_string_append_printf(text,
			       "complete %s, loop free %s, acyclic %s, at most %u hops, "
			       "%" G_GINT64_MODIFIER "u paths\n",
			       verdict.complete ? "yes" : "no", verdict.loop_free ? "yes" : "no",
			       verdict.acyclic ? "yes" : "no", verdict.max_hops, verdict.paths);
	if (verdict.witness)
		g_string_append_printf(text, "%s\n", verdict.witness);
	route_verdict_clear(&verdict);
}

/* The SLs from each switch to all others, if there are any. */
static void add_lanes(const struct fabric *fabric, const struct routing *routing, GString *text)
{
	if (!routing->lanes)
		return;
	g_string_append_printf(text, "VLs %u to %u; SLs to switches in the order below:\n",
			       routing->lanes->first,
			       routing->lanes->first + routing->lanes->n - 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		g_string_append_printf(
			text, "  %s:", fabric->nodes[fabric->switches[sw].node].description);
		for (uint32_t to = 0; to < fabric->n_switches; to++)
			g_string_append_printf(text, " %u", route_lanes_sl(routing->lanes, sw, to));
		g_string_append_c(text, '\n');
	}
}

static char *route_text(const struct golden *golden)
{
	const struct route_input input = {.threads = 1, .nue_max_num_vls = 1};
	g_autofree char *file =
		g_strdup_printf("%s/tests/golden/%s.topo", golden_dir(), golden->topology);
	struct fabric *fabric = make_fabric(file, golden->lmc);
	GError *error = NULL;
	struct routing *routing = route_compute(route_find(golden->engine), fabric, &input, &error);
	GString *text = g_string_new(NULL);

	g_string_printf(text, "%s, engine %s, LMC %u\n", golden->topology, golden->engine,
			golden->lmc);
	if (golden->look)
		g_string_append_printf(text, "%s\n\n", golden->look);
	if (routing) {
		add_verdict(fabric, routing, text);
		add_lanes(fabric, routing, text);
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			add_switch(fabric, routing, sw, text);
	} else {
		g_string_append_printf(text, "refused: %s\n", error->message);
		g_error_free(error);
	}
	routing_unref(routing);
	fabric_unref(fabric);
	return g_string_free(text, FALSE);
}

START_TEST(test_golden)
{
	const struct golden *golden = &goldens[_i];
	g_autofree char *text = route_text(golden);
	g_autofree char *file =
		g_strdup_printf("%s/tests/golden/%s.%s.lmc%u.lft", golden_dir(), golden->topology,
				golden->engine, golden->lmc);

	golden_compare(file, text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_golden");
	TCase *tcase = tcase_create("golden");

	tcase_add_loop_test(tcase, test_golden, 0, G_N_ELEMENTS(goldens));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
