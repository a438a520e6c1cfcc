// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where a network is no tree, a repair that changes only what is broken leaves too much on the
 * cables around the damage: those who are far away go on sending there. A computation sends them
 * elsewhere; so it is done here, but only for LIDs that load a cable with more than the limit: they
 * are taken out, one after the other, and put in again. A switch keeps its entry if the way that
 * begins with it stays within the limit; else it takes the way on which the busiest cable carries
 * least, but not one that another LID of the same port takes.
 *
 * The limit comes from the tables at home: what the busiest cable carried there, compared with the
 * mean. If that cannot be reached the damage may be the reason, or the repair: sticky.c finds out.
 */
#include "route/flows.h"
#include "route/trace.h"

#define ROUNDS 3

struct rebalance {
	struct routing *routing;
	const struct route_graph *graph;
	struct route_flows flows;
	uint64_t *load; /* [link] */
	uint64_t limit;
	uint64_t *ahead; /* [switch]: load of the busiest link on its way */
};

static uint32_t link_at(const struct rebalance *rebalance, uint32_t sw, uint16_t lid)
{
	return route_channel(rebalance->flows.channels, sw, rebalance->routing->lft[sw][lid]);
}

/* Whether some link that is on the way of what is sent carries too much. */
static bool is_over(const struct rebalance *rebalance, uint16_t lid)
{
	const struct route_flows *flows = &rebalance->flows;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], link = link_at(rebalance, sw, lid);

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

/* Whether another LID of the same port, whose targets stand together, leaves by this port. */
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

/* The best of the links of a switch, and what it then carries. */
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

/* From the nearest to the farthest, who look ahead; what they send is taken as it was. */
static void move(struct rebalance *rebalance, uint32_t t)
{
	uint16_t lid = rebalance->graph->targets[t].lid;

	route_flows_list_steps(&rebalance->flows, t);
	rebalance->ahead[rebalance->graph->targets[t].leaf] = 0;
	for (uint32_t i = rebalance->flows.n_order; i--;) {
		uint32_t sw = rebalance->flows.order[i], link = link_at(rebalance, sw, lid), other;
		uint64_t least = 0;

		rebalance->ahead[sw] = link == FABRIC_NONE ? 0 : load_by(rebalance, link);
		if (rebalance->ahead[sw] <= rebalance->limit || !rebalance->flows.sent[sw])
			continue;
		other = choose(rebalance, sw, t, &least);
		if (other == FABRIC_NONE || least >= rebalance->ahead[sw])
			continue;
		rebalance->ahead[sw] = least;
		routing_put(rebalance->routing, sw, lid, rebalance->graph->links[other]);
	}
}

static uint64_t peak_of(const struct rebalance *rebalance)
{
	uint64_t most = 0;

	for (uint32_t link = 0; link < rebalance->graph->n_links; link++)
		most = MAX(most, rebalance->load[link]);
	return most;
}

/* Works on the LIDs of one leaf: loads them first, or moves them. */
static void take_leaf(struct rebalance *rebalance, uint32_t leaf, bool first)
{
	const struct route_graph *graph = rebalance->graph;
	struct route_flows *flows = &rebalance->flows;

	if (route_has_hosts(graph, leaf))
		route_flows_turn_to(flows, leaf);
	for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1]; t++) {
		const struct route_target *target = &graph->targets[t];

		if (target->ignored)
			continue;
		route_flows_send(flows, rebalance->routing, target);
		if (!first) {
			if (!is_over(rebalance, target->lid))
				continue;
			route_flows_load(flows, rebalance->routing, target->lid, false,
					 rebalance->load);
			move(rebalance, t);
			route_flows_send(flows, rebalance->routing, target);
		}
		route_flows_load(flows, rebalance->routing, target->lid, true, rebalance->load);
	}
}

/* What the busiest link may carry if it were as at home. */
static uint64_t expected_peak(const struct rebalance *rebalance)
{
	const struct route_home *home = rebalance->routing->home;
	uint64_t sum = 0;

	for (uint32_t link = 0; link < rebalance->graph->n_links; link++)
		sum += rebalance->load[link];
	return home->peak * (double)sum / rebalance->graph->n_links;
}

static void even_out(struct rebalance *rebalance, uint64_t limit)
{
	struct route_trace *trace = rebalance->routing->trace;
	uint32_t n = rebalance->graph->n;
	uint64_t expected;

	for (uint32_t leaf = 0; leaf < n; leaf++)
		take_leaf(rebalance, leaf, true);
	expected = expected_peak(rebalance);
	rebalance->limit = limit ? limit : expected + expected / 32;
	for (unsigned int i = 0; i < ROUNDS && peak_of(rebalance) > rebalance->limit; i++) {
		trace->moved = true;
		for (uint32_t leaf = 0; leaf < n; leaf++)
			take_leaf(rebalance, leaf, false);
	}
	trace->uneven = peak_of(rebalance) > MAX(expected, trace->excused) * 11 / 10;
}

void route_rebalance(struct routing *routing, uint64_t limit)
{
	const struct route_trace *trace = routing->trace;
	const struct route_graph *graph = trace->graph;
	g_autofree uint64_t *load = g_new0(uint64_t, graph->n_links + 1);
	g_autofree uint64_t *ahead = g_new0(uint64_t, graph->n + 1);
	struct rebalance rebalance = {
		.routing = routing, .graph = graph, .load = load, .ahead = ahead};

	if (!graph->n_links)
		return;
	route_flows_init(&rebalance.flows, graph, NULL, trace->hops);
	even_out(&rebalance, limit);
	route_flows_clear(&rebalance.flows);
}
