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
	ROUTE_SHORTEST = 1 << 1, /* paths between hosts; all, if the routing has no order */
};

/* A node GUID and the number the operator gave it. */
struct route_id {
	uint64_t guid;
	uint64_t id;
};

/* What a hop counts as that leaves a switch through this port. */
struct route_weight {
	uint64_t guid; /* of the node, or of port 0 */
	uint8_t port;
	uint8_t weight; /* from 1; 255: not to be used */
};

/* Ports of a switch in the order in which they are tried; of dor, its dimensions. */
struct route_port_order {
	uint64_t guid;
	uint32_t n;
	uint8_t ports[255];
};

/* A port GUID, or a node GUID with the number of the port. */
struct route_endport {
	uint64_t guid;
	int16_t num; /* -1: it is a port GUID */
};

/* An entry of a forwarding table that a file has. */
struct route_lft_entry {
	uint64_t guid; /* of the endport that had the LID; 0: the file does not say */
	uint32_t line;
	uint16_t lid;
	uint8_t port;
};

/* The entries of a switch. */
struct route_lft {
	uint64_t guid;
	uint32_t first, n;
};

/* Forwarding tables that a file has. */
struct route_lfts {
	const char *file; /* NULL: there is none */
	const struct route_lft *lfts;
	uint32_t n;
	const struct route_lft_entry *entries;
};

/* Hops from a switch to a LID; a row without any only says that the file knows the switch. */
struct route_hops_row {
	uint64_t sw;   /* node GUID */
	uint64_t guid; /* of the endport that had the LID; 0: the file does not say */
	uint32_t line;
	uint32_t first; /* in hops: the least, then by port 1, 2 ...; 0xFF: no way */
	uint16_t n;
	uint16_t lid;
};

struct route_hops_rows {
	const char *file; /* NULL: there is none */
	const struct route_hops_row *rows;
	uint32_t n;
	const uint8_t *hops;
};

/* A switch of a torus and neighbours of it. */
struct route_torus_seed {
	uint64_t from;	     /* node GUID; 0: nothing is said yet */
	uint64_t to[6];	     /* in +x, -x, +y, -y, +z, -z; 0: not told */
	int32_t dateline[3]; /* where the origin is, from there */
};

/* What torus-2QoS.conf says. */
struct route_torus {
	const char *file; /* NULL: there is none */
	uint32_t radix[3];
	bool loops[3];
	uint32_t max_ports; /* in parallel, and of hosts with port 0 */
	const struct route_torus_seed *seeds;
	uint32_t n_seeds;
	const uint8_t *port_order; /* of switches with the LIDs */
	uint32_t n_port_order;
};

/*
 * Who sends anything to whom; what others would send is no load. All are routed all the same, but
 * switches whose hosts send each other nothing need no SL (lanes.h): then they get no PathRecord.
 */
struct route_demand {
	uint32_t n_classes;	  /* at most 65,535 */
	const uint32_t *class_of; /* [port of the fabric]: of an endport, below n_classes */
	const bool *sends;	  /* [from * n_classes + to]: the same both ways */
};

/* A switch, or one of its ports, that partitions are tied to. */
struct route_tie {
	uint64_t guid; /* of the node */
	uint64_t partitions; /* a bit each, but not the last */
	uint8_t port; /* 0: all */
};

/*
 * Partitions that are to keep to switches and cables of their own, and others away from these, as
 * far as best paths let them. For engines that choose among these by load, and on trees.
 */
struct route_ties {
	const struct route_tie *ties;
	uint32_t n;
	const uint64_t *partitions; /* [port of the fabric]: bits of those that an endport is in */
};

/* Options of all engines that concern them; each engine reads what it knows. */
/* Elements of the lists of inputs.def. */
#define ROUTE_LIST_guids uint64_t
#define ROUTE_LIST_ids struct route_id
#define ROUTE_LIST_orders struct route_port_order
#define ROUTE_LIST_endports struct route_endport
#define ROUTE_LIST_weights struct route_weight

