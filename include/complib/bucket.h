// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A token bucket: rate per second with a burst, on a clock given by the caller. */
#ifndef COMPLIB_BUCKET_H
#define COMPLIB_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint64_t cost_ns;  /* time that one token takes to come back */
	uint64_t depth_ns; /* burst * cost_ns */
	uint64_t full_ns;  /* when the bucket is full again */
};

/* rate > 0 tokens a second, burst >= 1; the bucket starts full. */
void bucket_init(struct bucket *bucket, uint64_t rate, uint64_t burst);
bool bucket_take(struct bucket *bucket, uint64_t now_ns);
/* Nanoseconds until bucket_take would succeed; 0 if it would now. */
uint64_t bucket_wait(const struct bucket *bucket, uint64_t now_ns);

static inline bool bucket_is_full(const struct bucket *bucket, uint64_t now_ns)
{
	return bucket->full_ns <= now_ns;
}

#endif
