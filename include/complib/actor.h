// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Actors: mailboxes with one owner thread each, on a clock that may be virtual.
 *
 * An object of the daemon has one owner thread, or is immutable and counted, or is a message.
 * An actor is such an owner. Code never waits for another actor: it posts a message and goes on.
 *
 * RUNTIME_REAL: an actor runs on a thread (actor_start) or from a GMainContext (actor_attach); time
 * is CLOCK_MONOTONIC. Actors that mostly wait for each other share a thread (actor_new_with): what
 * they post to each other needs neither a lock nor a system call. Attaching all actors to one
 * context gives a daemon with a single thread. RUNTIME_VIRTUAL: runtime_run() runs all actors on
 * the caller's thread: messages in the order in which they were posted, then the earliest timer
 * (ties in order of starting), to whose time the clock is set. The same program and seed give the
 * same order of events. runtime_attach() lets a GMainContext do the same, no faster than real time.
 */
#ifndef COMPLIB_ACTOR_H
#define COMPLIB_ACTOR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/container_of.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

struct runtime;
struct actor;
struct pool;

enum runtime_mode {
	RUNTIME_REAL,
	RUNTIME_VIRTUAL,
};

/* Embedded as first member of each message; the receiver owns it. */
struct message {
	struct message *next;
	void (*run)(struct message *msg);  /* on the receiver's thread */
	void (*drop)(struct message *msg); /* instead of run if the actor ended; NULL: g_free */
};

struct runtime *runtime_new(enum runtime_mode mode);
void runtime_free(struct runtime *rt); /* after every actor and pool was freed */
enum runtime_mode runtime_mode(const struct runtime *rt);

/* Nanoseconds since an arbitrary start; 0 at the start of a virtual runtime. Any thread. */
uint64_t runtime_now(const struct runtime *rt);

/*
 * Virtual only. Runs until done(arg) is true (checked between events), nothing is left to do, or
 * virtual time would pass deadline_ns; in the last case time becomes deadline_ns, in the others it
 * stays. Returns done(arg); a NULL done is never true.
 */
bool runtime_run(struct runtime *rt, bool (*done)(void *arg), void *arg, uint64_t deadline_ns);

/*
 * Virtual only, instead of runtime_run(): the context runs the actors on its thread, and no timer
 * before its time on CLOCK_MONOTONIC, counted from this call. Events have the same order and
 * virtual times as with runtime_run(), however late they run; the context's other sources run in
 * between. Ends with runtime_free().
 */
void runtime_attach(struct runtime *rt, GMainContext *context);

/* Seed of random numbers in virtual time; 1 unless set. */
void runtime_set_seed(struct runtime *rt, uint64_t seed);
uint64_t runtime_seed(const struct runtime *rt);

struct actor *actor_new(struct runtime *rt, const char *name);
/*
 * Shares the thread or context of host, which actor_new() made and which must be stopped after it;
 * both have to be started. At most 8 share one. A turn of one of them ends after about
 * 2 ms, or after a few messages that take longer.
 */
struct actor *actor_new_with(struct actor *host, const char *name);
/* Runs it, on a thread of its own unless it shares one; no-op if virtual. */
void actor_start(struct actor *actor);
void actor_attach(struct actor *actor, GMainContext *context); /* no-op if virtual */
/*
 * Instead of actor_start() or actor_attach(), for a caller with its own loop: runs what is
 * queued and due. Returns nanoseconds until there is more to do: 0 if there is already, UINT64_MAX
 * if no timer runs. Not if virtual.
 */
uint64_t actor_poll(struct actor *actor);
/*
 * Joins its thread, or detaches it (on the context's thread), then drops the messages still queued.
 * Its timers become idle, and timer_start has no effect any more. Messages posted later are dropped
 * by actor_free() (virtual: at once), never on the sender's thread while the actor runs.
 */
void actor_stop(struct actor *actor);
/* Stops it if it runs, and drops messages posted since; its timers must be stopped. */
void actor_free(struct actor *actor);
const char *actor_name(const struct actor *actor);
uint64_t actor_now(const struct actor *actor); /* runtime_now of its runtime */
struct runtime *actor_runtime(const struct actor *actor);

/* Queues msg; any thread, also the actor's own. Messages of one sender stay in order. */
void actor_post(struct actor *actor, struct message *msg);

/*
 * For a thread that is about to post a few messages to an actor, and will have nothing to do then.
 * If the actor's own thread sleeps it is not woken by them: actor_visit() runs them on the caller's
 * thread, and what shares the actor's thread. That saves two context switches, but the caller is
 * away for a turn of each, and must not be waited for by any of them. NULL, which actor_visit()
 * takes: the thread is awake, and runs them itself.
 */
struct loop;
struct loop *actor_visit_begin(struct actor *actor);
void actor_visit(struct loop *loop);

/* A one-shot timer of an actor; all calls on the actor's thread (or before it starts). */
struct timer {
	struct actor *actor;
	void (*fire)(struct timer *timer);
	uint64_t when;	/* ns */
	uint64_t order; /* breaks ties */
	size_t place;	/* in the actor's heap; 0 when idle */
};

void timer_init(struct timer *timer, struct actor *actor, void (*fire)(struct timer *timer));
void timer_start(struct timer *timer, uint64_t delay_ns); /* restarts it if it is running */
void timer_stop(struct timer *timer);
static inline bool timer_running(const struct timer *timer)
{
	return timer->place != 0;
}

/*
 * Workers for pure work, at least one. A message may run on any of them; virtual: in turn with the
 * actors.
 */
struct pool *pool_new(struct runtime *rt, const char *name, unsigned int threads);
/*
 * As pool_new(), for long work whose result is not urgent: its threads, and those that they start,
 * run at a lower priority.
 */
struct pool *pool_new_background(struct runtime *rt, const char *name, unsigned int threads);
void pool_post(struct pool *pool, struct message *msg);
/* For how long a pool of one thread has been running the same message; 0 if it is idle. */
uint64_t pool_busy_ns(struct pool *pool);
void pool_free(struct pool *pool); /* runs what is queued, then joins */

#endif
