// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Pairs of switches are given lanes one by one, each the first on which its paths can be added
 * (acyclic.h). The pairs of the switch at which the SM is come first: clients talk to the SM on the
 * SL that PortInfo tells them, hence on one lane. Shortest paths of these never close a loop among
 * themselves: a channel leads nearer to that switch or away from it.
 *
 * If tables of before are kept, pairs keep their lanes: first those whose paths are as in the
 * tables computed anew, then as in the last ones, for these close no loop together; the others if
 * they can.
 *
 * When lanes run out, the rest is put on more lanes than there are, to be able to say how many it
 * takes.
 */
#include "route/layers.h"

#include <string.h>

#include "route/acyclic.h"
#include "route/bits.h"
#include "route/demand.h"
#include "route/lanes.h"
#include "route/pairs.h"
#include "route/parallel.h"
#include "route/shortest.h"
#include "route/spread.h"
#include "route/trunk.h"

#define LANES_MAX 32

struct layers {
	struct layered *layered;
	struct route_lanes *lanes;
	struct acyclic *layer[LANES_MAX];
	uint8_t first;	      /* VL of paths */
	unsigned int vls;     /* of data, on all cables between switches */
	unsigned int n, have; /* lanes in use; those that cables have from the first on */
	uint32_t bare;	      /* bits of those without the trunk */
	unsigned int most;    /* where counting ends */
	struct acyclic_step *steps; /* of the pair at hand */
	size_t n_steps, size;
	const struct route_kept *at; /* tables whose lanes are kept at the moment */
	uint8_t hops;		     /* of pairs of hosts at the moment */
	bool sm_left_out;	     /* a pair with the SM cannot have its lane */
	bool hopeless;	      /* not even on so many, or a pair closes a loop by itself */
	uint64_t left_out, idle; /* pairs: that no lane is left for; that send nothing */
};

/* ---- all pairs at once ---- */

/* What the paths to some switches take. */
struct noting {
	const struct layered *layered;
	bool few; /* only to a LID of each switch with hosts */
	uint64_t *steps; /* bits */
	uint32_t *mark;	 /* [switch]: the last LID whose path from there was noted */
};

/* From all switches, or from sources. */
static void note_lid(const struct noting *noting, uint32_t to, uint16_t lid, bool all)
{
	const struct layered *layered = noting->layered;
	const struct route_channels *channels = layered->channels;

	if (layered->way->repeats[lid])
		return;
	for (uint32_t from = 0; from < layered->graph->n; from++) {
		uint32_t last = FABRIC_NONE, sw = from;

		if (!all && !route_is_source(layered->graph, from))
			continue;
		while (sw != to) {
			uint32_t c = route_columns_get(&layered->way->columns, sw, lid);

			if (c != FABRIC_NONE && last != FABRIC_NONE)
				bits_put(noting->steps, route_step_of(channels, last, c), true);
			if (c == FABRIC_NONE || noting->mark[sw] == lid)
				break;
			noting->mark[sw] = lid;
			last = c;
			sw = channels->to[c];
		}
	}
}

static void note_switches(void *arg, uint32_t first, uint32_t last)
{
	const struct noting *noting = arg;
	const struct route_graph *graph = noting->layered->graph;
	unsigned int threads = MAX(graph->threads, 1);

	for (noting += first; first < last; first++, noting++) {
		uint32_t end = (uint64_t)graph->n * (first + 1) / threads;

		for (uint32_t sw = (uint64_t)graph->n * first / threads; sw < end; sw++) {
			uint32_t t = graph->first_target[sw], n = route_n_hosts(graph, sw);

			for (uint32_t i = 0; i < (noting->few ? MIN(n, 1) : n); i++)
				note_lid(noting, sw, graph->targets[t + i].lid, true);
			for (unsigned int i = 0; !noting->few && i < route_n_own(graph, sw); i++)
				note_lid(noting, sw, graph->own_lid[sw] + i, false);
		}
	}
}

