// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/fill/ties.h"

#include <string.h>

#include "complib/hash.h"
#include "route/graph/flows.h"
#include "route/value/base.h"

/* A cable has the ties of both its ends: tied[port of the fabric]. */
static void mark_links(struct route_wishes *wishes, const struct fabric *fabric,
		       const uint64_t *tied)
{
	const struct route_graph *graph = wishes->graph;

	wishes->tied = g_new0(uint64_t, graph->n_links + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		route_each_edge(graph, sw, edge)
			for (uint32_t i = 0; i < edge->n_links; i++) {
				uint32_t link = edge->first_link + i;
				uint32_t port = fabric_switch_port(fabric, sw, graph->links[link]);

				wishes->tied[link] = tied[port] | tied[fabric->ports[port].peer];
			}
}

void route_mark_ties(struct route_wishes *wishes, const struct fabric *fabric,
		     const struct route_input *input)
{
	const struct route_graph *graph = wishes->graph;
	const struct route_ties *ties = input->ties;
	g_autofree uint64_t *tied = ties ? g_new0(uint64_t, fabric->n_ports) : NULL;
	bool any = false;

	for (uint32_t i = 0; ties && i < ties->n; i++) {
		const struct route_tie *tie = &ties->ties[i];
		uint32_t node = fabric_node_by_guid(fabric, tie->guid);

		if (node == FABRIC_NONE || !fabric_is_switch(fabric, node))
			continue;
		any = true;
		for (unsigned int num = 1; num <= fabric->nodes[node].num_ports; num++)
			if (!tie->port || tie->port == num)
				tied[fabric_port_of(fabric, node, num)] |= tie->partitions;
	}
	if (any)
		mark_links(wishes, fabric, tied);
	if (!wishes->tied)
		return;
	wishes->partitions = g_new(uint64_t, route_n_targets(graph) + 1);
	for (uint32_t t = 0; t < route_n_targets(graph); t++)
		wishes->partitions[t] =
			ties->partitions[fabric_port_by_lid(fabric, graph->targets[t].lid)];
}

uint32_t route_penalty_to(const struct route_wishes *wishes, uint32_t sw, uint32_t to,
			  uint64_t partitions)
{
	const struct route_graph *graph = wishes->graph;
	uint32_t e = route_edge_to(graph, sw, to), most = 0;

	for (uint32_t i = 0; e != FABRIC_NONE && i < graph->edges[e].n_links; i++)
		most = MAX(most, route_penalty(wishes, graph->edges[e].first_link + i, partitions));
	return e == FABRIC_NONE ? 1 : most;
}

uint32_t *route_penalties_up(const struct route_wishes *wishes, const uint8_t *rank,
			     unsigned int max_rank, uint64_t partitions)
{
	const struct route_graph *graph = wishes->graph;
	uint32_t *penalties = g_new0(uint32_t, graph->n + 1);

	for (unsigned int level = max_rank; level-- > 0;) {
		for (uint32_t sw = 0; sw < graph->n; sw++) {
			uint32_t least = UINT32_MAX;

			route_each_edge(graph, sw, edge) {
				uint32_t penalty =
					penalties[edge->to] +
					route_penalty_to(wishes, sw, edge->to, partitions);

				if (rank[sw] == level && rank[edge->to] == level + 1)
					least = MIN(least, penalty);
			}
			if (least != UINT32_MAX)
				penalties[sw] = least;
		}
	}
	return penalties;
}

/* ---- entries ---- */

struct mending {
	const struct route_graph *graph;
	struct routing *routing;
	struct route_flows flows;
	uint32_t *moved; /* [link]: entries that were moved to it */
};

/* The step of least penalty that was used least. */
static uint32_t choose_step(const struct mending *mending, uint32_t sw)
{
	const struct route_flows *flows = &mending->flows;
	uint32_t best = flows->steps[flows->first[sw]].channel;

	for (uint32_t i = flows->first[sw] + 1; i < flows->last[sw]; i++)
		if (mending->moved[flows->steps[i].channel] < mending->moved[best])
			best = flows->steps[i].channel;
	return best;
}

/* Steps are listed for the target. */
static void mend_target(struct mending *mending, uint32_t target)
{
	const struct route_flows *flows = &mending->flows;
	uint16_t lid = mending->graph->targets[target].lid;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];
		uint32_t link = route_channel(flows->channels, sw,
					      routing_port(mending->routing, sw, lid));

		if (link != FABRIC_NONE && route_flows_is_least(flows, sw, link))
			continue;
		link = choose_step(mending, sw);
		mending->moved[link]++;
		routing_put(mending->routing, sw, lid, mending->graph->links[link]);
	}
}

