// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine nue: free of credit loops on any number of lanes, one included, in any network.
 *
 * On one lane, one destination after the other, switches join the paths to it from near to far: by
 * a channel only if the step from that to the next one closes no loop with all that was taken
 * before (acyclic.h). The way of the least load and fewest hops comes first; one that takes no new
 * step counts as shorter, for each new one forbids others. Where a switch is left out, the
 * destination is reached over a tree that spans the network instead, of which all steps were taken
 * before anything else, so that they are always free.
 *
 * If more lanes may be used, shortest paths are tried on these first (layers.c).
 */
#include <string.h>

#include "complib/heap.h"
#include "route/acyclic.h"
#include "route/lanes.h"
#include "route/layers.h"
#include "route/shortest.h"
#include "route/trunk.h"

#define NEW_STEP 3 /* hops that a way may be longer if it takes no new step */

/* A channel by which a switch could join. */
struct offer {
	size_t place;  /* in the heap */
	uint64_t cost; /* of the whole way */
};

struct nue {
	struct layered *layered;
	struct acyclic *lane;
	uint32_t *chosen; /* [switch]: channel towards the destination; FABRIC_NONE: none */
	uint64_t *cost;	  /* [switch]: load of its way */
	uint16_t *depth;  /* [switch]: hops of it */
	uint32_t *joined; /* switches as they did, the destination first */
	uint32_t n_joined;
	struct offer *offers; /* [channel] */
	struct heap heap;
	uint64_t hop;	  /* what a hop costs beside the load: the mean load */
	uint64_t sum;	  /* of all loads */
	uint64_t *load;	  /* [channel] */
	uint64_t *sent;	  /* [switch] */
	uint32_t escapes; /* destinations that are reached over the tree */
};

static bool is_before(const void *a, const void *b)
{
	const struct offer *x = a, *y = b;

	return x->cost != y->cost ? x->cost < y->cost : x < y;
}

static size_t *place_of(void *offer)
{
	return &((struct offer *)offer)->place;
}

/* ---- a destination ---- */

static void begin(struct nue *nue, uint32_t dest)
{
	memset(nue->chosen, 0xFF, nue->layered->graph->n * sizeof(*nue->chosen));
	nue->cost[dest] = 0;
	nue->depth[dest] = 0;
	nue->joined[0] = dest;
	nue->n_joined = 1;
}

static void join(struct nue *nue, uint32_t channel, uint64_t cost)
{
	uint32_t sw = nue->layered->channels->from[channel];

	nue->chosen[sw] = channel;
	nue->cost[sw] = cost;
	nue->depth[sw] = nue->depth[nue->layered->channels->to[channel]] + 1;
	nue->joined[nue->n_joined++] = sw;
}

static bool is_in(const struct nue *nue, uint32_t sw)
{
	return nue->chosen[sw] != FABRIC_NONE || sw == nue->joined[0];
}

/* Whether the step from a channel to the way on was not taken before. */
static bool is_new(const struct nue *nue, uint32_t channel)
{
	uint32_t next = nue->chosen[nue->layered->channels->to[channel]];
	struct acyclic_step step = {channel, next};

	return next != FABRIC_NONE && !acyclic_has(nue->lane, step);
}

/* Ways over a switch that has joined. */
static void offer_ways(struct nue *nue, uint32_t sw)
{
	const struct route_channels *channels = nue->layered->channels;

	for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++) {
		struct offer *offer = &nue->offers[channels->back[c]];

		if (is_in(nue, channels->to[c]))
			continue;
		offer->cost = nue->cost[sw] + nue->hop + nue->load[channels->back[c]];
		if (is_new(nue, channels->back[c]))
			offer->cost += NEW_STEP * nue->hop;
		heap_insert(&nue->heap, offer);
	}
}

static bool is_free(struct nue *nue, uint32_t channel)
{
	uint32_t next = nue->chosen[nue->layered->channels->to[channel]];
	struct acyclic_step step = {channel, next};

	return next == FABRIC_NONE || acyclic_add(nue->lane, &step, 1);
}

static void grow(struct nue *nue, uint32_t dest)
{
	const struct route_channels *channels = nue->layered->channels;
	struct offer *offer;

	begin(nue, dest);
	offer_ways(nue, dest);
	while ((offer = heap_top(&nue->heap))) {
		uint32_t channel = offer - nue->offers;

		heap_remove(&nue->heap, offer);
		if (is_in(nue, channels->from[channel]) || !is_free(nue, channel))
			continue;
		join(nue, channel, offer->cost);
		offer_ways(nue, channels->from[channel]);
	}
}

/* By channels of the tree that spans the network. */
static void grow_on_trunk(struct nue *nue, uint32_t dest)
{
	const struct route_channels *channels = nue->layered->channels;

	begin(nue, dest);
	for (uint32_t i = 0; i < nue->n_joined; i++) {
		uint32_t sw = nue->joined[i];

		for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++)
			if (!is_in(nue, channels->to[c]) && nue->layered->trunk[c])
				join(nue, channels->back[c], 0);
	}
}

/* The switch from which the farthest is nearest. */
static uint32_t find_center(const struct layered *layered)
{
	uint32_t n = layered->graph->n, best = 0;
	unsigned int least = UINT32_MAX;

	for (uint32_t sw = 0; sw < n; sw++) {
		unsigned int most = 0;

		for (uint32_t to = 0; to < n; to++)
			most = MAX(most, layered->hops[(size_t)sw * n + to]);
		if (most < least)
			best = sw;
		least = MIN(least, most);
	}
	return best;
}

/* ---- tables ---- */

