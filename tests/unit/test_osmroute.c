// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The figures of osmroute against a slow walk of every pair, and its losses and drawings. */
#include "tests/run_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "complib/random.h"
#include "fabric/changes.h"
#include "osmroute/clusters.h"
#include "osmroute/draw.h"
#include "osmroute/judge.h"
#include "osmroute/loss.h"
#include "osmroute/outage.h"
#include "osmroute/picture.h"
#include "osmroute/shade.h"
#include "tests/unit/fabric_make.h"

#define PATH_MAX_PORTS 64

static const char *const specs[] = {"fattree:4", "torus:4x4", "hypercube:3", "dragonfly:3:1:2",
				    "random:12:4:2:7"};
static const char *const engines[] = {"minhop", "updn", "dor"};

static struct routing *compute(const struct fabric *fabric, const char *engine)
{
	const struct route_input input = {.threads = 1};
	struct routing *routing = route_compute(route_find(engine), fabric, &input, NULL);

	ck_assert_ptr_nonnull(routing);
	return routing;
}

/* ---- the slow way: ports of the fabric, packet by packet ---- */

struct slow {
	const struct fabric *fabric;
	const struct routing *routing;
	GArray *hosts; /* uint32_t: end ports by LID */
	uint64_t *load; /* [port] */
};

static void slow_init(struct slow *slow, const struct fabric *fabric,
		      const struct routing *routing)
{
	*slow = (struct slow){fabric, routing};
	slow->hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	slow->load = g_new0(uint64_t, fabric->n_ports);
	for (uint32_t lid = 1; lid < FABRIC_LIDS; lid++)
		for (uint32_t port = 0; port < fabric->n_ports; port++)
			if (fabric->ports[port].lid == lid &&
			    fabric->nodes[fabric->ports[port].node].type != IBA_NODE_SWITCH)
				g_array_append_val(slow->hosts, port);
}

static void slow_clear(struct slow *slow)
{
	g_array_unref(slow->hosts);
	g_free(slow->load);
}

static uint32_t host(const struct slow *slow, uint32_t i)
{
	return g_array_index(slow->hosts, uint32_t, i % slow->hosts->len);
}

/* The switch ports between switches that a packet leaves through; -1: it does not arrive. */
static int walk(const struct slow *slow, uint32_t from, uint32_t to, uint32_t path[PATH_MAX_PORTS])
{
	const struct fabric *fabric = slow->fabric;
	uint32_t here = fabric->ports[from].peer; /* port through which it enters a switch */
	int n = 0;

	while (n < PATH_MAX_PORTS) {
		uint32_t node = fabric->ports[here].node, out;
		uint8_t num = slow->routing->lft[fabric->nodes[node].sw][fabric->ports[to].lid];

		if (num == 0 || num > fabric->nodes[node].num_ports)
			return -1;
		out = fabric_port_of(fabric, node, num);
		here = fabric->ports[out].peer;
		if (here == to)
			return n;
		if (here == FABRIC_NONE || !fabric_is_switch(fabric, fabric->ports[here].node))
			return -1;
		path[n++] = out;
	}
	return -1;
}

static int slow_add(struct slow *slow, uint32_t from, uint32_t to)
{
	uint32_t path[PATH_MAX_PORTS];
	int n = walk(slow, from, to, path);

	for (int i = 0; i < n; i++)
		slow->load[path[i]]++;
	return n;
}

static uint64_t slow_most(const struct slow *slow)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < slow->fabric->n_ports; i++)
		most = MAX(most, slow->load[i]);
	return most;
}

static void slow_clean(struct slow *slow)
{
	memset(slow->load, 0, slow->fabric->n_ports * sizeof(*slow->load));
}

static uint32_t slow_channels(const struct fabric *fabric)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t peer = fabric->ports[i].peer;

		n += peer != FABRIC_NONE && fabric_is_switch(fabric, fabric->ports[i].node) &&
		     fabric_is_switch(fabric, fabric->ports[peer].node);
	}
	return n;
}

