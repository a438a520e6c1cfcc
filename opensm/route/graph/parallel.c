// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads live as long as the loop: engines run rarely, and long enough to make that worthwhile. */
#include "route/graph/parallel.h"

#include <glib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS_MAX 64

#define SPINS 4096 /* a few microseconds: the others are nearly done, if they have a processor */

struct member {
	pthread_t thread;
	struct route_team *team;
	unsigned int i;
};

struct route_team {
	route_team_fn *work;
	void *arg;
	atomic_uint n;		    /* 0: not known yet */
	atomic_uint arrived, round; /* in route_team_meet() */
	struct member members[THREADS_MAX];
};

void route_team_meet(struct route_team *team)
{
	unsigned int round = atomic_load(&team->round);

	if (atomic_fetch_add(&team->arrived, 1) + 1 == atomic_load(&team->n)) {
		atomic_store(&team->arrived, 0);
		atomic_fetch_add(&team->round, 1);
		return;
	}
	for (unsigned int i = 0; atomic_load(&team->round) == round; i++)
		if (i >= SPINS)
			sched_yield();
}

static void *run_member(void *data)
{
	const struct member *member = data;
	struct route_team *team = member->team;

	while (!atomic_load(&team->n))
		sched_yield();
	team->work(team->arg, team, member->i, atomic_load(&team->n));
	return NULL;
}

void route_team_run(unsigned int threads, route_team_fn *work, void *arg)
{
	struct route_team team = {.work = work, .arg = arg};
	unsigned int n = 1;

	for (; n < MIN(threads, THREADS_MAX); n++) {
		team.members[n] = (struct member){.team = &team, .i = n};
		if (pthread_create(&team.members[n].thread, NULL, run_member, &team.members[n]))
			break;
	}
	atomic_store(&team.n, n);
	work(arg, &team, 0, n);
	while (--n)
		pthread_join(team.members[n].thread, NULL);
}

/* ---- a loop ---- */

struct loop {
	uint32_t n;
	void (*work)(void *arg, uint32_t first, uint32_t last);
	void *arg;
};

static void run_part(void *arg, G_GNUC_UNUSED struct route_team *team, unsigned int i,
		     unsigned int n)
{
	const struct loop *loop = arg;

	loop->work(loop->arg, (uint64_t)loop->n * i / n, (uint64_t)loop->n * (i + 1) / n);
}

void route_parallel(unsigned int threads, uint32_t n,
		    void (*work)(void *arg, uint32_t first, uint32_t last), void *arg)
{
	struct loop loop = {n, work, arg};

	route_team_run(MIN(threads, n), run_part, &loop);
}
