// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The incremental cycle checker beside a slow one, which keeps all steps in a matrix and searches
 * it from the beginning each time: equal answers, on random networks, with sets of steps that are
 * added together or not at all.
 */
#include <check.h>
#include <string.h>

#include "route/layers/acyclic.h"
#include "tests/run_suite.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 150
#define CHANNELS_MAX 300
#define STEPS_MAX 5

struct trial {
	uint64_t seed, *state;
	const struct route_channels *channels;
	struct acyclic *acyclic;
	bool *has; /* [from * n + to] */
	unsigned int added, refused;
};

/* Whether the second can be reached from the first. */
static bool reaches(const struct trial *trial, uint32_t from, uint32_t to)
{
	uint32_t n = trial->channels->n, tail = 0;
	g_autofree uint32_t *queue = g_new(uint32_t, n + 1);
	g_autofree bool *met = g_new0(bool, n + 1);

	queue[tail++] = from;
	for (uint32_t head = 0; head < tail; head++) {
		for (uint32_t c = 0; c < n; c++) {
			if (met[c] || !trial->has[(size_t)queue[head] * n + c])
				continue;
			met[c] = true;
			queue[tail++] = c;
		}
	}
	return met[to];
}

static bool add_slowly(struct trial *trial, const struct acyclic_step *steps, uint32_t n_steps)
{
	size_t n = trial->channels->n;
	g_autofree bool *before = g_memdup2(trial->has, n * n * sizeof(bool));

	for (uint32_t i = 0; i < n_steps; i++) {
		trial->has[steps[i].from * n + steps[i].to] = true;
		if (!reaches(trial, steps[i].to, steps[i].from))
			continue;
		memcpy(trial->has, before, n * n * sizeof(bool));
		return false;
	}
	return true;
}

/* A walk over the network; it may turn back. */
static uint32_t some_steps(struct trial *trial, struct acyclic_step *steps)
{
	const struct route_channels *channels = trial->channels;
	uint32_t n = make_number(trial->state, STEPS_MAX + 1);
	uint32_t from = make_number(trial->state, channels->n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = channels->to[from];
		uint32_t degree = channels->first[sw + 1] - channels->first[sw];

		steps[i].from = from;
		steps[i].to = channels->first[sw] + make_number(trial->state, degree);
		from = steps[i].to;
	}
	return n;
}

static void expect_same(const struct trial *trial)
{
	const struct route_channels *channels = trial->channels;

	for (uint32_t c = 0; c < channels->n; c++) {
		uint32_t sw = channels->to[c];

		for (uint32_t k = channels->first[sw]; k < channels->first[sw + 1]; k++) {
			struct acyclic_step step = {c, k};

			if (acyclic_has(trial->acyclic, step) !=
			    trial->has[(size_t)c * channels->n + k])
				ck_abort_msg("seed %u: step %u %u", (unsigned int)trial->seed, c,
					     k);
		}
	}
}

/* All steps noted at once: the answer of the sort, too, is that of the slow one. */
static void try_sort(struct trial *trial, unsigned int rounds)
{
	struct acyclic *all = acyclic_new(trial->channels);
	size_t n = trial->channels->n;
	bool free = true;

	memset(trial->has, 0, n * n * sizeof(bool));
	for (unsigned int i = 0; i < rounds; i++) {
		struct acyclic_step steps[STEPS_MAX];
		uint32_t n_steps = some_steps(trial, steps);

		for (uint32_t k = 0; k < n_steps; k++) {
			acyclic_note(all, steps[k]);
			trial->has[steps[k].from * n + steps[k].to] = true;
		}
	}
	for (uint32_t c = 0; c < n; c++)
		free &= !reaches(trial, c, c);
	ck_assert_msg(acyclic_sort(all) == free, "seed %u: sorted", (unsigned int)trial->seed);
	acyclic_free(all);
}

static void try_channels(struct trial *trial)
{
	size_t n = trial->channels->n;

	trial->acyclic = acyclic_new(trial->channels);
	trial->has = g_new0(bool, n *n + 1);
	for (unsigned int i = 0; i < 2 * n; i++) {
		struct acyclic_step steps[STEPS_MAX];
		uint32_t n_steps = some_steps(trial, steps);
		bool fast = acyclic_add(trial->acyclic, steps, n_steps);

		ck_assert_msg(fast == add_slowly(trial, steps, n_steps), "seed %u: %u steps, %d",
			      (unsigned int)trial->seed, n_steps, fast);
		trial->added += fast;
		trial->refused += !fast;
	}
	expect_same(trial);
	try_sort(trial, 1 + make_number(trial->state, n));
	acyclic_free(trial->acyclic);
	g_free(trial->has);
}

START_TEST(the_same_as_a_slow_one)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	unsigned int added = 0, refused = 0;

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		struct trial trial = {.seed = seed};
		struct shape shape;
		struct fabric *fabric;
		struct route_graph *graph;
		struct route_channels *channels;

		shape_random(&shape, seed);
		fabric = builder_freeze(shape.builder);
		graph = route_graph_new(fabric);
		channels = route_channels_new(graph, fabric);
		trial.channels = channels;
		trial.state = &shape.state;
		if (channels->n && channels->n <= CHANNELS_MAX)
			try_channels(&trial);
		added += trial.added;
		refused += trial.refused;
		route_channels_free(channels);
		route_graph_free(graph);
		fabric_unref(fabric);
		shape_clear(&shape);
	}
	ck_assert_uint_gt(added, (seeds.last - seeds.first) / 2);
	ck_assert(seeds.last - seeds.first < SEEDS / 2 || refused > SEEDS);
}
END_TEST

/* Cables in parallel may be crossed: the other direction of one is where its other end is. */
START_TEST(back_by_the_same_cable)
{
	uint64_t state = 1 + _i;
	struct builder *builder = make_builder_of("xgft:2,3:1,2:1,3");
	struct fabric *fabric;
	struct route_graph *graph;
	struct route_channels *channels;

	make_shuffled_ports(builder, &state);
	fabric = builder_freeze(builder);
	graph = route_graph_new(fabric);
	channels = route_channels_new(graph, fabric);
	ck_assert(graph->parallel);
	for (uint32_t c = 0; c < channels->n; c++) {
		uint32_t back = channels->back[c];
		uint32_t there = fabric_switch_port(fabric, channels->from[c], graph->links[c]);
		uint32_t here = fabric_switch_port(fabric, channels->to[c], graph->links[back]);

		ck_assert_uint_eq(channels->from[back], channels->to[c]);
		ck_assert_uint_eq(fabric->ports[there].peer, here);
	}
	route_channels_free(channels);
	route_graph_free(graph);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

TEST_SUITE
{
	TCase *tcase = tcase_create("acyclic");
	Suite *suite = suite_create("route_acyclic");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, the_same_as_a_slow_one);
	tcase_add_loop_test(tcase, back_by_the_same_cable, 0, 10);
	suite_add_tcase(suite, tcase);
	return suite;
}
