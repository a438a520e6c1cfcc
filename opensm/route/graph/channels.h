// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables between switches as channels, one for each direction: numbered as the links of the graph,
 * with those of a switch side by side.
 */
#ifndef ROUTE_GRAPH_CHANNELS_H
#define ROUTE_GRAPH_CHANNELS_H

#include "route/graph/graph.h"

struct route_channels {
	uint32_t n;	     /* channels */
	uint32_t *first;     /* [switch]: first channel that leaves it; n + 1 elements */
	uint32_t *from, *to; /* [channel]: switches at its ends; equal: the link is on no edge */
	uint32_t *back;	     /* [channel]: the other direction of the cable; or NULL */
	uint32_t *of_port;   /* [switch * 256 + port]: FABRIC_NONE if it leads to no other switch */
	uint32_t n_steps;    /* steps: from a channel to one on which packets continue */
	uint32_t *step_base; /* [channel]: see route_step_of(); or NULL */
};

/*
 * For a graph that has all cables between switches, or lacks some in both directions. Without a
 * fabric, back is NULL and steps have no numbers.
 */
struct route_channels *route_channels_new(const struct route_graph *graph,
					  const struct fabric *fabric);
void route_channels_free(struct route_channels *channels);

/* Number of a step; those from a channel are consecutive, in the order of their second channels. */
static inline uint32_t route_step_of(const struct route_channels *channels, uint32_t from,
				     uint32_t to)
{
	return channels->step_base[from] + to;
}

/* For each step from a channel: the channel to which it leads. */
#define route_each_step(channels, channel, next) \
	for (uint32_t next = (channels)->first[(channels)->to[channel]]; \
	     next < (channels)->first[(channels)->to[channel] + 1]; next++)

static inline uint32_t route_channel(const struct route_channels *channels, uint32_t sw,
				     uint8_t port)
{
	return channels->of_port[(size_t)sw * 256 + port];
}

#endif