static void put(const struct nue *nue, uint16_t lid, uint8_t exit)
{
	const struct layered *layered = nue->layered;

	for (uint32_t i = 1; i < nue->n_joined; i++) {
		uint32_t sw = nue->joined[i];

		layered->routing->max_hops = MAX(layered->routing->max_hops, nue->depth[sw]);
		layered->routing->lft[sw][lid] = layered->graph->links[nue->chosen[sw]];
	}
	layered->routing->lft[nue->joined[0]][lid] = exit;
}

/* What hosts of a switch send to those of another. */
static uint64_t flow_to(const struct route_graph *graph, uint32_t sw, uint32_t dest)
{
	uint64_t flow = 0;

	if (!graph->senders) /* all are alike */
		return (uint64_t)route_n_hosts(graph, sw) * route_n_hosts(graph, dest);
	for (uint32_t t = graph->first_target[dest]; t < graph->first_target[dest + 1]; t++)
		flow += route_n_senders(graph, sw, &graph->targets[t]);
	return flow;
}

static void add_flows(struct nue *nue, uint32_t dest)
{
	const struct layered *layered = nue->layered;

	for (uint32_t i = 0; i < nue->n_joined; i++)
		nue->sent[nue->joined[i]] = flow_to(layered->graph, nue->joined[i], dest);
	for (uint32_t i = nue->n_joined; i-- > 1;) {
		uint32_t sw = nue->joined[i], c = nue->chosen[sw];

		nue->load[c] += nue->sent[sw];
		nue->sum += nue->sent[sw];
		nue->sent[layered->channels->to[c]] += nue->sent[sw];
	}
}

/* How many switches cables join to it. */
static uint32_t count_reached(const struct layered *layered, uint32_t dest)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < layered->graph->n; sw++)
		n += layered->hops[(size_t)sw * layered->graph->n + dest] != ROUTE_FAR;
	return n;
}

static void route_to(struct nue *nue, uint32_t dest)
{
	const struct route_graph *graph = nue->layered->graph;

	nue->hop = 1 + (nue->layered->channels->n ? nue->sum / nue->layered->channels->n : 0);
	grow(nue, dest);
	if (nue->n_joined < count_reached(nue->layered, dest)) {
		grow_on_trunk(nue, dest);
		nue->escapes++;
	}
	for (uint32_t t = graph->first_target[dest]; t < graph->first_target[dest + 1]; t++)
		put(nue, graph->targets[t].lid, graph->targets[t].exit);
	for (unsigned int i = 0; graph->own_lid[dest] && i < 1u << graph->own_lmc[dest]; i++)
		put(nue, graph->own_lid[dest] + i, 0);
	add_flows(nue, dest);
}

/* The greatest of both. */
static uint32_t divisor_of(uint32_t a, uint32_t b)
{
	return b ? divisor_of(b, a % b) : a;
}

/* Destinations that follow each other stand far apart: near ones would take the same steps. */
static void route_all(struct nue *nue)
{
	uint32_t n = nue->layered->graph->n, stride = n * 0.382 + 1;

	while (n && divisor_of(n, stride) != 1)
		stride++;
	for (uint32_t i = 0; i < n; i++)
		route_to(nue, (uint64_t)i * stride % n);
}

static void route_on_one_lane(struct layered *layered)
{
	uint32_t n = layered->graph->n, n_channels = layered->channels->n;
	struct nue nue = {.layered = layered};

	nue.lane = acyclic_new(layered->channels, NULL);
	nue.chosen = g_new(uint32_t, n + 1);
	nue.cost = g_new0(uint64_t, n + 1);
	nue.depth = g_new0(uint16_t, n + 1);
	nue.joined = g_new(uint32_t, n + 1);
	nue.offers = g_new0(struct offer, n_channels + 1);
	heap_init(&nue.heap, is_before, place_of);
	nue.load = g_new0(uint64_t, n_channels + 1);
	nue.sent = g_new0(uint64_t, n + 1);
	layered_find_trunk(layered, find_center(layered));
	layered_take_trunk(layered, nue.lane);
	route_all(&nue);
	if (nue.escapes)
		layered_note(layered, "%u of %u switches are reached over a spanning tree only",
			     nue.escapes, n);
	acyclic_free(nue.lane);
	g_free(nue.chosen);
	g_free(nue.cost);
	g_free(nue.depth);
	g_free(nue.joined);
	g_free(nue.offers);
	heap_clear(&nue.heap);
	g_free(nue.load);
	g_free(nue.sent);
}

/* Shortest paths, if the lanes that may be used do for them. */
static bool route_on_lanes(struct layered *layered, const struct route_input *input)
{
	struct route_input own = *input;
	unsigned int vls = route_data_vls(layered->fabric, input);
	bool good = false;

	own.vls = input->nue_max_num_vls ? MIN(vls, input->nue_max_num_vls) : vls;
	layered->input = &own;
	layered->wants_trunk = true;
	for (enum spread_by by = SPREAD_LIDS; own.vls > 1 && !good && by <= SPREAD_PORTS; by++) {
		layered_spread(layered, by);
		good = layered_assign(layered, 0, NULL);
	}
	layered->input = input;
	if (own.vls > 1 && !good)
		layered_note(layered, "%u virtual lanes do not do for shortest paths: it uses one",
			     own.vls);
	return good;
}

static struct routing *nue_compute(const struct fabric *fabric, const struct route_input *input,
				   GError **error)
{
	struct layered layered;

	if (!layered_init(&layered, &route_engine_nue, fabric, input, error))
		return NULL;
	if (!route_on_lanes(&layered, input))
		route_on_one_lane(&layered);
	return layered_end(&layered, true);
}

const struct route_engine route_engine_nue = {
	.name = "nue",
	.summary = "short paths free of credit loops on as many lanes as there are, even one",
	.promises = ROUTE_DEADLOCK_FREE,
	.compute = nue_compute,
};
