// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Visits: a thread runs the turn of an actor whose own thread sleeps. What cannot be seen from
 * outside, that a thread sleeps, the test asks by beginning a visit until that succeeds.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>

#include <complib/actor.h>

#include "gate.h"
#include "tests/run_suite.h"

#define VISITORS 3
#define ROUNDS 4000

/* Two actors of one thread, and a timer of the second. */
struct pair {
	struct runtime *rt;
	struct actor *host, *guest;
	struct timer timer;
	struct gate rung;
	pthread_t rung_by;
};

static void ring(struct timer *timer)
{
	struct pair *pair = container_of(timer, struct pair, timer);

	pair->rung_by = pthread_self();
	gate_open(&pair->rung);
}

static void pair_start(struct pair *pair)
{
	pair->rt = runtime_new(RUNTIME_REAL);
	pair->host = actor_new(pair->rt, "host");
	pair->guest = actor_new_with(pair->host, "guest");
	gate_init(&pair->rung);
	timer_init(&pair->timer, pair->guest, ring);
	actor_start(pair->host);
	actor_start(pair->guest);
}

static void pair_stop(struct pair *pair)
{
	actor_free(pair->guest);
	actor_free(pair->host);
	runtime_free(pair->rt);
}

/* Until the pair's thread sleeps. */
static struct loop *begin_visit(struct pair *pair)
{
	int64_t until = g_get_monotonic_time() + GATE_LIMIT_S * G_USEC_PER_SEC;
	struct loop *loop;

	while (!(loop = actor_visit_begin(pair->host))) {
		ck_assert_int_lt(g_get_monotonic_time(), until);
		g_usleep(100);
	}
	return loop;
}

/* A message that notes which thread ran it, starts the timer, and goes on to the guest. */
struct note {
	struct message msg;
	struct pair *pair;
	unsigned int passes; /* to the guest, before it ends */
	uint64_t timer_ns;   /* 0: does not start it */
	atomic_uint runs;
	pthread_t thread;
	struct gate *gate, *hold; /* opened; waited for; or NULL */
};

static void note_run(struct message *msg)
{
	struct note *note = (struct note *)msg;

	note->thread = pthread_self();
	atomic_fetch_add(&note->runs, 1);
	if (note->timer_ns)
		timer_start(&note->pair->timer, note->timer_ns);
	if (note->gate)
		gate_open(note->gate);
	if (note->hold)
		gate_wait(note->hold, 1);
	if (note->passes) {
		note->passes--;
		actor_post(note->pair->guest, &note->msg);
	}
}

START_TEST(runs_here_while_its_thread_sleeps)
{
	struct pair pair;
	struct note note = {.msg.run = note_run, .pair = &pair, .passes = 2};
	struct loop *loop;

	pair_start(&pair);
	loop = begin_visit(&pair);
	actor_post(pair.host, &note.msg);
	ck_assert_uint_eq(atomic_load(&note.runs), 0);
	actor_visit(loop);
	ck_assert_uint_eq(atomic_load(&note.runs), 3); /* what it caused has run, too */
	ck_assert(pthread_equal(note.thread, pthread_self()));
	pair_stop(&pair);
}
END_TEST

START_TEST(is_not_for_a_thread_that_is_awake)
{
	struct pair pair;
	struct gate runs, hold;
	struct note note = {.msg.run = note_run, .pair = &pair, .gate = &runs, .hold = &hold};

	gate_init(&runs);
	gate_init(&hold);
	pair_start(&pair);
	actor_post(pair.guest, &note.msg);
	ck_assert(gate_wait(&runs, 1));
	ck_assert(!actor_visit_begin(pair.host));
	actor_visit(NULL);
	gate_open(&hold);
	actor_visit(begin_visit(&pair));
	ck_assert(!pthread_equal(note.thread, pthread_self()));
	pair_stop(&pair);
}
END_TEST

START_TEST(leaves_timers_to_the_thread)
{
	struct pair pair;
	struct note note = {.msg.run = note_run, .pair = &pair, .passes = 1};
	struct loop *loop;

	note.timer_ns = NS_PER_MS; /* the thread sleeps without a limit before */
	pair_start(&pair);
	loop = begin_visit(&pair);
	actor_post(pair.guest, &note.msg);
	actor_visit(loop);
	ck_assert_uint_eq(atomic_load(&note.runs), 2);
	ck_assert(gate_wait(&pair.rung, 1));
	ck_assert(!pthread_equal(pair.rung_by, pthread_self()));
	pair_stop(&pair);
}
END_TEST

/* More than a visit runs. */
START_TEST(leaves_the_rest_to_the_thread)
{
	struct pair pair;
	struct gate runs;
	struct note note = {.msg.run = note_run, .pair = &pair, .passes = 99, .gate = &runs};
	struct loop *loop;

	gate_init(&runs);
	pair_start(&pair);
	loop = begin_visit(&pair);
	actor_post(pair.host, &note.msg);
	actor_visit(loop);
	ck_assert(gate_wait(&runs, 100));
	actor_visit(begin_visit(&pair));
	ck_assert_uint_eq(atomic_load(&note.runs), 100);
	pair_stop(&pair);
}
END_TEST

