// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Loops, members in lockstep, pipelines and batches, with any number of threads. */
#include "tests/run_suite.h"

#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "route/fill/batches.h"
#include "route/graph/parallel.h"

#define THREADS 8

/* ---- a loop ---- */

static void count_each(void *arg, uint32_t first, uint32_t last)
{
	atomic_uint *counts = arg;

	for (uint32_t i = first; i < last; i++)
		atomic_fetch_add(&counts[i], 1);
}

START_TEST(test_loop)
{
	static const uint32_t sizes[] = {0, 1, 2, 7, 31, 64, 1000};
	atomic_uint counts[1001];

	for (unsigned int threads = 0; threads <= THREADS; threads++)
		for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
			memset(counts, 0, sizeof(counts));
			route_parallel(threads, sizes[s], count_each, counts);
			for (uint32_t i = 0; i < G_N_ELEMENTS(counts); i++)
				ck_assert_uint_eq(atomic_load(&counts[i]), i < sizes[s]);
		}
}
END_TEST

/* ---- lockstep ---- */

#define ROUNDS 200

struct march {
	atomic_uint done[ROUNDS]; /* members that have ended a round */
	atomic_uint members, early; /* early: ends of rounds before all had ended them */
};

/* A member is late in some rounds, long after the others sleep. */
static void march(void *arg, struct route_team *team, unsigned int i, unsigned int n)
{
	struct march *together = arg;

	atomic_fetch_add(&together->members, 1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		if (round % (10 * n) == i)
			g_usleep(500);
		atomic_fetch_add(&together->done[round], 1);
		route_team_meet(team);
		if (atomic_load(&together->done[round]) != n)
			atomic_fetch_add(&together->early, 1);
	}
}

START_TEST(test_lockstep)
{
	for (unsigned int threads = 1; threads <= THREADS; threads++) {
		struct march together = {0};

		route_team_run(threads, march, &together);
		ck_assert_uint_eq(atomic_load(&together.members), threads);
		ck_assert_uint_eq(atomic_load(&together.early), 0);
	}
}
END_TEST

/* ---- a pipeline ---- */

#define DEPTH 4

struct line {
	uint32_t slots[DEPTH]; /* the item prepared there; UINT32_MAX: free */
	uint32_t taken, end;   /* end: stops after as many */
	atomic_uint prepared, overwritten;
	unsigned int wrong; /* items taken that were not prepared */
};

/* Now and then all others have to wait. */
static void prepare(void *arg, uint32_t item, uint32_t slot)
{
	struct line *line = arg;

	if (line->slots[slot] != UINT32_MAX)
		atomic_fetch_add(&line->overwritten, 1);
	line->slots[slot] = item;
	if (item % 31 == 0)
		g_usleep(200);
	atomic_fetch_add(&line->prepared, 1);
}

static bool take(void *arg, uint32_t item, uint32_t slot)
{
	struct line *line = arg;

	line->wrong += item != line->taken || line->slots[slot] != item;
	line->slots[slot] = UINT32_MAX;
	if (item % 37 == 0)
		g_usleep(200);
	return ++line->taken != line->end;
}

static void run_line(unsigned int threads, uint32_t n, uint32_t depth, uint32_t end)
{
	struct line line = {.end = end};
	const struct route_pipeline work = {prepare, take, &line};

	memset(line.slots, 0xFF, sizeof(line.slots));
	route_pipeline_run(threads, n, depth, &work);
	ck_assert_uint_eq(line.taken, MIN(n, end));
	ck_assert_uint_eq(line.wrong, 0);
	ck_assert_uint_eq(line.overwritten, 0);
	ck_assert_uint_ge(line.prepared, line.taken);
	ck_assert_uint_le(line.prepared, line.taken + (threads > 1 && depth > 1 ? depth : 0));
}

