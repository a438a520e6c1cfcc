// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Actors: see actor.h for the model.
 *
 * A mailbox is a mutex and a list. A sender appends, and wakes the receiver only if it is marked as
 * `sleeping`; the receiver takes the whole list at once (`batch`) and runs it without the lock. So
 * under load the receiver needs neither a system call nor a lock per message. The wake happens
 * under the lock: afterwards the message may already have caused the actor to be freed.
 *
 * Which thread: actor_post any; actor_thread, the source functions and everything about timers the
 * actor's own; start, attach, stop and free the thread that owns the actor (for an attached actor:
 * the one that iterates the context). Once the thread is joined its queues belong to the owner.
 *
 * In virtual time the runtime has the mailbox and the timers, and only the flag `closed` is used.
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "actor_private.h"

enum actor_state {
	ACTOR_NEW,
	ACTOR_THREAD,
	ACTOR_ATTACHED,
	ACTOR_STOPPED,
};

struct actor {
	struct runtime *rt;
	char *name;
	enum actor_state state; /* of the owner */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct message *head, **tail; /* under lock */
	bool sleeping;		      /* under lock */
	atomic_bool closed;	      /* written under lock */

	struct message *batch; /* taken from the list, not yet run */
	bool in_turn;
	struct timer_queue *timers; /* own_timers or the runtime's */
	struct timer_queue own_timers;

	pthread_t thread; /* to join */
	pthread_t self;	  /* as thread, but known to it from the start */
	GSource *source;  /* attached */
	int event_fd;
};

struct actor_source {
	GSource base;
	struct actor *actor;
};

static bool is_virtual(const struct actor *actor)
{
	return actor->rt->mode == RUNTIME_VIRTUAL;
}

static bool is_closed(struct actor *actor)
{
	return atomic_load_explicit(&actor->closed, memory_order_relaxed);
}

struct actor *actor_new(struct runtime *rt, const char *name)
{
	struct actor *actor = g_new0(struct actor, 1);
	pthread_condattr_t attr;

	actor->rt = rt;
	actor->name = g_strdup(name);
	pthread_mutex_init(&actor->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&actor->wake, &attr);
	pthread_condattr_destroy(&attr);
	actor->tail = &actor->head;
	atomic_init(&actor->closed, false);
	timer_queue_init(&actor->own_timers);
	actor->timers = is_virtual(actor) ? &rt->timers : &actor->own_timers;
	actor->event_fd = -1;
	atomic_fetch_add(&rt->users, 1);
	return actor;
}

const char *actor_name(const struct actor *actor)
{
	return actor->name;
}

struct runtime *actor_runtime(const struct actor *actor)
{
	return actor->rt;
}

uint64_t actor_now(const struct actor *actor)
{
	return runtime_now(actor->rt);
}

/* Under lock. Wakes the receiver if it sleeps, or is about to. */
static void mailbox_wake(struct actor *actor)
{
	const uint64_t one = 1;

	if (!actor->sleeping)
		return;
	actor->sleeping = false;
	if (actor->event_fd < 0)
		pthread_cond_signal(&actor->wake);
	else if (write(actor->event_fd, &one, sizeof(one)) != sizeof(one))
		g_assert_not_reached(); /* only a full counter fails, and it is 0 or 1 */
}

/*
 * A message to a closed actor waits until the actor is stopped or freed: its drop function may
 * touch data that the actor's thread still uses, so it must not run on the sender's thread.
 */
void actor_post(struct actor *actor, struct message *msg)
{
	msg->next = NULL;
	if (is_virtual(actor)) {
		if (is_closed(actor))
			message_drop(msg);
		else
			runtime_enqueue(actor->rt, actor, msg);
		return;
	}
	pthread_mutex_lock(&actor->lock);
	*actor->tail = msg;
	actor->tail = &msg->next;
	if (!is_closed(actor))
		mailbox_wake(actor);
	pthread_mutex_unlock(&actor->lock);
}

/* Under lock. The batch is empty: a turn leaves none behind unless the actor is closed. */
static void mailbox_take(struct actor *actor)
{
	if (!actor->batch) {
		actor->batch = actor->head;
		actor->head = NULL;
		actor->tail = &actor->head;
	}
}

static struct message *batch_pop(struct actor *actor)
{
	struct message *msg = actor->batch;

	if (msg)
		actor->batch = msg->next;
	return msg;
}

/*
 * Fires the timers due at one instant. A timer that restarts itself without delay is thus left for
 * the next turn and cannot starve the mailbox.
 */
