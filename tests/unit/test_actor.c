// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* pthread_getname_np */
/*
 * Actors in virtual time (order, timers, determinism), on threads and on a GMainContext.
 * Waiting for another thread goes through a gate, with a limit that only a failure reaches.
 */
#include <check.h>
#include <glib.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <complib/actor.h>
#include <complib/handoff.h>

#include "gate.h"
#include "tests/run_suite.h"

#define SENDERS 2
#define MESSAGES 20000

/* A message that writes its letter; it may post another one first. */
struct letter {
	struct message msg;
	GString *into;
	char letter;
	struct actor *forward_to;
	char forward;
	unsigned int *dropped;
};

static void letter_run(struct message *msg);

static void letter_drop(struct message *msg)
{
	struct letter *letter = (struct letter *)msg;

	++*letter->dropped;
	g_free(letter);
}

static struct letter *letter_new(GString *into, char c, unsigned int *dropped)
{
	struct letter *letter = g_new0(struct letter, 1);

	letter->msg.run = letter_run;
	letter->msg.drop = dropped ? letter_drop : NULL;
	letter->into = into;
	letter->letter = c;
	letter->dropped = dropped;
	return letter;
}

static void letter_run(struct message *msg)
{
	struct letter *letter = (struct letter *)msg;

	if (letter->forward_to)
		actor_post(letter->forward_to,
			   &letter_new(letter->into, letter->forward, NULL)->msg);
	g_string_append_c(letter->into, letter->letter);
	g_free(letter);
}

static void post_letter(struct actor *to, GString *into, char c)
{
	actor_post(to, &letter_new(into, c, NULL)->msg);
}

/* A timer that writes its letter and then does what the test asks. */
struct tick {
	struct timer timer;
	GString *into;
	char letter;
	unsigned int restarts; /* number of times to restart itself */
	uint64_t delay;	       /* with this delay */
	struct tick *stop;     /* timer to stop */
	struct tick *start;    /* timer to start, with its delay */
	struct gate *gate;
};

static void tick_fire(struct timer *timer)
{
	struct tick *tick = (struct tick *)timer;

	ck_assert(!timer_running(timer));
	if (tick->into)
		g_string_append_c(tick->into, tick->letter);
	if (tick->restarts) {
		tick->restarts--;
		timer_start(timer, tick->delay);
	}
	if (tick->stop)
		timer_stop(&tick->stop->timer);
	if (tick->start)
		timer_start(&tick->start->timer, tick->start->delay);
	if (tick->gate)
		gate_open(tick->gate);
}

static void tick_init(struct tick *tick, struct actor *actor, GString *into, char c)
{
	memset(tick, 0, sizeof(*tick));
	timer_init(&tick->timer, actor, tick_fire);
	tick->into = into;
	tick->letter = c;
}

/* Two actors and a place to write, in virtual time. */
struct world {
	struct runtime *rt;
	struct actor *a, *b;
	GString *out;
};

static void world_init(struct world *w)
{
	w->rt = runtime_new(RUNTIME_VIRTUAL);
	w->a = actor_new(w->rt, "a");
	w->b = actor_new(w->rt, "b");
	w->out = g_string_new(NULL);
	actor_start(w->a);
	actor_attach(w->b, NULL);
}

static void world_clear(struct world *w)
{
	actor_free(w->a);
	actor_free(w->b);
	runtime_free(w->rt);
	g_string_free(w->out, TRUE);
}

START_TEST(test_virtual_order)
{
	struct letter *first;
	struct tick t1, t2, t3;
	struct pool *pool;
	struct world w;

	world_init(&w);
	pool = pool_new(w.rt, "pool", 4);
	tick_init(&t1, w.a, w.out, '1');
	tick_init(&t2, w.b, w.out, '2');
	tick_init(&t3, w.a, w.out, '3');
	timer_start(&t3.timer, 20);
	timer_start(&t2.timer, 10);
	timer_start(&t1.timer, 10);
	first = letter_new(w.out, 'a', NULL);
	first->forward_to = w.b;
	first->forward = 'd';
	actor_post(w.a, &first->msg);
	post_letter(w.b, w.out, 'b');
	pool_post(pool, &letter_new(w.out, 'p', NULL)->msg);
	post_letter(w.a, w.out, 'c');
	ck_assert(!runtime_run(w.rt, NULL, NULL, NS_PER_S));
	ck_assert_str_eq(w.out->str, "abpcd213");
	ck_assert_uint_eq(runtime_now(w.rt), 20); /* nothing left: time stays */
	pool_free(pool);
	world_clear(&w);
}
END_TEST

