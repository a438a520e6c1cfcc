// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the daemon would program to get from one routing to the next. */
#ifndef OSMROUTE_CHANGES_H
#define OSMROUTE_CHANGES_H

#include "route/engine.h"

struct picture {
	const struct fabric *fabric;
	const struct routing *routing;
};

struct changes {
	uint64_t blocks; /* of 64 LFT entries, in switches that hold what they were given */
	uint64_t own;	 /* in switches whose tables are empty, as they are new or were rebooted */
};

/*
 * Switches are known by GUID. What they hold is that of the first of the earlier pictures that has
 * the switch and the block; rebooted is the GUID of one that holds nothing, 0: none.
 */
void changes_count(const struct picture *now, const struct picture *earlier, unsigned int n_earlier,
		   uint64_t rebooted, struct changes *changes);

#endif
