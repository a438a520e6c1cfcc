// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine hoplanes: shortest paths whose packets change to the next virtual lane along the path, for
 * networks of small diameter (dragonfly, slim fly, hyperX): fewer lanes than one for each hop, and
 * usually one SL for all. Where nearly all paths are legal (layered.h), a few pairs of switches
 * have another SL instead.
 *
 * A packet need not change at every hop. As many turns (from a channel to the next one) as possible
 * without a cycle among themselves (acyclic.h) are free and keep the lane; each other turn leads to
 * a higher lane. So no lane has a cycle, and no path leads back to a lower lane. If one SL is not
 * enough for that, some paths are put on a second SL, where turns have other lanes, and so on.
 */
#include <string.h>

#include "route/fill/shortest.h"
#include "route/layers/layered.h"

#define NO_RANK 0xFF
#define NO_LANE 0xFF

/* ---- lanes of turns ---- */

/*
 * A switch knows the ports of arrival and departure of a packet, but not its lane (SL2VL). So each
 * turn has the least lane that is not below that of any turn before it on some path, and is above
 * it if the turn is not free.
 */

/* What follows a turn on some path. */
struct follower {
	uint32_t turn, to, next; /* a list, by index; 0 ends it */
};

struct undo {
	uint32_t turn;
	uint8_t lane;
};

struct turn_lanes {
	const struct route_channels *channels;
	const bool *is_free; /* [turn] */
	unsigned int most;   /* lanes */
	uint8_t *lane;	     /* [turn]: NO_LANE if it is on no path */
	uint32_t *first;     /* [turn]: in followers */
	GArray *followers;   /* struct follower; element 0 is unused */
	GArray *undo;	     /* struct undo: previous lanes */
	GArray *queue;	     /* uint32_t: turns whose lane was raised */
};

static void turn_lanes_free(struct turn_lanes *lanes)
{
	g_free(lanes->lane);
	g_free(lanes->first);
	g_array_unref(lanes->followers);
	g_array_unref(lanes->undo);
	g_array_unref(lanes->queue);
	g_free(lanes);
}

static struct follower *follower_of(const struct turn_lanes *lanes, uint32_t i)
{
	return &g_array_index(lanes->followers, struct follower, i);
}

static void lift(struct turn_lanes *lanes, uint32_t turn, unsigned int before)
{
	struct undo undo = {turn, lanes->lane[turn]};
	unsigned int lane = MIN(before + !lanes->is_free[turn], NO_LANE - 1);

	if (undo.lane != NO_LANE && undo.lane >= lane)
		return;
	g_array_append_val(lanes->undo, undo);
	g_array_append_val(lanes->queue, turn);
	lanes->lane[turn] = lane;
}

/* Raises the turns that follow; false if some turn then has no lane. */
static bool lift_behind(struct turn_lanes *lanes)
{
	bool good = true;

	while (lanes->queue->len && good) {
		uint32_t turn = g_array_index(lanes->queue, uint32_t, lanes->queue->len - 1);

		g_array_set_size(lanes->queue, lanes->queue->len - 1);
		good = lanes->lane[turn] < lanes->most;
		for (uint32_t f = lanes->first[turn]; f && good; f = follower_of(lanes, f)->next)
			lift(lanes, follower_of(lanes, f)->to, lanes->lane[turn]);
	}
	g_array_set_size(lanes->queue, 0);
	return good;
}

static void follow(struct turn_lanes *lanes, uint32_t turn, uint32_t to)
{
	struct follower follower = {turn, to, lanes->first[turn]};

	for (uint32_t f = follower.next; f; f = follower_of(lanes, f)->next)
		if (follower_of(lanes, f)->to == to)
			return;
	lanes->first[turn] = lanes->followers->len;
	g_array_append_val(lanes->followers, follower);
}