static bool has_three(void *arg)
{
	return ((GString *)arg)->len >= 3;
}

START_TEST(test_virtual_deadline)
{
	struct tick tick;
	struct world w;

	world_init(&w);
	tick_init(&tick, w.a, w.out, 't');
	tick.restarts = 100;
	tick.delay = 10;
	timer_start(&tick.timer, 10);
	ck_assert(!runtime_run(w.rt, NULL, NULL, 25));
	ck_assert_str_eq(w.out->str, "tt");
	ck_assert_uint_eq(runtime_now(w.rt), 25);
	ck_assert(runtime_run(w.rt, has_three, w.out, 1000));
	ck_assert_uint_eq(runtime_now(w.rt), 30);
	ck_assert(!runtime_run(w.rt, NULL, NULL, 40)); /* one due at the deadline still fires */
	ck_assert_str_eq(w.out->str, "tttt");
	ck_assert(timer_running(&tick.timer));
	timer_stop(&tick.timer);
	ck_assert(!timer_running(&tick.timer));
	ck_assert(!runtime_run(w.rt, NULL, NULL, 1000));
	ck_assert_str_eq(w.out->str, "tttt");
	world_clear(&w);
}
END_TEST

START_TEST(test_timers_in_callbacks)
{
	struct tick first, second, third, fourth;
	struct world w;

	world_init(&w);
	tick_init(&first, w.a, w.out, '1');
	tick_init(&second, w.a, w.out, '2');
	tick_init(&third, w.a, w.out, '3');
	tick_init(&fourth, w.a, w.out, '4');
	first.stop = &second; /* due at the same time: must not fire */
	first.start = &third; /* running: moves from 100 to 10 + 5 */
	first.restarts = 1;
	first.delay = 50;
	third.delay = 5;
	third.stop = &third; /* idle already */
	timer_start(&first.timer, 10);
	timer_start(&second.timer, 10);
	timer_start(&third.timer, 100);
	timer_start(&fourth.timer, 62);
	timer_start(&fourth.timer, UINT64_MAX); /* saturates */
	ck_assert(!runtime_run(w.rt, NULL, NULL, 70));
	ck_assert_str_eq(w.out->str, "1313");
	ck_assert_uint_eq(fourth.timer.when, UINT64_MAX);
	timer_stop(&fourth.timer);
	timer_stop(&fourth.timer);
	world_clear(&w);
}
END_TEST

START_TEST(test_virtual_stop)
{
	unsigned int dropped = 0;
	struct tick tick;
	struct world w;

	world_init(&w);
	tick_init(&tick, w.a, w.out, 't');
	timer_start(&tick.timer, 5);
	actor_post(w.a, &letter_new(w.out, 'x', &dropped)->msg);
	post_letter(w.a, w.out, 'x'); /* freed by default */
	post_letter(w.b, w.out, 'b');
	actor_stop(w.a);
	ck_assert_uint_eq(dropped, 1);
	ck_assert(!timer_running(&tick.timer));
	actor_post(w.a, &letter_new(w.out, 'x', &dropped)->msg);
	ck_assert_uint_eq(dropped, 2);
	timer_start(&tick.timer, 5);
	ck_assert(!timer_running(&tick.timer));
	ck_assert(!runtime_run(w.rt, NULL, NULL, 100));
	ck_assert_str_eq(w.out->str, "b");
	world_clear(&w);
}
END_TEST

/* A message that comes back at random; the trace must depend on the seed alone. */
struct roamer {
	struct message msg;
	struct storm *storm;
	unsigned int id, hops;
};

struct storm {
	struct runtime *rt;
	struct actor *actors[5];
	struct tick ticks[5];
	GRand *rand;
	GString *trace;
};

static void roamer_run(struct message *msg)
{
	struct roamer *roamer = (struct roamer *)msg;
	struct storm *storm = roamer->storm;
	int to = g_rand_int_range(storm->rand, 0, 5);

	g_string_append_printf(storm->trace, "%u@%" PRIu64 " ", roamer->id, runtime_now(storm->rt));
	timer_start(&storm->ticks[to].timer, (uint64_t)g_rand_int_range(storm->rand, 0, 3));
	if (roamer->hops-- == 0)
		g_free(roamer);
	else
		actor_post(storm->actors[to], msg);
}

static void storm_tick(struct timer *timer)
{
	struct tick *tick = (struct tick *)timer;

	g_string_append_c(tick->into, tick->letter);
	if (tick->restarts--) {
		timer_start(timer, 2);
		if (tick->start)
			timer_start(&tick->start->timer, 2);
	}
}

