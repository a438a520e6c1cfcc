// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The number of switches and hosts that there were within some time. */
#include <check.h>
#include <glib.h>

#include "ctl/report/census.h"
#include "tests/run_suite.h"

#define S UINT64_C(1000000000)
#define WINDOW (3600 * S)

static struct census census;

static void setup(void)
{
	census = (struct census){0};
}

static void note(uint64_t at, uint32_t switches, uint32_t hosts)
{
	census_note(&census, at, WINDOW, (struct census_counts){switches, hosts});
}

static void expect(uint64_t at, uint32_t switches, uint32_t hosts)
{
	struct census_counts most = census_most(&census, at, WINDOW);

	ck_assert_uint_eq(most.switches, switches);
	ck_assert_uint_eq(most.hosts, hosts);
}

/* The maximum at any moment of the time, which ends at most a minute late. */
START_TEST(the_most_is_remembered)
{
	note(100 * S, 20, 1024);
	expect(100 * S, 20, 1024);
	note(101 * S, 20, 0);
	note(102 * S, 20, 1012);
	expect(102 * S, 20, 1024);
	expect(3600 * S, 20, 1024);
	expect(3770 * S, 20, 1012);
}
END_TEST

/* What was noted last is still valid, however long ago. */
START_TEST(what_is_there_stays)
{
	note(5 * S, 20, 1024);
	expect(100000 * S, 20, 1024);
	note(100001 * S, 19, 1024);
	expect(103600 * S, 20, 1024);
	expect(103700 * S, 19, 1024);
}
END_TEST

START_TEST(more_is_no_loss)
{
	note(5 * S, 20, 16);
	note(6 * S, 21, 17);
	expect(7 * S, 21, 17);
}
END_TEST

START_TEST(accepted)
{
	note(5 * S, 20, 16);
	note(6 * S, 19, 15);
	census_accept(&census);
	expect(7 * S, 19, 15);
	note(8 * S, 18, 15);
	expect(9 * S, 19, 15);
}
END_TEST

/* Another time begins with the present number. */
START_TEST(other_window)
{
	note(5 * S, 20, 16);
	note(6 * S, 19, 15);
	ck_assert_uint_eq(census_most(&census, 7 * S, 60 * S).switches, 19);
	ck_assert_uint_eq(census_most(&census, 8 * S, 1).switches, 19);
}
END_TEST

/* Against all that was noted, in random order of times. */
START_TEST(by_chance)
{
	enum { N = 2000 };
	static uint64_t at[N];
	static uint32_t hosts[N];
	uint64_t now = 0;

	g_random_set_seed((guint32)_i);
	for (unsigned int i = 0; i < N; i++) {
		uint32_t least = 0, most = 0, told;

		now += (uint64_t)g_random_int_range(0, i % 7 ? 60 : 2000) * S;
		at[i] = now;
		hosts[i] = (uint32_t)g_random_int_range(0, 1000);
		note(now, 1, hosts[i]);
		told = census_most(&census, now, WINDOW).hosts;
		for (unsigned int k = 0; k <= i; k++) {
			uint64_t until = k < i ? at[k + 1] : now;

			if (until + WINDOW - WINDOW / 60 >= now)
				least = MAX(least, hosts[k]);
			if (until + WINDOW + WINDOW / 60 >= now)
				most = MAX(most, hosts[k]);
		}
		ck_assert_uint_ge(told, least);
		ck_assert_uint_le(told, most);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("census");
	TCase *tcase = tcase_create("census");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, the_most_is_remembered);
	tcase_add_test(tcase, what_is_there_stays);
	tcase_add_test(tcase, more_is_no_loss);
	tcase_add_test(tcase, accepted);
	tcase_add_test(tcase, other_window);
	tcase_add_loop_test(tcase, by_chance, 0, 5);
	suite_add_tcase(suite, tcase);
	return suite;
}
