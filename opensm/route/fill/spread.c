// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * By LID, one destination after the other: from near to far each switch takes, of the channels that
 * lead nearer, the one with the least sum of loads from there on; then flows of all hosts are added
 * from far to near.
 *
 * If the operator names compute and I/O nodes, paths to these are spread first, each kind as if
 * there were nothing else.
 *
 * With an LMC, the first LIDs of all ports are balanced among themselves, then the second ones, and
 * so on: hosts may use only one of them. Of equal channels each of these takes another one first.
 *
 * Where all paths are legal (layered.h), the network is a tree: paths are those of other engines
 * there (tree.c), unless there are kinds of nodes or not all hosts send to all. Then, and where
 * nearly all paths are legal or lanes do not matter, channels that carry far more than the mean are
 * relieved.
 *
 * Kept paths of earlier tables stay, and the rest is spread around them; if some channel then
 * carries far more than before, relief.h moves some of them.
 *
 * The first port that leads nearer, instead, makes paths turn alike everywhere if cabling is
 * regular (by dimension in a torus), and then few lanes are needed.
 */
#include "route/layers/layered.h"

#include <string.h>

#include "complib/hash.h"
#include "route/fill/batches.h"
#include "route/fill/relief.h"
#include "route/fill/shortest.h"
#include "route/graph/flows.h"
#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/renew/renew.h"

#define BATCHES 64  /* if there are at least two switches for each */
#define EVEN 8	    /* the busiest channel may carry one part in this many more than the mean */
#define STEP 4	    /* relief is for what exceeds all but one part in this many of the busiest */
#define AHEAD 4	    /* switches whose steps are listed ahead, if there are threads for it */
#define GAIN 8	    /* relief goes on as long as the busiest channel loses one part in this many */

/* Kinds of endports, each spread by itself; KIND_OTHER last, with the loads of all. */
enum kind { KIND_COMPUTE, KIND_IO, KIND_OTHER, KINDS };

/* One way to spread, shared by all threads that work on it. */
struct spread {
	const struct layered *layered;
	enum spread_by by;
	struct layered_way *way;
	const uint8_t *dimension; /* of layered; NULL: no dimension comes first */
	uint32_t *turns; /* [target]: the turn in which it is spread; switches are in the last */
	uint32_t turn, first_turn, last_turn; /* turn: the current one */
	unsigned int index;	  /* of the LIDs that are spread now, among those of their port */
	uint64_t *load;		  /* [channel]: of the current kind and index */
	bool in_batches;
	unsigned int threads;	  /* that it may use */
};

/* State of one thread. */
struct spreader {
	const struct spread *spread;
	uint64_t *load;	  /* [channel]: of the current kind */
	uint64_t *cost;	  /* [switch]: sum of loads on the path to the current destination */
	uint32_t *chosen; /* [switch]: channel */
	struct route_flows flows;
};

/* ---- a destination ---- */

/* Keeps only those steps of a switch that are in its first dimension. */
static void keep_dimension(struct route_flows *flows, const uint8_t *dimension, uint32_t sw)
{
	uint32_t n = flows->first[sw];
	uint8_t least = UINT8_MAX;

	for (uint32_t i = n; i < flows->last[sw]; i++)
		least = MIN(least, dimension[flows->steps[i].channel] & ~ROUTE_DATELINE);
	for (uint32_t i = n; i < flows->last[sw]; i++)
		if ((dimension[flows->steps[i].channel] & ~ROUTE_DATELINE) == least)
			flows->steps[n++] = flows->steps[i];
	flows->last[sw] = n;
}

static void turn_to(struct spreader *spreader, uint32_t dest)
{
	route_flows_turn_to(&spreader->flows, dest);
	spreader->cost[dest] = 0;
}

