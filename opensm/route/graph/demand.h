// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which hosts send to which: the one answer used by engines and the verifier. */
#ifndef ROUTE_GRAPH_DEMAND_H
#define ROUTE_GRAPH_DEMAND_H

#include "route/engine.h"
#include "route/graph/graph.h"

/* Counts the senders to each class of demand, if the input has one; targets get their class. */
void route_mark_demand(struct route_graph *graph, const struct fabric *fabric,
		       const struct route_input *input);

/*
 * Whether hosts of two switches may send each other anything in a graph marked by
 * route_mark_demand(). Everything may send to the subnet manager and back, whatever the demand.
 */
bool route_sends(const struct route_graph *graph, uint32_t a, uint32_t b);

#endif
