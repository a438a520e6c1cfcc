// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Threads live as long as the loop: engines run rarely, and long enough to make that worthwhile.
 *
 * A thread that waits for others tries for a few microseconds, then sleeps: if they have no
 * processor, it would only keep one from them.
 */
#include "route/graph/parallel.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define THREADS_MAX 64

#define SPINS 4096 /* a few microseconds: the others are nearly done, if they have a processor */
#define PARTS 4	   /* of a loop for each thread: one that is held up leaves some to others */

struct member {
	pthread_t thread;
	struct route_team *team;
	unsigned int i;
};

struct route_team {
	route_team_fn *work;
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int n, arrived; /* n: 0: not known yet; arrived: in route_team_meet() */
	atomic_uint round;	 /* of route_team_meet() */
	struct member members[THREADS_MAX];
};

/* With the lock. */
static void begin_round(struct route_team *team)
{
	team->arrived = 0;
	atomic_fetch_add(&team->round, 1);
	pthread_cond_broadcast(&team->changed);
}

void route_team_meet(struct route_team *team)
{
	unsigned int round = atomic_load(&team->round);
	bool last;

	pthread_mutex_lock(&team->lock);
	last = ++team->arrived == team->n;
	if (last)
		begin_round(team);
	pthread_mutex_unlock(&team->lock);
	for (unsigned int i = 0; i < SPINS; i++)
		if (atomic_load(&team->round) != round)
			return;
	pthread_mutex_lock(&team->lock);
	while (atomic_load(&team->round) == round)
		pthread_cond_wait(&team->changed, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

static void *run_member(void *data)
{
	const struct member *member = data;
	struct route_team *team = member->team;

	pthread_mutex_lock(&team->lock);
	while (!team->n)
		pthread_cond_wait(&team->changed, &team->lock);
	pthread_mutex_unlock(&team->lock);
	team->work(team->arg, team, member->i, team->n);
	return NULL;
}

/* Starts as many of the other members as it can; returns how many there are then. */
static unsigned int start_members(struct route_team *team, unsigned int threads)
{
	unsigned int n = 1;

	pthread_mutex_lock(&team->lock);
	for (; n < MIN(threads, THREADS_MAX); n++) {
		team->members[n] = (struct member){.team = team, .i = n};
		if (pthread_create(&team->members[n].thread, NULL, run_member, &team->members[n]))
			break;
	}
	team->n = n;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
	return n;
}

void route_team_run(unsigned int threads, route_team_fn *work, void *arg)
{
	struct route_team team = {
		.work = work,
		.arg = arg,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	unsigned int n = start_members(&team, threads);

	work(arg, &team, 0, n);
	while (--n)
		pthread_join(team.members[n].thread, NULL);
	pthread_cond_destroy(&team.changed);
	pthread_mutex_destroy(&team.lock);
}

/* ---- a loop ---- */

struct loop {
	uint32_t n, n_parts;
	void (*work)(void *arg, uint32_t first, uint32_t last);
	void *arg;
	_Atomic uint32_t next; /* part */
};

static void run_parts(void *arg, G_GNUC_UNUSED struct route_team *team,
		      G_GNUC_UNUSED unsigned int i, G_GNUC_UNUSED unsigned int n)
{
	struct loop *loop = arg;
	uint32_t part;

	while ((part = atomic_fetch_add(&loop->next, 1)) < loop->n_parts)
		loop->work(loop->arg, (uint64_t)loop->n * part / loop->n_parts,
			   (uint64_t)loop->n * (part + 1) / loop->n_parts);
}

void route_parallel(unsigned int threads, uint32_t n,
		    void (*work)(void *arg, uint32_t first, uint32_t last), void *arg)
{
	struct loop loop = {.n = n, .work = work, .arg = arg};

	threads = MIN(threads, n);
	loop.n_parts = threads > 1 ? MIN(n, threads * PARTS) : 1;
	route_team_run(threads, run_parts, &loop);
}

/* ---- a pipeline ---- */

struct pipeline {
	const struct route_pipeline *work;
	uint32_t n, depth;
	pthread_mutex_t lock;
	pthread_cond_t ready, room; /* for the caller; for the others */
	uint32_t next, taken;	    /* to be prepared; items taken */
	bool *is_ready;		    /* [slot]: item number modulo depth */
	bool done;
};

/* Prepares the next item. With the lock, which it gives up meanwhile. */
static void prepare_next(struct pipeline *pipeline)
{
	uint32_t i = pipeline->next++, slot = i % pipeline->depth;

	pthread_mutex_unlock(&pipeline->lock);
	pipeline->work->prepare(pipeline->work->arg, i, slot);
	pthread_mutex_lock(&pipeline->lock);
	pipeline->is_ready[slot] = true;
	if (i == pipeline->taken)
		pthread_cond_signal(&pipeline->ready);
}

static void prepare_all(struct pipeline *pipeline)
{
	pthread_mutex_lock(&pipeline->lock);
	while (!pipeline->done && pipeline->next < pipeline->n) {
		if (pipeline->next < pipeline->taken + pipeline->depth)
			prepare_next(pipeline);
		else
			pthread_cond_wait(&pipeline->room, &pipeline->lock);
	}
	pthread_mutex_unlock(&pipeline->lock);
}

/* Others are woken when half of the slots are free, not for each. */
static void take_all(struct pipeline *pipeline)
{
	pthread_mutex_lock(&pipeline->lock);
	while (!pipeline->done && pipeline->taken < pipeline->n) {
		uint32_t slot = pipeline->taken % pipeline->depth;
		bool more;

		if (pipeline->next == pipeline->taken)
			prepare_next(pipeline);
		while (!pipeline->is_ready[slot])
			pthread_cond_wait(&pipeline->ready, &pipeline->lock);
		pthread_mutex_unlock(&pipeline->lock);
		more = pipeline->work->take(pipeline->work->arg, pipeline->taken, slot);
		pthread_mutex_lock(&pipeline->lock);
		pipeline->is_ready[slot] = false;
		pipeline->taken++;
		pipeline->done = !more;
		if (pipeline->next - pipeline->taken <= pipeline->depth / 2)
			pthread_cond_broadcast(&pipeline->room);
	}
	pipeline->done = true;
	pthread_cond_broadcast(&pipeline->room);
	pthread_mutex_unlock(&pipeline->lock);
}

static void run_pipeline(void *arg, G_GNUC_UNUSED struct route_team *team, unsigned int i,
			 G_GNUC_UNUSED unsigned int n)
{
	if (i)
		prepare_all(arg);
	else
		take_all(arg);
}

void route_pipeline_run(unsigned int threads, uint32_t n, uint32_t depth,
			const struct route_pipeline *work)
{
	g_autofree bool *is_ready = g_new0(bool, depth);
	struct pipeline pipeline = {
		.work = work,
		.n = n,
		.depth = depth,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.ready = PTHREAD_COND_INITIALIZER,
		.room = PTHREAD_COND_INITIALIZER,
		.is_ready = is_ready,
	};

	route_team_run(MIN(threads, MIN(depth, n)), run_pipeline, &pipeline);
	pthread_cond_destroy(&pipeline.ready);
	pthread_cond_destroy(&pipeline.room);
	pthread_mutex_destroy(&pipeline.lock);
}
