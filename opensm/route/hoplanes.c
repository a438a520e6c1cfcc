// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine hoplanes: shortest paths whose packets change to the next virtual lane on their way, for
 * networks of small diameter (dragonfly, slim fly, hyperX): fewer lanes than one for each hop, and
 * as a rule one SL for all.
 *
 * A packet need not change at every hop. As many turns, from a channel to the next one, as close no
 * cycle among themselves (acyclic.h) are free and keep the lane; each other turn leads to a higher
 * one (turn_lanes.h). So no lane has a cycle, and no way leads back to a lower one. Where one SL
 * does not do for that, some paths are put on a second one, where turns have other lanes, and so
 * on.
 */
#include "route/free_turns.h"
#include "route/lanes.h"
#include "route/pairs.h"
#include "route/shortest.h"
#include "route/spread.h"
#include "route/trunk.h"
#include "route/turn_lanes.h"

struct hop_lanes {
	struct layered *layered;
	struct route_lanes *lanes;
	struct free_turns turns;
	struct turn_lanes *planes[ROUTE_SLS]; /* of each SL, from sm_sl on; NULL: none yet */
	struct turn_lanes *plane;	      /* to which paths are added */
	unsigned int n_planes;		      /* SLs in use */
	unsigned int n;			      /* lanes that may be used */
	uint32_t *turns_of;		      /* of the path at hand */
	unsigned int sls;		      /* that the pair at hand may have */
	bool placed;			      /* it has one */
	uint64_t left_out, idle; /* pairs: that no lane is left for; that send nothing */
};

/* ---- pairs ---- */

/* Adds paths to the plane; false if some turn has no lane there. */
static bool add_paths(struct hop_lanes *hop, const uint32_t *channels, size_t n_channels)
{
	uint32_t n = 0;

	for (size_t i = 1; i < n_channels; i++) {
		uint32_t from = channels[i - 1], to = channels[i];

		if (from != FABRIC_NONE && to != FABRIC_NONE)
			hop->turns_of[n++] = route_step_of(hop->layered->channels, from, to);
		if (to != FABRIC_NONE || !n)
			continue;
		if (!turn_lanes_add(hop->plane, hop->turns_of, n, hop->n))
			return false;
		n = 0;
	}
	return true;
}

/* The ways of multicast, two turns at a time. */
static void add_trunk(void *arg, uint32_t in, uint32_t out)
{
	const struct hop_lanes *hop = arg;
	const struct route_channels *channels = hop->layered->channels;
	uint32_t sw = channels->to[out];

	if (!free_turns_is_trunk(&hop->turns, in, out))
		return;
	for (uint32_t on = channels->first[sw]; on < channels->first[sw + 1]; on++) {
		uint32_t turns[] = {route_step_of(channels, in, out),
				    route_step_of(channels, out, on)};

		if (free_turns_is_trunk(&hop->turns, out, on))
			turn_lanes_add(hop->plane, turns, 2, hop->n);
	}
}

static void open_plane(struct hop_lanes *hop, unsigned int i)
{
	const struct route_channels *channels = hop->layered->channels;
	bool is_new = !hop->planes[i];

	if (is_new)
		hop->planes[i] = turn_lanes_new(channels->n_steps, hop->turns.is_free);
	hop->plane = hop->planes[i];
	if (is_new)
		free_turns_each(&hop->turns, add_trunk, hop);
}

/* Puts what two switches send each other on the first SL that can have it, of those in use. */
static bool place(void *arg, uint32_t a, uint32_t b, const uint32_t *channels, size_t n)
{
	struct hop_lanes *hop = arg;

	hop->placed = false;
	for (unsigned int i = 0; i < hop->sls && !hop->placed; i++) {
		open_plane(hop, i);
		turn_lanes_begin(hop->plane);
		hop->placed = add_paths(hop, channels, n);
		if (!hop->placed) {
			turn_lanes_undo(hop->plane);
			continue;
		}
		route_lanes_put(hop->lanes, a, b, (hop->lanes->sm_sl + i) % ROUTE_SLS);
		hop->n_planes = MAX(hop->n_planes, i + 1);
	}
	return hop->placed;
}

