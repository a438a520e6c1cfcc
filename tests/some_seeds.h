// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How many of the seeds make check tries by default. */
#ifndef TESTS_SOME_SEEDS_H
#define TESTS_SOME_SEEDS_H

#include "tests/sanitized.h"

#define SEEDS_PART (SANITIZED ? 3 : 1)

/*
 * All of n, at least one; a third with AddressSanitizer or ThreadSanitizer, which run the same code
 * several times slower. Seeds asked for by a variable or an argument are all tried.
 */
static inline int some_seeds(int n)
{
	return (n + SEEDS_PART - 1) / SEEDS_PART;
}

#endif
