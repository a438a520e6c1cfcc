// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Pseudo-random numbers from a seed, for repeatable runs; not for secrets. */
#ifndef COMPLIB_RANDOM_H
#define COMPLIB_RANDOM_H

#include <stdint.h>

/* The next number below limit (0: always 0); *state is the seed at first (splitmix64). */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return (x >> 32) * limit >> 32;
}

#endif
