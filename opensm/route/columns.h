// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Hops to a few destinations. */
#ifndef ROUTE_COLUMNS_H
#define ROUTE_COLUMNS_H

#include "route/graph.h"

/*
 * What route_hops() gives, of a graph without weights. False if some path is as long as
 * route_hops() can tell, or longer: then hops is not to be used.
 */
bool route_columns(const struct route_graph *graph, const uint32_t *dests, uint32_t n_dests,
		   uint8_t *hops);

#endif
