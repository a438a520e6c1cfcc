// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Paths to one destination after the other on one virtual lane, in any network. */
#ifndef ROUTE_GROW_H
#define ROUTE_GROW_H

#include "route/layered.h"

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

/*
 * The same only of the paths to a switch by a LID in tables that layered keeps, as far as channels
 * still lead there and steps are free: all of the tables computed anew, or what is left of the last
 * ones. From how many switches there is none; grow_on() grows these.
 */
uint32_t grow_kept(struct grow *grow, uint32_t dest, uint16_t lid, const uint16_t *cost);
bool grow_on(struct grow *grow);
uint32_t grow_channel(const struct grow *grow, uint32_t sw);

#endif
