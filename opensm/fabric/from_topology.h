// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A builder filled from a topology instead of a sweep: for looking at a fabric off line. */
#ifndef FABRIC_FROM_TOPOLOGY_H
#define FABRIC_FROM_TOPOLOGY_H

#include "fabric/builder.h"
#include "vendor/sim.h"

/*
 * All its nodes and cables, every link up, as if a sweep had just read them. The SM sits on the
 * first end port with a cable, or else on port 0 of the first switch. No LIDs. What no cable joins
 * to the SM's port is left out by builder_walk() and builder_freeze().
 */
struct builder *builder_from_topology(const struct topology *topology);

/*
 * Gives LIDs from 1 upwards to what the walk meets, in its order: 2^lmc to end ports with a cable,
 * one to a switch. False if there are not enough unicast LIDs.
 */
bool builder_give_lids(struct builder *builder, uint8_t lmc);

#endif
