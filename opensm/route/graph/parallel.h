// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Several threads for a loop whose pieces do not meet, or for work in step. */
#ifndef ROUTE_GRAPH_PARALLEL_H
#define ROUTE_GRAPH_PARALLEL_H

#include <stdint.h>

/*
 * Calls work(arg, first, last) for parts that together are [0, n), one a thread, and waits for all.
 * 0 or 1 thread, or if there are no more to be had: one call, on the caller.
 */
void route_parallel(unsigned int threads, uint32_t n,
		    void (*work)(void *arg, uint32_t first, uint32_t last), void *arg);

/*
 * Runs work() in so many threads at once: i of n, which is how many there are. They may wait for
 * each other until all have come to route_team_meet().
 */
struct route_team;
typedef void route_team_fn(void *arg, struct route_team *team, unsigned int i, unsigned int n);
void route_team_run(unsigned int threads, route_team_fn *work, void *arg);
void route_team_meet(struct route_team *team);

#endif
