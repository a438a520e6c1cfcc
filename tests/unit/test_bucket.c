// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The token bucket: burst, rate over a long time, the wait it names, odd arguments. */
#include <check.h>
#include <glib.h>

#include <complib/bucket.h>

#include "tests/run_suite.h"

#define NS_PER_SECOND UINT64_C(1000000000)

START_TEST(test_burst_then_rate)
{
	struct bucket bucket;
	uint64_t now = 50;

	bucket_init(&bucket, 1000, 4);
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_eq(bucket_wait(&bucket, now), 0);
		ck_assert(bucket_take(&bucket, now));
	}
	ck_assert(!bucket_take(&bucket, now));
	ck_assert_uint_eq(bucket_wait(&bucket, now), 1000000);
	ck_assert(!bucket_take(&bucket, now + 999999));
	ck_assert_uint_eq(bucket_wait(&bucket, now + 999999), 1);
	ck_assert(bucket_take(&bucket, now + 1000000));
	ck_assert(!bucket_take(&bucket, now + 1000000));
	now += 10 * NS_PER_SECOND; /* idle for long: the burst again, no more */
	for (int i = 0; i < 4; i++)
		ck_assert(bucket_take(&bucket, now));
	ck_assert(!bucket_take(&bucket, now));
	ck_assert_uint_gt(bucket_wait(&bucket, now - 1), bucket_wait(&bucket, now));
}
END_TEST

/* At random instants it passes rate * time + burst, up to the last token. */
START_TEST(test_long_run_rate)
{
	GRand *rand = g_rand_new_with_seed(5);
	uint64_t now = 0, taken = 0;
	struct bucket bucket;

	bucket_init(&bucket, 500, 10);
	while (now < 20 * NS_PER_SECOND) {
		taken += bucket_take(&bucket, now);
		now += (uint64_t)g_rand_int_range(rand, 1, 1000000);
	}
	ck_assert_uint_ge(taken, 20 * 500 + 10 - 1);
	ck_assert_uint_le(taken, 20 * 500 + 10 + 1);
	g_rand_free(rand);
}
END_TEST

START_TEST(test_extremes)
{
	struct bucket bucket;

	bucket_init(&bucket, UINT64_MAX, 1);
	ck_assert(bucket_take(&bucket, 0));
	ck_assert(!bucket_take(&bucket, 0));
	ck_assert(bucket_take(&bucket, 1));
	bucket_init(&bucket, 1, UINT64_MAX);
	for (int i = 0; i < 1000; i++)
		ck_assert(bucket_take(&bucket, 0));
	bucket_init(&bucket, 1, 1);
	ck_assert(bucket_take(&bucket, 7));
	ck_assert_uint_eq(bucket_wait(&bucket, 7), NS_PER_SECOND);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("bucket");
	TCase *tcase = tcase_create("bucket");

	tcase_add_test(tcase, test_burst_then_rate);
	tcase_add_test(tcase, test_long_run_rate);
	tcase_add_test(tcase, test_extremes);
	suite_add_tcase(suite, tcase);
	return suite;
}
