// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What layered engines have in common: sssp, dfsssp, lash, nue, hoplanes. */
#ifndef ROUTE_LAYERS_LAYERED_H
#define ROUTE_LAYERS_LAYERED_H

#include "route/engine.h"
#include "route/graph/columns.h"
#include "route/graph/demand.h"
#include "route/layers/acyclic.h"
#include "route/value/lanes.h"

#define KEPT_TABLES 2 /* those computed anew, and the last ones */

/* Tables of before, of which engines keep what is still good, for the switches of now. */
struct route_kept {
	const struct routing *routing;
	uint32_t *row; /* [switch]: as of route_places() */
};

static inline uint8_t route_kept_port(const struct route_kept *kept, uint32_t sw, uint16_t lid)
{
	uint32_t row = kept->row[sw];

	return row == FABRIC_NONE ? ROUTE_NO_PORT : routing_port(kept->routing, row, lid);
}

/* The SL that two switches had there, or ROUTE_NO_SL. */
static inline uint8_t route_kept_sl(const struct route_kept *kept, uint32_t a, uint32_t b)
{
	const struct route_lanes *lanes = kept->routing->lanes;

	if (kept->row[a] == FABRIC_NONE || kept->row[b] == FABRIC_NONE)
		return ROUTE_NO_SL;
	return lanes ? route_lanes_sl(lanes, kept->row[a], kept->row[b]) : 0;
}

/* Ways to spread paths over the cables (spread.c). */
enum spread_by {
	SPREAD_LIDS,   /* each LID takes the shortest path of least load from everywhere */
	SPREAD_LEAVES, /* the same for all LIDs of a switch together, but for cables in parallel */
	SPREAD_PORTS,  /* all these take the first port that begins a shortest path */
	/*
	 * As by leaves, of the paths that end their way in one dimension (mesh.c) before they turn
	 * to the next, if there are dimensions: these take the fewest lanes.
	 */
	SPREAD_DIMENSIONS,
	SPREAD_WAYS,
};
#define SPREAD_ALL ((1u << SPREAD_WAYS) - 1)
#define SPREAD_LOADS (SPREAD_ALL & ~(1u << SPREAD_DIMENSIONS)) /* without a look for these */

/* The tables of one way, and what is known of them so far. */
struct layered_way {
	struct routing *routing; /* its LFTs are filled in the end; NULL: none yet */
	struct route_columns columns; /* the paths */
	bool is_spread;
	bool *repeats; /* [LID]: it goes everywhere as the one before it at its switch, if spread */
	bool *trunk; /* [channel]: of the tree that multicast keeps to (trunk.c); NULL: there is
			none */
	struct acyclic *all; /* what hosts send each other, as on one lane; NULL: not looked at */
	bool is_one;	     /* that closes no credit loop, with the trunk if there is to be one */
	bool is_refused;     /* there are not lanes enough for it */
};

/* What a layered engine works on. */
struct layered {
	const struct route_engine *engine;
	const struct fabric *fabric;
	const struct route_input *input;
	struct route_graph *graph;
	struct route_channels *channels;
	uint8_t *hops; /* as of route_hops_all() */
	uint32_t n_throttled, n_throttled_stay; /* cables: as of route_throttled() */
	struct layered_way ways[SPREAD_WAYS];
	struct layered_way *way; /* that at hand */
	uint8_t *dimension; /* [channel]: if has_looked: as of route_dimensions() */
	bool has_looked;
	unsigned int vls; /* lanes that it may use */
	bool even;	  /* tables for all hosts sending to all, whatever the demand */
	const struct route_kept *kept; /* KEPT_TABLES, of which is kept what is good; or NULL */
	bool relieve; /* but not LIDs that make some channel far busier than any was */
	bool in_batches;  /* LIDs may be spread in batches (batches.h): these take more lanes */
	bool wants_trunk; /* once there are tables */
};

