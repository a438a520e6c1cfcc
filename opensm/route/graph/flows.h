// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ways to one destination after the other, and how what is sent there adds up: if switches are
 * taken from the farthest to the nearest, what one sends is known when its turn comes.
 */
#ifndef ROUTE_GRAPH_FLOWS_H
#define ROUTE_GRAPH_FLOWS_H

#include "route/engine.h"
#include "route/graph/channels.h"

/* The beginning of a way. */
struct route_step {
	uint32_t channel, to;
};

struct route_flows {
	const struct route_graph *graph;
	const uint8_t *hops; /* as of route_hops_all() */
	const struct route_channels *channels;
	struct route_channels *own; /* the same, or NULL if they are somebody's else */
	uint32_t dest;	 /* the destination at hand; FABRIC_NONE: none yet */
	uint8_t *far;	 /* [switch]: hops to it */
	uint32_t *order; /* switches from the farthest to the nearest, the destination left out */
	uint32_t n_order;
	uint64_t *sent; /* [switch]: zeros at first; what it sends of the LID at hand */
	uint32_t *first, *last; /* [switch]: its steps, if it is in order; see below */
	struct route_step *steps;
	bool listed;
	uint64_t listed_for; /* partitions; EVERY_STEP: whatever is tied */
	uint32_t *toll; /* [switch]: least one on the way, if anything is tied (ties.h) */
};

/* channels, of the graph, must live as long; NULL: it makes its own. */
void route_flows_init(struct route_flows *flows, const struct route_graph *graph,
		      const struct route_channels *channels, const uint8_t *hops);
void route_flows_clear(struct route_flows *flows);

/* Sets far and order to those of this switch; switches that do not reach it are not in order. */
void route_flows_turn_to(struct route_flows *flows, uint32_t dest);

/*
 * Lists the steps that lead nearer then, those of a switch by edge and port; for a target, by index
 * in the graph, only those of least toll (ties.h); FABRIC_NONE: all. False if they are listed.
 */
bool route_flows_list_steps(struct route_flows *flows, uint32_t target);
/* Whether a channel that leads nearer is of least toll, if that is what they are listed by. */
bool route_flows_is_least(const struct route_flows *flows, uint32_t sw, uint32_t channel);

/* Of switches with so many hops[switch], the order as above; how many they are. */
uint32_t route_order_by_distance(const struct route_graph *graph, const uint8_t *hops,
				 uint32_t *order);

/* The channel by which a switch sends a LID on; FABRIC_NONE: to no other switch. */
static inline uint32_t route_flows_channel(const struct route_flows *flows,
					   const struct routing *routing, uint32_t sw, uint16_t lid)
{
	return route_channel(flows->channels, sw, routing_port(routing, sw, lid));
}

/* Sets sent to what hosts send to a target, by the tables; turns to its leaf first, if need be. */
void route_flows_send(struct route_flows *flows, const struct routing *routing, uint32_t target);
/* Adds what is sent then to the loads of channels, or takes it out. */
void route_flows_load(const struct route_flows *flows, const struct routing *routing,
		      uint32_t target, bool in, uint64_t *load);

/* [link]: load of a routing that has a trace, all hosts sending to all by demand. g_free it. */
uint64_t *routing_loads(const struct routing *routing, unsigned int threads);
/* That of the busiest link. */
uint64_t route_greatest(const struct route_graph *graph, const uint64_t *load);

#endif
