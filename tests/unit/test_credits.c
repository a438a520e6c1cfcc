// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verifier against packets (credits.h): over random fabrics and all engines, nets that it calls
 * free of credit loops never stop, however hosts send and flood; nets that it calls cyclic can be
 * stopped.
 *
 * ROUTE_SEEDS=17 runs only that seed, ROUTE_SEEDS=1-1000 many.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "route/renew/renew.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/credits.h"
#include "tests/unit/proof_routing.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 20
#define CHUNK 20	   /* seeds for one process */
#define PACKETS_MAX 100000 /* in a run; beyond that hosts send only to some of the others */
#define TRIES 4		   /* to stop what is cyclic, in each way */
#define FEW 8		   /* with fewer tables, chance may stop none */

static const char *const engines[] = {"minhop", "updn",	  "dnup", "ftree", "dor",
				      "sssp",	"dfsssp", "lash", "nue",   "hoplanes"};
/* Without an order of switches, but with a tree for all multicast. */
static const char *const with_trunk[] = {"dfsssp", "lash", "nue", "hoplanes", NULL};

struct tally {
	uint64_t tables, tori, free, with_floods, packets, copies;
	uint64_t cyclic, stopped, by_ring;    /* tables; by saturation, or by a ring of flows */
	uint64_t flood_cyclic, flood_stopped; /* free, except with floods */
};

struct trial {
	struct fabric *fabric;
	const char *what;
	uint64_t state;
	struct tally *tally;
	struct routing *routing;
	struct route_verdict verdict;
	struct route_tree *tree;
	bool tree_free;
};

/* ---- what is sent ---- */

static struct route_tree *tree_of_hosts(struct fabric *fabric, const struct routing *routing)
{
	g_autofree uint32_t *members = g_new(uint32_t, fabric->n_ports + 1);
	struct route_group group = {.members = members};
	struct route_multicast_base *base = route_multicast_base_new(fabric, routing, 0);
	struct route_tree *tree;
	uint32_t excluded;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (!fabric_is_switch(fabric, fabric->ports[port].node) &&
		    fabric->ports[port].guid && fabric_is_connected(fabric, port))
			members[group.n_members++] = port;
	tree = route_multicast_on(base, fabric, &group, NULL, NULL, &excluded);
	route_multicast_base_free(base);
	return tree;
}

/* Flows of saturated hosts, or, if these are too many, some of them. */
static GArray *flows_of(struct trial *trial, bool switches)
{
	GArray *flows = credits_all_to_all(trial->fabric, switches);

	while (flows->len > PACKETS_MAX)
		g_array_remove_index_fast(flows, make_number(&trial->state, flows->len));
	return flows;
}

static struct credits_load load_of(struct trial *trial, const GArray *flows, bool with_floods)
{
	return (struct credits_load){
		.fabric = trial->fabric,
		.routing = trial->routing,
		.credits = 1 + make_number(&trial->state, 3),
		.flows = (const struct credits_flow *)(const void *)flows->data,
		.n_flows = flows->len,
		.rounds = flows->len < PACKETS_MAX / 4 ? 1 + make_number(&trial->state, 3) : 1,
		.tree = with_floods ? trial->tree : NULL,
		.floods = 1 + make_number(&trial->state, 6),
		.state = make_number(&trial->state, UINT32_MAX),
	};
}

/* ---- free of loops ---- */

static void expect_free(struct trial *trial)
{
	bool floods = trial->verdict.acyclic && trial->tree_free;
	GArray *flows = flows_of(trial, trial->verdict.acyclic);
	struct credits_load load = load_of(trial, flows, floods);
	struct credits_outcome outcome;

	credits_run(&load, &outcome);
	ck_assert_msg(!outcome.deadlock, "%s, %s: free%s, but stopped after %" PRIu64 " steps: %s",
		      trial->what, trial->routing->engine->name, floods ? " with floods" : "",
		      outcome.steps, outcome.deadlock);
	ck_assert_uint_eq(outcome.delivered + outcome.lost, outcome.sent);
	ck_assert_uint_eq(outcome.sent, (uint64_t)load.rounds * load.n_flows);
	trial->tally->free++;
	trial->tally->with_floods += floods && outcome.copies;
	trial->tally->packets += outcome.delivered;
	trial->tally->copies += outcome.copies;
	credits_outcome_clear(&outcome);
	g_array_unref(flows);
}

/* ---- cyclic ---- */

static bool stops(struct credits_load load, struct trial *trial)
{
	bool stopped = false;

	for (unsigned int i = 0; i < TRIES && !stopped; i++) {
		struct credits_outcome outcome;

		load.credits = 1 + i / 2;
		load.state = make_number(&trial->state, UINT32_MAX);
		credits_run(&load, &outcome);
		stopped = outcome.deadlock;
		credits_outcome_clear(&outcome);
	}
	return stopped;
}

