// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A layered network and the ancestors of its targets: for tree.c, ancestor.c and tree_fill.c. */
#ifndef ROUTE_ORDER_TREE_H
#define ROUTE_ORDER_TREE_H

#include "route/engine.h"
#include "route/fill/shortest.h"
#include "route/graph/plan.h"

#define TREE_RANKS_MAX 16
#define TREE_NO_RANK 0xFF
#define TREE_SWITCHES_MAX 0xFFFF /* ancestors are kept in 16 bits */

struct tree {
	const struct route_graph *graph;
	const struct route_order *order;
	const struct route_wishes *wishes;
	const uint8_t *hops, *next;
	uint8_t *rank; /* 0 is that of the leaves */
	unsigned int max_rank; /* also the greatest number of ancestors of a target */
	bool along_ranks;    /* no path through an ancestor is illegal */
	uint16_t *lids;	     /* [target] */
	uint16_t *leaf;	     /* [target] */
	/*
	 * [level][target]; level 0 is the parent of the leaf; the leaf itself where there is none.
	 */
	uint16_t *ancestor[TREE_RANKS_MAX];
	/* [level][target]: which of parallel links at that level; NULL: no parallel links. */
	uint8_t *turn[TREE_RANKS_MAX];
	/* [target]: not 0: a lost cable left it without an ancestor; numbered from 1. */
	uint16_t *orphan;
	uint32_t n_orphans;
	enum tree_form form;
	bool *lacks;	 /* [switch]: it probably lost links to parents */
	uint16_t *place; /* [switch]: number of its kind before it */
};

/* Gives each target its ancestors; free them by tree_clear_ancestors(). */
void tree_find_ancestors(struct tree *tree);
void tree_clear_ancestors(struct tree *tree);

/* Fills all rows of a routing. */
void tree_fill(const struct tree *tree, struct routing *routing);

#endif
