// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables that partitions are tied to (struct route_ties): of the best paths to an endport, those
 * are taken that pass the fewest cables of other partitions, and then the most cables of its own.
 * This makes no path longer, and changes none from up to down.
 */
#ifndef ROUTE_FILL_TIES_H
#define ROUTE_FILL_TIES_H

#include "route/engine.h"
#include "route/graph/plan.h"

#define ROUTE_PENALTY_OTHERS 256 /* more than the penalty of the longest path without */

/* Marks links and targets, if the input has ties and any of them is in the fabric. */
void route_mark_ties(struct route_wishes *wishes, const struct fabric *fabric,
		     const struct route_input *input);

/* Penalty of a link, if there are ties, for members of these partitions. */
static inline uint32_t route_penalty(const struct route_wishes *wishes, uint32_t link,
				     uint64_t partitions)
{
	uint64_t tied = wishes->tied[link];

	return !tied ? 1 : tied & partitions ? 0 : ROUTE_PENALTY_OTHERS;
}

/* Penalty of the edge to another switch: that of its dearest link; 1 if the edge is gone. */
uint32_t route_penalty_to(const struct route_wishes *wishes, uint32_t sw, uint32_t to,
			  uint64_t partitions);

/* [switch]: least penalty of the paths up to the top of a layered network; newly allocated. */
uint32_t *route_penalties_up(const struct route_wishes *wishes, const uint8_t *rank,
			     unsigned int max_rank, uint64_t partitions);

/*
 * Tables that were filled by ancestors respect ties in the choice of these, but not on the paths
 * that lead there from elsewhere: this replaces entries that begin a path with more than the least
 * penalty.
 */
void route_mend_penalties(struct routing *routing, const struct route_plan *plan,
			  const uint8_t *hops);

/* Notes how many shortest paths between hosts pass cables of other partitions, if any do. */
void route_note_ties(struct routing *routing, const struct route_plan *plan, const uint8_t *hops);

#endif
