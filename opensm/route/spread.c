// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * By LID, one destination after the other: from near to far each switch takes, of the channels that
 * lead nearer, the one from which on the sum of what the channels carry is least; then flows of all
 * hosts are added from far to near.
 *
 * Where the operator names compute and I/O nodes, what goes to these is spread first, each kind as
 * if there were nothing else.
 *
 * The first port that leads nearer, instead, makes paths turn alike everywhere if cabling is
 * regular (by dimension in a torus), and then few lanes are needed.
 */
#include "route/spread.h"

#include <string.h>

#include "route/flows.h"
#include "route/mesh.h"
#include "route/shortest.h"
#include "route/throttled.h"

enum kind { KIND_COMPUTE, KIND_IO, KIND_OTHER, KINDS };

struct spread {
	struct layered *layered;
	GHashTable *kinds; /* port GUID -> enum kind + 1 */
	uint64_t *load;	   /* [channel]: of the kind at hand */
	uint64_t *all;	   /* [channel]: of all kinds */
	uint64_t *cost;	   /* [switch]: sum of loads on the way to the destination at hand */
	uint32_t *chosen;  /* [switch]: channel */
	struct route_flows flows;
};

/* ---- a destination ---- */

/* The dimension that comes first of those that lead nearer. */
static uint8_t first_dimension(const struct spread *spread, uint32_t sw)
{
	const struct route_flows *flows = &spread->flows;
	uint8_t least = UINT8_MAX;

	for (uint32_t i = flows->first[sw]; i < flows->last[sw]; i++)
		least = MIN(least, spread->layered->dimension[flows->steps[i].channel] &
					   ~ROUTE_DATELINE);
	return least;
}

/* Leaves of the steps of a switch those of its first dimension. */
static void keep_dimension(struct spread *spread, uint32_t sw)
{
	struct route_flows *flows = &spread->flows;
	const uint8_t *dimension = spread->layered->dimension;
	uint8_t d = first_dimension(spread, sw);
	uint32_t n = flows->first[sw];

	for (uint32_t i = n; i < flows->last[sw]; i++)
		if ((dimension[flows->steps[i].channel] & ~ROUTE_DATELINE) == d)
			flows->steps[n++] = flows->steps[i];
	flows->last[sw] = n;
}

static void turn_to(struct spread *spread, uint32_t dest)
{
	struct route_flows *flows = &spread->flows;

	route_flows_turn_to(flows, dest);
	route_flows_list_steps(flows);
	for (uint32_t i = 0; spread->layered->dimension && i < flows->n_order; i++)
		keep_dimension(spread, flows->order[i]);
	spread->cost[dest] = 0;
}

/* Two ways half round a ring are as long: then none goes over the dateline. */
static uint64_t detour(const uint8_t *dimension, uint32_t channel)
{
	return dimension && dimension[channel] & ROUTE_DATELINE ? UINT64_C(1) << 40 : 0;
}

static void choose(struct spread *spread)
{
	const struct route_flows *flows = &spread->flows;
	const uint8_t *dimension = spread->layered->dimension;
	uint64_t *cost = spread->cost;
	const uint64_t *load = spread->load;

	for (uint32_t i = flows->n_order; i-- > 0;) {
		uint32_t sw = flows->order[i];
		const struct route_step *step = &flows->steps[flows->first[sw]], *best = step;
		const struct route_step *last = &flows->steps[flows->last[sw]];
		uint64_t least = UINT64_MAX;

		for (; step < last; step++) {
			uint64_t sum = cost[step->to] + load[step->channel] +
				       detour(dimension, step->channel);

			if (sum < least) {
				least = sum;
				best = step;
			}
		}
		cost[sw] = least;
		spread->chosen[sw] = best->channel;
	}
}

/* To a target; NULL: to a switch. */
static void add_flows(struct spread *spread, const struct route_target *target)
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
		uint32_t c = spread->chosen[sw];

		spread->load[c] += flows->sent[sw];
		flows->sent[flows->channels->to[c]] += flows->sent[sw];
	}
}

