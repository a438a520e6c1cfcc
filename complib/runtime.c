// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The clock that actors run on, and the event loop of virtual time.
 *
 * In real time a runtime is only the clock. In virtual time it has everything: one FIFO of
 * deliveries, one heap of timers, one thread. Time stands still while a message waits, and
 * otherwise jumps to the earliest timer; so the order of events depends only on the program, and an
 * hour without events costs nothing.
 *
 * A delivery whose receiver has gone stays in the FIFO as a tombstone (msg NULL), so that nothing
 * behind it moves.
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include <time.h>

#include "actor_private.h"
#include "complib/thread.h"

#define FIFO_COMPACT_MIN 1024 /* deliveries done before moving the rest is worthwhile */
#define SLICE_NS (10 * NS_PER_MS)

struct delivery {
	const void *owner;
	struct message *msg;
};

void message_drop(struct message *msg)
{
	if (msg->drop)
		msg->drop(msg);
	else
		g_free(msg);
}

static bool timer_before(const void *a, const void *b)
{
	const struct timer *x = a, *y = b;

	return x->when != y->when ? x->when < y->when : x->order < y->order;
}

static size_t *timer_place(void *element)
{
	struct timer *timer = element;

	return &timer->place;
}

void timer_queue_init(struct timer_queue *queue)
{
	heap_init(&queue->heap, timer_before, timer_place);
	queue->order = 0;
}

struct timer *timer_queue_top(const struct timer_queue *queue)
{
	return heap_top(&queue->heap);
}

void timer_queue_fire(struct timer_queue *queue, struct timer *timer)
{
	heap_remove(&queue->heap, timer);
	timer->fire(timer);
}

void thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg)
{
	int err = thread_try(thread, name, run, arg);

	if (err)
		g_error("cannot start thread %s: %s", name, g_strerror(err));
}

struct runtime *runtime_new(enum runtime_mode mode)
{
	struct runtime *rt = g_new0(struct runtime, 1);

	rt->mode = mode;
	atomic_init(&rt->users, 0);
	timer_queue_init(&rt->timers);
	rt->seed = 1;
	if (mode == RUNTIME_VIRTUAL)
		rt->fifo = g_array_new(FALSE, FALSE, sizeof(struct delivery));
	return rt;
}

void runtime_set_seed(struct runtime *rt, uint64_t seed)
{
	rt->seed = seed;
}

uint64_t runtime_seed(const struct runtime *rt)
{
	return rt->seed;
}

void runtime_free(struct runtime *rt)
{
	g_assert(atomic_load(&rt->users) == 0);
	if (rt->source) {
		g_source_destroy(rt->source);
		g_source_unref(rt->source);
	}
	heap_clear(&rt->timers.heap);
	if (rt->fifo)
		g_array_free(rt->fifo, TRUE);
	g_free(rt);
}

enum runtime_mode runtime_mode(const struct runtime *rt)
{
	return rt->mode;
}

static uint64_t monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t runtime_now(const struct runtime *rt)
{
	return rt->mode == RUNTIME_VIRTUAL ? rt->now : monotonic();
}

void runtime_enqueue(struct runtime *rt, const void *owner, struct message *msg)
{
	struct delivery delivery = {.owner = owner, .msg = msg};

	g_array_append_val(rt->fifo, delivery);
}

/* Takes the message out of the delivery and leaves a tombstone; NULL unless it is the owner's. */
static struct message *fifo_claim(struct runtime *rt, size_t i, const void *owner)
{
	struct delivery *delivery = &g_array_index(rt->fifo, struct delivery, i);
	struct message *msg = delivery->msg;

	if (delivery->owner != owner)
		return NULL;
	*delivery = (struct delivery){NULL, NULL};
	return msg;
}

/* The length is read again each time, as run and drop may append messages. */
void runtime_drop_queued(struct runtime *rt, const void *owner)
{
	struct message *msg;

	for (size_t i = rt->fifo_head; i < rt->fifo->len; i++)
		if ((msg = fifo_claim(rt, i, owner)))
			message_drop(msg);
}

void runtime_run_queued(struct runtime *rt, const void *owner)
{
	struct message *msg;

	for (size_t i = rt->fifo_head; i < rt->fifo->len; i++)
		if ((msg = fifo_claim(rt, i, owner)))
			msg->run(msg);
}

