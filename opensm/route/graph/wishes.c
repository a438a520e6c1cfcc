// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The demand, as far as it changes a choice: the hosts of a switch that send to a destination are
 * its load there. Hosts of one class are equivalent, so they are counted once per class.
 */
#include "route/graph/wishes.h"

#include <glib.h>

void route_wishes_init(struct route_wishes *wishes, const struct route_graph *graph)
{
	*wishes = (struct route_wishes){
		.graph = graph, .of = g_new0(struct route_wish, route_n_targets(graph) + 1)};
}

void route_wishes_clear(struct route_wishes *wishes)
{
	g_free(wishes->of);
	g_free(wishes->senders);
	g_free(wishes->tied);
	g_free(wishes->partitions);
	g_free(wishes->ahead);
	*wishes = (struct route_wishes){0};
}

/* [class * n + switch]: LIDs of hosts of the class on the switch. */
static uint32_t *count_hosts(const struct route_wishes *wishes)
{
	const struct route_graph *graph = wishes->graph;
	uint32_t *count = g_new0(uint32_t, (size_t)wishes->n_classes * graph->n + 1);

	for (uint32_t t = 0; t < route_n_targets(graph); t++)
		count[(size_t)wishes->of[t].demand_class * graph->n + graph->targets[t].leaf]++;
	return count;
}

static void add_row(uint32_t *to, const uint32_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] += from[i];
}

void route_mark_demand(struct route_wishes *wishes, const struct fabric *fabric,
		       const struct route_input *input)
{
	const struct route_graph *graph = wishes->graph;
	const struct route_demand *demand = input->demand;
	g_autofree uint32_t *hosts = NULL;

	if (!demand || !demand->n_classes || demand->n_classes > UINT16_MAX)
		return;
	wishes->n_classes = demand->n_classes;
	for (uint32_t t = 0; t < route_n_targets(graph); t++)
		wishes->of[t].demand_class =
			demand->class_of[fabric_port_by_lid(fabric, graph->targets[t].lid)];
	hosts = count_hosts(wishes);
	wishes->senders = g_new0(uint32_t, (size_t)wishes->n_classes * graph->n + 1);
	for (uint32_t to = 0; to < wishes->n_classes; to++)
		for (uint32_t from = 0; from < wishes->n_classes; from++)
			if (demand->sends[(size_t)from * wishes->n_classes + to])
				add_row(wishes->senders + (size_t)to * graph->n,
					hosts + (size_t)from * graph->n, graph->n);
}

bool route_sends(const struct route_wishes *wishes, uint32_t a, uint32_t b)
{
	const struct route_graph *graph = wishes->graph;

	if (!route_has_hosts(graph, a) || !route_has_hosts(graph, b))
		return false;
	if (!wishes->senders || a == graph->sm_switch || b == graph->sm_switch)
		return true;
	for (uint32_t t = graph->first_target[b]; t < graph->first_target[b + 1]; t++)
		if (route_n_senders(wishes, a, t))
			return true;
	return false;
}