static void actor_fire_due(struct actor *actor)
{
	struct timer_queue *queue = actor->timers;
	struct timer *timer = timer_queue_top(queue);
	uint64_t now;

	if (!timer)
		return;
	now = actor_now(actor);
	while (timer && timer->when <= now && !is_closed(actor)) {
		timer_queue_fire(queue, timer);
		timer = timer_queue_top(queue);
	}
}

/* Runs the batch, then the timers. */
static void actor_turn(struct actor *actor)
{
	struct message *msg;

	actor->in_turn = true;
	while (!is_closed(actor) && (msg = batch_pop(actor)))
		msg->run(msg);
	actor_fire_due(actor);
	actor->in_turn = false;
}

/* Under lock. Sleeps until there is a message, a timer is due, or the actor is closed. */
static void actor_sleep(struct actor *actor)
{
	const struct timer *timer = timer_queue_top(actor->timers);
	struct timespec until;
	int err = 0;

	if (timer) {
		until.tv_sec = (time_t)(timer->when / NS_PER_S);
		until.tv_nsec = (long)(timer->when % NS_PER_S);
	}
	while (!actor->head && !is_closed(actor) && !err) {
		actor->sleeping = true;
		err = timer ? pthread_cond_timedwait(&actor->wake, &actor->lock, &until)
			    : pthread_cond_wait(&actor->wake, &actor->lock);
	}
	actor->sleeping = false;
}

static void *actor_thread(void *arg)
{
	struct actor *actor = arg;

	actor->self = pthread_self();
	while (!is_closed(actor)) {
		pthread_mutex_lock(&actor->lock);
		actor_sleep(actor);
		mailbox_take(actor);
		pthread_mutex_unlock(&actor->lock);
		actor_turn(actor);
	}
	return NULL;
}

void actor_start(struct actor *actor)
{
	g_assert(actor->state == ACTOR_NEW);
	if (is_virtual(actor))
		return;
	actor->state = ACTOR_THREAD;
	thread_start(&actor->thread, actor->name, actor_thread, actor);
}

/* Tells GLib when the earliest timer is due, rounded up to its microseconds. */
static void source_set_time(struct actor *actor)
{
	const struct timer *timer = timer_queue_top(actor->timers);
	int64_t due = -1;

	if (timer)
		due = (int64_t)(timer->when / NS_PER_US + (timer->when % NS_PER_US != 0));
	if (due != g_source_get_ready_time(actor->source))
		g_source_set_ready_time(actor->source, due);
}

static gboolean source_prepare(GSource *base, gint *timeout)
{
	struct actor *actor = ((struct actor_source *)base)->actor;
	bool ready;

	*timeout = -1;
	pthread_mutex_lock(&actor->lock);
	ready = actor->head != NULL;
	actor->sleeping = !ready;
	pthread_mutex_unlock(&actor->lock);
	return ready;
}

static gboolean source_check(GSource *base)
{
	struct actor *actor = ((struct actor_source *)base)->actor;
	uint64_t count;
	bool ready;

	pthread_mutex_lock(&actor->lock);
	actor->sleeping = false;
	ready = actor->head != NULL;
	if (read(actor->event_fd, &count, sizeof(count)) < 0)
		g_assert(errno == EAGAIN || errno == EINTR);
	pthread_mutex_unlock(&actor->lock);
	return ready;
}

static gboolean source_dispatch(GSource *base, GSourceFunc callback, gpointer data)
{
	struct actor *actor = ((struct actor_source *)base)->actor;

	(void)callback;
	(void)data;
	pthread_mutex_lock(&actor->lock);
	actor->sleeping = false;
	mailbox_take(actor);
	pthread_mutex_unlock(&actor->lock);
	actor_turn(actor);
	if (is_closed(actor))
		return G_SOURCE_REMOVE;
	source_set_time(actor);
	return G_SOURCE_CONTINUE;
}

static const GSourceFuncs source_funcs = {
	.prepare = source_prepare,
	.check = source_check,
	.dispatch = source_dispatch,
};

void actor_attach(struct actor *actor, GMainContext *context)
{
	g_assert(actor->state == ACTOR_NEW);
	if (is_virtual(actor))
		return;
	actor->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (actor->event_fd < 0)
		g_error("cannot make an eventfd for %s: %s", actor->name, g_strerror(errno));
	actor->state = ACTOR_ATTACHED;
	/* GLib does not modify the functions, but its prototype lacks the const. */
	actor->source = g_source_new((GSourceFuncs *)&source_funcs, sizeof(struct actor_source));
	((struct actor_source *)actor->source)->actor = actor;
	g_source_set_name(actor->source, actor->name);
	g_source_add_unix_fd(actor->source, actor->event_fd, G_IO_IN);
	source_set_time(actor);
	g_source_attach(actor->source, context);
}

