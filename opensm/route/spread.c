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
	uint64_t *sent;	   /* [switch] */
	uint32_t *chosen;  /* [switch]: channel */
	uint8_t *far;	   /* [switch]: hops to it */
	uint32_t *order;   /* switches that reach it, from the nearest; it is not among them */
	uint32_t n_order;
	uint32_t *first, *ways; /* [order]: channels that lead nearer; one more */
};

/* ---- a destination ---- */

/* The dimension that comes first of those that lead nearer; all are one if there are none. */
static uint8_t first_dimension(const struct spread *spread, uint32_t sw)
{
	const struct layered *layered = spread->layered;
	const struct route_channels *channels = layered->channels;
	uint8_t least = UINT8_MAX;

	for (uint32_t c = channels->first[sw]; layered->dimension && c < channels->first[sw + 1];
	     c++)
		if (spread->far[channels->to[c]] + 1u == spread->far[sw])
			least = MIN(least, layered->dimension[c] & ~ROUTE_DATELINE);
	return least;
}

static void list_ways(struct spread *spread)
{
	const struct layered *layered = spread->layered;
	const struct route_channels *channels = layered->channels;
	uint32_t n = 0;

	for (uint32_t i = 0; i < spread->n_order; i++) {
		uint32_t sw = spread->order[i];
		uint8_t d = first_dimension(spread, sw);

		spread->first[i] = n;
		for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++)
			if (spread->far[channels->to[c]] + 1u == spread->far[sw] &&
			    (!layered->dimension || (layered->dimension[c] & ~ROUTE_DATELINE) == d))
				spread->ways[n++] = c;
	}
	spread->first[spread->n_order] = n;
}

/* Two ways half round a ring are as long: then none goes over the dateline. */
static uint64_t detour(const struct layered *layered, uint32_t channel)
{
	bool over = layered->dimension && layered->dimension[channel] & ROUTE_DATELINE;

	return over ? UINT64_C(1) << 40 : 0;
}

static void turn_to(struct spread *spread, uint32_t dest)
{
	const struct layered *layered = spread->layered;
	uint32_t n = layered->graph->n, start[256 + 1] = {0};

	for (uint32_t sw = 0; sw < n; sw++) {
		spread->far[sw] = layered->hops[(size_t)sw * n + dest];
		start[spread->far[sw] + 1]++;
	}
	for (unsigned int i = 1; i <= 256; i++)
		start[i] += start[i - 1];
	spread->n_order = start[ROUTE_FAR] - 1;
	for (uint32_t sw = 0; sw < n; sw++)
		if (spread->far[sw] && spread->far[sw] != ROUTE_FAR)
			spread->order[start[spread->far[sw]]++ - 1] = sw;
	list_ways(spread);
	spread->cost[dest] = 0;
}

static void choose(struct spread *spread)
{
	const uint32_t *to = spread->layered->channels->to;

	for (uint32_t i = 0; i < spread->n_order; i++) {
		uint64_t least = UINT64_MAX;
		uint32_t best = 0;

		for (uint32_t w = spread->first[i]; w < spread->first[i + 1]; w++) {
			uint32_t c = spread->ways[w];
			uint64_t cost =
				spread->cost[to[c]] + spread->load[c] + detour(spread->layered, c);

			if (cost < least) {
				least = cost;
				best = c;
			}
		}
		spread->cost[spread->order[i]] = least;
		spread->chosen[spread->order[i]] = best;
	}
}

/* To a target; NULL: to a switch. */
static void add_flows(struct spread *spread, const struct route_target *target)
{
	const struct layered *layered = spread->layered;
	const struct route_graph *graph = layered->graph;

	for (uint32_t i = 0; i < spread->n_order; i++) {
		uint32_t sw = spread->order[i];

		spread->sent[sw] = target && !layered->even
					   ? route_n_senders(graph, sw, target)
					   : route_n_hosts(graph, sw);
	}
	for (uint32_t i = spread->n_order; i-- > 0;) {
		uint32_t sw = spread->order[i], c = spread->chosen[sw];

		spread->load[c] += spread->sent[sw];
		spread->sent[layered->channels->to[c]] += spread->sent[sw];
	}
}

static void put(const struct spread *spread, uint32_t dest, uint16_t lid, uint8_t exit)
{
	const struct layered *layered = spread->layered;

	for (uint32_t i = 0; i < spread->n_order; i++) {
		uint32_t sw = spread->order[i];

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
	const uint32_t *to = spread->layered->channels->to;

	if (by_load && !turn)
		choose(spread);
	for (uint32_t i = 0; i < spread->n_order; i++) {
		const uint32_t *ways = spread->ways + spread->first[i];
		uint32_t sw = spread->order[i], n_ways = spread->first[i + 1] - spread->first[i];
		uint32_t next = to[by_load ? spread->chosen[sw] : ways[0]], k = 0, n = 0;

		while (to[ways[k]] != next)
			k++;
		while (k + n < n_ways && to[ways[k + n]] == next)
			n++;
		spread->chosen[sw] = ways[k + turn % n];
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
	unsigned int n = graph->own_lid[sw] ? 1u << graph->own_lmc[sw] : 0;

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
	spread->sent = g_new0(uint64_t, n + 1);
	spread->chosen = g_new0(uint32_t, n + 1);
	spread->far = g_new0(uint8_t, n + 1);
	spread->order = g_new0(uint32_t, n + 1);
	spread->first = g_new0(uint32_t, n + 1);
	spread->ways = g_new(uint32_t, n_channels + 1);
}

static void spread_clear(struct spread *spread)
{
	g_hash_table_unref(spread->kinds);
	g_free(spread->load);
	g_free(spread->all);
	g_free(spread->cost);
	g_free(spread->sent);
	g_free(spread->chosen);
	g_free(spread->far);
	g_free(spread->order);
	g_free(spread->first);
	g_free(spread->ways);
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
		unsigned int n_own = route_is_source(graph, from) && graph->own_lid[to]
					     ? 1u << graph->own_lmc[to]
					     : 0;

		for (uint32_t t = graph->first_target[to]; t < graph->first_target[to + 1]; t++)
			call(arg, path, list_path(layered, from, to, graph->targets[t].lid, path));
		for (unsigned int i = 0; i < n_own; i++)
			call(arg, path, list_path(layered, from, to, graph->own_lid[to] + i, path));
	}
}
