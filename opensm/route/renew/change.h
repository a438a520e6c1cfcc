// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What lies between a routing and the fabric as it is now. */
#ifndef ROUTE_RENEW_CHANGE_H
#define ROUTE_RENEW_CHANGE_H

#include "route/renew/trace.h"

struct route_change {
	const struct fabric *fabric;
	const struct routing *old;
	uint32_t n;	   /* switches */
	uint32_t *row;	   /* [switch]: its row of home */
	uint32_t *before;  /* [switch]: its index in old; FABRIC_NONE: it is back */
	struct route_graph *graph;
	uint8_t *hops;	   /* of the new graph */
	bool whole;	   /* all switches and cables of home are there */
	/* Some switch has no path to another any more, though cables connect them: by another leaf
	 * on top (single_top.c) it might have one. */
	bool loses_pairs;
	bool *touched;	   /* [switch]: it is back, or its cables are not those it had */
	uint32_t n_touched;
	bool *anew;	   /* [switch]: hops to it are others than before, or its LIDs */
	uint32_t *dests;   /* those, and others where LIDs of hosts are back */
	uint32_t n_dests;
};

/* NULL if routing_repair() cannot start from old. */
struct route_change *route_change_new(const struct fabric *fabric, unsigned int threads,
				      const struct routing *old);
/* Whether a LID was nobody's, or elsewhere. */
bool route_change_is_back(const struct route_change *change, const struct route_target *target);
void route_change_free(struct route_change *change); /* NULL is fine */

#endif
