// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the layered engines have in common: sssp, dfsssp, lash, nue, hoplanes. */
#ifndef ROUTE_LAYERS_LAYERED_H
#define ROUTE_LAYERS_LAYERED_H

#include "route/engine.h"
#include "route/graph/columns.h"
#include "route/graph/plan.h"
#include "route/layers/acyclic.h"
#include "route/value/lanes.h"

#define KEPT_TABLES 2 /* newly computed tables, and the previous ones */

/* Earlier tables, of which engines keep what is still good, for the present switches. */
struct route_kept {
	const struct routing *routing;
	uint32_t *row; /* [switch]: from route_places() */
};

static inline uint8_t route_kept_port(const struct route_kept *kept, uint32_t sw, uint16_t lid)
{
	uint32_t row = kept->row[sw];

	return row == FABRIC_NONE ? ROUTE_NO_PORT : routing_port(kept->routing, row, lid);
}

/* The SL of two switches in kept tables, or ROUTE_NO_SL. */
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
	SPREAD_LEAVES, /* all LIDs of a switch together, except on parallel cables */
	SPREAD_PORTS,  /* as SPREAD_LEAVES, by the first port that begins a shortest path */
	/*
	 * As SPREAD_LEAVES, for paths that finish one dimension (mesh.c) before they turn to the
	 * next, if there are dimensions: these take the fewest lanes.
	 */
	SPREAD_DIMENSIONS,
	SPREAD_WAYS,
};
#define SPREAD_ALL ((1u << SPREAD_WAYS) - 1)
#define SPREAD_LOADS (SPREAD_ALL & ~(1u << SPREAD_DIMENSIONS)) /* without a search for dimensions  \
								*/

/* The tables of one way to spread paths, and what is known about them so far. */
struct layered_way {
	struct routing *routing;      /* its LFTs are filled at the end; NULL: none yet */
	struct route_columns columns; /* the paths */
	bool is_spread;
	double peak; /* load of the busiest channel as a multiple of the mean */
	bool *repeats; /* [LID]: has the paths of the LID before it at its switch, if spread */
	bool *trunk;   /* [channel]: of the tree that multicast follows (trunk.c); NULL: none */
	struct acyclic *all; /* steps between hosts, as on one lane; NULL: not examined */
	bool is_one;	     /* they close no credit loop, with the trunk if one is wanted */
	bool is_loop;	     /* they close a loop, even without a trunk */
	bool is_refused;     /* it needs more lanes than there are */
};

/* The working state of a layered engine. */
struct layered {
	const struct route_engine *engine;
	const struct fabric *fabric;
	const struct route_input *input;
	struct route_plan plan;	   /* without weights; with directions if all paths are legal */
	struct route_graph *graph; /* of the plan */
	struct route_channels *channels;
	uint8_t *hops;				/* from route_hops_all() */
	uint32_t n_throttled, n_throttled_stay; /* cables: from route_throttled() */
	struct layered_way ways[SPREAD_WAYS];
	struct layered_way *way; /* the current one */
	uint8_t *dimension;	 /* [channel]: from route_dimensions(), if has_looked */
	bool has_looked;
	unsigned int vls; /* lanes that it may use */
	bool even;	  /* compute tables for all hosts sending to all, ignoring the demand */
	const struct route_kept *kept; /* KEPT_TABLES, whose good parts are kept; or NULL */
	bool relieve;	  /* do not keep LIDs that load some channel far more than before */
	/* Paths go up, then down, by the order of the plan: no loop, no trunk, nothing to check */
	bool all_legal;
	/* Nearly all do (the order is mixed); the trunk is all that the order allows */
	bool nearly_legal;
	bool plain;	  /* no order is looked for */
	/* LIDs may be spread in batches (batches.h) and moved (relief.h): this takes more lanes */
	bool any_lanes;
	bool wants_trunk; /* find a trunk once there are tables */
};

/*
 * The routing of a layered engine, whose route() makes tables and lanes. NULL and error if that
 * fails, or if some path is too long. Tables for a demand can take more lanes than tables for all
 * hosts sending to all: if there are not enough for the former, the engine is asked for the latter.
 */
struct routing *layered_compute(const struct route_engine *engine, const struct fabric *fabric,
				const struct route_input *input, GError **error);

/*
 * layered_compute() that keeps the good parts of earlier tables (renew/keep_layers.c): newly
 * computed ones, and the previous ones. NULL if it cannot. relieve: not LIDs that load some channel
 * far more than the busiest one of the former.
 */
