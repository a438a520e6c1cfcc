// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * By LID, one destination after the other: from near to far each switch takes, of the channels that
 * lead nearer, the one from which on the sum of what the channels carry is least; then flows of all
 * hosts are added from far to near.
 *
 * Where the operator names compute and I/O nodes, what goes to these is spread first, each kind as
 * if there were nothing else.
 *
 * What is kept of tables of before stays whatever it carries, and the rest is spread around it.
 *
 * The first port that leads nearer, instead, makes paths turn alike everywhere if cabling is
 * regular (by dimension in a torus), and then few lanes are needed.
 */
#include "route/layered.h"

#include <stdatomic.h>
#include <string.h>

#include "route/batches.h"
#include "route/flows.h"
#include "route/mesh.h"
#include "route/parallel.h"
#include "route/shortest.h"

#define MUCH_MORE 8 /* so many'th part more */
#define BATCHES 64 /* if there are switches for two in each */
#define NOBODYS UINT64_MAX /* partitions; then it is the turn of switches */

enum kind { KIND_COMPUTE, KIND_IO, KIND_OTHER, KINDS };

/* One thread. */
struct spread {
	struct layered *layered;
	GHashTable *kinds; /* port GUID -> enum kind + 1 */
	enum spread_by by;
	enum kind kind;	   /* at hand */
	struct route_loads *loads; /* of the kind at hand */
	uint64_t *cost;	   /* [switch]: sum of loads on the way to the destination at hand */
	uint32_t *chosen;  /* [switch]: channel */
	uint64_t limit;	   /* LIDs are not kept on channels that carry more */
	const uint8_t *dimension; /* as of layered_dimension(); NULL: none comes first */
	uint64_t partitions; /* whose turn it is, where cables are tied to any (ties.h) */
	struct route_flows flows;
};

/* ---- a destination ---- */

/* Leaves of the steps of a switch those of the dimension that comes first. */
static void keep_dimension(struct spread *spread, uint32_t sw)
{
	struct route_flows *flows = &spread->flows;
	uint32_t n = flows->first[sw];
	uint8_t least = UINT8_MAX;

	for (uint32_t i = n; i < flows->last[sw]; i++)
		least = MIN(least, spread->dimension[flows->steps[i].channel] & ~ROUTE_DATELINE);
	for (uint32_t i = n; i < flows->last[sw]; i++)
		if ((spread->dimension[flows->steps[i].channel] & ~ROUTE_DATELINE) == least)
			flows->steps[n++] = flows->steps[i];
	flows->last[sw] = n;
}

static void turn_to(struct spread *spread, uint32_t dest)
{
	route_flows_turn_to(&spread->flows, dest);
	spread->cost[dest] = 0;
}

/* Lists the steps for a target; FABRIC_NONE: for LIDs of the switch. False if they are listed. */
static bool list_steps(struct spread *spread, uint32_t target)
{
	struct route_flows *flows = &spread->flows;

	if (!route_flows_list_steps(flows, target))
		return false;
	for (uint32_t i = 0; spread->dimension && i < flows->n_order; i++)
		keep_dimension(spread, flows->order[i]);
	return true;
}

/* Two ways half round a ring are as long: then none goes over the dateline. */
static uint64_t detour(const uint8_t *dimension, uint32_t channel)
{
	return dimension && dimension[channel] & ROUTE_DATELINE ? UINT64_C(1) << 40 : 0;
}

/* From a switch, once this is known of those that are nearer. */
static uint32_t least_step(struct spread *spread, uint32_t sw)
{
	const struct route_flows *flows = &spread->flows;
	const struct route_step *step = &flows->steps[flows->first[sw]], *best = step;
	const struct route_step *last = &flows->steps[flows->last[sw]];
	const uint8_t *dimension = spread->dimension;
	const uint64_t *load = spread->loads->load;
	uint64_t *cost = spread->cost, least = UINT64_MAX;

	for (; step < last; step++) {
		uint64_t sum = cost[step->to] + load[step->channel] +
			       detour(dimension, step->channel);

		if (sum < least) {
			least = sum;
			best = step;
		}
	}
	cost[sw] = least;
	return best->channel;
}

static void choose(struct spread *spread)
{
	const struct route_flows *flows = &spread->flows;

	for (uint32_t i = flows->n_order; i-- > 0;)
		spread->chosen[flows->order[i]] = least_step(spread, flows->order[i]);
}

/*
 * Adds what hosts send to a target (NULL: to a switch), and n - 1 like it, to the loads of the
 * channels chosen.
 */
