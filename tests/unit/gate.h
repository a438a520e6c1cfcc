// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef TESTS_UNIT_GATE_H
#define TESTS_UNIT_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define GATE_LIMIT_S 20 /* which only a failure reaches */

/* A count that one thread waits for. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int count;
};

static inline void gate_init(struct gate *gate)
{
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->changed, NULL);
	gate->count = 0;
}

static inline void gate_open(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->count++;
	pthread_cond_signal(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

static inline bool gate_wait(struct gate *gate, unsigned int count)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += GATE_LIMIT_S;
	pthread_mutex_lock(&gate->lock);
	while (gate->count < count && !err)
		err = pthread_cond_timedwait(&gate->changed, &gate->lock, &until);
	pthread_mutex_unlock(&gate->lock);
	return !err;
}

#endif
