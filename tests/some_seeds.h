// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How many of the seeds that make check tries by default. */
#ifndef TESTS_SOME_SEEDS_H
#define TESTS_SOME_SEEDS_H

/*
 * All of n, at least one; with AddressSanitizer or ThreadSanitizer, which run the same code some
 * times slower, a third. Those asked for by a variable or an argument are all tried.
 */
static inline int some_seeds(int n)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return (n + 2) / 3;
#else
	return n;
#endif
}

#endif
