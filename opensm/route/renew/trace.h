// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a routing remembers so that it can be repaired. */
#ifndef ROUTE_RENEW_TRACE_H
#define ROUTE_RENEW_TRACE_H

#include "route/engine.h"
#include "route/graph/graph.h"

#define ROUTE_BLOCK 64 /* entries */

/* The tables as they were when they were last computed whole, a row for each switch. */
struct route_home {
	struct ref ref;
	struct fabric *fabric; /* of that time */
	uint8_t *bytes;	       /* of all rows */
	uint8_t **rows;
	uint32_t *order;       /* before route_join_tops(); or NULL */
	double peak; /* what the busiest link carries, as a multiple of the mean; 0: not by load */
};

/* The state of the engine after it made, or repaired, the routing. */
struct route_trace {
	struct route_graph *graph;
	uint8_t *hops; /* of route_hops_all() */
	bool moved;  /* some entries are not as at home for the sake of balance */
	bool uneven; /* perhaps: compare it with tables computed whole */
	uint64_t excused; /* so much is carried by it in tables computed whole, too; 0: not known */
};

/* Whether an exit of a switch begins a best path to another, by the hops of route_hops_all(). */
static inline bool route_begins(const struct route_graph *graph, const uint8_t *hops, uint32_t sw,
				uint32_t edge, uint32_t to)
{
	return edge != FABRIC_NONE &&
	       route_leads(graph, edge, hops[(size_t)sw * graph->n + to],
			   hops[(size_t)graph->edges[edge].to * graph->n + to]);
}

/* Makes a routing that an engine just filled repairable; takes over graph and hops. */
void routing_settle(struct routing *routing, struct route_graph *graph, uint8_t *hops);

/* Gives the routing a trace; takes over graph and hops. */
void routing_trace(struct routing *routing, struct route_graph *graph, uint8_t *hops);

/* [switch of the fabric]: its index in another one; FABRIC_NONE: it is not there. */
uint32_t *route_places(const struct fabric *fabric, const struct fabric *other);

/* A routing for this fabric that as yet is old's: row[switch] is that of home, before[switch] its
 * index in old, FABRIC_NONE if it was not there. */
struct routing *routing_from(const struct fabric *fabric, const struct routing *old,
			     const uint32_t *row, const uint32_t *before);

/* The row of a switch for writing, in such a routing. */
uint8_t *routing_own(struct routing *routing, uint32_t sw);

/* Shares rows again that are as home has them. */
void routing_share(struct routing *routing, const uint32_t *row);

/* Flows on the busiest link of a routing that has a trace, all hosts sending to all by demand. */
uint64_t routing_peak(const struct routing *routing, unsigned int threads);

/*
 * Moves entries of a repaired routing that nobody else holds yet from cables that carry more than
 * this to others that begin a best path too. 0: what a cable may carry, compared with what the
 * tables at home load on theirs, if these were made by load (balance.c). Sets moved and uneven of
 * its trace; excused is what is carried over from before.
 */
void route_rebalance(struct routing *routing, uint64_t limit);

/* routing_renew() as if every switch could hold all LIDs. */
struct routing *routing_renew_unlimited(const struct route_engine *engine,
					const struct fabric *fabric,
					const struct route_input *input, const struct routing *old,
					enum route_way *way, GError **error);

#endif