/* Lists the steps for a target; FABRIC_NONE: for LIDs of the switch. False if listed already. */
static bool list_steps(const struct spread *spread, struct route_flows *flows, uint32_t target)
{
	const uint8_t *dimension = spread->dimension;

	if (!route_flows_list_steps(flows, target))
		return false;
	for (uint32_t i = 0; dimension && i < flows->n_order; i++)
		keep_dimension(flows, dimension, flows->order[i]);
	return true;
}

/* The two ways to the opposite side of a ring are equally long: avoid the one over the dateline. */
static uint64_t detour(const uint8_t *dimension, uint32_t channel)
{
	return dimension && dimension[channel] & ROUTE_DATELINE ? UINT64_C(1) << 40 : 0;
}

/* The best step of a switch, once those of nearer switches are known. */
static uint32_t least_step(struct spreader *spreader, uint32_t sw)
{
	const struct route_flows *flows = &spreader->flows;
	uint32_t first = flows->first[sw], n = flows->last[sw] - first;
	uint32_t at = spreader->spread->index % n;
	const uint8_t *dimension = spreader->spread->dimension;
	const uint64_t *load = spreader->load;
	uint64_t *cost = spreader->cost, least = UINT64_MAX;
	uint32_t best = FABRIC_NONE;

	for (uint32_t i = 0; i < n; i++, at = at + 1 < n ? at + 1 : 0) {
		const struct route_step *step = &flows->steps[first + at];
		uint64_t sum =
			cost[step->to] + load[step->channel] + detour(dimension, step->channel);

		if (sum < least) {
			least = sum;
			best = step->channel;
		}
	}
	cost[sw] = least;
	return best;
}

static void choose(struct spreader *spreader)
{
	const struct route_flows *flows = &spreader->flows;

	for (uint32_t i = flows->n_order; i-- > 0;)
		spreader->chosen[flows->order[i]] = least_step(spreader, flows->order[i]);
}

/* Sets what n targets like this one get from each switch itself; FABRIC_NONE: a switch gets it. */
static void set_sent(struct spreader *spreader, uint32_t target, uint32_t n)
{
	struct route_flows *flows = &spreader->flows;
	const struct route_wishes *wishes = &flows->plan->wishes;
	bool all_send =
		!wishes->senders || target == FABRIC_NONE || spreader->spread->layered->even;

	for (uint32_t sw = 0; sw < flows->graph->n; sw++)
		flows->sent[sw] = (uint64_t)n * (all_send ? route_n_hosts(flows->graph, sw)
							  : route_n_senders(wishes, sw, target));
}

/*
 * Adds the flows from hosts to a target (FABRIC_NONE: to a switch), and n - 1 targets like it, to
 * the loads of the channels chosen.
 */
static void add_flows(struct spreader *spreader, uint32_t target, uint32_t n)
{
	struct route_flows *flows = &spreader->flows;
	uint64_t *load = spreader->load;

	set_sent(spreader, target, n);
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], channel = spreader->chosen[sw];

		load[channel] += flows->sent[sw];
		flows->sent[flows->channels->to[channel]] += flows->sent[sw];
	}
}

/* Gives a LID the paths of another one of its switch. */
static void put_like(const struct spreader *spreader, uint16_t lid, uint16_t like)
{
	const struct route_columns *columns = &spreader->spread->way->columns;

	memcpy(route_column(columns, lid), route_column(columns, like), columns->n);
}

static void put(const struct spreader *spreader, uint16_t lid)
{
	for (uint32_t i = 0; i < spreader->flows.n_order; i++) {
		uint32_t sw = spreader->flows.order[i];

		route_columns_put(&spreader->spread->way->columns, sw, lid, spreader->chosen[sw]);
	}
}

/* ---- LIDs ---- */

