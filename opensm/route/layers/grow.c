// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Pairs of switches whose paths, both ways, can be added to a lane have that lane. The tables are
 * then changed for the others, destination by destination (Domke, Hoefler, Matsuoka: Routing on the
 * Dependency Graph, HPDC 2016): switches whose paths stay have joined the paths to a destination;
 * the others join from near to far, by a channel only if all steps from it to the destination can
 * be added to the lane of the pair, which the first of its paths that is grown chooses. The path of
 * least cost comes first: a hop costs more the more its channel carries, steeply above the mean,
 * and a step that its lane has not yet costs extra, because it excludes others. In the end each LID
 * is routed again, by the loads of all others. With an LMC, the first LIDs of all ports are
 * balanced among themselves, then the second ones, and so on: hosts may use only one of them.
 *
 * Lanes are by pair, and not by destination as in that paper, since a connection uses one SL in
 * both directions: a lane of a destination would have to take the paths from there, too, so each
 * lane would have nearly all paths.
 *
 * But paths of many lanes meet in the tables of one destination, so a switch may find no way that
 * fits its lane. Then the pair moves to a lane that takes both this path and those it has already;
 * if there is none, to one that takes this path alone, and those back are built again in the next
 * pass over all destinations.
 *
 * All lanes have the trunk (trunk.c), so escape paths over it are always free. A switch that cannot
 * join at all takes its escape path, as do all switches on that path, and the others join again
 * around these. In the last pass, it takes its earlier path instead.
 */
#include "route/layers/grow.h"

#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/watch.h"
#include "route/renew/renew.h"

#define GROW_HOP 16	  /* cost of a hop over an idle channel */
#define GROW_HOP_MAX 1024 /* of a hop over the busiest channel */
#define NEW_STEP (3 * GROW_HOP)
#define RELIEF_STEP (GROW_HOP / 2) /* where the load of channels matters most */
#define PARTS 64
#define BUCKETS 4096 /* a power of two, more than any two costs in the buckets differ by */
#define PASSES 3     /* over all destinations, for paths that have to be built again */
#define WORK_MAX (UINT64_C(1) << 25) /* channels to examine, beyond which LIDs share paths */

/* LIDs of a switch that have the same paths: by lid_at(), from first on and below end. */
struct lids {
	uint32_t dest, first, end;
};

/* What is tried for a path that its lane cannot take; each includes those before it. */
enum freedom {
	LANE_STAYS,
	LANE_MOVES,    /* the pair moves to another lane with all of its paths */
	PATH_BACK_OUT, /* or without those back, which are left out again */
};

struct growth {
	struct layered *layered;
	struct route_lanes *lanes; /* SLs of pairs so far: the numbers of their lanes */
	struct acyclic *lane[ROUTE_SLS];
	unsigned int n_lanes;
	bool *left_out;	    /* [to * n + from]: the path in the tables is in no lane */
	bool *bad;	    /* [switch]: its path to the current destination is to be replaced */
	uint32_t *by_index; /* [target]: layered_lid() of it, those of a switch by index */
	unsigned int n_indexes; /* LIDs of a port, at most */
	uint64_t *load;		/* [index * channels + channel]: of flows to LIDs of an index */
	uint64_t limit;	    /* what a channel may carry */
	uint64_t *sum;	    /* [index]: of all these loads */
	uint16_t *hop_cost; /* [channel] */
	uint16_t new_step;  /* cost of a step that its lane has not yet */
	uint16_t part_cost[PARTS]; /* [16ths of 1.5 times the mean load] */
	bool *escapes, *had_escapes; /* [switch]: is reached by escape paths; was */
	struct acyclic_step *steps; /* of a path, or of all paths of a pair */
	uint32_t n_steps, room;
	enum freedom freedom, least, most; /* the current one, and limits */
	uint8_t hops;			   /* of the pairs that get lanes */
	/* Paths to the current destination: */
	uint32_t dest;
	const struct lids *lids;    /* LIDs there that get the same paths */
	uint32_t *joined, n_joined; /* switches in the order in which they joined */
	uint32_t *chosen;	    /* [switch]: channel towards it; FABRIC_NONE: none */
	uint16_t *far;		    /* [switch]: hops to it */
	uint32_t *cost;		    /* [switch]: of its path */
	uint32_t *given; /* [switch]: channel of a path known in advance, or FABRIC_NONE */
	uint64_t *sent;	 /* [switch]: flow through it */
	bool *excluded;	 /* [switch]: uses its escape path */
	/* Channels by which switches could join: lists by the cost of the whole path, modulo. */
	uint32_t bucket[BUCKETS]; /* the first channel, or FABRIC_NONE */
	uint32_t *next;		  /* [channel] */
	uint32_t n_offers;
};

/* ---- lanes of paths ---- */