static void slow_all_to_all(struct slow *slow, struct quality *quality)
{
	uint32_t n = slow->hosts->len;
	uint64_t sum = 0;

	slow_clean(slow);
	*quality = (struct quality){.n_hosts = n, .n_channels = slow_channels(slow->fabric)};
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			int hops = i == j ? -1 : slow_add(slow, host(slow, i), host(slow, j));

			quality->pairs += i != j;
			if (hops < 0)
				continue;
			quality->routed++;
			quality->max_hops = MAX(quality->max_hops, (uint32_t)hops);
			sum += hops;
		}
	}
	quality->most_load = slow_most(slow);
	quality->mean_hops = (double)sum / quality->routed;
	quality->mean_load = (double)sum / quality->n_channels;
}

static uint64_t slow_worst_shift(struct slow *slow)
{
	uint64_t worst = 0;

	for (uint32_t s = 1; s < slow->hosts->len; s++) {
		slow_clean(slow);
		for (uint32_t i = 0; i < slow->hosts->len; i++)
			slow_add(slow, host(slow, i), host(slow, i + s));
		worst = MAX(worst, slow_most(slow));
	}
	return worst;
}

static double slow_share(const struct slow *slow, uint32_t from, uint32_t to)
{
	uint32_t path[PATH_MAX_PORTS];
	int n = walk(slow, from, to, path);
	uint64_t most = 1;

	for (int i = 0; i < n; i++)
		most = MAX(most, slow->load[path[i]]);
	return n < 0 ? 0 : 1.0 / most;
}

/* Draws random numbers as quality.c does, which gives the same matchings. */
static double slow_bisection(struct slow *slow, uint32_t rounds, uint64_t seed)
{
	uint32_t *order = (uint32_t *)slow->hosts->data, flows = slow->hosts->len & ~1u;
	double sum = 0;

	for (uint32_t round = 0; round < rounds; round++) {
		slow_clean(slow);
		for (uint32_t i = slow->hosts->len; i > 1; i--) {
			uint32_t other = random_below(&seed, i), swap = order[other];

			order[other] = order[i - 1];
			order[i - 1] = swap;
		}
		for (uint32_t i = 0; i < flows; i++)
			slow_add(slow, order[i], order[i ^ 1]);
		for (uint32_t i = 0; i < flows; i++)
			sum += slow_share(slow, order[i], order[i ^ 1]);
	}
	return sum / ((double)flows * rounds);
}

static void check_figures(const struct fabric *fabric, const struct routing *routing,
			  const char *what)
{
	const struct quality_effort effort = {.shifts = 512, .matchings = 7, .seed = 42};
	struct quality quick, expected;
	struct slow slow;

	quality_measure(fabric, routing, NULL, &effort, &quick);
	slow_init(&slow, fabric, routing);
	slow_all_to_all(&slow, &expected);
	ck_assert_msg(quick.n_hosts == expected.n_hosts, "%s: hosts", what);
	ck_assert_msg(quick.n_channels == expected.n_channels, "%s: channels", what);
	ck_assert_msg(quick.pairs == expected.pairs, "%s: pairs", what);
	ck_assert_msg(quick.routed == expected.routed, "%s: routed", what);
	ck_assert_msg(quick.max_hops == expected.max_hops, "%s: most hops", what);
	ck_assert_msg(quick.most_load == expected.most_load, "%s: most load", what);
	ck_assert_msg(fabs(quick.mean_hops - expected.mean_hops) < 1e-9, "%s: hops", what);
	ck_assert_msg(fabs(quick.mean_load - expected.mean_load) < 1e-9, "%s: load", what);
	ck_assert_msg(fabs(quick.load_ratio * quick.mean_load - quick.most_load) < 1e-6,
		      "%s: load ratio", what);
	ck_assert_uint_eq(quick.shifts, quick.n_hosts - 1);
	ck_assert_msg(quick.worst_shift == slow_worst_shift(&slow), "%s: shift", what);
	ck_assert_msg(fabs(quick.bisection - slow_bisection(&slow, 7, 42)) < 1e-9,
		      "%s: bisection", what);
	slow_clear(&slow);
}

START_TEST(test_figures)
{
	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct fabric *fabric = make_fabric(specs[i], i % 2);

		for (size_t k = 0; k < G_N_ELEMENTS(engines); k++) {
			g_autofree char *what = g_strdup_printf("%s %s", specs[i], engines[k]);
			struct routing *routing = compute(fabric, engines[k]);

			check_figures(fabric, routing, what);
			routing_unref(routing);
		}
		fabric_unref(fabric);
	}
}
END_TEST

