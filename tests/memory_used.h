// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Octets that are allocated, on the heap and beyond it. With a C library without this figure (glibc
 * before 2.33, musl) it is always 0: tests find no growth there.
 */
#ifndef TESTS_MEMORY_USED_H
#define TESTS_MEMORY_USED_H

#include <stddef.h>

#include "config.h"

#ifdef HAVE_MALLINFO2
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * glibc's figure includes what free() put into its caches of small pieces, tens of KiB that differ
 * from one moment to the next. Called first in main(), this restarts the program without these
 * caches: then memory_used() is exact.
 */
static inline void memory_used_exactly(char **argv)
{
	static const char tunables[] = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0";
	const char *set = getenv("GLIBC_TUNABLES");

	if (set && !strcmp(set, tunables))
		return;
	setenv("GLIBC_TUNABLES", tunables, 1);
	execv("/proc/self/exe", argv);
	perror("/proc/self/exe");
	exit(EXIT_FAILURE);
}

static inline size_t memory_used(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}
#else
static inline void memory_used_exactly(char **argv)
{
	(void)argv;
}

static inline size_t memory_used(void)
{
	return 0;
}
#endif

#endif
