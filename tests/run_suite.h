// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a test program does once it has made its suite. */
#ifndef TESTS_RUN_SUITE_H
#define TESTS_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/*
 * Runs the suite, as verbose as CK_VERBOSITY says, and frees it; returns what main returns. Each
 * test runs in its own process, or all in one, or as CK_FORK says.
 */
static inline int run_suite_as(Suite *suite, enum fork_status fork_status)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_set_fork_status(runner, fork_status);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int run_suite(Suite *suite)
{
	return run_suite_as(suite, CK_FORK_GETENV);
}

#endif
