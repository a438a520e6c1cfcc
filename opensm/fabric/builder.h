// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The builder: the sweep's mutable model of the subnet. Owned by the sm actor alone; it lives
 * from sweep to sweep, so that a change costs as much as it changes. It keeps what the hardware
 * was last known to hold ("what is"); what should be is computed elsewhere as plain values.
 */
#ifndef FABRIC_BUILDER_H
#define FABRIC_BUILDER_H

#include <glib.h>

#include "fabric/fabric.h"

struct builder_node;

/* A table on the hardware in blocks, each known or not. */
struct builder_table {
	uint8_t *bytes;	   /* host order per entry of the attribute; NULL until the first block */
	uint8_t *known;	   /* one flag a block */
	uint32_t n_blocks; /* blocks with room */
};

struct builder_port {
	struct builder_node *node;
	struct builder_port *peer; /* the other end of the cable, NULL if none was found */
	uint64_t guid;		   /* of endports */
	uint8_t num;
	bool known;		   /* info was read */
	uint64_t read;		   /* sweep that read info last; 0: it is to be read again */
	bool inferred;		   /* that it is down is known from the other end only */
	struct iba_port_info info; /* what the hardware holds */
	struct builder_table p_keys; /* entries of uint16_t, 32 a block */
	uint64_t link_seen;	   /* sweep that saw the cable last */
	uint64_t activated; /* sweep that last took it to ACTIVE */
	uint64_t probed;	   /* sweep that asked last who is at the other end */
	uint8_t silent;		   /* sweeps in a row in which nobody answered that */
	bool reregistered;	   /* its client was told to register again */
	uint16_t lid;		   /* assigned by the SM: info.lid after programming; 0: none */
	uint8_t lmc;
};

struct builder_node {
	struct builder *builder; /* NULL: of none */
	uint64_t touched;	 /* equal to builder->round: it is in builder->touched */
	uint64_t guid;
	struct iba_node_info info;
	struct iba_node_description description;
	struct iba_switch_info switch_info;
	struct builder_port *ports; /* [num_ports + 1] */
	struct builder_port *entry; /* own port nearest to the SM; NULL for the SM's node */
	uint32_t hops;		    /* links from the SM's node */
	uint32_t index;		    /* in the order of the last walk; FABRIC_NONE: not in it */
	uint64_t seen;		    /* sweep that saw it last */
	bool has_description, has_switch_info;
	bool dirty;	       /* its ports are to be read again; it is in builder->dirty */
	bool suspect;	       /* a neighbour lost it: it may be dead */
	bool unexplained;      /* it reported a port state change, and no port was seen to change */
	bool doubtful;	       /* what is known of its tables may be of another switch */
	bool gone;	       /* to be dropped between two steps */
	bool lid_routed;       /* SMPs reach it LID-routed; a host if its switch is, too */
	bool warm;	       /* its tables held something when it was first seen */
	unsigned int detours;  /* SMPs in a row by its LID that arrived by a directed route only */
	struct builder_table lft;  /* entries of uint8_t, 64 a block */
	const uint8_t *row;	   /* a row of a routing that lft was seen to equal, or NULL */
	uint64_t row_of;	   /* number of that routing, so that nobody believes a stray row */
	struct builder_table mft;  /* entries of uint16_t; block * 16 + position, 32 a block */
};

struct builder {
	GHashTable *nodes;	      /* uint64_t node GUID -> struct builder_node, owned */
	struct builder_port *sm_port; /* NULL before hop 0 was read */
	GPtrArray *switches, *dirty;  /* of nodes, in no order */
	uint64_t sweep;		      /* number of the current sweep, from 1 */
	uint64_t generation;
	uint64_t arrivals;   /* counts up whenever a node or a GUID of an endport comes */
	uint64_t population; /* and whenever one comes or goes */
	bool some_gone;	     /* a node may be marked gone */

	/* what changed since it was last found to be as it should */
	GPtrArray *touched; /* nodes; unused while all are */
	uint64_t round;	    /* from 1 */
	bool all_touched;

