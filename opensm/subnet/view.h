// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A published subnet as the SA reads it, with the links packed small, because a path query is
 * mostly a walk through them. Immutable and reference counted; any thread may read it.
 */
#ifndef SUBNET_VIEW_H
#define SUBNET_VIEW_H

#include "subnet/aliases.h"
#include "subnet/subnet.h"
#include "subnet/trees.h"

struct subnet_hop;
struct subnet_switch;

struct subnet_view {
	struct ref ref;
	struct subnet_view *base;    /* owner of the fields below; NULL: this view */
	struct alias_guids *aliases; /* NULL: none */
	struct mc_trees *trees;	     /* may be newer than the subnet; NULL: none */
	struct subnet *subnet;
	struct subnet_hop *hops;	/* indexed by port */
	struct subnet_switch *switches; /* indexed by switch */
	uint8_t rank[64];	    /* for each rate code: 1 is the slowest, 0 not a rate */
	uint8_t rate[64];	    /* the code for each rank */
	uint8_t n_rates;
	uint32_t router;    /* prefix_routes_first_router() */
	atomic_uchar *rest; /* results of walks, a cache: not part of the value */
};

/* Takes over the caller's reference of the subnet. */
struct subnet_view *subnet_view_new(struct subnet *subnet);
/* A copy of the view with other alias GUIDs; cheap. */
struct subnet_view *subnet_view_with(struct subnet_view *view, struct alias_guids *aliases);
/* A copy of the view with other multicast trees; cheap. */
struct subnet_view *subnet_view_with_trees(struct subnet_view *view, struct mc_trees *trees);
struct subnet_view *subnet_view_ref(struct subnet_view *view);
void subnet_view_unref(struct subnet_view *view); /* NULL is fine */

/* Prefetches what a walk from or to a port needs. The port does not have to be valid. */
void subnet_view_prefetch(const struct subnet_view *view, uint32_t port);

/* The properties of a path. */
struct subnet_way {
	uint8_t mtu;	 /* code of the smallest on the path */
	uint8_t rate;	 /* code of the lowest; the slowest there is if no link says */
	bool reversible; /* a packet to the source's LID arrives */
};

/*
 * Follows a packet to dlid from one endport to another, over at most 64 links (IBA 14.2.1.2), and
 * one to slid back. False if the first does not arrive.
 */
bool subnet_view_walk(const struct subnet_view *view, uint32_t from, uint32_t to, uint16_t slid,
		      uint16_t dlid, struct subnet_way *way);

/*
 * All switches, those farthest from hosts first: in this order, the next switch of a packet is
 * mostly one that was looked at before. The caller frees it.
 */
uint32_t *subnet_view_order(const struct subnet_view *view);
/*
 * Ways in one octet each: MTU code in the upper 3 bits, rank of the rate below; all ones: no packet
 * arrives. ways: [n_switches][64]: from each switch to each LID of an LFT block.
 */
void subnet_view_ways(const struct subnet_view *view, const uint32_t *order, uint32_t block,
		      uint8_t *ways);
/*
 * The link of an endport: the switch that it leads to (or that the port belongs to), or else the
 * endport at its other end; FABRIC_NONE.
 */
uint8_t subnet_view_own_way(const struct subnet_view *view, uint32_t from, uint32_t *sw,
			    uint32_t *peer);
/* The way of an endport to itself. */
uint8_t subnet_view_inner_way(const struct subnet_view *view, uint32_t port);

#endif
