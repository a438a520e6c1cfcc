// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Pairs of switches are given lanes one by one, each the first on which its paths can be added
 * (acyclic.h). The pairs of the SM's switch come first: clients talk to the SM on the SL in their
 * PortInfo, hence on one lane. Shortest paths of these pairs never close a loop among themselves: a
 * channel leads nearer to that switch or away from it.
 *
 * If earlier tables are kept, pairs keep their lanes: first those whose paths are as in the newly
 * computed tables, then as in the previous ones, since these close no loop together; the others if
 * they can.
 *
 * If nearly all paths follow an order of the switches, so that there can be no loop, they need no
 * check: they are on the first lane, to which all steps that the order allows are added at once.
 * Traffic with the SM has the SL of its path then if that lane has no room for it.
 *
 * When lanes run out, the rest is put on additional lanes, to find out how many are needed.
 */
#include "route/layers/layered.h"

#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/parallel.h"

#define LANES_MAX 32

struct layers {
	struct layered *layered;
	struct route_lanes *lanes;
	struct acyclic *layer[LANES_MAX];
	uint8_t first;		      /* VL of paths */
	unsigned int n, have;	      /* lanes in use; lanes that cables have, from the first on */
	uint32_t lanes_without_trunk; /* bits */
	unsigned int most;	      /* limit of the count */
	enum pair_kind kind;	      /* of the current pairs */
	const struct route_kept *at;  /* tables whose lanes are currently kept */
	uint8_t hops;		      /* of the current pairs of hosts */
	const struct layered_pair *pair; /* current */
	bool sm_left_out;		 /* a pair with the SM cannot have its lane */
	bool hopeless;	   /* more than most are needed, or a pair closes a loop alone */
	uint64_t excluded; /* pairs for which no lane is left */
};

/* ---- all pairs at once ---- */

/* The steps of the paths to some switches. */
struct noting {
	const struct layered *layered;
	bool few; /* only to one LID of each switch with hosts */
	struct acyclic *lane;
};

/* From all switches, or from sources; mark[switch]: the last LID whose path was noted there. */
static void note_lid(const struct noting *noting, uint32_t to, uint16_t lid, bool all,
		     uint32_t *mark)
{
	const struct layered *layered = noting->layered;

	if (layered->way->repeats[lid])
		return;
	for (uint32_t from = 0; from < layered->graph->n; from++) {
		struct acyclic_step step = {FABRIC_NONE, FABRIC_NONE};

		if (!all && !route_is_source(layered->graph, from))
			continue;
		layered_each_hop(layered, from, to, lid, sw, channel)
		{
			step.to = channel;
			if (step.from != FABRIC_NONE)
				acyclic_note(noting->lane, step);
			if (mark[sw] == lid)
				break;
			mark[sw] = lid;
			step.from = channel;
		}
	}
}

static void note_switches(void *arg, uint32_t first, uint32_t last)
{
	const struct noting *noting = arg;
	const struct route_graph *graph = noting->layered->graph;
	g_autofree uint32_t *mark = g_new0(uint32_t, graph->n + 1);

	for (uint32_t sw = first; sw < last; sw++) {
		unsigned int hosts = route_n_hosts(graph, sw);
		unsigned int n = noting->few ? MIN(hosts, 1) : layered_n_lids(graph, sw);

		for (unsigned int i = 0; i < n; i++)
			note_lid(noting, sw, layered_lid(graph, sw, i), i < hosts, mark);
	}
}

/* Steps of all paths, or of a few of them. */
static struct acyclic *note_all(const struct layered *layered, bool few)
{
	struct noting noting = {layered, few, acyclic_new(layered->channels)};

	route_parallel(layered->graph->threads, layered->graph->n, note_switches, &noting);
	return noting.lane;
}

/*
 * Finds out, once, whether one lane suffices for all paths, and for the trunk if one is wanted, and
 * then the trunk too.
 */
static void examine_way(struct layered *layered)
{
	struct layered_way *way = layered->way;

	way->is_one |= layered->all_legal;
	if (way->all || way->is_one || (way->is_loop && way->trunk))
		return;
	layered_find_trunk(layered, true);
	if (way->is_loop)
		return;
	way->all = note_all(layered, false);
	layered_note_trunk(layered, way->all);
	way->is_one = acyclic_sort(way->all);
}

/* ---- lanes ---- */

