// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The adaptive window of SMPs in flight and the estimate of their round trip time. */
#include <check.h>

#include "mad/rtt.h"
#include "mad/window.h"
#include "tests/run_suite.h"

#define TIMEOUT_NS (200 * NS_PER_MS)

START_TEST(test_grows_to_its_limit)
{
	struct window window;

	window_init(&window, 100);
	ck_assert_uint_eq((unsigned int)window.size, 16);
	for (int i = 0; i < 1000; i++) {
		window_response(&window);
		ck_assert(window.size <= 100);
	}
	ck_assert_uint_eq((unsigned int)window.size, 100);
}
END_TEST

START_TEST(test_halved_once_a_timeout)
{
	struct window window;

	window_init(&window, 1000);
	for (int i = 0; i < 2000; i++)
		window_response(&window);
	for (int i = 0; i < 50; i++)
		window_loss(&window, 1000 + i, TIMEOUT_NS);
	ck_assert_uint_eq((unsigned int)window.size, 500);
	window_loss(&window, 1000 + TIMEOUT_NS, TIMEOUT_NS);
	ck_assert_uint_eq((unsigned int)window.size, 250);
	for (int i = 2; i < 100; i++)
		window_loss(&window, 1000 + i * TIMEOUT_NS, TIMEOUT_NS);
	ck_assert_uint_eq((unsigned int)window.size, WINDOW_MIN);
}
END_TEST

/* After a loss one more for each window of responses. */
START_TEST(test_grows_slowly_after_a_loss)
{
	struct window window;

	window_init(&window, 1000);
	window_loss(&window, 1, TIMEOUT_NS);
	for (int i = 0; i < 2000; i++)
		window_response(&window);
	ck_assert(window.size > 50 && window.size < 80); /* sqrt(2 * 2000 + 16^2) */
}
END_TEST

START_TEST(test_small_limits)
{
	for (unsigned int max = 1; max < 20; max++) {
		struct window window;

		window_init(&window, max);
		for (int i = 0; i < 20; i++) {
			window_loss(&window, i * TIMEOUT_NS, TIMEOUT_NS);
			ck_assert(window.size >= 1 && window.size <= max);
			window_response(&window);
			ck_assert(window.size >= 1 && window.size <= max);
		}
	}
}
END_TEST

START_TEST(test_wait_follows_round_trips)
{
	struct rtt rtt = {0};

	ck_assert_uint_eq(rtt_wait_ms(&rtt, 0, 200), 200); /* nothing is known */
	for (int i = 0; i < 100; i++)
		rtt_sample(&rtt, 10 * NS_PER_US);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 0, 200), RTT_WAIT_MIN_MS);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 1, 200), 2 * RTT_WAIT_MIN_MS);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 10, 200), 200);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 1000, 200), 200);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 0, 5), 5);
	for (int i = 0; i < 200; i++)
		rtt_sample(&rtt, 100 * NS_PER_MS);
	ck_assert_uint_ge(rtt_wait_ms(&rtt, 0, 1000), 100);
	ck_assert_uint_le(rtt_wait_ms(&rtt, 0, 1000), 120);
	for (int i = 0; i < 200; i++)
		rtt_sample(&rtt, i % 2 ? 20 * NS_PER_MS : 180 * NS_PER_MS);
	ck_assert_uint_ge(rtt_wait_ms(&rtt, 0, 1000), 180); /* they vary: more patience */
}
END_TEST

START_TEST(test_extreme_round_trips)
{
	struct rtt rtt = {0};

	rtt_sample(&rtt, 0);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 0, 200), RTT_WAIT_MIN_MS);
	for (int i = 0; i < 1000; i++)
		rtt_sample(&rtt, 3600 * NS_PER_S);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 16, 200), 200);
	for (int i = 0; i < 1000; i++)
		rtt_sample(&rtt, 0);
	ck_assert_uint_eq(rtt_wait_ms(&rtt, 0, 200), RTT_WAIT_MIN_MS);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("window");
	TCase *tcase = tcase_create("window");

	tcase_add_test(tcase, test_grows_to_its_limit);
	tcase_add_test(tcase, test_halved_once_a_timeout);
	tcase_add_test(tcase, test_grows_slowly_after_a_loss);
	tcase_add_test(tcase, test_small_limits);
	tcase_add_test(tcase, test_wait_follows_round_trips);
	tcase_add_test(tcase, test_extreme_round_trips);
	suite_add_tcase(suite, tcase);
	return suite;
}
