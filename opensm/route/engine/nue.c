// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine nue: free of credit loops on any number of lanes, one included, in any network (Domke,
 * Hoefler, Matsuoka: Routing on the Dependency Graph, HPDC 2016).
 *
 * Shortest paths are tried first, on the lanes that may be used (layers.c); one lane is enough in
 * fat trees, meshes and hypercubes. Otherwise, on one lane, paths take free steps, destination by
 * destination. The cost of a hop grows with the load of its channel, steeply above the mean. A
 * second pass routes each destination again, by the loads of all others.
 */
#include <string.h>

#include "route/fill/shortest.h"
#include "route/layers/layered.h"
#include "route/renew/renew.h"
#include "route/value/lanes.h"

#define GROW_HOP 16	  /* cost of a hop over an idle channel */
#define GROW_HOP_MAX 1024 /* of a hop over the busiest channel */
#define NEW_STEP (3 * GROW_HOP)
#define BUCKETS 4096 /* a power of two; more than the difference of any two costs in the buckets   \
		      */
#define PASSES 2

/* ---- paths to one destination after the other on one lane ---- */

/*
 * Switches join the paths to a destination from near to far: by a channel only if the step from it
 * to the next one closes no loop with all steps taken before (acyclic.h). The path of least cost
 * comes first; a step that was not taken before costs extra, because it excludes others.
 *
 * Escape paths are those of the trunk: all its steps were taken before any others, so they are
 * always free. A switch that cannot join takes its escape path, as do all switches on that path,
 * and the others join again around these.
 */
struct nue {
	struct layered *layered;
	struct acyclic *lane; /* with the steps of the trunk */
	uint64_t *load;	      /* [channel] */
	uint16_t *hop_cost;   /* [channel] */
	uint64_t sum;	      /* of all loads */
	uint32_t escapes;     /* destinations with escape paths */
	uint32_t dest;	      /* current destination */
	uint32_t *chosen;     /* [switch]: channel towards it; FABRIC_NONE: none */
	uint32_t *cost;	      /* [switch]: of its path */
	uint32_t *given;      /* [switch]: channel of a path known in advance, or none */
	bool *excluded;	      /* [switch]: uses its escape path to the destination */
	/* Channels by which switches could join: lists by the cost of the whole path, modulo. */
	uint32_t bucket[BUCKETS]; /* the first channel, or FABRIC_NONE */
	uint32_t *next;		  /* [channel] */
	uint32_t n_offers;
};

static bool is_in(const struct nue *nue, uint32_t sw)
{
	return nue->chosen[sw] != FABRIC_NONE || sw == nue->dest;
}

static void join(struct nue *nue, uint32_t channel, uint32_t cost)
{
	uint32_t sw = nue->layered->channels->from[channel];

	nue->chosen[sw] = channel;
	nue->cost[sw] = cost;
}

/*
 * Joins a switch by its given path, after all switches on that path; their cost is bounded, for the
 * buckets. False if that path does not reach the destination in this number of hops.
 */
static bool join_given(struct nue *nue, uint32_t sw, uint32_t hops)
{
	uint32_t c = nue->given[sw], to;

	if (is_in(nue, sw))
		return true;
	if (c == FABRIC_NONE || !hops)
		return false;
	to = nue->layered->channels->to[c];
	if (!join_given(nue, to, hops - 1))
		return false;
	join(nue, c, MIN(nue->cost[to] + nue->hop_cost[c], GROW_HOP_MAX));
	return true;
}

/* ---- by free steps ---- */

/* The step from a channel to the rest of the path; false if the path ends there. */
static bool step_of(const struct nue *nue, uint32_t channel, struct acyclic_step *step)
{
	step->from = channel;
	step->to = nue->chosen[nue->layered->channels->to[channel]];
	return step->to != FABRIC_NONE;
}

