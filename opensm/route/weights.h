// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Cables that count as several hops, or as none to be used: hop_weights_file. */
#ifndef ROUTE_WEIGHTS_H
#define ROUTE_WEIGHTS_H

#include "route/engine.h"
#include "route/graph.h"

#define ROUTE_WEIGHT_CLOSED 0xFF /* of an edge: no path leads over it */

/*
 * Distances as of route_hops_all(), by the weights that the input has: sets graph->weight unless
 * all are 1, takes heavier cables beside lighter ones out of the graph, and has graph->note say
 * what the operator should know. NULL and error if switches are too far apart even if all weights
 * are 1.
 */
uint8_t *route_hops_by_weight(struct route_graph *graph, const struct fabric *fabric,
			      const struct route_input *input, uint8_t *next, GError **error);

#endif