static void begin_lanes(struct layers *layers)
{
	struct route_lanes *lanes = route_lanes_new(layers->layered->graph->n, layers->first);

	lanes->first = layers->first;
	lanes->sm_sl = layers->layered->input->sm_sl;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		lanes->vl[sl] = sl % layers->layered->vls;
	layers->lanes = lanes;
	layers->n = 0;
	layers->lanes_without_trunk = 0;
}

static void free_lanes(struct layers *layers)
{
	for (unsigned int i = 0; i < LANES_MAX; i++)
		g_clear_pointer(&layers->layer[i], acyclic_free);
	g_clear_pointer(&layers->lanes, route_lanes_free);
}

/* Whether a lane had no trunk in the previous tables, which are kept. */
static bool had_no_trunk(const struct layers *layers, unsigned int lane)
{
	const struct route_kept *kept = layers->layered->kept;
	const struct route_lanes *lanes = kept ? kept[KEPT_TABLES - 1].routing->lanes : NULL;

	return lanes && lanes->sls_unsafe_for_multicast >> (layers->first + lane) & 1;
}

/* Opens a lane with the trunk; or with the current pair, if that closes a loop with the trunk. */
static void open_lane(struct layers *layers, unsigned int lane)
{
	const struct route_channels *channels = layers->layered->channels;
	const struct layered_pair *pair = layers->pair;
	struct acyclic **layer = &layers->layer[lane], *without;

	*layer = acyclic_new(channels);
	layered_take_trunk(layers->layered, *layer);
	if (!layered_has_trunk(layers->layered) || lane == 0 ||
	    (!had_no_trunk(layers, lane) && acyclic_add(*layer, pair->steps, pair->n)))
		return;
	without = acyclic_new(channels);
	if (acyclic_add(without, pair->steps, pair->n)) {
		layers->lanes_without_trunk |= 1u << lane;
		acyclic_free(*layer);
		*layer = g_steal_pointer(&without);
	}
	acyclic_free(without);
}

/* Gives the current pair a lane, which may be known to have all its steps; false if it cannot. */
static bool try_lane(struct layers *layers, unsigned int lane, bool has_all)
{
	const struct layered_pair *pair = layers->pair;

	if (!layers->layer[lane])
		open_lane(layers, lane);
	if (!has_all && !acyclic_add(layers->layer[lane], pair->steps, pair->n))
		return false;
	layers->n = MAX(layers->n, lane + 1);
	route_lanes_put(layers->lanes, pair->a, pair->b, layers->first + lane);
	return true;
}

/* ---- pairs ---- */

/* Tries the lane that the pair had in earlier tables. */
static bool try_kept(struct layers *layers, const struct route_kept *kept)
{
	uint8_t sl = route_kept_sl(kept, layers->pair->a, layers->pair->b);

	return sl != ROUTE_NO_SL && sl >= layers->first && sl < layers->first + layers->have &&
	       try_lane(layers, sl - layers->first, false);
}

/* Tries the earlier lane, then the one of n lanes to which the pair adds least, then one more. */
static bool try_lanes(struct layers *layers, unsigned int n)
{
	const struct route_kept *kept = layers->layered->kept;
	const struct layered_pair *pair = layers->pair;
	uint32_t adds[LANES_MAX];

	if (kept && try_kept(layers, &kept[KEPT_TABLES - 1]))
		return true;
	n = MIN(n, layers->n + 1);
	for (unsigned int lane = 0; lane < n; lane++) {
		adds[lane] = layers->layer[lane]
				     ? acyclic_lacks(layers->layer[lane], pair->steps, pair->n)
				     : pair->n;
		if (!adds[lane])
			return try_lane(layers, lane, true);
	}
	for (unsigned int tried = 0; tried < n; tried++) {
		unsigned int best = 0;

		for (unsigned int lane = 1; lane < n; lane++)
			if (adds[lane] < adds[best])
				best = lane;
		if (try_lane(layers, best, false))
			return true;
		adds[best] = UINT32_MAX;
	}
	return false;
}

static bool assign_pair(void *arg, const struct layered_pair *pair)
{
	struct layers *layers = arg;

	layers->pair = pair;
	switch (layers->kind) {
	case PAIR_KEPT:
		try_kept(layers, layers->at);
		return true;
	case PAIR_WITH_SM:
		layers->sm_left_out |= !try_lane(
			layers, layers->lanes->vl[layers->lanes->sm_sl] - layers->first, false);
		return true;
	case PAIR_OF_HOSTS:
		layers->hopeless = !try_lanes(layers, layers->most);
		return !layers->hopeless;
	default:
		layers->excluded += !try_lanes(layers, layers->have);
		return true;
	}
}

