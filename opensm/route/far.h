// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Pairs of switches without a legal path, while a routing is repaired. */
#ifndef ROUTE_FAR_H
#define ROUTE_FAR_H

#include "route/change.h"
#include "route/shortest.h"

/*
 * Sets the entries of all such pairs that the change concerns, in a routing that has those of all
 * other pairs already, and of these as they were. vias are those of the new graph, or NULL.
 * Returns how many it looked at.
 */
uint64_t route_far_repair(const struct route_change *change, const struct route_vias *vias,
			  struct routing *routing);

#endif