/* Figures that can be known without a computer. */
START_TEST(test_known_figures)
{
	const struct quality_effort effort = QUALITY_EFFORT_DEFAULT;
	struct fabric *fabric = make_fabric("fattree:4", 0);
	struct routing *routing = compute(fabric, "minhop");
	struct quality quality;

	/* Of 15 others one is at the leaf (0 hops), two in the pod (2), twelve beyond (4). */
	quality_measure(fabric, routing, NULL, &effort, &quality);
	ck_assert_uint_eq(quality.n_hosts, 16);
	ck_assert_uint_eq(quality.n_channels, 2 * 32);
	ck_assert_uint_eq(quality.max_hops, 4);
	ck_assert_double_eq_tol(quality.mean_hops, (2 * 2 + 12 * 4) / 15.0, 1e-9);
	ck_assert_uint_eq(quality.worst_shift, 1);
	routing_unref(routing);
	fabric_unref(fabric);

	/* Distances in a cube of three dimensions: 1 1 1 2 2 2 3; by dimensions all are even. */
	fabric = make_fabric("hypercube:3", 0);
	routing = compute(fabric, "dor");
	quality_measure(fabric, routing, NULL, &effort, &quality);
	ck_assert_double_eq_tol(quality.mean_hops, 12 / 7.0, 1e-9);
	ck_assert_double_eq_tol(quality.load_ratio, 1, 1e-9);
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

/* On one lane no path is much longer than necessary, and no channel is far too busy. */
START_TEST(test_nue_on_one_lane)
{
	static const struct {
		const char *spec;
		double ratio;
		uint32_t hops;
	} most[] = {
		{"fattree:8", 1.1, 4},	 {"torus:8x8x8:4", 2.5, 16},  {"hypercube:7:4", 1.1, 7},
		{"mesh:6x6:4", 1.6, 10}, {"dragonfly:8:4:4", 2.7, 8},
	};
	const struct quality_effort effort = {0};
	const struct route_input input = {.threads = 1, .nue_max_num_vls = 1};

	for (size_t i = 0; i < G_N_ELEMENTS(most); i++) {
		struct fabric *fabric = make_fabric(most[i].spec, 0);
		struct routing *routing = route_compute(route_find("nue"), fabric, &input, NULL);
		struct quality quality;

		quality_measure(fabric, routing, NULL, &effort, &quality);
		ck_assert_msg(quality.load_ratio <= most[i].ratio &&
				      quality.max_hops <= most[i].hops,
			      "%s: load %.2f, %u hops", most[i].spec, quality.load_ratio,
			      (unsigned int)quality.max_hops);
		routing_unref(routing);
		fabric_unref(fabric);
	}
}
END_TEST

/* Loops, holes and wrong ports neither hang nor count. */
START_TEST(test_broken_tables)
{
	struct fabric *fabric = make_fabric("torus:4x4", 0);
	uint64_t state = 1;

	for (unsigned int round = 0; round < 20; round++) {
		struct routing *routing = compute(fabric, "minhop");
		g_autofree char *what = g_strdup_printf("broken %u", round);

		for (unsigned int i = 0; i < 1 + round; i++) {
			uint32_t sw = random_below(&state, fabric->n_switches);
			uint32_t lid = 1 + random_below(&state, fabric->max_lid);

			routing->lft[sw][lid] =
				random_below(&state, 10) ? random_below(&state, 6) : 0xFF;
		}
		check_figures(fabric, routing, what);
		routing_unref(routing);
	}
	fabric_unref(fabric);
}
END_TEST

/* ---- losses ---- */

START_TEST(test_losses)
{
	struct builder *builder = make_builder_of("torus:4x4");
	struct fabric *before, *after;
	uint64_t state = 3;
	GArray *lost, *changes;

	make_lids(builder, 0);
	before = builder_freeze(builder);
	ck_assert_uint_eq(loss_cables(builder), 32);
	lost = loss_take(builder, 5, &state);
	ck_assert_uint_eq(loss_cables(builder), 27);
	after = builder_freeze(builder);
	changes = fabric_changes(before, after);
	ck_assert_uint_eq(changes->len, 5);
	for (guint i = 0; i < changes->len; i++)
		ck_assert_uint_eq(g_array_index(changes, struct fabric_change, i).kind,
				  FABRIC_LINK_DOWN);
	g_array_unref(changes);
	fabric_unref(after);
	loss_restore(lost);
	after = builder_freeze(builder);
	changes = fabric_changes(before, after);
	ck_assert_uint_eq(changes->len, 0);
	g_array_unref(changes);
	fabric_unref(after);
	fabric_unref(before);
	lost = loss_take(builder, 1000, &state);
	ck_assert_uint_eq(lost->len, 32);
	ck_assert_uint_eq(loss_cables(builder), 0);
	loss_restore(lost);
	builder_free(builder);
}
END_TEST

static struct changes count_changes(const struct fabric *fabric, const struct routing *now,
				    const struct routing *old, uint64_t rebooted)
{
	const struct picture pictures[] = {{fabric, now}, {fabric, old}};
	struct changes changes;

	changes_count(&pictures[0], &pictures[1], old != NULL, rebooted, &changes);
	return changes;
}

START_TEST(test_changed_blocks)
{
	struct fabric *fabric = make_fabric("fattree:8", 0);
	struct routing *one = compute(fabric, "minhop"), *two = compute(fabric, "minhop");
	uint64_t guid = fabric->nodes[fabric->switches[3].node].guid;

	ck_assert_uint_gt(one->n_blocks, 2);
	ck_assert_uint_eq(count_changes(fabric, one, two, 0).blocks, 0);
	one->lft[3][63] ^= 1;
	one->lft[3][62] ^= 1;
	ck_assert_uint_eq(count_changes(fabric, one, two, 0).blocks, 1);
	one->lft[3][64] ^= 1;
	one->lft[9][1] ^= 1;
	ck_assert_uint_eq(count_changes(fabric, one, two, 0).blocks, 3);
	ck_assert_uint_eq(count_changes(fabric, one, two, 0).own, 0);
	ck_assert_uint_eq(count_changes(fabric, one, two, guid).blocks, 1);
	ck_assert_uint_eq(count_changes(fabric, one, two, guid).own, one->n_blocks);
	ck_assert_uint_eq(count_changes(fabric, one, NULL, 0).blocks, 0);
	ck_assert_uint_eq(count_changes(fabric, one, NULL, 0).own,
			  (uint64_t)one->n_blocks * fabric->n_switches);
	routing_unref(one);
	routing_unref(two);
	fabric_unref(fabric);
}
END_TEST

/* A table that was shorter meanwhile left the last blocks as they were. */
START_TEST(test_blocks_beyond_the_end)
{
	struct fabric *fabric = make_fabric("fattree:8", 0);
	struct routing *now = compute(fabric, "minhop"), *before = compute(fabric, "minhop");
	struct routing *meanwhile = compute(fabric, "minhop");
	const struct picture picture = {fabric, now};
	const struct picture earlier[] = {{fabric, meanwhile}, {fabric, before}};
	struct changes changes;
	uint32_t last = (now->n_blocks - 1) * 64;

	meanwhile->n_blocks--;
	now->lft[5][last] ^= 1;
	before->lft[5][last] ^= 1;
	changes_count(&picture, earlier, 2, 0, &changes);
	ck_assert_uint_eq(changes.blocks, 0);
	before->lft[5][last] ^= 1;
	changes_count(&picture, earlier, 2, 0, &changes);
	ck_assert_uint_eq(changes.blocks, 1);
	routing_unref(now);
	routing_unref(before);
	routing_unref(meanwhile);
	fabric_unref(fabric);
}
END_TEST

/* ---- single things lost and back ---- */

#define ALL_OUTAGES ((1u << OUTAGE_N_KINDS) - 1)

static char *classes_text(const char *spec, unsigned int kinds)
{
	struct fabric *fabric = make_fabric(spec, 0);
	GPtrArray *classes = outage_classes(fabric, kinds);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < classes->len; i++) {
		const struct outage_class *class = classes->pdata[i];

		g_string_append_printf(text, "%s%s: %u", i ? ", " : "", class->name,
				       class->things->len);
	}
	g_ptr_array_unref(classes);
	fabric_unref(fabric);
	return g_string_free(text, FALSE);
}

