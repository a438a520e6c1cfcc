// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Destinations routed by the loads of channels, on several threads.
 *
 * Switches are taken in batches: those of one batch see the loads of all earlier batches, but not
 * of each other. So threads can share a batch, and the result does not depend on their number.
 * Consecutive switches stand far apart, since near ones would take the same channels: except in
 * trees, this balances more than batches cost (torus 8x8x8, sssp: the busiest channel carries 1.18
 * times the mean, one by one by index 1.38 times).
 */
#ifndef ROUTE_FILL_BATCHES_H
#define ROUTE_FILL_BATCHES_H

#include <stddef.h>
#include <stdint.h>

struct route_change {
	uint32_t channel;
	int32_t amount; /* all traffic from hosts to a switch is less: x * (49151 - x) LIDs */
};

/* Loads as the current switch sees them, and its changes to them. */
struct route_loads {
	uint64_t *load; /* [channel] */
	struct route_change *changes;
	size_t n, size;
};

/* Room for n more changes, which the caller writes there. */
struct route_change *route_loads_room(struct route_loads *loads, size_t n);

/* Routes traffic to a switch and its hosts. */
typedef void route_batches_fn(void *worker, uint32_t sw, struct route_loads *loads);

/*
 * Calls route() for each of n switches, in batches of this size (1: by index), on one of the
 * workers, each of which belongs to one thread; load[channel] holds the initial loads, then the
 * final ones.
 */
void route_batches(uint32_t n, uint32_t size, uint64_t *load, uint32_t n_channels,
		   route_batches_fn *route, void *const *workers, unsigned int n_workers);

#endif
