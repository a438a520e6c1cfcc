// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * In a network other than a tree, a repair that changes only broken paths leaves too much load on
 * the cables around the damage: distant switches still send there. A full computation sends them
 * elsewhere; so does this, but only for LIDs that load a cable with more than the limit: they are
 * removed, one after the other, and put in again. A switch keeps its entry if the path that begins
 * with it stays within the limit; else it takes the path whose busiest cable carries least, but not
 * one that another LID of the same port takes.
 *
 * The limit comes from the base tables: the load of the busiest cable there, relative to the
 * mean. If that cannot be reached, the reason may be the damage, or the repair: sticky.c finds out.
 */
#include "route/graph/flows.h"
#include "route/graph/watch.h"
#include "route/renew/renew.h"
#include "route/value/base.h"

struct rebalance {
	struct routing *routing;
	const struct route_graph *graph;
	struct route_flows flows;
	uint64_t *load; /* [link] */
	uint64_t limit;
	uint64_t *ahead; /* [switch]: load of the busiest link on its path */
};

/* Whether some link on the path of traffic to the LID carries too much. */
static bool is_over(const struct rebalance *rebalance, uint16_t lid)
{
	const struct route_flows *flows = &rebalance->flows;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];
		uint32_t link = route_flows_channel(flows, rebalance->routing, sw, lid);

		if (link != FABRIC_NONE && rebalance->load[link] > rebalance->limit &&
		    flows->sent[sw])
			return true;
	}
	return false;
}

static uint64_t load_by(const struct rebalance *rebalance, uint32_t link)
{
	const struct route_flows *flows = &rebalance->flows;

	return MAX(rebalance->load[link] + flows->sent[flows->channels->from[link]],
		   rebalance->ahead[flows->channels->to[link]]);
}

/* Whether another LID of the same port, whose targets are side by side, leaves by this port. */
static bool is_shared(const struct rebalance *rebalance, uint32_t sw, uint32_t t, uint8_t port)
{
	const struct route_target *targets = rebalance->graph->targets;
	uint32_t first = t - targets[t].offset;
	uint32_t last = rebalance->graph->first_target[targets[t].leaf + 1];

	for (uint32_t i = first; i < last && targets[i].offset == i - first; i++)
		if (i != t && rebalance->routing->lft[sw][targets[i].lid] == port)
			return true;
	return false;
}

/* The best of the links of a switch, and its load with this flow. */
static uint32_t choose(const struct rebalance *rebalance, uint32_t sw, uint32_t t, uint64_t *least)
{
	const struct route_flows *flows = &rebalance->flows;
	uint32_t best = FABRIC_NONE;

	for (uint32_t i = flows->first[sw]; i < flows->last[sw]; i++) {
		uint32_t link = flows->steps[i].channel;

		if ((best != FABRIC_NONE && load_by(rebalance, link) >= *least) ||
		    is_shared(rebalance, sw, t, rebalance->graph->links[link]))
			continue;
		*least = load_by(rebalance, link);
		best = link;
	}
	return best;
}

/* From the nearest switch on, since farther ones look ahead to it; assumes unchanged flows. */
static void move(struct rebalance *rebalance, uint32_t t)
{
	struct route_flows *flows = &rebalance->flows;
	uint16_t lid = rebalance->graph->targets[t].lid;

	route_flows_list_steps(flows, t);
	rebalance->ahead[flows->dest] = 0;
	for (uint32_t i = flows->n_order; i--;) {
		uint32_t sw = flows->order[i], other;
		uint32_t link = route_flows_channel(flows, rebalance->routing, sw, lid);
		uint64_t least = 0;

		rebalance->ahead[sw] = link == FABRIC_NONE ? 0 : load_by(rebalance, link);
		if (rebalance->ahead[sw] <= rebalance->limit || !flows->sent[sw])
			continue;
		other = choose(rebalance, sw, t, &least);
		if (other == FABRIC_NONE || least >= rebalance->ahead[sw])
			continue;
		rebalance->ahead[sw] = least;
		routing_put(rebalance->routing, sw, lid, rebalance->graph->links[other]);
	}
}

/* Moves LIDs whose paths use links that carry too much. */
static void take_turn(struct rebalance *rebalance)
{
	struct route_flows *flows = &rebalance->flows;

	for (uint32_t t = 0; t < route_n_targets(rebalance->graph); t++) {
		const struct route_target *target = &rebalance->graph->targets[t];

		if (!route_watch_look(rebalance->graph->watch))
			break;
		if (flows->plan->wishes.of[t].ignored)
			continue;
		route_flows_send(flows, rebalance->routing, t);
		if (!is_over(rebalance, target->lid))
			continue;
		route_flows_load(flows, rebalance->routing, t, false, rebalance->load);
		move(rebalance, t);
		route_flows_send(flows, rebalance->routing, t);
		route_flows_load(flows, rebalance->routing, t, true, rebalance->load);
	}
}

/* The load of the busiest link if it were as in the base tables. */
static uint64_t expected_peak(const struct rebalance *rebalance)
{
	uint64_t sum = 0;

	for (uint32_t link = 0; link < rebalance->graph->n_links; link++)
		sum += rebalance->load[link];
	return rebalance->routing->base->peak * (double)sum / rebalance->graph->n_links;
}

void route_rebalance(struct routing *routing, uint64_t limit)
{
	struct route_repair_state *state = routing->repair_state;
	const struct route_graph *graph = state->plan.graph;
	g_autofree uint64_t *load = routing_loads(routing, graph->threads);
	g_autofree uint64_t *ahead = g_new0(uint64_t, graph->n + 1);
	struct rebalance rebalance = {
		.routing = routing, .graph = graph, .load = load, .ahead = ahead};
	uint64_t expected;

	if (!graph->n_links)
		return;
	expected = expected_peak(&rebalance);
	rebalance.limit = limit ? limit : expected + expected / RENEW_EXPECTED;
	route_flows_init(&rebalance.flows, &state->plan, NULL, state->hops);
	for (unsigned int i = 0; i < RENEW_MOVES && route_greatest(graph, load) > rebalance.limit;
	     i++) {
		state->moved = true;
		take_turn(&rebalance);
	}
	state->uneven = renew_is_busier(route_greatest(graph, load),
					MAX(expected, state->accepted_peak), RENEW_BUSIER);
	route_flows_clear(&rebalance.flows);
}