/* The first port that leads nearer, parallel cables in turn; or the one of least load. */
static void choose_edges(struct spreader *spreader, bool by_load, uint32_t turn)
{
	const struct route_flows *flows = &spreader->flows;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], n_steps = flows->last[sw] - flows->first[sw];
		const struct route_step *steps = &flows->steps[flows->first[sw]];
		uint32_t next = steps[0].to, k = 0, n = 0;

		if (by_load)
			next = flows->channels->to[spreader->chosen[sw]];
		while (steps[k].to != next)
			k++;
		while (k + n < n_steps && steps[k + n].to == next)
			n++;
		spreader->chosen[sw] = steps[k + turn % n].channel;
	}
}

/* Whether the LIDs of a switch go together; kept ones go their own ways. */
static bool go_together(const struct spread *spread)
{
	return spread->by != SPREAD_LIDS && !spread->layered->kept;
}

/* Whether a target is spread with those of the current index; if LIDs go together, all are. */
static bool is_of_index(const struct spread *spread, const struct route_target *target)
{
	return spread->by != SPREAD_LIDS || target->offset == spread->index;
}

/* How many targets from t on use the same path as t. */
static uint32_t bundle_at(const struct spreader *spreader, uint32_t t, uint32_t last)
{
	const struct route_wishes *wishes = &spreader->flows.plan->wishes;
	const struct route_graph *graph = spreader->flows.graph;
	uint32_t n = 1;

	while (go_together(spreader->spread) && !graph->parallel && t + n < last &&
	       wishes->of[t + n].demand_class == wishes->of[t].demand_class &&
	       (!wishes->tied || wishes->partitions[t + n] == wishes->partitions[t]))
		n++;
	return n;
}

/* How many of n targets from t on are the first LID of their port. */
static uint32_t n_first(const struct route_graph *graph, uint32_t t, uint32_t n)
{
	uint32_t n_ports = 0;

	for (uint32_t i = 0; i < n; i++)
		n_ports += graph->targets[t + i].offset == 0;
	return n_ports;
}

static void spread_hosts(struct spreader *spreader, uint32_t leaf)
{
	const struct spread *spread = spreader->spread;
	const struct route_graph *graph = spreader->flows.graph;
	uint32_t first = graph->first_target[leaf], last = graph->first_target[leaf + 1], n;
	bool together = spread->by != SPREAD_LIDS, by_load = spread->by != SPREAD_PORTS;

	for (uint32_t t = first; t < last; t += n) {
		const struct route_target *target = &graph->targets[t];
		bool others;

		n = bundle_at(spreader, t, last);
		if (spread->turns[t] != spread->turn || !is_of_index(spread, target))
			continue;
		others = list_steps(spread, &spreader->flows, t) || !together || t == first;
		if (others && by_load)
			choose(spreader);
		if (together && (others || graph->parallel))
			choose_edges(spreader, by_load,
				     n_first(graph, first, t - first) + target->offset);
		put(spreader, target->lid);
		for (uint32_t i = 1; i < n; i++)
			put_like(spreader, target[i].lid, target->lid);
		add_flows(spreader, t, together ? n_first(graph, t, n) : 1);
	}
}

/* LIDs of the switch itself; if it has hosts, except by LIDs, they take the paths of these. */
static void put_own(struct spreader *spreader, uint32_t sw)
{
	const struct spread *spread = spreader->spread;
	const struct route_graph *graph = spreader->flows.graph;
	bool chosen = spread->by != SPREAD_LIDS && route_has_hosts(graph, sw);
	unsigned int n = route_n_own(graph, sw);

	if (list_steps(spread, &spreader->flows, FABRIC_NONE) || !chosen)
		choose(spreader);
	for (unsigned int i = 0; i < n; i++)
		put(spreader, graph->own_lid[sw] + i);
	if (!route_has_hosts(graph, sw) && spread->layered->input->count_switches)
		add_flows(spreader, FABRIC_NONE, 1);
}

/* The current destination: LIDs of a switch and its hosts, of those whose turn it is. */
static void spread_dest(struct spreader *spreader, uint32_t sw)
{
	spread_hosts(spreader, sw);
	if (spreader->spread->turn == spreader->spread->last_turn && !spreader->spread->index)
		put_own(spreader, sw);
}

