// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where the promise of transition.h ends. Its stages keep all mixtures of old and new tables free
 * of credit loops for packets that have the SLs of the new routing, mapped to the lanes of the new
 * one. But hosts use the SL of their last PathRecord until they ask again, and a row of an
 * SLtoVLMappingTable changes at another time than those of other switches: where a change gives
 * switches another SL, or other maps, packets may depend on each other in ways that were not
 * checked.
 */
#ifndef ROUTE_TRANSITION_LANE_CHANGES_H
#define ROUTE_TRANSITION_LANE_CHANGES_H

#include "route/transition/transition.h"

struct lane_changes {
	uint64_t pairs; /* of switches that had a path, and now have another SL or none */
	uint64_t told;	/* pairs whose hosts may use an SL from before, these included */
	uint32_t maps;	/* switches whose SLtoVLMappingTables change for the SLs in use */
	bool given_up;	/* the old routing has lanes, the new one has none */
	bool entries;	/* entries change, and lanes depend on turns */
};

/*
 * Compares what switches hold or held (NULL: nothing) with a routing. All 0: the promise covers the
 * change, which is always so if neither has lanes.
 */
struct lane_changes route_lane_changes(const struct routing *old, const struct routing *new,
				       struct route_watch *watch);

static inline bool route_lane_changes_any(const struct lane_changes *changes)
{
	return changes->pairs || changes->told || changes->maps || changes->entries;
}

/* Whether what they may close stays closed until hosts have asked again. */
static inline bool route_lane_changes_last(const struct lane_changes *changes)
{
	return changes->pairs || changes->told;
}

struct lane_change {
	const struct routing *old, *new;
	const uint8_t *const *held;	   /* [switch]: what it holds; a row may be NULL */
	const struct route_stages *stages; /* NULL: all at once */
	bool maps; /* SLtoVLMappingTables change, before the first stage */
	struct route_watch *watch; /* or NULL; cancelled: nothing is said of the change */
};

/*
 * lane_mixtures.c: whether packets with the SLs of old and new routing close no loop in any mixture
 * of entries and maps on the way. False also if that takes more work: visits of a channel.
 */
#define ROUTE_MIX_WORK (UINT64_C(1) << 24)
bool route_lanes_mix(const struct lane_change *change, uint64_t work);

/* For the operator; NULL if there are no changes. Newly allocated. */
char *route_lane_changes_tell(const struct lane_changes *changes, const struct routing *new);

#endif
