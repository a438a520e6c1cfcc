// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Entries that a file leaves open, so that they fit to those that it has. */
#ifndef ROUTE_FILE_FILL_H
#define ROUTE_FILE_FILL_H

#include "route/bits.h"
#include "route/engine.h"

/* A bit for each entry of a routing: whether the file has said it. */
struct route_fixed {
	uint32_t n_lids; /* in a row */
	uint64_t *bits;
};

void route_fixed_init(struct route_fixed *fixed, const struct routing *routing);
void route_fixed_clear(struct route_fixed *fixed);

static inline bool route_is_fixed(const struct route_fixed *fixed, uint32_t sw, uint16_t lid)
{
	return bits_has(fixed->bits, sw * fixed->n_lids + lid);
}

static inline void route_fix(struct route_fixed *fixed, uint32_t sw, uint16_t lid)
{
	bits_put(fixed->bits, sw * fixed->n_lids + lid, true);
}

/* The switch that an entry leads to; FABRIC_NONE if it leads to none. */
uint32_t route_next_switch(const struct fabric *fabric, uint32_t sw, uint8_t port);

struct route_fill_tally {
	uint64_t around;    /* open entries that are not as the filler has them */
	uint64_t overruled; /* fixed ones that were changed */
};

/*
 * Changes open entries where with them some switch would not reach a LID that it can reach. Of a
 * LID marked as dead all entries become those of the filler that do not get there by the file
 * alone. Of others, entries that loop among themselves stay wrong.
 */
struct route_fill_tally route_file_fill(const struct fabric *fabric,
					const struct route_fixed *fixed, const bool *dead,
					const struct routing *filler, struct routing *routing);

#endif
