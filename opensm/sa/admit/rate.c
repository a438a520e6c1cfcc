// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See rate.h. One bucket per LID, which holds the number of requests allowed in 100 ms. */
#include "sa/admit/rate.h"

#include <glib.h>

#include "complib/bucket.h"

#define WINDOWS 10 /* per second */

struct sa_rate {
	unsigned int threshold; /* that the buckets were made for */
	GHashTable *buckets;	/* LID -> struct bucket, owned; at most one per LID */
};

struct sa_rate *sa_rate_new(void)
{
	struct sa_rate *rate = g_new0(struct sa_rate, 1);

	rate->buckets = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return rate;
}

void sa_rate_free(struct sa_rate *rate)
{
	g_hash_table_unref(rate->buckets);
	g_free(rate);
}

bool sa_rate_pass(struct sa_rate *rate, uint16_t lid, unsigned int threshold, uint64_t now_ns)
{
	struct bucket *bucket;

	if (threshold != rate->threshold)
		g_hash_table_remove_all(rate->buckets);
	rate->threshold = threshold;
	if (!threshold)
		return true;
	bucket = g_hash_table_lookup(rate->buckets, GUINT_TO_POINTER(lid));
	if (!bucket) {
		bucket = g_new(struct bucket, 1);
		bucket_init(bucket, (uint64_t)threshold * WINDOWS, threshold);
		g_hash_table_insert(rate->buckets, GUINT_TO_POINTER(lid), bucket);
	}
	return bucket_take(bucket, now_ns);
}
