// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Round trip time of SMPs, smoothed, and from it how long to wait before the first tries of a
 * request are repeated (the estimator of Jacobson and Karels, 1988; only requests sent once count).
 * The full transaction timeout remains for the last tries: a slow SMA gets all the patience it had.
 */
#ifndef MAD_RTT_H
#define MAD_RTT_H

#include <stdint.h>

#include "complib/actor.h"

#define RTT_WAIT_MIN_MS 20 /* below it timers and kernels are too coarse */

struct rtt {
	uint64_t smoothed, deviation; /* ns; 0: nothing measured yet */
};

static inline void rtt_sample(struct rtt *rtt, uint64_t took_ns)
{
	uint64_t off = took_ns > rtt->smoothed ? took_ns - rtt->smoothed : rtt->smoothed - took_ns;

	if (!rtt->smoothed) {
		rtt->smoothed = took_ns + 1;
		rtt->deviation = took_ns / 2;
		return;
	}
	rtt->deviation += (off >> 2) - (rtt->deviation >> 2);
	rtt->smoothed += (took_ns >> 3) - (rtt->smoothed >> 3) + 1;
}

/* Milliseconds to wait for the answer to early try n (from 0), or limit_ms if that is less. */
static inline unsigned int rtt_wait_ms(const struct rtt *rtt, unsigned int n, unsigned int limit_ms)
{
	uint64_t ms = (rtt->smoothed + 4 * rtt->deviation) / NS_PER_MS + 1;

	if (!rtt->smoothed || n > 16)
		return limit_ms;
	ms = (ms < RTT_WAIT_MIN_MS ? RTT_WAIT_MIN_MS : ms) << n;
	return ms < limit_ms ? ms : limit_ms;
}

#endif