/* Targets of one leaf in the same partitions use the same steps, which are listed once. */
static void mend_leaf(struct mending *mending, uint32_t leaf)
{
	const struct route_wishes *wishes = &mending->flows.plan->wishes;
	const struct route_graph *graph = mending->graph;
	uint32_t first = graph->first_target[leaf], last = graph->first_target[leaf + 1];
	g_autoptr(GHashTable) done = g_hash_table_new(hash_uint64, g_int64_equal);

	route_flows_turn_to(&mending->flows, leaf);
	for (uint32_t t = first; t < last; t++) {
		if (!g_hash_table_add(done, &wishes->partitions[t]))
			continue;
		route_flows_list_steps(&mending->flows, t);
		for (uint32_t other = t; other < last; other++)
			if (wishes->partitions[other] == wishes->partitions[t])
				mend_target(mending, other);
	}
}

void route_mend_penalties(struct routing *routing, const struct route_plan *plan,
			  const uint8_t *hops)
{
	const struct route_graph *graph = plan->graph;
	struct mending mending = {.graph = graph, .routing = routing};

	if (!plan->wishes.tied)
		return;
	mending.moved = g_new0(uint32_t, graph->n_links + 1);
	route_flows_init(&mending.flows, plan, NULL, hops);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			mend_leaf(&mending, sw);
	route_flows_clear(&mending.flows);
	g_free(mending.moved);
}

/* ---- the note ---- */

/* Counts paths from switches with hosts to a target, and those over cables of other partitions. */
static void count_paths(const struct route_flows *flows, const struct routing *routing, uint32_t t,
			bool *passes, uint64_t *n, uint64_t *n_others)
{
	const struct route_wishes *wishes = &flows->plan->wishes;
	const struct route_graph *graph = flows->graph;

	passes[graph->targets[t].leaf] = false;
	for (uint32_t i = flows->n_order; i-- > 0;) {
		uint32_t sw = flows->order[i];
		uint32_t link = route_channel(flows->channels, sw,
					      routing_port(routing, sw, graph->targets[t].lid));

		passes[sw] = link != FABRIC_NONE &&
			     (passes[flows->channels->to[link]] ||
			      route_penalty(wishes, link, wishes->partitions[t]) ==
				      ROUTE_PENALTY_OTHERS);
		*n += route_has_hosts(graph, sw);
		*n_others += passes[sw] && route_has_hosts(graph, sw);
	}
}

void route_note_ties(struct routing *routing, const struct route_plan *plan, const uint8_t *hops)
{
	const struct route_graph *graph = plan->graph;
	g_autofree bool *passes = NULL;
	uint64_t n = 0, n_others = 0;
	struct route_flows flows;

	if (!plan->wishes.tied)
		return;
	passes = g_new0(bool, graph->n + 1);
	route_flows_init(&flows, plan, NULL, hops);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (route_has_hosts(graph, sw))
			route_flows_turn_to(&flows, sw);
		for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++)
			count_paths(&flows, routing, t, passes, &n, &n_others);
	}
	route_flows_clear(&flows);
	if (n_others)
		routing_note(routing,
			     "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " paths of "
			     "hosts pass cables that are reserved for other partitions",
			     n_others, n);
}
