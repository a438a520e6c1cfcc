// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Losing cables between switches at random, and what a loss costs to program. */
#ifndef OSMROUTE_LOSS_H
#define OSMROUTE_LOSS_H

#include "fabric/builder.h"
#include "route/engine.h"

/* Cables between two switches that the walk meets. */
uint32_t loss_cables(struct builder *builder);

/*
 * Takes out n of these cables, or all if there are fewer, chosen by *state (the seed at first).
 * Give the result to loss_restore().
 */
GArray *loss_take(struct builder *builder, uint32_t n, uint64_t *state);
void loss_restore(GArray *lost);

/* LFT blocks to program in order to get from the old routing to this one; switches by GUID. */
uint64_t loss_changed_blocks(const struct fabric *fabric, const struct routing *routing,
			     const struct fabric *old_fabric, const struct routing *old);

#endif
