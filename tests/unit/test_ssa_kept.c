// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which chunks of a store are old. */
#include <check.h>
#include <string.h>

#include "ssa/store/kept.h"
#include "tests/run_suite.h"
#include "tests/unit/ssa_bed.h"

#define NOW 1000000

static void publish(struct ssa_kept *kept, unsigned int chunk, int64_t now_s)
{
	const char *name = bed_name(chunk);

	ssa_kept_publish(kept, &name, 1, false, now_s);
}

static unsigned int take_old(struct ssa_kept *kept, unsigned int keep_s, int64_t now_s)
{
	GPtrArray *old = ssa_kept_take_old(kept, keep_s, now_s);
	unsigned int n = old->len;

	g_ptr_array_unref(old);
	return n;
}

static struct ssa_kept *parse(const char *text, int64_t now_s)
{
	return ssa_kept_parse(text, text ? strlen(text) : 0, now_s);
}

START_TEST(test_ages)
{
	struct ssa_kept *kept = parse(NULL, NOW);

	publish(kept, 1, NOW);
	publish(kept, 2, NOW + 1);
	publish(kept, 3, NOW + 2);
	ck_assert_uint_eq(take_old(kept, 60, NOW + 1000), 0); /* all are of the last three */
	publish(kept, 4, NOW + 3);
	ck_assert_uint_eq(take_old(kept, 60, NOW + 59), 0);
	ck_assert(ssa_kept_knows(kept, bed_name(1)));
	ck_assert_uint_eq(take_old(kept, 60, NOW + 60), 1);
	ck_assert(!ssa_kept_knows(kept, bed_name(1)));
	publish(kept, 2, NOW + 60); /* used again */
	publish(kept, 5, NOW + 61);
	publish(kept, 5, NOW + 62);
	ck_assert_uint_eq(take_old(kept, 60, NOW + 1000), 2); /* 3 and 4 */
	ck_assert(ssa_kept_knows(kept, bed_name(2)));
	ssa_kept_free(kept);
}
END_TEST

START_TEST(test_text)
{
	struct ssa_kept *kept = parse(NULL, NOW), *again;
	g_autofree char *text = NULL, *text_again = NULL;

	publish(kept, 1, NOW);
	publish(kept, 2, NOW);
	ssa_kept_add(kept, bed_name(3), NOW + 1);
	text = ssa_kept_text(kept);
	again = parse(text, NOW + 2);
	text_again = ssa_kept_text(again);
	ck_assert_str_eq(text, text_again);
	ck_assert_ptr_nonnull(strstr(text, " 1 1000000\n"));
	ck_assert_ptr_nonnull(strstr(text, " 0 1000001\n"));
	ssa_kept_free(kept);
	ssa_kept_free(again);
}
END_TEST

/* What is published again makes nothing older. */
START_TEST(test_again)
{
	struct ssa_kept *kept = parse(NULL, NOW);
	g_autofree char *name = g_strdup(bed_name(2));

	publish(kept, 1, NOW);
	for (unsigned int i = 0; i < 10; i++)
		ssa_kept_publish(kept, (const char *const *)&name, 1, i > 0, NOW);
	ck_assert_uint_eq(take_old(kept, 60, NOW + 1000), 0);
	publish(kept, 3, NOW);
	publish(kept, 4, NOW);
	ck_assert_uint_eq(take_old(kept, 60, NOW + 1000), 1);
	ssa_kept_free(kept);
}
END_TEST

/* A clock that went back saves nothing for ever. */
START_TEST(test_clock)
{
	struct ssa_kept *kept = parse("00000000000000000000000000000000 7 999999999999\n", NOW);

	ck_assert_uint_eq(take_old(kept, 60, NOW + 59), 0);
	ck_assert_uint_eq(take_old(kept, 60, NOW + 60), 1);
	ssa_kept_free(kept);
}
END_TEST

/* Other lines are skipped, and their words never become names. */
START_TEST(test_hostile)
{
	static const char *const wrong[] = {
		"\n\n\n",
		"../../../../etc/passwd 9 0\n",
		"00000000000000000000000000000000",
		"00000000000000000000000000000000 9\n",
		"00000000000000000000000000000000 9 0 0\n",
		"00000000000000000000000000000000 x 0\n",
		"0000000000000000000000000000000 9 0\n",
		"000000000000000000000000000000000 9 0\n",
		"0000000000000000000000000000000A 9 0\n",
		"00000000000000000000000000000000 99999999999999999999 0\n",
		"00000000000000000000000000000000 9 99999999999999999999\n",
		"%s%n%s%n 9 0\n",
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(wrong); i++) {
		struct ssa_kept *kept = parse(wrong[i], NOW);
		g_autofree char *text = ssa_kept_text(kept);

		ck_assert_msg(!*text, "'%s' of '%s'", text, wrong[i]);
		ssa_kept_free(kept);
	}
}
END_TEST

/* Time saves no more than a number of chunks that bounds the text. */
START_TEST(test_many)
{
	struct ssa_kept *kept = parse(NULL, NOW);
	char name[SSA_NAME_LENGTH + 1];
	const char *names[] = {name};

	for (unsigned int i = 0; i < 70000; i++) {
		g_snprintf(name, sizeof(name), "%032x", i);
		ssa_kept_add(kept, name, NOW);
	}
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(take_old(kept, 60, NOW), 0);
		ssa_kept_publish(kept, names, 1, false, NOW);
	}
	ck_assert_uint_eq(take_old(kept, 60, NOW), 69999);
	ssa_kept_free(kept);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_kept");
	TCase *tcase = tcase_create("kept");

	tcase_add_test(tcase, test_ages);
	tcase_add_test(tcase, test_text);
	tcase_add_test(tcase, test_again);
	tcase_add_test(tcase, test_clock);
	tcase_add_test(tcase, test_hostile);
	tcase_add_test(tcase, test_many);
	suite_add_tcase(suite, tcase);
	return suite;
}
