// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libcheck without a note of each assertion that held, which is a system call: test_policy makes
 * 946,199 of them. They are there for a crash, and that a sanitizer or a debugger shows better.
 */
#ifndef TESTS_QUIET_CHECK_H
#define TESTS_QUIET_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* as sources do that come after this */
#endif
#include <check.h>

/* Nothing, but the compiler is not to look through it at what is compared before and after. */
static inline void check_mark_nothing(void)
{
	__asm__ volatile("" : : : "memory");
}

#define _mark_point(file, line) check_mark_nothing()

#endif
