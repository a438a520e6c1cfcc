// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The LIDs of a port use different systems, switches and links as far as there are any. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "route/engine.h"
#include "route/graph/plan.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

/*
 * Puts switches into boxes in the order of the walk, the given number in each. In a tree that
 * number of planes is in a box, as in a director: spine-POD-PLANE and core-PLANE-NUMBER, and leaves
 * are separate.
 */
static void put_in_boxes(struct builder *builder, unsigned int each, bool tree)
{
	GPtrArray *order = builder_walk(builder);
	unsigned int n = 0, plane;

	for (guint i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		if (node->info.node_type != IBA_NODE_SWITCH)
			continue;
		node->info.system_image_guid = 0xb0000 + n++ / each;
		if (!tree)
			continue;
		if (sscanf(node->description.node_string, "spine-%*u-%u", &plane) == 1 ||
		    sscanf(node->description.node_string, "core-%u-%*u", &plane) == 1)
			node->info.system_image_guid = 0xd0000 + plane / each;
		else
			node->info.system_image_guid = node->info.node_guid;
	}
	g_ptr_array_unref(order);
}

/* Number of different values. */
static unsigned int distinct(const uint64_t *values, unsigned int n)
{
	unsigned int seen = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int k = 0;

		while (values[k] != values[i])
			k++;
		seen += k == i;
	}
	return seen;
}

static uint64_t system_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].info.system_image_guid;
}

static uint32_t next_of(const struct fabric *fabric, uint32_t sw, uint8_t port)
{
	uint32_t peer = fabric->ports[fabric_switch_port(fabric, sw, port)].peer;

	return fabric->nodes[fabric->ports[peer].node].sw;
}

/* One destination port as seen from one switch; true if there was a choice. */
static bool check_pair(const struct fabric *fabric, const struct route_graph *graph,
		       const uint8_t *hops, const struct routing *routing, uint32_t sw,
		       const struct route_target *target)
{
	uint32_t port = fabric_port_by_lid(fabric, target->lid);
	unsigned int n_lids = 1u << fabric->ports[port].lmc, n = 0;
	uint64_t systems[256], switches[256], used_systems[256], used_switches[256];

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		uint32_t to = graph->edges[e].to;

		if (hops[(size_t)to * graph->n + target->leaf] + 1 !=
		    hops[(size_t)sw * graph->n + target->leaf])
			continue;
		systems[n] = system_of(fabric, to);
		switches[n++] = to;
	}
	if (n < 2)
		return false;
	for (unsigned int i = 0; i < n_lids; i++) {
		uint32_t to = next_of(fabric, sw, routing->lft[sw][target->lid + i]);

		used_systems[i] = system_of(fabric, to);
		used_switches[i] = to;
	}
	ck_assert_uint_eq(distinct(used_systems, n_lids), MIN(n_lids, distinct(systems, n)));
	ck_assert_uint_eq(distinct(used_switches, n_lids), MIN(n_lids, distinct(switches, n)));
	return true;
}

static const struct {
	const char *spec;
	bool tree;
	unsigned int each; /* in a box */
} cases[] = {
	{"fattree:4", true, 1},	     {"fattree:8", true, 1},	  {"fattree:8", true, 2},
	{"fattree:8", true, 3},	     {"fattree:12", true, 4},	  {"torus:4x4x4:2", false, 1},
	{"torus:4x4x4:2", false, 3}, {"torus:6x6:4", false, 2},	  {"dragonfly:4:2:2", false, 1},
	{"dragonfly:4:2:2", false, 5}, {"hypercube:6:2", false, 3}, {"random:30:6:4:3", false, 1},
	{"random:30:6:4:3", false, 4},
};

/*
 * In a tree from the leaves only: LIDs that left a leaf by different parents do not share a switch
 * above, so entries there for other LIDs do not help.
 */
static void check_fabric(size_t i, uint8_t lmc)
{
	struct builder *builder = make_builder_of(cases[i].spec);
	struct route_input input = {.threads = 1};
	unsigned int choices = 0;
	struct route_plan plan;
	const struct route_graph *graph;
	struct fabric *fabric;
	struct routing *routing;
	uint8_t *hops;

	make_lids(builder, lmc);
	put_in_boxes(builder, cases[i].each, cases[i].tree);
	fabric = builder_freeze(builder);
	routing = route_compute(route_find("minhop"), fabric, &input, NULL);
	route_plan_init(&plan, fabric);
	graph = plan.graph;
	hops = route_hops_all(&plan.order, NULL);
	for (uint32_t t = 0; t < route_n_targets(graph); t++)
		for (uint32_t sw = 0; sw < graph->n && !graph->targets[t].offset; sw++)
			if (sw != graph->targets[t].leaf &&
			    (!cases[i].tree || route_has_hosts(graph, sw)))
				choices += check_pair(fabric, graph, hops, routing, sw,
						      &graph->targets[t]);
	ck_assert_uint_gt(choices, 30);
	g_free(hops);
	route_plan_clear(&plan);
	routing_unref(routing);
	fabric_unref(fabric);
	builder_free(builder);
}

START_TEST(test_spread)
{
	check_fabric(_i, 1);
	check_fabric(_i, 2);
}
END_TEST

/* All nodes between two leaves are different for all LIDs of a port, as far as possible. */
START_TEST(test_disjoint)
{
	struct fabric *fabric = make_fabric("fattree:8", 2);
	struct route_input input = {.threads = 1};
	struct routing *routing = route_compute(route_find("minhop"), fabric, &input, NULL);
	struct route_graph *graph = route_graph_new(fabric);
	unsigned int met = 0;

	for (uint32_t t = 0; t < route_n_targets(graph); t += 4) {
		for (uint32_t leaf = 0; leaf < graph->n; leaf++) {
			uint64_t passed[64];
			unsigned int n = 0;

			if (leaf == graph->targets[t].leaf || !route_has_hosts(graph, leaf))
				continue;
			for (unsigned int i = 0; i < 4; i++) {
				uint16_t lid = graph->targets[t + i].lid;
				uint32_t sw = next_of(fabric, leaf, routing->lft[leaf][lid]);

				while (sw != graph->targets[t].leaf) {
					passed[n++] = sw;
					sw = next_of(fabric, sw, routing->lft[sw][lid]);
				}
			}
			ck_assert_uint_eq(distinct(passed, n), n);
			met += n;
		}
	}
	ck_assert_uint_gt(met, 1000);
	route_graph_free(graph);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_lmc");
	TCase *tests = tcase_create("route_lmc");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, test_spread, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, test_disjoint);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