/* Offers paths over a switch that has joined. */
static void offer_ways(struct nue *nue, uint32_t sw)
{
	const struct route_channels *channels = nue->layered->channels;

	for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++) {
		uint32_t back = channels->back[c], cost, *bucket;
		struct acyclic_step step;

		if (is_in(nue, channels->to[c]))
			continue;
		cost = nue->cost[sw] + nue->hop_cost[back];
		if (step_of(nue, back, &step) && !acyclic_has(nue->lane, step))
			cost += NEW_STEP;
		bucket = &nue->bucket[cost % BUCKETS];
		nue->next[back] = *bucket;
		*bucket = back;
		nue->n_offers++;
	}
}

/* Adds the step that a channel is taken by; false, with nothing added, if it would close a cycle.
 */
static bool add_step_of(struct nue *nue, uint32_t channel)
{
	struct acyclic_step step;

	return !step_of(nue, channel, &step) || acyclic_add(nue->lane, &step, 1);
}

/* Starts from all switches that have joined. */
static void join_others(struct nue *nue)
{
	const struct route_channels *channels = nue->layered->channels;

	for (uint32_t sw = 0; sw < nue->layered->graph->n; sw++)
		if (is_in(nue, sw))
			offer_ways(nue, sw);
	for (uint32_t cost = 0; nue->n_offers; cost++) {
		uint32_t c, *bucket = &nue->bucket[cost % BUCKETS];

		while ((c = *bucket) != FABRIC_NONE) {
			*bucket = nue->next[c];
			nue->n_offers--;
			if (is_in(nue, channels->from[c]) || !add_step_of(nue, c))
				continue;
			join(nue, c, cost);
			offer_ways(nue, channels->from[c]);
		}
	}
}

/* ---- by escape paths ---- */

/* Up the trunk, except for the switches above the destination. */
static void give_escapes(struct nue *nue)
{
	const struct route_channels *channels = nue->layered->channels;
	const uint8_t *trunk = nue->layered->way->routing->trunk;

	for (uint32_t sw = 0; sw < nue->layered->graph->n; sw++)
		nue->given[sw] = route_channel(channels, sw, trunk[sw]);
	for (uint32_t sw = nue->dest, c; trunk[sw]; sw = channels->to[c]) {
		c = route_channel(channels, sw, trunk[sw]);
		nue->given[channels->to[c]] = channels->back[c];
	}
}

static void begin(struct nue *nue, uint32_t dest)
{
	nue->dest = dest;
	memset(nue->chosen, 0xFF, nue->layered->graph->n * sizeof(*nue->chosen));
	nue->cost[dest] = 0;
}

/* Builds the missing paths, and takes their steps; true if some are escape paths. */
static bool grow_on(struct nue *nue)
{
	const struct layered *layered = nue->layered;
	uint32_t n = layered->graph->n;
	bool escapes = false;

	memset(nue->excluded, 0, n * sizeof(*nue->excluded));
	for (;;) {
		bool any = false;

		join_others(nue);
		for (uint32_t sw = 0; sw < n; sw++)
			if (!is_in(nue, sw) &&
			    layered->hops[(size_t)sw * n + nue->dest] != ROUTE_FAR)
				nue->excluded[sw] = any = true;
		if (!any)
			return escapes;
		escapes = true;
		give_escapes(nue);
		begin(nue, nue->dest);
		for (uint32_t sw = 0; sw < n; sw++)
			if (nue->excluded[sw])
				join_given(nue, sw, n);
	}
}

/* ---- kept paths ---- */

/* Takes the steps of all switches that joined, or none. */
static bool take_steps(struct nue *nue)
{
	uint32_t n_switches = nue->layered->graph->n;
	g_autofree struct acyclic_step *steps = g_new(struct acyclic_step, n_switches + 1);
	size_t n = 0;

	for (uint32_t sw = 0; sw < n_switches; sw++)
		if (nue->chosen[sw] != FABRIC_NONE)
			n += step_of(nue, nue->chosen[sw], &steps[n]);
	return acyclic_add(nue->lane, steps, n);
}

/*
 * Paths to a switch by a LID in kept tables, as far as channels still lead there and steps are
 * free: all of the newly computed tables, or what is left of the previous ones. Returns the number
 * of switches without a path; grow_on() builds these.
 */
