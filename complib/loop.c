// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Loops: what runs actors in real time. A loop is a thread, a source of a GMainContext or a caller
 * of actor_poll(), and has one or several members.
 *
 *	another thread        the loop's own thread
 *	     |                        |
 *	 `outer` list, by lock    `inner` list, without a lock
 *	     |                        |
 *	     +---- take() -------+      once a round, for all members
 *	               |
 *	            `batch` --- actor_turn() of each member, then sleep if nothing is left
 *
 * A sender takes the lock and wakes the loop only if it is marked as `sleeping`. So under load the
 * loop needs no system call, one lock a round and none a message; and what members send to each
 * other costs neither. The wake happens under the lock: afterwards the message may already have
 * caused the loop to be freed.
 *
 * The lock spins a little before it sleeps, as it is held for a few instructions.
 *
 * A visitor is a thread that has posted something to a sleeping loop and has nothing else to do: it
 * runs the round itself, which saves waking the loop's thread and being replaced by it. Meanwhile
 * that thread goes on sleeping, or waits for the end of the round if it wakes.
 */
#define _GNU_SOURCE /* adaptive mutexes */
#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "actor_private.h"

#define MEMBERS_MAX 8
#define VISIT_ROUNDS 4 /* what is left after these is for the loop's thread */

enum loop_mode {
	LOOP_IDLE,
	LOOP_THREAD,
	LOOP_ATTACHED,
	LOOP_POLLED,
};

struct loop {
	atomic_uint users;	 /* actors */
	enum loop_mode mode;	 /* of the owner; set before the loop runs */
	_Atomic(pthread_t) self; /* the thread that runs it; 0: none does at the moment */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_cond_t idle;   /* a round is over */
	struct actor *members; /* under lock; so are the next six */
	bool sleeping;
	bool ended;
	bool in_round;
	uint64_t rounds;      /* that are over */
	uint64_t sleep_until; /* while sleeping: when a timer is due; UINT64_MAX: none is */
	pthread_t visitor;    /* does not wake the loop, as it will run it; 0: none */

	struct actor *round[MEMBERS_MAX]; /* members of this round; NULL: removed since */
	unsigned int n_round;

	pthread_t thread; /* to join */
	GSource *source;  /* attached */
	int event_fd;
};

struct loop_source {
	GSource base;
	struct loop *loop;
};

static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

struct loop *loop_new(struct actor *host)
{
	struct loop *loop = g_new0(struct loop, 1);
	pthread_condattr_t attr;

	atomic_init(&loop->users, 1);
	atomic_init(&loop->self, (pthread_t)0);
	init_lock(&loop->lock);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&loop->wake, &attr);
	pthread_cond_init(&loop->idle, NULL);
	pthread_condattr_destroy(&attr);
	loop->members = host;
	loop->event_fd = -1;
	return loop;
}

struct loop *loop_ref(struct loop *loop)
{
	atomic_fetch_add(&loop->users, 1);
	return loop;
}

void loop_unref(struct loop *loop)
{
	if (atomic_fetch_sub(&loop->users, 1) > 1)
		return;
	pthread_cond_destroy(&loop->idle);
	pthread_cond_destroy(&loop->wake);
	pthread_mutex_destroy(&loop->lock);
	g_free(loop);
}

static bool is_own_thread(const struct loop *loop)
{
	return pthread_equal(atomic_load_explicit(&loop->self, memory_order_relaxed),
			     pthread_self());
}

static void set_thread(struct loop *loop, pthread_t thread)
{
	atomic_store_explicit(&loop->self, thread, memory_order_relaxed);
}

void loop_check_thread(const struct loop *loop)
{
	if (loop->mode == LOOP_THREAD)
		g_assert(is_own_thread(loop));
}

/* Under lock. Wakes the loop if it sleeps, or is about to. */
static void wake(struct loop *loop)
{
	const uint64_t one = 1;

	if (!loop->sleeping || (loop->visitor && pthread_equal(loop->visitor, pthread_self())))
		return;
	loop->sleeping = false;
	if (loop->event_fd < 0)
		pthread_cond_signal(&loop->wake);
	else if (write(loop->event_fd, &one, sizeof(one)) != sizeof(one))
		g_assert_not_reached(); /* only a full counter fails, and it is 0 or 1 */
}

