// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine nue: free of credit loops on any number of lanes, one included, in any network.
 *
 * Up/down tables (updn.c) are one candidate. Where these are shortest between hosts, as in trees,
 * whole or damaged, nothing else is tried, except for shortest paths that load the busiest channel
 * less and fit on the lanes that may be used. Elsewhere it takes shortest paths if they fit
 * (layers.c); if they do not, as many as fit, and the others are grown around these (grow.c). If
 * the busiest channel then carries more than that of the up/down tables, it is these.
 */
#include "route/fill/relief.h"
#include "route/fill/shortest.h"
#include "route/graph/flows.h"
#include "route/layers/grow.h"
#include "route/order/hosts_shortest.h"
#include "route/value/base.h"

#define EVEN 1.25 /* load of the busiest channel as a multiple of the mean, or of the best */

/* ---- up/down tables ---- */

/* Without the preferences that engines with lanes do not observe; or NULL. */
static struct routing *make_legal(const struct layered *layered)
{
	struct route_engine engine = *layered->engine;
	struct route_input input = *layered->input;
	struct routing *routing;

	if (layered->n_throttled || layered->n_throttled_stay)
		return NULL;
	engine.hops = route_engine_updn.hops;
	engine.preferences = true;
	input.scatter = 0;
	input.shift = input.count_switches = false;
	input.n_port_orders = input.n_ignored = input.n_ahead = 0;
	routing = route_by_hops(&engine, layered->fabric, &input, NULL, NULL);
	if (routing)
		routing->engine = layered->engine;
	return routing;
}

static bool is_shortest(const struct routing *legal)
{
	return legal &&
	       route_hosts_shortest(&legal->repair_state->plan.order, legal->repair_state->hops);
}

/* Whether the tables were made for a tree, or load no channel much more than the mean. */
static bool is_even(const struct routing *legal)
{
	return !legal->base->by_load || legal->base->peak <= EVEN;
}

static bool use(struct layered *layered, struct routing **legal)
{
	routing_unref(layered->way->routing);
	layered->way->routing = g_steal_pointer(legal);
	return true;
}

/* ---- shortest paths ---- */

struct way {
	enum spread_by by;
	uint64_t busiest; /* load of the busiest channel */
};

/* Those that load the busiest channel least come first. */
static unsigned int list_ways(struct layered *layered, struct way ways[SPREAD_WAYS])
{
	unsigned int n = 0;

	layered_spread_ahead(layered, SPREAD_LOADS);
	for (enum spread_by by = 0; by < SPREAD_WAYS; by++) {
		struct way way = {by, layered_spread(layered, by)};
		unsigned int i = n;

		if (way.busiest == UINT64_MAX)
			continue;
		for (; i && ways[i - 1].busiest > way.busiest; i--)
			ways[i] = ways[i - 1];
		ways[i] = way;
		n++;
	}
	return n;
}

/*
 * Shortest paths on one lane, else on all, if they load the busiest channel neither more than this
 * nor much more than the best of them.
 */
static bool route_shortest(struct layered *layered, uint64_t most)
{
	struct way ways[SPREAD_WAYS];
	unsigned int n = list_ways(layered, ways);

	most = MIN(most, (uint64_t)(ways[0].busiest * EVEN));
	for (unsigned int vls = 1;; vls = layered->vls) {
		for (unsigned int i = 0; i < n && ways[i].busiest <= most; i++) {
			layered_spread(layered, ways[i].by);
			if (vls == 1 ? layered_assign_one(layered)
				     : layered_assign(layered, 0, NULL))
				return true;
		}
		if (vls == layered->vls)
			return false;
	}
}

/* ---- all ---- */

/* By dimensions if there are any: these paths take the fewest lanes. */
static void grow(struct layered *layered)
{
	if (layered_spread(layered, SPREAD_DIMENSIONS) == UINT64_MAX)
		layered_spread_leaves(layered);
	layered_grow(layered);
}

static bool route_anew(struct layered *layered, struct routing **legal, bool shortest)
{
	uint64_t most = UINT64_MAX, most_spread = UINT64_MAX; /* the latter by LIDs of one index */
	double peak;

	if (*legal) {
		const struct route_repair_state *state = (*legal)->repair_state;

		most = (*legal)->layered.busiest = routing_peak(*legal, layered->graph->threads);
		most_spread = route_relief_busiest(&state->plan, state->hops, *legal, &peak);
	}
	if (route_shortest(layered, shortest ? most_spread - 1 : most_spread))
		return true;
	if (shortest)
		return use(layered, legal);
	grow(layered);
	if (layered->way->routing->layered.busiest <= most) {
		if (layered->vls > 1)
			routing_note(layered->way->routing,
				     "%u virtual lanes are not enough for shortest paths: some are "
				     "longer",
				     layered->vls);
		return true;
	}
	use(layered, legal);
	routing_note(layered->way->routing,
		     "paths go up and then down, as its own would load some cable more");
	return true;
}

/* Up/down tables are kept by a repair, or not at all. */
static bool route_kept(struct layered *layered)
{
	const struct route_kept *kept = layered->kept;

	if (kept[KEPT_TABLES - 1].routing->repair_state)
		return false;
	if (!kept[0].routing->layered.grown && layered_spread(layered, SPREAD_LIDS) < UINT64_MAX &&
	    (layered->vls == 1 ? layered_assign_one(layered) : layered_assign(layered, 0, NULL)))
		return true;
	return layered_grow_kept(layered);
}

static bool is_tree(const struct layered *layered)
{
	g_autofree uint32_t *rank = g_new(uint32_t, layered->graph->n + 1);

	return route_tree_rank(&layered->plan.wishes, rank);
}

static bool route(struct layered *layered, G_GNUC_UNUSED GError **error)
{
	uint8_t most = layered->input->nue_max_num_vls;
	struct routing *legal = NULL;
	bool shortest, good;

	if (!layered->kept || is_tree(layered))
		legal = make_legal(layered);
	layered->wants_trunk = true;
	layered->vls = most ? MIN(layered->vls, most) : layered->vls;
	shortest = is_shortest(legal);
	if (shortest && is_even(legal))
		good = use(layered, &legal);
	else
		good = layered->kept ? route_kept(layered) : route_anew(layered, &legal, shortest);
	routing_unref(legal);
	return good;
}

const struct route_engine route_engine_nue = {
	.name = "nue",
	.summary = "short paths free of credit loops on any number of lanes, even one",
	.promises = ROUTE_DEADLOCK_FREE,
	.ties = true,
	.route = route,
	.need = { .in_trees = 3, .elsewhere = 6, .pairs = 5, .lanes = true },
};