/* Of all that is sent, or of few of it. */
static struct acyclic *note_all(const struct layered *layered, bool few)
{
	const struct route_channels *channels = layered->channels;
	struct acyclic *all = acyclic_new(channels, NULL);
	unsigned int threads = MAX(layered->graph->threads, 1);
	g_autofree struct noting *noting = g_new(struct noting, threads);

	for (unsigned int i = 0; i < threads; i++)
		noting[i] = (struct noting){
			.layered = layered,
			.few = few,
			.steps = g_new0(uint64_t, channels->n_steps / 64 + 1),
			.mark = g_new0(uint32_t, layered->graph->n + 1),
		};
	route_parallel(threads, threads, note_switches, noting);
	for (unsigned int i = 0; i < threads; i++) {
		for (uint32_t c = 0; c < channels->n; c++) {
			uint32_t base = channels->step_base[c];
			const uint32_t *to = &channels->first[channels->to[c]];

			bits_each(noting[i].steps, base + to[0], base + to[1], step)
				acyclic_note(all, (struct acyclic_step){c, step - base});
		}
		g_free(noting[i].steps);
		g_free(noting[i].mark);
	}
	return all;
}

/* Whether one lane does for all, and the trunk if there is to be one. */
static bool is_one(struct layered *layered)
{
	struct layered_way *way = layered->way;

	if (way->all)
		return way->is_one;
	if (layered->wants_trunk)
		layered_find_trunk(layered, layered_trunk_root(layered), true);
	way->all = note_all(layered, false);
	way->is_one = acyclic_sort(way->all) && layered_take_trunk(layered, way->all);
	return way->is_one;
}

/* ---- lanes ---- */

static void begin_lanes(struct layers *layers)
{
	struct route_lanes *lanes = route_lanes_new(layers->layered->graph->n, layers->first);

	lanes->first = layers->first;
	lanes->sm_sl = layers->layered->input->sm_sl;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		lanes->vl[sl] = sl % layers->vls;
	layers->lanes = lanes;
	layers->n = 0;
	layers->bare = 0;
}

static void free_lanes(struct layers *layers)
{
	for (unsigned int i = 0; i < LANES_MAX; i++)
		g_clear_pointer(&layers->layer[i], acyclic_free);
	g_clear_pointer(&layers->lanes, route_lanes_free);
}

static bool add_steps(struct layers *layers, struct acyclic *lane)
{
	return acyclic_add(lane, layers->steps, layers->n_steps);
}

/* Whether a lane had no trunk in the last tables, which are kept. */
static bool was_bare(const struct layers *layers, unsigned int lane)
{
	const struct route_kept *kept = layers->layered->kept;
	const struct route_lanes *lanes = kept ? kept[KEPT_TABLES - 1].routing->lanes : NULL;

	return lanes && lanes->bare >> (layers->lanes->first + lane) & 1;
}

/* One that has the trunk, or the pair at hand without it, as that does not go with it anywhere. */
static void open_lane(struct layers *layers, unsigned int lane)
{
	const struct route_channels *channels = layers->layered->channels;
	const struct layered_way *way = layers->layered->way;
	struct acyclic *with = acyclic_new(channels, way->all), *bare;

	layers->layer[lane] = with;
	layered_take_trunk(layers->layered, with);
	if (!way->trunk || lane == 0 ||
	    (!was_bare(layers, lane) && add_steps(layers, with)))
		return;
	bare = acyclic_new(channels, way->all);
	if (!add_steps(layers, bare)) {
		acyclic_free(bare);
		return;
	}
	acyclic_free(with);
	layers->layer[lane] = bare;
	layers->bare |= 1u << lane;
}

/* Whether the pair at hand can have a lane, which may be known to have all its steps. */
static bool try_lane(struct layers *layers, unsigned int lane, bool has_all)
{
	if (!layers->layer[lane])
		open_lane(layers, lane);
	if (!has_all && !add_steps(layers, layers->layer[lane]))
		return false;
	layers->n = MAX(layers->n, lane + 1);
	return true;
}

/* ---- pairs ---- */