struct routing *layered_compute_kept(const struct route_engine *engine, const struct fabric *fabric,
				     const struct route_input *input,
				     const struct route_kept kept[KEPT_TABLES], bool relieve);

/* Makes the tables of a way the current ones; they are empty at first. */
void layered_turn_to(struct layered *layered, enum spread_by by);

/* The channel by which a switch sends a LID in kept tables, or FABRIC_NONE. */
static inline uint32_t layered_kept_channel(const struct layered *layered,
					    const struct route_kept *kept, uint32_t sw,
					    uint16_t lid)
{
	return route_channel(layered->channels, sw, route_kept_port(kept, sw, lid));
}

/* For each hop of a LID between switches in the current tables: the switch, and the channel. */
#define layered_each_hop(layered, first, last, lid, sw, channel)                                   \
	for (uint32_t sw = first, channel;                                                         \
	     sw != (last) &&                                                                       \
	     (channel = route_columns_get(&(layered)->way->columns, sw, lid)) != FABRIC_NONE;      \
	     sw = (layered)->channels->to[channel])

/* LID i: of the hosts of a switch, then its own. */
static inline uint16_t layered_lid(const struct route_graph *graph, uint32_t sw, unsigned int i)
{
	uint32_t n = route_n_hosts(graph, sw);

	return i < n ? graph->targets[graph->first_target[sw] + i].lid : graph->own_lid[sw] + i - n;
}

static inline unsigned int layered_n_lids(const struct route_graph *graph, uint32_t sw)
{
	return route_n_hosts(graph, sw) + route_n_own(graph, sw);
}

/* How many of these LIDs get packets from another switch: its own LIDs only if that is a source. */
static inline unsigned int layered_n_lids_from(const struct route_graph *graph, uint32_t from,
					       uint32_t sw)
{
	return route_is_source(graph, from) ? layered_n_lids(graph, sw) : route_n_hosts(graph, sw);
}

static inline bool layered_has_trunk(const struct layered *layered)
{
	return layered->nearly_legal || layered->way->trunk;
}

static inline bool layered_leads_up(const struct layered *layered, uint32_t channel)
{
	const uint32_t *place = layered->plan.order.place;
	const struct route_channels *channels = layered->channels;

	return place[channels->to[channel]] < place[channels->from[channel]];
}

/* Whether a step is in the trunk. */
static inline bool layered_is_trunk(const struct layered *layered, uint32_t from, uint32_t to)
{
	const struct route_channels *channels = layered->channels;
	const bool *trunk = layered->way->trunk;

	if (layered->nearly_legal)
		return channels->to[to] != channels->from[from] &&
		       (layered_leads_up(layered, from) || !layered_leads_up(layered, to));
	return trunk && trunk[from] && trunk[to] && to != channels->back[from];
}

/* Whether paths between two switches, both ways, follow the order of the plan, which is mixed. */
static inline bool layered_is_legal(const struct layered *layered, uint32_t a, uint32_t b)
{
	size_t n = layered->graph->n;
	uint8_t there = layered->hops[a * n + b], back = layered->hops[b * n + a];

	return !((there | back) & ROUTE_AGAINST); /* there is a path */
}

/*
 * Gives the routing lanes without credit loops, unless all use lane 0, which needs no SL; notes how
 * many pairs have none: excluded, or because their hosts send each other nothing.
 */
void layered_put_lanes(struct layered *layered, struct route_lanes **lanes, bool are_one,
		       uint64_t excluded);

/* Notes for the operator: pairs of switches without a lane; cables that carry no paths, or do. */
void layered_note_pairs(struct routing *routing, uint64_t excluded, uint64_t idle);
/* Unused cables may make paths longer. */
void layered_note_throttled(struct routing *routing, uint32_t n, uint32_t n_stay);

/* ---- mesh.c: the dimensions of meshes, tori and hypercubes: do_mesh_analysis ---- */

#define ROUTE_DATELINE 0x80

/*
 * [link]: the number of the dimension along which it leads, and ROUTE_DATELINE for links of the one
 * slice by which paths around a ring are told apart. NULL if the cables show fewer than two
 * dimensions, or very many, as in other kinds of networks.
 */
uint8_t *route_dimensions(const struct route_graph *graph);

/* ---- spread.c: paths spread over the cables by their load so far ---- */

/* Fills tables of ways (one bit each) that may be needed next, if there are threads for it. */
void layered_spread_ahead(struct layered *layered, unsigned int ways);

