// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables while they are computed, by LID: entries of one destination are consecutive,
 * while LFTs have one row per switch.
 */
#ifndef ROUTE_GRAPH_COLUMNS_H
#define ROUTE_GRAPH_COLUMNS_H

#include "route/engine.h"
#include "route/graph/channels.h"

#define ROUTE_NO_STEP 0xFF

struct route_columns {
	uint32_t n; /* switches */
	const struct route_channels *channels;
	/* [LID * n + switch]: channel, counted from the first that leaves the switch; or
	 * ROUTE_NO_STEP */
	uint8_t *steps;
};

/* For LIDs up to top; channels must outlive the columns. */
void route_columns_init(struct route_columns *columns, const struct route_channels *channels,
			uint32_t n, uint16_t top);
void route_columns_clear(struct route_columns *columns);

static inline uint8_t *route_column(const struct route_columns *columns, uint16_t lid)
{
	return columns->steps + (size_t)lid * columns->n;
}

/* The channel by which packets to a LID leave a switch, or FABRIC_NONE. */
static inline uint32_t route_columns_get(const struct route_columns *columns, uint32_t sw,
					 uint16_t lid)
{
	uint8_t step = route_column(columns, lid)[sw];

	return step == ROUTE_NO_STEP ? FABRIC_NONE : columns->channels->first[sw] + step;
}

static inline void route_columns_put(const struct route_columns *columns, uint32_t sw, uint16_t lid,
				     uint32_t channel)
{
	route_column(columns, lid)[sw] = channel - columns->channels->first[sw];
}

/* Fills all LFTs: from columns, exit ports of LIDs at their leaves, own LIDs of switches. */
void route_columns_fill(const struct route_columns *columns, const struct route_graph *graph,
			struct routing *routing);

/* The reverse: sets columns to the channels of all LFTs. */
void route_columns_read(const struct route_columns *columns, const struct routing *routing);

#endif
