// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Destinations that are routed by the loads of channels, shared out among threads.
 *
 * Switches are taken in batches: those of one see what all batches before have put on the
 * channels, but not each other. So threads may share them out, and the result is the same for any
 * number of these. Switches that follow each other then stand far apart, since near ones would take
 * the same channels: off trees that evens out more than a batch takes away (torus 8x8x8, sssp: the
 * busiest channel carries 1.18 times the mean, one by one by index 1.38 times).
 */
#ifndef ROUTE_GRAPH_BATCHES_H
#define ROUTE_GRAPH_BATCHES_H

#include <stddef.h>
#include <stdint.h>

struct route_change {
	uint32_t channel;
	int32_t amount; /* what all hosts send to all of a switch is less: x * (49151 - x) LIDs */
};

/* Loads as they are for the switch at hand, and how that changed them. */
struct route_loads {
	uint64_t *load; /* [channel] */
	struct route_change *changes;
	size_t n, size;
};

/* Room for so many changes more, which the caller makes, and writes there. */
struct route_change *route_loads_room(struct route_loads *loads, size_t n);

/* Routes what is for a switch and its hosts. */
typedef void route_batches_fn(void *worker, uint32_t sw, struct route_loads *loads);

/*
 * Calls route() for each of n switches, in batches of this size (1: by index), by one of so many
 * workers, each of which is a thread's own; load[channel] is that at the beginning, then that in
 * the end.
 */
void route_batches(uint32_t n, uint32_t size, uint64_t *load, uint32_t n_channels,
		   route_batches_fn *route, void *const *workers, unsigned int n_workers);

#endif
