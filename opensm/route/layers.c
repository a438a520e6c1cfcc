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

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "route/acyclic.h"
#include "route/bits.h"
#include "route/demand.h"
#include "route/lanes.h"
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
	const struct acyclic_step *steps; /* of the pair at hand */
	uint32_t n_steps;
	struct layered_paths paths; /* for turn_to() */
	GArray *listed;		    /* struct acyclic_step: by turn_to() */
	bool hopeless;	      /* not even on so many, or a pair closes a loop by itself */
	uint64_t left_out, idle; /* pairs: that no lane is left for; that send nothing */
};

/* Adds the steps of what two switches send each other. */
static void list_steps(const struct layered *layered, uint32_t a, uint32_t b,
		       struct layered_paths *paths, GArray *steps)
{
	struct acyclic_step *step;
	guint n = steps->len;

	paths->n = 0;
	layered_list_paths(layered, a, b, paths);
	g_array_set_size(steps, n + paths->n);
	step = (struct acyclic_step *)(void *)steps->data;
	for (size_t i = 1; i < paths->n; i++)
		if (paths->channels[i - 1] != FABRIC_NONE && paths->channels[i] != FABRIC_NONE)
			step[n++] = (struct acyclic_step){paths->channels[i - 1],
							  paths->channels[i]};
	g_array_set_size(steps, n);
}

/* Makes a pair that at hand. */
static void turn_to(struct layers *layers, uint32_t a, uint32_t b)
{
	g_array_set_size(layers->listed, 0);
	list_steps(layers->layered, a, b, &layers->paths, layers->listed);
	layers->steps = (const struct acyclic_step *)(const void *)layers->listed->data;
	layers->n_steps = layers->listed->len;
}

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
			uint32_t c = layered_channel(layered, sw, lid);

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

/* Whether a pair, the one at hand, can have the lane again that it had in tables of before. */
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

static bool is_done(const struct layers *layers, uint32_t a, uint32_t b)
{
	return route_lanes_sl(layers->lanes, a, b) != ROUTE_NO_SL;
}

/* With the SM, if the lane of its SL is one of those in use; false if some pair cannot have it. */
static bool assign_sm(struct layers *layers)
{
	struct route_lanes *lanes = layers->lanes;
	unsigned int lane = lanes->vl[lanes->sm_sl];
	uint32_t sm = layers->layered->graph->sm_switch;
	bool all = true;

	if (sm == FABRIC_NONE || lane < lanes->first)
		return true;
	for (uint32_t sw = 0; sw < lanes->n_switches; sw++) {
		if (sw == sm)
			continue;
		turn_to(layers, sm, sw);
		if (try_lane(layers, lane - lanes->first, false))
			route_lanes_put(lanes, sm, sw, lane);
		else
			all = false;
	}
	return all;
}

static void assign_pair(struct layers *layers, uint32_t a, uint32_t b)
{
	unsigned int lane = find_lane(layers, a, b, layers->most);

	layers->hopeless = lane == layers->most || lane > layers->n;
	route_lanes_put(layers->lanes, a, b, layers->lanes->first + lane);
}

/* Pairs whose paths are as in tables of before, on the lanes that they had there. */
static void assign_kept(struct layers *layers, const struct route_kept *kept)
{
	const struct layered *layered = layers->layered;
	uint32_t n = layers->lanes->n_switches, sm = layered->graph->sm_switch;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++) {
			unsigned int lane;

			if (a == sm || b == sm || is_done(layers, a, b) ||
			    !layered_is_as_kept(layered, kept, a, b))
				continue;
			turn_to(layers, a, b);
			if (try_kept(layers, kept, a, b, &lane))
				route_lanes_put(layers->lanes, a, b, layers->lanes->first + lane);
		}
}

static void assign_all_kept(struct layers *layers)
{
	for (unsigned int i = 0; i < KEPT_TABLES; i++)
		assign_kept(layers, &layers->layered->kept[i]);
}

/* ---- pairs of switches with hosts ---- */

#define PAIRS_AT_ONCE 2048

struct pair {
	uint32_t a, b;
};

/* Some pairs in a row, whose steps one thread lists. */
struct part {
	const struct pair *pairs;
	uint32_t n;
	struct layered_paths paths;
	GArray *steps; /* struct acyclic_step */
	guint end[PAIRS_AT_ONCE];
};

/* The steps of the next pairs are listed while those before are given lanes. */
struct pipeline {
	struct layers *layers;
	GArray *pairs;
	struct part *parts[2]; /* [thread]: by turns */
	atomic_uint last;      /* round: what follows is hopeless */
};

static void list_part(const struct layered *layered, struct part *part)
{
	g_array_set_size(part->steps, 0);
	for (uint32_t i = 0; i < part->n; i++) {
		list_steps(layered, part->pairs[i].a, part->pairs[i].b, &part->paths, part->steps);
		part->end[i] = part->steps->len;
	}
}

static void assign_part(struct layers *layers, const struct part *part)
{
	guint first = 0;

	for (uint32_t i = 0; i < part->n && !layers->hopeless; i++) {
		layers->steps = (const struct acyclic_step *)(const void *)part->steps->data;
		layers->steps += first;
		layers->n_steps = part->end[i] - first;
		assign_pair(layers, part->pairs[i].a, part->pairs[i].b);
		first = part->end[i];
	}
}