static void *post_note(void *arg)
{
	struct note *note = arg;

	actor_post(note->pair->guest, &note->msg);
	return NULL;
}

/* A message of another thread wakes the actors' own, which then runs the visitor's as well. */
START_TEST(does_not_delay_others)
{
	struct pair pair;
	struct gate runs;
	struct note own = {.msg.run = note_run, .pair = &pair}, other = own;
	pthread_t thread;
	struct loop *loop;

	gate_init(&runs);
	other.gate = &runs;
	pair_start(&pair);
	loop = begin_visit(&pair);
	actor_post(pair.host, &own.msg);
	pthread_create(&thread, NULL, post_note, &other);
	ck_assert(gate_wait(&runs, 1));
	pthread_join(thread, NULL);
	actor_visit(loop);
	actor_visit(begin_visit(&pair));
	ck_assert_uint_eq(atomic_load(&own.runs), 1);
	ck_assert_uint_eq(atomic_load(&other.runs), 1);
	ck_assert(!pthread_equal(own.thread, pthread_self()));
	pair_stop(&pair);
}
END_TEST

/* ---- many at once ---- */

struct crowd {
	struct pair pair;
	uint64_t sum; /* by whatever thread runs the pair */
	unsigned int inside, bad;
	atomic_uint run, dropped;
};

struct one {
	struct message msg;
	struct crowd *crowd;
	bool guest; /* it is for the guest, whose timer that is */
};

static void one_run(struct message *msg)
{
	const struct one *one = (struct one *)msg;
	struct crowd *crowd = one->crowd;

	crowd->bad += crowd->inside++;
	crowd->sum++;
	if (one->guest && crowd->sum % 64 == 0)
		timer_start(&crowd->pair.timer, 20 * NS_PER_US);
	crowd->inside--;
	atomic_fetch_add(&crowd->run, 1);
	g_free(msg);
}

static void one_drop(struct message *msg)
{
	atomic_fetch_add(&((struct one *)msg)->crowd->dropped, 1);
	g_free(msg);
}

static void *visitor(void *arg)
{
	struct crowd *crowd = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct one *one = g_new0(struct one, 1);
		struct loop *loop = i % 5 ? actor_visit_begin(crowd->pair.host) : NULL;

		one->msg = (struct message){.run = one_run, .drop = one_drop};
		one->crowd = crowd;
		one->guest = i % 2;
		actor_post(one->guest ? crowd->pair.guest : crowd->pair.host, &one->msg);
		actor_visit(loop);
		if (i % 16 == 0)
			g_usleep(20); /* the thread falls asleep */
	}
	return NULL;
}

/* Only one thread at a time runs the actors, no message is lost, and they can be stopped. */
static void run_crowd(bool stop_early)
{
	struct crowd crowd = {.sum = 0};
	pthread_t threads[VISITORS];

	pair_start(&crowd.pair);
	for (unsigned int i = 0; i < VISITORS; i++)
		pthread_create(&threads[i], NULL, visitor, &crowd);
	if (stop_early) {
		g_usleep(2000);
		actor_stop(crowd.pair.guest);
	}
	for (unsigned int i = 0; i < VISITORS; i++)
		pthread_join(threads[i], NULL);
	if (!stop_early)
		actor_visit(begin_visit(&crowd.pair));
	pair_stop(&crowd.pair);
	ck_assert_uint_eq(crowd.bad, 0);
	ck_assert_uint_eq(crowd.sum, atomic_load(&crowd.run));
	ck_assert_uint_eq(atomic_load(&crowd.run) + atomic_load(&crowd.dropped), VISITORS * ROUNDS);
	if (!stop_early)
		ck_assert_uint_eq(atomic_load(&crowd.dropped), 0);
}

START_TEST(crowds)
{
	run_crowd(false);
}
END_TEST

START_TEST(crowds_while_it_stops)
{
	run_crowd(true);
}
END_TEST

/* Virtual time has one thread, and the order of its events does not depend on visits. */
START_TEST(is_nothing_in_virtual_time)
{
	struct runtime *rt = runtime_new(RUNTIME_VIRTUAL);
	struct actor *actor = actor_new(rt, "actor");

	actor_start(actor);
	ck_assert(!actor_visit_begin(actor));
	actor_free(actor);
	runtime_free(rt);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("visit");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 2 * GATE_LIMIT_S);
	tcase_add_test(tests, runs_here_while_its_thread_sleeps);
	tcase_add_test(tests, is_not_for_a_thread_that_is_awake);
	tcase_add_test(tests, leaves_timers_to_the_thread);
	tcase_add_test(tests, leaves_the_rest_to_the_thread);
	tcase_add_test(tests, does_not_delay_others);
	tcase_add_test(tests, crowds);
	tcase_add_test(tests, crowds_while_it_stops);
	tcase_add_test(tests, is_nothing_in_virtual_time);
	suite_add_tcase(suite, tests);
	return suite;
}
