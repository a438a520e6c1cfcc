// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How evenly routes would load the links of a graph as it is oriented, without making them. */
#ifndef ROUTE_ESTIMATE_H
#define ROUTE_ESTIMATE_H

#include "route/graph.h"

#define ROUTE_ESTIMATE_NONE UINT64_MAX

/*
 * Load of the busiest link when all hosts send to those of some switches, in any unit: to compare
 * with that of the same graph in another orientation. ROUTE_ESTIMATE_NONE if it is not below the
 * limit, if paths are too long, or if hosts that cables connect have none.
 */
uint64_t route_estimate(const struct route_graph *graph, uint64_t limit);

#endif
