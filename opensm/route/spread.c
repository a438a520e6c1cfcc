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
#include "route/spread.h"

#include <string.h>

#include "route/flows.h"
#include "route/mesh.h"

#define MUCH_MORE 8 /* so many'th part more */
#define NOBODYS UINT64_MAX /* partitions; then it is the turn of switches */

enum kind { KIND_COMPUTE, KIND_IO, KIND_OTHER, KINDS };

struct spread {
	struct layered *layered;
	GHashTable *kinds; /* port GUID -> enum kind + 1 */
	uint64_t *load;	   /* [channel]: of the kind at hand */
	uint64_t *all;	   /* [channel]: of all kinds */
	uint64_t *cost;	   /* [switch]: sum of loads on the way to the destination at hand */
	uint32_t *chosen;  /* [switch]: channel */
	uint64_t limit;	   /* LIDs are not kept on channels that carry more */
	const uint8_t *dimension; /* as of layered_dimension(); NULL: none comes first */
	uint64_t partitions; /* whose turn it is, where cables are tied to any (ties.h) */
	struct route_flows flows;
};

/* ---- a destination ---- */

/* The dimension that comes first of those that lead nearer. */
static uint8_t first_dimension(const struct spread *spread, uint32_t sw)
{
	const struct route_flows *flows = &spread->flows;
	uint8_t least = UINT8_MAX;

	for (uint32_t i = flows->first[sw]; i < flows->last[sw]; i++)
		least = MIN(least, spread->dimension[flows->steps[i].channel] & ~ROUTE_DATELINE);
	return least;
}

/* Leaves of the steps of a switch those of its first dimension. */
static void keep_dimension(struct spread *spread, uint32_t sw)
{
	struct route_flows *flows = &spread->flows;
	const uint8_t *dimension = spread->dimension;
	uint8_t d = first_dimension(spread, sw);
	uint32_t n = flows->first[sw];

	for (uint32_t i = n; i < flows->last[sw]; i++)
		if ((dimension[flows->steps[i].channel] & ~ROUTE_DATELINE) == d)
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
	const uint64_t *load = spread->load;
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

/* Sets what switches send to a target, by the channels chosen; NULL: to a switch. */
static void send(struct spread *spread, const struct route_target *target)
{
	struct route_flows *flows = &spread->flows;
	const struct route_graph *graph = flows->graph;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];

		flows->sent[sw] = target && !spread->layered->even
					  ? route_n_senders(graph, sw, target)
					  : route_n_hosts(graph, sw);
	}
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];

		flows->sent[flows->channels->to[spread->chosen[sw]]] += flows->sent[sw];
	}
}

/* Adds that to the loads of channels, or takes it out. */
static void load(struct spread *spread, bool in)
{
	const struct route_flows *flows = &spread->flows;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];

		spread->load[spread->chosen[sw]] += in ? flows->sent[sw] : -flows->sent[sw];
	}
}

static void add_flows(struct spread *spread, const struct route_target *target)
{
	send(spread, target);
	load(spread, true);
}

static void put(const struct spread *spread, uint16_t lid)
{
	for (uint32_t i = 0; i < spread->flows.n_order; i++) {
		uint32_t sw = spread->flows.order[i];

		layered_put(spread->layered, sw, lid, spread->chosen[sw]);
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

	return !graph->tied || graph->partitions[target] == spread->partitions;
}

static void spread_targets(struct spread *spread, uint32_t leaf, enum kind kind)
{
	const struct route_graph *graph = spread->layered->graph;

	for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1]; t++) {
		const struct route_target *target = &graph->targets[t];

		if (!has_turn(spread, t) || kind_of(spread, target) != kind)
			continue;
		list_steps(spread, t);
		choose(spread);
		put(spread, target->lid);
		add_flows(spread, target);
	}
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

static void spread_leaf(struct spread *spread, uint32_t leaf, bool by_load)
{
	const struct route_graph *graph = spread->layered->graph;
	uint32_t first = graph->first_target[leaf], last = graph->first_target[leaf + 1];

	for (uint32_t t = first; t < last; t++) {
		bool others = list_steps(spread, t);

		if (others && by_load)
			choose(spread);
		if (others || graph->parallel)
			choose_edges(spread, by_load, t - first);
		put(spread, graph->targets[t].lid);
		add_flows(spread, &graph->targets[t]);
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
		add_flows(spread, NULL);
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
		    spread->load[c] <= spread->limit && route_flows_is_least(&spread->flows, sw, c))
			return c;
	}
	return FABRIC_NONE;
}

/* Whether a LID can be kept from all switches. */
static bool keep(struct spread *spread, uint16_t lid)
{
	const struct route_flows *flows = &spread->flows;
	bool all = true;

	for (uint32_t i = 0; all && i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];

		spread->chosen[sw] = kept_channel(spread, sw, lid);
		all = spread->chosen[sw] != FABRIC_NONE;
	}
	return all;
}

