// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast trees as the sweep programs them: immutable and reference counted. */
#ifndef SUBNET_TREES_H
#define SUBNET_TREES_H

#include "route/engine.h"

#define MC_N_MLIDS (IBA_MFT_BLOCKS * 32u)

struct mc_trees {
	struct ref ref;
	struct fabric *fabric;		      /* the fabric with their switches */
	struct route_tree *trees[MC_N_MLIDS]; /* NULL: no group has the MLID */
	uint16_t *tops;			      /* [switch]: its MulticastFDBTop */
};

/* Takes its own references. MulticastFDBTops are those of the fabric, until others are set. */
struct mc_trees *mc_trees_new(struct fabric *fabric, struct route_tree *const *trees);
struct mc_trees *mc_trees_ref(struct mc_trees *trees);
void mc_trees_unref(struct mc_trees *trees); /* NULL is fine */

/* MulticastFDBTop of the switch with that GUID; false: unknown switch. trees may be NULL. */
bool mc_trees_top(const struct mc_trees *trees, uint64_t guid, uint16_t *top);

#endif