/* Adds steps to the lane that lacks the fewest; returns its number, or ROUTE_NO_SL: no lane. */
static uint8_t add_to_any(struct growth *growth, const struct acyclic_step *steps, uint32_t n)
{
	uint32_t lacks[ROUTE_SLS];

	for (unsigned int i = 0; i < growth->n_lanes; i++)
		lacks[i] = acyclic_lacks(growth->lane[i], steps, n);
	for (;;) {
		unsigned int best = 0;

		for (unsigned int i = 1; i < growth->n_lanes; i++)
			if (lacks[i] < lacks[best])
				best = i;
		if (lacks[best] == UINT32_MAX)
			return ROUTE_NO_SL;
		if (acyclic_add(growth->lane[best], steps, n))
			return best;
		lacks[best] = UINT32_MAX;
	}
}

/* Switches without hosts send each other nothing. */
static bool is_pair(const struct growth *growth, uint32_t a, uint32_t b)
{
	const struct route_graph *graph = growth->layered->graph;

	return a != b && (route_is_source(graph, a) || route_is_source(graph, b));
}

/* Adds steps to the lane of two switches, or gives them one; false if that is impossible. */
static bool add_steps(struct growth *growth, uint32_t a, uint32_t b,
		      const struct acyclic_step *steps, uint32_t n)
{
	uint8_t sl = route_lanes_sl(growth->lanes, a, b);

	if (sl != ROUTE_NO_SL)
		return acyclic_add(growth->lane[sl], steps, n);
	sl = add_to_any(growth, steps, n);
	if (sl == ROUTE_NO_SL)
		return false;
	route_lanes_put(growth->lanes, a, b, sl);
	return true;
}

/* The path from one switch to another: whether it is in no lane. */
static bool *left_out(const struct growth *growth, uint32_t from, uint32_t to)
{
	return &growth->left_out[(size_t)to * growth->layered->graph->n + from];
}

static bool is_of_sm(const struct growth *growth, uint32_t a, uint32_t b)
{
	uint32_t sm = growth->layered->graph->sm_switch;

	return a == sm || b == sm;
}

static void list_step(struct growth *growth, uint32_t from, uint32_t to)
{
	if (growth->n_steps == growth->room) {
		growth->room *= 2;
		growth->steps = g_renew(struct acyclic_step, growth->steps, growth->room);
	}
	growth->steps[growth->n_steps++] = (struct acyclic_step){from, to};
}

/*
 * Lists the steps of the path that begins with a channel; or, for a lane, only up to the first
 * switch whose path is in that lane.
 */
static void list_path(struct growth *growth, uint32_t channel, uint8_t sl)
{
	const uint32_t *to = growth->layered->channels->to;
	uint32_t next;

	growth->n_steps = 0;
	for (; (next = growth->chosen[to[channel]]) != FABRIC_NONE; channel = next) {
		list_step(growth, channel, next);
		if (sl != ROUTE_NO_SL && is_pair(growth, to[channel], growth->dest) &&
		    route_lanes_sl(growth->lanes, growth->dest, to[channel]) == sl)
			break;
	}
}

/* LID i of a switch: first those of its hosts, the base LIDs before others, then its own. */
static uint16_t lid_at(const struct growth *growth, uint32_t sw, uint32_t i)
{
	const struct route_graph *graph = growth->layered->graph;

	if (i < route_n_hosts(graph, sw))
		i = growth->by_index[graph->first_target[sw] + i];
	return layered_lid(graph, sw, i);
}

/* Lists the steps between two switches, in this order, of the paths that are in their lane. */
static void list_others(struct growth *growth, uint32_t from, uint32_t to)
{
	const struct layered *layered = growth->layered;
	const struct lids *now = growth->lids;

	for (uint32_t i = 0; i < layered_n_lids(layered->graph, to); i++) {
		bool done = now->dest == to && i < now->end;
		uint32_t last = FABRIC_NONE;

		if (done ? i >= now->first : *left_out(growth, from, to))
			continue;
		layered_each_hop(layered, from, to, lid_at(growth, to, i), sw, channel)
		{
			if (last != FABRIC_NONE)
				list_step(growth, last, channel);
			last = channel;
		}
	}
}

static bool may_fit_any(const struct growth *growth)
{
	for (unsigned int i = 0; i < growth->n_lanes; i++)
		if (acyclic_lacks(growth->lane[i], growth->steps, growth->n_steps) != UINT32_MAX)
			return true;
	return false;
}

/* Moves a pair to a lane that takes the path which begins with a channel; false if none does. */
static bool move_pair(struct growth *growth, uint32_t channel)
{
	uint32_t sw = growth->layered->channels->from[channel], dest = growth->dest;
	uint8_t sl;

	if (growth->freedom == LANE_STAYS || growth->n_lanes < 2 || is_of_sm(growth, sw, dest))
		return false;
	list_path(growth, channel, ROUTE_NO_SL);
	if (!may_fit_any(growth))
		return false;
	list_others(growth, sw, dest);
	if (growth->freedom < PATH_BACK_OUT)
		list_others(growth, dest, sw);
	sl = add_to_any(growth, growth->steps, growth->n_steps);
	if (sl == ROUTE_NO_SL)
		return false;
	route_lanes_put(growth->lanes, sw, dest, sl);
	if (growth->freedom == PATH_BACK_OUT)
		*left_out(growth, dest, sw) = true;
	return true;
}