struct route_input {
	unsigned int threads; /* workers it may use; the result does not depend on it */
	/* Of the fabric at hand; NULL: all send to all. */
	const struct route_demand *demand;
	const struct route_ties *ties; /* of the fabric at hand; NULL: there are none */
#define INPUT(member, type, option) type member;
#define LIST(member, kind, option, readers)                                                        \
	const ROUTE_LIST_##kind *member;                                                           \
	uint32_t n_##member;
#include "route/inputs.def"
	const uint32_t *order;	/* [switch]: of tables with which these are mixed; see fdb_cap.c */
	struct route_lfts lfts;	      /* engine file */
	struct route_hops_rows hops; /* engine file */
	struct route_torus torus;    /* engine torus-2QoS */
	unsigned int vls;	     /* data VLs that layered engines may use; 0: 15 */
	/* What a layered engine made of the same input before: it keeps what is good; or NULL. */
	const struct routing *old;
};

/* LFTs of all switches. Rows are shared: engines fill new ones, then routing_put() alone writes. */
struct routing {
	struct ref ref;
	struct fabric *fabric; /* that it was made for */
	const char *engine; /* name of the engine that made it */
	const char *maker;  /* the same of what switches hold, if that is known; else NULL */
	char *input_word;   /* fingerprint_of_input() of what it was made of; NULL: unknown */
	char *demand_word;  /* fingerprint_of_demand(), if routing_renew() made it; or NULL */
	unsigned int promises;
	uint32_t n_switches;
	uint16_t top;	/* LinearFDBTop: the highest LID with an entry */
	uint32_t n_blocks; /* 64-entry blocks a switch: top / 64 + 1 */
	uint8_t **lft;	/* [switch][LID]: n_blocks * 64 octets, 0xFF where there is none */
	uint16_t max_hops; /* of best paths: detours where there is no legal one may be longer */
	/* [switch]: its place in an order: paths go to lower places (up), then to higher ones. NULL
	 * if the engine has none. Not to be believed: see verify_order.c. */
	uint32_t *order;
	char *note; /* what the operator should know of it; NULL: nothing */
	struct route_home *home;   /* the tables as they were computed whole; owns most rows */
	struct route_row **own;	   /* [switch]: the row, if it differs from that of home; or NULL */
	struct route_trace *trace; /* what a repair goes on from; NULL: it cannot be repaired */
	struct {		      /* by a layered engine, for what follows: */
		struct routing *base; /* the tables made anew of which it kept what it could */
		uint64_t busiest;     /* flows on the busiest channel, as the engine counts them */
		uint32_t n_channels;
		bool grown; /* by nue: on one lane, and not by the shortest paths */
	} layered;
	/* The tables if every switch held all LIDs; NULL: all hold those in use. See fdb_cap.c. */
	struct routing *unlimited;
	/*
	 * As the engine made it, from which the next one goes on: this one differs for switches
	 * that cannot be written, see fixed.h. NULL: it is itself as made.
	 */
	struct routing *made;
	/* [switch]: port to its parent (0: none) in the tree that multicast keeps to; or NULL */
	uint8_t *trunk;
	/* NULL: one lane for all, whatever the SL; see lanes.h. Those of made, if that is there */
	struct route_lanes *lanes;
	struct route_room *room; /* what it was made for then, as of route_room_new() */
	uint64_t cut_by_caps; /* pairs of a switch with hosts and a host's LID without a way then */
};

struct routing *routing_new(const struct fabric *fabric, const char *engine,
			    unsigned int promises);
/* The same with rows that are not set yet, for threads that then share the work. */
struct routing *routing_new_unset(const struct fabric *fabric, const char *engine,
				  unsigned int promises);
/* What switches hold, whoever made it: discards, until rows are written. For routing_renew(). */
struct routing *routing_new_held(const struct fabric *fabric);
struct routing *routing_ref(struct routing *routing);
void routing_unref(struct routing *routing);

/* What the engine made of it. */
static inline struct routing *routing_made(struct routing *routing)
{
	return routing && routing->made ? routing->made : routing;
}

/* Writes an entry of a routing that nobody else holds yet; rows that others see stay. */
void routing_put(struct routing *routing, uint32_t sw, uint16_t lid, uint8_t port);

/* Adds to what the operator is told of it. */
void routing_note(struct routing *routing, const char *format, ...) G_GNUC_PRINTF(2, 3);

static inline uint8_t routing_port(const struct routing *routing, uint32_t sw, uint16_t lid)
{
	return lid <= routing->top ? routing->lft[sw][lid] : ROUTE_NO_PORT;
}