static void spread_switch(void *arg, uint32_t sw, uint64_t *load)
{
	struct spreader *spreader = arg;

	if (!route_watch_step(spreader->spread->layered->graph->watch))
		return;
	spreader->load = load;
	turn_to(spreader, sw);
	spread_dest(spreader, sw);
}

/* ---- destinations in order ---- */

struct in_order {
	struct spreader *spreader;
	struct route_flows flows[AHEAD];
};

static void list_ahead(void *arg, uint32_t sw, uint32_t slot)
{
	struct in_order *order = arg;

	route_flows_turn_to(&order->flows[slot], sw);
	list_steps(order->spreader->spread, &order->flows[slot], FABRIC_NONE);
}

static bool spread_listed(void *arg, uint32_t sw, uint32_t slot)
{
	struct in_order *order = arg;
	struct spreader *spreader = order->spreader;

	if (!route_watch_step(spreader->flows.graph->watch))
		return false;
	spreader->flows = order->flows[slot];
	spreader->cost[sw] = 0;
	spread_dest(spreader, sw);
	return true;
}

/* Each sees the load of all before it; their steps do not depend on it, and are listed ahead. */
static void spread_in_order(struct spread *spread, struct spreader *spreader)
{
	const struct layered *layered = spread->layered;
	struct route_flows own = spreader->flows;
	struct in_order order = {.spreader = spreader};
	const struct route_pipeline work = {list_ahead, spread_listed, &order};

	for (unsigned int i = 0; i < AHEAD; i++)
		route_flows_init(&order.flows[i], &layered->plan, layered->channels, layered->hops);
	spreader->load = spread->load;
	route_pipeline_run(spread->threads, layered->graph->n, AHEAD, &work);
	spreader->flows = own;
	for (unsigned int i = 0; i < AHEAD; i++)
		route_flows_clear(&order.flows[i]);
}

/* ---- kept paths ---- */

/*
 * The channel by which a LID leads nearer in earlier tables, from the first of these that has one;
 * or none.
 */
static uint32_t kept_channel(const struct spreader *spreader, uint32_t sw, uint16_t lid)
{
	const struct layered *layered = spreader->spread->layered;

	for (unsigned int i = 0; i < KEPT_TABLES; i++) {
		uint32_t c = layered_kept_channel(layered, &layered->kept[i], sw, lid);

		if (c != FABRIC_NONE && route_flows_leads(&spreader->flows, sw, c) &&
		    route_flows_is_least(&spreader->flows, sw, c))
			return c;
	}
	return FABRIC_NONE;
}

/* Whether a LID left a switch by the same channel as the previous LID, unless it is new. */
static bool went_together(const struct layered *layered, uint32_t sw, uint16_t lid, uint16_t before)
{
	const struct route_kept *last = &layered->kept[KEPT_TABLES - 1];
	uint8_t port = route_kept_port(last, sw, lid);

	return before && (port == ROUTE_NO_PORT || port == route_kept_port(last, sw, before));
}

/*
 * Chooses for a LID: if it cannot be kept, it follows the previous LID if they went together
 * before, else the least load. Returns whether it is kept everywhere.
 */
static bool keep_or_mend(struct spreader *spreader, uint16_t lid, uint16_t before)
{
	const struct layered *layered = spreader->spread->layered;
	const struct route_flows *flows = &spreader->flows;
	bool all = true;

	for (uint32_t i = flows->n_order; i-- > 0;) {
		uint32_t sw = flows->order[i], c = kept_channel(spreader, sw, lid);

		all &= c != FABRIC_NONE;
		if (c == FABRIC_NONE && went_together(layered, sw, lid, before))
			c = route_columns_get(&spreader->spread->way->columns, sw, before);
		if (c == FABRIC_NONE || !route_flows_is_least(&spreader->flows, sw, c))
			c = least_step(spreader, sw);
		else
			spreader->cost[sw] =
				spreader->cost[layered->channels->to[c]] + spreader->load[c];
		spreader->chosen[sw] = c;
	}
	return all;
}