static void put(const struct spread *spread, uint32_t dest, uint16_t lid, uint8_t exit)
{
	const struct layered *layered = spread->layered;

	for (uint32_t i = 0; i < spread->flows.n_order; i++) {
		uint32_t sw = spread->flows.order[i];

		layered->routing->lft[sw][lid] = layered->graph->links[spread->chosen[sw]];
	}
	layered->routing->lft[dest][lid] = exit;
}

/* ---- LIDs ---- */

static enum kind kind_of(const struct spread *spread, const struct route_target *target)
{
	const struct fabric *fabric = spread->layered->fabric;
	const uint64_t *guid = &fabric->ports[fabric_port_by_lid(fabric, target->lid)].guid;
	gpointer kind = g_hash_table_lookup(spread->kinds, guid);

	return kind ? (enum kind)GPOINTER_TO_UINT(kind) - 1 : KIND_OTHER;
}

static void spread_targets(struct spread *spread, uint32_t leaf, enum kind kind)
{
	const struct route_graph *graph = spread->layered->graph;

	for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1]; t++) {
		const struct route_target *target = &graph->targets[t];

		if (kind_of(spread, target) != kind)
			continue;
		choose(spread);
		put(spread, leaf, target->lid, target->exit);
		add_flows(spread, target);
	}
}

/* The first port that leads nearer, of cables in parallel each in turn; or that of least load. */
static void choose_edges(struct spread *spread, bool by_load, uint32_t turn)
{
	const struct route_flows *flows = &spread->flows;

	if (by_load && !turn)
		choose(spread);
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
		if (t == first || graph->parallel)
			choose_edges(spread, by_load, t - first);
		put(spread, leaf, graph->targets[t].lid, graph->targets[t].exit);
		add_flows(spread, &graph->targets[t]);
	}
}

/* LIDs of the switch itself; it was chosen for already if it has hosts and these go together. */
static void put_own(struct spread *spread, uint32_t sw, bool chosen)
{
	const struct layered *layered = spread->layered;
	const struct route_graph *graph = layered->graph;
	unsigned int n = route_n_own(graph, sw);

	if (!chosen)
		choose(spread);
	for (unsigned int i = 0; i < n; i++)
		put(spread, sw, graph->own_lid[sw] + i, 0);
	if (!route_has_hosts(graph, sw) && layered->input->count_switches)
		add_flows(spread, NULL);
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

static void spread_kind(struct spread *spread, enum kind kind, enum spread_by by)
{
	const struct route_graph *graph = spread->layered->graph;

	begin_kind(spread, kind);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		turn_to(spread, sw);
		if (by != SPREAD_LIDS && kind == KIND_OTHER)
			spread_leaf(spread, sw, by == SPREAD_LEAVES);
		else if (by == SPREAD_LIDS)
			spread_targets(spread, sw, kind);
		if (kind == KIND_OTHER)
			put_own(spread, sw, by != SPREAD_LIDS && route_has_hosts(graph, sw));
	}
}

