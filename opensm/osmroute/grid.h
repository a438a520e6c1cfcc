// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef OSMROUTE_GRID_H
#define OSMROUTE_GRID_H

#include "fabric/fabric.h"

struct grid_cell {
	uint32_t x, y;
};

/*
 * The cells in which switches of a mesh, torus or hypercube stand side by side, [switch]; g_free
 * it. NULL if the fabric is no such network, or not a whole one.
 */
struct grid_cell *grid_cells(const struct fabric *fabric);

#endif
