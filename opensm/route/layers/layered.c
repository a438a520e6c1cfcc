// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layers/layered.h"

#include "route/fill/shortest.h"
#include "route/fill/ties.h"
#include "route/order/hosts_shortest.h"
#include "route/order/orient.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "route/value/throttled.h"

/* How many pairs of switches have no SL because their hosts send each other nothing. */
static uint64_t count_idle(const struct layered *layered, const struct route_lanes *lanes)
{
	const struct route_graph *graph = layered->graph;
	uint64_t idle = 0;

	for (uint32_t a = 0; a < graph->n; a++)
		for (uint32_t b = a + 1; route_has_hosts(graph, a) && b < graph->n; b++)
			idle += route_has_hosts(graph, b) &&
				!route_sends(&layered->plan.wishes, a, b) &&
				route_lanes_sl(lanes, a, b) == ROUTE_NO_SL &&
				layered->hops[(size_t)a * graph->n + b] != ROUTE_FAR;
	return idle;
}

void layered_note_pairs(struct routing *routing, uint64_t excluded, uint64_t idle)
{
	if (excluded)
		routing_note(routing,
			     "%" G_GUINT64_FORMAT " pairs of switches, at least one of them with "
			     "hosts, would close credit loops on all virtual lanes: they get no "
			     "PathRecord",
			     excluded);
	if (idle)
		routing_note(routing,
			     "%" G_GUINT64_FORMAT " pairs of switches with hosts share no "
			     "partition and have no virtual lane",
			     idle);
}

void layered_note_throttled(struct routing *routing, uint32_t n, uint32_t n_stay)
{
	if (n)
		routing->promises &= ~ROUTE_SHORTEST;
	if (n || n_stay)
		routing_note(routing,
			     "of the cables between switches that run below the width or speed "
			     "of both ends, %u carry no paths, and %u do as there is no other way",
			     n, n_stay);
}

void layered_put_lanes(struct layered *layered, struct route_lanes **lanes, bool are_one,
		       uint64_t excluded)
{
	struct routing *routing = layered->way->routing;
	uint64_t idle = count_idle(layered, *lanes);

	routing->promises |= ROUTE_DEADLOCK_FREE;
	if (are_one && !excluded && !idle)
		return;
	routing->lanes = g_steal_pointer(lanes);
	layered_note_pairs(routing, excluded, idle);
}

void layered_turn_to(struct layered *layered, enum spread_by by)
{
	const struct route_engine *engine = layered->engine;
	struct layered_way *way = layered->way = &layered->ways[by];

	if (way->routing)
		return;
	way->routing = routing_new_unset(layered->fabric, engine, engine->promises);
	way->routing->max_hops = route_most_hops(&layered->plan.order, layered->hops);
	route_columns_init(&way->columns, layered->channels, layered->graph->n, way->routing->top);
	way->repeats = g_new0(bool, way->routing->top + 1);
	layered_note_throttled(way->routing, layered->n_throttled, layered->n_throttled_stay);
}

static void clear_way(struct layered_way *way)
{
	routing_unref(way->routing);
	route_columns_clear(&way->columns);
	g_free(way->repeats);
	g_free(way->trunk);
	acyclic_free(way->all);
}

/*
 * Hops of up/down paths, if these are the shortest between hosts: they close no credit loop on one
 * lane, whatever is chosen among them. If nearly all of them are, hops of these and of the shortest
 * ones elsewhere. Else those of all paths; NULL and error if some is too long.
 */
static uint8_t *find_hops(struct layered *layered, GError **error)
{
	struct route_plan *plan = &layered->plan;
	g_autofree uint64_t *keys = route_keys(layered->fabric, layered->input);
	bool wanted = layered->engine->legal_first && !layered->plain;
	/* multicast by an order takes unused cables too, of which lanes know nothing */
	bool has_lanes = layered->engine->trunk && !layered->n_throttled;
	uint8_t *hops = NULL;

	if (wanted && has_lanes)
		hops = route_tree_hops_mixed(plan, layered->fabric, keys);
	else if (wanted)
		hops = route_tree_hops_shortest(plan, layered->fabric, keys, NULL);
	layered->all_legal = hops && !plan->order.mixed;
	layered->nearly_legal = hops && plan->order.mixed;
	return hops ? hops : route_hops_or_error(&plan->order, NULL, error);
}

