// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the parts of the engine dor share. */
#ifndef ROUTE_DOR_H
#define ROUTE_DOR_H

#include "route/shortest.h"

#define DOR_NONE 0xFF

struct dor {
	const struct route_graph *graph;
	const uint8_t *hops;
	struct routing *routing;
	uint32_t *order; /* edges, those of a switch together and in the order of its ports */
	uint8_t *step;	 /* [switch * n + switch]: place of the edge taken in this order, from that
			    of the first edge of the switch; DOR_NONE: there is none */
};

/* The edge by which packets leave a switch towards another; or FABRIC_NONE. */
static inline uint32_t dor_step(const struct dor *dor, uint32_t sw, uint32_t to)
{
	uint8_t step = dor->step[(size_t)sw * dor->graph->n + to];

	return step == DOR_NONE ? FABRIC_NONE : dor->order[dor->graph->first_edge[sw] + step];
}

/*
 * Tells the operator of credit loops that the paths close, in a line (g_free it); NULL if there are
 * none.
 */
char *dor_find_loops(const struct dor *dor, const struct fabric *fabric);

#endif
