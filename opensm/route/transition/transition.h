// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How forwarding tables get safely from what switches hold to a routing: in stages, each of which
 * may be written in any order.
 */
#ifndef ROUTE_TRANSITION_TRANSITION_H
#define ROUTE_TRANSITION_TRANSITION_H

#include "route/engine.h"

struct route_stages {
	uint32_t n;		     /* at least 1 */
	const uint8_t *const **rows; /* [stage][switch]: the last are those of the routing */
	uint32_t first_linked; /* from this one on, entries lead over links that must be up; or n */
	uint32_t n_ordered;   /* LIDs that would loop or lose packets if written at once */
	uint32_t n_discarded; /* LIDs with entries that discard first, against loops */
	bool budget_exceeded; /* the limit of work was reached */
	bool by_entries; /* entries are discarded or delayed, not LIDs: packets may be lost */
	bool only_loops; /* the order prevents loops only: packets may be lost */
	GPtrArray *owned;     /* private */
	struct routing *routing;
};

/*
 * held[switch] is what the switch holds, as long as rows of the routing; NULL: nothing is known. It
 * must outlive the stages. In any mixture of the entries before and after a stage
 *
 * - no LID loops, if it loops neither in what is held nor in the routing;
 * - no packet is lost that both deliver, except to LIDs that are discarded first, by_entries, and
 *   if only_loops; not even on links that are coming up, if stages from first_linked on are written
 *   when these are ACTIVE;
 * - no channels depend on each other in a cycle, if they do not in what is held and in the routing;
 *   for packets with the SLs and lanes of the routing, see lane_changes.h for others.
 *
 * cyclic: what is held is known to have such a cycle. verdict: the verifier's, on the routing.
 * work: how often an entry may be examined; the default takes about half a second.
 * Returns NULL if the watch was cancelled (graph/watch.h).
 */
#define ROUTE_STAGES_WORK (UINT64_C(1) << 23)
struct route_stages *route_stages_new(const struct fabric *fabric, const uint8_t *const *held,
				      bool cyclic, const struct routing *routing,
				      const struct route_verdict *verdict, uint64_t work,
				      struct route_watch *watch);
/* Without the last of these promises: then no LID discards first, unless work is too little. */
struct route_stages *route_stages_without_credits(const struct fabric *fabric,
						  const uint8_t *const *held,
						  const struct routing *routing, uint64_t work,
						  struct route_watch *watch);
void route_stages_free(struct route_stages *stages); /* NULL is fine */

#endif
