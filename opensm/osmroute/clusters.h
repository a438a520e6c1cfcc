// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Groups of switches that are cabled densely among themselves, as those of a dragonfly. */
#ifndef OSMROUTE_CLUSTERS_H
#define OSMROUTE_CLUSTERS_H

#include "osmroute/ranks.h"

struct clusters {
	uint32_t n;	 /* 1: the fabric has no groups */
	uint32_t *of;	 /* [switch]: its group, by the lowest switch of each */
	uint32_t *order; /* switches, group after group */
};

void clusters_init(struct clusters *clusters, const struct fabric *fabric,
		   const struct ranks *ranks);
void clusters_clear(struct clusters *clusters);

#endif
