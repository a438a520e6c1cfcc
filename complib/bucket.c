// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Token bucket: see bucket.h. It counts time instead of tokens: the state is the instant at which
 * the bucket is full again, so no sums or rounding errors accumulate. If the clock goes back, the
 * bucket waits; it never grants more than the burst.
 */
#include <glib.h>

#include <complib/bucket.h>

#define NS_PER_SECOND UINT64_C(1000000000)

void bucket_init(struct bucket *bucket, uint64_t rate, uint64_t burst)
{
	g_assert(rate > 0 && burst > 0);
	bucket->cost_ns = MAX(NS_PER_SECOND / rate, 1);
	/* Half the range of numbers, 292 years, leaves room for the sums below. */
	bucket->depth_ns = burst > (uint64_t)INT64_MAX / bucket->cost_ns ? (uint64_t)INT64_MAX
									 : burst * bucket->cost_ns;
	bucket->full_ns = 0;
}

uint64_t bucket_wait(const struct bucket *bucket, uint64_t now_ns)
{
	uint64_t full_ns = MAX(bucket->full_ns, now_ns) + bucket->cost_ns; /* after taking one */
	uint64_t used_ns = full_ns - now_ns;

	return used_ns > bucket->depth_ns ? used_ns - bucket->depth_ns : 0;
}

bool bucket_take(struct bucket *bucket, uint64_t now_ns)
{
	if (bucket_wait(bucket, now_ns))
		return false;
	bucket->full_ns = MAX(bucket->full_ns, now_ns) + bucket->cost_ns;
	return true;
}
