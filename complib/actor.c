// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Actors: see actor.h for the model, and loop.c for what runs them in real time. In virtual time
 * the runtime has the mailbox and the timers, and of the actor only the flag `closed` is used.
 *
 * Which thread: actor_post any; actor_turn and everything about timers the one that runs the actor;
 * start, attach, stop and free the thread that owns the actor (for an attached actor: the one that
 * iterates the context). Once the actor is stopped its queues belong to the owner.
 */
#include "actor_private.h"

#define SLICE_NS (2 * NS_PER_MS) /* of a turn, then other actors of the loop have theirs */
#define SLICE_CHECK 8		 /* messages between looks at the clock */

void mail_init(struct mail *mail)
{
	mail->first = NULL;
	mail->last = &mail->first;
}

void mail_put(struct mail *mail, struct message *msg)
{
	*mail->last = msg;
	mail->last = &msg->next;
}

void mail_join(struct mail *mail, struct mail *more)
{
	if (!more->first)
		return;
	*mail->last = more->first;
	mail->last = more->last;
	mail_init(more);
}

struct message *mail_take(struct mail *mail)
{
	struct message *msg = mail->first;

	if (msg) {
		mail->first = msg->next;
		if (!mail->first)
			mail->last = &mail->first;
	}
	return msg;
}

static unsigned int mail_length(const struct mail *mail)
{
	unsigned int n = 0;

	for (const struct message *msg = mail->first; msg; msg = msg->next)
		n++;
	return n;
}

static struct actor *make_actor(struct runtime *rt, const char *name)
{
	struct actor *actor = g_new0(struct actor, 1);

	actor->rt = rt;
	actor->name = g_strdup(name);
	mail_init(&actor->outer);
	mail_init(&actor->inner);
	mail_init(&actor->batch);
	atomic_init(&actor->closed, false);
	timer_queue_init(&actor->own_timers);
	actor->timers = actor_is_virtual(actor) ? &rt->timers : &actor->own_timers;
	atomic_fetch_add(&rt->users, 1);
	return actor;
}

struct actor *actor_new(struct runtime *rt, const char *name)
{
	struct actor *actor = make_actor(rt, name);

	actor->is_host = true;
	actor->loop = loop_new(actor);
	return actor;
}

struct actor *actor_new_with(struct actor *host, const char *name)
{
	struct actor *actor = make_actor(host->rt, name);