static void add_flows(struct spread *spread, const struct route_target *target, int32_t n)
{
	struct route_flows *flows = &spread->flows;
	const struct route_graph *graph = flows->graph;
	bool all_send = !graph->senders || !target || spread->layered->even;
	struct route_change *change = route_loads_room(spread->loads, flows->n_order);
	uint64_t *load = spread->loads->load;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		flows->sent[sw] = all_send ? route_n_hosts(graph, sw)
					   : route_n_senders(graph, sw, target);
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], channel = spread->chosen[sw];

		load[channel] += (int64_t)flows->sent[sw] * n;
		*change++ = (struct route_change){channel, (int64_t)flows->sent[sw] * n};
		flows->sent[flows->channels->to[channel]] += flows->sent[sw];
	}
}

static void put(const struct spread *spread, uint16_t lid)
{
	for (uint32_t i = 0; i < spread->flows.n_order; i++) {
		uint32_t sw = spread->flows.order[i];

		route_columns_put(&spread->layered->way->columns, sw, lid, spread->chosen[sw]);
	}
}

/* ---- LIDs ---- */

static enum kind kind_of(const struct spread *spread, const struct route_target *target)
{
	const struct fabric *fabric = spread->layered->fabric;
	const uint64_t *guid = &fabric->ports[fabric_port_by_lid(fabric, target->lid)].guid;
	gpointer kind = g_hash_table_lookup(spread->kinds, guid);

	return kind ? (enum kind)GPOINTER_TO_UINT(kind) - 1 : KIND_OTHER;
}

static bool has_turn(const struct spread *spread, uint32_t target)
{
	const struct route_graph *graph = spread->layered->graph;

	return (!graph->tied || graph->partitions[target] == spread->partitions) &&
	       kind_of(spread, &graph->targets[target]) == spread->kind;
}

/* The first port that leads nearer, of cables in parallel each in turn; or that of least load. */
static void choose_edges(struct spread *spread, bool by_load, uint32_t turn)
{
	const struct route_flows *flows = &spread->flows;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], n_steps = flows->last[sw] - flows->first[sw];
		const struct route_step *steps = &flows->steps[flows->first[sw]];
		uint32_t next = steps[0].to, k = 0, n = 0;

		if (by_load)
			next = flows->channels->to[spread->chosen[sw]];
		while (steps[k].to != next)
			k++;
		while (k + n < n_steps && steps[k + n].to == next)
			n++;
		spread->chosen[sw] = steps[k + turn % n].channel;
	}
}

/* How many targets from t on go where the first of them goes. */
static uint32_t bundle_at(const struct spread *spread, uint32_t t, uint32_t last)
{
	const struct route_graph *graph = spread->layered->graph;
	const struct route_target *target = &graph->targets[t];
	uint32_t n = 1;

	while (spread->by != SPREAD_LIDS && !graph->parallel && t + n < last &&
	       target[n].demand_class == target->demand_class &&
	       (!graph->tied || graph->partitions[t + n] == graph->partitions[t]))
		n++;
	return n;
}

static void spread_hosts(struct spread *spread, uint32_t leaf)
{
	const struct route_graph *graph = spread->layered->graph;
	uint32_t first = graph->first_target[leaf], last = graph->first_target[leaf + 1], n;
	bool together = spread->by != SPREAD_LIDS, by_load = spread->by != SPREAD_PORTS;

	for (uint32_t t = first; t < last; t += n) {
		bool others;

		n = bundle_at(spread, t, last);
		if (!together && !has_turn(spread, t))
			continue;
		others = list_steps(spread, t) || !together;
		if (others && by_load)
			choose(spread);
		if (together && (others || graph->parallel))
			choose_edges(spread, by_load, t - first);
		for (uint32_t i = 0; i < n; i++)
			put(spread, graph->targets[t + i].lid);
		add_flows(spread, &graph->targets[t], n);
	}
}

/* LIDs of the switch itself; it was chosen for already if it has hosts and these go together. */
static void put_own(struct spread *spread, uint32_t sw, bool chosen)
{
	const struct layered *layered = spread->layered;
	const struct route_graph *graph = layered->graph;
	unsigned int n = route_n_own(graph, sw);

	if (list_steps(spread, FABRIC_NONE) || !chosen)
		choose(spread);
	for (unsigned int i = 0; i < n; i++)
		put(spread, graph->own_lid[sw] + i);
	if (!route_has_hosts(graph, sw) && layered->input->count_switches)
		add_flows(spread, NULL, 1);
}

/* ---- what is kept ---- */