uint64_t actor_poll(struct actor *actor)
{
	const struct timer *timer;
	uint64_t now;

	g_assert(actor->state == ACTOR_NEW && !is_virtual(actor));
	pthread_mutex_lock(&actor->lock);
	mailbox_take(actor);
	pthread_mutex_unlock(&actor->lock);
	actor_turn(actor);
	timer = timer_queue_top(actor->timers);
	if (!timer)
		return UINT64_MAX;
	now = actor_now(actor);
	return timer->when > now ? timer->when - now : 0;
}

static void actor_detach(struct actor *actor)
{
	g_source_destroy(actor->source);
	g_clear_pointer(&actor->source, g_source_unref);
	close(actor->event_fd);
	actor->event_fd = -1;
}

/* The heap moves elements about while it shrinks, so they are gathered first. */
static void actor_idle_timers(struct actor *actor)
{
	struct heap *heap = &actor->timers->heap;
	g_autoptr(GPtrArray) mine = g_ptr_array_new();

	for (size_t i = 1; i <= heap->count; i++)
		if (((struct timer *)heap->slots[i])->actor == actor)
			g_ptr_array_add(mine, heap->slots[i]);
	for (guint i = 0; i < mine->len; i++)
		heap_remove(heap, mine->pdata[i]);
}

static void actor_drop_queued(struct actor *actor)
{
	struct message *msg;

	if (is_virtual(actor))
		runtime_drop_queued(actor->rt, actor);
	while ((msg = batch_pop(actor)))
		message_drop(msg);
	pthread_mutex_lock(&actor->lock);
	mailbox_take(actor);
	pthread_mutex_unlock(&actor->lock);
	while ((msg = batch_pop(actor)))
		message_drop(msg);
}

void actor_stop(struct actor *actor)
{
	if (actor->state == ACTOR_STOPPED)
		return;
	pthread_mutex_lock(&actor->lock);
	atomic_store_explicit(&actor->closed, true, memory_order_relaxed);
	mailbox_wake(actor);
	pthread_mutex_unlock(&actor->lock);
	if (actor->state == ACTOR_THREAD) {
		g_assert(!pthread_equal(actor->thread, pthread_self()));
		pthread_join(actor->thread, NULL);
	} else if (actor->state == ACTOR_ATTACHED) {
		actor_detach(actor);
	}
	actor->state = ACTOR_STOPPED;
	actor_idle_timers(actor);
	actor_drop_queued(actor);
}

void actor_free(struct actor *actor)
{
	actor_stop(actor);
	g_assert(!actor->in_turn); /* not from one of its own messages or timers */
	actor_drop_queued(actor);
	heap_clear(&actor->own_timers.heap);
	pthread_cond_destroy(&actor->wake);
	pthread_mutex_destroy(&actor->lock);
	atomic_fetch_sub(&actor->rt->users, 1);
	g_free(actor->name);
	g_free(actor);
}

void timer_init(struct timer *timer, struct actor *actor, void (*fire)(struct timer *timer))
{
	*timer = (struct timer){.actor = actor, .fire = fire};
}

/* The heap has no lock: a timer touched by another thread is a bug to find early. */
static void timer_check_thread(const struct actor *actor)
{
	if (actor->state == ACTOR_THREAD)
		g_assert(pthread_equal(actor->self, pthread_self()));
}

static void timer_changed(struct actor *actor)
{
	if (actor->state == ACTOR_ATTACHED && !actor->in_turn)
		source_set_time(actor);
}

void timer_start(struct timer *timer, uint64_t delay_ns)
{
	struct actor *actor = timer->actor;
	uint64_t now = actor_now(actor);

	timer_check_thread(actor);
	if (is_closed(actor))
		return;
	timer->when = delay_ns > UINT64_MAX - now ? UINT64_MAX : now + delay_ns;
	timer->order = actor->timers->order++;
	if (timer->place)
		heap_moved(&actor->timers->heap, timer);
	else
		heap_insert(&actor->timers->heap, timer);
	timer_changed(actor);
}

void timer_stop(struct timer *timer)
{
	struct actor *actor = timer->actor;

	if (!timer->place)
		return;
	timer_check_thread(actor);
	heap_remove(&actor->timers->heap, timer);
	timer_changed(actor);
}
