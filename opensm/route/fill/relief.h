// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A local search that takes load off the busiest channels of finished tables. Switches whose
 * traffic to a LID passes a channel over the limit choose again, the nearest first: of the paths
 * that begin with each of their best steps, the one whose busiest channel then carries least. No
 * channel gets more load than the busiest one had before, and few entries change.
 */
#ifndef ROUTE_FILL_RELIEF_H
#define ROUTE_FILL_RELIEF_H

#include "route/graph/columns.h"
#include "route/graph/flows.h"

struct route_relief {
	struct route_flows *flows;
	const struct route_columns *columns;
	uint64_t *load;	  /* [channel] */
	uint32_t *chosen; /* [switch]: scratch */
	uint64_t limit;
};

/*
 * Reads the paths of a LID to the current destination of the flows, of which sent holds what each
 * switch itself sends there. Returns whether they pass a channel over the limit.
 */
bool route_relief_read(struct route_relief *relief, uint16_t lid);
/* Changes these paths, in the columns and in chosen; the steps for the LID must be listed. */
void route_relief_move(struct route_relief *relief, uint16_t lid);

#endif
