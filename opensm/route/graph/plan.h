// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What an engine makes tables from: the network, which paths in it are legal, what is wished. */
#ifndef ROUTE_GRAPH_PLAN_H
#define ROUTE_GRAPH_PLAN_H

#include "route/graph/order.h"
#include "route/graph/wishes.h"

struct route_plan {
	struct route_graph *graph;
	struct route_order order;   /* of the graph */
	struct route_wishes wishes; /* of its targets */
};

/* A plan without directions, weights and wishes; clear it. */
void route_plan_init(struct route_plan *plan, const struct fabric *fabric);
/* Takes over a graph. */
void route_plan_init_for(struct route_plan *plan, struct route_graph *graph);
void route_plan_clear(struct route_plan *plan);

#endif
