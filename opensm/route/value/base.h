// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How a routing shares rows with the last full computation, and the state from which it can be
 * repaired (renew/repair.c). */
#ifndef ROUTE_VALUE_BASE_H
#define ROUTE_VALUE_BASE_H

#include "route/engine.h"
#include "route/graph/plan.h"

#define ROUTE_BLOCK 64 /* entries */

/* The tables of the last full computation, a row for each switch. */
struct route_base {
	struct ref ref;
	struct fabric *fabric; /* at that time */
	uint8_t *bytes;	       /* of all rows */
	uint8_t **rows;
	uint32_t *order;       /* before route_join_tops(); or NULL */
	double peak;  /* load of the busiest link as a multiple of the mean; 0: nearly 1 */
	bool by_load; /* all entries were chosen by load */
};

/* The state of the engine after it made, or repaired, the routing. */
struct route_repair_state {
	struct route_plan plan;
	uint8_t *hops; /* of route_hops_all() */
	bool moved;    /* some entries differ from the base tables to balance the load */
	bool uneven; /* perhaps: compare it with newly computed tables */
	uint64_t accepted_peak; /* load of the busiest link in a full computation; 0: unknown */
};

/* Whether an exit of a switch begins a best path to another, by the hops of route_hops_all(). */
static inline bool route_begins(const struct route_order *order, const uint8_t *hops, uint32_t sw,
				uint32_t edge, uint32_t to)
{
	const struct route_graph *graph = order->graph;

	return edge != FABRIC_NONE &&
	       route_leads(order, edge, hops[(size_t)sw * graph->n + to],
			   hops[(size_t)graph->edges[edge].to * graph->n + to]);
}

/* Makes a routing that an engine just filled repairable; takes over plan and hops. */
void routing_make_repairable(struct routing *routing, struct route_plan *plan, uint8_t *hops);

/* Gives the routing the state from which a repair starts; takes over plan and hops. */
void routing_set_repair_state(struct routing *routing, struct route_plan *plan, uint8_t *hops);

/* [switch of the fabric]: its index in the other fabric; FABRIC_NONE: not there. */
uint32_t *route_places(const struct fabric *fabric, const struct fabric *other);

/* A routing for this fabric that starts with the entries of old: row[switch] is its row in the base
 * tables, before[switch] its index in old, FABRIC_NONE if it was not there. */
struct routing *routing_from(const struct fabric *fabric, const struct routing *old,
			     const uint32_t *row, const uint32_t *before);

/* The row of a switch of such a routing, for writing. */
uint8_t *routing_changed_row(struct routing *routing, uint32_t sw);

/* Whether a switch forwards anything: hosts may be sending through it. */
bool routing_has_entries(const struct routing *routing, uint32_t sw);

/* Shares rows again that equal those of the base tables. */
void routing_share(struct routing *routing, const uint32_t *row);

#endif
