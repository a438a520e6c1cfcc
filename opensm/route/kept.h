// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables of before, of which layered engines keep what is still good. */
#ifndef ROUTE_KEPT_H
#define ROUTE_KEPT_H

#include "route/lanes.h"

/* A routing of before, for the switches of now. */
struct route_kept {
	const struct routing *routing;
	uint32_t *row; /* [switch]: as of route_places() */
};

static inline uint8_t route_kept_port(const struct route_kept *kept, uint32_t sw, uint16_t lid)
{
	uint32_t row = kept->row[sw];

	return row == FABRIC_NONE ? ROUTE_NO_PORT : routing_port(kept->routing, row, lid);
}

/* The SL that two switches had there, or ROUTE_NO_SL. */
static inline uint8_t route_kept_sl(const struct route_kept *kept, uint32_t a, uint32_t b)
{
	const struct route_lanes *lanes = kept->routing->lanes;

	if (kept->row[a] == FABRIC_NONE || kept->row[b] == FABRIC_NONE)
		return ROUTE_NO_SL;
	return lanes ? route_lanes_sl(lanes, kept->row[a], kept->row[b]) : 0;
}

#endif
