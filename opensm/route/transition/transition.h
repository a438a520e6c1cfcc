// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How forwarding tables get from what switches hold to a routing, so that nothing goes wrong on the
 * way: in stages, each of which may be written in any order.
 */
#ifndef ROUTE_TRANSITION_TRANSITION_H
#define ROUTE_TRANSITION_TRANSITION_H

#include "route/engine.h"

struct route_stages {
	uint32_t n;		     /* at least 1 */
	const uint8_t *const **rows; /* [stage][switch]: as in a routing, whose own are the last */
	uint32_t n_ordered;   /* LIDs that would loop, or be lost, if all were written at once */
	uint32_t n_discarded; /* LIDs with entries that discard first: else some loop, or credits */
	bool in_haste;	 /* the work was limited */
	bool by_entries; /* entries are discarded or late, not LIDs: some packets may be lost */
	bool only_loops; /* the order keeps from loops alone: some packets may be lost */
	GPtrArray *owned;     /* private */
	struct routing *routing;
};

/*
 * held[switch] is what the switch holds, as long as rows of the routing; NULL: nothing is known. It
 * must live as long as the stages. In a mixture of what is before and after a stage
 *
 * - no LID loops, if it does neither in what is held nor in the routing;
 * - no packet is lost that both deliver, but to LIDs that are discarded first, by_entries, and
 *   where only_loops;
 * - no channels depend on each other in a cycle, if they do not in what is held and in the routing;
 *   of packets with the SLs and lanes of the routing, see lane_changes.h for others.
 *
 * cyclic: they do in what is held, as far as is known. verdict: of the routing, by the verifier.
 * work: how often an entry may be looked at; the default takes about half a second.
 */
#define ROUTE_STAGES_WORK (UINT64_C(1) << 23)
struct route_stages *route_stages_new(const struct fabric *fabric, const uint8_t *const *held,
				      bool cyclic, const struct routing *routing,
				      const struct route_verdict *verdict, uint64_t work);
void route_stages_free(struct route_stages *stages); /* NULL is fine */

#endif