/* From a context, until the trace is as long as before; the context has other work, too. */
static void storm_attached(struct storm *s, gsize length)
{
	GMainContext *context = g_main_context_new();

	runtime_attach(s->rt, context);
	while (s->trace->len < length) {
		g_usleep(50);
		g_main_context_iteration(context, TRUE);
	}
	g_string_truncate(s->trace, length);
	g_main_context_unref(context);
}

/* as_before: a trace whose length is to be reached, from a context; NULL: runs for 300 ns. */
static GString *storm_run(uint32_t seed, const GString *as_before)
{
	struct storm s = {.rt = runtime_new(RUNTIME_VIRTUAL)};

	s.rand = g_rand_new_with_seed(seed);
	s.trace = g_string_new(NULL);
	for (int i = 0; i < 5; i++) {
		s.actors[i] = actor_new(s.rt, "storm");
		tick_init(&s.ticks[i], s.actors[i], s.trace, (char)('A' + i));
		s.ticks[i].timer.fire = storm_tick;
		s.ticks[i].restarts = 200;
		s.ticks[i].start = i ? &s.ticks[i - 1] : NULL;
	}
	for (unsigned int i = 0; i < 20; i++) {
		struct roamer *roamer = g_new0(struct roamer, 1);

		*roamer = (struct roamer){{.run = roamer_run}, &s, i, 200};
		actor_post(s.actors[i % 5], &roamer->msg);
	}
	if (as_before)
		storm_attached(&s, as_before->len);
	else
		runtime_run(s.rt, NULL, NULL, 300);
	for (int i = 0; i < 5; i++)
		actor_free(s.actors[i]);
	runtime_free(s.rt);
	g_rand_free(s.rand);
	return s.trace;
}

START_TEST(test_virtual_determinism)
{
	GString *first = storm_run(7, NULL), *again = storm_run(7, NULL);
	GString *other = storm_run(8, NULL), *paced = storm_run(7, first);

	ck_assert_uint_gt(first->len, 10000);
	ck_assert(g_string_equal(first, again));
	ck_assert(!g_string_equal(first, other));
	ck_assert(g_string_equal(first, paced));
	g_string_free(first, TRUE);
	g_string_free(again, TRUE);
	g_string_free(other, TRUE);
	g_string_free(paced, TRUE);
}
END_TEST

/* Threads that all send to one actor, which must see each one's messages in order. */
struct counter {
	struct gate gate;
	struct actor *actor;
	unsigned int next[SENDERS], bad;
};

struct numbered {
	struct message msg;
	struct counter *counter;
	unsigned int sender, number;
};

struct sender {
	pthread_t thread;
	struct counter *counter;
	struct pool *pool;
	unsigned int index;
};

static void numbered_run(struct message *msg)
{
	struct numbered *n = (struct numbered *)msg;
	struct counter *counter = n->counter;

	if (n->number != counter->next[n->sender]++)
		counter->bad++;
	if (n->number == MESSAGES - 1)
		gate_open(&counter->gate);
	g_free(n);
}

static struct numbered *numbered_new(const struct sender *sender, unsigned int number)
{
	struct numbered *n = g_new0(struct numbered, 1);

	n->msg.run = numbered_run;
	n->counter = sender->counter;
	n->sender = sender->index;
	n->number = number;
	return n;
}

static void *sender_thread(void *arg)
{
	struct sender *sender = arg;

	for (unsigned int i = 0; i < MESSAGES; i++)
		actor_post(sender->counter->actor, &numbered_new(sender, i)->msg);
	return NULL;
}

static void senders_run(struct counter *counter, struct sender *senders)
{
	for (unsigned int i = 0; i < SENDERS; i++) {
		senders[i].counter = counter;
		senders[i].index = i;
		pthread_create(&senders[i].thread, NULL, sender_thread, &senders[i]);
	}
}

static void senders_join(struct sender *senders)
{
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_join(senders[i].thread, NULL);
}

START_TEST(test_thread_many_senders)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct counter counter = {.actor = actor_new(rt, "counter")};
	struct sender senders[SENDERS] = {0};

	gate_init(&counter.gate);
	actor_start(counter.actor);
	senders_run(&counter, senders);
	ck_assert(gate_wait(&counter.gate, SENDERS));
	senders_join(senders);
	actor_free(counter.actor);
	ck_assert_uint_eq(counter.bad, 0);
	for (int i = 0; i < SENDERS; i++)
		ck_assert_uint_eq(counter.next[i], MESSAGES);
	runtime_free(rt);
}
END_TEST

