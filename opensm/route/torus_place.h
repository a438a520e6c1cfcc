// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Where each switch stands in a torus or mesh, and what is there of it. */
#ifndef ROUTE_TORUS_PLACE_H
#define ROUTE_TORUS_PLACE_H

#include "route/engine.h"
#include "route/graph.h"

#define TORUS_WAYS 6 /* 2 * dimension, and 1 more against its direction */

struct torus {
	const struct fabric *fabric;
	const struct route_graph *graph;
	unsigned int radix[3];
	bool loops[3];	 /* a dimension is a ring of at least three */
	unsigned int last; /* dimension of more than one coordinate */
	uint32_t n;	 /* places: x + radix[0] * (y + radix[1] * z) */
	uint32_t *sw;	 /* [place]: switch, or FABRIC_NONE */
	uint32_t *place; /* [switch] */
	uint32_t *edge;	 /* [place * TORUS_WAYS + way]: of its switch; FABRIC_NONE: no cable */
};

/* False and error if the network is not as the file says; then clear it all the same. */
bool torus_init(struct torus *torus, const struct fabric *fabric, const struct route_graph *graph,
		const struct route_torus *file, GError **error);
void torus_clear(struct torus *torus);

unsigned int torus_coordinate(const struct torus *torus, uint32_t place, unsigned int dimension);
/* The place with another coordinate in a dimension. */
uint32_t torus_with(const struct torus *torus, uint32_t place, unsigned int dimension,
		    unsigned int coordinate);
/* The next place, or FABRIC_NONE where a mesh ends. */
uint32_t torus_step(const struct torus *torus, uint32_t place, unsigned int way);

#endif