/* ---- all pairs of a kind ---- */

static bool goes_as_kept(const struct layers *layers, uint32_t from, uint32_t to)
{
	const struct layered *layered = layers->layered;
	unsigned int n = layered_n_lids_from(layered->graph, from, to);

	for (unsigned int i = 0; i < n; i++) {
		uint16_t lid = layered_lid(layered->graph, to, i);

		layered_each_hop(layered, from, to, lid, sw,
				 channel) if (layered_kept_channel(layered, layers->at, sw, lid) !=
					      channel) return false;
	}
	return true;
}

static bool is_kind(void *arg, uint32_t a, uint32_t b)
{
	const struct layers *layers = arg;
	const struct route_graph *graph = layers->layered->graph;
	uint32_t sm = graph->sm_switch;
	unsigned int hops = route_distance(&layers->layered->plan.order,
					   layers->layered->hops[(size_t)a * graph->n + b]);

	if (layers->kind == PAIR_KEPT) /* pairs of the SM have another lane */
		return a < b && a != sm && b != sm && hops != ROUTE_FAR &&
		       goes_as_kept(layers, a, b) && goes_as_kept(layers, b, a);
	return (layers->kind != PAIR_OF_HOSTS || hops == layers->hops) &&
	       layered_is_kind(layers->layered, layers->kind, a, b);
}

/* Pairs of a kind that have no lane yet. */
static void assign_each(struct layers *layers, enum pair_kind kind)
{
	layers->kind = kind;
	layered_each_pair(layers->layered, layers->lanes, is_kind, assign_pair, layers);
}

static uint8_t vl_of_sm(const struct layers *layers)
{
	return layers->lanes->vl[layers->lanes->sm_sl];
}

/* If the lane of the SM's SL is in use. */
static void assign_with_sm(struct layers *layers)
{
	if (vl_of_sm(layers) >= layers->first)
		assign_each(layers, PAIR_WITH_SM);
}

static void assign_all_kept(struct layers *layers)
{
	for (unsigned int i = 0; layers->layered->kept && i < KEPT_TABLES; i++) {
		layers->at = &layers->layered->kept[i];
		assign_each(layers, PAIR_KEPT);
	}
}

/* If nearly all paths follow the order, the first lane has room for all pairs whose paths do. */
static void assign_legal(struct layers *layers)
{
	const struct layered *layered = layers->layered;
	uint32_t n = layered->graph->n, sm = layered->graph->sm_switch;
	bool with_sm = vl_of_sm(layers) <= layers->first;

	if (!layered->nearly_legal)
		return;
	open_lane(layers, 0);
	layers->n = 1;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			if (layered_is_legal(layered, a, b) && (with_sm || (a != sm && b != sm)))
				route_lanes_put(layers->lanes, a, b, layers->first);
}

/* Whether paths of the SM's switch, which go up after they went down, may close loops on its SL. */
static bool sm_needs_lanes(const struct layers *layers)
{
	const struct layered *layered = layers->layered;
	uint32_t sm = layered->graph->sm_switch;
	bool turns = false;

	if (!layered->nearly_legal || sm == FABRIC_NONE)
		return false;
	for (uint32_t sw = 0; sw < layered->graph->n; sw++)
		turns |= !layered_is_legal(layered, sw, sm);
	return turns && (layers->sm_left_out || vl_of_sm(layers) < layers->first);
}

/* ---- the whole ---- */

/*
 * Long paths first: they are harder to place. Where tables are kept, but the SM has moved to
 * another switch, its pairs have to leave their lanes, and should not push others from theirs.
 */
static void assign_pairs(struct layers *layers)
{
	const struct layered *layered = layers->layered;

	assign_legal(layers);
	assign_all_kept(layers);
	assign_with_sm(layers);
	if (layers->sm_left_out && layered->kept) {
		layers->sm_left_out = false;
		free_lanes(layers);
		begin_lanes(layers);
		assign_legal(layers);
		assign_with_sm(layers);
		assign_all_kept(layers);
	}
	layers->lanes->sm_by_path = sm_needs_lanes(layers);
	layers->hops = route_most_hops(&layered->plan.order, layered->hops);
	for (; layers->hops && !layers->hopeless; layers->hops--)
		assign_each(layers, PAIR_OF_HOSTS);
	if (layers->n <= layers->have && !layers->hopeless)
		assign_each(layers, PAIR_OF_SWITCH);
}

