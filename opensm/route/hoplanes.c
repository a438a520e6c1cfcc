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
#include <string.h>

#include "route/acyclic.h"
#include "route/lanes.h"
#include "route/shortest.h"
#include "route/spread.h"
#include "route/trunk.h"
#include "route/turn_lanes.h"

#define NO_RANK 0xFF

struct hop_lanes {
	struct layered *layered;
	struct route_lanes *lanes;
	uint32_t
		*first_turn; /* [channel]: of the turns behind it, one for each that leaves there */
	bool *is_free;	     /* [turn] */
	uint8_t *rank;	     /* [turn]: how far behind the beginning of paths, NO_RANK if in none */
	struct turn_lanes *planes[ROUTE_SLS]; /* of each SL, from sm_sl on; NULL: none yet */
	uint32_t n_turns;
	unsigned int n_planes; /* SLs in use */
	unsigned int n;	       /* lanes that may be used */
	GArray *turns;	       /* uint32_t: of the path at hand */
	uint64_t left_out;
};

/* ---- turns ---- */

static uint32_t turn_of(const struct hop_lanes *hop, uint32_t in, uint32_t out)
{
	const struct route_channels *channels = hop->layered->channels;

	return hop->first_turn[in] + out - channels->first[channels->to[in]];
}

/* The channel by which a turn from another goes on. */
static uint32_t channel_behind(const struct hop_lanes *hop, uint32_t in, uint32_t turn)
{
	const struct route_channels *channels = hop->layered->channels;

	return channels->first[channels->to[in]] + turn - hop->first_turn[in];
}

/* Whether multicast may turn so. */
static bool is_trunk(const struct hop_lanes *hop, uint32_t in, uint32_t out)
{
	const bool *trunk = hop->layered->trunk;

	return trunk && trunk[in] && trunk[out] && out != hop->layered->channels->back[in];
}

/* ---- paths ---- */

static void list_turns(struct hop_lanes *hop, uint32_t sw, uint32_t to, uint16_t lid)
{
	const struct layered *layered = hop->layered;
	const struct route_channels *channels = layered->channels;
	uint32_t before = FABRIC_NONE;

	g_array_set_size(hop->turns, 0);
	for (uint32_t hops = 0; sw != to && hops < layered->graph->n; hops++) {
		uint32_t c = route_channel(channels, sw, layered->routing->lft[sw][lid]), turn;

		if (c == FABRIC_NONE)
			return;
		turn = before == FABRIC_NONE ? 0 : turn_of(hop, before, c);
		if (before != FABRIC_NONE)
			g_array_append_val(hop->turns, turn);
		before = c;
		sw = channels->to[c];
	}
}

typedef bool path_fn(struct hop_lanes *hop, unsigned int sl);

/* Calls for all paths between two switches, until one says no. */
static bool each_path(struct hop_lanes *hop, uint32_t a, uint32_t b, unsigned int sl, path_fn *call)
{
	const struct route_graph *graph = hop->layered->graph;
	bool good = true;

	for (unsigned int way = 0; way < 2; way++) {
		uint32_t from = way ? b : a, to = way ? a : b;
		uint32_t t = graph->first_target[to];
		uint16_t own;

		for (; good && t < graph->first_target[to + 1]; t++) {
			list_turns(hop, from, to, graph->targets[t].lid);
			good = call(hop, sl);
		}
		own = route_is_source(graph, from) ? graph->own_lid[to] : 0;
		for (unsigned int i = 0; good && own && i < 1u << graph->own_lmc[to]; i++) {
			list_turns(hop, from, to, own + i);
			good = call(hop, sl);
		}
	}
	return good;
}

/* ---- turns that are free ---- */

static bool note_rank(struct hop_lanes *hop, G_GNUC_UNUSED unsigned int sl)
{
	for (guint i = 0; i < hop->turns->len; i++) {
		uint8_t *rank = &hop->rank[g_array_index(hop->turns, uint32_t, i)];

		*rank = *rank == NO_RANK ? i : MAX(*rank, i);
	}
	return true;
}

