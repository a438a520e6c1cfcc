// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Who sends to whom: hosts of one class send to each other and to nobody else. The load of channels
 * is counted pair by pair.
 */
#include "tests/run_suite.h"

#include "osmroute/quality.h"
#include "route/graph.h"
#include "route/rebalance.h"
#include "tests/unit/fabric_make.h"

struct classes {
	const struct fabric *fabric;
	uint32_t *of; /* [port] */
	bool *sends;
	struct route_demand demand;
};

/* Host i, by LID, is of class i % n + 1; switches are of class 0, which sends to nobody. */
static void classes_init(struct classes *classes, const struct fabric *fabric, uint32_t n)
{
	uint32_t hosts = 0;

	classes->fabric = fabric;
	classes->of = g_new0(uint32_t, fabric->n_ports);
	classes->sends = g_new0(bool, (n + 1) * (n + 1));
	for (uint32_t i = 1; i <= n; i++)
		classes->sends[i * (n + 1) + i] = true;
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);

		if (port != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[port].node))
			classes->of[port] = hosts++ % n + 1;
	}
	classes->demand = (struct route_demand){n + 1, classes->of, classes->sends};
}

static void classes_clear(struct classes *classes)
{
	g_free(classes->of);
	g_free(classes->sends);
}

/* ---- the slow way ---- */

static void add_path(const struct fabric *fabric, const struct routing *routing, uint32_t from,
		     uint16_t lid, uint64_t *load)
{
	uint8_t exit;
	uint32_t sw = fabric_leaf(fabric, from, &exit);

	for (int hops = 0; hops < 64; hops++) {
		uint32_t port =
			fabric_switch_port(fabric, sw, routing_port(routing, sw, lid));
		uint32_t node = fabric->ports[fabric->ports[port].peer].node;

		if (!fabric_is_switch(fabric, node))
			return;
		load[port]++;
		sw = fabric->nodes[node].sw;
	}
	ck_abort_msg("no path to LID %u", lid);
}

/* Flows on the busiest channel, and how many flows there are. */
static uint64_t most_load(const struct classes *classes, const struct routing *routing,
			  uint64_t *flows)
{
	const struct fabric *fabric = classes->fabric;
	g_autofree uint64_t *load = g_new0(uint64_t, fabric->n_ports);
	uint64_t most = 0;

	*flows = 0;
	for (uint32_t from = 0; from < fabric->n_ports; from++)
		for (uint32_t to = 0; to < fabric->n_ports; to++) {
			if (from == to || !classes->of[from] ||
			    classes->of[from] != classes->of[to])
				continue;
			add_path(fabric, routing, from, fabric->ports[to].lid, load);
			++*flows;
		}
	for (uint32_t port = 0; port < fabric->n_ports; port++)
		most = MAX(most, load[port]);
	return most;
}

static uint64_t load_of(const struct classes *classes, const char *engine, bool aware)
{
	const struct route_input input = {.threads = 1,
					  .demand = aware ? &classes->demand : NULL};
	const struct quality_effort none = {0};
	struct routing *routing =
		route_find(engine)->compute(classes->fabric, &input, NULL);
	struct route_verdict verdict;
	struct quality quality;
	uint64_t most, flows;

	ck_assert_ptr_nonnull(routing);
	ck_assert(route_verify(classes->fabric, routing, &verdict));
	route_verdict_clear(&verdict);
	most = most_load(classes, routing, &flows);
	quality_measure(classes->fabric, routing, &classes->demand, &none, &quality);
	ck_assert_uint_eq(quality.most_load, most);
	ck_assert_uint_eq(quality.pairs, flows);
	ck_assert_uint_eq(quality.routed, flows);
	if (aware && routing->trace) /* by which repairs are judged */
		ck_assert_uint_eq(routing_peak(routing, 1), most);
	routing_unref(routing);
	return most;
}

static const struct {
	const char *spec, *engine;
	uint32_t n_classes;
	bool better;
} trials[] = {
	{"torus:4x4x4:2", "minhop", 4, true}, {"torus:4x4x4:2", "updn", 4, true},
	{"torus:4x4x4:2", "sssp", 4, true},   {"torus:4x4x4:2", "dfsssp", 4, true},
	{"torus:4x4x4:2", "lash", 4, true},   {"torus:4x4x4:2", "nue", 4, false},
	{"dragonfly:4:2:2", "sssp", 4, true}, {"fattree:8", "minhop", 4, false},
	{"fattree:8", "sssp", 2, false},
};

START_TEST(test_less_load)
{
	struct fabric *fabric = make_fabric(trials[_i].spec, 0);
	struct classes classes;
	uint64_t plain, aware;

	classes_init(&classes, fabric, trials[_i].n_classes);
	plain = load_of(&classes, trials[_i].engine, false);
	aware = load_of(&classes, trials[_i].engine, true);
	ck_assert_uint_le(aware, plain);
	if (trials[_i].better)
		ck_assert_uint_lt(aware, plain);
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

/* Scattered paths, which are moved from where these hosts load cables. */
START_TEST(test_rebalanced)
{
	struct fabric *fabric = make_fabric("torus:4x4x4:2", 0);
	struct route_input input = {.threads = 1, .scatter = 7};
	uint64_t most[2], flows;
	struct classes classes;

	classes_init(&classes, fabric, 4);
	for (unsigned int aware = 0; aware < 2; aware++) {
		struct routing *routing;

		input.demand = aware ? &classes.demand : NULL;
		routing = route_find("minhop")->compute(fabric, &input, NULL);
		route_rebalance_to(routing, 0);
		most[aware] = most_load(&classes, routing, &flows);
		routing_unref(routing);
	}
	ck_assert_uint_lt(most[1], most[0]);
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

/* One class that sends to itself is the same as none. */
START_TEST(test_one_class)
{
	struct fabric *fabric = make_fabric("torus:4x4:2", 0);
	struct classes classes;
	static const char *const engines[] = {"minhop", "sssp", "nue"};

	classes_init(&classes, fabric, 1);
	for (unsigned int i = 0; i < G_N_ELEMENTS(engines); i++) {
		const struct route_input with = {.threads = 1, .demand = &classes.demand};
		const struct route_input without = {.threads = 1};
		struct routing *a = route_find(engines[i])->compute(fabric, &with, NULL);
		struct routing *b = route_find(engines[i])->compute(fabric, &without, NULL);

		for (uint32_t sw = 0; sw < a->n_switches; sw++)
			ck_assert_mem_eq(a->lft[sw], b->lft[sw], a->top + 1);
		routing_unref(a);
		routing_unref(b);
	}
	classes_clear(&classes);
	fabric_unref(fabric);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_demand");
	TCase *tcase = tcase_create("demand");

	tcase_add_loop_test(tcase, test_less_load, 0, G_N_ELEMENTS(trials));
	tcase_add_test(tcase, test_rebalanced);
	tcase_add_test(tcase, test_one_class);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
