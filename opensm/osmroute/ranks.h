// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Distances of switches from hosts: the levels of a tree, if the fabric is one. */
#ifndef OSMROUTE_RANKS_H
#define OSMROUTE_RANKS_H

#include "fabric/fabric.h"

struct ranks {
	uint32_t *of;	/* [switch]: hops to the nearest switch with hosts, whose rank is 0 */
	uint32_t n;	/* the greatest rank + 1 */
	uint32_t *hosts; /* [switch]: end ports of attached nodes */
	bool layered;	/* several ranks, and every cable between switches joins adjacent ones */
};

/* Switches that do not reach a switch with hosts have rank 0. */
void ranks_init(struct ranks *ranks, const struct fabric *fabric);
void ranks_clear(struct ranks *ranks);

/* The switch at the other end of a switch's port, or FABRIC_NONE: no cable, or not a switch. */
uint32_t ranks_across(const struct fabric *fabric, uint32_t sw, uint8_t num);

#endif
