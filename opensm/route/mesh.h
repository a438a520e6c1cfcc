// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The dimensions of meshes, tori and hypercubes: do_mesh_analysis. */
#ifndef ROUTE_MESH_H
#define ROUTE_MESH_H

#include "route/graph.h"

#define ROUTE_DATELINE 0x80

/*
 * [link]: the number of the dimension in which it leads, and ROUTE_DATELINE if it is among those of
 * the one slice that paths round a ring are told apart by. NULL if cables show no two dimensions,
 * or very many, as in networks of another kind.
 */
uint8_t *route_dimensions(const struct route_graph *graph);

#endif
