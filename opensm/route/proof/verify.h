// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the parts of the verifier share; nobody else includes this, except its tests. */
#ifndef ROUTE_PROOF_VERIFY_H
#define ROUTE_PROOF_VERIFY_H

#include "route/engine.h"
#include "route/graph/graph.h"
#include "route/transition/fdb_cap.h"

#define VERIFY_WITNESS_HOPS 64

/* Who hands a LID over, and by which port: 0 if it is its own. */
struct verify_owner {
	uint32_t sw; /* FABRIC_NONE: nobody */
	uint8_t exit;
};

struct verify {
	const struct fabric *fabric;
	const struct routing *routing;
	struct route_verdict *verdict;
	struct route_graph *graph;
	uint32_t *first;	    /* [switch]: channel of its port 0 */
	uint32_t *to;		    /* [channel]: switch across a port, or FABRIC_NONE */
	uint8_t *back;		    /* [channel]: which of its ports is there */
	struct route_room *room;    /* as of route_room_new() */
	uint32_t *part;		    /* [switch]: as of route_parts(), for these LIDs: */
	uint32_t part_first, part_last; /* switches that cannot hold these are apart */
	bool whole;		    /* there is one part */
	uint8_t *hops;		    /* true ones, as of route_hops_all(); or NULL */
	uint32_t n_lids;	     /* all in use are below */
	struct verify_owner *owners; /* [LID] */
	bool turns;		    /* lanes change by turns */
	bool hosts_everywhere;	    /* each switch has some */
	bool hosts_only;	    /* for dependencies alone of what hosts send to hosts */
	GArray *cycle;		    /* of channels: a credit loop; or NULL */
};

/* The switch across a port, or FABRIC_NONE. */
static inline uint32_t verify_across(const struct verify *verify, uint32_t sw, uint8_t num)
{
	uint32_t channel = verify->first[sw] + num;

	return channel < verify->first[sw + 1] ? verify->to[channel] : FABRIC_NONE;
}

/* Ports of a switch, 0 included. */
static inline unsigned int verify_width(const struct verify *verify, uint32_t sw)
{
	return verify->first[sw + 1] - verify->first[sw];
}

/* The quick way to a verdict, which shows only that all is right: if it does not, false. */
bool verify_by_order(struct verify *verify);

/* Makes part[] that of a LID. */
void verify_mark_parts(struct verify *verify, uint32_t lid);

/* Whether a switch cannot hold a LID: whatever the tables say, it discards it. */
static inline bool verify_lacks(const struct verify *verify, uint32_t sw, uint32_t lid)
{
	return verify->room && route_room_lacks(verify->room, sw, lid);
}

/* Whether cables lead from a switch to the leaf of a LID, by switches that hold it. */
static inline bool verify_is_joined(const struct verify *verify, uint32_t sw, uint32_t lid)
{
	uint32_t leaf = verify->owners[lid].sw;

	return verify->part[sw] == verify->part[leaf] && !verify_lacks(verify, leaf, lid);
}

/* A packet that does not arrive. */
struct verify_wrong {
	uint32_t lid; /* 0: there is none */
	uint32_t sw;  /* where it begins */
	bool loops;
};

/* A switch as it sends a LID. */
struct verify_spot {
	uint32_t next; /* the switch that it sends to, or FABRIC_NONE */
	uint8_t exit;
	uint8_t fate;	 /* of its packets, see verify_walk.c */
	uint16_t depth;	 /* hops that they go */
	uint32_t path;	 /* [place]: a switch on the path that is walked */
	uint16_t passed; /* kinds of packets that were followed from there */
};

/* Some of the LIDs, one after the other, and what a thread finds out of them. */
struct verify_share {
	const struct verify *verify;
	struct dependency *found;
	uint32_t lid;		   /* the one at hand: */
	struct verify_spot *spots; /* [switch] */
	uint16_t max_hops;
	bool loops;
	uint64_t discarded;
	struct verify_wrong wrong; /* the first */
};

/* Adds what becomes of packets to the LID at hand. part[] must be that of the LID. */
void verify_walk(struct verify_share *share);
void verify_add_witness(struct verify *verify, const struct verify_wrong *wrong);

/* All of a verdict but counts of paths. A cycle of all dependencies; or NULL. */
GArray *verify_lanes(struct verify *verify);
/* The same of what hosts send to hosts. */
GArray *verify_hosts(struct verify *verify);

/* Appends "NAME (0xGUID) port N", or what the entry is if there is no such port. */
void verify_add_hop(const struct verify *verify, GString *text, uint32_t sw, uint8_t num);

/* route_verify_by() that may leave out the proof by order. */
bool verify_on_ways(const struct fabric *fabric, const struct routing *routing,
		    const struct route_input *input, bool by_order, struct route_verdict *verdict);

/*
 * ---- channel dependencies ----
 *
 * A channel is a port of a switch; it leads somewhere on each VL apart. It depends on those that
 * its packets ask for next. Packets cannot block each other for ever if that has no cycle.
 */
struct dependency {
	const struct verify *verify;
	uint32_t n_channels, n; /* nodes: channels on VL 0, then those on VL 1 ... */
	uint32_t n_outs;	/* 256 ports; that on each VL if lanes change by turns */
	uint64_t *wants;	/* [node * n_outs / 64]: bits of these of the next switch */
};

struct dependency *dependency_new(const struct verify *verify);
void dependency_free(struct dependency *dependency); /* NULL is fine */

/*
 * Packets on a VL of a channel leave the next switch by out on next_vl, which is another one only
 * where lanes change by turns; out may be ROUTE_NO_PORT.
 */
static inline void dependency_add(struct dependency *dependency, uint32_t channel, uint8_t vl,
				  uint8_t out, uint8_t next_vl)
{
	size_t node = vl * dependency->n_channels + channel;
	size_t bit = node * dependency->n_outs + out;

	if (dependency->n_outs > 256)
		bit += next_vl * 256;
	dependency->wants[bit / 64] |= UINT64_C(1) << bit % 64;
}
/* Adds what is in another one. */
void dependency_add_all(struct dependency *dependency, const struct dependency *other);

/* VLs on which something is sent, as bits. */
uint16_t dependency_vls(const struct dependency *dependency);
/* The channels of a cycle in order, each once (free the array); NULL if there is none. */
GArray *dependency_cycle(const struct dependency *dependency);

#endif