static void take_back(struct turn_lanes *lanes, guint n_followers)
{
	for (guint i = lanes->undo->len; i-- > 0;) {
		const struct undo *undo = &g_array_index(lanes->undo, struct undo, i);

		lanes->lane[undo->turn] = undo->lane;
	}
	for (guint i = lanes->followers->len; i-- > n_followers;)
		lanes->first[follower_of(lanes, i)->turn] = follower_of(lanes, i)->next;
	g_array_set_size(lanes->followers, n_followers);
}

/* Adds all turns of paths, or none if they take more lanes than there are. */
static bool turn_lanes_add(struct turn_lanes *lanes, const struct acyclic_step *steps, size_t n)
{
	guint n_followers = lanes->followers->len;
	uint32_t before = 0;
	bool good;

	g_array_set_size(lanes->undo, 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t turn = route_step_of(lanes->channels, steps[i].from, steps[i].to);
		bool goes_on = i && steps[i - 1].to == steps[i].from;

		if (goes_on)
			follow(lanes, before, turn);
		lift(lanes, turn, goes_on ? lanes->lane[before] : 0);
		before = turn;
	}
	good = lift_behind(lanes);
	if (!good)
		take_back(lanes, n_followers);
	return good;
}

/* ---- free turns ---- */

struct hop_lanes {
	struct layered *layered;
	struct route_lanes *lanes;
	bool *is_free; /* [turn]: packets keep the lane; turns: steps of channels.h */
	uint8_t *rank; /* [turn]: most turns before it on a path, or NO_RANK */
	struct turn_lanes *planes[ROUTE_SLS]; /* [SL from sm_sl on]; NULL: not used yet */
	unsigned int n_planes;		      /* SLs in use */
	unsigned int n;			      /* lanes that may be used */
	enum pair_kind kind;		      /* of the current pairs */
	unsigned int sls;		      /* that these pairs may have */
	bool placed;			      /* all pairs of hosts have an SL */
	uint64_t excluded;		      /* pairs for which no lane is left */
};

static bool is_kind(void *arg, uint32_t a, uint32_t b)
{
	const struct hop_lanes *hop = arg;

	return layered_is_kind(hop->layered, hop->kind, a, b);
}

/* Takes ranks from the paths between two switches. */
static bool note_ranks(void *arg, const struct layered_pair *pair)
{
	struct hop_lanes *hop = arg;
	unsigned int at = 0;

	for (size_t i = 0; i < pair->n; i++) {
		const struct acyclic_step *step = &pair->steps[i];
		uint8_t *rank =
			&hop->rank[route_step_of(hop->layered->channels, step->from, step->to)];

		at = i && step[-1].to == step->from ? at + 1 : 0;
		*rank = *rank == NO_RANK ? at : MAX(*rank, at);
	}
	return true;
}

/* Tries turns of the trunk first, then those near the start of paths. */
static void find_free_turns(struct hop_lanes *hop)
{
	const struct layered *layered = hop->layered;
	const struct route_channels *channels = layered->channels;
	struct acyclic *lane = acyclic_new(channels);

	memset(hop->rank, NO_RANK, channels->n_steps);
	hop->kind = PAIR_ANY;
	layered_each_pair(layered, NULL, is_kind, note_ranks, hop);
	layered_take_trunk(layered, lane);
	for (uint32_t in = 0; in < channels->n; in++)
		route_each_step(channels, in, out) hop->is_free[route_step_of(channels, in, out)] =
			layered_is_trunk(layered, in, out);
	for (unsigned int rank = 0; rank < layered->way->routing->max_hops; rank++)
		for (uint32_t in = 0; in < channels->n; in++)
			route_each_step(channels, in, out)
			{
				uint32_t turn = route_step_of(channels, in, out);
				struct acyclic_step step = {in, out};

				if (hop->rank[turn] == rank)
					hop->is_free[turn] = acyclic_add(lane, &step, 1);
			}
	acyclic_free(lane);
}

/* ---- pairs ---- */

/* With the paths of multicast, two turns at a time. */
static struct turn_lanes *turn_lanes_new(const struct hop_lanes *hop)
{
	const struct layered *layered = hop->layered;
	const struct route_channels *channels = layered->channels;
	struct turn_lanes *lanes = g_new0(struct turn_lanes, 1);
	uint32_t n_turns = channels->n_steps;

