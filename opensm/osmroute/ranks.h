// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How far switches stand from hosts: the levels of a tree, if the fabric is one. */
#ifndef OSMROUTE_RANKS_H
#define OSMROUTE_RANKS_H

#include "fabric/fabric.h"

struct ranks {
	uint32_t *of;	/* [switch]: hops to the nearest switch with hosts; of those 0 */
	uint32_t n;	/* one more than the greatest */
	uint32_t *hosts; /* [switch]: end ports of other nodes on it */
	bool layered;	/* several, and every cable between switches joins neighbouring ones */
};

/* Switches that reach no switch with hosts have rank 0. */
void ranks_init(struct ranks *ranks, const struct fabric *fabric);
void ranks_clear(struct ranks *ranks);

/* The switch at the other end of a switch's port, or FABRIC_NONE: none, or no switch. */
uint32_t ranks_across(const struct fabric *fabric, uint32_t sw, uint8_t num);

#endif
