// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Channels by lane: each channel once for each VL, for a graph in which packets change lanes on
 * their way. What waits is a channel on a VL, and its next step may lead to any VL.
 */
#ifndef ROUTE_LAYERS_LANE_CHANNELS_H
#define ROUTE_LAYERS_LANE_CHANNELS_H

#include "route/graph/channels.h"
#include "route/value/lanes.h"

struct lane_channels {
	struct route_channels *channels; /* as acyclic.h takes them; of_port is NULL */
	unsigned int n;			 /* lanes */
	uint8_t place[ROUTE_SLS];	 /* [VL]: from 0, of those in use */
};

/* vls: bits of those in use, at least one. */
struct lane_channels *lane_channels_new(const struct route_channels *channels, uint32_t n_switches,
					uint16_t vls);
void lane_channels_free(struct lane_channels *by_lane);

/* A channel on a VL that is in use. */
static inline uint32_t lane_channel(const struct lane_channels *by_lane, uint32_t channel,
				    unsigned int vl)
{
	return channel * by_lane->n + by_lane->place[vl];
}

/* The channel of a channel by lane. */
static inline uint32_t lane_channel_of(const struct lane_channels *by_lane, uint32_t channel)
{
	return channel / by_lane->n;
}

#endif
