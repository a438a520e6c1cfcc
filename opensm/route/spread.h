// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shortest paths that are spread over the cables by what these carry so far. */
#ifndef ROUTE_SPREAD_H
#define ROUTE_SPREAD_H

#include "route/channels.h"
#include "route/engine.h"

/* What a layered engine works on. */
struct layered {
	const struct fabric *fabric;
	const struct route_input *input;
	struct route_graph *graph;
	struct route_channels *channels;
	uint8_t *hops; /* as of route_hops_all() */
	struct routing *routing;
	/*
	 * [channel]: the least of those that lead nearer are taken (mesh.h), and those with
	 * ROUTE_DATELINE later; NULL: all are alike.
	 */
	uint8_t *dimension;
	bool even;	  /* tables for all hosts sending to all, whatever the demand */
	bool wants_trunk; /* once there are tables */
	bool *trunk; /* [channel]: of the tree that multicast keeps to (trunk.h); NULL: there is
			none */
};

/*
 * The routing of a layered engine, whose tables and lanes route() makes. NULL and error if it says
 * false, or if some path is too long. As tables for those that may talk can take more lanes than
 * tables for all, it is asked for the latter if it has not enough for the former.
 */
typedef bool layered_route_fn(struct layered *layered, GError **error);
struct routing *layered_compute(const struct route_engine *engine, const struct fabric *fabric,
				const struct route_input *input, layered_route_fn *route,
				GError **error);

/*
 * Calls for each path between two switches, both ways: from the hosts of one (or from itself if it
 * has none) to each LID behind the other and, if it sends to that, to its own LIDs.
 */
typedef void layered_path_fn(void *arg, const uint32_t *channels, uint32_t n);
void layered_each_path(const struct layered *layered, uint32_t a, uint32_t b, layered_path_fn *call,
		       void *arg);

/* Adds to what the operator is told of the routing. */
void layered_note(struct layered *layered, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same of so many pairs of switches that have no SL, as they send each other nothing. */
void layered_note_idle(struct layered *layered, uint64_t n);

enum spread_by {
	SPREAD_LIDS,   /* each LID takes the shortest path of least load from everywhere */
	SPREAD_LEAVES, /* the same for all LIDs of a switch together, but for cables in parallel */
	SPREAD_PORTS,  /* all these take the first port that begins a shortest path */
};

/* Fills the tables; returns the load of the busiest channel, all hosts sending to all. */
uint64_t layered_spread(struct layered *layered, enum spread_by by);

/* By leaves or ports, whichever loads the busiest channel less; the same is returned. */
uint64_t layered_spread_leaves(struct layered *layered);

#endif
