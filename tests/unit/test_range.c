// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sets of ranges against a bitmap under random operations; the ends of the numbers; parsing. */
#include <check.h>
#include <glib.h>
#include <string.h>

#include <complib/range.h>

#include "tests/run_suite.h"

#define VALUES 256
#define OPERATIONS 5000

static bool bitmap_find(const bool *bits, unsigned int count, unsigned int align, uint64_t *first)
{
	for (unsigned int start = 0; start + count <= VALUES; start += align) {
		unsigned int n = 0;

		while (n < count && bits[start + n])
			n++;
		if (n == count) {
			*first = start;
			return true;
		}
	}
	return false;
}

/* Same members, and the ranges as few and as ordered as the header promises. */
static bool is_equal(const struct range_set *set, const bool *bits)
{
	uint64_t count = 0;

	for (unsigned int v = 0; v < VALUES; v++) {
		if (range_set_contains(set, v) != bits[v])
			return false;
		count += bits[v];
	}
	for (guint i = 0; i < set->ranges->len; i++) {
		const struct range *range = &g_array_index(set->ranges, struct range, i);

		if (range->first > range->last || (i && range->first <= range[-1].last + 1))
			return false;
	}
	return range_set_count(set) == count;
}

START_TEST(test_random_operations)
{
	GRand *rand = g_rand_new_with_seed(3);
	bool bits[VALUES] = {false};
	struct range_set set;

	range_set_init(&set);
	for (int i = 0; i < OPERATIONS; i++) {
		unsigned int first = (unsigned int)g_rand_int_range(rand, 0, VALUES);
		unsigned int span = (unsigned int)g_rand_int_range(rand, 0, i & 1 ? 40 : 3);
		unsigned int last = MIN(first + span, VALUES - 1);
		unsigned int count = (unsigned int)g_rand_int_range(rand, 1, 20);
		unsigned int align = 1U << g_rand_int_range(rand, 0, 6);
		bool add = g_rand_boolean(rand);
		uint64_t found = 0, expected = 0;

		if (add)
			range_set_add(&set, first, last);
		else
			range_set_remove(&set, first, last);
		memset(bits + first, add, last - first + 1);
		ck_assert(is_equal(&set, bits));
		ck_assert(range_set_find(&set, count, align, &found) ==
			  bitmap_find(bits, count, align, &expected));
		ck_assert_uint_eq(found, expected);
	}
	range_set_clear(&set);
	g_rand_free(rand);
}
END_TEST

START_TEST(test_greatest_numbers)
{
	const uint64_t max = UINT64_MAX;
	struct range_set set;
	uint64_t first;

	range_set_init(&set);
	ck_assert(!range_set_find(&set, 1, 1, &first));
	range_set_add(&set, max - 2, max);
	range_set_add(&set, 0, 0);
	ck_assert_uint_eq(set.ranges->len, 2);
	ck_assert_uint_eq(range_set_count(&set), 4);
	ck_assert(range_set_find(&set, 3, 1, &first) && first == max - 2);
	ck_assert(!range_set_find(&set, 2, 4, &first));
	ck_assert(!range_set_find(&set, max, 1, &first));
	range_set_add(&set, 0, max);
	ck_assert_uint_eq(set.ranges->len, 1);
	ck_assert_uint_eq(range_set_count(&set), max); /* one short: it saturates */
	ck_assert(range_set_find(&set, max, UINT64_C(1) << 63, &first) && first == 0);
	range_set_remove(&set, 1, max - 1);
	ck_assert_uint_eq(range_set_count(&set), 2);
	ck_assert(range_set_contains(&set, max) && range_set_contains(&set, 0));
	range_set_remove(&set, max, max);
	range_set_remove(&set, 0, max);
	ck_assert_uint_eq(set.ranges->len, 0);
	range_set_remove(&set, 0, max);
	range_set_clear(&set);
}
END_TEST

struct parse_row {
	const char *text;
	bool ok;
	uint64_t first, last;
};

START_TEST(test_parse)
{
	static const struct parse_row rows[] = {
		{"7", true, 7, 7},
		{"010", true, 10, 10},
		{"0x10-0x1F", true, 16, 31},
		{"\t 3 - 0XA ", true, 3, 10},
		{"5-5", true, 5, 5},
		{"0-18446744073709551615", true, 0, UINT64_MAX},
		{"0xffffffffffffffff", true, UINT64_MAX, UINT64_MAX},
		{"18446744073709551616", false},
		{"0x10000000000000000", false},
		{"", false},
		{"  ", false},
		{"-", false},
		{"-5", false},
		{"+5", false},
		{"5-", false},
		{"5--6", false},
		{"5-+6", false},
		{"6-5", false},
		{"5 6", false},
		{"5,6", false},
		{"1-2-3", false},
		{"0x", false},
		{"0x-1", false},
		{"0x0x1", false},
		{"12ab", false},
		{"ab", false},
		{"5\n", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct range range = {1, 2};
		bool ok = range_parse(rows[i].text, &range);

		ck_assert_msg(ok == rows[i].ok, "\"%s\"", rows[i].text);
		ck_assert_uint_eq(range.first, ok ? rows[i].first : 1);
		ck_assert_uint_eq(range.last, ok ? rows[i].last : 2);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("range");
	TCase *tcase = tcase_create("range");

	tcase_add_test(tcase, test_random_operations);
	tcase_add_test(tcase, test_greatest_numbers);
	tcase_add_test(tcase, test_parse);
	suite_add_tcase(suite, tcase);
	return suite;
}