	lanes->channels = channels;
	lanes->is_free = hop->is_free;
	lanes->most = hop->n;
	lanes->lane = g_malloc(n_turns + 1);
	memset(lanes->lane, NO_LANE, n_turns + 1);
	lanes->first = g_new0(uint32_t, n_turns + 1);
	lanes->followers = g_array_new(FALSE, TRUE, sizeof(struct follower));
	g_array_set_size(lanes->followers, 1);
	lanes->undo = g_array_new(FALSE, FALSE, sizeof(struct undo));
	lanes->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t in = 0; in < channels->n; in++)
		route_each_step(channels, in, out)
		{
			if (!layered_is_trunk(layered, in, out))
				continue;
			route_each_step(channels, out, on)
			{
				struct acyclic_step steps[] = {{in, out}, {out, on}};

				if (layered_is_trunk(layered, out, on))
					turn_lanes_add(lanes, steps, 2);
			}
		}
	return lanes;
}

/* Puts the traffic between two switches on the first SL in use that can take it. */
static bool place(void *arg, const struct layered_pair *pair)
{
	struct hop_lanes *hop = arg;

	for (unsigned int i = 0; i < hop->sls; i++) {
		if (!hop->planes[i])
			hop->planes[i] = turn_lanes_new(hop);
		if (!turn_lanes_add(hop->planes[i], pair->steps, pair->n))
			continue;
		route_lanes_put(hop->lanes, pair->a, pair->b, (hop->lanes->sm_sl + i) % ROUTE_SLS);
		hop->n_planes = MAX(hop->n_planes, i + 1);
		return true;
	}
	hop->placed &= hop->kind == PAIR_OF_SWITCH;
	hop->excluded++;
	return hop->placed;
}

/* ---- all pairs ---- */

static bool place_all(struct hop_lanes *hop, unsigned int sls)
{
	hop->placed = true;
	for (hop->kind = PAIR_WITH_SM; hop->placed && hop->kind <= PAIR_OF_SWITCH; hop->kind++) {
		hop->sls = hop->kind == PAIR_WITH_SM ? 1 : sls;
		layered_each_pair(hop->layered, hop->lanes, is_kind, place, hop);
	}
	return hop->placed;
}

static void clear_planes(struct hop_lanes *hop)
{
	for (unsigned int i = 0; i < ROUTE_SLS; i++)
		g_clear_pointer(&hop->planes[i], turn_lanes_free);
	hop->n_planes = 1;
	hop->excluded = 0;
}

/* Tries this number of lanes and SLs. */
static bool try(struct hop_lanes *hop, unsigned int lanes, unsigned int sls)
{
	uint8_t sm_sl = hop->layered->input->sm_sl;

	clear_planes(hop);
	route_lanes_free(hop->lanes);
	hop->lanes = route_lanes_new(hop->layered->graph->n, sm_sl);
	hop->lanes->sm_sl = sm_sl;
	hop->n = lanes;
	/* SL2VL follows this plane even if no pair sends anything */
	hop->planes[0] = turn_lanes_new(hop);
	return place_all(hop, sls);
}

/* With the fewest lanes on one SL, or on several SLs. */
static bool assign(struct hop_lanes *hop)
{
	unsigned int vls = hop->layered->vls;

	find_free_turns(hop);
	for (unsigned int sls = 1; sls <= ROUTE_SLS; sls += ROUTE_SLS - 1)
		for (unsigned int lanes = 1; lanes <= vls; lanes++)
			if (try(hop, lanes, sls))
				return true;
	return false;
}

static void refuse(struct hop_lanes *hop, GError **error)
{
	unsigned int vls = hop->layered->vls, lanes = vls + 1;

	while (lanes < ROUTE_SLS && !try(hop, lanes, ROUTE_SLS))
		lanes++;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "paths that change lanes as they go take %s%u virtual lanes, but the cables "
		    "between switches have only %u in common",
		    lanes < ROUTE_SLS ? "" : "over ", MIN(lanes, 15), vls);
}