/*
 * The routing of a fabric in which cables, switches or hosts went or came back since old was made.
 * An entry changes if it does not begin a best path any more, or if the one that it replaced does
 * again; what is back as it was has the entries that it had. Entries of LIDs that are gone stay. In
 * networks that are no trees a few more entries are moved for the sake of balance.
 *
 * NULL if the fabric has a switch, a cable between switches or more than a few LIDs that were not
 * there, or were elsewhere, when the tables were last computed whole, if hosts or switches have
 * lost each other by the rules of the engine, if a sixth of the switches have other cables than
 * before, or if the engine cannot repair: then compute anew.
 */
struct routing *routing_repair(const struct fabric *fabric, const struct route_input *input,
			       const struct routing *old);

/*
 * Puts back into a routing made anew, which nobody else holds yet, the entries of an old one of
 * the same engine that still begin a best path to the same endport, and counts them; except where
 * the new entry is one that there was not before, as by a new cable. None, hence 0, if the busiest
 * cable would carry over 10 % more than without that; if in a large network so many cables are lost
 * that this is to be expected; or if the engine cannot repair.
 */
uint64_t routing_stick_to(const struct route_input *input, struct routing *routing,
			  const struct routing *old);

#define ROUTE_ERROR route_error_quark()
enum route_error {
	ROUTE_ERROR_UNKNOWN_ENGINE,
	ROUTE_ERROR_UNSUITABLE, /* the engine cannot route this topology */
	ROUTE_ERROR_INPUT,
};
GQuark route_error_quark(void);

struct route_graph;
struct layered;
/* It computes, has hops by which it routes, or routes on a layered graph: one of the three. */
struct route_engine {
	const char *name;
	const char *summary; /* one line for --help and status */
	unsigned int promises;
	bool preferences; /* route_by_hops() minds those of the input among best paths */
	bool ties; /* it minds those of the input */
	bool trunk; /* route() is asked for tables with room for multicast trees first (trunk.c) */
	struct routing *(*compute)(const struct fabric *fabric, const struct route_input *input,
				   GError **error);
	/*
	 * The hops by which it routes, as of route_hops_all(), in a graph that it may orient; every
	 * entry that leads nearer by them (route_leads) is as legal as its own, in any mixture.
	 * NULL if it has no such hops. next may be NULL.
	 */
	uint8_t *(*hops)(struct route_graph *graph, const struct fabric *fabric,
			 const struct route_input *input, uint8_t *next, GError **error);
	/* Makes tables and lanes of a layered engine (layered.h); false and error if it cannot. */
	bool (*route)(struct layered *layered, GError **error);
};

struct routing *route_compute(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, GError **error);

/* How a routing came about from an old one, from the least work to the most. */
enum route_way {
	ROUTE_SAME,
	ROUTE_REPAIRED,
	ROUTE_STICKY, /* computed anew, but with all of the old one that was still good */
	ROUTE_ANEW,
};

/*
 * What follows an old routing of the same engine in the cheapest way that is good: repaired, or
 * else computed anew with or without routing_stick_to(); anew, too, if a repair in a network that
 * is no tree, or in a small one, loads a cable over 10 % more. A reference to old itself if it was
 * made by this function, and fabric and input are the same to routing as they were then: *way is
 * ROUTE_SAME. It is not repaired if the input is known to be another. old may be NULL, or of
 * another engine.
 *
 * Of routing_new_held() it keeps what routing_stick_to() would, if over half of it is as the engine
 * computes it: then they are tables of that engine, which were repaired. Others have been made by
 * other rules, and are replaced.
 *
 * It has no entries for LIDs that a switch cannot hold by its LinearFDBCap, and goes around it for
 * these as far as cables allow.
 */
struct routing *routing_renew(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const struct routing *old,
			      enum route_way *way, GError **error);

const struct route_engine *route_find(const char *name); /* NULL if there is none */
const struct route_engine *const *route_engines(void);	 /* NULL-terminated */

