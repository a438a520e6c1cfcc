// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Turns at a pool, simulated by the test: sources get equal time, whatever their queries cost. */
#include <check.h>
#include <glib.h>

#include "sa/admit/turns.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define THREADS 2
#define MS UINT64_C(1000000)

struct job {
	struct sa_turn turn; /* first */
	unsigned int source, number;
	uint64_t cost, came, began;
};

static struct sa_turns *turns;
static GQueue pool; /* handed out, not begun */
static struct job *running[THREADS];
static uint64_t ends[THREADS], now;
static unsigned int next_of[64], dropped;
static uint64_t served[64], longest_wait[64]; /* of each source */

static void run(void *arg, struct sa_turn *turn)
{
	ck_assert_ptr_eq(arg, &pool);
	g_queue_push_tail(&pool, turn);
}

static void drop(struct sa_turn *turn)
{
	dropped++;
	g_free(turn);
}

static void setup(void)
{
	turns = sa_turns_new(THREADS, run, &pool);
	g_queue_init(&pool);
	now = 0;
	dropped = 0;
	for (unsigned int i = 0; i < 64; i++)
		next_of[i] = 0, served[i] = longest_wait[i] = 0;
}

static void teardown(void)
{
	sa_turns_free(turns, drop);
}

static void add(unsigned int source, unsigned int number, uint64_t cost)
{
	struct job *job = g_new0(struct job, 1);

	job->source = source;
	job->number = number;
	job->cost = cost;
	job->came = now;
	job->turn.next = &job->turn; /* whatever it was before */
	sa_turns_add(turns, &job->turn, (uint16_t)(source + 1));
}

static void begin_some(void)
{
	for (unsigned int i = 0; i < THREADS; i++) {
		struct job *job = running[i] ? NULL : g_queue_pop_head(&pool);

		if (!job)
			continue;
		ck_assert_uint_eq(job->number, next_of[job->source]++); /* in their order */
		longest_wait[job->source] = MAX(longest_wait[job->source], now - job->came);
		running[i] = job;
		ends[i] = now + job->cost;
	}
}

/* Runs to the end of the first running query; false: there is none. */
static bool step(unsigned int *source)
{
	unsigned int first = THREADS;
	struct job *job;

	begin_some();
	for (unsigned int i = 0; i < THREADS; i++)
		if (running[i] && (first == THREADS || ends[i] < ends[first]))
			first = i;
	if (first == THREADS)
		return false;
	job = running[first];
	running[first] = NULL;
	now = ends[first];
	*source = job->source;
	served[job->source] += job->cost;
	sa_turns_done(turns, &job->turn, job->cost);
	g_free(job);
	return true;
}

/* One sends expensive queries without pause, one cheap ones: both get half of the time. */
START_TEST(equal_time)
{
	unsigned int source, added[2] = {0};
	const uint64_t cost[2] = {10 * MS, MS / 20};

	for (unsigned int i = 0; i < 100; i++)
		for (unsigned int k = 0; k < 2; k++)
			add(k, added[k]++, cost[k]);
	while (now < 2000 * MS && step(&source))
		add(source, added[source]++, cost[source]);
	ck_assert_uint_gt(served[0], 1900 * MS);
	ck_assert_uint_lt(served[0], 2100 * MS);
	ck_assert_uint_gt(served[1], 1900 * MS);
	while (step(&source))
		;
	ck_assert_uint_eq(sa_turns_waiting(turns), 0);
}
END_TEST

/* Many flood; one with rare queries waits for what runs, not for them. */
START_TEST(victim)
{
	unsigned int source, added[64] = {0};
	uint64_t ask = 0;

	for (unsigned int i = 1; i < 64; i++)
		while (added[i] < 50)
			add(i, added[i]++, 2 * MS);
	while (now < 1200 * MS) {
		if (now < 200 * MS) /* nothing is known of any source */
			longest_wait[0] = 0;
		if (now >= ask) {
			add(0, added[0]++, MS / 100);
			ask = now + 20 * MS;
		}
		if (step(&source) && source)
			add(source, added[source]++, 2 * MS);
	}
	ck_assert_uint_ge(next_of[0], 50);
	ck_assert_uint_le(longest_wait[0], 3 * 2 * MS);
	while (step(&source))
		;
}
END_TEST

/* A source that comes back has no claim to the time without queries. */
START_TEST(no_credit)
{
	unsigned int source, added[2] = {0};

	add(0, added[0]++, MS);
	while (step(&source))
		;
	for (unsigned int i = 0; i < 1000; i++)
		add(1, added[1]++, MS);
	for (unsigned int i = 0; i < 500; i++)
		step(&source);
	for (unsigned int i = 0; i < 100; i++)
		add(0, added[0]++, MS);
	served[0] = served[1] = 0;
	for (unsigned int i = 0; i < 100; i++)
		step(&source);
	ck_assert_uint_ge(served[1], 44 * MS);
	ck_assert_uint_ge(served[0], 44 * MS);
	while (step(&source))
		;
}
END_TEST

/* Any queries of any sources: each runs once, in its order; sources that always have some
 * waiting get equal time, except for the most expensive query and what runs. */
