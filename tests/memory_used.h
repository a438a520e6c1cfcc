// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Octets that are allocated, of the heap and beyond it. Of a C library without this figure (glibc
 * before 2.33, musl) it is always 0: there, tests find no growth.
 */
#ifndef TESTS_MEMORY_USED_H
#define TESTS_MEMORY_USED_H

#include <stddef.h>

#include "config.h"

#ifdef HAVE_MALLINFO2
#include <malloc.h>

static inline size_t memory_used(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}
#else
static inline size_t memory_used(void)
{
	return 0;
}
#endif

#endif
