// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* main() of a program whose files each begin their suite with TEST_SUITE. */
#include <stdio.h>

#include "tests/run_suite.h"

#define MAX_SUITES 64

static make_suite_fn *makers[MAX_SUITES];
static int n_makers;

void add_suite(make_suite_fn *make)
{
	if (n_makers == MAX_SUITES)
		abort();
	makers[n_makers++] = make;
}

/* A CK_RUN_SUITE or CK_RUN_CASE that names none of them is a mistake, not a success. */
int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int i, failed, run;

	for (i = 0; i < n_makers; i++)
		srunner_add_suite(runner, makers[i]());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	run = srunner_ntests_run(runner);
	srunner_free(runner);
	if (!run)
		fprintf(stderr, "no test has run\n");
	return run && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
