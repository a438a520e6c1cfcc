// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The builder: the mutable model of the subnet that sweeps keep. Only the sm actor uses it. It
 * lives from sweep to sweep, so that the cost of a change depends on its size. It holds what the
 * hardware was last known to hold ("what is"); what should be is computed elsewhere as plain
 * values.
 */
#ifndef FABRIC_BUILDER_H
#define FABRIC_BUILDER_H

#include <glib.h>

#include "fabric/cable_end.h"
#include "fabric/fabric.h"
#include "fabric/trust.h"

struct builder_node;
struct builder_slots;

struct builder_speeds {
	uint8_t width, plain, ext, ext2; /* LinkWidthEnabled, LinkSpeedEnabled .. Ext2 */
};

/* FDR10 of a port: sm/write/fdr10.c. */
struct builder_fdr10 {
	uint64_t read; /* last sweep that read ExtendedPortInfo; 0: unknown */
	uint8_t is;    /* enum fabric_fdr10; 0: unknown or not supported */
	uint8_t kept;  /* value of the option that it did not obey */
	uint32_t kept_epoch, failed_epoch; /* of its node then, and when it did not answer; or 0 */
};

/*
 * A port, as far as a sweep is concerned:
 *
 *	          link trains            Set(ARMED)          Set(ACTIVE), or a packet arrives
 *	  DOWN ---------------> INIT ---------------> ARMED ---------------> ACTIVE
 *	    ^                    |                      |                      |
 *	    +--------------------+------ cable pulled, other end reset --------+
 *
 * Only Sets of this SM bring it up (IBA 7.2.7); anything that takes it down sets PortStateChange of
 * its switch. If a port is back in INIT, or its switch has reported a change since this SM brought
 * it up, it was down in the meantime: the SM reads again what is behind it.
 */
struct builder_port {
	struct builder_node *node;
	struct builder_port *peer; /* the other end of the cable, NULL if none was found */
	uint64_t guid;		   /* endports only */
	uint8_t num;
	bool known;		   /* info has been read */
	uint64_t read;		   /* last sweep that read info; 0: must be read again */
	struct iba_port_info info; /* what the hardware holds */
	struct trust_table p_keys; /* entries of uint16_t, 32 a block */
	struct trust_table guids;  /* entries of uint64_t, 8 a block; for ports with alias GUIDs */
	struct trust_table sl_to_vl; /* one block per input port of the switch, or one */
	struct trust_table vl_arb;   /* blocks 1 to 4 of IBA 14.2.5.9 */
	uint64_t activated;	     /* sweep in which a Set of this SM last brought it up */
	struct cable_end cable;
	bool avoided;	     /* its node was silent through it and has since answered another way */
	bool held_up;	     /* its link does not become ACTIVE; not in any fabric: held_up.c */
	bool reregistered;   /* its client was told to register again */
	bool reregister_due; /* its client waits to be told that */
	uint16_t lid;	     /* assigned by the SM: info.lid after programming; 0: none */
	uint8_t lmc;
	struct builder_speeds refused_speeds; /* by its SMA; zeros: none */
	struct builder_fdr10 fdr10;
};

/* Whether an SM has written the SL2VL and VL arbitration tables of a node: sm/write/qos.c. */
enum builder_vl_tables {
	VL_TABLES_UNSEEN,  /* its ports have not been checked yet */
	VL_TABLES_FRESH,   /* nothing shows that an SM wrote them */
	VL_TABLES_CHECKED, /* an SM had, and QoS is off: they suit the lanes that links have */
	VL_TABLES_WRITTEN, /* this SM or an earlier one did, for the lanes that links had then */
	VL_TABLES_RESET,   /* QoS is off: they did not suit, and are back at the built-in ones */
};

/*
 * A node:
 *
 *	(none) --NodeInfo--> met --its ports read--> read --a trap, a change--> dirty --> read
 *	   ^                                          |
 *	   +---- no cable leads to it any more -------+
 *
 * A node that does not answer stays while a cable leads to it (sm/discover/kept.c).
 *
 * Other files describe the rest of its state: what is known of its tables depends on its epoch
 * (fabric/trust.h); for errors see sm/health/health.c, for silence sm/smp/silence.c, and for the
 * routes that SMPs take to it sm/smp/reach.c.
 */
