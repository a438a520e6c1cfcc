// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A node of the Scalable SA: the roles of its configuration. Each part has threads of its own, as
 * stores block:
 *
 *    push.h      a core: between the daemon's store and its Redis server
 *    tree.h      a core: the parents of all nodes
 *    replica.h   a distribution or access node: whose replica its server is
 *    follow.h    an agent, which takes each epoch from its parent
 *    member.h    all: tells the cores of the node, and hears of its parents
 */
#ifndef SSA_NODE_NODE_H
#define SSA_NODE_NODE_H

#include "ssa/node/settings.h"

struct ssa_node;

/* The settings must outlive it. NULL and error. */
struct ssa_node *ssa_node_start(const struct ssa_settings *settings, GError **error);
void ssa_node_stop(struct ssa_node *node); /* NULL is fine */

#endif
