// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One loop over several threads, for work whose pieces do not meet. */
#ifndef ROUTE_PARALLEL_H
#define ROUTE_PARALLEL_H

#include <stdint.h>

/*
 * Calls work(arg, first, last) for parts that together are [0, n), at most one a thread, and waits
 * for all. The parts depend on n and threads only. 0 or 1 thread: one call, on the caller.
 */
void route_parallel(unsigned int threads, uint32_t n,
		    void (*work)(void *arg, uint32_t first, uint32_t last), void *arg);

#endif
