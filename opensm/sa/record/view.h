// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A published subnet as the SA looks at it: with the links packed small, since a path query is
 * little but walks through them. Immutable and counted; any thread reads it.
 */
#ifndef SA_RECORD_VIEW_H
#define SA_RECORD_VIEW_H

#include "subnet/aliases.h"
#include "subnet/subnet.h"
#include "subnet/trees.h"

struct sa_hop;
struct sa_switch;

struct sa_view {
	struct ref ref;
	struct sa_view *base;	     /* whose the rest is; NULL: its own */
	struct alias_guids *aliases; /* NULL: there are none */
	struct mc_trees *trees;	     /* newer than the subnet, perhaps; NULL: there are none */
	struct subnet *subnet;
	struct sa_hop *hops;	    /* by port */
	struct sa_switch *switches; /* by index in the fabric */
	uint8_t rank[64];	    /* of each rate code: 1 is the slowest, 0 not a rate */
	uint8_t rate[64];	    /* the code of each rank */
	uint8_t n_rates;
	uint32_t router;    /* prefix_routes_first_router() */
	atomic_uchar *rest; /* what view.c found out; a memory, not part of the value */
};

/* Takes over the caller's reference of the subnet. */
struct sa_view *sa_view_new(struct subnet *subnet);
/* The same with other alias GUIDs, which costs next to nothing. */
struct sa_view *sa_view_with(struct sa_view *view, struct alias_guids *aliases);
/* With other multicast trees. */
struct sa_view *sa_view_with_trees(struct sa_view *view, struct mc_trees *trees);
struct sa_view *sa_view_ref(struct sa_view *view);
void sa_view_unref(struct sa_view *view); /* NULL is fine */

/* Has what a walk from or to a port needs fetched from memory, where the port is right or not. */
void sa_view_prefetch(const struct sa_view *view, uint32_t port);

/* What a path can do. */
struct sa_way {
	uint8_t mtu;	 /* code of the least on the way */
	uint8_t rate;	 /* likewise; the slowest there is where no link tells */
	bool reversible; /* a packet for the source's LID comes back */
};

/*
 * Follows a packet for dlid from one endport to another, over at most 64 links (IBA 14.2.1.2), and
 * one for slid back. False if the first does not arrive.
 */
bool sa_view_walk(const struct sa_view *view, uint32_t from, uint32_t to, uint16_t slid,
		  uint16_t dlid, struct sa_way *way);

#endif
