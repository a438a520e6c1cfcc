// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How loads of cables are shown: pale if idle, blue at the mean, dark orange at twice the mean. */
#ifndef OSMROUTE_SHADE_H
#define OSMROUTE_SHADE_H

#include "fabric/fabric.h"

struct shade {
	uint64_t most; /* load of a cable between switches, that of its busier direction */
	double mean;   /* of all these cables */
	double top;    /* twice the mean, or the most if that is more */
};

/* Of loads of ports as of quality_load(). */
void shade_init(struct shade *shade, const struct fabric *fabric, const uint64_t *load);
/* Whether the port has a cable to another switch, and is the one of its two ends that counts. */
bool shade_is_cable(const struct fabric *fabric, uint32_t port);

/* From 0 (idle) by 0.5 (the mean) to 1 (twice as much or more; the most, if that is further). */
double shade_part(const struct shade *shade, uint64_t load);
/* "#rrggbb" */
void shade_colour(double part, char colour[8]);

#endif
