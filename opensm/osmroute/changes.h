// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* LFT blocks that the daemon would program to get from one routing to the next. */
#ifndef OSMROUTE_CHANGES_H
#define OSMROUTE_CHANGES_H

#include "route/engine.h"

struct picture {
	const struct fabric *fabric;
	const struct routing *routing;
};

struct changes {
	uint64_t blocks; /* of 64 LFT entries, in switches that hold their previous tables */
	uint64_t own;	 /* in switches with empty tables: new or rebooted ones */
};

/*
 * Switches are identified by GUID. A switch holds the block of the first earlier picture that has
 * the switch and the block; rebooted is the GUID of a switch that holds nothing, 0: none.
 */
void changes_count(const struct picture *now, const struct picture *earlier, unsigned int n_earlier,
		   uint64_t rebooted, struct changes *changes);

#endif