/* Calls for the turns of a rank. */
static void try_turns(struct hop_lanes *hop, unsigned int rank, struct acyclic *all,
		      struct acyclic *free)
{
	const struct route_channels *channels = hop->layered->channels;

	for (uint32_t c = 0; c < channels->n; c++) {
		for (uint32_t t = hop->first_turn[c]; t < hop->first_turn[c + 1]; t++) {
			struct acyclic_step step = {c, channel_behind(hop, c, t)};

			if (hop->rank[t] == rank && free)
				hop->is_free[t] = acyclic_add(free, &step, 1);
			else if (hop->rank[t] == rank)
				acyclic_note(all, step);
		}
	}
}

static void free_trunk(struct hop_lanes *hop, struct acyclic *free)
{
	const struct route_channels *channels = hop->layered->channels;

	layered_take_trunk(hop->layered, free);
	for (uint32_t c = 0; c < channels->n; c++)
		for (uint32_t t = hop->first_turn[c]; t < hop->first_turn[c + 1]; t++)
			hop->is_free[t] = is_trunk(hop, c, channel_behind(hop, c, t));
}

/* Those of the trunk first, then those near the beginning of paths. */
static void free_turns(struct hop_lanes *hop, unsigned int ranks)
{
	struct acyclic *all = acyclic_new(hop->layered->channels, NULL), *free;

	for (unsigned int rank = 0; rank < ranks; rank++)
		try_turns(hop, rank, all, NULL);
	acyclic_sort(all);
	free = acyclic_new(hop->layered->channels, all);
	free_trunk(hop, free);
	for (unsigned int rank = 0; rank < ranks; rank++)
		try_turns(hop, rank, all, free);
	acyclic_free(free);
	acyclic_free(all);
}

/* ---- pairs ---- */

static bool add_path(struct hop_lanes *hop, unsigned int sl)
{
	return turn_lanes_add(hop->planes[sl], (const uint32_t *)(const void *)hop->turns->data,
			      hop->turns->len, hop->n);
}

/* The ways of multicast, two turns at a time. */
static void add_trunk(struct hop_lanes *hop, struct turn_lanes *plane, uint32_t in, uint32_t out)
{
	const struct route_channels *channels = hop->layered->channels;
	uint32_t sw = channels->to[out];

	for (uint32_t on = channels->first[sw]; on < channels->first[sw + 1]; on++) {
		uint32_t turns[] = {turn_of(hop, in, out), turn_of(hop, out, on)};

		if (is_trunk(hop, out, on))
			turn_lanes_add(plane, turns, 2, hop->n);
	}
}

static struct turn_lanes *plane_new(struct hop_lanes *hop)
{
	struct turn_lanes *plane = turn_lanes_new(hop->n_turns, hop->is_free);

	for (uint32_t c = 0; c < hop->layered->channels->n; c++)
		for (uint32_t t = hop->first_turn[c]; t < hop->first_turn[c + 1]; t++)
			if (is_trunk(hop, c, channel_behind(hop, c, t)))
				add_trunk(hop, plane, c, channel_behind(hop, c, t));
	return plane;
}

/* Puts what two switches send each other on the first SL that can have it, of the first n. */
static bool place(struct hop_lanes *hop, uint32_t a, uint32_t b, unsigned int n)
{
	struct route_lanes *lanes = hop->lanes;

	for (unsigned int i = 0; i < n; i++) {
		if (!hop->planes[i])
			hop->planes[i] = plane_new(hop);
		turn_lanes_begin(hop->planes[i]);
		if (each_path(hop, a, b, i, add_path)) {
			lanes->sl[(size_t)a * lanes->n_switches + b] =
				lanes->sl[(size_t)b * lanes->n_switches + a] =
					(lanes->sm_sl + i) % ROUTE_SLS;
			hop->n_planes = MAX(hop->n_planes, i + 1);
			return true;
		}
		turn_lanes_undo(hop->planes[i]);
	}
	return false;
}

/* ---- all pairs ---- */

