// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Entries that a file leaves open, so that they fit to those that it has. */
#ifndef ROUTE_FILE_FILL_H
#define ROUTE_FILE_FILL_H

#include "route/engine.h"

/* The switch that an entry leads to; FABRIC_NONE if it leads to none. */
uint32_t route_next_switch(const struct fabric *fabric, uint32_t sw, uint8_t port);

/*
 * A routing that has what a file said, and is else as the filler; but open entries are others where
 * some switch would not reach a LID that it can reach. Of a LID marked as dead all entries are
 * those of the filler that do not get there by the file alone. Of others, entries that loop among
 * themselves stay wrong. Counts open entries that are not as the filler has them (around), and
 * entries that the file said to no avail.
 */
struct routing *route_file_fill(const struct routing *said, const bool *dead,
				const struct routing *filler, uint64_t *around,
				uint64_t *overruled);

#endif