/*
 * The channel by which a LID leads nearer in tables of before, the first of them that has one which
 * is not over the limit; or none.
 */
static uint32_t kept_channel(const struct spread *spread, uint32_t sw, uint16_t lid)
{
	const struct layered *layered = spread->layered;
	const uint8_t *far = spread->flows.far;

	for (unsigned int i = 0; i < KEPT_TABLES; i++) {
		uint32_t c = layered_kept_channel(layered, &layered->kept[i], sw, lid);

		if (c != FABRIC_NONE && far[layered->channels->to[c]] + 1u == far[sw] &&
		    spread->loads->load[c] <= spread->limit &&
		    route_flows_is_least(&spread->flows, sw, c))
			return c;
	}
	return FABRIC_NONE;
}

/* Whether a LID left a switch as the one before did, if it is not new. */
static bool went_together(const struct layered *layered, uint32_t sw, uint16_t lid, uint16_t before)
{
	const struct route_kept *last = &layered->kept[KEPT_TABLES - 1];
	uint8_t port = route_kept_port(last, sw, lid);

	return before && (port == ROUTE_NO_PORT || port == route_kept_port(last, sw, before));
}

/*
 * Chooses for a LID: where it cannot be kept it goes as the one before if they went together, or by
 * least load. Whether it is kept everywhere.
 */
static bool keep_or_mend(struct spread *spread, uint16_t lid, uint16_t before)
{
	const struct layered *layered = spread->layered;
	const struct route_flows *flows = &spread->flows;
	bool all = true;

	for (uint32_t i = flows->n_order; i-- > 0;) {
		uint32_t sw = flows->order[i], c = kept_channel(spread, sw, lid);

		all &= c != FABRIC_NONE;
		if (c == FABRIC_NONE && went_together(layered, sw, lid, before))
			c = route_columns_get(&layered->way->columns, sw, before);
		if (c == FABRIC_NONE || !route_flows_is_least(&spread->flows, sw, c))
			c = least_step(spread, sw);
		else
			spread->cost[sw] =
				spread->cost[layered->channels->to[c]] + spread->loads->load[c];
		spread->chosen[sw] = c;
	}
	return all;
}

/* LIDs whose turn it is: what cannot be kept comes later, when the load of the rest is known. */
static void keep_switch(struct spread *spread, uint32_t sw, bool later)
{
	const struct route_graph *graph = spread->layered->graph;
	uint32_t first = graph->first_target[sw], hosts = route_n_hosts(graph, sw);
	bool counts = spread->layered->input->count_switches && !hosts;
	uint16_t before = 0;

	spread->loads->n = 0;
	turn_to(spread, sw);
	for (uint32_t i = 0; i < layered_n_lids(graph, sw); i++) {
		const struct route_target *target = i < hosts ? &graph->targets[first + i] : NULL;
		uint16_t lid = layered_lid(graph, sw, i);

		list_steps(spread, target ? first + i : FABRIC_NONE);
		if (keep_or_mend(spread, lid, before) != later) {
			put(spread, lid);
			if (target || counts)
				add_flows(spread, target, 1);
		}
		if (target)
			before = lid;
	}
}

/* Whether what was taken out last passes over a channel that carries more than the limit. */
static bool was_over_limit(const struct spread *spread)
{
	const struct route_flows *flows = &spread->flows;
	bool any = false;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint64_t sent = flows->sent[flows->order[i]];
		uint32_t channel = spread->chosen[flows->order[i]];

		any |= sent && spread->loads->load[channel] + sent > spread->limit;
	}
	return any;
}

/* Moves LIDs of a switch away from channels that carry much more than any did. */
static void relieve(struct spread *spread, uint32_t dest)
{
	const struct layered *layered = spread->layered;
	const struct route_graph *graph = layered->graph;
	const struct route_flows *flows = &spread->flows;

	spread->loads->n = 0;
	turn_to(spread, dest);
	for (uint32_t t = graph->first_target[dest]; t < graph->first_target[dest + 1]; t++) {
		const struct route_target *target = &graph->targets[t];

		list_steps(spread, t);
		for (uint32_t i = 0; i < flows->n_order; i++)
			spread->chosen[flows->order[i]] = route_columns_get(
				&layered->way->columns, flows->order[i], target->lid);
		add_flows(spread, target, -1);
		if (was_over_limit(spread)) {
			keep_or_mend(spread, target->lid, 0);
			put(spread, target->lid);
		}
		add_flows(spread, target, 1);
	}
}

