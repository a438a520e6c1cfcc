// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How the suites of a test program are run. */
#ifndef TESTS_RUN_SUITE_H
#define TESTS_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

typedef Suite *make_suite_fn(void);

/* For TEST_SUITE: main() of tests/suites.c runs the suite after those that were added before. */
void add_suite(make_suite_fn *make);

/*
 * Begins the function that makes and returns the suite of this file. A program that is linked from
 * several such files and libsuites.a runs the suites of all of them, in the order of its sources.
 */
#define TEST_SUITE                                                                                 \
	static Suite *suite_of_this_file(void);                                                    \
	__attribute__((constructor)) static void add_suite_of_this_file(void)                      \
	{                                                                                          \
		add_suite(suite_of_this_file);                                                     \
	}                                                                                          \
	static Suite *suite_of_this_file(void)

/*
 * For a program that has a main() of its own: runs the suite, as verbose as CK_VERBOSITY says, and
 * frees it; returns what main returns. Each test runs in its own process, or all in one, or as
 * CK_FORK says. That no test was selected is a failure.
 */
static inline int run_suite_as(Suite *suite, enum fork_status fork_status)
{
	SRunner *runner = srunner_create(suite);
	int failed, run;

	srunner_set_fork_status(runner, fork_status);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	run = srunner_ntests_run(runner);
	srunner_free(runner);
	return run && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline int run_suite(Suite *suite)
{
	return run_suite_as(suite, CK_FORK_GETENV);
}

#endif