struct builder_node {
	struct builder *builder;     /* NULL: removed, but a request still points to it */
	unsigned int requests;	     /* number of requests that point to it */
	struct builder_slots *slots; /* of its builder; NULL: it was not made by one */
	uint32_t slot;	  /* its number in side tables (node_table.h) as long as it exists */
	uint64_t born;	  /* number of its addition, from 1: tells apart nodes with the same slot */
	uint64_t touched; /* equal to builder->round: the node is in builder->touched */
	uint64_t activated; /* sweep in which one of its ports was last brought up */
	uint64_t guid;
	struct iba_node_info info;
	struct iba_node_description description;
	struct iba_switch_info switch_info; /* what the hardware holds */
	uint16_t top_sent;		    /* LinearFDBTop of the last Set, answered or not */
	uint16_t top_refused;	    /* value above its own that it did not accept; 0: none */
	struct builder_port *ports; /* [num_ports + 1] */
	struct builder_port *entry; /* its port nearest to the SM; NULL for the SM's node */
	uint32_t hops;		    /* links from the SM's node */
	uint32_t index;		    /* in the order of the last walk; FABRIC_NONE: not reached */
	uint32_t place;		    /* index in the last frozen fabric, if it is in that */
	uint64_t seen;		    /* last sweep that saw it */
	uint64_t looked_at;	    /* serial of the last sweep that read it */
	uint32_t reading;	    /* how often it was read, as a switch */
	uint64_t confirmed_until; /* ports brought up in sweeps before this one have been confirmed
				     since */
	uint64_t recheck_from; /* PortStateChange was set: ports brought up by that sweep or a later
				one may have gone down since; UINT64_MAX: none */
	bool has_description, has_switch_info;
	bool read_uncleared; /* read with PortStateChange set, which shows no change since then */
	bool dirty;	     /* its ports must be read again; it is in builder->dirty */
	bool gone;	     /* to be removed between two steps */
	enum builder_vl_tables vl_tables;
	bool sl_to_vl_singly; /* it claims Sets of SL2VL rows of all ports but refused one */
	bool has_ext_port_info; /* one of its ports has answered that */
	uint32_t epoch;	      /* of trust, from 1 */
	uint64_t arrival;     /* builder's arrivals with it */
	bool check;	      /* compare a known block with the hardware: it may have been reset */
	struct node_reach {
		uint64_t epoch;	 /* builder's reach_epoch in which route was found; 0: never */
		uint64_t route;	 /* digest of the tables leading to its LID and back; 0: none do */
		uint64_t proven; /* route by its LID over which it last answered */
		uint64_t failed; /* route that failed by its LID while the directed route worked */
		uint64_t retry_ns; /* when the failed route is tried again */
		uint8_t failures;  /* in a row */
	} reach;
	uint64_t silent_ns;	/* since when it has not answered: kept.c; 0: it answers */
	struct trust_table lft; /* entries of uint8_t, 64 a block */
	struct trust_table mft; /* entries of uint16_t, 32 a block; by MLIDs, then position */
};

struct builder {
	GHashTable *nodes; /* uint64_t node GUID -> struct builder_node, owned */
	struct builder_slots *slots;
	struct builder_port *sm_port; /* NULL before hop 0 is read */
	GPtrArray *switches, *dirty;  /* of nodes, unordered */
	uint64_t sweep;		      /* number of the current sweep, from 1 */
	uint64_t generation;
	uint64_t reach_epoch; /* incremented when a cable or a table that SMPs may need changes */
	bool cut;	      /* a cable was lost or a node fell silent since the last walk */
	bool only_seen;	      /* walks use only cables that this sweep has seen */
	uint64_t arrivals;    /* incremented when a node or an endport GUID is added */
	uint64_t population;  /* incremented when one is added or removed */
	bool some_gone;	      /* some nodes may be marked gone */

	struct node_names *names; /* those of the operator; NULL: none */
	uint16_t hidden_top; /* nodes that the SM does not know may have LIDs up to this */

	/* what changed since the subnet was last as it should be */
	GPtrArray *touched; /* nodes; unused while all_touched */
	uint64_t round;	    /* from 1 */
	bool all_touched;

	/* the order of the last walk, until something changes that a walk depends on */
	GPtrArray *order;

	/* the last result of builder_freeze_changes, and its input */
	struct fabric *frozen;
	GPtrArray *frozen_walk, *frozen_order; /* in the order of the walk, and of frozen */
	uint64_t frozen_population;
	bool frozen_is_old; /* something was touched since */
	bool self_check;    /* for tests: abort if something changed without being touched */
};

struct builder *builder_new(void);
void builder_free(struct builder *builder);

/* From now on nodes have these names, also in fabrics frozen later; takes a reference. */
void builder_set_names(struct builder *builder, struct node_names *names);
/* What people call a node: the name that the operator gave it, or its NodeDescription. */
#define BUILDER_NAME_SIZE (NODE_NAME_MAX + 1)
const char *builder_called(const struct builder_node *node, char buffer[BUILDER_NAME_SIZE]);

struct builder_node *builder_find(const struct builder *builder, uint64_t node_guid);
/* Adds a node with this NodeInfo; its ports exist but are unknown. The GUID must be new. */
struct builder_node *builder_add(struct builder *builder, const struct iba_node_info *info);
/* Removes a node with its links. While requests point to it, it lives on with builder NULL. */
void builder_remove(struct builder *builder, struct builder_node *node);
/* A request points to the node from now on; builder_release(): it no longer does. */
void builder_hold(struct builder_node *node);
void builder_release(struct builder_node *node);

/* It does not answer; what is known of it dates from when it did. */
static inline bool builder_is_silent(const struct builder_node *node)
{
	return node->silent_ns != 0;
}

static inline bool builder_is_switch(const struct builder_node *node)
{
	return node->info.node_type == IBA_NODE_SWITCH;
}

