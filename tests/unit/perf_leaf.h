// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Images of counters made by hand. */
#ifndef TESTS_UNIT_PERF_LEAF_H
#define TESTS_UNIT_PERF_LEAF_H

#include "perf/image/image.h"

#define PERF_LEAF_SWITCH UINT64_C(0x200000080000100)
#define PERF_LEAF_HOST_A UINT64_C(0x200000000000200)
#define PERF_LEAF_HOST_B UINT64_C(0x200000000000300)
#define PERF_LEAF_WEIRD UINT64_C(0x200000000000400)
#define PERF_LEAF_TIME INT64_C(1795000000) /* seconds since 1970 */

/*
 * "leaf one" with 4 ports, of which 1 to 3 lead to port 1 of "host a", "host-b" and "weird:name",
 * and 4 is down. EDR links. since: seconds since 1970.
 */
struct perf_layout *perf_leaf_layout(int64_t since);

/*
 * An image, seconds after PERF_LEAF_TIME, in which each port that is up was read and has all
 * counters, at 0. Its id is seconds + 1.
 */
struct perf_image *perf_leaf_image(struct perf_layout *layout, unsigned int seconds);

/* With the totals of before as well. */
struct perf_image *perf_leaf_next(const struct perf_image *before, unsigned int seconds);

/* Takes over the images. */
struct perf_images *perf_leaf_images(struct perf_image *const *images, unsigned int n);

uint32_t perf_leaf_row(const struct perf_image *image, uint64_t guid, uint8_t port);

#endif