/* Adds the path that begins with a channel to the lane of its pair. */
static bool add_path(struct growth *growth, uint32_t channel)
{
	uint32_t sw = growth->layered->channels->from[channel], dest = growth->dest;
	uint8_t sl = route_lanes_sl(growth->lanes, dest, sw);

	if (!is_pair(growth, sw, dest))
		return true;
	list_path(growth, channel, sl);
	return add_steps(growth, sw, dest, growth->steps, growth->n_steps) ||
	       (sl != ROUTE_NO_SL && move_pair(growth, channel));
}

/* ---- switches that join ---- */

static bool is_in(const struct growth *growth, uint32_t sw)
{
	return growth->chosen[sw] != FABRIC_NONE || sw == growth->dest;
}

static bool is_missing(const struct growth *growth, uint32_t sw)
{
	const struct layered *layered = growth->layered;

	return !is_in(growth, sw) &&
	       layered->hops[(size_t)sw * layered->graph->n + growth->dest] != ROUTE_FAR;
}

static void begin(struct growth *growth, uint32_t dest)
{
	growth->dest = dest;
	growth->n_joined = 0;
	memset(growth->chosen, 0xFF, growth->layered->graph->n * sizeof(*growth->chosen));
	growth->cost[dest] = growth->far[dest] = 0;
}

static void join(struct growth *growth, uint32_t channel, uint32_t cost)
{
	const struct route_channels *channels = growth->layered->channels;
	uint32_t sw = channels->from[channel];

	growth->chosen[sw] = channel;
	growth->cost[sw] = cost;
	growth->far[sw] = growth->far[channels->to[channel]] + 1;
	growth->joined[growth->n_joined++] = sw;
}

/*
 * Joins a switch by its given path, after all switches on that path; their cost is bounded, for the
 * buckets. False if that path does not reach the destination in this number of hops, or cannot be
 * added, if it is to be.
 */
static bool join_given(struct growth *growth, uint32_t sw, uint32_t hops, bool add)
{
	uint32_t c = growth->given[sw], to;

	if (is_in(growth, sw))
		return true;
	if (c == FABRIC_NONE || !hops)
		return false;
	to = growth->layered->channels->to[c];
	if (!join_given(growth, to, hops - 1, add) || (add && !add_path(growth, c))) {
		growth->given[sw] = FABRIC_NONE;
		return false;
	}
	join(growth, c, MIN(growth->cost[to] + growth->hop_cost[c], GROW_HOP_MAX));
	return true;
}

/* Joins all switches by given paths; returns how many are missing. */
static uint32_t join_all_given(struct growth *growth, bool add)
{
	uint32_t n = growth->layered->graph->n, missing = 0;

	for (uint32_t sw = 0; sw < n; sw++)
		if (is_missing(growth, sw))
			missing += !join_given(growth, sw, n, add);
	return missing;
}

/* ---- by free steps ---- */

/* Whether the lane of a switch that would join, as far as known, lacks the step to its next hop. */
static bool is_new_step(const struct growth *growth, uint32_t channel)
{
	const struct route_channels *channels = growth->layered->channels;
	uint32_t to = channels->to[channel], next = growth->chosen[to];
	uint8_t sl = route_lanes_sl(growth->lanes, growth->dest, channels->from[channel]);

	if (next == FABRIC_NONE)
		return false;
	if (sl == ROUTE_NO_SL)
		sl = route_lanes_sl(growth->lanes, growth->dest, to);
	return sl == ROUTE_NO_SL ||
	       !acyclic_has(growth->lane[sl], (struct acyclic_step){channel, next});
}

/* Offers paths over a switch that has joined. */
static void offer_ways(struct growth *growth, uint32_t sw)
{
	const struct route_channels *channels = growth->layered->channels;

	for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++) {
		uint32_t back = channels->back[c], cost, *bucket;

		if (is_in(growth, channels->to[c]))
			continue;
		cost = growth->cost[sw] + growth->hop_cost[back];
		if (is_new_step(growth, back))
			cost += growth->new_step;
		bucket = &growth->bucket[cost % BUCKETS];
		growth->next[back] = *bucket;
		*bucket = back;
		growth->n_offers++;
	}
}

/* Starts from all switches that have joined. */
static void join_others(struct growth *growth)
{
	const struct route_channels *channels = growth->layered->channels;

	for (uint32_t sw = 0; sw < growth->layered->graph->n; sw++)
		if (is_in(growth, sw))
			offer_ways(growth, sw);
	for (uint32_t cost = 0; growth->n_offers; cost++) {
		uint32_t c, *bucket = &growth->bucket[cost % BUCKETS];

		while ((c = *bucket) != FABRIC_NONE) {
			*bucket = growth->next[c];
			growth->n_offers--;
			if (is_in(growth, channels->from[c]) || !add_path(growth, c))
				continue;
			join(growth, c, cost);
			offer_ways(growth, channels->from[c]);
		}
	}
}

/* ---- by escape paths, or earlier ones ---- */

static uint16_t lid_of(const struct growth *growth, const struct lids *lids, uint32_t i)
{
	return lid_at(growth, lids->dest, i);
}

