// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A local search that takes load off the busiest channels of finished tables: those of trees, of
 * layered engines, and of repairs. Switches whose traffic to a LID passes a channel over a limit
 * choose again, the nearest first: of the paths that begin with each of their best steps, the one
 * whose busiest channel then carries least. No channel gets more load than the busiest one had
 * before, and few entries change.
 */
#ifndef ROUTE_FILL_RELIEF_H
#define ROUTE_FILL_RELIEF_H

#include "route/graph/columns.h"
#include "route/graph/flows.h"

#include <pthread.h>

#define ROUTE_RELIEF_ALL UINT32_MAX /* LIDs of all indexes */

struct route_relief {
	struct route_flows *flows;
	const struct route_columns *columns; /* the tables; NULL: those of the routing */
	struct routing *routing;
	uint32_t index; /* which LIDs of each port count */
	uint64_t *load; /* [channel] */
	uint64_t limit;
	uint64_t bound;	 /* the busiest channel carries as much in any tables */
	bool apart;	 /* LIDs of a port are not moved to the same channel or system */
	bool *transit;	 /* [switch]: it passes on what others send; NULL: all may */
	uint32_t *hot;	 /* switches with a channel over the limit: leaves first, then others */
	uint32_t n_hot_leaves, n_hot;
	uint32_t dest;	 /* set by the functions here */
	pthread_mutex_t lock; /* of load and transit */
};

/*
 * Moves the paths of target t to the current destination of the flows, of which sent holds what
 * each switch itself sends there, off channels over the limit. Returns whether they pass any. If
 * steps are restricted other than by hops, as by ties, they must be listed.
 */
bool route_relief_move(struct route_relief *relief, uint32_t t);

/* ---- tables of a routing, of hops without weights, where each entry begins a best path ---- */

/*
 * Adds up the loads of all channels by the tables, all hosts sending to all by the demand, and
 * finds the bound; clear the relief.
 */
void route_relief_init(struct route_relief *relief, struct route_flows *flows,
		       struct routing *routing, uint32_t index);
void route_relief_clear(struct route_relief *relief);
/* The load of the busiest channel as a multiple of the mean. */
double route_relief_peak(const struct route_relief *relief);
/*
 * The load of the busiest channel by the first LIDs of all ports, or the second ones, and so on,
 * whichever is greatest; peak: as a multiple of the mean.
 */
uint64_t route_relief_busiest(const struct route_plan *plan, const uint8_t *hops,
			      struct routing *routing, double *peak);
/* Moves entries off channels over the limit. Returns the load of the busiest channel then. */
uint64_t route_relief_run(struct route_relief *relief, uint64_t limit);

/*
 * Takes load off the busiest channels of new tables, down to the bound or as far as that makes a
 * difference. The first LIDs of all ports are balanced by themselves, then the second ones, and so
 * on.
 */
void route_relieve(const struct route_plan *plan, const uint8_t *hops, struct routing *routing);

#endif