static void spread_init(struct spread *spread, struct layered *layered)
{
	const struct route_input *input = layered->input;
	uint32_t n = layered->graph->n, n_channels = layered->channels->n;

	*spread = (struct spread){.layered = layered};
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

uint64_t layered_spread(struct layered *layered, enum spread_by by)
{
	struct spread spread;
	uint64_t most = 0;

	spread_init(&spread, layered);
	for (enum kind kind = KIND_COMPUTE; kind < KINDS; kind++)
		if (kind == KIND_OTHER || g_hash_table_size(spread.kinds))
			spread_kind(&spread, kind, by);
	for (uint32_t c = 0; c < layered->channels->n; c++)
		most = MAX(most, spread.load[c]);
	spread_clear(&spread);
	return most;
}

uint64_t layered_spread_leaves(struct layered *layered)
{
	uint64_t by_load = layered_spread(layered, SPREAD_LEAVES),
		 by_port = layered_spread(layered, SPREAD_PORTS);

	return by_port > by_load ? layered_spread(layered, SPREAD_LEAVES) : by_port;
}

void layered_note(struct layered *layered, const char *format, ...)
{
	g_autofree char *before = layered->routing->note, *note = NULL;
	va_list args;

	va_start(args, format);
	note = g_strdup_vprintf(format, args);
	va_end(args);
	layered->routing->note =
		before ? g_strdup_printf("%s; %s", before, note) : g_steal_pointer(&note);
}

void layered_note_idle(struct layered *layered, uint64_t n)
{
	if (n)
		layered_note(layered,
			     "%" G_GUINT64_FORMAT " pairs of switches with hosts send each other "
			     "nothing by partitions and have no virtual lane",
			     n);
}

/* Paths may be longer than they could be if cables are not used. */
static void note_throttled(struct layered *layered, uint32_t n, uint32_t n_stay)
{
	if (n)
		layered->routing->promises &= ~ROUTE_SHORTEST;
	if (n || n_stay)
		layered_note(layered,
			     "of cables between switches below the width or speed that both ends "
			     "support, %u carry no paths, and %u do, for there is no other way",
			     n, n_stay);
}

/* False and error if some path is too long. */
static bool init(struct layered *layered, const struct route_engine *engine, GError **error)
{
	const struct route_input *input = layered->input;
	g_autofree bool *unused = NULL;
	uint32_t n = 0, n_stay = 0;

	if (input->avoid_throttled)
		unused = route_throttled(layered->fabric, &n, &n_stay);
	layered->graph = route_graph_new_without(layered->fabric, unused);
	layered->graph->threads = input->threads;
	route_mark_demand(layered->graph, layered->fabric, input);
	layered->hops = route_hops_or_error(layered->graph, NULL, error);
	if (!layered->hops)
		return false;
	layered->channels = route_channels_new(layered->graph, layered->fabric);
	layered->routing = routing_new(layered->fabric, engine->name, engine->promises);
	layered->routing->max_hops = route_most_hops(layered->graph, layered->hops);
	note_throttled(layered, n, n_stay);
	return true;
}

static struct routing *compute(const struct route_engine *engine, struct layered *layered,
			       layered_route_fn *route, GError **error)
{
	if (!init(layered, engine, error) || !route(layered, error))
		g_clear_pointer(&layered->routing, routing_unref);
	route_channels_free(layered->channels);
	route_graph_free(layered->graph);
	g_free(layered->hops);
	g_free(layered->dimension);
	g_free(layered->trunk);
	return layered->routing;
}

struct routing *layered_compute(const struct route_engine *engine, const struct fabric *fabric,
				const struct route_input *input, layered_route_fn *route,
				GError **error)
{
	struct layered layered = {.fabric = fabric, .input = input};
	struct layered even = {.fabric = fabric, .input = input, .even = true};
	struct routing *routing = compute(engine, &layered, route, error);

	if (!routing && input->demand) {
		routing = compute(engine, &even, route, NULL);
		if (routing)
			g_clear_error(error);
	}
	return routing;
}

/* The channels from a switch to another for a LID; none if the tables have no way. */
static uint32_t list_path(const struct layered *layered, uint32_t sw, uint32_t to, uint16_t lid,
			  uint32_t *path)
{
	uint32_t n = 0;

	while (sw != to && n < layered->graph->n) {
		path[n] = route_channel(layered->channels, sw, layered->routing->lft[sw][lid]);
		if (path[n] == FABRIC_NONE)
			return 0;
		sw = layered->channels->to[path[n++]];
	}
	return n;
}

void layered_each_path(const struct layered *layered, uint32_t a, uint32_t b, layered_path_fn *call,
		       void *arg)
{
	const struct route_graph *graph = layered->graph;
	g_autofree uint32_t *path = g_new(uint32_t, graph->n + 1);

	for (unsigned int way = 0; way < 2; way++) {
		uint32_t from = way ? b : a, to = way ? a : b;
		unsigned int n_own = route_is_source(graph, from) ? route_n_own(graph, to) : 0;

		for (uint32_t t = graph->first_target[to]; t < graph->first_target[to + 1]; t++)
			call(arg, path, list_path(layered, from, to, graph->targets[t].lid, path));
		for (unsigned int i = 0; i < n_own; i++)
			call(arg, path, list_path(layered, from, to, graph->own_lid[to] + i, path));
	}
}