/* Gives the paths in the tables to the first of the current LIDs. */
static void give_earlier(struct growth *growth)
{
	const struct route_columns *columns = &growth->layered->way->columns;
	uint16_t lid = lid_of(growth, growth->lids, growth->lids->first);

	for (uint32_t sw = 0; sw < growth->layered->graph->n; sw++)
		growth->given[sw] = route_columns_get(columns, sw, lid);
}

/* Up the trunk, except for the switches above the destination. */
static void give_escapes(struct growth *growth)
{
	const struct route_channels *channels = growth->layered->channels;
	const uint8_t *trunk = growth->layered->way->routing->trunk;

	growth->escapes[growth->dest] = true;
	for (uint32_t sw = 0; sw < growth->layered->graph->n; sw++)
		growth->given[sw] = route_channel(channels, sw, trunk[sw]);
	for (uint32_t sw = growth->dest, c; trunk[sw]; sw = channels->to[c]) {
		c = route_channel(channels, sw, trunk[sw]);
		growth->given[channels->to[c]] = channels->back[c];
	}
}

static void join_freely(struct growth *growth)
{
	for (growth->freedom = growth->least;; growth->freedom++) {
		join_others(growth);
		if (growth->freedom == growth->most)
			break;
	}
	growth->freedom = growth->least;
}

enum missing { NONE_MISSING, SOME_MISSING, STILL_MISSING };

/* Excludes the switches that are missing. */
static enum missing exclude_missing(struct growth *growth)
{
	enum missing missing = NONE_MISSING;

	for (uint32_t sw = 0; sw < growth->layered->graph->n; sw++)
		if (is_missing(growth, sw)) {
			missing = MAX(missing, growth->excluded[sw] ? STILL_MISSING : SOME_MISSING);
			growth->excluded[sw] = true;
		}
	return missing;
}

/*
 * Builds the missing paths. Switches that cannot join take their earlier path, if that may be used
 * and all of these fit, else their escape path. True if some took their earlier path.
 */
static bool grow_missing(struct growth *growth, bool may_use_earlier)
{
	uint32_t n = growth->layered->graph->n;
	bool earlier = false;

	memset(growth->excluded, 0, n * sizeof(*growth->excluded));
	for (;;) {
		enum missing missing;

		join_freely(growth);
		missing = exclude_missing(growth);
		if (missing == NONE_MISSING)
			return earlier;
		earlier = may_use_earlier &= missing != STILL_MISSING;
		if (earlier)
			give_earlier(growth);
		else
			give_escapes(growth);
		begin(growth, growth->dest);
		for (uint32_t sw = 0; sw < n; sw++)
			if (growth->excluded[sw])
				join_given(growth, sw, n, true);
	}
}

/* ---- loads ---- */

/* The index of LID i of a switch among those of its port; its own have that of the last host. */
static unsigned int index_of(const struct growth *growth, uint32_t sw, uint32_t i)
{
	const struct route_graph *graph = growth->layered->graph;
	uint32_t n = route_n_hosts(graph, sw), first = graph->first_target[sw];

	return n ? graph->targets[first + growth->by_index[first + MIN(i, n - 1)]].offset : 0;
}

/* By the flows to LIDs of the same index. Grows with the cube of the load. */
static void set_costs(struct growth *growth, unsigned int index)
{
	uint32_t n = growth->layered->channels->n;
	uint64_t scale = (UINT64_C(16) << 32) / (1 + growth->sum[index] * 3 / (2 * MAX(n, 1)));
	const uint64_t *load = growth->load + (size_t)index * n;

	for (uint32_t c = 0; c < n; c++) {
		uint64_t part = load[c] * scale >> 32;

		growth->hop_cost[c] = growth->part_cost[MIN(part, PARTS - 1)];
	}
}

static uint64_t load_of(const struct growth *growth, uint32_t channel)
{
	uint32_t n = growth->layered->channels->n;
	uint64_t sum = 0;

	for (unsigned int index = 0; index < growth->n_indexes; index++)
		sum += growth->load[(size_t)index * n + channel];
	return sum;
}

/* Sets what switches send to some LIDs by themselves. */
static void set_sent(struct growth *growth, const struct lids *lids)
{
	const struct route_wishes *wishes = &growth->layered->plan.wishes;
	const struct route_graph *graph = wishes->graph;
	uint32_t first = graph->first_target[lids->dest], end = route_n_hosts(graph, lids->dest);

	for (uint32_t i = 0; i < growth->n_joined; i++) {
		uint32_t sw = growth->joined[i];

		growth->sent[sw] = 0;
		for (uint32_t k = lids->first; k < MIN(lids->end, end); k++)
			growth->sent[sw] += route_n_senders(wishes, sw,
							    first + growth->by_index[first + k]);
	}
	growth->sent[lids->dest] = 0;
}

/* The flows to LIDs of one index. */
static void count_index(struct growth *growth, const struct lids *lids, bool add)
{
	const struct route_channels *channels = growth->layered->channels;
	unsigned int index = index_of(growth, lids->dest, lids->first);
	uint64_t *load = growth->load + (size_t)index * channels->n;

	set_sent(growth, lids);
	for (uint32_t i = growth->n_joined; i-- > 0;) {
		uint32_t sw = growth->joined[i], c = growth->chosen[sw];
		uint64_t flow = growth->sent[sw];

		growth->sent[channels->to[c]] += flow;
		load[c] += add ? flow : -flow;
		growth->sum[index] += add ? flow : -flow;
	}
}

