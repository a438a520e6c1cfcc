// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether up/down routing is a detour for any host; and shortest paths where it is.
 *
 * A few paths can go against the directions without harm for the others, although a switch has one
 * entry for all packets to a destination. Call a switch direct if its legal path to the destination
 * is as short as any: then all switches on that path are direct. Where hosts are on a switch that
 * is not, it takes any step that leads nearer: to a direct switch, or to one that does the same. So
 * all paths from direct switches are legal. Other switches, without hosts, keep to legal paths that
 * avoid the former, if there are such paths; else they join them.
 */
#include "route/order/hosts_shortest.h"

#include "route/fill/shortest.h"
#include "route/order/orient.h"

#define DETOURS_MAX 20 /* at most one path between hosts in this many goes against directions */
#define FLOWS_MAX 16   /* the leaf may carry one part in this many of a cable's normal load */

/* Paths by directions beside the shortest ones, to switches with hosts. */
struct detours {
	const struct route_order *order;
	const struct route_graph *graph;
	const uint8_t *legal; /* from route_hops_all() */
	uint32_t *dests, n;   /* switches with hosts */
	uint8_t *shortest;    /* [switch * n + i]: to dests[i]; NULL: some are too long */
};

static struct detours detours_find(const struct route_order *order, const uint8_t *legal)
{
	const struct route_graph *graph = order->graph;
	const struct route_order plain = {.graph = graph};
	struct detours detours = {order, graph, legal, g_new(uint32_t, graph->n + 1), 0, NULL};

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			detours.dests[detours.n++] = sw;
	detours.shortest = g_malloc((size_t)graph->n * detours.n + 1);
	if (!route_hops(&plain, detours.dests, detours.n, detours.shortest, NULL))
		g_clear_pointer(&detours.shortest, g_free);
	return detours;
}

static void detours_clear(struct detours *detours)
{
	g_free(detours->dests);
	g_free(detours->shortest);
}

static uint8_t legal_to(const struct detours *detours, uint32_t sw, uint32_t i)
{
	return detours->legal[(size_t)sw * detours->graph->n + detours->dests[i]];
}

static uint8_t shortest_to(const struct detours *detours, uint32_t sw, uint32_t i)
{
	return detours->shortest[(size_t)sw * detours->n + i];
}

static bool is_direct(const struct detours *detours, uint32_t sw, uint32_t i)
{
	return route_distance(detours->order, legal_to(detours, sw, i)) ==
	       shortest_to(detours, sw, i);
}

/* How many paths between hosts are detours, counted by switches. */
static uint64_t detours_count(const struct detours *detours)
{
	uint64_t count = 0;

	for (uint32_t k = 0; k < detours->n; k++)
		for (uint32_t i = 0; i < detours->n; i++)
			count += !is_direct(detours, detours->dests[k], i);
	return count;
}

bool route_hosts_shortest(const struct route_order *order, const uint8_t *hops)
{
	struct detours detours = detours_find(order, hops);
	bool same = detours.shortest && !detours_count(&detours);

	detours_clear(&detours);
	return same;
}

/* ---- shortest paths against the directions ---- */

/* The switches that go against the directions to one destination. */
struct against {
	const struct detours *detours;
	uint32_t i; /* the destination */
	bool *is;   /* [switch] */
	uint32_t *list, n;
};

static void add(struct against *against, uint32_t sw)
{
	if (against->is[sw] || is_direct(against->detours, sw, against->i))
		return;
	against->is[sw] = true;
	against->list[against->n++] = sw;
}

/* Whether a legal path begins with a switch that is not against the directions. */
static bool goes_round(const struct against *against, uint32_t sw)
{
	const struct detours *detours = against->detours;
	const struct route_edge *edges = detours->graph->edges;
	uint8_t here = legal_to(detours, sw, against->i);

	route_each_edge(detours->graph, sw, edge)
		if (!against->is[edge->to] &&
		    route_leads(detours->order, edge - edges, here,
				legal_to(detours, edge->to, against->i)))
			return true;
	return false;
}

/* Adds the switches to which shortest paths lead, and those with legal paths by this one alone. */
static void add_around(struct against *against, uint32_t sw)
{
	uint8_t here = shortest_to(against->detours, sw, against->i);

	route_each_edge(against->detours->graph, sw, edge) {
		uint8_t there = shortest_to(against->detours, edge->to, against->i);

		if (there + 1 == here || (there != ROUTE_FAR && !goes_round(against, edge->to)))
			add(against, edge->to);
	}
}