static void keep_all(struct spread *spread, uint64_t *load)
{
	const struct layered *layered = spread->layered;
	struct route_loads loads = {.load = load};
	uint64_t before = layered->kept[0].routing->layered.busiest;

	spread->loads = &loads;
	spread->limit = UINT64_MAX;
	for (int later = 0; later < 2; later++)
		for (uint32_t sw = 0; sw < layered->graph->n; sw++)
			keep_switch(spread, sw, later);
	spread->limit = before + before / MUCH_MORE;
	for (uint32_t sw = 0; layered->relieve && sw < layered->graph->n; sw++)
		relieve(spread, sw);
	g_free(loads.changes);
}

/* ---- all ---- */

static void add_kind(GHashTable *kinds, const uint64_t *guids, uint32_t n, enum kind kind)
{
	for (uint32_t i = 0; i < n; i++)
		g_hash_table_insert(kinds, (gpointer)&guids[i], GUINT_TO_POINTER(kind + 1));
}

/* What is for a switch and its hosts, of those whose turn it is. */
static void spread_switch(void *arg, uint32_t sw, struct route_loads *loads)
{
	struct spread *spread = arg;
	const struct route_graph *graph = spread->layered->graph;
	bool together = spread->by != SPREAD_LIDS, others = spread->kind == KIND_OTHER;

	spread->loads = loads;
	turn_to(spread, sw);
	if (!together || others)
		spread_hosts(spread, sw);
	if (others && spread->partitions == NOBODYS)
		put_own(spread, sw, together && route_has_hosts(graph, sw));
}

/* One way, by all threads that may work on it. */
struct spreading {
	struct layered layered; /* with the way at hand */
	enum spread_by by;
	bool in_batches;
	struct spread **threads;
	unsigned int n;
	uint64_t *load; /* [channel]: of the kind at hand */
	uint64_t *all;	/* [channel]: of all kinds before */
};

static void spread_turn(const struct spreading *spreading, enum kind kind, uint64_t partitions)
{
	uint32_t n = spreading->layered.graph->n;

	for (unsigned int i = 0; i < spreading->n; i++) {
		spreading->threads[i]->kind = kind;
		spreading->threads[i]->partitions = partitions;
	}
	route_batches(n, spreading->in_batches ? MAX(n / BATCHES, 2) : 1, spreading->load,
		      spreading->layered.channels->n, spread_switch,
		      (void *const *)spreading->threads, spreading->n);
}

/* LID by LID, those who are in the same tied partitions go together: that is more even. */
static void spread_kind(const struct spreading *spreading, enum kind kind)
{
	const struct route_graph *graph = spreading->layered.graph;
	g_autoptr(GHashTable) done = g_hash_table_new(g_int64_hash, g_int64_equal);
	bool by_lids = spreading->by == SPREAD_LIDS;

	for (uint32_t c = 0; c < spreading->layered.channels->n; c++) {
		spreading->all[c] += spreading->load[c];
		spreading->load[c] = kind == KIND_OTHER ? spreading->all[c] : 0;
	}
	for (uint32_t t = 0; graph->tied && by_lids && t < route_n_targets(graph); t++)
		if (g_hash_table_add(done, &graph->partitions[t]))
			spread_turn(spreading, kind, graph->partitions[t]);
	spread_turn(spreading, kind, NOBODYS);
}

static struct spread *spread_new(struct layered *layered, enum spread_by by, GHashTable *kinds)
{
	struct spread *spread = g_new0(struct spread, 1);
	uint32_t n = layered->graph->n;

	spread->layered = layered;
	spread->by = by;
	spread->kinds = kinds;
	spread->dimension = by == SPREAD_DIMENSIONS ? layered->dimension : NULL;
	spread->cost = g_new0(uint64_t, n + 1);
	spread->chosen = g_new0(uint32_t, n + 1);
	route_flows_init(&spread->flows, layered->graph, layered->channels, layered->hops);
	return spread;
}

static void spread_free(struct spread *spread)
{
	g_free(spread->cost);
	g_free(spread->chosen);
	route_flows_clear(&spread->flows);
	g_free(spread);
}

/* Looks which LIDs of a switch go as the one before them from everywhere. */
static void find_repeats(const struct layered *layered)
{
	const struct route_graph *graph = layered->graph;
	const struct layered_way *way = layered->way;

	for (uint32_t t = 1; t < route_n_targets(graph); t++) {
		const struct route_target *target = &graph->targets[t];

		way->repeats[target->lid] =
			target->leaf == target[-1].leaf &&
			!memcmp(route_column(&way->columns, target->lid),
				route_column(&way->columns, target[-1].lid), graph->n);
	}
}