/*
 * Fills the tables of a way once; returns the load of the busiest channel, all hosts sending to
 * all. UINT64_MAX, with nothing done, if the tables would be those of an earlier way: if tables are
 * kept, LIDs that shared paths still do, so the way to spread the rest makes no difference, except
 * with dimensions, which not all networks have.
 */
uint64_t layered_spread(struct layered *layered, enum spread_by by);

/* Spreads by leaves or by ports, whichever loads the busiest channel less; returns that one. */
uint64_t layered_spread_leaves(struct layered *layered);

/* ---- pairs.c: pairs of switches in turn, with the steps of the paths between them ---- */

/* Kinds of pairs, in the order in which they get their lanes. */
enum pair_kind {
	PAIR_ANY,
	PAIR_KEPT,	/* paths are as in earlier tables */
	PAIR_WITH_SM,	/* on one SL, since clients use that of PortInfo */
	PAIR_OF_HOSTS,	/* whose hosts send each other anything */
	PAIR_OF_SWITCH, /* a switch with hosts, and one without */
};

/* Whether two switches, in this order, are of a kind other than PAIR_KEPT. */
static inline bool layered_is_kind(const struct layered *layered, enum pair_kind kind, uint32_t a,
				   uint32_t b)
{
	const struct route_graph *graph = layered->graph;

	if (kind == PAIR_ANY)
		return a < b && (route_is_source(graph, a) || route_is_source(graph, b));
	if (kind == PAIR_WITH_SM)
		return a == graph->sm_switch;
	if (kind == PAIR_OF_HOSTS)
		return a < b && route_has_hosts(graph, a) && route_has_hosts(graph, b) &&
		       route_sends(&layered->plan.wishes, a, b);
	return route_has_hosts(graph, a) && !route_has_hosts(graph, b);
}

/* Called by several threads, for other pairs than the one that is taken. */
typedef bool layered_kind_fn(void *arg, uint32_t a, uint32_t b);

/*
 * Two switches with the steps of the paths between them, both ways: from the hosts of one (or from
 * the switch itself if it has none) to each LID behind the other and, if it sends to these, to the
 * other's own LIDs. LIDs with the same paths appear once. A path continues as long as each step
 * begins with the channel to which the previous one leads.
 */
struct layered_pair {
	uint32_t a, b;
	struct acyclic_step *steps;
	size_t n, room;
};
/* False: stop. */
typedef bool layered_pair_fn(void *arg, const struct layered_pair *pair);

/*
 * Calls fn for each pair of a kind that has no SL in lanes yet (NULL: for all), while other threads
 * list the steps of the next pairs.
 */
void layered_each_pair(const struct layered *layered, const struct route_lanes *lanes,
		       layered_kind_fn *is_kind, layered_pair_fn *call, void *arg);

/* ---- layers.c: lanes for finished tables: which pairs of switches share one ---- */

/*
 * Gives the traffic between hosts of two switches, both ways, one of the lanes from first on, so
 * that no lane has a credit loop; and the traffic between hosts and switches too, if a lane is left
 * for it. False if some cable between switches has too few lanes; error then says how many are
 * needed. Finding that number takes time; error NULL skips it.
 */
bool layered_assign(struct layered *layered, uint8_t first, GError **error);

/*
 * Spreads paths, the same for all hosts of a switch, so that the busiest channel carries least; if
 * there are not enough lanes for these, in ways that take fewer.
 */
bool layered_assign_leaves(struct layered *layered, uint8_t first, GError **error);

/* Gives all pairs lane 0; false if that closes a loop. */
bool layered_assign_one(struct layered *layered);

/*
 * ---- trunk.c ----
 *
 * The tree of cables that multicast follows where tables have no order of switches. All its steps
 * are added to a lane before those of paths: then trees that are parts of it close no credit loop
 * there, with paths or with each other, for any SL of a group. Where nearly all paths follow an
 * order, multicast does too: its steps are all that go up, then down.
 */

/*
 * Finds the trunk in each part of the network, if one is wanted, for layered and for the routing:
 * breadth first from a root, or along the paths to the root by the tables.
 */
void layered_find_trunk(struct layered *layered, bool by_paths);
/* Adds the steps of the trunk to a new lane. */
void layered_take_trunk(const struct layered *layered, struct acyclic *lane);
/* acyclic_note() for these steps. */
void layered_note_trunk(const struct layered *layered, struct acyclic *lane);

/*
 * Computes tables with a trunk; if there are not enough lanes for these, without one, and notes
 * that multicast may close loops then. False and error if lanes do not suffice for that either.
 */
bool layered_with_trunk(struct layered *layered, GError **error);

#endif
