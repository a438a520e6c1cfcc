// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A set of unsigned integers kept as sorted, disjoint, non-adjacent closed ranges. */
#ifndef COMPLIB_RANGE_H
#define COMPLIB_RANGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct range {
	uint64_t first, last;
};

struct range_set {
	GArray *ranges; /* struct range */
};

void range_set_init(struct range_set *set);
void range_set_clear(struct range_set *set); /* frees; call init to use it again */
void range_set_add(struct range_set *set, uint64_t first, uint64_t last);
void range_set_remove(struct range_set *set, uint64_t first, uint64_t last);
bool range_set_contains(const struct range_set *set, uint64_t value);
uint64_t range_set_count(const struct range_set *set);

/*
 * The lowest run of count values in the set whose first value is a multiple of align (a power of
 * two); false if there is none. The run is not removed.
 */
bool range_set_find(const struct range_set *set, uint64_t count, uint64_t align, uint64_t *first);

/* "N" or "N-M", decimal or 0x hex, blanks allowed around; false on anything else or N > M. */
bool range_parse(const char *text, struct range *range);

#endif