void loop_post(struct loop *loop, struct actor *actor, struct message *msg)
{
	if (is_own_thread(loop) && !actor_is_closed(actor)) {
		mail_put(&actor->inner, msg);
		return;
	}
	pthread_mutex_lock(&loop->lock);
	mail_put(&actor->outer, msg);
	if (actor->started)
		wake(loop);
	pthread_mutex_unlock(&loop->lock);
}

/* ---- members ---- */

void loop_add(struct loop *loop, struct actor *actor)
{
	struct actor **last;
	unsigned int n = 1;

	pthread_mutex_lock(&loop->lock);
	for (last = &loop->members; *last; last = &(*last)->next)
		n++;
	g_assert(n <= MEMBERS_MAX);
	*last = actor;
	pthread_mutex_unlock(&loop->lock);
}

void loop_admit(struct loop *loop, struct actor *actor)
{
	pthread_mutex_lock(&loop->lock);
	actor->started = true;
	wake(loop);
	pthread_mutex_unlock(&loop->lock);
	loop_timer_changed(loop, actor);
}

/* On the loop's thread: a member that another one has stopped may be freed before its turn. */
static void skip_in_round(struct loop *loop, const struct actor *actor)
{
	for (unsigned int i = 0; i < loop->n_round; i++)
		if (loop->round[i] == actor)
			loop->round[i] = NULL;
}

void loop_remove(struct loop *loop, struct actor *actor)
{
	uint64_t round;

	pthread_mutex_lock(&loop->lock);
	round = loop->rounds; /* the one that may run the actor; later ones do not know it */
	atomic_store_explicit(&actor->closed, true, memory_order_relaxed);
	for (struct actor **at = &loop->members; *at; at = &(*at)->next)
		if (*at == actor) {
			*at = actor->next;
			break;
		}
	while (loop->in_round && loop->rounds == round && !is_own_thread(loop))
		pthread_cond_wait(&loop->idle, &loop->lock);
	if (is_own_thread(loop))
		skip_in_round(loop, actor);
	actor->started = false;
	pthread_mutex_unlock(&loop->lock);
}

/* Under lock. */
static void gather(struct actor *actor)
{
	mail_join(&actor->batch, &actor->inner);
	mail_join(&actor->batch, &actor->outer);
}

void loop_gather(struct loop *loop, struct actor *actor)
{
	pthread_mutex_lock(&loop->lock);
	gather(actor);
	pthread_mutex_unlock(&loop->lock);
}

/* ---- rounds ---- */

/* Under lock, on the loop's thread. */
static bool has_mail(const struct loop *loop)
{
	for (const struct actor *actor = loop->members; actor; actor = actor->next)
		if (actor->started &&
		    (actor->outer.first || actor->inner.first || actor->batch.first))
			return true;
	return false;
}

/* Under lock, on the loop's thread. The earliest timer of the members; NULL: there is none. */
static const struct timer *first_timer(const struct loop *loop)
{
	const struct timer *first = NULL;

	for (const struct actor *actor = loop->members; actor; actor = actor->next) {
		const struct timer *timer = actor->started ? timer_queue_top(actor->timers) : NULL;

		if (timer && (!first || timer->when < first->when))
			first = timer;
	}
	return first;
}

/* Under lock. A round begins with what has come to each member. */
static void take(struct loop *loop)
{
	loop->n_round = 0;
	for (struct actor *actor = loop->members; actor; actor = actor->next) {
		if (!actor->started)
			continue;
		gather(actor);
		loop->round[loop->n_round++] = actor;
	}
	loop->in_round = true;
}

static void run_round(struct loop *loop)
{
	for (unsigned int i = 0; i < loop->n_round; i++)
		if (loop->round[i])
			actor_turn(loop->round[i]);
}

/* Under lock. */
static void end_round(struct loop *loop)
{
	loop->in_round = false;
	loop->rounds++;
	pthread_cond_broadcast(&loop->idle);
}

/* ---- on a thread ---- */

/* Under lock. Until a timer is due; NULL: until it is woken. False if the time is over. */
static bool sleep_for(struct loop *loop, const struct timer *timer)
{
	struct timespec until;

	if (!timer)
		return pthread_cond_wait(&loop->wake, &loop->lock) == 0;
	until.tv_sec = (time_t)(timer->when / NS_PER_S);
	until.tv_nsec = (long)(timer->when % NS_PER_S);
	return pthread_cond_timedwait(&loop->wake, &loop->lock, &until) == 0;
}

