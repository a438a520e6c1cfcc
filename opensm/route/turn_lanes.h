// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lanes of turns. A turn is a channel and the one by which packets go on; a switch sees by which
 * port a packet comes and goes, but not on which lane (SL2VL). So each turn has the least lane that
 * is not below that of any turn before it on some path, and above it if the turn is not free.
 */
#ifndef ROUTE_TURN_LANES_H
#define ROUTE_TURN_LANES_H

#include <stdbool.h>
#include <stdint.h>

struct turn_lanes;

/* is_free[turn] must live as long. */
struct turn_lanes *turn_lanes_new(uint32_t n_turns, const bool *is_free);
void turn_lanes_free(struct turn_lanes *lanes);

/* The lane of a turn; 0 if it is in no path. */
uint8_t turn_lanes_lane(const struct turn_lanes *lanes, uint32_t turn);

/* Adds a path by its turns; false if some turn then has lane most or a higher one. */
bool turn_lanes_add(struct turn_lanes *lanes, const uint32_t *turns, uint32_t n, unsigned int most);

/* What was added since turn_lanes_begin() is taken back. */
void turn_lanes_begin(struct turn_lanes *lanes);
void turn_lanes_undo(struct turn_lanes *lanes);

#endif