/* The leaf of the subnet manager cannot be lost. */
START_TEST(test_classes)
{
	static const struct {
		const char *spec;
		unsigned int kinds;
		const char *classes;
	} rows[] = {
		{"fattree:4", ALL_OUTAGES,
		 "link 0-1: 16, link 1-2: 16, switch 1: 8, switch 2: 4, leaf: 7"},
		{"fattree:4", 1 << OUTAGE_SWITCH, "switch 1: 8, switch 2: 4"},
		{"fattree:4", 0, ""},
		{"torus:4x4", ALL_OUTAGES, "link: 32, leaf: 15"},
		{"mesh:2", ALL_OUTAGES, "link: 1, leaf: 1"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = classes_text(rows[i].spec, rows[i].kinds);

		ck_assert_str_eq(text, rows[i].classes);
	}
}
END_TEST

static struct judge_report *judge(const char *spec, const char *engine, uint32_t lose,
				  unsigned int outages)
{
	struct builder *builder = make_builder_of(spec);
	const struct route_input input = {.threads = 1};
	const struct judge_task task = {
		.builder = builder, .input = &input, .effort = QUALITY_EFFORT_DEFAULT,
		.repeats = 2, .lose = lose, .outages = outages, .trials = 4, .seed = 9,
	};
	struct judge_report *report;
	struct fabric *fabric;

	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	report = judge_engine(&task, fabric, route_find(engine));
	fabric_unref(fabric);
	builder_free(builder);
	return report;
}

START_TEST(test_judge)
{
	struct judge_report *one = judge("torus:4x4", "updn", 2, 0), *two;

	ck_assert(one->before.good && one->before.verdict.acyclic);
	ck_assert(!judge_refused(one) && !judge_rejected(one));
	ck_assert_uint_eq(one->trials->len, 4);
	two = judge("torus:4x4", "updn", 2, 0);
	for (unsigned int i = 0; i < 4; i++) {
		const struct judge_trial *a = &g_array_index(one->trials, struct judge_trial, i);
		const struct judge_trial *b = &g_array_index(two->trials, struct judge_trial, i);

		ck_assert_uint_eq(a->lost, 2);
		ck_assert(a->after.good);
		ck_assert_uint_gt(a->changed, 0);
		ck_assert_uint_eq(a->changed, b->changed);
		ck_assert_uint_eq(a->after.quality.most_load, b->after.quality.most_load);
	}
	judge_report_free(two);
	judge_report_free(one);

	one = judge("torus:4x4", "ftree", 2, 0);
	ck_assert(judge_refused(one) && !judge_rejected(one) && one->before.refusal);
	ck_assert_uint_eq(one->trials->len, 0);
	judge_report_free(one);

	/* All three cables gone: two of three hosts are cut off. */
	one = judge("torus:3", "minhop", 3, 0);
	ck_assert_uint_eq(g_array_index(one->trials, struct judge_trial, 0).n_hosts, 2);
	judge_report_free(one);
}
END_TEST

static void check_trial(const struct judge_report *report, const struct outage_report *outage,
			const struct outage_trial *trial)
{
	const struct quality *before = &report->before.quality;
	const struct quality *lost = &trial->lost.after.quality, *back = &trial->back.after.quality;
	bool link = g_str_has_prefix(outage->name, "link");
	uint32_t channels = link ? 2 : 2 * (!strcmp(outage->name, "leaf") ? 2 : 4);

	ck_assert(trial->lost.after.good && trial->back.after.good);
	ck_assert_uint_eq(lost->n_channels, before->n_channels - channels);
	ck_assert_uint_eq(trial->n_hosts, !strcmp(outage->name, "leaf") ? 2 : 0);
	ck_assert_uint_eq(lost->n_hosts, before->n_hosts - trial->n_hosts);
	ck_assert_uint_eq(lost->pairs, lost->routed);
	ck_assert_double_ge(trial->lost.anew, 1);
	ck_assert_double_eq_tol(trial->back.anew, before->load_ratio, 1e-9);
	ck_assert_uint_eq(back->n_channels, before->n_channels);
	ck_assert_uint_eq(back->routed, before->routed);
	ck_assert_uint_eq(trial->lost.changes.own, 0);
	ck_assert(trial->n_hosts || trial->lost.changes.blocks);
	ck_assert_int_eq(trial->lost.after.way, ROUTE_REPAIRED);
	ck_assert_int_eq(trial->back.after.way, ROUTE_REPAIRED);
	ck_assert_uint_eq(trial->back.changes.own, link ? 0 : report->routing->n_blocks);
	ck_assert_ptr_nonnull(strstr(trial->what, link ? ") port " : " (0x"));
	ck_assert(link || !strstr(trial->what, "port"));
}

START_TEST(test_outages)
{
	struct judge_report *report = judge("fattree:4", _i ? "updn" : "minhop", 0, ALL_OUTAGES);
	struct judge_report *again = judge("fattree:4", _i ? "updn" : "minhop", 0, ALL_OUTAGES);

	ck_assert_uint_eq(report->outages->len, 5);
	ck_assert(!judge_refused(report) && !judge_rejected(report));
	for (guint i = 0; i < 5; i++) {
		const struct outage_report *outage = report->outages->pdata[i];
		const struct outage_report *other = again->outages->pdata[i];

		ck_assert_uint_eq(outage->trials->len, 4);
		for (guint k = 0; k < 4; k++) {
			const struct outage_trial *trial =
				&g_array_index(outage->trials, struct outage_trial, k);

			check_trial(report, outage, trial);
			ck_assert_str_eq(
				trial->what,
				g_array_index(other->trials, struct outage_trial, k).what);
			for (guint j = 0; j < k; j++)
				ck_assert_str_ne(trial->what, g_array_index(outage->trials,
									    struct outage_trial,
									    j).what);
		}
	}
	judge_report_free(again);
	judge_report_free(report);
}
END_TEST

/* A cable whose loss cuts the fabric in two: the far host is gone, its switch is not rebooted. */
START_TEST(test_outage_of_a_bridge)
{
	struct judge_report *report = judge("mesh:2", "minhop", 0, 1 << OUTAGE_LINK);
	const struct outage_report *outage = report->outages->pdata[0];
	const struct outage_trial *trial = &g_array_index(outage->trials, struct outage_trial, 0);

	ck_assert_uint_eq(outage->trials->len, 1);
	ck_assert_uint_eq(trial->n_hosts, 1);
	ck_assert_uint_eq(trial->lost.after.quality.pairs, 0);
	ck_assert_uint_eq(trial->back.after.quality.routed, 2);
	ck_assert_uint_eq(trial->back.changes.own, 0);
	judge_report_free(report);
}
END_TEST

/* ---- costs and drawings ---- */

START_TEST(test_memory_is_seen)
{
	const size_t size = 64 << 20;
	struct cost_meter meter;
	struct cost cost;
	volatile char *memory;

	for (unsigned int round = 0; round < 2; round++) {
		cost_begin(&meter, 1);
		memory = g_malloc(size);
		for (size_t i = 0; i < size; i += 1024)
			memory[i] = 1;
		g_free((char *)memory);
		cost_end(&meter, &cost);
		ck_assert_int_ge(cost.memory, 60 << 20);
		ck_assert_double_gt(cost.seconds, 0);
	}
}
END_TEST

START_TEST(test_names_are_quoted)
{
	struct builder *builder = make_builder_of("torus:3");
	g_autofree char *text = NULL;
	struct routing *routing;
	struct fabric *fabric;

	strcpy((char *)builder->sm_port->node->description.node_string, "a\"];\\\nb\xFF");
	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	routing = compute(fabric, "minhop");
	text = draw_fabric(fabric, routing);
	ck_assert_ptr_nonnull(strstr(text, "label=\"a\\\"];\\\\ b\xEF\xBF\xBD\"]"));
	ck_assert(g_utf8_validate(text, -1, NULL));
	g_free(text);
	strcpy((char *)builder->sm_port->node->description.node_string,
	       "<a&\"'\n\x1B\xFF\xEF\xBF\xBF");
	fabric_unref(fabric);
	fabric = builder_freeze(builder);
	text = picture_of_fabric(fabric, routing);
	ck_assert_ptr_nonnull(
		strstr(text, "<title>&lt;a&amp;&quot;&apos;  \xEF\xBF\xBD </title>"));
	routing_unref(routing);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/* Of "#rrggbb", as a share of the sRGB maximum. */
static double octet(const char *colour, unsigned int i)
{
	char text[3] = {colour[1 + 2 * i], colour[2 + 2 * i], 0};

	return pow((double)strtoul(text, NULL, 16) / 255, 2.2);
}

/*
 * Busier is darker; and people without the cones for red (0) or for green (1) also see idle, mean
 * and busy apart by hue (the simulation of Vienot, Brettel and Mollon): blue is left over yellow.
 */
START_TEST(test_shades)
{
	static const double yellow_of[][2] = {{0.1121, 0.8853}, {0.2928, 0.7075}};
	double darker = 1, hue[3];

	for (unsigned int i = 0; i <= 20; i++) {
		double yellow, light;
		char colour[8];

		shade_colour(i / 20.0, colour);
		yellow = yellow_of[_i][0] * octet(colour, 0) + yellow_of[_i][1] * octet(colour, 1);
		light = 0.9 * yellow + 0.1 * octet(colour, 2);
		ck_assert_double_lt(light, darker);
		darker = light;
		if (i % 10 == 0)
			hue[i / 10] = octet(colour, 2) / (yellow + octet(colour, 2));
	}
	ck_assert_double_gt(hue[1], hue[0] + 0.1);
	ck_assert_double_lt(hue[2], hue[0] - 0.1);
}
END_TEST

START_TEST(test_parts_of_loads)
{
	struct shade shade = {.most = 30, .mean = 10, .top = 30};

	ck_assert_double_eq(shade_part(&shade, 0), 0);
	ck_assert_double_eq(shade_part(&shade, 10), 0.5);
	ck_assert_double_eq(shade_part(&shade, 20), 0.75);
	ck_assert_double_eq(shade_part(&shade, 30), 1);
	shade = (struct shade){0};
	ck_assert_double_eq(shade_part(&shade, 0), 0);
}
END_TEST

/* Groups are found by their cables alone: those that the names of switches tell, or none. */
static const struct {
	const char *spec;
	uint32_t groups;
} grouped[] = {
	{"dragonfly:4:2:2", 9},	 {"dragonfly:6:3:3", 19}, {"dragonfly:8:4:4", 33},
	{"megafly:4:4:4:4", 17}, {"slimfly:5", 1},	  {"random:60:6:2:3", 1},
};

START_TEST(test_groups)
{
	struct fabric *fabric = make_fabric(grouped[_i].spec, 0);
	struct clusters clusters;
	struct ranks ranks;

	ranks_init(&ranks, fabric);
	clusters_init(&clusters, fabric, &ranks);
	ck_assert_uint_eq(clusters.n, grouped[_i].groups);
	for (uint32_t i = 1; i < fabric->n_switches; i++) {
		uint32_t here = clusters.order[i], before = clusters.order[i - 1];
		const char *name = fabric->nodes[fabric->switches[here].node].description;
		const char *other = fabric->nodes[fabric->switches[before].node].description;
		bool together = atoi(strchr(name, '-') + 1) == atoi(strchr(other, '-') + 1);

		if (clusters.n == 1)
			ck_assert_uint_eq(here, i);
		else
			ck_assert_int_eq(together, clusters.of[here] == clusters.of[before]);
	}
	clusters_clear(&clusters);
	ranks_clear(&ranks);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("osmroute");
	TCase *tcase = tcase_create("osmroute");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_figures);
	tcase_add_test(tcase, test_known_figures);
	tcase_add_test(tcase, test_nue_on_one_lane);
	tcase_add_test(tcase, test_broken_tables);
	tcase_add_test(tcase, test_losses);
	tcase_add_test(tcase, test_changed_blocks);
	tcase_add_test(tcase, test_blocks_beyond_the_end);
	tcase_add_test(tcase, test_classes);
	tcase_add_test(tcase, test_judge);
	tcase_add_loop_test(tcase, test_outages, 0, 2);
	tcase_add_test(tcase, test_outage_of_a_bridge);
	tcase_add_test(tcase, test_memory_is_seen);
	tcase_add_test(tcase, test_names_are_quoted);
	tcase_add_loop_test(tcase, test_shades, 0, 2);
	tcase_add_test(tcase, test_parts_of_loads);
	tcase_add_loop_test(tcase, test_groups, 0, G_N_ELEMENTS(grouped));
	suite_add_tcase(suite, tcase);
	return suite;
}