START_TEST(test_attached_many_senders)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct counter counter = {.actor = actor_new(rt, "counter")};
	struct sender senders[SENDERS] = {0};
	GMainContext *context = g_main_context_new();

	gate_init(&counter.gate);
	actor_attach(counter.actor, context);
	senders_run(&counter, senders);
	while (counter.next[0] < MESSAGES || counter.next[1] < MESSAGES)
		g_main_context_iteration(context, TRUE); /* a lost wake hangs: check's limit */
	senders_join(senders);
	ck_assert_uint_eq(counter.bad, 0);
	actor_free(counter.actor);
	g_main_context_unref(context);
	runtime_free(rt);
}
END_TEST

/* Each message bounces between two threads: a lost wake stops it for good. */
struct bounce {
	struct message msg;
	struct actor *ends[2];
	unsigned int left;
	struct gate *gate;
};

static void bounce_run(struct message *msg)
{
	struct bounce *bounce = (struct bounce *)msg;

	if (bounce->left-- == 0)
		gate_open(bounce->gate);
	else
		actor_post(bounce->ends[bounce->left & 1], msg);
}

START_TEST(test_thread_ping_pong)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct bounce bounce = {.left = 5000};
	struct gate gate;

	gate_init(&gate);
	bounce.msg.run = bounce_run;
	bounce.gate = &gate;
	for (int i = 0; i < 2; i++) {
		bounce.ends[i] = actor_new(rt, "end");
		actor_start(bounce.ends[i]);
	}
	actor_post(bounce.ends[0], &bounce.msg);
	ck_assert(gate_wait(&gate, 1));
	for (int i = 0; i < 2; i++)
		actor_free(bounce.ends[i]);
	runtime_free(rt);
}
END_TEST

/* Posting goes on while the actor is stopped: each message is run or dropped, once. */
struct tally {
	atomic_uint run, dropped;
	struct actor *actor;
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

static void tallied_drop(struct message *msg)
{
	atomic_fetch_add(&((struct tallied *)msg)->tally->dropped, 1);
	g_free(msg);
}

static struct tallied *tallied_new(struct tally *tally)
{
	struct tallied *tallied = g_new0(struct tallied, 1);

	tallied->msg = (struct message){.run = tallied_run, .drop = tallied_drop};
	tallied->tally = tally;
	return tallied;
}

static void *tally_thread(void *arg)
{
	struct tally *tally = arg;

	for (unsigned int i = 0; i < MESSAGES; i++)
		actor_post(tally->actor, &tallied_new(tally)->msg);
	return NULL;
}

START_TEST(test_stop_while_posting)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct tally tally = {.actor = actor_new(rt, "tally")};
	pthread_t thread;

	actor_start(tally.actor);
	pthread_create(&thread, NULL, tally_thread, &tally);
	g_usleep(500);
	actor_stop(tally.actor);
	pthread_join(thread, NULL);
	actor_free(tally.actor);
	ck_assert_uint_eq(atomic_load(&tally.run) + atomic_load(&tally.dropped), MESSAGES);
	runtime_free(rt);
}
END_TEST

/* Stays in its turn until its actor is being stopped, and a little longer. */
struct lingerer {
	struct message msg;
	struct tally *tally;
	struct gate gate;
	struct timer timer;
};

static void no_tick(struct timer *timer)
{
	(void)timer;
}

static bool is_being_stopped(struct lingerer *lingerer)
{
	bool running;

	timer_start(&lingerer->timer, NS_PER_S);
	running = timer_running(&lingerer->timer);
	timer_stop(&lingerer->timer);
	return !running;
}

/* What is posted meanwhile is dropped, but not while the actor is still at its message. */
static void lingerer_run(struct message *msg)
{
	struct lingerer *lingerer = (struct lingerer *)msg;
	struct actor *actor = lingerer->tally->actor;

	gate_open(&lingerer->gate);
	while (!is_being_stopped(lingerer))
		g_usleep(100);
	for (int i = 0; i < 10; i++)
		actor_post(actor, &tallied_new(lingerer->tally)->msg);
	ck_assert_uint_eq(atomic_load(&lingerer->tally->dropped), 0);
}

