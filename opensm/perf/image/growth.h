// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What ports counted between two images, whose ports may differ. */
#ifndef PERF_GROWTH_H
#define PERF_GROWTH_H

#include "perf/image/image.h"

struct perf_growth {
	const struct perf_image *old, *new;
	uint32_t *old_row; /* [row of new]: its row in old, or PERF_NONE; NULL: it is the same */
};

/* old may be NULL: then nothing grew. The images must live as long as this. */
void perf_growth_init(struct perf_growth *growth, const struct perf_image *old,
		      const struct perf_image *new);
void perf_growth_clear(struct perf_growth *growth);

/* The row in old of a row of new, or PERF_NONE. */
static inline uint32_t perf_growth_old_row(const struct perf_growth *growth, uint32_t row)
{
	return !growth->old ? PERF_NONE : growth->old_row ? growth->old_row[row] : row;
}

/*
 * How much a counter of a row grew, and in what time; false: unknown, as the row was not read or
 * has nothing to be compared with.
 */
bool perf_growth_counter(const struct perf_growth *growth, uint32_t row, unsigned int counter,
			 uint64_t *delta, uint64_t *dt_ns);
bool perf_growth_detail(const struct perf_growth *growth, uint32_t row, unsigned int detail,
			uint64_t *delta, uint64_t *dt_ns);
/* 0 if it is unknown. */
uint64_t perf_growth_by(const struct perf_growth *growth, uint32_t row, unsigned int counter);
uint64_t perf_growth_detail_by(const struct perf_growth *growth, uint32_t row, unsigned int detail);

#endif
