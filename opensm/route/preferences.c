// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the operator says about the choice among best paths: which ports do not count, which are
 * routed first. It is marked on the targets of the graph, where both fills look.
 */
#include "route/shortest.h"

/* The targets of an endport stand together. */
static GHashTable *first_targets(const struct route_graph *graph, const struct fabric *fabric)
{
	GHashTable *table = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		uint32_t port = fabric_port_by_lid(fabric, graph->targets[t].lid);

		if (!graph->targets[t].offset)
			g_hash_table_insert(table, &fabric->ports[port].guid,
					    GUINT_TO_POINTER(t + 1));
	}
	return table;
}

/* [*first, *last) are the targets of the port with this GUID; false if it has none. */
static bool find_targets(const struct route_graph *graph, GHashTable *table, uint64_t guid,
			 uint32_t *first, uint32_t *last)
{
	uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(table, &guid)), n;

	if (!found)
		return false;
	*first = found - 1;
	n = graph->first_target[graph->targets[*first].leaf + 1];
	for (*last = found; *last < n && graph->targets[*last].offset; ++*last)
		continue;
	return true;
}

static uint64_t guid_of(const struct fabric *fabric, const struct route_endport *endport)
{
	uint32_t node;

	if (endport->num < 0)
		return endport->guid;
	node = fabric_node_by_guid(fabric, endport->guid);
	if (node == FABRIC_NONE || endport->num > fabric->nodes[node].num_ports)
		return 0;
	return fabric->ports[fabric_port_of(fabric, node, endport->num)].guid;
}

void route_mark_preferences(struct route_graph *graph, const struct fabric *fabric,
			    const struct route_input *input)
{
	g_autoptr(GHashTable) table = NULL;
	uint32_t first, last;

	graph->shift = input->shift;
	route_mark_demand(graph, fabric, input);
	if (!input->n_ignored && !input->n_ahead)
		return;
	table = first_targets(graph, fabric);
	graph->ahead = g_new(uint32_t, route_n_targets(graph) + 1);
	for (uint32_t i = 0; i < input->n_ignored; i++)
		if (find_targets(graph, table, guid_of(fabric, &input->ignored[i]), &first, &last))
			for (uint32_t t = first; t < last; t++)
				graph->targets[t].ignored = true;
	for (uint32_t i = 0; i < input->n_ahead; i++) {
		if (!find_targets(graph, table, input->ahead[i], &first, &last) ||
		    graph->targets[first].ahead)
			continue;
		for (uint32_t t = first; t < last; t++) {
			graph->targets[t].ahead = true;
			graph->ahead[graph->n_ahead++] = t;
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
