// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Processor time and memory used by a piece of work. */
#ifndef OSMROUTE_COST_H
#define OSMROUTE_COST_H

#include <stdbool.h>
#include <stdint.h>

struct cost {
	double seconds; /* processor time of all threads; wall clock if several work at once */
	double least;	/* least of several such times, if the work was repeated */
	/*
	 * Processor time of this thread, which takes its share of parallel work: close to the wall
	 * clock if nothing else ran; and of all threads.
	 */
	double caller, all;
	int64_t memory; /* octets by which it grew at most meanwhile; -1: unknown to the system */
};

/* Measures the work between cost_begin() and cost_end(); nothing else runs meanwhile. */
struct cost_meter {
	bool clock;
	double start, caller, all;
	int64_t resident;
};
void cost_begin(struct cost_meter *meter, unsigned int threads);
void cost_end(const struct cost_meter *meter, struct cost *cost);

#endif