/* The SM's on one SL, for clients use that of PortInfo; those with a switch without hosts last. */
static bool place_all(struct hop_lanes *hop, unsigned int sls)
{
	const struct route_graph *graph = hop->layered->graph;
	uint32_t sm = graph->sm_switch;
	bool good = true;

	for (uint32_t sw = 0; good && sm != FABRIC_NONE && sw < graph->n; sw++)
		good = sw == sm || place(hop, sm, sw, 1);
	for (uint32_t a = 0; good && a < graph->n; a++)
		for (uint32_t b = a + 1; good && route_has_hosts(graph, a) && b < graph->n; b++)
			good = a == sm || b == sm || !route_has_hosts(graph, b) ||
			       place(hop, a, b, sls);
	for (uint32_t a = 0; good && a < graph->n; a++)
		for (uint32_t b = 0; route_has_hosts(graph, a) && b < graph->n; b++)
			if (b != sm && a != sm && !route_has_hosts(graph, b))
				hop->left_out += !place(hop, a, b, sls);
	return good;
}

static void clear_planes(struct hop_lanes *hop)
{
	for (unsigned int i = 0; i < ROUTE_SLS; i++)
		g_clear_pointer(&hop->planes[i], turn_lanes_free);
	hop->n_planes = 1;
	hop->left_out = 0;
}

/* With so many lanes and SLs. */
static bool try(struct hop_lanes *hop, unsigned int lanes, unsigned int sls)
{
	uint32_t n = hop->layered->graph->n;

	clear_planes(hop);
	memset(hop->lanes->sl, ROUTE_NO_SL, (size_t)n * n);
	for (uint32_t sw = 0; sw < n; sw++)
		hop->lanes->sl[(size_t)sw * n + sw] = hop->lanes->sm_sl;
	hop->n = lanes;
	return place_all(hop, sls);
}

static void find_free_turns(struct hop_lanes *hop)
{
	const struct layered *layered = hop->layered;
	const struct route_graph *graph = layered->graph;

	memset(hop->rank, NO_RANK, hop->n_turns);
	for (uint32_t a = 0; a < graph->n; a++)
		for (uint32_t b = a + 1; b < graph->n; b++)
			if (route_is_source(graph, a) || route_is_source(graph, b))
				each_path(hop, a, b, 0, note_rank);
	free_turns(hop, layered->routing->max_hops);
}

/* By the fewest lanes on one SL, or on several. */
static bool assign(struct hop_lanes *hop, unsigned int vls)
{
	find_free_turns(hop);
	for (unsigned int lanes = 1; lanes <= vls; lanes++)
		if (try(hop, lanes, 1))
			return true;
	for (unsigned int lanes = 1; lanes <= vls; lanes++)
		if (try(hop, lanes, ROUTE_SLS))
			return true;
	return false;
}

static bool refuse(struct hop_lanes *hop, unsigned int vls, GError **error)
{
	unsigned int lanes = vls + 1;

	while (lanes < ROUTE_SLS && !try(hop, lanes, ROUTE_SLS))
		lanes++;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "paths that change lanes as they go take %s%u virtual lanes, and there are but "
		    "%u that every cable between switches has",
		    lanes < ROUTE_SLS ? "" : "over ", MIN(lanes, 15), vls);
	return false;
}

/* ---- SL2VL ---- */

/* Every SL that is not in use is as the first. */
static void put_turn(struct hop_lanes *hop, uint32_t in, uint32_t out)
{
	const struct layered *layered = hop->layered;
	const struct route_channels *channels = layered->channels;
	uint32_t sw = channels->to[in], turn = turn_of(hop, in, out);
	const uint8_t *links = layered->graph->links;

	for (unsigned int i = 0; i < ROUTE_SLS; i++) {
		const struct turn_lanes *plane = hop->planes[i < hop->n_planes ? i : 0];

		route_turns_put(hop->lanes->turns, sw, links[channels->back[in]], links[out],
				(hop->lanes->sm_sl + i) % ROUTE_SLS, turn_lanes_lane(plane, turn));
	}
}

