// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From which node each node takes epochs. Pure; the order of the nodes does not matter.
 *
 * A node is a child of the layer above it: distribution of a core, access of distribution, an agent
 * of access. Where a layer is missing, or all of it is full or bad, the next one above serves.
 */
#ifndef SSA_TREE_ASSIGN_H
#define SSA_TREE_ASSIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "ssa/tree/join.h"

struct ssa_tree_node {
	uint64_t guid;
	unsigned int roles;  /* enum ssa_role */
	uint64_t parents[2]; /* primary, backup; 0: none. In: those so far */
	uint64_t bad;	     /* a parent that does not serve it; 0: none */
	/* Out: how many have it as primary and as backup. */
	uint32_t children, backups;
};

struct ssa_assign_rules {
	uint32_t fanout[3]; /* distribution nodes, access nodes, and agents of one parent */
	uint32_t moves;	    /* children that may be moved to balance the load */
	/* Hops between two nodes, UINT32_MAX: not known. NULL: none is known. */
	uint32_t (*hops)(void *arg, const struct ssa_tree_node *child,
			 const struct ssa_tree_node *parent);
	void *arg;
};

/*
 * Sorts the nodes by GUID, which no two may share, and sets their parents. One that lives, is of a
 * layer above and is not bad stays parent. Returns how many children were moved for balance.
 */
uint32_t ssa_assign(struct ssa_tree_node *nodes, uint32_t n, const struct ssa_assign_rules *rules);

/* 0: core, 1: distribution, 2: access, 3: agent only. */
unsigned int ssa_assign_layer(unsigned int roles);
/* A node by its GUID, after ssa_assign(); NULL: none. */
struct ssa_tree_node *ssa_assign_find(struct ssa_tree_node *nodes, uint32_t n, uint64_t guid);

#endif
