// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Smoothed round trip time of SMPs, and the time to wait before each of the first tries of a
 * request is repeated: the estimator of Jacobson and Karels (1988), as in RFC 6298. Each try has a
 * TID of its own, so that each answer shows how long it took. There is an estimate for all SMAs,
 * and one for each that was found to be slower (target.c). The last tries wait for the full
 * transaction timeout, except to targets known to be slow.
 */
#ifndef MAD_RTT_H
#define MAD_RTT_H

#include <stdint.h>

#include "complib/actor.h"

#define RTT_OUTLIER 4
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

static inline uint64_t rtt_expected_ms(const struct rtt *rtt)
{
	return (rtt->smoothed + 4 * rtt->deviation) / NS_PER_MS + 1;
}

/*
 * As rtt_sample(), for an estimate of many targets: a very long time counts as at most RTT_OUTLIER
 * times the current wait, so that one slow target makes little difference, and several do.
 */
static inline void rtt_sample_of_many(struct rtt *rtt, uint64_t took_ns)
{
	uint64_t ms = rtt_expected_ms(rtt), most;

	most = (ms < RTT_WAIT_MIN_MS ? RTT_WAIT_MIN_MS : ms) * RTT_OUTLIER * NS_PER_MS;
	rtt_sample(rtt, rtt->smoothed && took_ns > most ? most : took_ns);
}

/* Milliseconds to wait for the answer to early try n (from 0), or limit_ms if that is less. */
static inline unsigned int rtt_wait_ms(const struct rtt *rtt, unsigned int n, unsigned int limit_ms)
{
	uint64_t ms = rtt_expected_ms(rtt);

	if (!rtt->smoothed || n > 16)
		return limit_ms;
	ms = (ms < RTT_WAIT_MIN_MS ? RTT_WAIT_MIN_MS : ms) << n;
	return ms < limit_ms ? ms : limit_ms;
}

#endif