static uint32_t grow_kept(struct nue *nue, uint32_t dest, uint16_t lid)
{
	const struct layered *layered = nue->layered;
	uint32_t n = layered->graph->n, missing = 0;

	for (unsigned int i = 0; i < KEPT_TABLES; i++) {
		missing = 0;
		begin(nue, dest);
		for (uint32_t sw = 0; sw < n; sw++)
			nue->given[sw] = layered_kept_channel(layered, &layered->kept[i], sw, lid);
		for (uint32_t sw = 0; sw < n; sw++)
			if (layered->hops[(size_t)sw * n + dest] != ROUTE_FAR)
				missing += !join_given(nue, sw, n);
		if ((!missing || i + 1 == KEPT_TABLES) && take_steps(nue))
			return missing;
	}
	begin(nue, dest);
	return MAX(missing, 1);
}

/* ---- all destinations ---- */

/* Grows with the cube of the load; 1.5 times the mean doubles it. */
static void set_costs(struct nue *nue)
{
	uint32_t n = nue->layered->channels->n;
	uint64_t scale = (UINT64_C(16) << 32) / (1 + nue->sum * 3 / (2 * MAX(n, 1)));

	for (uint32_t c = 0; c < n; c++) {
		uint32_t part = MIN(nue->load[c] * scale >> 32, 63);

		nue->hop_cost[c] = GROW_HOP + GROW_HOP * part * part * part / (16 * 16 * 16);
	}
}

/* Traffic from hosts of a switch to those of another. */
static uint64_t flow_to(const struct route_wishes *wishes, uint32_t sw, uint32_t dest)
{
	const struct route_graph *graph = wishes->graph;
	uint64_t flow = 0;

	for (uint32_t t = graph->first_target[dest]; t < graph->first_target[dest + 1]; t++)
		flow += route_n_senders(wishes, sw, t);
	return flow;
}

/* Adds the flows to a destination by the tables, or subtracts them. */
static void count_flows(struct nue *nue, uint32_t dest, bool add)
{
	const struct layered *layered = nue->layered;
	const struct route_graph *graph = layered->graph;
	uint16_t lid = route_lid_of(graph, dest), *most = &layered->way->routing->max_hops;

	for (uint32_t from = 0; lid && from < graph->n; from++) {
		uint64_t flow = from == dest ? 0 : flow_to(&layered->plan.wishes, from, dest),
			 hops = 0;

		layered_each_hop(layered, from, dest, lid, sw, c)
		{
			nue->load[c] += add ? flow : -flow;
			hops++;
		}
		nue->sum += add ? hops * flow : -(hops * flow);
		*most = add ? MAX(*most, hops) : *most;
	}
}

/* From the current paths. */
static void fill(struct nue *nue, uint32_t dest)
{
	const struct route_graph *graph = nue->layered->graph;

	for (unsigned int i = 0; i < layered_n_lids(graph, dest); i++)
		for (uint32_t sw = 0; sw < graph->n; sw++) {
			uint32_t c = nue->chosen[sw];

			if (c != FABRIC_NONE)
				route_columns_put(&nue->layered->way->columns, sw,
						  layered_lid(graph, dest, i), c);
		}
	count_flows(nue, dest, true);
}

/* Consecutive destinations are far apart: near ones would take the same steps. */
static void route_all(struct nue *nue)
{
	uint32_t n = nue->layered->graph->n, stride = route_stride(n);

	for (unsigned int pass = 0; pass < PASSES; pass++) {
		nue->escapes = nue->layered->way->routing->max_hops = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t dest = (uint64_t)i * stride % n;

			if (pass)
				count_flows(nue, dest, false);
			set_costs(nue);
			begin(nue, dest);
			nue->escapes += grow_on(nue);
			fill(nue, dest);
		}
	}
}

/*
 * First all that can stay; then, around it, the other paths to each destination. False if
 * enough are missing to make new paths shorter, and no more blocks of tables differ.
 */
