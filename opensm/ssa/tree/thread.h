// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads of a node, and waiting for a time of g_get_monotonic_time(). */
#ifndef SSA_TREE_THREAD_H
#define SSA_TREE_THREAD_H

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Without threads the program is of no use: it ends if there are too many. */
static inline void ssa_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	int code = pthread_create(thread, NULL, run, arg);

	if (code)
		g_error("pthread_create: %s", g_strerror(code));
}

static inline void ssa_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* False: the time is over. Call with the lock held. */
static inline bool ssa_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
				       int64_t until_us)
{
	const struct timespec until = {.tv_sec = until_us / G_USEC_PER_SEC,
				       .tv_nsec = until_us % G_USEC_PER_SEC * 1000};

	return pthread_cond_timedwait(cond, lock, &until) == 0;
}

#endif