START_TEST(test_stop_drops_the_rest)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct tally tally = {.actor = actor_new(rt, "tally")};
	struct lingerer lingerer = {{.run = lingerer_run}, &tally};

	gate_init(&lingerer.gate);
	timer_init(&lingerer.timer, tally.actor, no_tick);
	actor_post(tally.actor, &lingerer.msg);
	for (int i = 0; i < 10; i++) /* in the same batch */
		actor_post(tally.actor, &tallied_new(&tally)->msg);
	actor_start(tally.actor);
	ck_assert(gate_wait(&lingerer.gate, 1));
	actor_stop(tally.actor);
	ck_assert_uint_eq(atomic_load(&tally.run), 0);
	ck_assert_uint_eq(atomic_load(&tally.dropped), 20);
	actor_post(tally.actor, &tallied_new(&tally)->msg);
	ck_assert_uint_eq(atomic_load(&tally.dropped), 20);
	actor_free(tally.actor);
	ck_assert_uint_eq(atomic_load(&tally.dropped), 21);
	runtime_free(rt);
}
END_TEST

/* Three times 'f', and the other one, which is due later; a busy machine may run none of them
 * before all are due, and a timer that restarts comes after what was due then. */
static void assert_ticks(const GString *out, char other)
{
	unsigned int fast = 0;

	for (gsize i = 0; i < out->len; i++)
		fast += out->str[i] == 'f';
	ck_assert_uint_eq(out->len, 4);
	ck_assert_uint_eq(fast, 3);
	ck_assert_ptr_nonnull(strchr(out->str, other));
	ck_assert_int_eq(out->str[0], 'f');
}

START_TEST(test_thread_timers)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *actor = actor_new(rt, "timers");
	uint64_t start = runtime_now(rt);
	GString *out = g_string_new(NULL);
	struct tick fast, slow, never;
	struct gate gate;

	gate_init(&gate);
	tick_init(&fast, actor, out, 'f');
	tick_init(&slow, actor, out, 's');
	tick_init(&never, actor, out, 'n');
	fast.restarts = 2;
	fast.delay = NS_PER_MS;
	slow.stop = &never;
	slow.gate = fast.gate = &gate;
	timer_start(&fast.timer, NS_PER_MS);
	timer_start(&never.timer, 600 * NS_PER_S);
	timer_start(&slow.timer, 30 * NS_PER_MS);
	actor_start(actor);
	ck_assert(gate_wait(&gate, 4));
	ck_assert_uint_ge(runtime_now(rt) - start, 30 * NS_PER_MS);
	actor_free(actor);
	assert_ticks(out, 's');
	g_string_free(out, TRUE);
	runtime_free(rt);
}
END_TEST

START_TEST(test_attached_timers)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *actor = actor_new(rt, "timers");
	GMainContext *context = g_main_context_new();
	GString *out = g_string_new(NULL);
	struct tick fast, slow, late;
	uint64_t start;

	tick_init(&fast, actor, out, 'f');
	tick_init(&slow, actor, out, 's');
	tick_init(&late, actor, out, 'l');
	fast.restarts = 2;
	fast.delay = NS_PER_MS;
	timer_start(&slow.timer, 600 * NS_PER_S);
	actor_attach(actor, context);
	start = runtime_now(rt);
	timer_start(&late.timer, 10 * NS_PER_MS); /* the next one due changes twice */
	timer_start(&fast.timer, NS_PER_MS);
	while (out->len < 4)
		g_main_context_iteration(context, TRUE);
	assert_ticks(out, 'l');
	ck_assert_uint_ge(runtime_now(rt) - start, 10 * NS_PER_MS);
	timer_stop(&slow.timer);
	actor_free(actor);
	g_main_context_unref(context);
	g_string_free(out, TRUE);
	runtime_free(rt);
}
END_TEST

/* A message that stops its own attached actor: messages behind it are dropped. */
struct stopper {
	struct message msg;
	struct actor *actor;
};

static void stopper_run(struct message *msg)
{
	actor_stop(((struct stopper *)msg)->actor);
}

START_TEST(test_attached_stops_itself)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	GMainContext *context = g_main_context_new();
	struct tally tally = {.actor = actor_new(rt, "self")};
	struct stopper stopper = {{.run = stopper_run}, tally.actor};

	actor_attach(tally.actor, context);
	actor_post(tally.actor, &tallied_new(&tally)->msg);
	actor_post(tally.actor, &stopper.msg);
	actor_post(tally.actor, &tallied_new(&tally)->msg);
	while (g_main_context_iteration(context, FALSE))
		;
	ck_assert_uint_eq(atomic_load(&tally.run), 1);
	ck_assert_uint_eq(atomic_load(&tally.dropped), 1);
	actor_free(tally.actor);
	g_main_context_unref(context);
	runtime_free(rt);
}
END_TEST

struct inquiry {
	struct message msg;
	struct gate gate;
	char name[16];
	sigset_t blocked;
	pthread_t thread;
	long tid;
};