/* A switch forwards LIDs below this: its LinearFDBCap, or FABRIC_LIDS if that is unknown. */
static inline uint32_t builder_fdb_cap(const struct builder_node *node)
{
	uint16_t cap = node->switch_info.linear_fdb_cap;

	return node->has_switch_info && cap ? cap : FABRIC_LIDS;
}

static inline bool builder_link_is_up(const struct builder_port *port)
{
	return port->known && port->info.port_state != IBA_PORT_DOWN;
}

/* The port is the one that answered with this NodeInfo. */
static inline bool builder_port_is(const struct builder_port *port,
				   const struct iba_node_info *info)
{
	return info->node_guid == port->node->guid && info->local_port_num == port->num;
}

/* False for a port that was not read. */
static inline bool builder_is_down(const struct builder_port *port)
{
	return port->known && port->info.port_state == IBA_PORT_DOWN;
}

static inline uint64_t builder_sweep(const struct builder_node *node)
{
	return node->builder ? node->builder->sweep : 0;
}

/* Something happened to the port's end of its cable. */
static inline void builder_cable(struct builder_port *port, enum cable_event event)
{
	cable_end_event(&port->cable, event, builder_sweep(port->node));
}

/* Whether the running sweep has made that mark at the port's end of its cable. */
static inline bool builder_cable_is(const struct builder_port *port, enum cable_mark mark)
{
	return cable_end_marks(&port->cable, builder_sweep(port->node)) & mark;
}

/* The port that answered the probe of this sweep; NULL: none has yet, or none was sent. */
static inline struct builder_port *builder_far_end(const struct builder_port *port)
{
	return builder_cable_is(port, CABLE_ASKED) ? port->cable.far_end : NULL;
}

/* Joins two ports, after unlinking each from its previous peer. */
void builder_link(struct builder_port *a, struct builder_port *b);
void builder_unlink(struct builder_port *port);
/* As builder_unlink(), where the ends may have changed: those of CAs become unknown. */
void builder_lose_link(struct builder_port *port);
/* The cable of a port was seen in this sweep. */
void builder_link_seen(struct builder_port *port);
/* Walks use only cables that this sweep has seen, or all again. */
void builder_only_seen(struct builder *builder, bool on);

/* Stores the PortInfo of a port, touches its node, and makes walks take account of it. */
void builder_set_info(struct builder_port *port, const struct iba_port_info *info);

/* Sets since when it does not answer (0: it does); walks avoid silent nodes where they can. */
void builder_set_silent(struct builder_node *node, uint64_t since_ns);

/* A cable or a table changed: find out again which nodes can be reached by LID. */
static inline void builder_reach_changed(struct builder *builder)
{
	if (builder)
		builder->reach_epoch++;
}

/* The GUID of an endport. A change of it counts as a different endport. */
void builder_set_guid(struct builder_port *port, uint64_t guid);

/*
 * Code that changes what a fabric shows of a node (values, LIDs, links) must touch it;
 * builder_link() and the like do so themselves. Touching a node also makes a partial sweep look at
 * it.
 */
void builder_touch(struct builder_node *node);
void builder_touch_all(struct builder *builder);
/* A SwitchInfo was set; only frozen fabrics need to show it. */
void builder_switch_info_set(struct builder_node *node);
static inline bool builder_is_touched(const struct builder_node *node)
{
	return node->builder->all_touched || node->touched == node->builder->round;
}
/* All is as it should be: no node is touched any more. Call after builder_freeze_changes(). */
void builder_settled(struct builder *builder);

void builder_mark(struct builder_node *node); /* dirty */
void builder_unmark(struct builder_node *node);

/*
 * Breadth-first walk from the SM's port over links whose ports are not down: sets hops, entry and
 * index of each node that it reaches. Returns these nodes in order, and no others.
 */
GPtrArray *builder_walk(struct builder *builder);
/* The order of builder_walk(), cached; for callers that touch every node they change. */
GPtrArray *builder_order(struct builder *builder);

/* The endport that last reported this LID; NULL: none. Searches all nodes. */
struct builder_port *builder_port_by_lid(const struct builder *builder, uint16_t lid);

/* Drops every node that is not in builder_order(); returns how many. */
unsigned int builder_prune(struct builder *builder);

/*
 * Directed route to a node: out[1..n] are the exit ports; returns n, or -1 if it has no entry or
 * is more than 63 hops away.
 */
int builder_path(const struct builder_node *node, uint8_t out[64]);

/* Immutable copy of what builder_walk() reaches. NULL if the SM's port is unknown. */
struct fabric *builder_freeze(struct builder *builder);
/*
 * As builder_freeze(), for callers that touch every node they change: nodes that were not touched
 * are copied from the fabric returned before, if nodes, ports and LIDs have the same indices.
 */
struct fabric *builder_freeze_changes(struct builder *builder);
/* True if the fabric is its last result, and a new one would differ only in its number. */
bool builder_is_frozen(const struct builder *builder, const struct fabric *fabric);
/* A node of a result of builder_freeze_changes(); NULL if it has been removed. */
struct builder_node *builder_node_of(const struct builder *builder, const struct fabric *fabric,
				     uint32_t node);

#endif