/* Saturated as in a free net; if that does not stop it, by the flows of a ring. */
static bool can_be_stopped(struct trial *trial, bool switches)
{
	GArray *flows = flows_of(trial, switches);
	struct credits_load load = load_of(trial, flows, false);
	bool stopped = stops(load, trial);
	GArray *ring = stopped ? NULL : credits_ring(&load);

	if (ring) {
		load.flows = (const struct credits_flow *)(const void *)ring->data;
		load.n_flows = ring->len;
		load.rounds = 500;
		stopped = stops(load, trial);
		trial->tally->by_ring += stopped;
		g_array_unref(ring);
	}
	g_array_unref(flows);
	return stopped;
}

static void try_cyclic(struct trial *trial)
{
	trial->tally->cyclic++;
	trial->tally->stopped += can_be_stopped(trial, true);
}

static void try_floods(struct trial *trial)
{
	GArray *flows = flows_of(trial, true);
	struct credits_load load = load_of(trial, flows, true);

	load.rounds = MAX(load.rounds, 3);
	load.floods = 100;
	trial->tally->flood_cyclic++;
	trial->tally->flood_stopped += stops(load, trial);
	g_array_unref(flows);
}

/* ---- tables ---- */

/* Trees are judged with the table if lanes change by turns, if there are any. */
static bool is_tree_free(const struct trial *trial)
{
	if (routing_has_turns(trial->routing))
		return trial->routing->trunk && trial->verdict.acyclic;
	return proof_tree_is_free(trial->fabric, trial->routing, trial->tree);
}

static void try_table(struct trial *trial, const char *name, const struct route_input *input)
{
	enum route_way way;

	trial->routing = routing_renew(route_find(name), trial->fabric, input, NULL, &way, NULL);
	if (!trial->routing)
		return;
	route_verify(trial->fabric, trial->routing, &trial->verdict);
	trial->tree = tree_of_hosts(trial->fabric, trial->routing);
	trial->tree_free = is_tree_free(trial);
	trial->tally->tables++;
	if (trial->verdict.loop_free && trial->verdict.hosts_acyclic)
		expect_free(trial);
	else if (trial->verdict.loop_free)
		try_cyclic(trial);
	if (trial->verdict.loop_free && trial->verdict.acyclic && !trial->tree_free &&
	    !routing_has_turns(trial->routing))
		try_floods(trial);
	route_tree_unref(trial->tree);
	route_verdict_clear(&trial->verdict);
	routing_unref(trial->routing);
}

static void try_engines(struct trial *trial)
{
	for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
		struct route_input input = {.threads = 1,
					    .nue_max_num_vls = make_number(&trial->state, 3)};

		try_table(trial, engines[i], &input);
	}
}

static void try_seed(uint64_t seed, struct tally *tally)
{
	struct trial trial = {.tally = tally};
	struct shape shape;

	shape_random(&shape, seed);
	trial.state = shape.state;
	trial.what = shape.what->str;
	trial.fabric = builder_freeze(shape.builder);
	try_engines(&trial);
	fabric_unref(trial.fabric);
	shape_clear(&shape);
}

/* ---- torus-2QoS, which needs the torus file ---- */

static uint64_t guid_at(struct builder *builder, unsigned int dimension, unsigned int place)
{
	g_autofree char *name =
		g_strdup_printf("switch-%u-%u-%u", dimension == 0 ? place : 0,
				dimension == 1 ? place : 0, dimension == 2 ? place : 0);

	return make_found(builder, name)->guid;
}

static void try_torus(uint64_t seed, struct tally *tally)
{
	struct trial trial = {.tally = tally, .state = seed * 7919};
	uint32_t x = 2 + make_number(&trial.state, 4), y = 2 + make_number(&trial.state, 4);
	uint32_t z = 1 + make_number(&trial.state, 4), lost = make_number(&trial.state, 2) * 2;
	g_autofree char *spec = g_strdup_printf("torus:%ux%ux%u:2", x, y, z);
	g_autofree char *what = g_strdup_printf("ROUTE_SEEDS=%" PRIu64 ": %s, %u %% of cables out",
						seed, spec, lost);
	struct builder *builder = make_builder_of(spec);
	struct route_torus_seed origin = {.from = guid_at(builder, 0, 0)};
	struct route_input input = {.threads = 1, .vls = 8};

	input.torus = (struct route_torus){.file = "torus-2QoS.conf",
					   .radix = {x, y, z},
					   .loops = {true, true, true},
					   .max_ports = 16,
					   .seeds = &origin,
					   .n_seeds = 1};
	for (unsigned int d = 0; d < 3; d++)
		if (input.torus.radix[d] > 1) {
			origin.to[2 * d] = guid_at(builder, d, 1);
			origin.to[2 * d + 1] = guid_at(builder, d, input.torus.radix[d] - 1);
		}
	make_lids(builder, 0);
	trial.what = what;
	trial.fabric = builder_freeze(builder);
	shape_cut(trial.fabric, &trial.state, lost);
	tally->tori -= tally->tables;
	try_table(&trial, "torus-2QoS", &input);
	tally->tori += tally->tables;
	fabric_unref(trial.fabric);
	builder_free(builder);
}