/* False and error if some path is too long. */
static bool init(struct layered *layered, GError **error)
{
	const struct route_input *input = layered->input;
	g_autofree bool *unused = NULL;

	if (input->avoid_throttled)
		unused = route_throttled(layered->fabric, &layered->n_throttled,
					 &layered->n_throttled_stay);
	route_plan_init_for(&layered->plan, route_graph_new_without(layered->fabric, unused));
	layered->graph = layered->plan.graph;
	layered->graph->threads = input->threads;
	layered->graph->watch = input->watch;
	route_mark_demand(&layered->plan.wishes, layered->fabric, input);
	route_mark_ties(&layered->plan.wishes, layered->fabric, input);
	layered->hops = find_hops(layered, error);
	if (!layered->hops)
		return false;
	layered->channels = route_channels_new(layered->graph, layered->fabric);
	layered->vls = route_data_vls(layered->fabric, input);
	layered_turn_to(layered, SPREAD_LIDS);
	return true;
}

static void clear(struct layered *layered)
{
	for (enum spread_by by = 0; by < SPREAD_WAYS; by++)
		clear_way(&layered->ways[by]);
	route_channels_free(layered->channels);
	route_plan_clear(&layered->plan);
	g_free(layered->hops);
	g_free(layered->dimension);
}

/* This computation, to be made again without an order and without kept tables. */
static struct layered make_plain(const struct layered *layered)
{
	return (struct layered){
		.engine = layered->engine,
		.fabric = layered->fabric,
		.input = layered->input,
		.even = layered->even,
		.plain = true,
	};
}

/* Begins again without an order; false and error if some path is too long. */
static bool turn_plain(struct layered *layered, GError **error)
{
	struct layered plain = make_plain(layered);

	plain.kept = layered->kept;
	plain.relieve = layered->relieve;
	clear(layered);
	*layered = plain;
	return init(layered, error);
}

/* Whether the paths load some channel much more than others of the same length do. */
static bool is_uneven(const struct layered *layered)
{
	struct layered plain = make_plain(layered);
	uint64_t most = UINT64_MAX;

	if (init(&plain, NULL))
		most = layered_spread(&plain, SPREAD_LIDS);
	clear(&plain);
	return renew_is_busier(layered->way->routing->layered.busiest, most, RENEW_LAYERS_BUSIER);
}

/*
 * By the order if nearly all paths follow one, unless lanes do not suffice or some channel then
 * carries much more; else in any way.
 */
static bool find_paths(struct layered *layered, GError **error)
{
	if (layered->nearly_legal) {
		if (layered->engine->route(layered, NULL) && !is_uneven(layered))
			return true;
		if (!turn_plain(layered, error))
			return false;
	}
	return layered->engine->trunk && !layered->all_legal
		       ? layered_with_trunk(layered, error)
		       : layered->engine->route(layered, error);
}

static struct routing *compute(struct layered *layered, GError **error)
{
	struct routing *routing = NULL;

	if (init(layered, error) && find_paths(layered, error)) {
		routing = routing_ref(layered->way->routing);
		if (!routing->repair_state) {
			route_columns_fill(&layered->way->columns, layered->graph, routing);
			if (!routing->layered.grown)
				route_note_ties(routing, &layered->plan, layered->hops);
		}
		routing->layered.n_channels = layered->channels->n;
		if (layered->nearly_legal)
			routing->order =
				g_memdup2(layered->plan.order.place,
					  layered->graph->n * sizeof(*routing->order));
		if (layered->all_legal) {
			routing->promises |= ROUTE_DEADLOCK_FREE;
			routing_make_repairable(routing, &layered->plan,
						g_steal_pointer(&layered->hops));
			routing->base->peak = layered->way->peak;
		}
	}
	clear(layered);
	return routing;
}

struct routing *layered_compute(const struct route_engine *engine, const struct fabric *fabric,
				const struct route_input *input, GError **error)
{
	struct layered layered = {.engine = engine, .fabric = fabric, .input = input};
	struct layered even = layered;
	struct routing *routing = compute(&layered, error);

	if (!routing && input->demand) {
		even.even = true;
		routing = compute(&even, NULL);
		if (routing)
			g_clear_error(error);
	}
	return routing;
}

struct routing *layered_compute_kept(const struct route_engine *engine, const struct fabric *fabric,
				     const struct route_input *input,
				     const struct route_kept kept[KEPT_TABLES], bool relieve)
{
	struct layered layered = {.engine = engine,
				  .fabric = fabric,
				  .input = input,
				  .kept = kept,
				  .relieve = relieve};

	return compute(&layered, NULL);
}