	actor->loop = loop_ref(host->loop);
	loop_add(actor->loop, actor);
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

/*
 * A message to a closed actor waits until the actor is stopped or freed: its drop function may
 * touch data that the actor's thread still uses, so it must not run on the sender's thread.
 */
void actor_post(struct actor *actor, struct message *msg)
{
	msg->next = NULL;
	if (!actor_is_virtual(actor))
		loop_post(actor->loop, actor, msg);
	else if (actor_is_closed(actor))
		message_drop(msg);
	else
		runtime_enqueue(actor->rt, actor, msg);
}

struct loop *actor_visit_begin(struct actor *actor)
{
	return actor_is_virtual(actor) ? NULL : loop_visit_begin(actor->loop);
}

void actor_visit(struct loop *loop)
{
	if (loop)
		loop_visit(loop);
}

/*
 * Fires the timers that were due at that time. A timer that restarts itself without delay is thus
 * left for the next turn and cannot starve the mailbox.
 */
static void fire_due(struct actor *actor, uint64_t by_ns)
{
	struct timer_queue *queue = actor->timers;
	struct timer *timer = timer_queue_top(queue);

	while (timer && timer->when <= by_ns && !actor_is_closed(actor)) {
		timer_queue_fire(queue, timer);
		timer = timer_queue_top(queue);
	}
}

/*
 * Runs the batch, for a limited time. The clock is read only now and then, as most messages take
 * less time than that.
 */
static void run_batch(struct actor *actor)
{
	struct message *msg;
	uint64_t end = 0;

	for (unsigned int n = 1; !actor_is_closed(actor) && (msg = mail_take(&actor->batch)); n++) {
		msg->run(msg);
		actor->owed -= actor->owed != 0;
		if (n % SLICE_CHECK)
			continue;
		if (end && actor_now(actor) >= end)
			return;
		if (!end)
			end = actor_now(actor) + SLICE_NS;
	}
}

/*
 * No timer fires before a message that came before it was due, for example the answer that it waits
 * for. Under a flood, which never leaves the batch empty, those fire that were due when what has
 * been run by now was all that had come.
 */
static void run_timers(struct actor *actor)
{
	if (!actor->batch.first) {
		if (timer_queue_top(actor->timers))
			fire_due(actor, actor_now(actor));
		actor->owed = 0;
		return;
	}
	if (actor->owed)
		return;
	fire_due(actor, actor->owed_ns);
	actor->owed = mail_length(&actor->batch);
	actor->owed_ns = actor_now(actor);
}

void actor_turn(struct actor *actor)
{
	actor->in_turn = true;
	run_batch(actor);
	run_timers(actor);
	actor->in_turn = false;
}

void actor_start(struct actor *actor)
{
	if (actor_is_virtual(actor))
		return;
	g_assert(!actor->started && !actor->stopped);
	loop_admit(actor->loop, actor);
	if (actor->is_host)
		loop_start(actor->loop);
}

void actor_attach(struct actor *actor, GMainContext *context)
{
	if (actor_is_virtual(actor))
		return;
	g_assert(!actor->started && !actor->stopped);
	loop_admit(actor->loop, actor);
	if (actor->is_host)
		loop_attach(actor->loop, actor->name, context);
}

uint64_t actor_poll(struct actor *actor)
{
	g_assert(actor->is_host && !actor->stopped && !actor_is_virtual(actor));
	if (!actor->started)
		loop_admit(actor->loop, actor);
	return loop_poll(actor->loop);
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

static void drop_mail(struct mail *mail)
{
	struct message *msg;

	while ((msg = mail_take(mail)))
		message_drop(msg);
}

/* What is dropped may post to this actor again. */
static void actor_drop_queued(struct actor *actor)
{
	if (actor_is_virtual(actor))
		runtime_drop_queued(actor->rt, actor);
	do {
		drop_mail(&actor->batch);
		loop_gather(actor->loop, actor);
	} while (actor->batch.first);
}

void actor_stop(struct actor *actor)
{
	if (actor->stopped)
		return;
	loop_remove(actor->loop, actor);
	if (actor->is_host)
		loop_end(actor->loop);
	actor->stopped = true;
	actor_idle_timers(actor);
	actor_drop_queued(actor);
}

void actor_free(struct actor *actor)
{
	actor_stop(actor);
	g_assert(!actor->in_turn); /* not from one of its own messages or timers */
	actor_drop_queued(actor);
	heap_clear(&actor->own_timers.heap);
	loop_unref(actor->loop);
	atomic_fetch_sub(&actor->rt->users, 1);
	g_free(actor->name);
	g_free(actor);
}

void timer_init(struct timer *timer, struct actor *actor, void (*fire)(struct timer *timer))
{
	*timer = (struct timer){.actor = actor, .fire = fire};
}

/* Until the actor runs, and once it is stopped, its timers belong to its owner. */
static void check_thread(const struct actor *actor)
{
	if (actor->started)
		loop_check_thread(actor->loop);
}

static void timer_changed(struct actor *actor)
{
	if (!actor_is_virtual(actor))
		loop_timer_changed(actor->loop, actor);
}

void timer_start(struct timer *timer, uint64_t delay_ns)
{
	struct actor *actor = timer->actor;
	uint64_t now = actor_now(actor);

	check_thread(actor);
	if (actor_is_closed(actor))
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
	check_thread(actor);
	heap_remove(&actor->timers->heap, timer);
	timer_changed(actor);
}