START_TEST(test_pipeline)
{
	static const uint32_t sizes[] = {0, 1, 2, 5, 300};

	for (unsigned int threads = 1; threads <= THREADS; threads++)
		for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
			for (uint32_t depth = 1; depth <= DEPTH; depth++) {
				run_line(threads, sizes[s], depth, UINT32_MAX);
				run_line(threads, sizes[s], depth, sizes[s] / 2 + 1);
			}
}
END_TEST

/* ---- batches ---- */

#define SWITCHES 100
#define CHANNELS 37

struct worker {
	uint64_t *seen; /* [switch]: what it saw of all loads, as a hash */
};

/* Loads the channel that carries least, and takes half from the one that carries most. */
static void route(void *arg, uint32_t sw, uint64_t *load)
{
	const struct worker *worker = arg;
	uint32_t least = sw % CHANNELS, most = least;
	uint64_t hash = sw;

	for (uint32_t c = 0; c < CHANNELS; c++) {
		hash = hash * UINT64_C(0x9e3779b97f4a7c15) + load[c];
		least = load[c] < load[least] ? c : least;
		most = load[c] > load[most] ? c : most;
	}
	worker->seen[sw] = hash;
	load[most] -= load[most] / 2;
	load[least] += sw % 7 + 1;
}

static void run_batches(uint32_t size, unsigned int threads, uint64_t load[CHANNELS],
			uint64_t seen[SWITCHES])
{
	struct worker worker = {seen};
	void *workers[THREADS];

	for (unsigned int i = 0; i < THREADS; i++)
		workers[i] = &worker;
	for (uint32_t c = 0; c < CHANNELS; c++)
		load[c] = c * c % 11;
	memset(seen, 0, SWITCHES * sizeof(*seen));
	route_batches(SWITCHES, size, load, CHANNELS, route, workers, threads);
}

START_TEST(test_batches)
{
	static const uint32_t sizes[] = {1, 2, 3, 8, 64, SWITCHES, 2 * SWITCHES};
	uint64_t load[CHANNELS], seen[SWITCHES], alone[CHANNELS], saw[SWITCHES];

	for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
		run_batches(sizes[s], 1, alone, saw);
		for (uint32_t sw = 0; sw < SWITCHES; sw++)
			ck_assert_uint_ne(saw[sw], 0);
		for (unsigned int threads = 2; threads <= THREADS; threads++) {
			run_batches(sizes[s], threads, load, seen);
			ck_assert_mem_eq(load, alone, sizeof(load));
			ck_assert_mem_eq(seen, saw, sizeof(seen));
		}
	}
}
END_TEST

/* Switches of a batch see nothing of each other, those of the next batch everything. */
START_TEST(test_batches_apart)
{
	uint64_t load[CHANNELS], seen[SWITCHES], one[CHANNELS];

	for (uint32_t c = 0; c < CHANNELS; c++)
		load[c] = c * c % 11;
	run_batches(SWITCHES, 3, one, seen);
	for (uint32_t sw = 0; sw < SWITCHES; sw++) {
		uint64_t before[CHANNELS], mine[SWITCHES] = {0};
		struct worker worker = {mine};

		memcpy(before, load, sizeof(load));
		route(&worker, sw, before);
		ck_assert_uint_eq(mine[sw], seen[sw]);
	}
	run_batches(1, 3, one, seen);
	for (uint32_t sw = 0; sw < SWITCHES; sw++) {
		uint64_t mine[SWITCHES] = {0};
		struct worker worker = {mine};

		route(&worker, sw, load);
		ck_assert_uint_eq(mine[sw], seen[sw]);
	}
	ck_assert_mem_eq(load, one, sizeof(load));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_threads");
	TCase *tcase = tcase_create("threads");

	tcase_add_test(tcase, test_loop);
	tcase_add_test(tcase, test_lockstep);
	tcase_add_test(tcase, test_pipeline);
	tcase_add_test(tcase, test_batches);
	tcase_add_test(tcase, test_batches_apart);
	suite_add_tcase(suite, tcase);
	return suite;
}
