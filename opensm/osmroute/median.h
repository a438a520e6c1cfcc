// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The median of some values. */
#ifndef OSMROUTE_MEDIAN_H
#define OSMROUTE_MEDIAN_H

/* For an even number the higher of the two in the middle; sorts the values, at least one. */
double median_of(double *values, unsigned int n);

#endif
