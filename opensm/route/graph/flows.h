// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Paths to one destination after the other, and the sums of the traffic on them: if switches are
 * taken from the farthest to the nearest, all traffic through a switch is known when its turn
 * comes.
 */
#ifndef ROUTE_GRAPH_FLOWS_H
#define ROUTE_GRAPH_FLOWS_H

#include "route/engine.h"
#include "route/graph/channels.h"
#include "route/graph/plan.h"

/* The beginning of a path. */
struct route_step {
	uint32_t channel, to;
};

struct route_flows {
	const struct route_plan *plan;
	const struct route_graph *graph; /* of the plan */
	const uint8_t *hops; /* from route_hops_all() */
	const struct route_channels *channels;
	struct route_channels *own; /* channels if flows made them, else NULL */
	uint32_t dest;	 /* the current destination; FABRIC_NONE: none yet */
	uint8_t *far;	 /* [switch]: hops to it */
	uint32_t *order; /* switches from the farthest to the nearest, without the destination */
	uint32_t n_order;
	uint64_t *sent; /* [switch]: zeros at first; what it sends to the current LID */
	uint32_t *first, *last; /* [switch]: its steps, if it is in order */
	struct route_step *steps;
	bool listed;
	uint64_t listed_for; /* partitions; EVERY_STEP: regardless of ties */
	uint8_t *rises;	     /* [channel]: ROUTE_UP if it leads up, else 0; NULL: no directions */
	uint32_t *penalty;   /* [switch]: least penalty of its paths, if there are ties (ties.h) */
};

/* The plan and channels, of its graph, must outlive the flows; NULL: it makes its own channels. */
void route_flows_init(struct route_flows *flows, const struct route_plan *plan,
		      const struct route_channels *channels, const uint8_t *hops);
void route_flows_clear(struct route_flows *flows);

/* Sets far and order for this destination; switches that do not reach it are not in order. */
void route_flows_turn_to(struct route_flows *flows, uint32_t dest);

/*
 * Lists the steps that lead nearer to the current destination, those of a switch by edge and port;
 * for a target, by index in the graph, only those of least penalty (ties.h); FABRIC_NONE: all.
 * False if they are listed already.
 */
bool route_flows_list_steps(struct route_flows *flows, uint32_t target);
/* Whether a channel leads nearer to the current destination by the directions. */
static inline bool route_flows_leads_on(const struct route_flows *flows, uint32_t sw,
					uint32_t channel)
{
	uint8_t there = flows->far[flows->channels->to[channel]], up = flows->rises[channel];

	return ((there | up) + 1u == flows->far[sw]) & !(there & ROUTE_UP & ~up);
}
/* Whether a channel leads nearer to the current destination, in a graph without weights. */
static inline bool route_flows_leads(const struct route_flows *flows, uint32_t sw, uint32_t channel)
{
	const struct route_order *order = &flows->plan->order;
	uint8_t here = flows->far[sw], there = flows->far[flows->channels->to[channel]];

	if (!flows->rises || (order->mixed && here & ROUTE_AGAINST))
		return route_distance(order, there) + 1 == route_distance(order, here);
	return route_flows_leads_on(flows, sw, channel);
}
/* Whether a channel that leads nearer is of least penalty, if the steps are listed by that. */
bool route_flows_is_least(const struct route_flows *flows, uint32_t sw, uint32_t channel);

/* Switches by hops[switch], in the order above; returns their number without the destination. */
uint32_t route_order_by_distance(const struct route_order *order, const uint8_t *hops,
				 uint32_t *switches);

/* The channel by which a switch forwards a LID; FABRIC_NONE: to no other switch. */
static inline uint32_t route_flows_channel(const struct route_flows *flows,
					   const struct routing *routing, uint32_t sw, uint16_t lid)
{
	return route_channel(flows->channels, sw, routing_port(routing, sw, lid));
}

/* Sets sent to what hosts send to a target by the tables; turns to its leaf first if needed. */
void route_flows_send(struct route_flows *flows, const struct routing *routing, uint32_t target);
/* Adds that traffic to the loads of channels, or subtracts it. */
void route_flows_load(const struct route_flows *flows, const struct routing *routing,
		      uint32_t target, bool in, uint64_t *load);

/* [link]: load in a routing that can be repaired, all hosts sending to all by demand. g_free it. */
uint64_t *routing_loads(const struct routing *routing, unsigned int threads);
/* The load of the busiest link in such a routing. */
uint64_t routing_peak(const struct routing *routing, unsigned int threads);
/* Load of the busiest link. */
uint64_t route_greatest(const struct route_graph *graph, const uint64_t *load);

#endif
