// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Durations of a repeated operation: any thread may write them; status reads them. */
#ifndef CORE_TIMING_H
#define CORE_TIMING_H

#include <stdatomic.h>
#include <stdint.h>

struct timing {
	atomic_ullong n, sum_ns, max_ns, last_ns;
};

static inline void timing_add(struct timing *timing, uint64_t ns)
{
	unsigned long long max = atomic_load_explicit(&timing->max_ns, memory_order_relaxed);

	atomic_fetch_add_explicit(&timing->n, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&timing->sum_ns, ns, memory_order_relaxed);
	atomic_store_explicit(&timing->last_ns, ns, memory_order_relaxed);
	while (ns > max && !atomic_compare_exchange_weak(&timing->max_ns, &max, ns))
		;
}

#endif