/* ---- SL2VL ---- */

/* SLs that are not in use are as the first. */
static void put_turn(const struct hop_lanes *hop, struct route_lanes *lanes, uint32_t in,
		     uint32_t out)
{
	const struct route_channels *channels = hop->layered->channels;
	const uint8_t *links = hop->layered->graph->links;
	uint32_t turn = route_step_of(channels, in, out);

	for (unsigned int i = 0; i < ROUTE_SLS; i++) {
		uint8_t lane = hop->planes[i < hop->n_planes ? i : 0]->lane[turn];

		route_turns_put(lanes->turns, channels->to[in], links[channels->back[in]],
				links[out], (lanes->sm_sl + i) % ROUTE_SLS,
				lane == NO_LANE ? 0 : lane);
	}
}

static void finish(struct hop_lanes *hop)
{
	struct route_lanes *lanes = hop->lanes;
	struct routing *routing = hop->layered->way->routing;
	const struct route_channels *channels = hop->layered->channels;

	lanes->n = hop->n;
	for (unsigned int i = 0; i < hop->n_planes; i++)
		lanes->sls |= 1u << (lanes->sm_sl + i) % ROUTE_SLS;
	layered_put_lanes(hop->layered, &hop->lanes, hop->n == 1 && hop->n_planes == 1,
			  hop->excluded);
	if (!routing->lanes)
		return;
	lanes->turns = route_turns_new(hop->layered->fabric);
	for (uint32_t in = 0; in < channels->n; in++)
		route_each_step(channels, in, out) put_turn(hop, lanes, in, out);
	routing_note(routing, "packets change between %u virtual lanes, on %u SL%s", hop->n,
		     hop->n_planes, hop->n_planes > 1 ? "s" : "");
}

/* The way to spread paths that loads the busiest channel least, among those not tried yet. */
static enum spread_by best_way(const uint64_t most[SPREAD_WAYS])
{
	enum spread_by best = SPREAD_LIDS;

	for (enum spread_by by = SPREAD_LIDS; by < SPREAD_WAYS; by++)
		if (most[by] < most[best])
			best = by;
	return best;
}

/* Takes the paths of least load for which the lanes suffice. */
static bool route_by_load(struct layered *layered, GError **error)
{
	uint64_t most[SPREAD_WAYS];
	struct hop_lanes hop = {.layered = layered};
	enum spread_by by;
	bool good = false;

	if (layered->all_legal) {
		layered_spread(layered, SPREAD_LIDS);
		return true;
	}
	if (layered->nearly_legal) {
		layered_spread(layered, SPREAD_LIDS);
		return layered_assign(layered, 0, error);
	}
	hop.is_free = g_new0(bool, layered->channels->n_steps + 1);
	hop.rank = g_malloc(layered->channels->n_steps + 1);
	layered_spread_ahead(layered, SPREAD_ALL);
	for (by = SPREAD_LIDS; by < SPREAD_WAYS; by++)
		most[by] = layered_spread(layered, by);
	for (by = best_way(most); !good && most[by] < UINT64_MAX; by = best_way(most)) {
		layered_spread(layered, by);
		layered_find_trunk(layered, true);
		good = assign(&hop);
		most[by] = UINT64_MAX;
	}
	if (good)
		finish(&hop);
	else
		refuse(&hop, error);
	clear_planes(&hop);
	g_free(hop.is_free);
	g_free(hop.rank);
	route_lanes_free(hop.lanes);
	return good;
}

const struct route_engine route_engine_hoplanes = {
	.name = "hoplanes",
	.summary = "shortest paths that change lanes on their way; dragonfly, slim fly, hyperX",
	.promises = ROUTE_SHORTEST,
	.ties = true,
	.legal_first = true,
	.trunk = true,
	.route = route_by_load,
	.need = { .in_trees = 2, .elsewhere = 5, .pairs = 3, .lanes = true, .turns = true },
};
