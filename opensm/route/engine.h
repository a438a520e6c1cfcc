// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routing engines: pure functions from a frozen fabric to an immutable routing. No MADs, no
 * globals, no logging; the same input gives the same bytes on any number of threads.
 */
#ifndef ROUTE_ENGINE_H
#define ROUTE_ENGINE_H

#include <glib.h>

#include "fabric/fabric.h"

#define ROUTE_NO_PORT 0xFF /* LFT entry: discard */

enum route_promise {
	ROUTE_DEADLOCK_FREE = 1 << 0, /* channel dependency graph acyclic on each VL */
	ROUTE_SHORTEST = 1 << 1,      /* between hosts only, if the routing has an order */
};

/* A node GUID and the number the operator gave it. */
struct route_id {
	uint64_t guid;
	uint64_t id;
};

/* The number of hops that a hop from a switch through this port counts as. */
struct route_weight {
	uint64_t guid; /* of the node, or of port 0 */
	uint8_t port;
	uint8_t weight; /* from 1; 255: do not use the port */
};

/* Ports of a switch in the order in which they are tried; for dor, of its dimensions. */
struct route_port_order {
	uint64_t guid;
	uint32_t n;
	uint8_t ports[255];
};

/* A port GUID, or a node GUID with the number of the port. */
struct route_endport {
	uint64_t guid;
	int16_t num; /* -1: guid is a port GUID */
};

/* An entry of a forwarding table read from a file. */
struct route_lft_entry {
	uint64_t guid; /* of the endport that had the LID; 0: not in the file */
	uint32_t line;
	uint16_t lid;
	uint8_t port;
};

/* Entries of one switch. */
struct route_lft {
	uint64_t guid;
	uint32_t first, n;
};

/* Forwarding tables read from a file. */
struct route_lfts {
	const char *file; /* NULL: there is none */
	const struct route_lft *lfts;
	uint32_t n;
	const struct route_lft_entry *entries;
};

/* Hops from a switch to a LID; a row without hops only says that the file lists the switch. */
struct route_hops_row {
	uint64_t sw;   /* node GUID */
	uint64_t guid; /* of the endport that had the LID; 0: not in the file */
	uint32_t line;
	uint32_t first; /* index in hops: the least, then by port 1, 2 ...; 0xFF: no path */
	uint16_t n;
	uint16_t lid;
};

struct route_hops_rows {
	const char *file; /* NULL: there is none */
	const struct route_hops_row *rows;
	uint32_t n;
	const uint8_t *hops;
};

/* A switch of a torus and its neighbours. */
struct route_torus_seed {
	uint64_t from;	     /* node GUID; 0: not given yet */
	uint64_t to[6];	     /* in +x, -x, +y, -y, +z, -z; 0: not given */
	int32_t dateline[3]; /* position of the origin relative to this switch */
};

/* Contents of torus-2QoS.conf. */
struct route_torus {
	const char *file; /* NULL: there is none */
	uint32_t radix[3];
	bool loops[3];
	uint32_t max_ports; /* parallel cables; hosts and port 0 of a switch */
	const struct route_torus_seed *seeds;
	uint32_t n_seeds;
	const uint8_t *port_order; /* of switches, for the LIDs */
	uint32_t n_port_order;
};

/*
 * Which endports send to which; what others would send does not count as load. All pairs are routed
 * anyway, but switches whose hosts send each other nothing need no SL (lanes.h); without one they
 * get no PathRecord.
 */
struct route_demand {
	uint32_t n_classes;	  /* at most 65,535 */
	const uint32_t *class_of; /* [port of the fabric]: class of an endport, below n_classes */
	const bool *sends;	  /* [from * n_classes + to]: symmetric */
};

/* A switch, or one of its ports, to which partitions are tied. */
struct route_tie {
	uint64_t guid;	     /* of the node */
	uint64_t partitions; /* one bit for each; the last bit is unused */
	uint8_t port;	     /* 0: all */
};

/*
 * Partitions that should use switches and cables of their own, which others should avoid, as far as
 * best paths allow. Used by engines that choose among best paths by load, and on trees.
 */
struct route_ties {
	const struct route_tie *ties;
	uint32_t n;
	const uint64_t *partitions; /* [port of the fabric]: bits of an endport's partitions */
};

