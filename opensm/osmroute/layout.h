// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Positions of the nodes of a fabric in a picture, in pixels from its upper left corner. */
#ifndef OSMROUTE_LAYOUT_H
#define OSMROUTE_LAYOUT_H

#include "osmroute/ranks.h"

#define LAYOUT_BOX 10.0 /* width and height of a switch */

struct layout_point {
	double x, y;
};

struct layout_label {
	struct layout_point at;
	double angle;	    /* degrees */
	const char *anchor; /* the point is at the start or end of the text */
};

struct layout {
	struct ranks ranks;
	struct layout_point *switches; /* [switch]: its middle */
	uint32_t columns;	       /* of hosts below a switch, in rows */
	struct layout_point centre;    /* of the circle */
	bool is_grid;		       /* a mesh or torus, in cells of this width and height: */
	double cell;
	double tilt; /* degrees by which names rise there */
	double width, height;
};

void layout_init(struct layout *layout, const struct fabric *fabric);
/*
 * The control point of the curve along which to bend a cable between two switches, so that it does
 * not cover what is between them; false if it is straight.
 */
bool layout_bend(const struct layout *layout, uint32_t a, uint32_t b, struct layout_point *control);
void layout_clear(struct layout *layout);

/* The position of the i-th host of a switch, and of the switch's name. */
struct layout_point layout_host(const struct layout *layout, uint32_t sw, uint32_t i);
struct layout_label layout_label(const struct layout *layout, uint32_t sw);

#endif