static bool place_if_any(void *arg, uint32_t a, uint32_t b, const uint32_t *channels, size_t n)
{
	struct hop_lanes *hop = arg;

	hop->left_out += !place(hop, a, b, channels, n);
	return true;
}

/* ---- all pairs ---- */

/* The SM's on one SL, for clients use that of PortInfo; those with a switch without hosts last. */
static bool place_all(struct hop_lanes *hop, unsigned int sls)
{
	g_autoptr(GArray) with_sm = g_array_new(FALSE, FALSE, sizeof(struct layered_pair));
	g_autoptr(GArray) of_hosts = g_array_new(FALSE, FALSE, sizeof(struct layered_pair));
	g_autoptr(GArray) of_switch = g_array_new(FALSE, FALSE, sizeof(struct layered_pair));
	const struct route_graph *graph = hop->layered->graph;
	uint32_t sm = graph->sm_switch;

	for (uint32_t a = 0; a < graph->n; a++)
		for (uint32_t b = 0; b < graph->n; b++) {
			struct layered_pair pair = {a, b};
			bool hosts = route_has_hosts(graph, a), both = route_has_hosts(graph, b);

			if (a == sm && b != sm)
				g_array_append_val(with_sm, pair);
			if (a == sm || b == sm || !hosts || (both && b <= a))
				continue;
			if (!both)
				g_array_append_val(of_switch, pair);
			else if (route_sends(graph, a, b))
				g_array_append_val(of_hosts, pair);
			else
				hop->idle++;
		}
	hop->placed = true;
	hop->sls = 1;
	layered_each_pair(hop->layered, with_sm, place, hop);
	hop->sls = sls;
	if (hop->placed)
		layered_each_pair(hop->layered, of_hosts, place, hop);
	if (!hop->placed)
		return false;
	layered_each_pair(hop->layered, of_switch, place_if_any, hop);
	return true;
}

static void clear_planes(struct hop_lanes *hop)
{
	for (unsigned int i = 0; i < ROUTE_SLS; i++)
		g_clear_pointer(&hop->planes[i], turn_lanes_free);
	hop->n_planes = 1;
	hop->left_out = hop->idle = 0;
}

/* With so many lanes and SLs. */
static bool try(struct hop_lanes *hop, unsigned int lanes, unsigned int sls)
{
	uint8_t sm_sl = hop->layered->input->sm_sl;

	clear_planes(hop);
	route_lanes_free(hop->lanes);
	hop->lanes = route_lanes_new(hop->layered->graph->n, sm_sl);
	hop->lanes->sm_sl = sm_sl;
	hop->n = lanes;
	return place_all(hop, sls);
}

/* By the fewest lanes on one SL, or on several. */
static bool assign(struct hop_lanes *hop, unsigned int vls)
{
	free_turns_find(&hop->turns);
	for (unsigned int lanes = 1; lanes <= vls; lanes++)
		if (try(hop, lanes, 1))
			return true;
	for (unsigned int lanes = 1; lanes <= vls; lanes++)
		if (try(hop, lanes, ROUTE_SLS))
			return true;
	return false;
}

static void refuse(struct hop_lanes *hop, unsigned int vls, GError **error)
{
	unsigned int lanes = vls + 1;

	while (lanes < ROUTE_SLS && !try(hop, lanes, ROUTE_SLS))
		lanes++;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "paths that change lanes as they go take %s%u virtual lanes, and there are but "
		    "%u that every cable between switches has",
		    lanes < ROUTE_SLS ? "" : "over ", MIN(lanes, 15), vls);
}

/* ---- SL2VL ---- */