/* ---- the verifier: every table passes it before a switch sees it ---- */
struct route_verdict {
	bool complete;	/* every LID reached from every switch that should reach it */
	bool loop_free;
	bool acyclic;	    /* channel dependencies of all paths, by VLs */
	bool hosts_acyclic; /* those of what hosts send to hosts: LIDs of switches apart */
	bool cut;	/* some pair needs a path that does not exist physically */
	bool by_order;	/* shown by an order of the switches, which is the quick way */
	uint16_t max_hops; /* of the longest path */
	uint64_t paths; /* (switch, LID) pairs checked */
	uint64_t discarded; /* of these, left without a path so that there is no deadlock */
	char *witness;	/* what is wrong, hop by hop, for the log; NULL if nothing */
};
/*
 * True if complete and loop free, and acyclic where the routing promises it (see verify.c). A LID
 * that is not reached because of a loop makes the routing incomplete too; pairs that are not
 * connected physically do not, nor do, where the routing promises freedom from deadlock, entries
 * that discard what a switch with hosts sends to a switch, or one without hosts to anybody, unless
 * it is to or from the subnet manager.
 */
bool route_verify(const struct fabric *fabric, const struct routing *routing,
		  struct route_verdict *verdict);
/* The same on the threads of the input; by its demand, who sends nothing needs no SL. */
bool route_verify_by(const struct fabric *fabric, const struct routing *routing,
		     const struct route_input *input, struct route_verdict *verdict);
void route_verdict_clear(struct route_verdict *verdict);

/* ---- multicast: one tree for a group ---- */
/* Exit ports of a switch; bit n is port n. */
struct route_port_set {
	uint64_t bits[4];
};
/* Immutable and counted. */
struct route_tree {
	struct ref ref;
	uint32_t root;
	uint32_t n;		     /* switches in the tree */
	uint32_t *switches;	     /* indexes, ascending */
	struct route_port_set *ports; /* of each of them */
	uint8_t *up;		      /* of each its port towards the root, which has 0 */
};

/* Who a tree is for. */
struct route_group {
	const uint32_t *members; /* endports; switch port 0 counts */
	const bool *only_sends;	 /* [n_members]: no packets go there; NULL: all get them */
	uint32_t n_members;
	uint32_t room; /* switches that forward fewer MLIDs have no part in it */
	const uint32_t *load; /* [switch]: trees whose root it is; NULL: that does not matter */
	/* [switch]: of one that cannot be written the ports that it has for the group; NULL: it can
	 * be. NULL: all can. */
	const struct route_port_set *const *held;
};

/*
 * What trees of a fabric have in common; they may be grown in any fabric with the same cables. They
 * keep to the order of the routing (NULL: they need not), so that they close no credit loop with it
 * or with each other. Members that have no common switch above them, which that needs, are joined
 * as without an order.
 */
struct route_ground;
struct route_ground *route_ground_new(const struct fabric *fabric, const struct routing *routing,
				      uint32_t room);
void route_ground_free(struct route_ground *ground); /* NULL is fine */
/* [switch]: the hops from some switch to it are others in the one than in the other; newly
 * allocated */
bool *route_ground_compare(const struct route_ground *a, const struct route_ground *b);
/*
 * Whether all cables of a tree are there, and as many hops from its root, in another ground and
 * fabric with the same switches: it is grown anew as it was, if its members are where they were and
 * route_ground_compare() tells of none of their switches.
 */
bool route_tree_stays(const struct route_tree *tree, const struct route_ground *before,
		      const struct fabric *from, const struct route_ground *ground,
		      const struct fabric *fabric);

/*
 * A tree that joins the members over links of the fabric; its switches list exactly the tree links
 * and the ports of members that get packets. Empty if fewer than one switch is met. Members that
 * cannot be reached are left out, and counted in *left_out if it is not their own switch that has
 * no room. It changes as little as it can of the tree before (NULL: none), which was grown where
 * moved[i] was switch i (NULL: in the same places; FABRIC_NONE: gone).
 *
 * Switches that cannot be written have a part in it by the ports that they have for the group
 * alone; where one of them would be in it otherwise, the tree leads around it, and keeps to no
 * order.
 */
struct route_tree *route_multicast_on(struct route_ground *ground, const struct fabric *fabric,
				      const struct route_group *group,
				      const struct route_tree *before, const uint32_t *moved,
				      uint32_t *left_out);
struct route_tree *route_tree_ref(struct route_tree *tree);
void route_tree_unref(struct route_tree *tree); /* NULL is fine */
bool route_tree_verify(const struct fabric *fabric, const struct route_tree *tree,
		       const struct route_group *group, char **witness);

#endif
