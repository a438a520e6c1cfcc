// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Pseudo-random numbers from a seed, for repeatable runs; not for secrets. */
#ifndef COMPLIB_RANDOM_H
#define COMPLIB_RANDOM_H

#include <stdint.h>

/* splitmix64 without its last step, for callers of the upper half; *state is the seed at first. */
static inline uint64_t random_upper(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	return (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
}

/* The next number of splitmix64 (Steele, Lea and Flood). */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = random_upper(state);

	return x ^ x >> 31;
}

/* The next number below limit (0: always 0). */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (random_upper(state) >> 32) * limit >> 32;
}

#endif
