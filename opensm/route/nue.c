// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine nue: free of credit loops on any number of lanes, one included, in any network (Domke,
 * Hoefler, Matsuoka: Routing on the Dependency Graph, HPDC 2016).
 *
 * Shortest paths are tried first, on the lanes that may be used (layers.c); one does for them in
 * fat trees, meshes and hypercubes. Else, on one lane, paths take what steps are free, destination
 * by destination (grow.c). A hop costs more the more load its channel has, far more from the mean
 * on. A second pass routes each destination once more, by the loads that all others make.
 */
#include "route/grow.h"
#include "route/lanes.h"
#include "route/layers.h"
#include "route/shortest.h"
#include "route/trunk.h"

#define PASSES 2

struct nue {
	struct layered *layered;
	struct grow *grow;
	uint64_t *load;	  /* [channel] */
	uint16_t *cost;	  /* [channel]: of a hop */
	uint64_t sum;	  /* of all loads */
	uint32_t escapes; /* destinations with escape paths */
};

/* Grows with the cube of the load; 1.5 times the mean doubles it. */
static void set_costs(struct nue *nue)
{
	uint32_t n = nue->layered->channels->n;
	uint64_t scale = (UINT64_C(16) << 32) / (1 + nue->sum * 3 / (2 * MAX(n, 1)));

	for (uint32_t c = 0; c < n; c++) {
		uint32_t part = MIN(nue->load[c] * scale >> 32, 63);

		nue->cost[c] = GROW_HOP + GROW_HOP * part * part * part / (16 * 16 * 16);
	}
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

/* Adds the flows to a destination as the tables have them, or takes them out. */
static void count_flows(struct nue *nue, uint32_t dest, bool add)
{
	const struct layered *layered = nue->layered;
	const struct route_graph *graph = layered->graph;
	uint16_t lid = route_lid_of(graph, dest), *most = &layered->routing->max_hops;

	for (uint32_t from = 0; lid && from < graph->n; from++) {
		uint64_t flow = from == dest ? 0 : flow_to(graph, from, dest), hops = 0;
		uint32_t sw = from, c;

		for (; sw != dest; sw = layered->channels->to[c], hops++) {
			c = route_channel(layered->channels, sw, layered->routing->lft[sw][lid]);
			if (c == FABRIC_NONE)
				break;
			nue->load[c] += add ? flow : -flow;
		}
		nue->sum += add ? hops * flow : -(hops * flow);
		*most = add ? MAX(*most, hops) : *most;
	}
}

static void put(const struct nue *nue, uint32_t dest, uint16_t lid, uint8_t exit)
{
	const struct layered *layered = nue->layered;

	for (uint32_t sw = 0; sw < layered->graph->n; sw++) {
		uint32_t c = grow_channel(nue->grow, sw);

		if (c != FABRIC_NONE)
			layered->routing->lft[sw][lid] = layered->graph->links[c];
	}
	layered->routing->lft[dest][lid] = exit;
}

static void route_to(struct nue *nue, uint32_t dest)
{
	const struct route_graph *graph = nue->layered->graph;

	set_costs(nue);
	nue->escapes += grow_to(nue->grow, dest, nue->cost);
	for (uint32_t t = graph->first_target[dest]; t < graph->first_target[dest + 1]; t++)
		put(nue, dest, graph->targets[t].lid, graph->targets[t].exit);
	for (unsigned int i = 0; i < route_n_own(graph, dest); i++)
		put(nue, dest, graph->own_lid[dest] + i, 0);
	count_flows(nue, dest, true);
}

/* Destinations that follow each other stand far apart: near ones would take the same steps. */
static void route_all(struct nue *nue)
{
	uint32_t n = nue->layered->graph->n, stride = route_coprime(n, n * 0.382 + 1);

	for (unsigned int pass = 0; pass < PASSES; pass++) {
		nue->escapes = nue->layered->routing->max_hops = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t dest = (uint64_t)i * stride % n;

			if (pass)
				count_flows(nue, dest, false);
			route_to(nue, dest);
		}
	}
}

static void route_on_one_lane(struct layered *layered)
{
	struct acyclic *lane = acyclic_new(layered->channels, NULL);
	struct nue nue = {.layered = layered, .grow = grow_new(layered, lane)};

	nue.load = g_new0(uint64_t, layered->channels->n + 1);
	nue.cost = g_new(uint16_t, layered->channels->n + 1);
	layered_find_trunk(layered, layered_trunk_root(layered), false);
	layered_take_trunk(layered, lane);
	route_all(&nue);
	if (nue.escapes)
		layered_note(layered,
			     "%u of %u switches are reached over a spanning tree from some others",
			     nue.escapes, layered->graph->n);
	g_free(nue.load);
	g_free(nue.cost);
	grow_free(nue.grow);
	acyclic_free(lane);
}

/* Shortest paths, if the lanes that may be used do for them. */
static bool route_on_lanes(struct layered *layered)
{
	const struct route_input *input = layered->input;
	unsigned int vls = route_data_vls(layered->fabric, input);
	struct route_input own = *input;
	bool good = false;

	own.vls = input->nue_max_num_vls ? MIN(vls, input->nue_max_num_vls) : vls;
	layered->input = &own;
	layered->wants_trunk = true;
	for (enum spread_by by = SPREAD_LIDS; !good && by <= SPREAD_PORTS; by++) {
		layered_spread(layered, by);
		good = own.vls == 1 ? layered_assign_one(layered)
				    : layered_assign(layered, 0, NULL);
	}
	layered->input = input;
	if (own.vls > 1 && !good)
		layered_note(layered, "%u virtual lanes do not do for shortest paths: it uses one",
			     own.vls);
	return good;
}

static bool route(struct layered *layered, G_GNUC_UNUSED GError **error)
{
	if (!route_on_lanes(layered))
		route_on_one_lane(layered);
	return true;
}

static struct routing *nue_compute(const struct fabric *fabric, const struct route_input *input,
				   GError **error)
{
	return layered_compute(&route_engine_nue, fabric, input, route, error);
}

const struct route_engine route_engine_nue = {
	.name = "nue",
	.summary = "short paths free of credit loops on as many lanes as there are, even one",
	.promises = ROUTE_DEADLOCK_FREE,
	.compute = nue_compute,
};
