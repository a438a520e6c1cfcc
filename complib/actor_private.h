// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by runtime.c, actor.c, loop.c and pool.c only. */
#ifndef COMPLIB_ACTOR_PRIVATE_H
#define COMPLIB_ACTOR_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include <complib/actor.h>
#include <complib/heap.h>

/* Running timers: one queue per actor in real time, one for all actors in virtual time. */
struct timer_queue {
	struct heap heap; /* struct timer */
	uint64_t order;	  /* of the next timer started */
};

struct runtime {
	enum runtime_mode mode;
	atomic_uint users; /* actors and pools not yet freed */

	/* The rest is used in virtual mode only, by its single thread. */
	uint64_t now;
	struct timer_queue timers;
	GArray *fifo; /* struct delivery; those before fifo_head are done */
	size_t fifo_head;
	uint64_t seed;
	GSource *source; /* attached */
	uint64_t epoch;	 /* CLOCK_MONOTONIC at virtual time 0, attached */
};

/* Messages in order. */
struct mail {
	struct message *first, **last;
};

struct actor {
	struct runtime *rt;
	char *name;
	struct loop *loop; /* what runs it, in real time; counted */
	bool is_host;	   /* it started the loop and ends it */

	struct mail outer;  /* from other threads; under the loop's lock */
	bool started;	    /* the loop runs it; changed under the loop's lock */
	struct actor *next; /* in the loop; under its lock */
	atomic_bool closed; /* written under the loop's lock */
	struct mail inner;  /* from the loop's own thread; of that thread */
	struct mail batch;  /* taken, not yet run; of that thread */
	unsigned int owed;  /* messages before timers due by owed_ns fire; of that thread */
	uint64_t owed_ns;
	bool in_turn;		    /* of that thread */
	bool stopped;		    /* of the owner */
	struct timer_queue *timers; /* own_timers or the runtime's */
	struct timer_queue own_timers;
};

static inline bool actor_is_virtual(const struct actor *actor)
{
	return actor->rt->mode == RUNTIME_VIRTUAL;
}

static inline bool actor_is_closed(struct actor *actor)
{
	return atomic_load_explicit(&actor->closed, memory_order_relaxed);
}

void mail_init(struct mail *mail);
/* Appends a message whose next is NULL. */
void mail_put(struct mail *mail, struct message *msg);
/* Appends all of more, which becomes empty. */
void mail_join(struct mail *mail, struct mail *more);
struct message *mail_take(struct mail *mail); /* NULL if empty */

/*
 * actor.c: runs what is in its batch, for a limited time, and then its timers if nothing is left
 * of the batch.
 */
void actor_turn(struct actor *actor);

/* ---- loop.c: what runs actors in real time ---- */

/* With one member, which is also its first user. */
struct loop *loop_new(struct actor *host);
struct loop *loop_ref(struct loop *loop);
void loop_unref(struct loop *loop);
void loop_add(struct loop *loop, struct actor *actor);
/* From now on the loop runs the actor. */
void loop_admit(struct loop *loop, struct actor *actor);
/* Marks the actor as closed; when this returns the loop does not run it, nor any of its timers. */
void loop_remove(struct loop *loop, struct actor *actor);
/* Moves all that is queued to the batch, for the owner of an actor that was removed. */
void loop_gather(struct loop *loop, struct actor *actor);
void loop_start(struct loop *loop); /* on a thread of its own */
void loop_attach(struct loop *loop, const char *name, GMainContext *context);
uint64_t loop_poll(struct loop *loop);
/* Joins the thread or removes the source; does nothing if neither exists. */
void loop_end(struct loop *loop);
/* As actor_visit_begin() and actor_visit(). */
struct loop *loop_visit_begin(struct loop *loop);
void loop_visit(struct loop *loop);
/* Any thread. */
void loop_post(struct loop *loop, struct actor *actor, struct message *msg);
/* A timer of a member has changed. */
void loop_timer_changed(struct loop *loop, const struct actor *actor);
/* A timer touched by another thread is a bug to find early. */
void loop_check_thread(const struct loop *loop);

void message_drop(struct message *msg);

void timer_queue_init(struct timer_queue *queue);
struct timer *timer_queue_top(const struct timer_queue *queue);
/* Makes the timer idle, then calls its function. */
void timer_queue_fire(struct timer_queue *queue, struct timer *timer);

/* The FIFO of a virtual runtime; owner is the actor or pool that msg is for. */
void runtime_enqueue(struct runtime *rt, const void *owner, struct message *msg);
void runtime_drop_queued(struct runtime *rt, const void *owner);
void runtime_run_queued(struct runtime *rt, const void *owner);

/* thread_try(), for a thread that is indispensable: aborts if the system cannot create it. */
void thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg);

#endif