/*
 * The routing of a layered engine, whose route() makes tables and lanes. NULL and error if it says
 * false, or if some path is too long. As tables for those that may talk can take more lanes than
 * tables for all, it is asked for the latter if it has not enough for the former.
 *
 * If there are old tables it is first asked to keep what is good of them: each LID that still leads
 * nearer, and the SL of each pair of switches. Otherwise one cable lost would change all paths, and
 * SLs that hosts use since they asked for a path; and might take more lanes than there are. That is
 * what it takes unless the busiest channel then carries over a quarter more than in tables made
 * anew, if not than in those that are kept. What is back as it was is as it was.
 */
struct routing *layered_compute(const struct route_engine *engine, const struct fabric *fabric,
				const struct route_input *input, GError **error);

/* Makes the tables of a way those at hand; they are empty at first. */
void layered_turn_to(struct layered *layered, enum spread_by by);

/* The channel by which a switch sends a LID in tables that are kept, or FABRIC_NONE. */
static inline uint32_t layered_kept_channel(const struct layered *layered,
					    const struct route_kept *kept, uint32_t sw,
					    uint16_t lid)
{
	return route_channel(layered->channels, sw, route_kept_port(kept, sw, lid));
}

/* For each hop of a LID by the tables at hand, from a switch to another: whence, and by what. */
#define layered_each_hop(layered, first, last, lid, sw, channel) \
	for (uint32_t sw = first, channel; \
	     sw != (last) && \
	     (channel = route_columns_get(&(layered)->way->columns, sw, lid)) != FABRIC_NONE; \
	     sw = (layered)->channels->to[channel])

/* The LIDs of the hosts of a switch, then its own. */
static inline uint16_t layered_lid(const struct route_graph *graph, uint32_t sw, unsigned int i)
{
	uint32_t n = route_n_hosts(graph, sw);

	return i < n ? graph->targets[graph->first_target[sw] + i].lid : graph->own_lid[sw] + i - n;
}

static inline unsigned int layered_n_lids(const struct route_graph *graph, uint32_t sw)
{
	return route_n_hosts(graph, sw) + route_n_own(graph, sw);
}

/* How many of these packets take that begin at another switch: its own only if that is a source. */
static inline unsigned int layered_n_lids_from(const struct route_graph *graph, uint32_t from,
					       uint32_t sw)
{
	return route_is_source(graph, from) ? layered_n_lids(graph, sw) : route_n_hosts(graph, sw);
}

/* Whether a step is one of the trunk. */
static inline bool layered_is_trunk(const struct layered *layered, uint32_t from, uint32_t to)
{
	const bool *trunk = layered->way->trunk;

	return trunk && trunk[from] && trunk[to] && to != layered->channels->back[from];
}

/*
 * Gives the routing lanes without credit loops, unless they are lane 0 for all, which needs no SL;
 * notes how many pairs have none: left_out, or as their hosts send each other nothing.
 */
void layered_put_lanes(struct layered *layered, struct route_lanes **lanes, bool are_one,
		       uint64_t left_out);

/* ---- mesh.c: the dimensions of meshes, tori and hypercubes: do_mesh_analysis ---- */

#define ROUTE_DATELINE 0x80

/*
 * [link]: the number of the dimension in which it leads, and ROUTE_DATELINE if it is among those of
 * the one slice that paths round a ring are told apart by. NULL if cables show no two dimensions,
 * or very many, as in networks of another kind.
 */
uint8_t *route_dimensions(const struct route_graph *graph);

/* ---- spread.c: paths that are spread over the cables by what these carry so far ---- */

/* Fills those of ways, a bit each, that may be wanted next, if there are threads for it. */
void layered_spread_ahead(struct layered *layered, unsigned int ways);

/*
 * Fills the tables of a way once; returns the load of the busiest channel, all hosts sending to
 * all. UINT64_MAX, and nothing, if it makes no other tables than those before it: if tables are
 * kept it makes no difference how the rest is spread, for LIDs that went together go on so, but for
 * dimensions; and these are not everywhere.
 */
