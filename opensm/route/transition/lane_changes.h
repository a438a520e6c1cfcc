// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where the promise of transition.h ends. Its stages keep all mixtures of old and new tables free
 * of credit loops for packets that have the SLs of the new routing, mapped to the lanes of the new
 * one. But hosts send on the SL that they were told until they ask for their path again, and
 * SLtoVLMappingTables are written after forwarding tables: where a change gives switches another
 * SL, or other maps, packets may depend on each other in ways that nobody has looked at.
 */
#ifndef ROUTE_TRANSITION_LANE_CHANGES_H
#define ROUTE_TRANSITION_LANE_CHANGES_H

#include "route/engine.h"

struct lane_changes {
	uint64_t pairs; /* of switches that had a path, and have another SL or none now */
	uint32_t maps;	/* switches with other SLtoVLMappingTables for the SLs in use */
};

/*
 * From what switches hold or did hold (NULL: nothing) to a routing. All 0: the promise covers the
 * change, which is so whenever the new routing does without lanes.
 */
struct lane_changes route_lane_changes(const struct routing *old, const struct routing *new);

/* For people; NULL if there are none. Newly allocated. */
char *route_lane_changes_tell(const struct lane_changes *changes, const struct routing *new);

#endif