static void inquiry_run(struct message *msg)
{
	struct inquiry *inquiry = (struct inquiry *)msg;

	pthread_getname_np(pthread_self(), inquiry->name, sizeof(inquiry->name));
	pthread_sigmask(SIG_SETMASK, NULL, &inquiry->blocked);
	inquiry->thread = pthread_self();
	inquiry->tid = syscall(SYS_gettid);
	gate_open(&inquiry->gate);
}

START_TEST(test_thread_name_and_signals)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *actor = actor_new(rt, "a-name-longer-than-the-limit");
	struct inquiry inquiry = {{.run = inquiry_run}};
	sigset_t here;

	gate_init(&inquiry.gate);
	actor_start(actor);
	actor_post(actor, &inquiry.msg);
	ck_assert(gate_wait(&inquiry.gate, 1));
	ck_assert_str_eq(inquiry.name, "a-name-longer-t");
	ck_assert_int_eq(sigismember(&inquiry.blocked, SIGTERM), 1);
	ck_assert_int_eq(sigismember(&inquiry.blocked, SIGUSR1), 1);
	pthread_sigmask(SIG_SETMASK, NULL, &here);
	ck_assert_int_eq(sigismember(&here, SIGTERM), 0);
	actor_free(actor);
	runtime_free(rt);
}
END_TEST

/* No timer fires early, and messages from outside find the time of the clock. */
START_TEST(test_virtual_attached)
{
	GMainContext *context = g_main_context_new();
	struct tick tick, other;
	struct world w;
	int64_t start;

	world_init(&w);
	tick_init(&tick, w.a, w.out, 't');
	tick.restarts = 3;
	tick.delay = 5 * NS_PER_MS;
	timer_start(&tick.timer, 5 * NS_PER_MS);
	start = g_get_monotonic_time();
	runtime_attach(w.rt, context);
	while (w.out->len < 4)
		g_main_context_iteration(context, TRUE);
	ck_assert_int_ge(g_get_monotonic_time() - start, 20000);
	ck_assert_uint_eq(runtime_now(w.rt), 20 * NS_PER_MS);
	ck_assert(!g_main_context_iteration(context, FALSE));
	post_letter(w.b, w.out, 'm');
	ck_assert(g_main_context_iteration(context, FALSE));
	ck_assert_str_eq(w.out->str, "ttttm");
	g_usleep(5000);
	g_main_context_iteration(context, FALSE);
	ck_assert_uint_ge(runtime_now(w.rt), 25 * NS_PER_MS);
	tick_init(&other, w.b, w.out, 'o');
	timer_start(&other.timer, 0);
	g_main_context_iteration(context, TRUE);
	ck_assert_str_eq(w.out->str, "ttttmo");
	world_clear(&w);
	g_main_context_unref(context);
}
END_TEST

/* ---- actors that share a thread ---- */

/* Bounces between two actors of one thread, which needs no wake-up. */
START_TEST(test_shared_ping_pong)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct bounce bounce = {.left = 5000};
	struct gate gate;

	gate_init(&gate);
	bounce.msg.run = bounce_run;
	bounce.gate = &gate;
	bounce.ends[0] = actor_new(rt, "host");
	bounce.ends[1] = actor_new_with(bounce.ends[0], "guest");
	actor_start(bounce.ends[0]);
	actor_post(bounce.ends[1], &bounce.msg);
	g_usleep(1000); /* the guest does not run before it is started */
	actor_start(bounce.ends[1]);
	ck_assert(gate_wait(&gate, 1));
	actor_free(bounce.ends[1]);
	actor_free(bounce.ends[0]);
	runtime_free(rt);
}
END_TEST

START_TEST(test_shared_thread_and_name)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *actors[2];
	struct inquiry inquiries[2] = {};
	pthread_t threads[2];

	actors[0] = actor_new(rt, "host");
	actors[1] = actor_new_with(actors[0], "guest");
	for (int i = 0; i < 2; i++)
		actor_start(actors[i]);
	for (int i = 0; i < 2; i++) {
		gate_init(&inquiries[i].gate);
		inquiries[i].msg.run = inquiry_run;
		actor_post(actors[i], &inquiries[i].msg);
		ck_assert(gate_wait(&inquiries[i].gate, 1));
		ck_assert_str_eq(inquiries[i].name, "host+guest");
		threads[i] = inquiries[i].thread;
	}
	ck_assert(pthread_equal(threads[0], threads[1]));
	actor_free(actors[1]);
	actor_free(actors[0]);
	runtime_free(rt);
}
END_TEST

