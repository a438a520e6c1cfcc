// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Pools of threads for pure work. */
#include <check.h>
#include <stdatomic.h>

#include "complib/actor.h"
#include "gate.h"
#include "tests/run_suite.h"

#define MESSAGES 20000

/* How many messages were run. */
struct tally {
	atomic_uint run;
};

struct tallied {
	struct message msg;
	struct tally *tally;
};

static void tallied_run(struct message *msg)
{
	atomic_fetch_add(&((struct tallied *)msg)->tally->run, 1);
	g_free(msg);
}

static struct tallied *tallied_new(struct tally *tally)
{
	struct tallied *tallied = g_new0(struct tallied, 1);

	tallied->msg.run = tallied_run;
	tallied->tally = tally;
	return tallied;
}

START_TEST(test_pool_runs_all)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct pool *pool = pool_new(rt, "pool", 3);
	struct tally tally = {0};

	for (unsigned int i = 0; i < MESSAGES; i++)
		pool_post(pool, &tallied_new(&tally)->msg);
	pool_free(pool);
	ck_assert_uint_eq(atomic_load(&tally.run), MESSAGES);
	runtime_free(rt);

	rt = runtime_new(RUNTIME_VIRTUAL);
	pool = pool_new(rt, "pool", 3);
	pool_post(pool, &tallied_new(&tally)->msg);
	pool_free(pool);
	ck_assert_uint_eq(atomic_load(&tally.run), MESSAGES + 1);
	runtime_free(rt);
}
END_TEST

struct long_work {
	struct message msg; /* first */
	struct gate began, may_end;
};

static void long_work_run(struct message *msg)
{
	struct long_work *work = (struct long_work *)msg;

	gate_open(&work->began);
	ck_assert(gate_wait(&work->may_end, 1));
}

/* A long job is reported with its time so far; and when it is over. */
START_TEST(test_pool_busy)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct pool *pool = pool_new_background(rt, "pool", 1);
	struct long_work work = {.msg.run = long_work_run};
	uint64_t first;

	gate_init(&work.began);
	gate_init(&work.may_end);
	ck_assert_uint_eq(pool_busy_ns(pool), 0);
	pool_post(pool, &work.msg);
	ck_assert(gate_wait(&work.began, 1));
	first = pool_busy_ns(pool);
	g_usleep(20000);
	ck_assert_uint_ge(pool_busy_ns(pool), first + 20 * NS_PER_MS);
	gate_open(&work.may_end);
	for (unsigned int i = 0; i < 10000 && pool_busy_ns(pool); i++)
		g_usleep(1000);
	ck_assert_uint_eq(pool_busy_ns(pool), 0);
	pool_free(pool);
	runtime_free(rt);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("pool");
	TCase *tcase = tcase_create("pool");

	tcase_set_timeout(tcase, 2 * GATE_LIMIT_S);
	tcase_add_test(tcase, test_pool_runs_all);
	tcase_add_test(tcase, test_pool_busy);
	suite_add_tcase(suite, tcase);
	return suite;
}
