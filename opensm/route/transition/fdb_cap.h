// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What switches can hold of the LIDs in use: LIDs below their LinearFDBCap, except in blocks that
 * they refuse.
 */
#ifndef ROUTE_TRANSITION_FDB_CAP_H
#define ROUTE_TRANSITION_FDB_CAP_H

#include "fabric/fabric.h"

struct route_room {
	uint32_t n;	/* switches */
	uint32_t *caps; /* [switch]: it holds LIDs below this; FABRIC_LIDS: all in use */
	struct fabric_refusal *refusals; /* in the order of switches */
	uint32_t n_refusals;
	uint32_t *first; /* [switch]: its first refusal; [n] is their number */
};

/*
 * NULL if all switches hold all LIDs in use. Has few different values: where there are many,
 * switches are taken to hold less than they do.
 */
struct route_room *route_room_new(const struct fabric *fabric);
void route_room_free(struct route_room *room); /* NULL is fine */
bool route_room_equal(const struct route_room *a, const struct route_room *b);

/* The least LID above this one that other switches hold, or FABRIC_LIDS. */
uint32_t route_room_next(const struct route_room *room, uint32_t lid);

/* Whether a switch discards a LID, or it is unknown what it does with it. */
static inline bool route_room_lacks(const struct route_room *room, uint32_t sw, uint32_t lid)
{
	if (room->caps[sw] <= lid)
		return true;
	for (uint32_t i = room->first[sw]; i < room->first[sw + 1]; i++)
		if (room->refusals[i].block == lid / FABRIC_LFT_BLOCK)
			return true;
	return false;
}

#endif
