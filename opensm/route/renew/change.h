// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The differences between a routing and the fabric as it is now. */
#ifndef ROUTE_RENEW_CHANGE_H
#define ROUTE_RENEW_CHANGE_H

#include "route/value/base.h"

struct route_change {
	const struct fabric *fabric;
	const struct routing *old;
	uint32_t n;	   /* switches */
	uint32_t *row;	   /* [switch]: its row in the base tables */
	uint32_t *before;  /* [switch]: its index in old; FABRIC_NONE: it came back */
	struct route_plan plan;	   /* for the fabric as it is now */
	struct route_graph *graph; /* of the plan */
	uint8_t *hops;		   /* in the new graph */
	bool whole;	   /* all switches and cables of the base fabric are present */
	/* Some switch has lost its path to another, though cables connect them: with another leaf
	 * at the top (single_top.c) there might be a path. */
	bool loses_pairs;
	bool *touched;	   /* [switch]: it came back, or its cables have changed */
	uint32_t n_touched;
	bool *anew;	   /* [switch]: the hops to it have changed, or its LIDs */
	uint32_t *dests;   /* these, and others where LIDs of hosts came back */
	uint32_t n_dests;
};

/* NULL if routing_repair() cannot start from old. */
struct route_change *route_change_new(const struct fabric *fabric, const struct route_input *input,
				      const struct routing *old);
/* Whether a LID was unused, or elsewhere. */
bool route_change_is_back(const struct route_change *change, const struct route_target *target);
void route_change_free(struct route_change *change); /* NULL is fine */

#endif