/*
 * Under lock. Sleeps until there is a message, a timer is due, or the loop ends. The first timer is
 * looked for again each time: a member that was just started may have brought it.
 */
static void sleep_until_needed(struct loop *loop)
{
	bool goes_on = true;

	while (goes_on && !has_mail(loop) && !loop->ended) {
		const struct timer *timer = first_timer(loop);

		loop->sleeping = true;
		loop->sleep_until = timer ? timer->when : UINT64_MAX;
		goes_on = sleep_for(loop, timer);
		loop->sleeping = false;
		while (loop->in_round) /* a visitor's */
			pthread_cond_wait(&loop->idle, &loop->lock);
	}
}

static void *loop_thread(void *arg)
{
	struct loop *loop = arg;

	set_thread(loop, pthread_self());
	pthread_mutex_lock(&loop->lock);
	while (!loop->ended) {
		sleep_until_needed(loop);
		take(loop);
		pthread_mutex_unlock(&loop->lock);
		run_round(loop);
		pthread_mutex_lock(&loop->lock);
		end_round(loop);
	}
	pthread_mutex_unlock(&loop->lock);
	set_thread(loop, (pthread_t)0);
	return NULL;
}

struct loop *loop_visit_begin(struct loop *loop)
{
	bool asleep;

	if (loop->mode != LOOP_THREAD)
		return NULL;
	pthread_mutex_lock(&loop->lock);
	asleep = loop->sleeping && !loop->in_round && !loop->ended && !loop->visitor;
	if (asleep)
		loop->visitor = pthread_self();
	pthread_mutex_unlock(&loop->lock);
	return asleep ? loop_ref(loop) : NULL;
}

/* Under lock. A thread that sleeps does not know yet what a visitor has left to do. */
static void leave_rest(struct loop *loop)
{
	const struct timer *timer = loop->sleeping ? first_timer(loop) : NULL;

	if (loop->sleeping && (has_mail(loop) || (timer && timer->when < loop->sleep_until)))
		wake(loop);
}

/* A thread that is awake by now finds by itself what has been posted. */
void loop_visit(struct loop *loop)
{
	pthread_t owner;

	pthread_mutex_lock(&loop->lock);
	owner = atomic_load_explicit(&loop->self, memory_order_relaxed);
	loop->visitor = (pthread_t)0;
	for (unsigned int i = 0; i < VISIT_ROUNDS && loop->sleeping && has_mail(loop); i++) {
		set_thread(loop, pthread_self());
		take(loop);
		pthread_mutex_unlock(&loop->lock);
		run_round(loop);
		pthread_mutex_lock(&loop->lock);
		set_thread(loop, owner);
		end_round(loop);
	}
	leave_rest(loop);
	pthread_mutex_unlock(&loop->lock);
	loop_unref(loop);
}

/* The thread has the names of all that it runs: "mad+sm". */
void loop_start(struct loop *loop)
{
	g_autoptr(GString) names = g_string_new(NULL);

	g_assert(loop->mode == LOOP_IDLE);
	pthread_mutex_lock(&loop->lock);
	for (const struct actor *actor = loop->members; actor; actor = actor->next)
		g_string_append_printf(names, "%s%s", names->len ? "+" : "", actor->name);
	pthread_mutex_unlock(&loop->lock);
	loop->mode = LOOP_THREAD;
	thread_start(&loop->thread, names->str, loop_thread, loop);
}

/* ---- from a GMainContext ---- */

/* Under lock. Tells GLib when the earliest timer is due, rounded up to its microseconds. */
static void source_set_time(struct loop *loop)
{
	const struct timer *timer = first_timer(loop);
	int64_t due = -1;

	if (timer)
		due = (int64_t)(timer->when / NS_PER_US + (timer->when % NS_PER_US != 0));
	if (due != g_source_get_ready_time(loop->source))
		g_source_set_ready_time(loop->source, due);
}

void loop_timer_changed(struct loop *loop, const struct actor *actor)
{
	if (loop->mode != LOOP_ATTACHED || is_own_thread(loop) || !loop->source)
		return;
	pthread_mutex_lock(&loop->lock);
	if (actor->started)
		source_set_time(loop);
	pthread_mutex_unlock(&loop->lock);
}

