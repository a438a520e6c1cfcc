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
#include "fabric/trust.h"

struct builder_node;

/*
 * A port, as far as a sweep cares:
 *
 *	          link trains            Set(ARMED)          Set(ACTIVE), or a packet arrives
 *	  DOWN ---------------> INIT ---------------> ARMED ---------------> ACTIVE
 *	    ^                    |                      |                      |
 *	    +--------------------+------ cable pulled, other end reset --------+
 *
 * Only Sets of this SM take it up (IBA 7.2.7); whatever takes it down sets PortStateChange of its
 * switch. A port that is back in INIT, or of whose switch a change is told since this SM took it
 * up, was down meanwhile: what is behind it is looked at again.
 */
struct builder_speeds {
	uint8_t width, plain, ext, ext2; /* LinkWidthEnabled, LinkSpeedEnabled .. Ext2 */
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
	struct trust_table p_keys; /* entries of uint16_t, 32 a block */
	struct trust_table guids;  /* entries of uint64_t, 8 a block; of ports with alias GUIDs */
	struct trust_table sl_to_vl; /* one block an input port of the switch, or one */
	struct trust_table vl_arb;   /* blocks 1 to 4 of IBA 14.2.5.9 */
	uint64_t link_seen;	   /* sweep that saw the cable last */
	uint64_t contested;	   /* sweep that met it at two cables, or that asks if it does */
	uint64_t activated;	   /* sweep in which a Set of this SM last took it up */
	uint64_t probed;	   /* sweep that asked last who is at the other end */
	struct builder_port *told; /* who that was, if he is still there; NULL: nobody yet */
	bool doubted;		   /* that he is, as his end was down */
	uint64_t fell;		   /* sweep that saw last that the link had gone down */
	bool silent;		   /* nobody answered that, or itself */
	bool avoided;  /* by it its node was silent, and by another way it answered since */
	uint8_t loose; /* how often in a row somebody answered who was not taken in */
	bool loopback;		   /* itself: a loopback plug is in it */
	bool held_up; /* its link does not become ACTIVE, and is in no picture: held_up.c */
	bool reregistered;	   /* its client was told to register again */
	bool reregister_due;	   /* it waits for its turn to be told */
	uint16_t lid;		   /* assigned by the SM: info.lid after programming; 0: none */
	uint8_t lmc;
	struct builder_speeds refused_speeds; /* by its SMA; zeros: none */
};

/* Whether an SM has written SL2VL and VL arbitration tables of a node: sm/write/qos.c. */
enum builder_vl_tables {
	VL_TABLES_UNSEEN,  /* its ports were not looked at yet */
	VL_TABLES_FRESH,   /* nothing speaks for it */
	VL_TABLES_CHECKED, /* one had, and QoS is off: they do for the lanes that links have */
	VL_TABLES_WRITTEN, /* this one has, or one before it, for lanes that links had then */
	VL_TABLES_RESET,   /* QoS is off: they did not do, and are as built in */
};

/*
 * A node:
 *
 *	(none) --NodeInfo--> met --its ports read--> read --a trap, a change--> dirty --> read
 *	   ^                                          |
 *	   +---- no cable leads to it any more -------+
 *
 * One that does not answer stays while a cable leads to it (sm/discover/kept.c).
 *
 * What is known of its tables is a matter of its epoch (fabric/trust.h), its errors are one of
 * sm/health/health.c, its silence of sm/smp/silence.c, and how SMPs get there of sm/smp/reach.c.
 */
struct builder_node {
	struct builder *builder; /* NULL: removed, but a request still points to it */
	unsigned int requests;	 /* that point to it */
	uint64_t touched;	 /* equal to builder->round: it is in builder->touched */
	uint64_t activated;	 /* sweep in which a port of it was last taken up */
	uint64_t guid;
	struct iba_node_info info;
	struct iba_node_description description;
	struct iba_switch_info switch_info; /* what the hardware holds */
	uint16_t top_sent;	    /* LinearFDBTop of the last Set, answered or not */
	uint16_t top_refused;	    /* one that it did not take, above that it has; 0: none */
	struct builder_port *ports; /* [num_ports + 1] */
	struct builder_port *entry; /* own port nearest to the SM; NULL for the SM's node */
	uint32_t hops;		    /* links from the SM's node */
	uint32_t index;		    /* in the order of the last walk; FABRIC_NONE: not in it */
	uint32_t place;		    /* in the fabric frozen last, if it is in it */
	uint64_t seen;		    /* sweep that saw it last */
	uint64_t looked_at;	    /* serial of the sweep that read it last */
	uint32_t reading;	    /* how often it was read, as a switch */
	uint64_t calm; /* ports taken up in sweeps before this one have been confirmed since */
	uint64_t doubt_from; /* PortStateChange was set: ports taken up by that sweep or a later one
				may have bounced; UINT64_MAX: none */
	bool has_description, has_switch_info;
	bool read_uncleared; /* with PortStateChange set, which tells of no change since */
	bool dirty;	 /* its ports are to be read again; it is in builder->dirty */
	bool gone;	 /* to be removed between two steps */
	enum builder_vl_tables vl_tables;
	bool sl_to_vl_singly; /* it refused a Set of SL2VL rows of all ports, though it claims it */
	uint32_t epoch;	 /* of trust, from 1 */
	bool check;	 /* a known block is to be compared with the hardware: it may be reset */
	struct node_reach {
		uint64_t epoch;	 /* of the builder in which route was found; 0: never */
		uint64_t route;	 /* digest of what leads to its LID and back; 0: no tables do */
		uint64_t proven; /* the route by which it has answered, from its LID */
		uint64_t failed; /* the route by which it did not, but by the directed one */
		uint64_t retry_ns; /* when that is tried again */
		uint8_t failures;  /* in a row */
	} reach;
	uint64_t differed_ns;	/* when it was last found to hold something else than is known */
	uint64_t differed_sweep; /* serial of the sweep before that */
	uint8_t relapses;	/* how often since then it was found so again, each soon after */
	uint64_t mute_ns;	/* when it was last found to be silent behind a link that is up */
	uint64_t given_up; /* sweep in which all tries of an SMP to it were in vain; 0: none */
	uint64_t silent_ns;	/* since when it does not answer: kept.c; 0: it answers */
	struct builder_port *lost_by; /* own port by which it fell silent; NULL: it never did */
	uint64_t identified_ns; /* when it was last asked who it is, as its answers make no sense */
	struct suspect *suspect;    /* NULL: it answers, as far as is known */
	struct health *health;	    /* NULL: it is well */
	struct trust_table lft;	    /* entries of uint8_t, 64 a block */
	struct trust_table mft;	    /* entries of uint16_t; block * 16 + position, 32 a block */
};