bool layered_is_way(struct layered *layered, enum spread_by by)
{
	if (by == SPREAD_DIMENSIONS)
		return layered_dimension(layered);
	return by == SPREAD_LIDS || !layered->kept;
}

static void fill(struct spreading *spreading)
{
	struct layered *layered = &spreading->layered;
	const struct route_input *input = layered->input;
	g_autoptr(GHashTable) kinds = g_hash_table_new(g_int64_hash, g_int64_equal);
	uint64_t *most = &layered->way->routing->layered.busiest;

	add_kind(kinds, input->io, input->n_io, KIND_IO);
	add_kind(kinds, input->compute, input->n_compute, KIND_COMPUTE);
	spreading->load = g_new0(uint64_t, layered->channels->n + 1);
	spreading->all = g_new0(uint64_t, layered->channels->n + 1);
	spreading->threads = g_new(struct spread *, spreading->n);
	for (unsigned int i = 0; i < spreading->n; i++)
		spreading->threads[i] = spread_new(layered, spreading->by, kinds);
	if (layered->kept)
		keep_all(spreading->threads[0], spreading->load);
	for (enum kind kind = KIND_COMPUTE; !layered->kept && kind < KINDS; kind++)
		if (kind == KIND_OTHER || g_hash_table_size(kinds))
			spread_kind(spreading, kind);
	for (uint32_t c = 0; c < layered->channels->n; c++)
		*most = MAX(*most, spreading->load[c]);
	for (unsigned int i = 0; i < spreading->n; i++)
		spread_free(spreading->threads[i]);
	g_free(spreading->threads);
	g_free(spreading->load);
	g_free(spreading->all);
	find_repeats(layered);
}

/* Several ways, of which each thread takes the next: that of LIDs takes longest, and is first. */
struct filling {
	struct spreading ways[SPREAD_WAYS];
	uint32_t n;
	atomic_uint next;
};

static void fill_some(void *arg, G_GNUC_UNUSED uint32_t first, G_GNUC_UNUSED uint32_t last)
{
	struct filling *filling = arg;
	uint32_t i;

	while ((i = atomic_fetch_add(&filling->next, 1)) < filling->n)
		fill(&filling->ways[i]);
}

/* LID by LID, but not on trees: there, by index, those of a leaf take all ways up in turn. */
static bool has_batches(const struct layered *layered, enum spread_by by)
{
	g_autofree uint32_t *rank = g_new(uint32_t, layered->graph->n + 1);

	return layered->in_batches && by == SPREAD_LIDS && !layered->kept &&
	       !route_tree_rank(layered->graph, rank);
}

/* Several ways at once, or one by all threads. */
static void spread_all(struct layered *layered, unsigned int ways)
{
	unsigned int threads = MAX(layered->graph->threads, 1);
	struct filling filling = {.n = 0};

	for (enum spread_by by = 0; by < SPREAD_WAYS; by++) {
		struct spreading *spreading = &filling.ways[filling.n];

		if (!(ways >> by & 1) || layered->ways[by].is_spread)
			continue;
		layered_turn_to(layered, by);
		layered->way->is_spread = true;
		*spreading = (struct spreading){.layered = *layered, .by = by};
		spreading->in_batches = has_batches(layered, by);
		spreading->n = spreading->in_batches ? threads : 1;
		filling.n++;
	}
	atomic_init(&filling.next, 0);
	route_parallel(MIN(threads, filling.n), MIN(threads, filling.n), fill_some, &filling);
}

void layered_spread_ahead(struct layered *layered, unsigned int ways)
{
	if (layered->graph->threads <= 1)
		return;
	for (enum spread_by by = 0; by < SPREAD_WAYS; by++)
		if (ways >> by & 1 && !layered_is_way(layered, by))
			ways &= ~(1u << by);
	spread_all(layered, ways);
}

uint64_t layered_spread(struct layered *layered, enum spread_by by)
{
	spread_all(layered, 1u << by);
	layered_turn_to(layered, by);
	return layered->way->routing->layered.busiest;
}

uint64_t layered_spread_leaves(struct layered *layered)
{
	uint64_t by_load, by_port;

	layered_spread_ahead(layered, 1u << SPREAD_LEAVES | 1u << SPREAD_PORTS);
	by_load = layered_spread(layered, SPREAD_LEAVES);
	if (layered->kept)
		return by_load;
	by_port = layered_spread(layered, SPREAD_PORTS);
	return by_port > by_load ? layered_spread(layered, SPREAD_LEAVES) : by_port;
}
