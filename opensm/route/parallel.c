// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads live as long as the loop: engines run seldom, and for long enough to be worth it. */
#include "route/parallel.h"

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>

#define THREADS_MAX 64

struct part {
	pthread_t thread;
	bool started;
	void (*work)(void *arg, uint32_t first, uint32_t last);
	void *arg;
	uint32_t first, last;
};

static void *run(void *data)
{
	struct part *part = data;

	part->work(part->arg, part->first, part->last);
	return NULL;
}

void route_parallel(unsigned int threads, uint32_t n,
		    void (*work)(void *arg, uint32_t first, uint32_t last), void *arg)
{
	struct part parts[THREADS_MAX];
	uint32_t n_parts = CLAMP(threads, 1, THREADS_MAX);

	n_parts = MIN(n_parts, MAX(n, 1));
	for (uint32_t i = 0; i < n_parts; i++) {
		parts[i] = (struct part){
			.work = work,
			.arg = arg,
			.first = (uint64_t)n * i / n_parts,
			.last = (uint64_t)n * (i + 1) / n_parts,
		};
		/* the last part is the caller's own; so is one that gets no thread */
		if (i + 1 < n_parts)
			parts[i].started = !pthread_create(&parts[i].thread, NULL, run, &parts[i]);
		if (!parts[i].started)
			run(&parts[i]);
	}
	for (uint32_t i = 0; i < n_parts; i++)
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
}
