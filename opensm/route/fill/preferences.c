// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The operator's preferences among best paths: ports that do not count, ports that are routed
 * first. They become wishes, where both fills look.
 */
#include "route/fill/shortest.h"

/* The port that endport names, or FABRIC_NONE. */
static uint32_t find_port(const struct fabric *fabric, const struct route_endport *endport)
{
	uint32_t node;

	if (endport->num < 0)
		return fabric_port_by_guid(fabric, endport->guid);
	node = fabric_node_by_guid(fabric, endport->guid);
	return node == FABRIC_NONE || endport->num > fabric->nodes[node].num_ports
		       ? FABRIC_NONE
		       : fabric_port_of(fabric, node, endport->num);
}

/* [*first, returned) are the targets of a port: those of its exit are consecutive. */
static uint32_t find_targets(const struct route_graph *graph, const struct fabric *fabric,
			     uint32_t port, uint32_t *first)
{
	uint8_t exit = 0;
	uint32_t leaf = port == FABRIC_NONE ? FABRIC_NONE : fabric_leaf(fabric, port, &exit);
	uint32_t t;

	*first = 0;
	if (leaf == FABRIC_NONE)
		return 0;
	t = graph->first_target[leaf];
	while (t < graph->first_target[leaf + 1] && graph->targets[t].exit < exit)
		t++;
	*first = t;
	while (t < graph->first_target[leaf + 1] && graph->targets[t].exit == exit)
		t++;
	return t;
}

void route_mark_preferences(struct route_wishes *wishes, const struct fabric *fabric,
			    const struct route_input *input)
{
	const struct route_graph *graph = wishes->graph;
	uint32_t first, last;

	wishes->shift = input->shift;
	route_mark_demand(wishes, fabric, input);
	if (!input->n_ignored && !input->n_ahead)
		return;
	wishes->ahead = g_new(uint32_t, route_n_targets(graph) + 1);
	for (uint32_t i = 0; i < input->n_ignored; i++) {
		last = find_targets(graph, fabric, find_port(fabric, &input->ignored[i]), &first);
		for (uint32_t t = first; t < last; t++)
			wishes->of[t].ignored = true;
	}
	for (uint32_t i = 0; i < input->n_ahead; i++) {
		last = find_targets(graph, fabric, fabric_port_by_guid(fabric, input->ahead[i]),
				    &first);
		for (uint32_t t = first; t < last && !wishes->of[t].ahead; t++) {
			wishes->of[t].ahead = true;
			wishes->ahead[wishes->n_ahead++] = t;
		}
	}
}

const struct route_port_order **route_port_orders(const struct fabric *fabric,
						  const struct route_input *input)
{
	const struct route_port_order **orders = NULL;

	for (uint32_t i = 0; i < input->n_port_orders; i++) {
		uint32_t sw = route_switch_by_guid(fabric, input->port_orders[i].guid);

		if (sw == FABRIC_NONE)
			continue;
		if (!orders)
			orders = g_new0(const struct route_port_order *, fabric->n_switches);
		orders[sw] = &input->port_orders[i];
	}
	return orders;
}

uint32_t route_port_place(const struct route_port_order *order, uint8_t port)
{
	for (uint32_t i = 0; order && i < order->n; i++)
		if (order->ports[i] == port)
			return i;
	return 256 + port;
}
