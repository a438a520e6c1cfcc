// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See aside.h. The owner or thread that ends last frees the shared object. */
#include "complib/aside.h"

#include <errno.h>
#include <time.h>

#include "actor_private.h"
#include "complib/handoff.h"

struct aside {
	struct ref ref; /* of the owner and of each thread */
	struct runtime *rt;
	pthread_mutex_t lock;
	pthread_cond_t over;
	struct actor *owner; /* NULL once it has ended; under lock */
	unsigned int late;   /* by the owner only */
};

static void unref(struct aside *aside)
{
	if (!ref_put(&aside->ref))
		return;
	pthread_cond_destroy(&aside->over);
	pthread_mutex_destroy(&aside->lock);
	g_free(aside);
}

struct aside *aside_new(struct actor *owner)
{
	struct aside *aside = g_new0(struct aside, 1);
	pthread_condattr_t attributes;

	ref_init(&aside->ref);
	aside->rt = actor_runtime(owner);
	aside->owner = owner;
	pthread_mutex_init(&aside->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&aside->over, &attributes);
	pthread_condattr_destroy(&attributes);
	return aside;
}

void aside_free(struct aside *aside)
{
	if (!aside)
		return;
	pthread_mutex_lock(&aside->lock);
	aside->owner = NULL;
	pthread_mutex_unlock(&aside->lock);
	unref(aside);
}

unsigned int aside_late(const struct aside *aside)
{
	return aside->late;
}

/* ---- late ---- */

static void on_late(struct message *message)
{
	struct aside_job *job = (struct aside_job *)message;

	job->aside->late--;
	job->done(job);
}

static void on_dropped(struct message *message)
{
	struct aside_job *job = (struct aside_job *)message;

	job->drop(job);
}

/* ---- the thread ---- */

static void *run(void *arg)
{
	struct aside_job *job = arg;
	struct aside *aside = job->aside;
	bool dropped;

	job->work(job);
	pthread_mutex_lock(&aside->lock);
	job->over = true;
	dropped = !aside->owner;
	if (job->waited_for)
		pthread_cond_signal(&aside->over);
	else if (!dropped)
		actor_post(aside->owner, &job->message);
	pthread_mutex_unlock(&aside->lock);
	if (dropped)
		job->drop(job);
	unref(aside);
	return NULL;
}

static struct timespec deadline(uint64_t patience_ns)
{
	struct timespec at;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns = (uint64_t)at.tv_nsec + patience_ns;
	at.tv_sec += (time_t)(ns / NS_PER_S);
	at.tv_nsec = (long)(ns % NS_PER_S);
	return at;
}

/* True: the job is done. Otherwise the owner does not wait for it any more. */
static bool wait_for(struct aside *aside, struct aside_job *job, uint64_t patience_ns)
{
	struct timespec until = deadline(patience_ns);
	bool over;

	pthread_mutex_lock(&aside->lock);
	while (!job->over && pthread_cond_timedwait(&aside->over, &aside->lock, &until) == 0)
		;
	over = job->over;
	job->waited_for = false;
	pthread_mutex_unlock(&aside->lock);
	return over;
}

bool aside_run(struct aside *aside, struct aside_job *job, uint64_t patience_ns)
{
	pthread_t thread;

	if (runtime_mode(aside->rt) == RUNTIME_VIRTUAL) {
		job->work(job);
		job->done(job);
		return true;
	}
	job->message = (struct message){.run = on_late, .drop = on_dropped};
	job->aside = aside;
	job->waited_for = true;
	job->over = false;
	ref_get(&aside->ref);
	thread_start(&thread, "aside", run, job);
	pthread_detach(thread);
	if (wait_for(aside, job, patience_ns)) {
		job->done(job);
		return true;
	}
	aside->late++;
	return false;
}