/* LIDs whose turn it is; those that cannot be kept come later, given the load of the rest. */
static void keep_switch(struct spreader *spreader, uint32_t sw, bool later)
{
	const struct spread *spread = spreader->spread;
	const struct route_graph *graph = spreader->flows.graph;
	uint32_t first = graph->first_target[sw], hosts = route_n_hosts(graph, sw);
	bool counts = spread->layered->input->count_switches && !hosts;
	uint16_t before = spread->index ? layered_lid(graph, sw, 0) : 0;

	turn_to(spreader, sw);
	for (uint32_t i = 0; i < layered_n_lids(graph, sw); i++) {
		uint32_t target = i < hosts ? first + i : FABRIC_NONE;
		uint16_t lid = layered_lid(graph, sw, i);

		if (i < hosts ? !is_of_index(spread, &graph->targets[target]) : spread->index)
			continue;
		list_steps(spread, &spreader->flows, target);
		if (keep_or_mend(spreader, lid, before) != later) {
			put(spreader, lid);
			if (i < hosts ? graph->targets[target].offset == spread->index : counts)
				add_flows(spreader, target, 1);
		}
		if (i < hosts)
			before = lid;
	}
}

/* ---- relief ---- */

/* Moves LIDs of a switch away from channels over the limit. */
static void relieve(struct spreader *spreader, struct route_relief *relief, uint32_t dest)
{
	const struct route_graph *graph = spreader->flows.graph;

	turn_to(spreader, dest);
	for (uint32_t t = graph->first_target[dest]; t < graph->first_target[dest + 1]; t++) {
		if (!is_of_index(spreader->spread, &graph->targets[t]))
			continue;
		set_sent(spreader, t, 1);
		list_steps(spreader->spread, &spreader->flows, t);
		route_relief_move(relief, t);
	}
}

static void relieve_all(struct spreader *spreader, uint64_t limit)
{
	const struct spread *spread = spreader->spread;
	struct route_relief relief = {
		.flows = &spreader->flows,
		.columns = &spread->way->columns,
		.load = spread->load,
		.limit = limit,
	};
	const struct route_graph *graph = spread->layered->graph;

	for (uint32_t sw = 0; sw < graph->n && !route_is_cancelled(graph->watch); sw++)
		if (route_has_hosts(graph, sw))
			relieve(spreader, &relief, sw);
}

static uint64_t mean_load(const struct spread *spread)
{
	uint32_t n = spread->layered->channels->n;
	uint64_t sum = 0;

	for (uint32_t c = 0; c < n; c++)
		sum += spread->load[c];
	return sum / MAX(n, 1);
}

static uint64_t busiest(const struct spread *spread)
{
	uint64_t most = 0;

	for (uint32_t c = 0; c < spread->layered->channels->n; c++)
		most = MAX(most, spread->load[c]);
	return most;
}

/* Lowers the load of the busiest channels step by step, as far as that is possible. */
static void make_even(struct spreader *spreader)
{
	const struct spread *spread = spreader->spread;
	uint64_t mean = mean_load(spread), even = mean + mean / EVEN, most = busiest(spread);
	uint64_t was = UINT64_MAX;

	while (most > even && most < was - was / GAIN) {
		was = most;
		relieve_all(spreader, MAX(even, most - most / STEP));
		most = busiest(spread);
	}
}