/* ---- named nets ---- */

static const struct {
	const char *spec;
	uint32_t lost;	    /* percent of cables */
	const char *cyclic; /* engines whose tables are */
	const char *bare;   /* an engine that has no lane where multicast closes no loop */
} nets[] = {
	{"fattree:6", 0, ""},
	{"fattree:6", 8, "minhop sssp"},
	{"torus:12:1", 0, "minhop dor sssp", "hoplanes"},
	{"torus:5x5:2", 0, "minhop dor sssp"},
	{"torus:5x5:2", 5, "minhop dor sssp"},
	{"torus:4x4x4:1", 0, "minhop dor sssp"},
	{"dragonfly:4:2:2", 0, "minhop dor sssp"},
	{"hypercube:5:1", 0, "minhop sssp"},
	{"mesh:5x5:2", 0, "minhop sssp"},
	{"random:24:4:2:5", 0, "minhop dor sssp"},
};

START_TEST(test_nets)
{
	g_autofree char *what =
		g_strdup_printf("%s, %u %% of cables out", nets[_i].spec, nets[_i].lost);
	g_auto(GStrv) cyclic = g_strsplit(nets[_i].cyclic, " ", -1);
	struct tally tally = {0};
	struct trial trial = {.what = what, .state = _i + 1, .tally = &tally};

	trial.fabric = make_fabric(nets[_i].spec, 0);
	shape_cut(trial.fabric, &trial.state, nets[_i].lost);
	for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
		bool is_cyclic = g_strv_contains((const char *const *)cyclic, engines[i]);
		struct route_input input = {.threads = 1};

		tally = (struct tally){0};
		try_table(&trial, engines[i], &input);
		ck_assert_msg(tally.cyclic == is_cyclic && tally.stopped == is_cyclic,
			      "%s, %s: expected %s; cyclic %d, stopped %d", what, engines[i],
			      is_cyclic ? "a cycle" : "none", (int)tally.cyclic,
			      (int)tally.stopped);
		ck_assert_msg(!g_strv_contains(with_trunk, engines[i]) || tally.with_floods ||
				      !g_strcmp0(nets[_i].bare, engines[i]),
			      "%s, %s: no room for multicast", what, engines[i]);
	}
	fabric_unref(trial.fabric);
}
END_TEST

/* ---- the tree of all multicast ---- */

/* Ports to parents in a tree that spans the network; switches join it in random order. */
static uint8_t *random_trunk(const struct fabric *fabric, uint64_t *state)
{
	uint8_t *trunk = g_malloc0(fabric->n_switches + 1);
	g_autofree bool *in = g_new0(bool, fabric->n_switches + 1);

	in[0] = true;
	for (uint32_t n = 1; n < fabric->n_switches;) {
		uint32_t sw = make_number(state, fabric->n_switches), num, peer, to;

		num = 1 + make_number(state, fabric->nodes[fabric->switches[sw].node].num_ports);
		peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;
		to = peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
		if (in[sw] || to == FABRIC_NONE || !in[to])
			continue;
		in[sw] = true;
		trunk[sw] = num;
		n++;
	}
	return trunk;
}

/* On a mesh by dimension order, which is free, with any tree: together they may close a loop. */
START_TEST(test_trunk_is_judged)
{
	struct trial trial = {
		.what = "a trunk", .state = 1, .fabric = make_fabric("mesh:3x3:1", 0)};
	unsigned int free = 0, tries = 100;

	for (unsigned int i = 0; i < tries; i++) {
		struct route_input input = {.threads = 1};
		enum route_way way;

		trial.routing =
			routing_renew(route_find("dor"), trial.fabric, &input, NULL, &way, NULL);
		trial.routing->trunk = random_trunk(trial.fabric, &trial.state);
		route_verify(trial.fabric, trial.routing, &trial.verdict);
		trial.tree = tree_of_hosts(trial.fabric, trial.routing);
		ck_assert_uint_eq(trial.tree->n, trial.fabric->n_switches);
		ck_assert_int_eq(trial.verdict.acyclic, is_tree_free(&trial));
		ck_assert_int_eq(trial.verdict.hosts_acyclic, trial.verdict.acyclic);
		free += trial.verdict.acyclic;
		route_tree_unref(trial.tree);
		route_verdict_clear(&trial.verdict);
		routing_unref(trial.routing);
	}
	ck_assert_uint_gt(free, 0);
	ck_assert_uint_lt(free, tries);
	fabric_unref(trial.fabric);
}
END_TEST