/* Adds the flows to some LIDs by the current paths, or subtracts them. */
static void count_flows(struct growth *growth, const struct lids *lids, bool add)
{
	uint16_t *most = &growth->layered->way->routing->max_hops;
	struct lids part = {lids->dest, lids->first, lids->first};

	for (; part.first < lids->end; part.first = part.end) {
		unsigned int index = index_of(growth, part.dest, part.first);

		while (part.end < lids->end && index_of(growth, part.dest, part.end) == index)
			part.end++;
		count_index(growth, &part, add);
	}
	for (uint32_t i = 0; i < growth->n_joined; i++)
		*most = MAX(*most, growth->far[growth->joined[i]]);
}

/* ---- columns: the paths to some LIDs ---- */

static void turn_to(struct growth *growth, const struct lids *lids)
{
	growth->lids = lids;
	begin(growth, lids->dest);
}

/* Turns to some LIDs, and gives the paths in the tables. */
static void give_column(struct growth *growth, const struct lids *lids)
{
	turn_to(growth, lids);
	give_earlier(growth);
}

/* Fills the tables from the current paths, and adds their load. */
static void put_column(struct growth *growth, const struct lids *lids)
{
	const struct route_columns *columns = &growth->layered->way->columns;
	uint16_t first = lid_of(growth, lids, lids->first);

	for (uint32_t k = 0; k < growth->n_joined; k++)
		route_columns_put(columns, growth->joined[k], first,
				  growth->chosen[growth->joined[k]]);
	for (uint32_t i = lids->first + 1; i < lids->end; i++)
		memcpy(route_column(columns, lid_of(growth, lids, i)), route_column(columns, first),
		       columns->n);
	count_flows(growth, lids, true);
}

typedef void lids_fn(struct growth *growth, const struct lids *lids);

/* For each range of LIDs of a switch, from first on and below end, that have the same paths. */
static void each_run(struct growth *growth, struct lids all, lids_fn *call)
{
	const struct route_columns *columns = &growth->layered->way->columns;
	struct lids run = {all.dest, all.first, all.first};

	while (run.first < all.end) {
		do
			run.end++;
		while (run.end < all.end &&
		       !memcmp(route_column(columns, lid_of(growth, &all, run.end)),
			       route_column(columns, lid_of(growth, &all, run.first)), columns->n));
		call(growth, &run);
		run.first = run.end;
	}
}

/* Consecutive destinations are far apart: near ones would take the same steps. */
static void each_switch(struct growth *growth, void (*call)(struct growth *, struct lids all))
{
	const struct route_graph *graph = growth->layered->graph;
	uint32_t n = graph->n, stride = route_stride(n);

	route_watch_begin(graph->watch, "paths", n);
	for (uint32_t i = 0; i < n && route_watch_step(graph->watch); i++) {
		uint32_t dest = (uint64_t)i * stride % n;

		call(growth, (struct lids){dest, 0, layered_n_lids(graph, dest)});
	}
}

/* ---- the last pass ---- */

static void subtract(struct growth *growth, const struct lids *lids)
{
	give_column(growth, lids);
	join_all_given(growth, false);
	count_flows(growth, lids, false);
}

/* Routes some LIDs of a switch again. */
static void balance_lids(struct growth *growth, const struct lids *lids)
{
	each_run(growth, *lids, subtract);
	set_costs(growth, index_of(growth, lids->dest, lids->first));
	turn_to(growth, lids);
	if (grow_missing(growth, true))
		growth->escapes[lids->dest] |= growth->had_escapes[lids->dest];
	put_column(growth, lids);
}

/* The LIDs of a switch that have an index. */
static struct lids lids_of_index(const struct growth *growth, uint32_t dest, unsigned int index)
{
	uint32_t n = layered_n_lids(growth->layered->graph, dest);
	struct lids lids = {dest, 0, 0};

	while (lids.first < n && index_of(growth, dest, lids.first) < index)
		lids.first++;
	lids.end = lids.first;
	while (lids.end < n && index_of(growth, dest, lids.end) == index)
		lids.end++;
	return lids;
}

/* Those of an index whose turn it is, of at most this number of turns. */
static void balance_turn(struct growth *growth, unsigned int index, uint32_t turn, uint32_t most)
{
	const struct route_graph *graph = growth->layered->graph;
	uint32_t n = graph->n, stride = route_stride(n);

	for (uint32_t i = 0; i < n && route_watch_step(graph->watch); i++) {
		uint32_t dest = (uint64_t)i * stride % n;
		struct lids all = lids_of_index(growth, dest, index), lids = all;
		uint32_t n_lids = all.end - all.first;
		uint32_t n_hosts = MIN(all.end, route_n_hosts(graph, dest)) - all.first;
		uint32_t n_turns = CLAMP(n_hosts, 1, most);

		lids.first = all.first + n_lids * turn / n_turns;
		lids.end = all.first + n_lids * (turn + 1) / n_turns;
		if (turn < n_turns && n_lids)
			balance_lids(growth, &lids);
	}
}