/* Whether a LID left a switch as the one before did, if it is not new. */
static bool went_together(const struct layered *layered, uint32_t sw, uint16_t lid, uint16_t before)
{
	const struct route_kept *last = &layered->kept[KEPT_TABLES - 1];
	uint8_t port = route_kept_port(last, sw, lid);

	return before && (port == ROUTE_NO_PORT || port == route_kept_port(last, sw, before));
}

/* Where a LID cannot be kept it goes as the one before if they went together, or by least load. */
static void mend(struct spread *spread, uint16_t lid, uint16_t before)
{
	const struct layered *layered = spread->layered;
	const struct route_flows *flows = &spread->flows;

	for (uint32_t i = flows->n_order; i-- > 0;) {
		uint32_t sw = flows->order[i], c = kept_channel(spread, sw, lid);

		if (c == FABRIC_NONE && went_together(layered, sw, lid, before))
			c = layered_channel(layered, sw, before);
		if (c == FABRIC_NONE || !route_flows_is_least(&spread->flows, sw, c))
			c = least_step(spread, sw);
		else
			spread->cost[sw] =
				spread->cost[layered->channels->to[c]] + spread->load[c];
		spread->chosen[sw] = c;
	}
}

/*
 * Chooses for a LID of the switch at hand if its turn is now: what cannot be kept comes later, when
 * the load of the rest is known.
 */
static bool keep_or_mend(struct spread *spread, uint16_t lid, uint16_t before, bool later)
{
	if (keep(spread, lid) == later)
		return false;
	if (later)
		mend(spread, lid, before);
	return true;
}

static void keep_switch(struct spread *spread, uint32_t sw, bool later)
{
	const struct route_graph *graph = spread->layered->graph;
	bool counts = spread->layered->input->count_switches && !route_has_hosts(graph, sw);
	uint16_t before = 0;

	turn_to(spread, sw);
	for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++) {
		const struct route_target *target = &graph->targets[t];

		list_steps(spread, t);
		if (keep_or_mend(spread, target->lid, before, later)) {
			put(spread, target->lid);
			add_flows(spread, target);
		}
		before = target->lid;
	}
	list_steps(spread, FABRIC_NONE);
	for (unsigned int i = 0; i < route_n_own(graph, sw); i++) {
		if (!keep_or_mend(spread, graph->own_lid[sw] + i, before, later))
			continue;
		put(spread, graph->own_lid[sw] + i);
		if (counts)
			add_flows(spread, NULL);
	}
}

/* Whether what is sent at the moment passes over a channel that carries more than the limit. */
static bool is_over_limit(const struct spread *spread)
{
	const struct route_flows *flows = &spread->flows;
	bool any = false;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];

		any |= flows->sent[sw] && spread->load[spread->chosen[sw]] > spread->limit;
	}
	return any;
}

/* Moves LIDs of a switch away from channels that carry much more than any did. */
static void relieve(struct spread *spread, uint32_t dest)
{
	const struct layered *layered = spread->layered;
	const struct route_graph *graph = layered->graph;
	const struct route_flows *flows = &spread->flows;

	turn_to(spread, dest);
	for (uint32_t t = graph->first_target[dest]; t < graph->first_target[dest + 1]; t++) {
		const struct route_target *target = &graph->targets[t];

		list_steps(spread, t);
		for (uint32_t i = 0; i < flows->n_order; i++) {
			uint32_t sw = flows->order[i];

			spread->chosen[sw] = layered_channel(layered, sw, target->lid);
		}
		send(spread, target);
		if (!is_over_limit(spread))
			continue;
		load(spread, false);
		mend(spread, target->lid, 0);
		put(spread, target->lid);
		add_flows(spread, target);
	}
}

static void keep_all(struct spread *spread)
{
	const struct layered *layered = spread->layered;
	uint64_t before = layered->kept[0].routing->layered.busiest;

	spread->limit = UINT64_MAX;
	for (int later = 0; later < 2; later++)
		for (uint32_t sw = 0; sw < layered->graph->n; sw++)
			keep_switch(spread, sw, later);
	spread->limit = before + before / MUCH_MORE;
	for (uint32_t sw = 0; layered->relieve && sw < layered->graph->n; sw++)
		relieve(spread, sw);
}

/* ---- all ---- */

static void add_kind(struct spread *spread, const uint64_t *guids, uint32_t n, enum kind kind)
{
	for (uint32_t i = 0; i < n; i++)
		g_hash_table_insert(spread->kinds, (gpointer)&guids[i], GUINT_TO_POINTER(kind + 1));
}