/* Options for all engines; each engine reads those that it knows. */
/* Elements of the lists of inputs.def. */
#define ROUTE_LIST_guids uint64_t
#define ROUTE_LIST_ids struct route_id
#define ROUTE_LIST_orders struct route_port_order
#define ROUTE_LIST_endports struct route_endport
#define ROUTE_LIST_weights struct route_weight

struct route_watch;
struct route_input {
	unsigned int threads; /* workers allowed; the result does not depend on it */
	struct route_watch *watch; /* the computation is reported to it (graph/watch.h); or NULL */
	/* Of this fabric; NULL: all send to all. */
	const struct route_demand *demand;
	const struct route_ties *ties; /* of this fabric; NULL: none */
	/* What switches forward by now, whichever engine made it; NULL: unknown, or not to be
	 * kept. Only engines of plug-ins read it; the others get old routes by routing_renew(). */
	const struct routing *old;
	unsigned int patience_s; /* wait so long for an engine of a plug-in; 0: without end */
#define INPUT(member, type, option) type member;
#define LIST(member, kind, option, readers)                                                        \
	const ROUTE_LIST_##kind *member;                                                           \
	uint32_t n_##member;
#include "route/inputs.def"
	struct route_lfts lfts;	     /* engine file */
	struct route_hops_rows hops; /* engine file */
	struct route_torus torus;    /* engine torus-2QoS */
	unsigned int vls;	     /* data VLs that layered engines may use; 0: 15 */
};

struct route_engine;

/* LFTs of all switches. Rows are shared: engines fill new rows, later only routing_put() writes. */
struct routing {
	struct ref ref;
	struct fabric *fabric;		   /* for which it was made */
	const struct route_engine *engine; /* it made this; NULL: what switches hold */
	const struct route_engine *maker;  /* it made what switches hold; NULL: unknown */
	char *input_word;		   /* fingerprint_for() its input; NULL: unknown */
	char *demand_word; /* fingerprint_of_demand(), if routing_renew() made it; or NULL */
	unsigned int promises;
	uint32_t n_switches;
	uint16_t top;	   /* LinearFDBTop: the highest LID with an entry */
	uint32_t n_blocks; /* 64-entry blocks a switch: top / 64 + 1 */
	uint8_t **lft;	   /* [switch][LID]: n_blocks * 64 octets, 0xFF: no entry */
	uint16_t max_hops; /* of best paths; detours where no best path is legal may be longer */
	/*
	 * [switch]: its place in an order: paths go to lower places (up), then to higher ones, but
	 * for a few on lanes of their own; and so does multicast. NULL if the engine has none. The
	 * verifier must not rely on it: see verify_order.c.
	 */
	uint32_t *order;
	char *note;			 /* for the operator; NULL: none */
	struct route_base *base;	 /* tables of the last full computation; owns most rows */
	struct route_row **changed_rows; /* [switch]: its row if it differs from base; or NULL */
	struct route_repair_state *repair_state; /* NULL: not repairable */
	struct {				 /* set by a layered engine for later steps: */
		struct routing *base; /* newly computed tables, of which it kept what it could */
		uint64_t busiest;     /* flows on the busiest channel, by the engine's own count */
		uint32_t n_channels;
		bool grown; /* set by nue: some paths are not the shortest */
	} layered;
	/* Tables as if every switch held all LIDs; NULL: all hold those in use. See fdb_cap.c. */
	struct routing *unlimited;
	/*
	 * The routing as the engine made it, from which the next one starts; this one differs at
	 * switches that cannot be written, see fixed.h. NULL: this one is as the engine made it.
	 */
	struct routing *made;
	/* [switch]: port to its parent (0: none) in the tree that multicast follows; or NULL */
	uint8_t *trunk;
	/* NULL: one lane for all SLs; see lanes.h. If made is set, these are the lanes of made. */
	struct route_lanes *lanes;
	struct route_told *told; /* other SLs that hosts may use (value/told.h); NULL: none */
	struct route_room *room; /* LID limits when it was made: route_room_new() */
	uint64_t cut_by_caps; /* (host switch, host LID) pairs left unreachable by LinearFDBCap */
};

struct routing *routing_new(const struct fabric *fabric, const struct route_engine *engine,
			    unsigned int promises);
/* routing_new() with rows not set yet, for threads that share the work. */
struct routing *routing_new_unset(const struct fabric *fabric, const struct route_engine *engine,
				  unsigned int promises);
/* What switches hold, whatever made it: discards, until rows are written. For routing_renew(). */
struct routing *routing_new_held(const struct fabric *fabric);
struct routing *routing_ref(struct routing *routing);
void routing_unref(struct routing *routing);