static void find_against(struct against *against)
{
	const struct detours *detours = against->detours;

	against->n = 0;
	for (uint32_t k = 0; k < detours->n; k++)
		add(against, detours->dests[k]);
	for (uint32_t at = 0; at < against->n; at++)
		add_around(against, against->list[at]);
}

/* Enters shortest paths where paths by directions are detours. */
static void go_against(const struct detours *detours, uint8_t *hops)
{
	uint32_t n = detours->graph->n;
	struct against against = {detours, 0, g_new0(bool, n + 1), g_new(uint32_t, n + 1), 0};

	for (; against.i < detours->n; against.i++) {
		find_against(&against);
		for (uint32_t k = 0; k < against.n; k++) {
			uint32_t sw = against.list[k];

			hops[(size_t)sw * n + detours->dests[against.i]] =
				ROUTE_AGAINST | shortest_to(detours, sw, against.i);
			against.is[sw] = false;
		}
	}
	g_free(against.is);
	g_free(against.list);
}

uint8_t *route_tree_hops(struct route_plan *plan, const struct fabric *fabric, const uint64_t *key,
			 uint8_t *next)
{
	g_autofree uint32_t *rank = g_new(uint32_t, plan->graph->n + 1);

	return route_tree_rank(&plan->wishes, rank)
		       ? route_ranked_hops(&plan->order, fabric, rank, key, next, NULL)
		       : NULL;
}

/*
 * Whether so few hosts are above the leaves that all traffic between them can pass one leaf without
 * harm. False if the network is not layered.
 */
static bool hosts_are_low(const struct route_wishes *wishes)
{
	const struct route_graph *graph = wishes->graph;
	uint32_t *rank = g_new(uint32_t, graph->n + 1), bottom = 0, upper = 0;
	bool layered = route_tree_rank(wishes, rank);
	uint64_t high = 0;

	for (uint32_t sw = 0; layered && sw < graph->n; sw++)
		bottom = MAX(bottom, rank[sw]);
	for (uint32_t sw = 0; layered && sw < graph->n; sw++) {
		if (rank[sw] == bottom || !route_has_hosts(graph, sw))
			continue;
		high += route_n_hosts(graph, sw);
		upper++;
	}
	g_free(rank);
	return layered && (upper <= 1 || high * high * FLOWS_MAX <= route_n_targets(graph));
}

/* Whether distances leave room for ROUTE_AGAINST. */
static bool are_near(const struct detours *detours)
{
	size_t n = (size_t)detours->graph->n * detours->graph->n;
	bool near = true;

	for (size_t i = 0; i < n; i++)
		near &= detours->legal[i] == ROUTE_FAR ||
			(detours->legal[i] & ~ROUTE_UP) <= ROUTE_MIXED_HOPS_MAX;
	return near;
}

/* Lets hosts that have detours go against the directions; false if they are too many. */
static bool mix(struct route_order *order, uint8_t *hops)
{
	struct detours detours = detours_find(order, hops);
	uint64_t all = (uint64_t)detours.n * detours.n, n = all;

	if (detours.shortest)
		n = detours_count(&detours);
	if (n && (n * DETOURS_MAX > all || !are_near(&detours))) {
		detours_clear(&detours);
		return false;
	}
	if (n)
		go_against(&detours, hops);
	order->mixed = n;
	detours_clear(&detours);
	return true;
}

static uint8_t *find_tree_hops(struct route_plan *plan, const struct fabric *fabric,
			       const uint64_t *key, uint8_t *next, bool may_mix)
{
	uint8_t *hops = NULL;

	if (hosts_are_low(&plan->wishes))
		hops = route_tree_hops(plan, fabric, key, next);
	if (hops &&
	    (may_mix ? mix(&plan->order, hops) : route_hosts_shortest(&plan->order, hops)))
		return hops;
	g_free(hops);
	route_orient_by(&plan->order, NULL);
	return NULL;
}

uint8_t *route_tree_hops_mixed(struct route_plan *plan, const struct fabric *fabric,
			       const uint64_t *key)
{
	return find_tree_hops(plan, fabric, key, NULL, true);
}

uint8_t *route_tree_hops_shortest(struct route_plan *plan, const struct fabric *fabric,
				  const uint64_t *key, uint8_t *next)
{
	return find_tree_hops(plan, fabric, key, next, false);
}
