// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shortest paths that are spread over the cables by what these carry so far. */
#ifndef ROUTE_SPREAD_H
#define ROUTE_SPREAD_H

#include "route/layered.h"

/*
 * Whether a way makes other tables than those before it: if tables are kept it makes no difference
 * how the rest is spread, for LIDs that went together go on so, but for dimensions; and these are
 * not everywhere.
 */
bool layered_is_way(struct layered *layered, enum spread_by by);

/* Fills those of ways, a bit each, that may be wanted next, if there are threads for it. */
void layered_spread_ahead(struct layered *layered, unsigned int ways);

/* Fills the tables once; returns the load of the busiest channel, all hosts sending to all. */
uint64_t layered_spread(struct layered *layered, enum spread_by by);

/* By leaves or ports, whichever loads the busiest channel less; the same is returned. */
uint64_t layered_spread_leaves(struct layered *layered);

#endif