static void keep_all(struct spreader *spreader)
{
	const struct spread *spread = spreader->spread;
	const struct layered *layered = spread->layered;
	uint64_t before = layered->kept[0].routing->layered.busiest;

	spreader->load = spread->load;
	for (int later = 0; later < 2; later++)
		for (uint32_t sw = 0; sw < layered->graph->n; sw++)
			if (route_watch_step(layered->graph->watch))
				keep_switch(spreader, sw, later);
	if (layered->relieve)
		relieve_all(spreader, before + before / RENEW_RELIEVED);
}

/* ---- turns ---- */

static void set_kind(GHashTable *kinds, const uint64_t *guids, uint32_t n, enum kind kind)
{
	for (uint32_t i = 0; i < n; i++)
		g_hash_table_insert(kinds, (gpointer)&guids[i], GUINT_TO_POINTER(kind + 1));
}

static enum kind kind_of(GHashTable *kinds, const struct fabric *fabric, uint16_t lid)
{
	const uint64_t *guid = &fabric->ports[fabric_port_by_lid(fabric, lid)].guid;
	gpointer kind = g_hash_table_lookup(kinds, guid);

	return kind ? (enum kind)GPOINTER_TO_UINT(kind) - 1 : KIND_OTHER;
}

/*
 * Lists turns: LID by LID, those of a kind in the same tied partitions share one turn, which
 * balances better; LIDs that go together have one turn. Returns how many turns a kind has.
 */
static uint32_t list_turns(struct spread *spread)
{
	const struct route_input *input = spread->layered->input;
	const struct route_wishes *wishes = &spread->layered->plan.wishes;
	const struct route_graph *graph = spread->layered->graph;
	g_autoptr(GHashTable) kinds = g_hash_table_new(hash_uint64, g_int64_equal);
	g_autoptr(GHashTable) tied = g_hash_table_new(hash_uint64, g_int64_equal);
	uint32_t n = route_n_targets(graph), of_kind;

	set_kind(kinds, input->io, input->n_io, KIND_IO);
	set_kind(kinds, input->compute, input->n_compute, KIND_COMPUTE);
	for (uint32_t t = 0; wishes->tied && spread->by == SPREAD_LIDS && t < n; t++)
		if (!g_hash_table_contains(tied, &wishes->partitions[t]))
			g_hash_table_insert(tied, &wishes->partitions[t],
					    GUINT_TO_POINTER(g_hash_table_size(tied)));
	of_kind = g_hash_table_size(tied) + 1;
	spread->first_turn = g_hash_table_size(kinds) ? 0 : KIND_OTHER * of_kind;
	spread->last_turn = KINDS * of_kind - 1;
	spread->turns = g_new(uint32_t, n + 1);
	for (uint32_t t = 0; t < n; t++) {
		spread->turns[t] = spread->last_turn;
		if (spread->by == SPREAD_LIDS)
			spread->turns[t] =
				kind_of(kinds, spread->layered->fabric, graph->targets[t].lid) *
				of_kind;
		if (of_kind > 1)
			spread->turns[t] +=
				GPOINTER_TO_UINT(g_hash_table_lookup(tied, &wishes->partitions[t]));
	}
	return of_kind;
}

/* The LIDs of an index, of which there are of_kind turns for a kind, from the first turn on. */
static void spread_turns(struct spread *spread, struct spreader *spreaders, unsigned int n_threads,
			 uint32_t of_kind)
{
	const struct layered *layered = spread->layered;
	uint32_t n = layered->graph->n, n_channels = layered->channels->n;
	g_autofree uint64_t *all = g_new0(uint64_t, n_channels + 1);
	g_autofree void **threads = g_new(void *, n_threads);

	for (unsigned int i = 0; i < n_threads; i++)
		threads[i] = &spreaders[i];
	for (spread->turn = spread->first_turn; spread->turn <= spread->last_turn; spread->turn++) {
		bool is_first = spread->turn % of_kind == 0;
		bool is_other = spread->turn / of_kind == KIND_OTHER;

		for (uint32_t c = 0; is_first && c < n_channels; c++) {
			all[c] += spread->load[c];
			spread->load[c] = is_other ? all[c] : 0;
		}
		if (spread->threads > 1 && !spread->in_batches && !layered->plan.wishes.tied)
			spread_in_order(spread, spreaders);
		else
			route_batches(n, spread->in_batches ? MAX(n / BATCHES, 2) : 1, spread->load,
				      n_channels, spread_switch, threads, n_threads);
	}
}