/* Makes a pair that at hand. */
static void turn_to(struct layers *layers, const uint32_t *channels, size_t n)
{
	if (layers->size < n) {
		layers->size = 2 * n;
		layers->steps = g_renew(struct acyclic_step, layers->steps, layers->size);
	}
	layers->n_steps = 0;
	for (size_t i = 1; i < n; i++)
		if (channels[i - 1] != FABRIC_NONE && channels[i] != FABRIC_NONE)
			layers->steps[layers->n_steps++] =
				(struct acyclic_step){channels[i - 1], channels[i]};
}

static void put_lane(struct layers *layers, uint32_t a, uint32_t b, unsigned int lane)
{
	route_lanes_put(layers->lanes, a, b, layers->lanes->first + lane);
}

/* Whether the pair at hand can have the lane again that it had in tables of before. */
static bool try_kept(struct layers *layers, const struct route_kept *kept, uint32_t a, uint32_t b,
		     unsigned int *lane)
{
	uint8_t sl = route_kept_sl(kept, a, b);

	*lane = sl - layers->lanes->first;
	return sl != ROUTE_NO_SL && sl >= layers->lanes->first && *lane < layers->have &&
	       try_lane(layers, *lane, false);
}

/* That of before, or the lane of so many to which a pair adds least; if none will do one more. */
static unsigned int find_lane(struct layers *layers, uint32_t a, uint32_t b, unsigned int n)
{
	const struct route_kept *kept = layers->layered->kept;
	uint32_t adds[LANES_MAX];
	unsigned int last;

	if (kept && try_kept(layers, &kept[KEPT_TABLES - 1], a, b, &last))
		return last;
	n = MIN(n, layers->n + 1);
	for (unsigned int lane = 0; lane < n; lane++) {
		adds[lane] = layers->layer[lane]
				     ? acyclic_lacks(layers->layer[lane], layers->steps,
						     layers->n_steps)
				     : layers->n_steps;
		if (!adds[lane] && try_lane(layers, lane, true))
			return lane;
	}
	for (;;) {
		unsigned int best = 0;

		for (unsigned int lane = 1; lane < n; lane++)
			if (adds[lane] < adds[best])
				best = lane;
		if (adds[best] == UINT32_MAX)
			return n;
		if (try_lane(layers, best, false))
			return best;
		adds[best] = UINT32_MAX;
	}
}

static bool assign_hosts(void *arg, uint32_t a, uint32_t b, const uint32_t *channels, size_t n)
{
	struct layers *layers = arg;
	unsigned int lane;

	turn_to(layers, channels, n);
	lane = find_lane(layers, a, b, layers->most);
	layers->hopeless = lane == layers->most || lane > layers->n;
	put_lane(layers, a, b, lane);
	return !layers->hopeless;
}

static bool assign_switch(void *arg, uint32_t a, uint32_t b, const uint32_t *channels, size_t n)
{
	struct layers *layers = arg;
	unsigned int lane;

	turn_to(layers, channels, n);
	lane = find_lane(layers, a, b, layers->have);
	if (lane < layers->have)
		put_lane(layers, a, b, lane);
	else
		layers->left_out++;
	return true;
}

static bool assign_sm(void *arg, uint32_t sm, uint32_t sw, const uint32_t *channels, size_t n)
{
	struct layers *layers = arg;
	unsigned int lane = layers->lanes->vl[layers->lanes->sm_sl] - layers->lanes->first;

	turn_to(layers, channels, n);
	if (try_lane(layers, lane, false))
		put_lane(layers, sm, sw, lane);
	else
		layers->sm_left_out = true;
	return true;
}

static bool assign_kept(void *arg, uint32_t a, uint32_t b, const uint32_t *channels, size_t n)
{
	struct layers *layers = arg;
	unsigned int lane;

	turn_to(layers, channels, n);
	if (try_kept(layers, layers->at, a, b, &lane))
		put_lane(layers, a, b, lane);
	return true;
}

/* ---- all of a kind ---- */

/* Whether two switches are of a kind, the order of which is that of the pair. */
typedef bool is_kind_fn(struct layers *layers, uint32_t a, uint32_t b);