/*
 * On one lane, if it suffices, except for pairs that keep several: legal paths close no loop with
 * each other whatever SLs hosts still use, so these need not be kept.
 */
static void assign(struct layers *layers)
{
	const struct route_kept *kept = layers->layered->kept;
	bool keeps_lanes = kept && !layers->layered->all_legal &&
			   (kept[0].routing->lanes || kept[1].routing->lanes);
	uint32_t n = layers->lanes->n_switches;

	examine_way(layers->layered);
	if (!layers->layered->way->is_one || keeps_lanes) {
		assign_pairs(layers);
		return;
	}
	memset(layers->lanes->sl, layers->first, (size_t)n * n);
	layers->n = 1;
}

static bool fits(const struct layers *layers, GError **error)
{
	unsigned int first = layers->first, vls = layers->layered->vls;

	if (first < vls && layers->n <= layers->have && !layers->hopeless)
		return true;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "paths free of credit loops take %s%u virtual lanes from VL %u on, but the "
		    "cables between switches have only %u in common",
		    layers->hopeless ? "over " : "", layers->n, first, vls);
	return false;
}

/* Notes which SLs are for lanes that have no room for multicast. */
static void note_unsafe_sls(const struct layers *layers, struct routing *routing)
{
	struct route_lanes *lanes = routing->lanes;
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++) {
		if (lanes->vl[sl] < lanes->first ||
		    !(layers->lanes_without_trunk >> (lanes->vl[sl] - lanes->first) & 1))
			continue;
		lanes->sls_unsafe_for_multicast |= 1u << sl;
		g_string_append_printf(text, " %u", sl);
	}
	if (lanes->sls_unsafe_for_multicast)
		routing_note(routing,
			     "multicast groups with one of the SLs%s may close credit loops",
			     text->str);
}

static void finish(struct layers *layers)
{
	struct routing *routing = layers->layered->way->routing;

	layers->lanes->n = MAX(layers->n, 1);
	layered_put_lanes(layers->layered, &layers->lanes, layers->n <= 1 && !layers->first,
			  layers->excluded);
	if (routing->lanes)
		note_unsafe_sls(layers, routing);
}

bool layered_assign_one(struct layered *layered)
{
	/* Paths to one LID of each switch show a loop sooner. */
	bool known = layered->way->all || layered->way->is_loop || layered->all_legal;
	struct acyclic *few = known ? NULL : note_all(layered, true);
	bool good = !layered->way->is_loop && (!few || acyclic_sort(few));

	acyclic_free(few);
	layered->way->is_loop |= !good;
	if (good)
		examine_way(layered);
	good = good && layered->way->is_one;
	if (good)
		layered->way->routing->promises |= ROUTE_DEADLOCK_FREE;
	return good;
}

bool layered_assign(struct layered *layered, uint8_t first, GError **error)
{
	unsigned int vls = layered->vls;
	struct layers layers = {
		.layered = layered,
		.first = first,
		.have = vls > first ? vls - first : 0,
	};
	bool good;

	if (layered->way->is_refused && !error)
		return false;
	layers.most = error ? LANES_MAX : layers.have;
	begin_lanes(&layers);
	assign(&layers);
	good = fits(&layers, error);
	if (good)
		finish(&layers);
	layered->way->is_refused = !good;
	free_lanes(&layers);
	return good;
}

/* Tries ways that take fewer and fewer lanes; reports how many the last one takes. */
bool layered_assign_leaves(struct layered *layered, uint8_t first, GError **error)
{
	layered_spread_leaves(layered);
	if (layered_assign(layered, first, NULL))
		return true;
	for (enum spread_by by = SPREAD_PORTS; by <= SPREAD_DIMENSIONS; by++) {
		if (layered_spread(layered, by) == UINT64_MAX ||
		    !layered_assign(layered, first, NULL))
			continue;
		routing_note(layered->way->routing,
			     "paths spread by load need more virtual lanes than there are: paths "
			     "turn in the same order everywhere");
		return true;
	}
	return layered_assign(layered, first, error);
}