/* A guest is stopped while others post to it, and its host goes on. */
START_TEST(test_shared_stop_while_posting)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *host = actor_new(rt, "host");
	struct tally tally = {.actor = actor_new_with(host, "guest")};
	struct inquiry after = {{.run = inquiry_run}};
	pthread_t thread;

	gate_init(&after.gate);
	actor_start(host);
	actor_start(tally.actor);
	pthread_create(&thread, NULL, tally_thread, &tally);
	g_usleep(500);
	actor_stop(tally.actor);
	actor_post(host, &after.msg);
	ck_assert(gate_wait(&after.gate, 1));
	pthread_join(thread, NULL);
	actor_free(tally.actor);
	ck_assert_uint_eq(atomic_load(&tally.run) + atomic_load(&tally.dropped), MESSAGES);
	actor_free(host);
	runtime_free(rt);
}
END_TEST

/* Messages that take long, many in one batch. */
struct slow {
	struct message msg;
	atomic_uint *done;
};

static void slow_run(struct message *msg)
{
	g_usleep(1000);
	atomic_fetch_add(((struct slow *)msg)->done, 1);
	g_free(msg);
}

struct look {
	struct message msg;
	struct gate gate;
	atomic_uint *done;
	unsigned int seen;
};

static void look_run(struct message *msg)
{
	struct look *look = (struct look *)msg;

	look->seen = atomic_load(look->done);
	gate_open(&look->gate);
}

START_TEST(test_shared_long_batch_yields)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *host = actor_new(rt, "host"), *guest = actor_new_with(host, "guest");
	struct look look = {{.run = look_run}};
	atomic_uint done = 0;

	gate_init(&look.gate);
	look.done = &done;
	for (int i = 0; i < 200; i++) {
		struct slow *slow = g_new0(struct slow, 1);

		slow->msg.run = slow_run;
		slow->done = &done;
		actor_post(host, &slow->msg);
	}
	actor_post(guest, &look.msg);
	actor_start(guest);
	actor_start(host);
	ck_assert(gate_wait(&look.gate, 1));
	ck_assert_uint_lt(look.seen, 100);
	actor_free(guest);
	actor_free(host);
	runtime_free(rt);
	ck_assert_uint_le(atomic_load(&done), 200);
}
END_TEST

/* On a GMainContext: one guest stops and frees the other within a round. */
struct killer {
	struct message msg;
	struct actor *victim;
};

static void killer_run(struct message *msg)
{
	actor_free(((struct killer *)msg)->victim);
}

START_TEST(test_shared_attached_stop)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	GMainContext *context = g_main_context_new();
	struct actor *host = actor_new(rt, "host");
	struct tally tally = {.actor = actor_new_with(host, "guest")};
	struct killer killer = {{.run = killer_run}, tally.actor};

	actor_attach(host, context);
	actor_attach(tally.actor, context);
	actor_post(tally.actor, &tallied_new(&tally)->msg);
	while (g_main_context_iteration(context, FALSE))
		;
	ck_assert_uint_eq(atomic_load(&tally.run), 1);
	actor_post(host, &killer.msg);
	actor_post(tally.actor, &tallied_new(&tally)->msg);
	while (g_main_context_iteration(context, FALSE))
		;
	ck_assert_uint_eq(atomic_load(&tally.run), 1);
	ck_assert_uint_eq(atomic_load(&tally.dropped), 1);
	actor_free(host);
	g_main_context_unref(context);
	runtime_free(rt);
}
END_TEST

/* Posts itself again each time that it was run, and takes a while. */
struct flood {
	struct message msg;
	struct actor *actor;
	unsigned int us;
	atomic_bool *ends;
};

static void flood_run(struct message *msg)
{
	struct flood *flood = (struct flood *)msg;

	g_usleep(flood->us);
	if (atomic_load(flood->ends))
		g_free(flood);
	else
		actor_post(flood->actor, msg);
}

static void flood_start(struct actor *actor, unsigned int us, atomic_bool *ends)
{
	struct flood *flood = g_new0(struct flood, 1);

	*flood = (struct flood){{.run = flood_run}, actor, us, ends};
	actor_post(actor, &flood->msg);
}

static void rung(struct timer *timer)
{
	struct tick *tick = (struct tick *)timer;

	gate_open(tick->gate);
}

