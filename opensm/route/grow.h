// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Paths to one destination after the other on one virtual lane, in any network. */
#ifndef ROUTE_GROW_H
#define ROUTE_GROW_H

#include "route/acyclic.h"
#include "route/spread.h"

#define GROW_HOP 16	  /* cost of a hop over an idle channel */
#define GROW_HOP_MAX 1024 /* of one over the busiest */

struct grow;

/* On a lane that has the steps of the trunk, which layered has; both must live as long. */
struct grow *grow_new(const struct layered *layered, struct acyclic *lane);
void grow_free(struct grow *grow);

/*
 * Grows the paths to a switch, cost[channel] each hop, and takes their steps on the lane. True if
 * some are escape paths. grow_channel() tells the first channel of each; FABRIC_NONE if the switch
 * is not connected, or the destination.
 */
bool grow_to(struct grow *grow, uint32_t dest, const uint16_t *cost);
uint32_t grow_channel(const struct grow *grow, uint32_t sw);

#endif