static bool keep_all(struct nue *nue)
{
	const struct route_graph *graph = nue->layered->graph;
	uint64_t n = graph->n, all = 0;
	g_autofree uint32_t *missing = g_new(uint32_t, n + 1);

	set_costs(nue);
	nue->layered->way->routing->max_hops = 0;
	for (uint32_t dest = 0; dest < n; dest++) {
		missing[dest] = grow_kept(nue, dest, route_lid_of(graph, dest));
		all += missing[dest];
		if (!missing[dest])
			fill(nue, dest);
	}
	for (uint32_t dest = 0; all <= n * n / RENEW_REGROWN && dest < n; dest++) {
		if (!missing[dest])
			continue;
		set_costs(nue);
		grow_kept(nue, dest, route_lid_of(graph, dest));
		nue->escapes += grow_on(nue);
		fill(nue, dest);
	}
	return all <= n * n / RENEW_REGROWN;
}

/* False if the kept paths are of no use. */
static bool route_on_one_lane(struct layered *layered)
{
	uint64_t *most = &layered->way->routing->layered.busiest;
	bool good = true;
	uint32_t n = layered->graph->n;
	struct nue nue = {.layered = layered, .lane = acyclic_new(layered->channels)};

	nue.load = g_new0(uint64_t, layered->channels->n + 1);
	nue.hop_cost = g_new(uint16_t, layered->channels->n + 1);
	nue.chosen = g_new(uint32_t, n + 1);
	nue.cost = g_new(uint32_t, n + 1);
	nue.given = g_new(uint32_t, n + 1);
	nue.excluded = g_new(bool, n + 1);
	nue.next = g_new(uint32_t, layered->channels->n + 1);
	memset(nue.bucket, 0xFF, sizeof(nue.bucket));
	layered_find_trunk(layered, false);
	layered_take_trunk(layered, nue.lane);
	if (layered->kept)
		good = keep_all(&nue);
	else
		route_all(&nue);
	*most = 0;
	for (uint32_t c = 0; c < layered->channels->n; c++)
		*most = MAX(*most, nue.load[c]);
	if (nue.escapes)
		routing_note(layered->way->routing,
			     "%u of %u switches are reached over a spanning tree from some others",
			     nue.escapes, layered->graph->n);
	g_free(nue.load);
	g_free(nue.hop_cost);
	g_free(nue.chosen);
	g_free(nue.cost);
	g_free(nue.given);
	g_free(nue.excluded);
	g_free(nue.next);
	acyclic_free(nue.lane);
	return good;
}

/* Shortest paths, if this number of lanes is enough. */
static bool route_on_lanes(struct layered *layered)
{
	bool good = false;

	layered_spread_ahead(layered, SPREAD_LOADS);
	for (enum spread_by by = SPREAD_LIDS; !good && by < SPREAD_WAYS; by++)
		if (layered_spread(layered, by) < UINT64_MAX)
			good = layered->vls == 1 ? layered_assign_one(layered)
						 : layered_assign(layered, 0, NULL);
	return good;
}

/* Kept tables are all of one kind, or of no use. */
static bool route(struct layered *layered, G_GNUC_UNUSED GError **error)
{
	uint8_t most = layered->input->nue_max_num_vls;
	bool grown = layered->kept && layered->kept[0].routing->layered.grown;

	layered->wants_trunk = true;
	layered->vls = most ? MIN(layered->vls, most) : layered->vls;
	if (!grown && route_on_lanes(layered))
		return true;
	if (!grown && layered->kept)
		return false;
	if (layered->vls > 1)
		routing_note(layered->way->routing,
			     "%u virtual lanes are not enough for shortest paths: it uses one",
			     layered->vls);
	layered->way->routing->layered.grown = true;
	return route_on_one_lane(layered);
}

const struct route_engine route_engine_nue = {
	.name = "nue",
	.summary = "short paths free of credit loops on any number of lanes, even one",
	.promises = ROUTE_DEADLOCK_FREE,
	.ties = true,
	.route = route,
};