static gboolean source_prepare(GSource *base, gint *timeout)
{
	struct loop *loop = ((struct loop_source *)base)->loop;
	bool ready;

	*timeout = -1;
	pthread_mutex_lock(&loop->lock);
	ready = has_mail(loop);
	loop->sleeping = !ready;
	pthread_mutex_unlock(&loop->lock);
	return ready;
}

static gboolean source_check(GSource *base)
{
	struct loop *loop = ((struct loop_source *)base)->loop;
	uint64_t count;
	bool ready;

	pthread_mutex_lock(&loop->lock);
	loop->sleeping = false;
	ready = has_mail(loop);
	if (read(loop->event_fd, &count, sizeof(count)) < 0)
		g_assert(errno == EAGAIN || errno == EINTR);
	pthread_mutex_unlock(&loop->lock);
	return ready;
}

/* One round, on a thread that also does other things. */
static void visit(struct loop *loop)
{
	set_thread(loop, pthread_self());
	pthread_mutex_lock(&loop->lock);
	loop->sleeping = false;
	take(loop);
	pthread_mutex_unlock(&loop->lock);
	run_round(loop);
	pthread_mutex_lock(&loop->lock);
	end_round(loop);
	pthread_mutex_unlock(&loop->lock);
	set_thread(loop, (pthread_t)0);
}

/* The last of its actors may be freed in the round. */
static gboolean source_dispatch(GSource *base, GSourceFunc callback, gpointer data)
{
	struct loop *loop = loop_ref(((struct loop_source *)base)->loop);
	bool goes_on;

	(void)callback;
	(void)data;
	visit(loop);
	pthread_mutex_lock(&loop->lock);
	goes_on = loop->source != NULL;
	if (goes_on)
		source_set_time(loop);
	pthread_mutex_unlock(&loop->lock);
	loop_unref(loop);
	return goes_on;
}

static const GSourceFuncs source_funcs = {
	.prepare = source_prepare,
	.check = source_check,
	.dispatch = source_dispatch,
};

void loop_attach(struct loop *loop, const char *name, GMainContext *context)
{
	g_assert(loop->mode == LOOP_IDLE);
	loop->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (loop->event_fd < 0)
		g_error("cannot make an eventfd for %s: %s", name, g_strerror(errno));
	loop->mode = LOOP_ATTACHED;
	/* GLib does not modify the functions, but its prototype lacks the const. */
	loop->source = g_source_new((GSourceFuncs *)&source_funcs, sizeof(struct loop_source));
	((struct loop_source *)loop->source)->loop = loop;
	g_source_set_name(loop->source, name);
	g_source_add_unix_fd(loop->source, loop->event_fd, G_IO_IN);
	pthread_mutex_lock(&loop->lock);
	source_set_time(loop);
	pthread_mutex_unlock(&loop->lock);
	g_source_attach(loop->source, context);
}

/* ---- by a caller ---- */

uint64_t loop_poll(struct loop *loop)
{
	const struct timer *timer;
	uint64_t now;
	bool more;

	g_assert(loop->mode == LOOP_IDLE || loop->mode == LOOP_POLLED);
	loop->mode = LOOP_POLLED;
	visit(loop);
	pthread_mutex_lock(&loop->lock);
	more = has_mail(loop);
	timer = first_timer(loop);
	pthread_mutex_unlock(&loop->lock);
	if (more || !timer)
		return more ? 0 : UINT64_MAX;
	now = actor_now(timer->actor);
	return timer->when > now ? timer->when - now : 0;
}

/* ---- the end ---- */

static void detach(struct loop *loop)
{
	GSource *source;

	pthread_mutex_lock(&loop->lock);
	source = loop->source;
	loop->source = NULL;
	pthread_mutex_unlock(&loop->lock);
	g_source_destroy(source);
	g_source_unref(source);
	pthread_mutex_lock(&loop->lock);
	close(loop->event_fd);
	loop->event_fd = -1;
	pthread_mutex_unlock(&loop->lock);
}

void loop_end(struct loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	loop->ended = true;
	wake(loop);
	pthread_mutex_unlock(&loop->lock);
	if (loop->mode == LOOP_THREAD) {
		g_assert(!pthread_equal(loop->thread, pthread_self()));
		pthread_join(loop->thread, NULL);
	} else if (loop->source) {
		detach(loop);
	}
}