uint64_t layered_spread(struct layered *layered, enum spread_by by);

/* By leaves or ports, whichever loads the busiest channel less; the same is returned. */
uint64_t layered_spread_leaves(struct layered *layered);

/* ---- pairs.c: pairs of switches one after the other, with what they send each other ---- */

/* Kinds of pairs, as they get their lanes. */
enum pair_kind {
	PAIR_ANY,
	PAIR_KEPT,	/* paths are as in tables of before */
	PAIR_WITH_SM,	/* on one SL, for clients use that of PortInfo */
	PAIR_OF_HOSTS,	/* that send each other anything */
	PAIR_OF_SWITCH, /* hosts, and a switch without any */
};

/* Whether two switches are of a kind, but PAIR_KEPT, in this order. */
static inline bool layered_is_kind(const struct route_graph *graph, enum pair_kind kind,
				   uint32_t a, uint32_t b)
{
	if (kind == PAIR_ANY)
		return a < b && (route_is_source(graph, a) || route_is_source(graph, b));
	if (kind == PAIR_WITH_SM)
		return a == graph->sm_switch;
	if (kind == PAIR_OF_HOSTS)
		return a < b && route_has_hosts(graph, a) && route_has_hosts(graph, b) &&
		       route_sends(graph, a, b);
	return route_has_hosts(graph, a) && !route_has_hosts(graph, b);
}

typedef bool layered_kind_fn(void *arg, uint32_t a, uint32_t b);

/*
 * Two switches with the steps of the paths between them, both ways: from the hosts of one (or from
 * itself if it has none) to each LID behind the other and, if it sends to that, to its own LIDs.
 * LIDs that go together have one. A path goes on as long as each step begins with the channel to
 * which the one before leads.
 */
struct layered_pair {
	uint32_t a, b;
	struct acyclic_step *steps;
	size_t n, room;
};
/* False: no more. */
typedef bool layered_pair_fn(void *arg, const struct layered_pair *pair);

/*
 * Calls for each pair of a kind that has no SL yet in lanes (NULL: for all), while other threads
 * list the steps of the next.
 */
void layered_each_pair(const struct layered *layered, const struct route_lanes *lanes,
		       layered_kind_fn *is_kind, layered_pair_fn *call, void *arg);

/* ---- layers.c: lanes for tables that are made: which pairs of switches share one ---- */

/*
 * Gives what hosts of two switches send each other, both ways, one of the lanes from first on, so
 * that no lane has a credit loop; and what hosts and switches send each other too, if one is left
 * for it. False, and error says how many it takes, if not all cables between switches have so many;
 * that takes time, which is spared without error.
 */
bool layered_assign(struct layered *layered, uint8_t first, GError **error);

/*
 * Spreads paths, all to the hosts of a switch alike, so that the busiest channel carries least; if
 * there are not lanes enough for these, in ways that take fewer.
 */
bool layered_assign_leaves(struct layered *layered, uint8_t first, GError **error);

/* Gives all lane 0; false if that closes a loop. */
bool layered_assign_one(struct layered *layered);

/*
 * ---- trunk.c ----
 *
 * The tree of cables that multicast keeps to where tables have no order of switches. All its steps
 * are taken on a lane before those of paths are: then trees that are parts of it close no credit
 * loop there, with paths or with each other, whatever the SL of a group.
 */

/*
 * Finds it in each part of the network, if there is to be one, for this and for the routing:
 * breadth first from a root, or the paths to it by the tables.
 */
void layered_find_trunk(struct layered *layered, bool by_paths);
/* Takes its steps on a lane; false if they close a loop with others there. */
bool layered_take_trunk(const struct layered *layered, struct acyclic *lane);

/*
 * Tables by an engine with a trunk; if lanes do not do for these, without one, and it is told that
 * multicast may close loops then. False and error if they do not do for that either.
 */
bool layered_with_trunk(struct layered *layered, GError **error);

#endif
