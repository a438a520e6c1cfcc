// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Hops to a few destinations. */
#ifndef ROUTE_COLUMNS_H
#define ROUTE_COLUMNS_H

#include "route/graph.h"

/*
 * What route_hops() gives, of a graph without weights. But next, which must be NULL unless the
 * graph is oriented, is only set where there is no legal path; there, the port that it has before
 * is preferred among those that lead to a switch that is nearer to one with such a path. False if
 * some path is as long as route_hops() can tell, or longer: then hops and next are not to be used.
 */
bool route_columns(const struct route_graph *graph, const uint32_t *dests, uint32_t n_dests,
		   uint8_t *hops, uint8_t *next);

#endif