/* ---- all ---- */

/* Finds which LIDs of a switch have the path of the previous LID from everywhere. */
static void find_repeats(const struct route_graph *graph, const struct layered_way *way)
{
	for (uint32_t t = 1; t < route_n_targets(graph); t++) {
		const struct route_target *target = &graph->targets[t];

		way->repeats[target->lid] =
			target->leaf == target[-1].leaf &&
			!memcmp(route_column(&way->columns, target->lid),
				route_column(&way->columns, target[-1].lid), graph->n);
	}
}

/* Searches for dimensions once, if a way to spread needs them. */
static void look_for_dimensions(struct layered *layered, unsigned int ways)
{
	if (layered->has_looked || !(ways >> SPREAD_DIMENSIONS & 1))
		return;
	layered->dimension = route_dimensions(layered->graph);
	layered->has_looked = true;
}

static bool is_way(const struct layered *layered, enum spread_by by)
{
	if (by == SPREAD_DIMENSIONS)
		return layered->dimension;
	return by == SPREAD_LIDS || !layered->kept;
}

/* LID by LID, except on trees: there, by index, those of a leaf take all ways up in turn. */
static bool has_batches(const struct layered *layered, enum spread_by by)
{
	g_autofree uint32_t *rank = g_new(uint32_t, layered->graph->n + 1);

	return layered->any_lanes && by == SPREAD_LIDS && !layered->kept &&
	       !route_tree_rank(&layered->plan.wishes, rank);
}

/* Where moved entries take no more lanes, unless kinds of endports are balanced by themselves. */
static bool is_relieved(const struct spread *spread)
{
	const struct layered *layered = spread->layered;

	return spread->first_turn && (layered->plan.order.up || layered->any_lanes);
}

/* The LIDs of all ports that have this index; all LIDs if those of a switch go together. */
static void spread_index(struct spread *spread, struct spreader *spreaders, unsigned int n_threads,
			 uint32_t of_kind)
{
	uint64_t *most = &spread->way->routing->layered.busiest;

	memset(spread->load, 0, spread->layered->channels->n * sizeof(*spread->load));
	if (spread->layered->kept)
		keep_all(spreaders);
	else
		spread_turns(spread, spreaders, n_threads, of_kind);
	if (is_relieved(spread))
		make_even(spreaders);
	*most = MAX(*most, busiest(spread));
	spread->way->peak = MAX(spread->way->peak,
				(double)busiest(spread) / MAX(mean_load(spread), 1));
}

/*
 * Fills the tables of a tree, and columns from these: so good old entries are put back as with
 * other engines, later. False: not a tree, or kinds of endports are to be spread by themselves, or
 * not all hosts send to all.
 */
static bool fill_tree(struct spread *spread)
{
	const struct layered *layered = spread->layered;
	struct layered_way *way = spread->way;
	const struct route_input *input = layered->input;
	g_autofree uint8_t *next = NULL, *hops = NULL;

	if (!layered->all_legal || spread->by != SPREAD_LIDS ||
	    input->n_compute || input->n_io || input->count_switches ||
	    layered->plan.wishes.senders)
		return false;
	next = g_malloc((size_t)layered->graph->n * layered->graph->n + 1);
	hops = route_hops_all(&layered->plan.order, next);
	if (!hops || !route_fill_tree(&layered->plan, hops, next, way->routing))
		return false;
	route_columns_read(&way->columns, way->routing);
	way->routing->layered.busiest = route_relief_busiest(&layered->plan, layered->hops,
							     way->routing, &way->peak);
	return true;
}