/*
 * Routes each LID again, the base LIDs first, as hosts may use only these; if that takes much work,
 * some LIDs of a switch together.
 */
static void balance(struct growth *growth)
{
	const struct layered *layered = growth->layered;
	const struct route_graph *graph = layered->graph;
	uint32_t n = graph->n, n_indexes = growth->n_indexes, most = 1;
	uint64_t work = (uint64_t)n * n_indexes * (layered->channels->n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		most = MAX(most, route_n_hosts(graph, sw) / n_indexes);
	most = CLAMP(WORK_MAX / work, 1, most);
	layered->way->routing->max_hops = 0;
	memcpy(growth->had_escapes, growth->escapes, n * sizeof(*growth->escapes));
	memset(growth->escapes, 0, n * sizeof(*growth->escapes));
	route_watch_begin(graph->watch, "paths by load", (uint64_t)most * n_indexes * n);
	for (unsigned int index = 0; index < n_indexes; index++)
		for (uint32_t turn = 0; turn < most; turn++)
			balance_turn(growth, index, turn, most);
}

/* ---- new tables ---- */

static bool assign_pair(void *arg, const struct layered_pair *pair)
{
	struct growth *growth = arg;
	bool fits = add_steps(growth, pair->a, pair->b, pair->steps, pair->n);

	*left_out(growth, pair->a, pair->b) = !fits;
	*left_out(growth, pair->b, pair->a) = !fits;
	return true;
}

/* Pairs of the SM, or those whose switches are a number of hops apart. */
static bool is_kind(void *arg, uint32_t a, uint32_t b)
{
	const struct growth *growth = arg;

	if (a > b || !is_pair(growth, a, b))
		return false;
	if (is_of_sm(growth, a, b) || !growth->hops)
		return !growth->hops && is_of_sm(growth, a, b);
	return growth->layered->hops[(size_t)a * growth->layered->graph->n + b] == growth->hops;
}

/*
 * Those of the SM first, as they must share a lane; then long paths, which are harder to place.
 * Paths by dimensions close few loops: there short ones come first, since those that are left out
 * are then long, and no others lead through their ends.
 */
static void assign_pairs(struct growth *growth)
{
	const struct layered *layered = growth->layered;
	bool short_first = layered->way == &layered->ways[SPREAD_DIMENSIONS];
	uint8_t most = route_most_hops(&layered->plan.order, layered->hops);

	layered_each_pair(layered, NULL, is_kind, assign_pair, growth);
	for (uint8_t i = 1; i <= most; i++) {
		growth->hops = short_first ? i : most + 1 - i;
		layered_each_pair(layered, NULL, is_kind, assign_pair, growth);
	}
}

static void load_column(struct growth *growth, const struct lids *lids)
{
	give_column(growth, lids);
	join_all_given(growth, false);
	count_flows(growth, lids, true);
}

static void load_switch(struct growth *growth, struct lids all)
{
	each_run(growth, all, load_column);
}

/* Finds the switches whose paths to some LIDs are in no lane, or begin on too busy a channel. */
static bool find_bad(struct growth *growth, uint32_t dest)
{
	uint32_t n = growth->layered->graph->n;
	bool any = false;

	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t c = growth->chosen[sw];

		growth->bad[sw] = *left_out(growth, sw, dest) ||
				  (c != FABRIC_NONE && load_of(growth, c) > growth->limit);
		any |= growth->bad[sw] || is_missing(growth, sw);
	}
	return any;
}

/* Builds these paths again. */
static void mend_column(struct growth *growth, const struct lids *lids)
{
	give_column(growth, lids);
	join_all_given(growth, false);
	if (!find_bad(growth, lids->dest))
		return;
	count_flows(growth, lids, false);
	set_costs(growth, index_of(growth, lids->dest, lids->first));
	give_column(growth, lids);
	for (uint32_t sw = 0; sw < growth->layered->graph->n; sw++)
		if (growth->bad[sw])
			growth->given[sw] = FABRIC_NONE;
	join_all_given(growth, false);
	grow_missing(growth, false);
	put_column(growth, lids);
}

/* Whether paths to a switch may have to be built again. */
static bool may_be_bad(const struct growth *growth, uint32_t dest)
{
	return growth->limit < UINT64_MAX ||
	       memchr(left_out(growth, 0, dest), true, growth->layered->graph->n);
}

static void mend_switch(struct growth *growth, struct lids all)
{
	if (!may_be_bad(growth, all.dest))
		return;
	each_run(growth, all, mend_column);
	memset(left_out(growth, 0, all.dest), false, growth->layered->graph->n);
}

/* In the last pass no path is left out again. */
static void mend(struct growth *growth)
{
	for (unsigned int i = 1; i <= PASSES; i++) {
		growth->most = i < PASSES && growth->n_lanes > 1 ? PATH_BACK_OUT : LANE_MOVES;
		each_switch(growth, mend_switch);
	}
	growth->most = LANE_MOVES;
}

/* ---- kept tables ---- */