static void finish(struct hop_lanes *hop)
{
	const struct route_channels *channels = hop->layered->channels;
	struct route_lanes *lanes = hop->lanes;
	struct routing *routing = hop->layered->routing;

	routing->promises |= ROUTE_DEADLOCK_FREE;
	if (hop->n == 1 && hop->n_planes == 1 && !hop->left_out)
		return; /* lane 0 for all needs no SL */
	lanes->turns = route_turns_new(hop->layered->fabric);
	for (uint32_t c = 0; c < channels->n; c++)
		for (uint32_t out = channels->first[channels->to[c]];
		     out < channels->first[channels->to[c] + 1]; out++)
			put_turn(hop, c, out);
	for (unsigned int i = 0; i < hop->n_planes; i++)
		lanes->sls |= 1u << (lanes->sm_sl + i) % ROUTE_SLS;
	lanes->n = hop->n;
	layered_note(hop->layered, "packets change between %u virtual lanes, on %u SL%s", hop->n,
		     hop->n_planes, hop->n_planes > 1 ? "s" : "");
	if (hop->left_out)
		layered_note(hop->layered,
			     "%" G_GUINT64_FORMAT " pairs of switches, of which one has hosts, "
			     "have no lanes left: they get no PathRecord",
			     hop->left_out);
	routing->lanes = g_steal_pointer(&hop->lanes);
}

static void hop_init(struct hop_lanes *hop, struct layered *layered)
{
	const struct route_channels *channels = layered->channels;
	uint32_t n = layered->graph->n;

	*hop = (struct hop_lanes){.layered = layered};
	hop->first_turn = g_new0(uint32_t, channels->n + 1);
	for (uint32_t c = 0; c < channels->n; c++) {
		uint32_t to = channels->to[c];

		hop->first_turn[c + 1] =
			hop->first_turn[c] + channels->first[to + 1] - channels->first[to];
	}
	hop->n_turns = hop->first_turn[channels->n];
	hop->is_free = g_new0(bool, hop->n_turns + 1);
	hop->rank = g_malloc(hop->n_turns + 1);
	hop->turns = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	hop->lanes = g_new0(struct route_lanes, 1);
	hop->lanes->n_switches = n;
	hop->lanes->sm_sl = layered->input->sm_sl;
	hop->lanes->sl = g_malloc((size_t)n * n + 1);
}

static void hop_clear(struct hop_lanes *hop)
{
	clear_planes(hop);
	g_free(hop->first_turn);
	g_free(hop->is_free);
	g_free(hop->rank);
	g_array_unref(hop->turns);
	route_lanes_free(hop->lanes);
}

/* The way to spread paths that loads the busiest channel least, of those that are not tried. */
static enum spread_by best_way(const uint64_t most[SPREAD_PORTS + 1])
{
	enum spread_by best = SPREAD_LIDS;

	for (enum spread_by by = SPREAD_LIDS; by <= SPREAD_PORTS; by++)
		if (most[by] < most[best])
			best = by;
	return best;
}

/* The paths of the least load that the lanes do for. */
static bool route(struct layered *layered, GError **error)
{
	unsigned int vls = route_data_vls(layered->fabric, layered->input);
	uint64_t most[SPREAD_PORTS + 1];
	struct hop_lanes hop;
	bool good = false;

	hop_init(&hop, layered);
	for (enum spread_by by = SPREAD_LIDS; by <= SPREAD_PORTS; by++)
		most[by] = layered_spread(layered, by);
	for (unsigned int i = 0; !good && i <= SPREAD_PORTS; i++) {
		enum spread_by by = best_way(most);

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

static struct routing *hoplanes_compute(const struct fabric *fabric,
					const struct route_input *input, GError **error)
{
	struct layered layered;

	if (!layered_init(&layered, &route_engine_hoplanes, fabric, input, error))
		return NULL;
	return layered_end(&layered, layered_with_trunk(&layered, route, error));
}

const struct route_engine route_engine_hoplanes = {
	.name = "hoplanes",
	.summary = "shortest paths that change lanes on their way; dragonfly, slim fly, hyperX",
	.promises = ROUTE_SHORTEST,
	.compute = hoplanes_compute,
};