/* Every SL that is not in use is as the first. */
static void put_turn(void *arg, uint32_t in, uint32_t out)
{
	const struct hop_lanes *hop = arg;
	const struct layered *layered = hop->layered;
	const struct route_channels *channels = layered->channels;
	uint32_t sw = channels->to[in], turn = route_step_of(channels, in, out);
	const uint8_t *links = layered->graph->links;

	for (unsigned int i = 0; i < ROUTE_SLS; i++) {
		const struct turn_lanes *plane = hop->planes[i < hop->n_planes ? i : 0];

		route_turns_put(hop->lanes->turns, sw, links[channels->back[in]], links[out],
				(hop->lanes->sm_sl + i) % ROUTE_SLS, turn_lanes_lane(plane, turn));
	}
}

static void finish(struct hop_lanes *hop)
{
	struct route_lanes *lanes = hop->lanes;
	struct routing *routing = hop->layered->way->routing;

	routing->promises |= ROUTE_DEADLOCK_FREE;
	if (hop->n == 1 && hop->n_planes == 1 && !hop->left_out && !hop->idle)
		return; /* lane 0 for all needs no SL */
	lanes->turns = route_turns_new(hop->layered->fabric);
	free_turns_each(&hop->turns, put_turn, hop);
	for (unsigned int i = 0; i < hop->n_planes; i++)
		lanes->sls |= 1u << (lanes->sm_sl + i) % ROUTE_SLS;
	lanes->n = hop->n;
	routing_note(hop->layered->way->routing,
		     "packets change between %u virtual lanes, on %u SL%s", hop->n, hop->n_planes,
		     hop->n_planes > 1 ? "s" : "");
	if (hop->left_out)
		routing_note(hop->layered->way->routing,
			     "%" G_GUINT64_FORMAT " pairs of switches, of which one has hosts, "
			     "have no lanes left: they get no PathRecord",
			     hop->left_out);
	layered_note_idle(hop->layered, hop->idle);
	routing->lanes = g_steal_pointer(&hop->lanes);
}

static void hop_init(struct hop_lanes *hop, struct layered *layered)
{
	*hop = (struct hop_lanes){.layered = layered};
	free_turns_init(&hop->turns, layered);
	hop->turns_of = g_new(uint32_t, layered->graph->n + 1);
}

static void hop_clear(struct hop_lanes *hop)
{
	clear_planes(hop);
	free_turns_clear(&hop->turns);
	g_free(hop->turns_of);
	route_lanes_free(hop->lanes);
}

/* The way to spread paths that loads the busiest channel least, of those that are not tried. */
static enum spread_by best_way(const uint64_t most[SPREAD_WAYS])
{
	enum spread_by best = SPREAD_LIDS;

	for (enum spread_by by = SPREAD_LIDS; by < SPREAD_WAYS; by++)
		if (most[by] < most[best])
			best = by;
	return best;
}

/* The paths of the least load that the lanes do for. */
static bool route_by_load(struct layered *layered, GError **error)
{
	unsigned int vls = route_data_vls(layered->fabric, layered->input);
	uint64_t most[SPREAD_WAYS];
	struct hop_lanes hop;
	enum spread_by by;
	bool good = false;

	hop_init(&hop, layered);
	layered_spread_ahead(layered, SPREAD_ALL);
	for (by = SPREAD_LIDS; by < SPREAD_WAYS; by++)
		most[by] = layered_is_way(layered, by) ? layered_spread(layered, by) : UINT64_MAX;
	for (by = best_way(most); !good && most[by] < UINT64_MAX; by = best_way(most)) {
		layered_spread(layered, by);
		if (layered->wants_trunk)
			layered_find_trunk(layered, layered_trunk_root(layered), true);
		good = assign(&hop, vls);
		most[by] = UINT64_MAX;
	}
	if (good)
		finish(&hop);
	else
		refuse(&hop, vls, error);
	hop_clear(&hop);
	return good;
}

const struct route_engine route_engine_hoplanes = {
	.name = "hoplanes",
	.summary = "shortest paths that change lanes on their way; dragonfly, slim fly, hyperX",
	.promises = ROUTE_SHORTEST,
	.ties = true,
	.trunk = true,
	.route = route_by_load,
};