/* Fills the paths to a LID as they are in kept tables; false if one no longer gets there. */
static bool keep_lid(struct growth *growth, const struct route_kept *kept, const struct lids *lids)
{
	const struct layered *layered = growth->layered;
	uint16_t lid = lid_of(growth, lids, lids->first);
	uint8_t *steps = route_column(&layered->way->columns, lid);
	bool whole;

	begin(growth, lids->dest);
	memset(steps, ROUTE_NO_STEP, layered->graph->n);
	for (uint32_t sw = 0; sw < layered->graph->n; sw++)
		growth->given[sw] = layered_kept_channel(layered, kept, sw, lid);
	whole = !join_all_given(growth, false);
	for (uint32_t i = 0; i < growth->n_joined; i++)
		route_columns_put(&layered->way->columns, growth->joined[i], lid,
				  growth->chosen[growth->joined[i]]);
	return whole;
}

/* From the newly computed tables if all is there, or from the previous ones. */
static bool keep_switch(struct growth *growth, uint32_t dest)
{
	const struct layered *layered = growth->layered;
	bool whole = true;

	for (uint32_t i = 0; i < layered_n_lids(layered->graph, dest); i++) {
		struct lids one = {dest, i, i + 1};

		if (keep_lid(growth, &layered->kept[0], &one))
			continue;
		keep_lid(growth, &layered->kept[KEPT_TABLES - 1], &one);
		whole = false;
	}
	return whole;
}

/* The SL that two switches had in the tables whose paths between them are kept. */
static void keep_tables(struct growth *growth)
{
	const struct layered *layered = growth->layered;
	uint32_t n = layered->graph->n;
	g_autofree bool *whole = g_new(bool, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		whole[sw] = keep_switch(growth, sw);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < a; b++) {
			unsigned int i = whole[a] && whole[b] ? 0 : KEPT_TABLES - 1;
			uint8_t sl = route_kept_sl(&layered->kept[i], a, b);

			if (!is_of_sm(growth, a, b) && sl < growth->n_lanes)
				route_lanes_put(growth->lanes, a, b, sl);
		}
}

/* Withdraws the current paths over channels that carry too much. */
static void withdraw_busy(struct growth *growth)
{
	const uint32_t *to = growth->layered->channels->to;

	growth->bad[growth->dest] = false;
	for (uint32_t i = 0; i < growth->n_joined; i++) {
		uint32_t sw = growth->joined[i], c = growth->chosen[sw];

		growth->bad[sw] = growth->bad[to[c]] || load_of(growth, c) > growth->limit;
		if (growth->bad[sw])
			growth->given[sw] = FABRIC_NONE;
	}
}

/* Adds all paths to some LIDs that can stay; the rest is left out. */
static void add_column(struct growth *growth, const struct lids *lids)
{
	uint32_t n = growth->layered->graph->n;

	give_column(growth, lids);
	if (growth->limit < UINT64_MAX) {
		join_all_given(growth, false);
		withdraw_busy(growth);
		begin(growth, lids->dest);
	}
	join_all_given(growth, true);
	for (uint32_t sw = 0; sw < n; sw++)
		*left_out(growth, sw, lids->dest) |= is_missing(growth, sw);
}

static void add_switch(struct growth *growth, struct lids all)
{
	each_run(growth, all, add_column);
}

/* ---- all ---- */

static void sort_by_index(struct growth *growth)
{
	const struct route_graph *graph = growth->layered->graph;
	uint32_t n = route_n_targets(graph);

	growth->by_index = g_new(uint32_t, n + 1);
	growth->n_indexes = 1;
	for (uint32_t t = 0; t < n; t++)
		growth->n_indexes = MAX(growth->n_indexes, graph->targets[t].offset + 1u);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t first = graph->first_target[sw], at = first;

		for (unsigned int index = 0; index < growth->n_indexes; index++)
			for (uint32_t i = 0; i < route_n_hosts(graph, sw); i++)
				if (graph->targets[first + i].offset == index)
					growth->by_index[at++] = i;
	}
}

static void open_lanes(struct growth *growth)
{
	for (unsigned int i = 0; i < growth->n_lanes; i++) {
		growth->lane[i] = acyclic_new(growth->layered->channels);
		layered_take_trunk(growth->layered, growth->lane[i]);
	}
}

static void free_lanes(struct growth *growth)
{
	for (unsigned int i = 0; i < growth->n_lanes; i++)
		acyclic_free(growth->lane[i]);
}

