// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Several threads for a loop whose pieces are independent, or for work in lockstep. */
#ifndef ROUTE_GRAPH_PARALLEL_H
#define ROUTE_GRAPH_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls work(arg, first, last) for parts that together are [0, n), a few for each thread, which
 * takes the next one when it has done one, and waits for all. With 0 or 1 thread: one call, in the
 * caller's thread.
 */
void route_parallel(unsigned int threads, uint32_t n,
		    void (*work)(void *arg, uint32_t first, uint32_t last), void *arg);

/*
 * Runs work() in n threads at once, as number i of n. They may wait for each other until all have
 * called route_team_meet().
 */
struct route_team;
typedef void route_team_fn(void *arg, struct route_team *team, unsigned int i, unsigned int n);
void route_team_run(unsigned int threads, route_team_fn *work, void *arg);
void route_team_meet(struct route_team *team);

/*
 * Items whose results depend on all before them, but a part of whose work does not: prepare() does
 * that part into one of depth slots, on any thread, while the caller's thread takes items in order.
 * take() returns false for no more items. With one thread each item is prepared, then taken.
 */
struct route_pipeline {
	void (*prepare)(void *arg, uint32_t item, uint32_t slot);
	bool (*take)(void *arg, uint32_t item, uint32_t slot);
	void *arg;
};
void route_pipeline_run(unsigned int threads, uint32_t n, uint32_t depth,
			const struct route_pipeline *work);

#endif
