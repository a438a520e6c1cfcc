// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the parts of the verifier; nothing else includes this, except its tests. */
#ifndef ROUTE_PROOF_VERIFY_H
#define ROUTE_PROOF_VERIFY_H

#include "route/engine.h"
#include "route/graph/wishes.h"
#include "route/transition/fdb_cap.h"

#define VERIFY_WITNESS_HOPS 64

/* The switch that delivers a LID, and its exit port (0 for its own LID). */
struct verify_owner {
	uint32_t sw; /* FABRIC_NONE: none */
	uint8_t exit;
};

struct verify {
	const struct fabric *fabric;
	const struct routing *routing;
	struct route_verdict *verdict;
	struct route_graph *graph;
	struct route_wishes wishes; /* only the demand */
	uint32_t *first;	    /* [switch]: channel of its port 0 */
	uint32_t *to;		    /* [channel]: switch across a port, or FABRIC_NONE */
	uint8_t *back;		    /* [channel]: the port at its far end */
	struct route_room *room;    /* from route_room_new() */
	uint32_t *part;		    /* [switch]: from route_parts(), for the LIDs from: */
	uint32_t part_first, part_last; /* switches that cannot hold these are own parts */
	bool whole;		    /* there is only one part */
	uint8_t *hops;		    /* of the cables, from route_hops_all(); or NULL */
	uint32_t n_lids;	     /* all LIDs in use are below */
	struct verify_owner *owners; /* [LID] */
	bool turns;		    /* lanes depend on the ports in and out */
	uint16_t *entry_vls; /* [channel * ROUTE_SLS + SL]: first VLs of packets, if turns */
	bool hosts_everywhere;	    /* each switch has hosts */
	bool hosts_only;	    /* only dependencies of what hosts send to hosts */
	GArray *cycle;		    /* channels of a credit loop; or NULL */
};

/* The switch across a port, or FABRIC_NONE. */
static inline uint32_t verify_across(const struct verify *verify, uint32_t sw, uint8_t num)
{
	uint32_t channel = verify->first[sw] + num;

	return channel < verify->first[sw + 1] ? verify->to[channel] : FABRIC_NONE;
}

/* Number of ports of a switch, port 0 included. */
static inline unsigned int verify_width(const struct verify *verify, uint32_t sw)
{
	return verify->first[sw + 1] - verify->first[sw];
}

/* The quick way to a verdict, which can only prove that all is right; false if it does not. */
bool verify_by_order(struct verify *verify);

/* Sets part[] for a LID. */
void verify_mark_parts(struct verify *verify, uint32_t lid);

/* Whether a switch cannot hold a LID: it discards packets to it, whatever the tables say. */
static inline bool verify_lacks(const struct verify *verify, uint32_t sw, uint32_t lid)
{
	return verify->room && route_room_lacks(verify->room, sw, lid);
}

/* Whether cables lead from a switch to the leaf of a LID, over switches that hold the LID. */
static inline bool verify_is_joined(const struct verify *verify, uint32_t sw, uint32_t lid)
{
	uint32_t leaf = verify->owners[lid].sw;

	return verify->part[sw] == verify->part[leaf] && !verify_lacks(verify, leaf, lid);
}

/* A packet that does not arrive. */
struct verify_wrong {
	uint32_t lid; /* 0: no such packet */
	uint32_t sw;  /* where it starts */
	bool loops;
};

/* How a switch forwards the current LID. */
struct verify_spot {
	uint32_t next; /* the next switch, or FABRIC_NONE */
	uint8_t exit;
	uint8_t fate;	 /* of its packets, see verify_walk.c */
	uint16_t depth;	 /* hops to the destination */
	uint32_t path;	 /* [place]: a switch on the path being followed */
	uint16_t passed; /* kinds of packets already followed from here */
};

/* A share of the LIDs, one after the other, and what a thread finds out about them. */
struct verify_share {
	const struct verify *verify;
	struct dependency *found;
	uint32_t lid;		   /* the current one */
	struct verify_spot *spots; /* [switch] */
	uint16_t max_hops;
	bool loops;
	uint64_t discarded;
	struct verify_wrong wrong; /* the first one */
};

/* Adds up the fate of packets to the current LID. part[] must be that of the LID. */
void verify_walk(struct verify_share *share);
void verify_add_witness(struct verify *verify, const struct verify_wrong *wrong);

/* The verdict without the counts of paths. Returns a cycle of all dependencies; or NULL. */
GArray *verify_lanes(struct verify *verify);
/* A cycle of dependencies of what hosts send to hosts; or NULL. */
GArray *verify_hosts(struct verify *verify);

/* Appends "NAME (0xGUID) port N", or the entry itself if there is no such port. */
void verify_add_hop(const struct verify *verify, GString *text, uint32_t sw, uint8_t num);

/* route_verify_by() that can skip the proof by order. */
bool verify_on_ways(const struct fabric *fabric, const struct routing *routing,
		    const struct route_input *input, bool by_order, struct route_verdict *verdict);

/*
 * ---- channel dependencies ----
 *
 * A channel is a port of a switch, and is separate on each VL. It depends on the channels that its
 * packets need next. Packets cannot block each other forever if these dependencies have no cycle.
 */
struct dependency {
	const struct verify *verify;
	uint32_t n_channels, n; /* nodes: channels on VL 0, then those on VL 1 ... */
	uint32_t n_outs;	/* 256 ports; times the VLs if lanes depend on turns */
	uint64_t *wants;	/* [node * n_outs / 64]: outs of the next switch, as bits */
};

struct dependency *dependency_new(const struct verify *verify);
void dependency_free(struct dependency *dependency); /* NULL is fine */

/*
 * Packets on a VL of a channel leave the next switch by out on next_vl, which differs only where
 * lanes depend on turns; out may be ROUTE_NO_PORT. Several threads may add at once; most of what
 * they add is there already, and then they only read.
 */
static inline void dependency_add(struct dependency *dependency, uint32_t channel, uint8_t vl,
				  uint8_t out, uint8_t next_vl)
{
	size_t node = vl * dependency->n_channels + channel;
	size_t bit = node * dependency->n_outs + out;
	uint64_t *word;

	if (dependency->n_outs > 256)
		bit += next_vl * 256;
	word = &dependency->wants[bit / 64];
	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) >> bit % 64 & 1))
		__atomic_fetch_or(word, UINT64_C(1) << bit % 64, __ATOMIC_RELAXED);
}

/* VLs on which packets are sent, as bits. */
uint16_t dependency_vls(const struct dependency *dependency);
/* The channels of a cycle in order, each once (free the array); NULL if there is none. */
GArray *dependency_cycle(const struct dependency *dependency);

#endif