static void fifo_compact(struct runtime *rt)
{
	if (rt->fifo_head == rt->fifo->len) {
		g_array_set_size(rt->fifo, 0);
		rt->fifo_head = 0;
	} else if (rt->fifo_head >= FIFO_COMPACT_MIN && rt->fifo_head >= rt->fifo->len / 2) {
		g_array_remove_range(rt->fifo, 0, (guint)rt->fifo_head);
		rt->fifo_head = 0;
	}
}

/* The next message, or NULL if none waits. */
static struct message *fifo_pop(struct runtime *rt)
{
	while (rt->fifo_head < rt->fifo->len) {
		struct message *msg = g_array_index(rt->fifo, struct delivery, rt->fifo_head++).msg;

		if (msg) {
			fifo_compact(rt);
			return msg;
		}
	}
	fifo_compact(rt);
	return NULL;
}

bool runtime_run(struct runtime *rt, bool (*done)(void *arg), void *arg, uint64_t deadline_ns)
{
	g_assert(rt->mode == RUNTIME_VIRTUAL);
	while (!done || !done(arg)) {
		struct message *msg = fifo_pop(rt);
		struct timer *timer;

		if (msg) {
			msg->run(msg);
			continue;
		}
		timer = timer_queue_top(&rt->timers);
		if (!timer)
			return false;
		if (timer->when > deadline_ns) {
			rt->now = MAX(rt->now, deadline_ns);
			return false;
		}
		rt->now = timer->when;
		timer_queue_fire(&rt->timers, timer);
	}
	return true;
}

/* ---- virtual time at the pace of real time ---- */

struct runtime_source {
	GSource base;
	struct runtime *rt;
};

/*
 * While no message waits, the time follows the clock, for timers that other sources start; but it
 * does not pass the next event, which may be late.
 */
static bool is_ready(struct runtime *rt)
{
	const struct timer *timer = timer_queue_top(&rt->timers);
	uint64_t now = monotonic() - rt->epoch;

	if (rt->fifo_head < rt->fifo->len)
		return true;
	rt->now = MAX(rt->now, timer ? MIN(timer->when, now) : now);
	return timer && timer->when <= now;
}

static gboolean source_prepare(GSource *base, gint *timeout)
{
	struct runtime *rt = ((struct runtime_source *)base)->rt;
	const struct timer *timer = timer_queue_top(&rt->timers);
	int64_t due = -1;

	*timeout = -1;
	if (is_ready(rt))
		return TRUE;
	if (timer) /* rounded up to GLib's microseconds */
		due = (int64_t)((timer->when + rt->epoch) / NS_PER_US) + 1;
	if (due != g_source_get_ready_time(base))
		g_source_set_ready_time(base, due);
	return FALSE;
}

static gboolean source_check(GSource *base)
{
	return is_ready(((struct runtime_source *)base)->rt);
}

/* Other sources must not wait for long. */
static bool is_slice_over(void *arg)
{
	const uint64_t *end = arg;

	return monotonic() >= *end;
}

static gboolean source_dispatch(GSource *base, GSourceFunc callback, gpointer data)
{
	struct runtime *rt = ((struct runtime_source *)base)->rt;
	uint64_t now = monotonic(), end = now + SLICE_NS;

	(void)callback;
	(void)data;
	runtime_run(rt, is_slice_over, &end, now - rt->epoch);
	return G_SOURCE_CONTINUE;
}

static const GSourceFuncs source_funcs = {
	.prepare = source_prepare,
	.check = source_check,
	.dispatch = source_dispatch,
};

void runtime_attach(struct runtime *rt, GMainContext *context)
{
	g_assert(rt->mode == RUNTIME_VIRTUAL && !rt->source);
	rt->epoch = monotonic() - rt->now;
	/* GLib does not modify the functions, but its prototype lacks the const. */
	rt->source = g_source_new((GSourceFuncs *)&source_funcs, sizeof(struct runtime_source));
	((struct runtime_source *)rt->source)->rt = rt;
	g_source_set_name(rt->source, "virtual time");
	g_source_attach(rt->source, context);
}