/* Whether it was not made by an engine here: routing_new_held(). */
static inline bool routing_is_held(const struct routing *routing)
{
	return !routing->engine;
}

/* The routing as the engine made it. */
static inline struct routing *routing_made(struct routing *routing)
{
	return routing && routing->made ? routing->made : routing;
}

/* Writes an entry of a routing without other references; rows shared with others do not change. */
void routing_put(struct routing *routing, uint32_t sw, uint16_t lid, uint8_t port);

/* Appends to the note for the operator. */
void routing_note(struct routing *routing, const char *format, ...) G_GNUC_PRINTF(2, 3);

static inline uint8_t routing_port(const struct routing *routing, uint32_t sw, uint16_t lid)
{
	return lid <= routing->top ? routing->lft[sw][lid] : ROUTE_NO_PORT;
}

#define ROUTE_ERROR route_error_quark()
enum route_error {
	ROUTE_ERROR_UNKNOWN_ENGINE,
	ROUTE_ERROR_UNSUITABLE, /* the engine cannot route this topology */
	ROUTE_ERROR_INPUT,
	ROUTE_ERROR_CANCELLED,
};
GQuark route_error_quark(void);
/* If the watch of the input was cancelled: true, and an error that says so. */
bool route_set_cancelled(const struct route_input *input, GError **error);

/* What an engine uses at most; 0: as engines that route by hops. For route_memory(). */
struct route_need {
	uint8_t in_trees, elsewhere; /* times the size of all tables, with those of the result */
	uint8_t pairs; /* octets for each pair of switches */
	bool lanes;    /* perhaps all that there are, unless it is a tree */
	bool turns;    /* lanes depend on turns, unless it is a tree */
};

struct route_plan;
struct layered;
/*
 * An engine has one of: compute(); hops() by which it routes, perhaps with finish(); route() on a
 * layered graph.
 */
struct route_engine {
	const char *name;
	const char *summary; /* one line for --help and status */
	unsigned int promises;
	bool preferences; /* route_by_hops() follows those of the input among best paths */
	bool ties;	  /* it follows those of the input */
	bool legal_first; /* route() takes up/down paths where these are the shortest (layered.h) */
	bool repairs; /* where compute() fails, its old tables are repaired on their lanes */
	bool trunk; /* route() is first asked for tables with room for multicast trees (trunk.c) */
	struct routing *(*compute)(const struct route_engine *engine, const struct fabric *fabric,
				   const struct route_input *input, GError **error);
	/*
	 * The hops by which it routes, as from route_hops_all(), by the order that it gives the
	 * plan; every entry that leads nearer by these hops (route_leads) is as legal as the
	 * engine's own, in any mixture. NULL if the engine has no such hops. next may be NULL.
	 */
	uint8_t *(*hops)(struct route_plan *plan, const struct fabric *fabric,
			 const struct route_input *input, uint8_t *next, GError **error);
	/* Completes what a routing by such hops promises. NULL: it is complete. */
	void (*finish)(struct routing *routing, const struct route_input *input);
	/* Makes tables and lanes of a layered engine (layered.h); false and error if it cannot. */
	bool (*route)(struct layered *layered, GError **error);
	struct route_need need;
	/*
	 * Of an engine that is not built in: its data, and a word that differs when routes of the
	 * same fabric and input may (g_free it), such as after a change of its own options.
	 */
	void *data;
	char *(*word)(const struct route_engine *engine);
};

struct routing *route_compute(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, GError **error);
/*
 * route_compute() for tables that are mixed with others (fdb_cap.c): [switch]: its place in the
 * order of those. Engines with hops() follow it, others have none. NULL: the engine's own order.
 */
struct routing *route_compute_in_order(const struct route_engine *engine,
				       const struct fabric *fabric, const struct route_input *input,
				       const uint32_t *order, GError **error);

/* Those that are built in; registry.h has those of plug-ins, too. */
const struct route_engine *route_find(const char *name); /* NULL if there is none */
const struct route_engine *const *route_engines(void);	 /* NULL-terminated */

