// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast trees, one a multicast LID, which joins the members of all groups that share it. A tree
 * is kept as long as its members stand where they stood and the cables between switches are the
 * same; else it is grown anew, as little different from before as can be.
 */
#ifndef SM_FORWARD_TREES_H
#define SM_FORWARD_TREES_H

#include "policy/partition/groups.h"
#include "subnet/trees.h"

struct trees;

/* Who is told of a tree that is not complete, or not used. */
typedef void trees_tell_fn(void *arg, uint16_t mlid, uint32_t left_out, const char *witness);

/*
 * Switches that do not answer (of the fabric, silent) go by what they hold: the ports that one has
 * for an MLID.
 */
typedef void trees_held_fn(void *arg, uint32_t sw, uint16_t mlid, struct route_port_set *ports);

struct trees *trees_new(void);
void trees_free(struct trees *trees);

/*
 * Begins to make them those of the groups in the fabric, by the order of a routing (NULL: without
 * one): trees_follow() for each block, then trees_end(). Until then all is as before, and what was
 * begun may be begun anew. If all is true trees_follow() tells of those that were not grown, too;
 * if spread is, roots of new ones are spread over switches that are about as good.
 */
void trees_begin(struct trees *trees, struct fabric *fabric, struct routing *routing,
		 struct mc_groups *groups, bool all, bool spread);
void trees_follow(struct trees *trees, uint32_t block, trees_tell_fn *tell, trees_held_fn *held,
		  void *arg);
/* changed[block] becomes true where some are other than before. */
void trees_end(struct trees *trees, bool changed[IBA_MFT_BLOCKS]);
/* Blocks in which groups are not those that the trees were made of. */
void trees_compare(const struct trees *trees, const struct mc_groups *groups,
		   bool differs[IBA_MFT_BLOCKS]);

/* They are to be as those were, as far as that fits. */
void trees_seed(struct trees *trees, const struct mc_trees *before);

const struct route_tree *trees_get(const struct trees *trees, uint16_t mlid); /* or NULL */
/* They as they are, for readers. */
struct mc_trees *trees_publish(const struct trees *trees);

#endif
