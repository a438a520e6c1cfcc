// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Random stories (chance.h) of events during sweeps, and of requests. */
#include <check.h>

#include "chance.h"
#include "tests/run_suite.h"

START_TEST(amid_sweeps)
{
	chance_story(&chance_moments, "triangle.topo", (uint64_t)_i, _i % 3 ? "host-1" : "sw-a");
}
END_TEST

START_TEST(amid_sweeps_of_a_tree)
{
	chance_story(&chance_moments, "fattree:4", (uint64_t)_i, "host-0");
}
END_TEST

START_TEST(asked_for)
{
	chance_story(&chance_others, "triangle.topo", (uint64_t)_i, _i % 3 ? "host-1" : "sw-c");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("moments_golden");
	TCase *tcase = tcase_create("stories");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, amid_sweeps, 1, 13);
	tcase_add_loop_test(tcase, amid_sweeps_of_a_tree, 101, 107);
	tcase_add_loop_test(tcase, asked_for, 1, 13);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
