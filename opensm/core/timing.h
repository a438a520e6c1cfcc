// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Durations of a repeated operation: any thread may write them; status and metrics read them. Each
 * is also counted in the bucket of the least bound that it does not exceed.
 */
#ifndef CORE_TIMING_H
#define CORE_TIMING_H

#include <stdatomic.h>
#include <stdint.h>

/* 1 and 3 of each power of 10, from 10 us to 100 s. */
#define TIMING_BOUNDS 15

struct timing {
	atomic_ullong n, sum_ns, max_ns, last_ns;
	atomic_ullong buckets[TIMING_BOUNDS + 1]; /* the last one: above all bounds */
};

/* Bound of a bucket, in ns. */
static inline uint64_t timing_bound_ns(unsigned int bucket)
{
	uint64_t bound = UINT64_C(10000);

	for (; bucket > 1; bucket -= 2)
		bound *= 10;
	return bucket ? bound * 3 : bound;
}

static inline unsigned int timing_bucket(uint64_t ns)
{
	uint64_t bound = UINT64_C(10000);
	unsigned int bucket = 0;

	while (bucket < TIMING_BOUNDS - 1 && ns > 3 * bound) {
		bound *= 10;
		bucket += 2;
	}
	return bucket + (ns > bound);
}

static inline void timing_add(struct timing *timing, uint64_t ns)
{
	unsigned long long max = atomic_load_explicit(&timing->max_ns, memory_order_relaxed);

	atomic_fetch_add_explicit(&timing->n, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&timing->sum_ns, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&timing->buckets[timing_bucket(ns)], 1, memory_order_relaxed);
	atomic_store_explicit(&timing->last_ns, ns, memory_order_relaxed);
	while (ns > max && !atomic_compare_exchange_weak(&timing->max_ns, &max, ns))
		;
}

#endif
