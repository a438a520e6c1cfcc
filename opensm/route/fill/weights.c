// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Weights: the number of hops that leaving through a port counts as, in that direction only; 1 by
 * default. Distances are sums of weights, and a best path is one of least weight.
 *
 * Of parallel cables between two switches only the lightest count: a path over a heavier one would
 * not be a best one. The heavier ones are removed from the graph, so that its readers need not
 * know. A weight of 255 closes a port, unless that cuts switches off from each other; then it is
 * merely very heavy.
 *
 * Distances are octets, as all tables of hops are. If sums do not fit, all weights are halved,
 * rounded up, until they do. So when a subnet grows or loses a cable, routes may follow the
 * operator's weights less exactly, but there are routes; the note says so.
 */
#include "route/fill/shortest.h"

#include <string.h>

/* ---- the operator's weights ---- */

/* What happened to the ports for which the operator gave weights. */
enum { WEIGHED, GONE_SWITCH, GONE_PORT, IDLE_PORT, FATES };

static const char *const fates[] = {
	[WEIGHED] = "ports weighed",
	[GONE_SWITCH] = "of switches that are not in the subnet",
	[GONE_PORT] = "ports that their switch does not have",
	[IDLE_PORT] = "ports that lead to no switch now",
};

/* The link that begins at this port, or FABRIC_NONE. */
static uint32_t find_link(const struct route_graph *graph, uint32_t sw, uint8_t port)
{
	route_each_edge(graph, sw, edge)
		for (uint32_t k = 0; k < edge->n_links; k++)
			if (graph->links[edge->first_link + k] == port)
				return edge->first_link + k;
	return FABRIC_NONE;
}

/* Weight by link. */
static uint8_t *read_weights(const struct route_graph *graph, const struct fabric *fabric,
			     const struct route_input *input, uint32_t count[FATES])
{
	uint8_t *weight = g_malloc(graph->n_links + 1);

	memset(weight, 1, graph->n_links + 1);
	for (uint32_t i = 0; i < input->n_weights; i++) {
		const struct route_weight *given = &input->weights[i];
		uint32_t node = route_node_named(fabric, given->guid);
		uint32_t sw = node == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[node].sw;
		uint32_t link = sw == FABRIC_NONE ? sw : find_link(graph, sw, given->port);

		if (link != FABRIC_NONE)
			weight[link] = given->weight;
		count[sw == FABRIC_NONE				     ? GONE_SWITCH
		      : given->port > fabric->nodes[node].num_ports ? GONE_PORT
		      : link == FABRIC_NONE			     ? IDLE_PORT
								     : WEIGHED]++;
	}
	return weight;
}

/* Keeps only the lightest links of an edge, and returns their weight. */
static uint8_t keep_lightest(struct route_graph *graph, struct route_edge *edge,
			     const uint8_t *weight)
{
	uint8_t least = ROUTE_WEIGHT_CLOSED;
	unsigned int n = 0;

	for (unsigned int k = 0; k < edge->n_links; k++)
		least = MIN(least, weight[edge->first_link + k]);
	for (unsigned int k = 0; k < edge->n_links; k++)
		if (weight[edge->first_link + k] == least)
			graph->links[edge->first_link + n++] = graph->links[edge->first_link + k];
	edge->n_links = n;
	return least;
}

/* From weights of links to those of edges, which the order gets only if some differ from 1. */
static void weigh(struct route_plan *plan, const uint8_t *weight)
{
	struct route_order *order = &plan->order;
	struct route_graph *graph = plan->graph;
	uint32_t n_edges = graph->first_edge[graph->n];
	uint8_t most = 1;

	order->weight = g_malloc(n_edges + 1);
	graph->parallel = false;
	for (uint32_t e = 0; e < n_edges; e++) {
		order->weight[e] = keep_lightest(graph, &graph->edges[e], weight);
		graph->parallel |= graph->edges[e].n_links > 1;
		most = MAX(most, order->weight[e]);
	}
	if (most == 1)
		g_clear_pointer(&order->weight, g_free);
}

/* ---- weights that are too great ---- */

/* Whether some edge, closed or open as asked, would lead on where a switch has no path. */
static bool is_any_lost(const struct route_order *order, const uint8_t *hops, bool closed)
{
	const struct route_graph *graph = order->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		route_each_edge(graph, sw, edge) {
			const uint8_t *here = hops + (size_t)sw * graph->n;
			const uint8_t *there = hops + (size_t)edge->to * graph->n;
			uint8_t weight = order->weight[edge - graph->edges];

			for (uint32_t x = 0; x < graph->n; x++)
				if (here[x] == ROUTE_FAR && there[x] != ROUTE_FAR &&
				    (weight == ROUTE_WEIGHT_CLOSED) == closed)
					return true;
		}
	return false;
}

/* Opens closed edges, or halves all other weights; false if there is nothing to change. */
static bool lower_weights(struct route_order *order, bool open)
{
	bool any = false;

	for (uint32_t e = 0; e < order->graph->first_edge[order->graph->n]; e++) {
		uint8_t *weight = &order->weight[e];

		if (*weight == 1 || (*weight == ROUTE_WEIGHT_CLOSED) != open)
			continue;
		*weight = open ? ROUTE_WEIGHT_CLOSED - 1 : (*weight + 1) / 2;
		any = true;
	}
	return any;
}

static char *make_note(const uint32_t count[FATES], unsigned int divisor, bool opened)
{
	GString *text = g_string_new("hop_weights_file: ");

	for (int fate = 0; fate < FATES; fate++)
		if (count[fate] || fate == WEIGHED)
			g_string_append_printf(text, "%s%u %s", fate ? ", " : "", count[fate],
					       fates[fate]);
	if (divisor > 1)
		g_string_append_printf(text, "; all weights are divided by %u, as sums of them "
				       "exceed %u", divisor, ROUTE_FAR - 1);
	if (opened)
		g_string_append(text, "; ports of weight 255 are used all the same, as without "
				      "them some switches cannot reach each other");
	return g_string_free(text, FALSE);
}

uint8_t *route_hops_by_weight(struct route_plan *plan, const struct fabric *fabric,
			      const struct route_input *input, uint8_t *next, GError **error)
{
	uint32_t count[FATES] = {0};
	g_autofree uint8_t *weight = read_weights(plan->graph, fabric, input, count);
	unsigned int divisor = 1;
	bool opened = false;
	struct route_order *order = &plan->order;
	uint8_t *hops = NULL;

	weigh(plan, weight);
	while (order->weight && !hops) {
		bool far;

		hops = route_hops_all(order, next);
		far = is_any_lost(order, hops, false);
		if (!far && !is_any_lost(order, hops, true))
			break;
		g_clear_pointer(&hops, g_free);
		if (!lower_weights(order, !far))
			g_clear_pointer(&order->weight, g_free);
		opened |= !far;
		divisor <<= far;
	}
	if (!order->weight)
		hops = route_hops_or_error(order, next, error);
	order->weighed = true;
	order->note = make_note(count, divisor, opened);
	return hops;
}
