// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/graph/plan.h"

#include <glib.h>

void route_order_clear(struct route_order *order)
{
	g_free(order->place);
	g_free(order->up);
	g_free(order->inverted);
	g_free(order->base);
	g_free(order->joined);
	g_free(order->leaf);
	g_free(order->weight);
	g_free(order->note);
	*order = (struct route_order){.graph = order->graph};
}

void route_plan_init_for(struct route_plan *plan, struct route_graph *graph)
{
	*plan = (struct route_plan){.graph = graph, .order = {.graph = graph}};
	route_wishes_init(&plan->wishes, graph);
}

void route_plan_init(struct route_plan *plan, const struct fabric *fabric)
{
	route_plan_init_for(plan, route_graph_new(fabric));
}

void route_plan_clear(struct route_plan *plan)
{
	route_order_clear(&plan->order);
	route_wishes_clear(&plan->wishes);
	route_graph_free(plan->graph);
	*plan = (struct route_plan){0};
}