/* ---- the verifier: every table passes it before it is sent to a switch ---- */
struct route_verdict {
	bool complete; /* every LID reached from every switch that should reach it */
	bool loop_free;
	bool acyclic;	    /* channel dependencies of all paths, by VLs */
	bool hosts_acyclic; /* dependencies from hosts to hosts only, not to switches */
	bool cut;	    /* some pair needs a path that does not exist physically */
	bool by_order;	    /* shown by an order of the switches, which is the quick way */
	uint16_t max_hops;  /* of the longest path */
	uint64_t paths;	    /* (switch, LID) pairs checked */
	uint64_t discarded; /* of these, left without a path to avoid a deadlock */
	char *witness;	    /* what is wrong, hop by hop, for the log; NULL: nothing */
};
/*
 * True if complete and loop free, and acyclic where the routing promises it (see verify.c). A LID
 * that is not reached because of a loop makes the routing incomplete too. Pairs that are not
 * connected physically do not. Where the routing promises freedom from deadlock, neither do entries
 * that discard what a switch with hosts sends to a switch, or what one without hosts sends to any
 * LID, unless it is to or from the subnet manager.
 */
bool route_verify(const struct fabric *fabric, const struct routing *routing,
		  struct route_verdict *verdict);
/* route_verify() on the threads of the input; by its demand, pairs that send nothing need no SL. */
bool route_verify_by(const struct fabric *fabric, const struct routing *routing,
		     const struct route_input *input, struct route_verdict *verdict);
void route_verdict_clear(struct route_verdict *verdict);

/* ---- multicast: one tree per group ---- */
/* Exit ports of a switch; bit n is port n. */
struct route_port_set {
	uint64_t bits[4];
};
/* Immutable and reference counted. */
struct route_tree {
	struct ref ref;
	uint32_t root;
	uint32_t n;		      /* switches in the tree */
	uint32_t *switches;	      /* indexes, ascending */
	struct route_port_set *ports; /* of each of them */
	uint8_t *up;		      /* port of each towards the root; 0 for the root itself */
};

/* The members of a tree, and its limits. */
struct route_group {
	const uint32_t *members; /* endports; switch port 0 counts */
	const bool *only_sends;	 /* [n_members]: gets no packets; NULL: all get them */
	uint32_t n_members;
	uint32_t room;	      /* switches that forward fewer MLIDs are not used */
	const uint32_t *load; /* [switch]: trees whose root it is; NULL: ignore this */
	/* [switch]: if it cannot be written, the ports that it has for the group; NULL: it can be
	 * written. NULL: all can. */
	const struct route_port_set *const *held;
};

/*
 * What trees of a fabric have in common; trees may be built in any fabric with the same cables.
 * They follow the order of the routing (NULL: they need not), so that they close no credit loop
 * with it or with each other. Members without the common switch above them that this requires are
 * joined as without an order.
 */
struct route_multicast_base;
struct route_multicast_base *route_multicast_base_new(const struct fabric *fabric,
						      const struct routing *routing, uint32_t room);
void route_multicast_base_free(struct route_multicast_base *base); /* NULL is fine */
/* [switch]: hops from some switch to it differ between a and b; newly allocated */
bool *route_multicast_base_compare(const struct route_multicast_base *a,
				   const struct route_multicast_base *b);
/*
 * Whether all cables of a tree, and the distances from its root, are the same in another base and
 * fabric with the same switches. Then it would be built as before, if its members have not moved
 * and route_multicast_base_compare() marks none of their switches.
 */
bool route_tree_stays(const struct route_tree *tree, const struct route_multicast_base *before,
		      const struct fabric *from, const struct route_multicast_base *base,
		      const struct fabric *fabric);

/*
 * A tree that joins the members over links of the fabric; its switches list exactly the tree links
 * and the ports of members that get packets. Empty if fewer than one switch is found. Members that
 * cannot be reached are skipped, and counted in *excluded unless it is their own switch that has no
 * room. It differs as little as possible from the previous tree, before (NULL: none), in which
 * moved[i] was switch i (NULL: same indexes; FABRIC_NONE: gone).
 *
 * Switches that cannot be written take part only with the ports that they have for the group; where
 * one of them would be in the tree otherwise, the tree leads around it, and follows no order.
 */
struct route_tree *route_multicast_on(struct route_multicast_base *base,
				      const struct fabric *fabric, const struct route_group *group,
				      const struct route_tree *before, const uint32_t *moved,
				      uint32_t *excluded);
struct route_tree *route_tree_ref(struct route_tree *tree);
void route_tree_unref(struct route_tree *tree); /* NULL is fine */
bool route_tree_verify(const struct fabric *fabric, const struct route_tree *tree,
		       const struct route_group *group, char **witness);

#endif