START_TEST(by_chance)
{
	uint64_t seed = 1 + (uint64_t)_i;
	unsigned int n = 2 + make_number(&seed, 30), added[64] = {0}, source;
	uint64_t most = 1 + make_number(&seed, 5000000), low = UINT64_MAX, high = 0;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < 400; k++)
			add(i, added[i]++, 1 + make_number(&seed, (uint32_t)most));
	for (unsigned int k = 0; k < 100 * n; k++)
		ck_assert(step(&source));
	for (unsigned int i = 0; i < n; i++) {
		low = MIN(low, served[i]);
		high = MAX(high, served[i]);
	}
	if (sa_turns_waiting(turns) > 200 * n) /* all have some */
		ck_assert_uint_le(high - low, 8 * most + MS);
	while (step(&source))
		;
	for (unsigned int i = 0; i < n; i++)
		ck_assert_uint_eq(next_of[i], added[i]);
}
END_TEST

/* The last query of the source with most is refused; the others stay in their order. */
START_TEST(refused)
{
	unsigned int source, added[3] = {0}, left;
	struct job *job;

	ck_assert_ptr_null(sa_turns_refuse(turns));
	for (unsigned int i = 0; i < 100; i++)
		add(1, added[1]++, MS);
	left = sa_turns_waiting(turns);
	ck_assert_uint_eq(left, 100 - g_queue_get_length(&pool));
	add(2, added[2]++, MS);
	job = (struct job *)sa_turns_refuse(turns);
	ck_assert_uint_eq(job->source, 1);
	ck_assert_uint_eq(job->number, 99);
	g_free(job);
	add(1, 99, MS);
	while (step(&source))
		;
	ck_assert_uint_eq(next_of[1], 100);
	ck_assert_uint_eq(next_of[2], 1);
	for (unsigned int i = 0; i < 100; i++)
		add(0, added[0]++, MS);
	while ((job = (struct job *)sa_turns_refuse(turns)))
		g_free(job);
	ck_assert_uint_eq(sa_turns_waiting(turns), 0);
	while (step(&source))
		;
}
END_TEST

/* A source whose waiting queries were refused, some or all, tries again and is served. */
START_TEST(refused_and_again)
{
	unsigned int source, out, keeps = (unsigned int)_i;

	for (unsigned int i = 0; i < 20; i++)
		add(1, i, MS);
	out = g_queue_get_length(&pool);
	for (unsigned int last = 19; sa_turns_waiting(turns) > keeps; last--) {
		struct job *job = (struct job *)sa_turns_refuse(turns);

		ck_assert_uint_eq(job->number, last);
		g_free(job);
	}
	for (unsigned int i = out + keeps; i < 40; i++)
		add(1, i, MS);
	while (step(&source))
		;
	ck_assert_uint_eq(next_of[1], 40);
	add(1, 40, MS);
	ck_assert(step(&source));
}
END_TEST

/* A source owes all the time that it took beyond its share, though others came meanwhile. */
START_TEST(debts)
{
	unsigned int source, added[2] = {0};

	add(0, added[0]++, 100 * MS);
	while (step(&source))
		;
	while (added[1] < 200)
		add(1, added[1]++, MS);
	while (added[0] < 200)
		add(0, added[0]++, MS);
	served[0] = served[1] = 0;
	for (unsigned int i = 0; i < 100; i++)
		step(&source);
	ck_assert_uint_ge(served[1], 98 * MS);
	while (step(&source))
		;
}
END_TEST

/* There are always enough cheap queries at the pool, but few expensive ones. */
START_TEST(ahead)
{
	unsigned int source, number = 0;

	while (number < 200) {
		add(0, number++, MS / 20);
		step(&source);
	}
	while (step(&source))
		;
	while (number < 300)
		add(0, number++, MS / 20);
	ck_assert_uint_ge(g_queue_get_length(&pool), 15);
	ck_assert_uint_le(g_queue_get_length(&pool), 30);
	while (step(&source))
		;
}
END_TEST

#define SOURCES 9000 /* more than the limit on remembered sources that only owe */

/* However many sources wait, none is lost. */
START_TEST(many_sources)
{
	unsigned int done = 0;

	for (unsigned int lid = 1; lid <= SOURCES; lid++) {
		struct job *job = g_new0(struct job, 1);

		sa_turns_add(turns, &job->turn, (uint16_t)lid);
	}
	for (struct sa_turn *turn; (turn = g_queue_pop_head(&pool)); done++) {
		sa_turns_done(turns, turn, MS);
		g_free(turn);
	}
	ck_assert_uint_eq(done, SOURCES);
	ck_assert_uint_eq(sa_turns_waiting(turns), 0);
}
END_TEST

/* Queries that wait at the end are returned. */
START_TEST(given_back)
{
	unsigned int source, waiting;

	for (unsigned int i = 0; i < 90; i++)
		add(i % 3, i / 3, MS);
	while (next_of[0] < 5)
		step(&source);
	waiting = sa_turns_waiting(turns);
	ck_assert_uint_gt(waiting, 0);
	for (unsigned int i = 0; i < THREADS; i++)
		g_clear_pointer(&running[i], g_free);
	g_queue_clear_full(&pool, g_free);
	sa_turns_free(turns, drop);
	ck_assert_uint_eq(dropped, waiting);
	turns = sa_turns_new(THREADS, run, &pool);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_turns");
	TCase *tcase = tcase_create("sa_turns");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, equal_time);
	tcase_add_test(tcase, victim);
	tcase_add_test(tcase, no_credit);
	tcase_add_loop_test(tcase, by_chance, 0, 100);
	tcase_add_test(tcase, refused);
	tcase_add_loop_test(tcase, refused_and_again, 0, 3);
	tcase_add_test(tcase, debts);
	tcase_add_test(tcase, ahead);
	tcase_add_test(tcase, many_sources);
	tcase_add_test(tcase, given_back);
	suite_add_tcase(suite, tcase);
	return suite;
}