static void fill(struct spread *spread)
{
	const struct layered *layered = spread->layered;
	unsigned int n = spread->in_batches ? spread->threads : 1;
	unsigned int n_indexes = spread->by == SPREAD_LIDS ? route_n_indexes(layered->graph) : 1;
	g_autofree struct spreader *spreaders = g_new0(struct spreader, n);
	uint32_t of_kind;

	if (fill_tree(spread)) {
		find_repeats(layered->graph, spread->way);
		return;
	}
	of_kind = list_turns(spread);
	route_watch_begin(layered->graph->watch, "spreading paths",
			  (uint64_t)n_indexes * layered->graph->n *
				  (layered->kept ? 2 : spread->last_turn - spread->first_turn + 1));
	spread->load = g_new0(uint64_t, layered->channels->n + 1);
	for (unsigned int i = 0; i < n; i++) {
		spreaders[i].spread = spread;
		spreaders[i].cost = g_new0(uint64_t, layered->graph->n + 1);
		spreaders[i].chosen = g_new0(uint32_t, layered->graph->n + 1);
		route_flows_init(&spreaders[i].flows, &layered->plan, layered->channels,
				 layered->hops);
	}
	for (; spread->index < n_indexes; spread->index++)
		spread_index(spread, spreaders, n, of_kind);
	for (unsigned int i = 0; i < n; i++) {
		g_free(spreaders[i].cost);
		g_free(spreaders[i].chosen);
		route_flows_clear(&spreaders[i].flows);
	}
	g_free(spread->load);
	g_free(spread->turns);
	find_repeats(layered->graph, spread->way);
}

static void fill_some(void *arg, uint32_t first, uint32_t last)
{
	struct spread *spreads = arg;

	for (uint32_t i = first; i < last; i++)
		fill(&spreads[i]);
}

/* Several ways at once, the slowest (by LIDs) on a thread of its own; or one by all threads. */
static void spread_all(struct layered *layered, unsigned int ways)
{
	struct spread spreads[SPREAD_WAYS];
	uint32_t n = 0;

	look_for_dimensions(layered, ways);
	for (enum spread_by by = 0; by < SPREAD_WAYS; by++) {
		if (!(ways >> by & 1) || layered->ways[by].is_spread ||
		    !is_way(layered, by))
			continue;
		layered_turn_to(layered, by);
		layered->way->is_spread = true;
		spreads[n++] = (struct spread){
			.layered = layered,
			.by = by,
			.way = layered->way,
			.dimension = by == SPREAD_DIMENSIONS ? layered->dimension : NULL,
			.in_batches = has_batches(layered, by),
		};
	}
	for (uint32_t i = 0; i < n; i++)
		spreads[i].threads = MAX(layered->graph->threads / n, 1);
	route_parallel(layered->graph->threads, n, fill_some, spreads);
}

void layered_spread_ahead(struct layered *layered, unsigned int ways)
{
	if (layered->graph->threads > 1 && !layered->plan.order.up)
		spread_all(layered, ways);
}

uint64_t layered_spread(struct layered *layered, enum spread_by by)
{
	spread_all(layered, 1u << by);
	if (!layered->ways[by].is_spread)
		return UINT64_MAX;
	layered_turn_to(layered, by);
	return layered->way->routing->layered.busiest;
}

uint64_t layered_spread_leaves(struct layered *layered)
{
	uint64_t by_load, by_port;

	if (layered->kept || layered->plan.order.up)
		return layered_spread(layered, SPREAD_LIDS);
	layered_spread_ahead(layered, 1u << SPREAD_LEAVES | 1u << SPREAD_PORTS);
	by_load = layered_spread(layered, SPREAD_LEAVES);
	by_port = layered_spread(layered, SPREAD_PORTS);
	return by_port > by_load ? layered_spread(layered, SPREAD_LEAVES) : by_port;
}
