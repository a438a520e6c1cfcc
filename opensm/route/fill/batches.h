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

#include <stdint.h>

/*
 * Routes traffic to a switch and its hosts by load[channel], the loads as that switch sees them, to
 * which it adds what it does.
 */
typedef void route_batches_fn(void *worker, uint32_t sw, uint64_t *load);

/*
 * Calls route() for each of n switches, in batches of this size (1: by index), on one of the
 * workers, each of which belongs to one thread; load[channel] holds the initial loads, then the
 * final ones.
 */
void route_batches(uint32_t n, uint32_t size, uint64_t *load, uint32_t n_channels,
		   route_batches_fn *route, void *const *workers, unsigned int n_workers);

#endif
