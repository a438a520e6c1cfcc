// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A builder filled from a topology instead of a sweep: for examining a fabric offline. */
#ifndef FABRIC_FROM_TOPOLOGY_H
#define FABRIC_FROM_TOPOLOGY_H

#include "fabric/builder.h"
#include "vendor/sim.h"

/*
 * All its nodes and cables, with every link up, as if a sweep had just read them. The SM uses the
 * first end port with a cable, or else port 0 of the first switch. No LIDs. builder_walk() and
 * builder_freeze() exclude what is not connected to the SM's port.
 */
struct builder *builder_from_topology(const struct topology *topology);

/*
 * Assigns LIDs from 1 upwards in the order of the walk: 2^lmc to end ports with a cable, one to a
 * switch. False if there are not enough unicast LIDs.
 */
bool builder_give_lids(struct builder *builder, uint8_t lmc);

#endif
