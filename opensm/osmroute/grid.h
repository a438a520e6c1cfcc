// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef OSMROUTE_GRID_H
#define OSMROUTE_GRID_H

#include "fabric/fabric.h"

struct grid_cell {
	uint32_t x, y;
};

/*
 * [switch]: its cell, for a mesh, torus or hypercube; g_free it. NULL if the fabric is not such a
 * network, or not a complete one.
 */
struct grid_cell *grid_cells(const struct fabric *fabric);

#endif