/* The batch is never empty: there are more messages than a turn runs. */
START_TEST(test_timer_in_a_flood)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *actor = actor_new(rt, "flooded");
	struct gate gate;
	struct tick tick = {.gate = &gate};
	atomic_bool ends = false;

	gate_init(&gate);
	timer_init(&tick.timer, actor, rung);
	timer_start(&tick.timer, 5 * NS_PER_MS);
	for (int i = 0; i < 60; i++)
		flood_start(actor, 1000, &ends);
	actor_start(actor);
	ck_assert(gate_wait(&gate, 1));
	atomic_store(&ends, true);
	actor_free(actor);
	runtime_free(rt);
}
END_TEST

/* The host never has nothing to do. */
START_TEST(test_shared_stop_beside_a_flood)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *host = actor_new(rt, "host"), *guest = actor_new_with(host, "guest");
	atomic_bool ends = false;

	actor_start(host);
	actor_start(guest);
	flood_start(host, 100, &ends);
	g_usleep(2000);
	actor_free(guest);
	atomic_store(&ends, true);
	actor_free(host);
	runtime_free(rt);
}
END_TEST

/* By the kernel: this thread of the process waits for something. */
static bool sleeps(long tid)
{
	g_autofree char *file = g_strdup_printf("/proc/self/task/%ld/stat", tid), *text = NULL;
	const char *name_end;

	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	name_end = strrchr(text, ')');
	return name_end && g_str_has_prefix(name_end, ") S");
}

/* Once it has run what it was given, the only thing that its thread waits for is the next one. */
static void await_sleep(struct actor *actor)
{
	struct inquiry inquiry = {{.run = inquiry_run}};
	int64_t until = g_get_monotonic_time() + GATE_LIMIT_S * G_USEC_PER_SEC;

	gate_init(&inquiry.gate);
	actor_post(actor, &inquiry.msg);
	ck_assert(gate_wait(&inquiry.gate, 1));
	while (!sleeps(inquiry.tid)) {
		ck_assert_int_lt(g_get_monotonic_time(), until);
		g_usleep(100);
	}
}

/* A guest that brings a timer and no message starts while its host, which has none, sleeps. */
START_TEST(test_shared_timer_from_the_start)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct actor *host = actor_new(rt, "host"), *guest = actor_new_with(host, "guest");
	struct gate gate;
	struct tick tick = {.gate = &gate};

	gate_init(&gate);
	actor_start(host);
	await_sleep(host);
	timer_init(&tick.timer, guest, rung);
	timer_start(&tick.timer, NS_PER_MS);
	actor_start(guest);
	ck_assert(gate_wait(&gate, 1));
	actor_free(guest);
	actor_free(host);
	runtime_free(rt);
}
END_TEST

static TCase *shared_case(void)
{
	TCase *tcase = tcase_create("shared");

	tcase_set_timeout(tcase, 2 * GATE_LIMIT_S);
	tcase_add_test(tcase, test_shared_ping_pong);
	tcase_add_test(tcase, test_shared_thread_and_name);
	tcase_add_test(tcase, test_shared_stop_while_posting);
	tcase_add_test(tcase, test_shared_long_batch_yields);
	tcase_add_test(tcase, test_shared_attached_stop);
	tcase_add_test(tcase, test_timer_in_a_flood);
	tcase_add_test(tcase, test_shared_stop_beside_a_flood);
	tcase_add_test(tcase, test_shared_timer_from_the_start);
	return tcase;
}

static TCase *virtual_case(void)
{
	TCase *tcase = tcase_create("virtual");

	tcase_add_test(tcase, test_virtual_order);
	tcase_add_test(tcase, test_virtual_deadline);
	tcase_add_test(tcase, test_timers_in_callbacks);
	tcase_add_test(tcase, test_virtual_stop);
	tcase_add_test(tcase, test_virtual_determinism);
	tcase_add_test(tcase, test_virtual_attached);
	return tcase;
}

static TCase *real_case(void)
{
	TCase *tcase = tcase_create("real");

	tcase_set_timeout(tcase, 2 * GATE_LIMIT_S);
	tcase_add_test(tcase, test_thread_many_senders);
	tcase_add_test(tcase, test_attached_many_senders);
	tcase_add_test(tcase, test_thread_ping_pong);
	tcase_add_test(tcase, test_stop_while_posting);
	tcase_add_test(tcase, test_stop_drops_the_rest);
	tcase_add_test(tcase, test_thread_timers);
	tcase_add_test(tcase, test_attached_timers);
	tcase_add_test(tcase, test_attached_stops_itself);
	tcase_add_test(tcase, test_thread_name_and_signals);
	return tcase;
}

TEST_SUITE
{
	Suite *suite = suite_create("actor");

	suite_add_tcase(suite, virtual_case());
	suite_add_tcase(suite, real_case());
	suite_add_tcase(suite, shared_case());
	return suite;
}
