// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shades for loads of cables: pale if idle, blue at the mean, dark orange at twice the mean. */
#ifndef OSMROUTE_SHADE_H
#define OSMROUTE_SHADE_H

#include "fabric/fabric.h"

struct shade {
	uint64_t most; /* greatest load of a cable between switches, in its busier direction */
	double mean;   /* over all these cables */
	double top;    /* twice the mean, or most if that is more */
};

/* load: of ports, from quality_load(). */
void shade_init(struct shade *shade, const struct fabric *fabric, const uint64_t *load);
/* Whether the port has a cable to another switch, and is the end that represents the cable. */
bool shade_is_cable(const struct fabric *fabric, uint32_t port);

/* From 0 (idle) through 0.5 (the mean) to 1 (twice the mean or more; most, if that is greater). */
double shade_part(const struct shade *shade, uint64_t load);
/* "#rrggbb" */
void shade_colour(double part, char colour[8]);

#endif
