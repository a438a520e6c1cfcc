// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Who sends to whom: the one answer that engines and the verifier go by. */
#ifndef ROUTE_GRAPH_DEMAND_H
#define ROUTE_GRAPH_DEMAND_H

#include "route/engine.h"
#include "route/graph/graph.h"

/* Counts who sends to each class of demand, if the input has one; targets get their class. */
void route_mark_demand(struct route_graph *graph, const struct fabric *fabric,
		       const struct route_input *input);

/*
 * Whether hosts of two switches may send each other anything in a graph marked so. To the subnet
 * manager and back all may, whatever demand says.
 */
bool route_sends(const struct route_graph *graph, uint32_t a, uint32_t b);

#endif
