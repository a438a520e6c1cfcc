// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast trees, one per multicast LID, which joins the members of all groups that share it. A
 * tree is kept as long as its members stay in place and the cables between switches are the same;
 * else it is grown again, with as few changes as possible.
 */
#ifndef SM_FORWARD_TREES_H
#define SM_FORWARD_TREES_H

#include "policy/partition/groups.h"
#include "subnet/trees.h"

struct trees;

/* Called for a tree that is incomplete, or not used. */
typedef void trees_tell_fn(void *arg, uint16_t mlid, uint32_t excluded, const char *witness);

/*
 * Switches that do not answer (silent in the fabric) keep what they hold: returns the ports that
 * one has for an MLID.
 */
typedef void trees_held_fn(void *arg, uint32_t sw, uint16_t mlid, struct route_port_set *ports);

struct trees *trees_new(void);
void trees_free(struct trees *trees);

/*
 * Begins to make the trees those of the groups in the fabric, in the order of a routing (NULL:
 * none): call trees_follow() for each block, then trees_end(). Until then nothing changes, and this
 * may be called again. If all is true, trees_follow() also reports trees that were not grown; if
 * spread is true, roots of new ones are spread over switches that are about as good.
 */
void trees_begin(struct trees *trees, struct fabric *fabric, struct routing *routing,
		 struct mc_groups *groups, bool all, bool spread);
void trees_follow(struct trees *trees, uint32_t block, trees_tell_fn *tell, trees_held_fn *held,
		  void *arg);
/* Sets changed[block] where some trees differ from before. */
void trees_end(struct trees *trees, bool changed[IBA_MFT_BLOCKS]);
/* Blocks in which groups differ from those that the trees were made for. */
void trees_compare(const struct trees *trees, const struct mc_groups *groups,
		   bool differs[IBA_MFT_BLOCKS]);

/* Makes trees like those, as far as they fit. */
void trees_seed(struct trees *trees, const struct mc_trees *before);

const struct route_tree *trees_get(const struct trees *trees, uint16_t mlid); /* or NULL */
/* The current trees, for readers. */
struct mc_trees *trees_publish(const struct trees *trees);

#endif