/* Those of a kind that have no lane yet. */
static void assign_each(struct layers *layers, is_kind_fn *is_kind, layered_pair_fn *assign)
{
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(struct layered_pair));
	uint32_t n = layers->lanes->n_switches;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			struct layered_pair pair = {a, b};

			if (a != b && route_lanes_sl(layers->lanes, a, b) == ROUTE_NO_SL &&
			    is_kind(layers, a, b))
				g_array_append_val(pairs, pair);
		}
	layered_each_pair(layers->layered, pairs, assign, layers);
}

/* With the SM, if the lane of its SL is one of those in use. */
static bool is_with_sm(struct layers *layers, uint32_t a, G_GNUC_UNUSED uint32_t b)
{
	return a == layers->layered->graph->sm_switch &&
	       layers->lanes->vl[layers->lanes->sm_sl] >= layers->lanes->first;
}

/* Paths are as in tables of before; the SM's have another lane. */
static bool is_kept(struct layers *layers, uint32_t a, uint32_t b)
{
	uint32_t sm = layers->layered->graph->sm_switch;

	return a < b && a != sm && b != sm &&
	       layered_is_as_kept(layers->layered, layers->at, a, b);
}

/* Hosts that send each other anything, from so far. */
static bool is_of_hosts(struct layers *layers, uint32_t a, uint32_t b)
{
	const struct route_graph *graph = layers->layered->graph;

	return a < b && layers->layered->hops[(size_t)a * graph->n + b] == layers->hops &&
	       route_has_hosts(graph, a) && route_has_hosts(graph, b) &&
	       route_sends(graph, a, b);
}

/* Hosts, and a switch without any. */
static bool is_of_switch(struct layers *layers, uint32_t a, uint32_t b)
{
	const struct route_graph *graph = layers->layered->graph;

	return route_has_hosts(graph, a) && !route_has_hosts(graph, b);
}

static void assign_all_kept(struct layers *layers)
{
	for (unsigned int i = 0; layers->layered->kept && i < KEPT_TABLES; i++) {
		layers->at = &layers->layered->kept[i];
		assign_each(layers, is_kept, assign_kept);
	}
}

/* ---- the whole ---- */

/* Whether tables of before have several lanes, which pairs then keep. */
static bool keeps_lanes(const struct layered *layered)
{
	bool any = false;

	for (unsigned int i = 0; layered->kept && i < KEPT_TABLES; i++)
		any |= layered->kept[i].routing->lanes != NULL;
	return any;
}

/* Hosts that send each other nothing need no lane. */
static uint64_t count_idle(const struct layered *layered)
{
	const struct route_graph *graph = layered->graph;
	uint64_t idle = 0;

	for (uint32_t a = 0; a < graph->n; a++)
		for (uint32_t b = a + 1; route_has_hosts(graph, a) && b < graph->n; b++)
			idle += route_has_hosts(graph, b) && !route_sends(graph, a, b) &&
				layered->hops[(size_t)a * graph->n + b] != ROUTE_FAR;
	return idle;
}

/*
 * Long paths first: they are harder to place. Where tables are kept, but the SM is at another
 * switch, its pairs have to leave their lanes, and should push no others from theirs.
 */
static void assign_pairs(struct layers *layers)
{
	const struct layered *layered = layers->layered;

	assign_all_kept(layers);
	assign_each(layers, is_with_sm, assign_sm);
	if (layers->sm_left_out && layered->kept) {
		free_lanes(layers);
		begin_lanes(layers);
		assign_each(layers, is_with_sm, assign_sm);
		assign_all_kept(layers);
	}
	layers->hops = route_most_hops(layered->graph, layered->hops);
	for (; layers->hops && !layers->hopeless; layers->hops--)
		assign_each(layers, is_of_hosts, assign_hosts);
	if (layers->n <= layers->have && !layers->hopeless)
		assign_each(layers, is_of_switch, assign_switch);
	layers->idle = count_idle(layered);
}

static void assign(struct layers *layers)
{
	uint32_t n = layers->lanes->n_switches;

	if (!is_one(layers->layered) || keeps_lanes(layers->layered)) {
		assign_pairs(layers);
		return;
	}
	memset(layers->lanes->sl, layers->lanes->first, (size_t)n * n);
	layers->n = 1;
}

