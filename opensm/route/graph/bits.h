// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sets of small numbers as bits, 64 in a word. */
#ifndef ROUTE_GRAPH_BITS_H
#define ROUTE_GRAPH_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bits_has(const uint64_t *words, uint32_t i)
{
	return words[i / 64] >> i % 64 & 1;
}

static inline void bits_put(uint64_t *words, uint32_t i, bool value)
{
	words[i / 64] &= ~(UINT64_C(1) << i % 64);
	words[i / 64] |= (uint64_t)value << i % 64;
}

/* The least element from i on and below n; n if there is none. */
static inline uint32_t bits_next(const uint64_t *words, uint32_t i, uint32_t n)
{
	while (i < n) {
		uint64_t rest = words[i / 64] >> i % 64;

		i = rest ? i + __builtin_ctzll(rest) : (i | 63) + 1;
		if (rest)
			break;
	}
	return i < n ? i : n;
}

/* For each element i from first on and below n. */
#define bits_each(words, first, n, i) \
	for (uint32_t i = bits_next(words, first, n); i < (n); i = bits_next(words, i + 1, n))

#endif