/* The first thread gives lanes, and the others list, if there are any. */
static void run_pipeline(void *arg, struct route_team *team, unsigned int thread, unsigned int n)
{
	struct pipeline *pipeline = arg;
	unsigned int n_parts = MAX(n, 2) - 1, i = thread ? thread - 1 : 0;
	uint32_t n_pairs = pipeline->pairs->len;
	uint32_t n_rounds = (n_pairs + PAIRS_AT_ONCE - 1) / PAIRS_AT_ONCE;

	for (unsigned int round = 0; round <= n_rounds; round++) {
		const struct part *before = pipeline->parts[!(round % 2)];
		struct part *part = &pipeline->parts[round % 2][i];

		if (round < n_rounds && (thread || n == 1)) {
			uint32_t first = round * PAIRS_AT_ONCE;
			uint32_t size = MIN(PAIRS_AT_ONCE, n_pairs - first);

			part->pairs = &g_array_index(pipeline->pairs, struct pair,
						     first + size * i / n_parts);
			part->n = size * (i + 1) / n_parts - size * i / n_parts;
			list_part(pipeline->layers->layered, part);
		}
		for (unsigned int p = 0; round && !thread && p < n_parts; p++)
			assign_part(pipeline->layers, &before[p]);
		if (!thread && pipeline->layers->hopeless)
			atomic_store(&pipeline->last, round);
		route_team_meet(team);
		if (round >= atomic_load(&pipeline->last))
			break;
	}
}

/* Pairs that send each other anything and have no lane yet; of others it counts who is idle. */
static GArray *list_pairs(struct layers *layers)
{
	const struct route_graph *graph = layers->layered->graph;
	const uint8_t *hops = layers->layered->hops;
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct pair));

	for (uint8_t most = route_most_hops(graph, hops); most; most--)
		for (uint32_t a = 0; a < graph->n; a++)
			for (uint32_t b = a + 1; route_has_hosts(graph, a) && b < graph->n; b++) {
				struct pair pair = {a, b};

				if (hops[(size_t)a * graph->n + b] != most ||
				    !route_has_hosts(graph, b))
					continue;
				layers->idle += !route_sends(graph, a, b);
				if (route_sends(graph, a, b) && !is_done(layers, a, b))
					g_array_append_val(pairs, pair);
			}
	return pairs;
}

/* Long paths first: they are harder to place. */
static void assign_pairs(struct layers *layers)
{
	unsigned int threads = layers->layered->graph->threads, n_parts = MAX(threads, 2) - 1;
	struct pipeline pipeline = {.layers = layers, .pairs = list_pairs(layers)};

	atomic_init(&pipeline.last, UINT_MAX);
	for (unsigned int i = 0; i < 2 * n_parts; i++) {
		if (!(i % n_parts))
			pipeline.parts[i / n_parts] = g_new0(struct part, n_parts);
		pipeline.parts[i / n_parts][i % n_parts].steps =
			g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	}
	route_team_run(threads, run_pipeline, &pipeline);
	for (unsigned int i = 0; i < 2 * n_parts; i++) {
		struct part *part = &pipeline.parts[i / n_parts][i % n_parts];

		g_array_unref(part->steps);
		g_free(part->paths.channels);
	}
	g_free(pipeline.parts[0]);
	g_free(pipeline.parts[1]);
	g_array_unref(pipeline.pairs);
}

/*
 * Where tables are kept, but the SM is at another
 * switch, its pairs have to leave their lanes, and should push no others from theirs.
 */
static void assign_hosts(struct layers *layers)
{
	const struct layered *layered = layers->layered;

	if (layered->kept)
		assign_all_kept(layers);
	if (!assign_sm(layers) && layered->kept) {
		free_lanes(layers);
		begin_lanes(layers);
		assign_sm(layers);
		assign_all_kept(layers);
	}
	assign_pairs(layers);
}

/* Between hosts and switches without any. */
static void assign_switches(struct layers *layers)
{
	const struct route_graph *graph = layers->layered->graph;

	for (uint32_t a = 0; a < graph->n; a++) {
		for (uint32_t b = 0; route_has_hosts(graph, a) && b < graph->n; b++) {
			unsigned int lane;

			if (route_has_hosts(graph, b) || is_done(layers, a, b))
				continue;
			turn_to(layers, a, b);
			lane = find_lane(layers, a, b, layers->have);
			if (lane < layers->have)
				route_lanes_put(layers->lanes, a, b, layers->lanes->first + lane);
			else
				layers->left_out++;
		}
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

static void assign(struct layers *layers)
{
	uint32_t n = layers->lanes->n_switches;

	if (is_one(layers->layered) && !keeps_lanes(layers->layered)) {
		memset(layers->lanes->sl, layers->lanes->first, (size_t)n * n);
		layers->n = 1;
		return;
	}
	assign_hosts(layers);
	if (layers->n <= layers->have && !layers->hopeless)
		assign_switches(layers);
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
	layers.listed = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	assign(&layers);
	good = fits(&layers, vls, error);
	if (good)
		finish(&layers);
	layered->way->is_refused = !good;
	free_lanes(&layers);
	g_array_unref(layers.listed);
	g_free(layers.paths.channels);
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
