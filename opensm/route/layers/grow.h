// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Paths that are grown around those which close no credit loop, on any number of lanes. */
#ifndef ROUTE_LAYERS_GROW_H
#define ROUTE_LAYERS_GROW_H

#include "route/layers/layered.h"

/*
 * Gives the paths of the current tables lanes, as many as fit; those of the other pairs of switches
 * are replaced by paths, perhaps longer, that fit as well. This never fails.
 */
void layered_grow(struct layered *layered);

/*
 * The same for the kept tables, and with their lanes, by which it fills the current ones. False if
 * enough paths are missing to make new ones shorter, and no more blocks of tables differ.
 */
bool layered_grow_kept(struct layered *layered);

#endif