struct builder {
	GHashTable *nodes;	      /* uint64_t node GUID -> struct builder_node, owned */
	struct builder_port *sm_port; /* NULL before hop 0 was read */
	GPtrArray *switches, *dirty;  /* of nodes, in no order */
	uint64_t sweep;		      /* number of the current sweep, from 1 */
	uint64_t generation;
	uint64_t reach_epoch; /* counts up when a cable or a table that SMPs may need changes */
	bool cut;	      /* since the last walk a cable was lost, or a node fell silent */
	bool only_seen;	      /* walks take cables that this sweep has seen */
	uint64_t arrivals;   /* counts up whenever a node or a GUID of an endport comes */
	uint64_t population; /* and whenever one comes or goes */
	bool some_gone;	     /* a node may be marked gone */

	uint16_t hidden_top; /* nodes that nobody knows may have LIDs up to this */

	/* what changed since it was last found to be as it should */
	GPtrArray *touched; /* nodes; unused while all are */
	uint64_t round;	    /* from 1 */
	bool all_touched;

	/* the order of the last walk, as long as nothing has changed that a walk depends on */
	GPtrArray *order;

	/* the last result of builder_freeze_changes, and what it was made from */
	struct fabric *frozen;
	GPtrArray *frozen_walk, *frozen_order; /* as they were met, and as they stand in it */
	uint64_t frozen_population;
	bool frozen_is_old; /* something was touched since */
	bool self_check;    /* for tests: abort if not all that changed was touched */
};

struct builder *builder_new(void);
void builder_free(struct builder *builder);

struct builder_node *builder_find(const struct builder *builder, uint64_t node_guid);
/* Adds a node of this NodeInfo; ports exist, unknown. The GUID must be new. */
struct builder_node *builder_add(struct builder *builder, const struct iba_node_info *info);
/* Removes a node with its links. While requests point to it, it lives on with builder NULL. */
void builder_remove(struct builder *builder, struct builder_node *node);
/* A request points to the node from now on, and no more. */
void builder_hold(struct builder_node *node);
void builder_release(struct builder_node *node);

/* It does not answer; what is known of it is as it was when it did. */
static inline bool builder_is_silent(const struct builder_node *node)
{
	return node->silent_ns != 0;
}

static inline bool builder_is_switch(const struct builder_node *node)
{
	return node->info.node_type == IBA_NODE_SWITCH;
}

/* A switch forwards LIDs below this: its LinearFDBCap, or FABRIC_LIDS if it has told none. */
static inline uint32_t builder_fdb_cap(const struct builder_node *node)
{
	uint16_t cap = node->switch_info.linear_fdb_cap;

	return node->has_switch_info && cap ? cap : FABRIC_LIDS;
}

static inline bool builder_link_is_up(const struct builder_port *port)
{
	return port->known && port->info.port_state != IBA_PORT_DOWN;
}

/* It is the port that answered with this NodeInfo. */
static inline bool builder_port_is(const struct builder_port *port,
				   const struct iba_node_info *info)
{
	return info->node_guid == port->node->guid && info->local_port_num == port->num;
}

/* Of a port that was not read it is not known. */
static inline bool builder_is_down(const struct builder_port *port)
{
	return port->known && port->info.port_state == IBA_PORT_DOWN;
}

/* Joins two ports, after undoing what either was joined to. */
void builder_link(struct builder_port *a, struct builder_port *b);
void builder_unlink(struct builder_port *port);
/* The same where nobody knows what became of its ends: those of CAs are not known any more. */
void builder_lose_link(struct builder_port *port);
/* The cable of a port was seen in this sweep. */
void builder_link_seen(struct builder_port *port);
/* Walks take no cable but those, or all again. */
void builder_only_seen(struct builder *builder, bool on);

/* Stores the PortInfo that a port has, touches its node, and has walks see it. */
void builder_set_info(struct builder_port *port, const struct iba_port_info *info);

/* It answers no more since then, or 0: it does again; walks go around it where they can. */
void builder_set_silent(struct builder_node *node, uint64_t since_ns);

/* A cable or a table changed: who is reached by LID is to be found out again. */
static inline void builder_reach_changed(struct builder *builder)
{
	if (builder)
		builder->reach_epoch++;
}

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

/* The endport that last said it has that LID; NULL: none did. Looks at all. */
struct builder_port *builder_port_by_lid(const struct builder *builder, uint16_t lid);

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

#endif