static bool fits(const struct layers *layers, unsigned int vls, GError **error)
{
	unsigned int first = layers->lanes->first;

	if (first < vls && layers->n <= layers->have && !layers->hopeless)
		return true;
	g_set_error(
		error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		"paths free of credit loops take %s%u virtual lanes from VL %u on, and there are "
		"but %u in all that every cable between switches has",
		layers->hopeless ? "over " : "", layers->n, first, vls);
	return false;
}

/* Tells which SLs are for lanes that have no room for multicast. */
static void note_bare(struct layers *layers)
{
	struct route_lanes *lanes = layers->lanes;
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++) {
		if (lanes->vl[sl] < lanes->first ||
		    !(layers->bare >> (lanes->vl[sl] - lanes->first) & 1))
			continue;
		lanes->bare |= 1u << sl;
		g_string_append_printf(text, " %u", sl);
	}
	if (lanes->bare)
		routing_note(layers->layered->way->routing,
			     "multicast groups with one of the SLs%s may close credit loops",
			     text->str);
}

/* Lane 0 for all needs no SL. */
static void finish(struct layers *layers)
{
	struct routing *routing = layers->layered->way->routing;

	routing->promises |= ROUTE_DEADLOCK_FREE;
	if (layers->n <= 1 && !layers->lanes->first && !layers->left_out && !layers->idle)
		return;
	layers->lanes->n = MAX(layers->n, 1);
	note_bare(layers);
	routing->lanes = g_steal_pointer(&layers->lanes);
	if (layers->left_out)
		routing_note(layers->layered->way->routing,
			     "%" G_GUINT64_FORMAT
			     " pairs of switches, of which one has hosts, would close "
			     "credit loops on each of %u virtual lanes: they get no PathRecord",
			     layers->left_out, layers->have);
	layered_note_idle(layers->layered, layers->idle);
}

/* Whether paths to a LID of each switch close a loop already, which takes less time to see. */
static bool is_loop(const struct layered *layered)
{
	struct acyclic *few = layered->way->all ? NULL : note_all(layered, true);
	bool loop = few && !acyclic_sort(few);

	acyclic_free(few);
	return loop;
}

bool layered_assign_one(struct layered *layered)
{
	if (is_loop(layered) || !is_one(layered))
		return false;
	layered->way->routing->promises |= ROUTE_DEADLOCK_FREE;
	return true;
}

bool layered_assign(struct layered *layered, uint8_t first, GError **error)
{
	unsigned int vls = route_data_vls(layered->fabric, layered->input);
	struct layers layers = {
		.layered = layered,
		.first = first,
		.vls = vls,
		.have = vls > first ? vls - first : 0,
	};
	bool good;

	if (layered->way->is_refused && !error)
		return false;
	layers.most = error ? LANES_MAX : layers.have;
	begin_lanes(&layers);
	assign(&layers);
	good = fits(&layers, vls, error);
	if (good)
		finish(&layers);
	layered->way->is_refused = !good;
	free_lanes(&layers);
	g_free(layers.steps);
	return good;
}

/* Ways that take fewer lanes from one to the next; how many the last one takes is told. */
bool layered_assign_leaves(struct layered *layered, uint8_t first, GError **error)
{
	enum spread_by last = SPREAD_DIMENSIONS;

	while (last > SPREAD_LEAVES && !layered_is_way(layered, last))
		last--;
	layered_spread_leaves(layered);
	if (layered_assign(layered, first, last == SPREAD_LEAVES ? error : NULL))
		return true;
	for (enum spread_by by = SPREAD_PORTS; by <= last; by++) {
		if (!layered_is_way(layered, by))
			continue;
		layered_spread(layered, by);
		if (!layered_assign(layered, first, by == last ? error : NULL))
			continue;
		routing_note(layered->way->routing,
			     "spread by load, paths take more virtual lanes than there are: so "
			     "they turn in one order everywhere");
		return true;
	}
	return false;
}
