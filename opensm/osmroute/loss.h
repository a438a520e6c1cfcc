// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Losing cables, at random or not, and getting them back. */
#ifndef OSMROUTE_LOSS_H
#define OSMROUTE_LOSS_H

#include "fabric/builder.h"

/* Cables between two switches that the walk meets. */
uint32_t loss_cables(struct builder *builder);

/*
 * Takes out n of these cables, or all if there are fewer, chosen by *state (the seed at first).
 * Give the result to loss_restore(), before others are taken.
 */
GArray *loss_take(struct builder *builder, uint32_t n, uint64_t *state);
void loss_restore(GArray *lost);

/* The same of one cable by an end of it, or of all cables of a node. */
GArray *loss_take_cable(struct builder_port *port);
GArray *loss_take_node(struct builder_node *node);

#endif
