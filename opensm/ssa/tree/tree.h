// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The core's part of the tree: it hears of joins at its own Redis server, and tells each node its
 * parents (assign.h). What it knows is in that server as well, so that it goes on from there when
 * it is started again.
 */
#ifndef SSA_TREE_TREE_H
#define SSA_TREE_TREE_H

#include "ssa/store/store.h"

struct ssa_tree_config {
	uint64_t prefix;
	const char *server; /* URI */
	struct ssa_store_options options;
	uint32_t fanout[3];
};

struct ssa_tree;

/* The strings of the configuration must stay valid. */
struct ssa_tree *ssa_tree_start(const struct ssa_tree_config *config);
void ssa_tree_stop(struct ssa_tree *tree); /* NULL is fine */

#endif
