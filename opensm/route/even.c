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
 * mean. If that cannot be reached the damage may be the reason, or the repair: keep.c finds out.
 */
#include "route/even.h"

#include "route/flows.h"

#define ROUNDS 3

struct even {
	struct routing *routing;
	const struct route_graph *graph;
	struct route_flows flows;
	uint64_t *load; /* [link] */
	uint64_t limit;
	uint32_t leaf;		    /* at hand */
	uint16_t first_lid, n_lids; /* those of the port at hand */
	uint64_t *ahead;	    /* [switch]: load of the busiest link on its way */
};

static uint8_t hops_to_leaf(const struct even *even, uint32_t sw)
{
	return even->flows.hops[(size_t)sw * even->graph->n + even->leaf];
}

static uint32_t link_at(const struct even *even, uint32_t sw, uint16_t lid)
{
	return even->flows.link_of[sw * 256 + even->routing->lft[sw][lid]];
}

/* Works out what each switch sends; whether some link that it loads carries too much. */
static bool find_flow(struct even *even, uint16_t lid)
{
	struct route_flows *flows = &even->flows;
	bool over = false;

	for (uint32_t i = 0; i < flows->n_order; i++)
		flows->sent[flows->order[i]] = route_n_hosts(even->graph, flows->order[i]);
	flows->sent[even->leaf] = 0;
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], link = link_at(even, sw, lid);

		if (link == even->graph->n_links)
			continue;
		flows->sent[flows->to[link]] += flows->sent[sw];
		over |= even->load[link] > even->limit && flows->sent[sw];
	}
	return over;
}

static void add(struct even *even, uint16_t lid, bool in)
{
	const struct route_flows *flows = &even->flows;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], link = link_at(even, sw, lid);

		if (link != even->graph->n_links)
			even->load[link] += in ? flows->sent[sw] : -flows->sent[sw];
	}
}

static uint64_t load_by(const struct even *even, uint32_t link)
{
	const struct route_flows *flows = &even->flows;

	return MAX(even->load[link] + flows->sent[flows->from[link]],
		   even->ahead[flows->to[link]]);
}

/* Whether another LID of the same port leaves by this port. */
static bool is_shared(const struct even *even, uint32_t sw, uint16_t lid, uint8_t port)
{
	const uint8_t *lft = even->routing->lft[sw];

	for (uint32_t i = even->first_lid; i < (uint32_t)even->first_lid + even->n_lids; i++)
		if (i != lid && lft[i] == port)
			return true;
	return false;
}

/* The best of the links of a switch, and what it then carries. */
static uint32_t choose(const struct even *even, uint32_t sw, uint16_t lid, uint64_t *least)
{
	const struct route_graph *graph = even->graph;
	uint32_t best = graph->n_links;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		const struct route_edge *edge = &graph->edges[e];

		if (!route_leads(graph, e, hops_to_leaf(even, sw), hops_to_leaf(even, edge->to)))
			continue;
		for (uint32_t link = edge->first_link; link < edge->first_link + edge->n_links;
		     link++) {
			if ((best != graph->n_links && load_by(even, link) >= *least) ||
			    is_shared(even, sw, lid, graph->links[link]))
				continue;
			*least = load_by(even, link);
			best = link;
		}
	}
	return best;
}

/* From the nearest to the farthest, who look ahead; what they send is taken as it was. */
static void move(struct even *even, uint16_t lid)
{
	even->ahead[even->leaf] = 0;
	for (uint32_t i = even->flows.n_order; i--;) {
		uint32_t sw = even->flows.order[i], link = link_at(even, sw, lid), other;
		uint64_t least = 0;

		even->ahead[sw] = link == even->graph->n_links ? 0 : load_by(even, link);
		if (even->ahead[sw] <= even->limit || !even->flows.sent[sw])
			continue;
		other = choose(even, sw, lid, &least);
		if (other == even->graph->n_links || least >= even->ahead[sw])
			continue;
		even->ahead[sw] = least;
		routing_put(even->routing, sw, lid, even->graph->links[other]);
	}
}

static uint64_t peak_of(const struct even *even)
{
	uint64_t most = 0;

	for (uint32_t link = 0; link < even->graph->n_links; link++)
		most = MAX(most, even->load[link]);
	return most;
}

static void find_lids(struct even *even, uint32_t t)
{
	const struct route_graph *graph = even->graph;
	const struct route_target *target = &graph->targets[t];

	even->first_lid = target->lid - target->offset;
	even->n_lids = target->offset + 1;
	for (uint32_t i = t + 1; i < graph->first_target[target->leaf + 1] &&
				 graph->targets[i].offset == target->offset + (i - t); i++)
		even->n_lids++;
}

/* Works on the LIDs of one leaf: loads them first, or moves them. */
static void take_leaf(struct even *even, uint32_t leaf, bool first)
{
	const struct route_graph *graph = even->graph;

	even->leaf = leaf;
	if (route_has_hosts(graph, leaf))
		route_flows_turn_to(&even->flows, leaf);
	for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1]; t++) {
		uint16_t lid = graph->targets[t].lid;

		if (graph->targets[t].ignored || (!find_flow(even, lid) && !first))
			continue;
		if (!first) {
			find_lids(even, t);
			add(even, lid, false);
			move(even, lid);
			find_flow(even, lid);
		}
		add(even, lid, true);
	}
}

/* What the busiest link may carry if it were as at home. */
static uint64_t expected_peak(const struct even *even)
{
	const struct route_home *home = even->routing->home;
	uint64_t sum = 0;

	for (uint32_t link = 0; link < even->graph->n_links; link++)
		sum += even->load[link];
	return home->peak * (double)sum / even->graph->n_links;
}

static void lower(struct even *even, uint64_t limit)
{
	even->limit = limit;
	for (unsigned int round = 0; round < ROUNDS && peak_of(even) > limit; round++) {
		even->routing->trace->moved = true;
		for (uint32_t leaf = 0; leaf < even->graph->n; leaf++)
			take_leaf(even, leaf, false);
	}
}

/* To the limit; 0: to what home lets expect. */
static void even_out(struct even *even, uint64_t limit)
{
	struct route_trace *trace = even->routing->trace;
	uint64_t expected;

	for (uint32_t leaf = 0; leaf < even->graph->n; leaf++)
		take_leaf(even, leaf, true);
	expected = expected_peak(even);
	lower(even, limit ? limit : expected + expected / 32);
	trace->uneven = peak_of(even) > MAX(expected, trace->excused) * 11 / 10;
}

static void run(struct routing *routing, uint64_t limit)
{
	const struct route_trace *trace = routing->trace;
	const struct route_graph *graph = trace->graph;
	struct even even = { .routing = routing, .graph = graph };

	if (!graph->n_links)
		return;
	route_flows_init(&even.flows, graph, trace->hops);
	even.load = g_new0(uint64_t, graph->n_links + 1);
	even.ahead = g_new0(uint64_t, graph->n + 1);
	even_out(&even, limit);
	g_free(even.load);
	g_free(even.ahead);
	route_flows_clear(&even.flows);
}

void route_even_out(struct routing *routing)
{
	run(routing, 0);
}

void route_even_out_to(struct routing *routing, uint64_t limit)
{
	run(routing, MAX(limit, 1));
}
