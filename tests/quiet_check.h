// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libcheck without its note of each assertion that held, which is a system call: test_policy makes
 * 946,199 of them. The notes help after a crash, which a sanitizer or a debugger shows better.
 */
#ifndef TESTS_QUIET_CHECK_H
#define TESTS_QUIET_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* because sources that come after this need it */
#endif
#include <check.h>

/* Does nothing, but keeps the compiler from seeing that nothing changes between two comparisons. */
static inline void check_mark_nothing(void)
{
	__asm__ volatile("" : : : "memory");
}

#define _mark_point(file, line) check_mark_nothing()

#endif
