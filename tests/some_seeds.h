// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How many of the seeds make check tries by default. */
#ifndef TESTS_SOME_SEEDS_H
#define TESTS_SOME_SEEDS_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEEDS_PART 3
#elif defined(__has_feature) /* of clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SEEDS_PART 3
#endif
#endif
#ifndef SEEDS_PART
#define SEEDS_PART 1
#endif

/*
 * All of n, at least one; a third with AddressSanitizer or ThreadSanitizer, which run the same code
 * several times slower. Seeds asked for by a variable or an argument are all tried.
 */
static inline int some_seeds(int n)
{
	return (n + SEEDS_PART - 1) / SEEDS_PART;
}

#endif