/* 0: no cable connects them. */
static uint8_t port_between(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	for (unsigned int num = 1; num <= fabric->nodes[fabric->switches[from].node].num_ports;
	     num++) {
		uint32_t peer = fabric->ports[fabric_switch_port(fabric, from, num)].peer;

		if (peer != FABRIC_NONE && fabric->nodes[fabric->ports[peer].node].sw == to)
			return num;
	}
	return 0;
}

/* To switch 0, or to one of the two that have a cable to switch 0. */
static uint8_t port_to_root(const struct fabric *fabric, uint32_t sw, bool last)
{
	uint8_t num = port_between(fabric, sw, 0);

	for (uint32_t to = 1; to < 4; to++)
		if (!port_between(fabric, sw, 0) && port_between(fabric, sw, to) && (!num || last))
			num = port_between(fabric, sw, to);
	return num;
}

/*
 * A ring of four: the trunk decides which neighbour the switch across from the root is cabled to in
 * it. A tree of hosts does not stay when that changes, though everything near is as before.
 */
START_TEST(test_tree_leaves_an_old_trunk)
{
	struct fabric *fabric = make_fabric("torus:4:1", 0);
	struct route_multicast_base *base[2];
	struct route_tree *tree[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct routing *routing = routing_new(fabric, route_find("dor"), 0);

		routing->trunk = g_malloc0(fabric->n_switches + 1);
		for (uint32_t sw = 1; sw < 4; sw++)
			routing->trunk[sw] = port_to_root(fabric, sw, i);
		base[i] = route_multicast_base_new(fabric, routing, 0);
		tree[i] = tree_of_hosts(fabric, routing);
		ck_assert_uint_eq(tree[i]->n, 4);
		routing_unref(routing);
	}
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(route_tree_stays(tree[i], base[i], fabric, base[i], fabric));
		ck_assert(!route_tree_stays(tree[i], base[i], fabric, base[!i], fabric));
	}
	for (unsigned int i = 0; i < 2; i++) {
		route_tree_unref(tree[i]);
		route_multicast_base_free(base[i]);
	}
	fabric_unref(fabric);
}
END_TEST

/* ---- the whole ---- */

static void tell(const struct tally *tally)
{
	printf("%" PRIu64 " tables (%" PRIu64 " of torus-2QoS): %" PRIu64 " free (%" PRIu64
	       " with floods; %" PRIu64 " packets, %" PRIu64 " copies), none stopped; %" PRIu64
	       " cyclic, %" PRIu64 " stopped (%" PRIu64 " by flows of a ring); %" PRIu64
	       " cyclic by floods only, %" PRIu64 " stopped\n",
	       tally->tables, tally->tori, tally->free, tally->with_floods, tally->packets,
	       tally->copies, tally->cyclic, tally->stopped, tally->by_ring, tally->flood_cyclic,
	       tally->flood_stopped);
	fflush(stdout);
}

START_TEST(test_free_never_stops)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	uint64_t first = seeds.first + (uint64_t)_i * CHUNK;
	struct tally tally = {0};

	for (uint64_t seed = first; seed < first + CHUNK && seed <= seeds.last; seed++) {
		try_seed(seed, &tally);
		try_torus(seed, &tally);
	}
	tell(&tally);
	if (seeds.last - seeds.first >= CHUNK - 1) { /* the trials covered their cases */
		ck_assert_uint_gt(tally.tori, 0);
		ck_assert_uint_gt(tally.with_floods, 0);
		ck_assert_uint_ge(10 * tally.stopped, 9 * tally.cyclic);
		if (tally.flood_cyclic >= FEW)
			ck_assert_uint_ge(4 * tally.flood_stopped, tally.flood_cyclic);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("credits");
	TCase *tcase = tcase_create("credits");
	struct shape_seeds seeds = shape_seeds(SEEDS);

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, test_nets, 0, G_N_ELEMENTS(nets));
	tcase_add_test(tcase, test_trunk_is_judged);
	tcase_add_test(tcase, test_tree_leaves_an_old_trunk);
	tcase_add_loop_test(tcase, test_free_never_stops, 0,
			    (int)((seeds.last - seeds.first) / CHUNK + 1));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
