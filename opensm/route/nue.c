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
#include "route/layered.h"
#include "route/shortest.h"

#define PASSES 2
#define REGROWN_PART 8 /* of all paths between switches */

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
	uint16_t lid = route_lid_of(graph, dest), *most = &layered->way->routing->max_hops;

	for (uint32_t from = 0; lid && from < graph->n; from++) {
		uint64_t flow = from == dest ? 0 : flow_to(graph, from, dest), hops = 0;
		uint32_t sw = from, c;

		for (; sw != dest; sw = layered->channels->to[c], hops++) {
			c = route_columns_get(&layered->way->columns, sw, lid);
			if (c == FABRIC_NONE)
				break;
			nue->load[c] += add ? flow : -flow;
		}
		nue->sum += add ? hops * flow : -(hops * flow);
		*most = add ? MAX(*most, hops) : *most;
	}
}

/* By the paths at hand. */
static void fill(struct nue *nue, uint32_t dest)
{
	const struct route_graph *graph = nue->layered->graph;

	for (unsigned int i = 0; i < layered_n_lids(graph, dest); i++)
		for (uint32_t sw = 0; sw < graph->n; sw++) {
			uint32_t c = grow_channel(nue->grow, sw);

			if (c != FABRIC_NONE)
				route_columns_put(&nue->layered->way->columns, sw,
						  layered_lid(graph, dest, i), c);
		}
	count_flows(nue, dest, true);
}

/* Destinations that follow each other stand far apart: near ones would take the same steps. */
static void route_all(struct nue *nue)
{
	uint32_t n = nue->layered->graph->n, stride = route_coprime(n, n * 0.382 + 1);

	for (unsigned int pass = 0; pass < PASSES; pass++) {
		nue->escapes = nue->layered->way->routing->max_hops = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t dest = (uint64_t)i * stride % n;

			if (pass)
				count_flows(nue, dest, false);
			set_costs(nue);
			nue->escapes += grow_to(nue->grow, dest, nue->cost);
			fill(nue, dest);
		}
	}
}

/*
 * All that can stay first; then, around it, the other paths to each destination. False if these are
 * so many that paths grown anew are shorter, and no more blocks of tables differ.
 */
static bool keep_all(struct nue *nue)
{
	const struct route_graph *graph = nue->layered->graph;
	uint64_t n = graph->n, all = 0;
	g_autofree uint32_t *missing = g_new(uint32_t, n + 1);

	set_costs(nue);
	nue->layered->way->routing->max_hops = 0;
	for (uint32_t dest = 0; dest < n; dest++) {
		missing[dest] =
			grow_kept(nue->grow, dest, route_lid_of(graph, dest), nue->cost);
		all += missing[dest];
		if (!missing[dest])
			fill(nue, dest);
	}
	for (uint32_t dest = 0; all <= n * n / REGROWN_PART && dest < n; dest++) {
		if (!missing[dest])
			continue;
		set_costs(nue);
		grow_kept(nue->grow, dest, route_lid_of(graph, dest), nue->cost);
		nue->escapes += grow_on(nue->grow);
		fill(nue, dest);
	}
	return all <= n * n / REGROWN_PART;
}

/* False if what is kept is no use. */
static bool route_on_one_lane(struct layered *layered)
{
	uint64_t *most = &layered->way->routing->layered.busiest;
	bool good = true;
	struct acyclic *lane = acyclic_new(layered->channels, NULL);
	struct nue nue = {.layered = layered, .grow = grow_new(layered, lane)};

	nue.load = g_new0(uint64_t, layered->channels->n + 1);
	nue.cost = g_new(uint16_t, layered->channels->n + 1);
	layered_find_trunk(layered, layered_trunk_root(layered), false);
	layered_take_trunk(layered, lane);
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
	g_free(nue.cost);
	grow_free(nue.grow);
	acyclic_free(lane);
	return good;
}

/* Shortest paths, if so many lanes do for them. */
static bool route_on_lanes(struct layered *layered)
{
	bool good = false;

	layered->wants_trunk = true;
	layered_spread_ahead(layered, SPREAD_LOADS);
	for (enum spread_by by = SPREAD_LIDS; !good && by < SPREAD_WAYS; by++) {
		if (!layered_is_way(layered, by))
			continue;
		layered_spread(layered, by);
		good = layered->vls == 1 ? layered_assign_one(layered)
					 : layered_assign(layered, 0, NULL);
	}
	return good;
}

/* What is kept is of one kind, or is no use. */
static bool route(struct layered *layered, G_GNUC_UNUSED GError **error)
{
	uint8_t most = layered->input->nue_max_num_vls;
	bool grown = layered->kept && layered->kept[0].routing->layered.grown;

	layered->vls = most ? MIN(layered->vls, most) : layered->vls;
	if (!grown && route_on_lanes(layered))
		return true;
	if (!grown && layered->kept)
		return false;
	if (layered->vls > 1)
		routing_note(layered->way->routing,
			     "%u virtual lanes do not do for shortest paths: it uses one",
			     layered->vls);
	layered->way->routing->layered.grown = true;
	return route_on_one_lane(layered);
}

const struct route_engine route_engine_nue = {
	.name = "nue",
	.summary = "short paths free of credit loops on as many lanes as there are, even one",
	.promises = ROUTE_DEADLOCK_FREE,
	.ties = true,
	.route = route,
};
