// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast trees where some switches do not answer, and forward by the MFTs that they have. */
#ifndef ROUTE_MULTICAST_MULTICAST_HELD_H
#define ROUTE_MULTICAST_MULTICAST_HELD_H

#include "route/engine.h"
#include "route/graph/graph.h"

/* Whether a switch that cannot be written is in the tree, or has members of the group. */
bool route_tree_meets_held(const struct route_tree *tree, const struct fabric *fabric,
			   const struct route_group *group);

/*
 * As route_multicast_on(), in a graph without orientation. A switch that cannot be written has the
 * ports that it holds for the MLID; other switches are led around it. Where links held by such
 * switches form a ring, nothing is sent to one of them.
 */
struct route_tree *route_multicast_held(const struct route_graph *graph,
					const struct fabric *fabric,
					const struct route_group *group,
					const struct route_tree *before, const uint32_t *moved,
					uint32_t *excluded);

#endif
