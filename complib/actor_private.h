// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by runtime.c, actor.c and pool.c only. */
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

void message_drop(struct message *msg);

void timer_queue_init(struct timer_queue *queue);
struct timer *timer_queue_top(const struct timer_queue *queue);
/* Makes the timer idle, then calls its function. */
void timer_queue_fire(struct timer_queue *queue, struct timer *timer);

/* The FIFO of a virtual runtime; owner is the actor or pool that msg is for. */
void runtime_enqueue(struct runtime *rt, const void *owner, struct message *msg);
void runtime_drop_queued(struct runtime *rt, const void *owner);
void runtime_run_queued(struct runtime *rt, const void *owner);

/*
 * Starts a thread with all signals blocked, as the main thread handles them; aborts if the system
 * cannot create a thread.
 */
void thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg);

#endif
