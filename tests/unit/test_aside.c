// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Work aside that ends in time, late, or goes on after the end of its owner. */
#include <check.h>
#include <complib/aside.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tests/run_suite.h"

#define LONG_NS (20 * NS_PER_S)
#define SHORT_NS (10 * NS_PER_MS)

struct piece {
	struct aside_job job; /* first */
	pthread_mutex_t gate; /* work waits for it */
	atomic_uint worked, done, dropped;
	pthread_t done_on;
	GMainLoop *loop;
};

static void work(struct aside_job *job)
{
	struct piece *piece = (struct piece *)job;

	pthread_mutex_lock(&piece->gate);
	pthread_mutex_unlock(&piece->gate);
	piece->worked++;
}

static void done(struct aside_job *job)
{
	struct piece *piece = (struct piece *)job;

	piece->done++;
	piece->done_on = pthread_self();
	if (piece->loop)
		g_main_loop_quit(piece->loop);
}

static void drop(struct aside_job *job)
{
	((struct piece *)job)->dropped++;
}

static void piece_init(struct piece *piece)
{
	*piece = (struct piece){.job = {.work = work, .done = done, .drop = drop}};
	pthread_mutex_init(&piece->gate, NULL);
}

START_TEST(test_in_time)
{
	struct runtime *rt = runtime_new(_i ? RUNTIME_VIRTUAL : RUNTIME_REAL);
	struct actor *owner = actor_new(rt, "owner");
	struct aside *aside = aside_new(owner);
	struct piece piece;

	piece_init(&piece);
	ck_assert(aside_run(aside, &piece.job, LONG_NS));
	ck_assert_uint_eq(piece.worked, 1);
	ck_assert_uint_eq(piece.done, 1);
	ck_assert(pthread_equal(piece.done_on, pthread_self()));
	ck_assert_uint_eq(aside_late(aside), 0);
	aside_free(aside);
	actor_free(owner);
	runtime_free(rt);
}
END_TEST

START_TEST(test_late)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *owner = actor_new(rt, "owner");
	struct aside *aside = aside_new(owner);
	struct piece piece, other;

	piece_init(&piece);
	piece_init(&other);
	piece.loop = g_main_loop_new(NULL, FALSE);
	actor_attach(owner, NULL);
	pthread_mutex_lock(&piece.gate);
	ck_assert(!aside_run(aside, &piece.job, SHORT_NS));
	ck_assert_uint_eq(aside_late(aside), 1);
	ck_assert(aside_run(aside, &other.job, LONG_NS)); /* one does not hold up the next */
	ck_assert_uint_eq(piece.done, 0);
	pthread_mutex_unlock(&piece.gate);
	g_main_loop_run(piece.loop);
	ck_assert_uint_eq(piece.done, 1);
	ck_assert(pthread_equal(piece.done_on, pthread_self()));
	ck_assert_uint_eq(aside_late(aside), 0);
	ck_assert_uint_eq(piece.dropped + other.dropped, 0);
	aside_free(aside);
	actor_stop(owner);
	actor_free(owner);
	runtime_free(rt);
	g_main_loop_unref(piece.loop);
}
END_TEST

/* The owner does not wait for it to end; and messages it had posted are dropped. */
START_TEST(test_owner_ends)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *owner = actor_new(rt, "owner");
	struct aside *aside = aside_new(owner);
	struct piece piece;

	piece_init(&piece);
	actor_attach(owner, NULL);
	pthread_mutex_lock(&piece.gate);
	ck_assert(!aside_run(aside, &piece.job, SHORT_NS));
	if (_i) {
		pthread_mutex_unlock(&piece.gate);
		while (!piece.worked)
			g_usleep(1000);
		g_usleep(20 * 1000);
	}
	aside_free(aside);
	actor_stop(owner);
	actor_free(owner);
	runtime_free(rt);
	if (!_i)
		pthread_mutex_unlock(&piece.gate);
	while (!piece.dropped)
		g_usleep(1000);
	ck_assert_uint_eq(piece.worked, 1);
	ck_assert_uint_eq(piece.done, 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("aside");
	TCase *tcase = tcase_create("aside");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_in_time, 0, 2);
	tcase_add_test(tcase, test_late);
	tcase_add_loop_test(tcase, test_owner_ends, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}