	/* the order of the last walk, as long as nothing has changed that a walk depends on */
	GPtrArray *order;

	/* the last result of builder_freeze_changes, and what it was made from */
	struct fabric *frozen;
	GPtrArray *frozen_order;
	uint64_t frozen_population;
	bool frozen_is_old; /* something was touched since */
	bool self_check;    /* for tests: abort if not all that changed was touched */
};

struct builder *builder_new(void);
void builder_free(struct builder *builder);

struct builder_node *builder_find(const struct builder *builder, uint64_t node_guid);
/* Adds a node of this NodeInfo; ports exist, unknown. The GUID must be new. */
struct builder_node *builder_add(struct builder *builder, const struct iba_node_info *info);
/* Removes a node with its links. */
void builder_remove(struct builder *builder, struct builder_node *node);

static inline bool builder_is_switch(const struct builder_node *node)
{
	return node->info.node_type == IBA_NODE_SWITCH;
}

/* Joins two ports, after undoing what either was joined to. */
void builder_link(struct builder_port *a, struct builder_port *b);
void builder_unlink(struct builder_port *port);

/* Stores the PortInfo that a port has, touches its node, and has walks see it. */
void builder_set_info(struct builder_port *port, const struct iba_port_info *info);

/* The GUID of an endport. One that changes is as good as another endport. */
void builder_set_guid(struct builder_port *port, uint64_t guid);

/*
 * Whoever changes what a fabric shows of a node touches it: values, LIDs, links (builder_link and
 * its like do so themselves). So does who wants a partial sweep to look at it.
 */
void builder_touch(struct builder_node *node);
void builder_touch_all(struct builder *builder);
/* A SwitchInfo was set, which only fabrics are to show. */
void builder_switch_info_set(struct builder_node *node);
static inline bool builder_is_touched(const struct builder_node *node)
{
	return node->builder->all_touched || node->touched == node->builder->round;
}
/* All is as it should: none is touched any more. After builder_freeze_changes(). */
void builder_settled(struct builder *builder);

void builder_mark(struct builder_node *node); /* dirty */
void builder_unmark(struct builder_node *node);

/*
 * Breadth-first walk from the SM's port over links whose ports are not down: sets hops, entry and
 * index of each node met. Returns the nodes in order; nodes not met are not in it.
 */
GPtrArray *builder_walk(struct builder *builder);
/* The same order, from the last walk if that would not differ: for who touches what he changes. */
GPtrArray *builder_order(struct builder *builder);

/* Drops every node that builder_order() lacks; returns how many. */
unsigned int builder_prune(struct builder *builder);

/*
 * Directed route to a node: out[1..n] are the exit ports; returns n, or -1 if it has no entry or
 * is more than 63 hops away.
 */
int builder_path(const struct builder_node *node, uint8_t out[64]);

/* Immutable copy of what builder_walk meets. NULL if the SM's port is unknown. */
struct fabric *builder_freeze(struct builder *builder);
/*
 * The same for who touches all that he changes: what was not touched is as in the fabric returned
 * before, if nodes, ports and LIDs have the same places.
 */
struct fabric *builder_freeze_changes(struct builder *builder);
/* True if the fabric is the last result of that, and a new one would only differ in its number. */
bool builder_is_frozen(const struct builder *builder, const struct fabric *fabric);
/* A node of a result of builder_freeze_changes; NULL if it is gone. */
struct builder_node *builder_node_of(const struct builder *builder, const struct fabric *fabric,
				     uint32_t node);

/* ---- tables in blocks ---- */
/* Makes room for n_blocks of block_bytes; new blocks are unknown. */
void builder_table_reserve(struct builder_table *table, uint32_t n_blocks, size_t block_bytes);
void builder_table_set(struct builder_table *table, uint32_t block, size_t block_bytes,
		       const void *bytes);
/* NULL if the block is not known. */
const void *builder_table_get(const struct builder_table *table, uint32_t block,
			      size_t block_bytes);
void builder_table_clear(struct builder_table *table); /* forgets all */

#endif
