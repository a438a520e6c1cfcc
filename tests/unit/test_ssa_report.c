// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a node reports of itself, and when the core is told. */
#include <check.h>
#include <string.h>

#include "ssa/store/store.h"
#include "ssa/tree/report.h"
#include "tests/run_suite.h"

static struct ssa_reporter *reporter;
static struct ssa_report report;
static unsigned int told, told_at_once;

static void on_changed(void *arg, bool at_once)
{
	ck_assert_ptr_eq(arg, &report);
	told++;
	told_at_once += at_once;
}

static void begin(void)
{
	told = told_at_once = 0;
	reporter = ssa_reporter_new(on_changed, &report);
}

/* How often the core was told since the last time, and at once. */
static void expect_told(unsigned int n, unsigned int at_once)
{
	ssa_reporter_read(reporter, &report);
	ck_assert_uint_eq(told, n);
	ck_assert_uint_eq(told_at_once, at_once);
	told = told_at_once = 0;
}

static void report_failure(const char *text)
{
	g_autoptr(GError) error = NULL;

	g_set_error(&error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE, "%s", text);
	ssa_report_error(reporter, error);
}

START_TEST(test_epochs)
{
	int64_t before_us = g_get_real_time();

	begin();
	ssa_report_epoch(reporter, 5, 7);
	expect_told(1, 0);
	ck_assert_uint_eq(report.term, 5);
	ck_assert_uint_eq(report.epoch, 7);
	ck_assert_uint_eq(report.updates, 1);
	ck_assert_int_ge(report.updated_us, before_us);
	ck_assert_int_ge(report.confirmed_us, before_us);
	ssa_report_confirmed(reporter);
	expect_told(0, 0);
	ck_assert_int_ge(report.confirmed_us, report.updated_us);
	ssa_reporter_free(reporter);
}
END_TEST

/* A failure that comes again is counted, and not told. */
START_TEST(test_errors)
{
	char text[300];

	begin();
	ssa_report_error(reporter, NULL);
	expect_told(0, 0);
	report_failure("one");
	expect_told(1, 0);
	ck_assert_str_eq(report.error, "one");
	ck_assert_int_gt(report.error_us, 0);
	report_failure("one");
	expect_told(0, 0);
	report_failure("another");
	expect_told(1, 0);
	ck_assert_str_eq(report.error, "another");
	ck_assert_uint_eq(report.errors, 3);
	ssa_report_error(reporter, NULL);
	expect_told(1, 0);
	ssa_report_error(reporter, NULL);
	expect_told(0, 0);
	report_failure("another");
	expect_told(1, 0);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	report_failure(text);
	expect_told(1, 0);
	ck_assert_uint_eq(strlen(report.error), sizeof(report.error) - 1);
	report_failure(text);
	expect_told(0, 0);
	ssa_reporter_free(reporter);
}
END_TEST

START_TEST(test_parents)
{
	int64_t settled_us;

	begin();
	ssa_report_switch(reporter, "redis://reader@a:1", NULL);
	expect_told(1, 0);
	ck_assert_str_eq(report.parent, "a:1");
	ck_assert_str_eq(report.bad_parent, "");
	ck_assert_uint_eq(report.switches, 0);
	ck_assert_int_eq(report.settled_us, 0);
	ssa_report_settled(reporter);
	expect_told(0, 0);
	settled_us = report.settled_us;
	ck_assert_int_gt(settled_us, 0);
	g_usleep(1000);
	ssa_report_settled(reporter);
	expect_told(0, 0);
	ck_assert_int_eq(report.settled_us, settled_us);
	ssa_report_switch(reporter, "files:/x", "redis://reader@a:1");
	expect_told(1, 1);
	ck_assert_str_eq(report.parent, "files:/x");
	ck_assert_str_eq(report.bad_parent, "a:1");
	ck_assert_uint_eq(report.switches, 1);
	ck_assert_int_eq(report.settled_us, 0);
	ssa_reporter_free(reporter);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_report");
	TCase *tcase = tcase_create("reports");

	tcase_add_test(tcase, test_epochs);
	tcase_add_test(tcase, test_errors);
	tcase_add_test(tcase, test_parents);
	suite_add_tcase(suite, tcase);
	return suite;
}
