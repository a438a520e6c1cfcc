// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Losing cables, at random or not, and restoring them. */
#ifndef OSMROUTE_LOSS_H
#define OSMROUTE_LOSS_H

#include "fabric/builder.h"

/* Number of cables between two switches that the walk finds. */
uint32_t loss_cables(struct builder *builder);

/*
 * Removes n of these cables, or all if there are fewer, chosen by *state (initially the seed). Pass
 * the result to loss_restore() before others are removed.
 */
GArray *loss_take(struct builder *builder, uint32_t n, uint64_t *state);
void loss_restore(GArray *lost);

/* Removes one cable, given an end of it, or all cables of a node. */
GArray *loss_take_cable(struct builder_port *port);
GArray *loss_take_node(struct builder_node *node);

#endif
