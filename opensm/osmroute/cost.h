// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a piece of work costs this process. */
#ifndef OSMROUTE_COST_H
#define OSMROUTE_COST_H

#include <stdbool.h>
#include <stdint.h>

struct cost {
	double seconds; /* processor time of this thread; of the clock if several threads work */
	double least;	/* of several such times, if it was repeated */
	/*
	 * Processor time of this thread, which takes its part of what several do together: near
	 * what the clock would say if nothing else ran; and of all threads.
	 */
	double caller, all;
	int64_t memory; /* octets that it grew by at most meanwhile; -1: the system does not tell */
};

/* The work lies between these two; nothing else runs meanwhile. */
struct cost_meter {
	bool clock;
	double start, caller, all;
	int64_t resident;
};
void cost_begin(struct cost_meter *meter, unsigned int threads);
void cost_end(const struct cost_meter *meter, struct cost *cost);

#endif