static void init(struct growth *growth, struct layered *layered)
{
	uint32_t n = layered->graph->n, n_channels = layered->channels->n, n_lanes = layered->vls;
	uint32_t sm = layered->graph->sm_switch;

	*growth = (struct growth){.layered = layered, .n_lanes = n_lanes, .limit = UINT64_MAX};
	growth->new_step = NEW_STEP;
	growth->bad = g_new(bool, n + 1);
	growth->left_out = g_new0(bool, (size_t)n *n + 1);
	sort_by_index(growth);
	growth->load = g_new0(uint64_t, (size_t)growth->n_indexes * n_channels + 1);
	growth->sum = g_new0(uint64_t, growth->n_indexes);
	growth->hop_cost = g_new(uint16_t, n_channels + 1);
	growth->escapes = g_new0(bool, n + 1);
	growth->had_escapes = g_new(bool, n + 1);
	growth->room = n + 1;
	growth->steps = g_new(struct acyclic_step, growth->room);
	growth->least = growth->freedom = growth->most = LANE_MOVES;
	growth->joined = g_new(uint32_t, n + 1);
	growth->chosen = g_new(uint32_t, n + 1);
	growth->far = g_new(uint16_t, n + 1);
	growth->cost = g_new(uint32_t, n + 1);
	growth->given = g_new(uint32_t, n + 1);
	growth->sent = g_new(uint64_t, n + 1);
	growth->excluded = g_new(bool, n + 1);
	growth->next = g_new(uint32_t, n_channels + 1);
	memset(growth->bucket, 0xFF, sizeof(growth->bucket));
	growth->lanes = route_lanes_new(n, 0);
	growth->lanes->sm_sl = layered->input->sm_sl;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		growth->lanes->vl[sl] = sl % n_lanes;
	for (uint32_t sw = 0; sm != FABRIC_NONE && sw < n; sw++)
		if (sw != sm)
			route_lanes_put(growth->lanes, sw, sm,
					growth->lanes->vl[growth->lanes->sm_sl]);
	layered_find_trunk(layered, false);
	open_lanes(growth);
	for (uint32_t i = 0; i < PARTS; i++)
		growth->part_cost[i] = GROW_HOP + GROW_HOP * i * i * i / (16 * 16 * 16);
	set_costs(growth, 0);
}

static void clear(struct growth *growth)
{
	free_lanes(growth);
	route_lanes_free(growth->lanes);
	g_free(growth->left_out);
	g_free(growth->bad);
	g_free(growth->by_index);
	g_free(growth->load);
	g_free(growth->sum);
	g_free(growth->hop_cost);
	g_free(growth->escapes);
	g_free(growth->had_escapes);
	g_free(growth->steps);
	g_free(growth->joined);
	g_free(growth->chosen);
	g_free(growth->far);
	g_free(growth->cost);
	g_free(growth->given);
	g_free(growth->sent);
	g_free(growth->excluded);
	g_free(growth->next);
}

static uint64_t busiest(const struct growth *growth)
{
	uint64_t most = 0;

	for (uint32_t c = 0; c < growth->layered->channels->n; c++)
		most = MAX(most, load_of(growth, c));
	return most;
}

static uint32_t count_escapes(const struct growth *growth)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < growth->layered->graph->n; sw++)
		n += growth->escapes[sw];
	return n;
}

/* Gives the routing its lanes, and says what is odd about its paths. */
static void finish(struct growth *growth)
{
	struct layered *layered = growth->layered;
	struct routing *routing = layered->way->routing;
	uint32_t n = layered->graph->n, escapes = count_escapes(growth);
	uint8_t most = 0;

	routing->layered.grown = true;
	routing->layered.busiest = busiest(growth);
	if (escapes)
		routing_note(routing,
			     "%u of %u switches are reached over a spanning tree from some others",
			     escapes, n);
	for (size_t i = 0; i < (size_t)n * n; i++)
		if (growth->lanes->sl[i] != ROUTE_NO_SL)
			most = MAX(most, growth->lanes->sl[i]);
	growth->lanes->n = most + 1;
	layered_put_lanes(layered, &growth->lanes, !most, 0);
}

void layered_grow(struct layered *layered)
{
	struct growth growth;

	init(&growth, layered);
	assign_pairs(&growth);
	each_switch(&growth, load_switch);
	mend(&growth);
	balance(&growth);
	finish(&growth);
	clear(&growth);
}

/*
 * Builds all paths over too busy channels again. They leave their lanes first, as others would find
 * no room beside them, and pairs may move.
 */
static void grow_busy(struct growth *growth)
{
	free_lanes(growth);
	open_lanes(growth);
	each_switch(growth, add_switch);
	growth->limit = UINT64_MAX;
	growth->least = growth->freedom = LANE_MOVES;
	growth->new_step = RELIEF_STEP;
	mend(growth);
}

/*
 * Moves paths from channels that carry much more than any did before; and if some then still carry
 * so much that the tables would hardly be kept, more of them, to other lanes.
 */
static void relieve(struct growth *growth)
{
	uint64_t before = growth->layered->kept[0].routing->layered.busiest;

	growth->limit = before + before / RENEW_RELIEVED;
	each_switch(growth, mend_switch);
	if (growth->n_lanes > 1 &&
	    renew_is_busier(busiest(growth), before, RENEW_LAYERS_BUSIER))
		grow_busy(growth);
}

bool layered_grow_kept(struct layered *layered)
{
	size_t all = (size_t)layered->graph->n * layered->graph->n, missing = 0;
	struct growth growth;
	bool good;

	init(&growth, layered);
	growth.least = growth.freedom = LANE_STAYS;
	keep_tables(&growth);
	layered->way->routing->max_hops = 0;
	each_switch(&growth, load_switch);
	each_switch(&growth, add_switch);
	for (size_t i = 0; i < all; i++)
		missing += growth.left_out[i];
	good = missing <= all / RENEW_REGROWN;
	if (good) {
		mend(&growth);
		if (layered->relieve)
			relieve(&growth);
		finish(&growth);
	}
	clear(&growth);
	return good;
}
