// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "osmroute/median.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double median_of(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[n / 2];
}
