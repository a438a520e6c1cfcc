// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The tree of cables that multicast keeps to where tables have no order of switches. All its steps
 * are taken on a lane before those of paths are: then trees that are parts of it close no credit
 * loop there, with paths or with each other, whatever the SL of a group.
 */
#ifndef ROUTE_TRUNK_H
#define ROUTE_TRUNK_H

#include "route/acyclic.h"
#include "route/layered.h"

/*
 * Finds it in each part of the network, for this and for the routing: breadth first from a root, or
 * the paths to it by the tables.
 */
void layered_find_trunk(struct layered *layered, uint32_t root, bool by_paths);
/* The root that goes with paths on several lanes. */
uint32_t layered_trunk_root(const struct layered *layered);

/* Takes its steps on a lane; false if they close a loop with others there. */
bool layered_take_trunk(const struct layered *layered, struct acyclic *lane);

/*
 * Tables by an engine with a trunk; if lanes do not do for these, without one, and it is told that
 * multicast may close loops then. False and error if they do not do for that either.
 */
bool layered_with_trunk(struct layered *layered, GError **error);

#endif
