// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Workers for pure work: one queue, and several threads that each take one message at a time, since
 * messages are large pieces of work. In virtual time there are no threads: messages are queued
 * among those of the actors.
 */
#define _GNU_SOURCE /* gettid */
#include <sys/resource.h>
#include <unistd.h>

#include "actor_private.h"

#define BACKGROUND_NICE 5 /* about a third of the CPU under contention */

struct pool {
	struct runtime *rt;
	char *name;
	bool background;
	unsigned int count;
	pthread_t *threads;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct message *head, **tail; /* these and the rest under lock */
	unsigned int idle;
	bool closing;
	_Atomic uint64_t began; /* when the last message was taken; 0: all are done */
};

/* NULL when the pool closes and nothing is queued any more. */
static struct message *pool_take(struct pool *pool)
{
	struct message *msg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->head && !pool->closing) {
		pool->idle++;
		pthread_cond_wait(&pool->wake, &pool->lock);
		pool->idle--;
	}
	msg = pool->head;
	if (msg) {
		pool->head = msg->next;
		if (!pool->head)
			pool->tail = &pool->head;
	}
	pthread_mutex_unlock(&pool->lock);
	return msg;
}

static void *pool_thread(void *arg)
{
	struct pool *pool = arg;
	struct message *msg;

	if (pool->background)
		setpriority(PRIO_PROCESS, (id_t)gettid(), BACKGROUND_NICE);
	while ((msg = pool_take(pool))) {
		atomic_store(&pool->began, runtime_now(pool->rt));
		msg->run(msg);
		atomic_store(&pool->began, 0);
	}
	return NULL;
}

static struct pool *make_pool(struct runtime *rt, const char *name, unsigned int threads,
			      bool background)
{
	struct pool *pool = g_new0(struct pool, 1);

	pool->rt = rt;
	pool->background = background;
	pool->name = g_strdup(name);
	pool->tail = &pool->head;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	atomic_fetch_add(&rt->users, 1);
	if (rt->mode == RUNTIME_VIRTUAL)
		return pool;
	pool->count = MAX(threads, 1);
	pool->threads = g_new0(pthread_t, pool->count);
	for (unsigned int i = 0; i < pool->count; i++)
		thread_start(&pool->threads[i], name, pool_thread, pool);
	return pool;
}

uint64_t pool_busy_ns(struct pool *pool)
{
	uint64_t began = atomic_load(&pool->began);

	return began ? runtime_now(pool->rt) - began : 0;
}

struct pool *pool_new(struct runtime *rt, const char *name, unsigned int threads)
{
	return make_pool(rt, name, threads, false);
}

struct pool *pool_new_background(struct runtime *rt, const char *name, unsigned int threads)
{
	return make_pool(rt, name, threads, true);
}

void pool_post(struct pool *pool, struct message *msg)
{
	msg->next = NULL;
	if (pool->rt->mode == RUNTIME_VIRTUAL) {
		runtime_enqueue(pool->rt, pool, msg);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	*pool->tail = msg;
	pool->tail = &msg->next;
	if (pool->idle)
		pthread_cond_signal(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

void pool_free(struct pool *pool)
{
	if (pool->rt->mode == RUNTIME_VIRTUAL)
		runtime_run_queued(pool->rt, pool);
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 0; i < pool->count; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	atomic_fetch_sub(&pool->rt->users, 1);
	g_free(pool->threads);
	g_free(pool->name);
	g_free(pool);
}