static void begin_kind(struct spread *spread, enum kind kind)
{
	for (uint32_t c = 0; c < spread->layered->channels->n; c++) {
		spread->all[c] += spread->load[c];
		spread->load[c] = kind == KIND_OTHER ? spread->all[c] : 0;
	}
}

static void spread_turn(struct spread *spread, enum kind kind, enum spread_by by, bool last)
{
	const struct route_graph *graph = spread->layered->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		turn_to(spread, sw);
		if (by != SPREAD_LIDS && kind == KIND_OTHER)
			spread_leaf(spread, sw, by != SPREAD_PORTS);
		else if (by == SPREAD_LIDS)
			spread_targets(spread, sw, kind);
		if (kind == KIND_OTHER && last)
			put_own(spread, sw, by != SPREAD_LIDS && route_has_hosts(graph, sw));
	}
}

/* LID by LID, those who are in the same tied partitions go together: that is more even. */
static void spread_kind(struct spread *spread, enum kind kind, enum spread_by by)
{
	const struct route_graph *graph = spread->layered->graph;
	g_autoptr(GHashTable) done = g_hash_table_new(g_int64_hash, g_int64_equal);

	begin_kind(spread, kind);
	for (uint32_t t = 0; graph->tied && by == SPREAD_LIDS && t < route_n_targets(graph); t++) {
		if (!g_hash_table_add(done, &graph->partitions[t]))
			continue;
		spread->partitions = graph->partitions[t];
		spread_turn(spread, kind, by, false);
	}
	spread->partitions = NOBODYS;
	spread_turn(spread, kind, by, true);
}

static void spread_init(struct spread *spread, struct layered *layered, enum spread_by by)
{
	const struct route_input *input = layered->input;
	uint32_t n = layered->graph->n, n_channels = layered->channels->n;

	*spread = (struct spread){.layered = layered};
	spread->dimension = by == SPREAD_DIMENSIONS ? layered_dimension(layered) : NULL;
	spread->kinds = g_hash_table_new(g_int64_hash, g_int64_equal);
	add_kind(spread, input->io, input->n_io, KIND_IO);
	add_kind(spread, input->compute, input->n_compute, KIND_COMPUTE);
	spread->load = g_new0(uint64_t, n_channels + 1);
	spread->all = g_new0(uint64_t, n_channels + 1);
	spread->cost = g_new0(uint64_t, n + 1);
	spread->chosen = g_new0(uint32_t, n + 1);
	route_flows_init(&spread->flows, layered->graph, layered->hops);
}

static void spread_clear(struct spread *spread)
{
	g_hash_table_unref(spread->kinds);
	g_free(spread->load);
	g_free(spread->all);
	g_free(spread->cost);
	g_free(spread->chosen);
	route_flows_clear(&spread->flows);
}

/* Looks which LIDs of a switch go as the one before them from everywhere. */
static void find_repeats(const struct layered *layered)
{
	const struct route_graph *graph = layered->graph;
	const struct layered_way *way = layered->way;
	size_t n = graph->n;

	for (uint32_t t = 1; t < route_n_targets(graph); t++) {
		const struct route_target *target = &graph->targets[t];

		way->repeats[target->lid] =
			target->leaf == target[-1].leaf &&
			!memcmp(way->next + target->lid * n, way->next + target[-1].lid * n, n);
	}
}

bool layered_is_way(struct layered *layered, enum spread_by by)
{
	if (by == SPREAD_DIMENSIONS)
		return layered_dimension(layered);
	return by == SPREAD_LIDS || !layered->kept;
}

static void fill(struct layered *layered, enum spread_by by)
{
	struct spread spread;
	uint64_t *most = &layered->way->routing->layered.busiest;

	spread_init(&spread, layered, by);
	if (layered->kept)
		keep_all(&spread);
	for (enum kind kind = KIND_COMPUTE; !layered->kept && kind < KINDS; kind++)
		if (kind == KIND_OTHER || g_hash_table_size(spread.kinds))
			spread_kind(&spread, kind, by);
	for (uint32_t c = 0; c < layered->channels->n; c++)
		*most = MAX(*most, spread.load[c]);
	spread_clear(&spread);
	find_repeats(layered);
}

uint64_t layered_spread(struct layered *layered, enum spread_by by)
{
	layered_turn_to(layered, by);
	if (!layered->way->is_spread)
		fill(layered, by);
	layered->way->is_spread = true;
	return layered->way->routing->layered.busiest;
}

uint64_t layered_spread_leaves(struct layered *layered)
{
	uint64_t by_load = layered_spread(layered, SPREAD_LEAVES), by_port;

	if (layered->kept)
		return by_load;
	by_port = layered_spread(layered, SPREAD_PORTS);
	return by_port > by_load ? layered_spread(layered, SPREAD_LEAVES) : by_port;
}
