// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Goes column by column, over those where a switch that cannot be written holds something else than
 * the engine computed. A walk finds the switches from which packets arrive anyway; the others join
 * the nearest of these, in a search that passes a switch with a fixed row only along its entries. A
 * switch from which packets arrive keeps its entry, and others join it: so there is no loop.
 */
#include "route/transition/fixed.h"

#include <string.h>

#include "route/graph/watch.h"
#include "route/value/base.h"
#include "route/value/told.h"

#define LOST UINT32_MAX
#define UNKNOWN (UINT32_MAX - 1)

struct fixing {
	const struct fabric *fabric;
	const uint8_t *const *held; /* [switch] */
	const bool *fixed;	    /* [switch] */
	struct route_graph *graph;
	struct routing *made, *routing; /* the result; NULL: still made itself */
	uint32_t *hops;			/* [switch]: to the current LID; or LOST, UNKNOWN */
	uint32_t n_loose; /* links with no known device behind them */
	uint64_t turned, lost;		/* entries that were changed; entries that lead nowhere */
};

/* How a switch forwards a LID now, as far as known. */
static uint8_t in_force(const struct fixing *fixing, uint32_t sw, uint16_t lid)
{
	const uint8_t *row = fixing->held[sw];

	if (!row || lid > fixing->fabric->switches[sw].info.linear_fdb_top)
		return ROUTE_NO_PORT;
	return row[lid];
}

/* What the hardware will do; an unknown table counts as one that discards. */
static uint8_t entry(const struct fixing *fixing, uint32_t sw, uint16_t lid)
{
	if (!fixing->fixed[sw])
		return routing_port(fixing->routing ? fixing->routing : fixing->made, sw, lid);
	return in_force(fixing, sw, lid);
}

/* The next switch, or FABRIC_NONE. */
static uint32_t next(const struct fixing *fixing, uint32_t sw, uint16_t lid)
{
	const struct fabric *fabric = fixing->fabric;
	uint8_t port = entry(fixing, sw, lid);

	if (!port || port > fabric->nodes[fabric->switches[sw].node].num_ports)
		return FABRIC_NONE;
	return route_switch_across(fabric, fabric_switch_port(fabric, sw, port));
}

/* ---- switches from which packets arrive ---- */

/* Walks from a switch to one with a known result, and notes it for all on the path. */
static void walk(struct fixing *fixing, uint32_t from, uint16_t lid)
{
	uint32_t end = from, steps = 0, hops;

	while (end != FABRIC_NONE && fixing->hops[end] == UNKNOWN && steps <= fixing->graph->n) {
		end = next(fixing, end, lid);
		steps++;
	}
	hops = end == FABRIC_NONE || fixing->hops[end] >= UNKNOWN ? LOST : fixing->hops[end];
	for (uint32_t sw = from; sw != FABRIC_NONE && fixing->hops[sw] == UNKNOWN; steps--) {
		fixing->hops[sw] = hops == LOST ? LOST : hops + steps;
		sw = next(fixing, sw, lid);
	}
}

static void walk_all(struct fixing *fixing, uint16_t lid, uint32_t leaf, uint8_t exit)
{
	uint32_t n = fixing->graph->n;

	for (uint32_t sw = 0; sw < n; sw++)
		fixing->hops[sw] = UNKNOWN;
	fixing->hops[leaf] = entry(fixing, leaf, lid) == exit ? 0 : LOST;
	for (uint32_t sw = 0; sw < n; sw++)
		walk(fixing, sw, lid);
}

/* ---- the other switches ---- */

static void put(struct fixing *fixing, uint32_t sw, uint16_t lid, uint8_t port);

/* Joins a lost switch to a neighbour whose packets arrive, if it may; true if its entry changes. */
static bool join(struct fixing *fixing, uint32_t sw, uint32_t to, uint16_t lid)
{
	const struct route_graph *graph = fixing->graph;
	uint32_t edge;

	if (fixing->hops[sw] != LOST)
		return false;
	edge = route_edge_to(graph, sw, to);
	if (edge == FABRIC_NONE)
		return false;
	if (fixing->fixed[sw] && next(fixing, sw, lid) != to)
		return false;
	fixing->hops[sw] = fixing->hops[to] + 1;
	if (fixing->fixed[sw])
		return false;
	put(fixing, sw, lid,
	    graph->links[graph->edges[edge].first_link + lid % graph->edges[edge].n_links]);
	return true;
}

/*
 * A lost switch sends nothing into a loop of tables. Where tables end at a switch that discards, it
 * continues to send: that switch may hold more than is known, such as a Set without a response.
 */
static void leave_ring(struct fixing *fixing, uint32_t from, uint16_t lid)
{
	uint32_t sw = from, steps = 0;

	if (fixing->hops[from] != LOST || fixing->fixed[from])
		return;
	while (sw != FABRIC_NONE && steps++ <= fixing->graph->n)
		sw = next(fixing, sw, lid);
	if (sw != FABRIC_NONE)
		put(fixing, from, lid, ROUTE_NO_PORT);
}

/* From those that arrive outwards, the nearest first; returns the number of changed entries. */
static uint32_t join_all(struct fixing *fixing, uint16_t lid)
{
	const struct route_graph *graph = fixing->graph;
	uint32_t n = graph->n, joined = 0;

	for (uint32_t hops = 0; hops < 2 * n; hops++) {
		bool any = false;

		for (uint32_t sw = 0; sw < n; sw++) {
			any |= fixing->hops[sw] < UNKNOWN && fixing->hops[sw] >= hops;
			if (fixing->hops[sw] != hops)
				continue;
			route_each_edge(graph, sw, edge)
				joined += join(fixing, edge->to, sw, lid);
		}
		if (!any)
			break;
	}
	return joined;
}

/* Handles switches from which packets arrive in no way. */
static void leave_lost(struct fixing *fixing, uint16_t lid)
{
	for (uint32_t sw = 0; sw < fixing->graph->n; sw++) {
		fixing->lost += fixing->hops[sw] == LOST && route_is_source(fixing->graph, sw);
		leave_ring(fixing, sw, lid);
	}
}

/* ---- the result ---- */

/* Shares all rows with the routing that the engine made, as long as they are equal. */
static struct routing *copy(const struct fabric *fabric, struct routing *made)
{
	uint32_t n = made->n_switches;
	g_autofree uint32_t *row = route_places(fabric, made->base->fabric);
	g_autofree uint32_t *before = route_places(fabric, made->fabric);
	struct routing *routing = routing_from(fabric, made, row, before);

	routing->maker = made->maker;
	routing->promises &= ~ROUTE_SHORTEST;
	routing->top = made->top;
	routing->max_hops = made->max_hops;
	routing->order = g_memdup2(made->order, made->order ? n * sizeof(*made->order) : 0);
	routing->trunk = g_memdup2(made->trunk, made->trunk ? n : 0);
	routing->lanes = made->lanes;
	routing->told = made->told;
	if (routing->told)
		ref_get(&routing->told->ref);
	routing->cut_by_caps = made->cut_by_caps;
	routing->made = routing_ref(made);
	return routing;
}

static void put(struct fixing *fixing, uint32_t sw, uint16_t lid, uint8_t port)
{
	if (!fixing->routing)
		fixing->routing = copy(fixing->fabric, fixing->made);
	routing_put(fixing->routing, sw, lid, port);
}

/* Sets the entries of fixed rows in a column; true if the engine computed something else. */
static bool put_fixed(struct fixing *fixing, uint16_t lid)
{
	bool differs = false;

	for (uint32_t sw = 0; sw < fixing->graph->n; sw++) {
		uint8_t is = fixing->fixed[sw] ? entry(fixing, sw, lid) : 0;

		if (!fixing->fixed[sw] || is == routing_port(fixing->made, sw, lid))
			continue;
		put(fixing, sw, lid, is);
		differs = true;
	}
	return differs;
}

/* Whether present tables lead a LID out by a link with no known device behind it. */
static bool leads_out(const struct fixing *fixing, uint32_t sw, uint16_t lid)
{
	const struct fabric *fabric = fixing->fabric;

	for (uint32_t hops = 0; sw != FABRIC_NONE && hops <= fixing->graph->n; hops++) {
		uint8_t out = in_force(fixing, sw, lid);
		uint32_t port;

		if (!out || out > fabric->nodes[fabric->switches[sw].node].num_ports)
			return false;
		port = fabric_switch_port(fabric, sw, out);
		if (fabric_is_silent_link(fabric, port))
			return true;
		sw = route_switch_across(fabric, port);
	}
	return false;
}

/* Entries that lead out stay, and switches that lost theirs join them. */
static void keep_hidden(struct fixing *fixing, uint16_t lid)
{
	bool any = false;

	for (uint32_t sw = 0; fixing->n_loose && sw < fixing->graph->n; sw++) {
		bool leads = leads_out(fixing, sw, lid);

		any |= leads;
		fixing->hops[sw] = leads ? 0 : LOST;
		if (leads && in_force(fixing, sw, lid) != entry(fixing, sw, lid))
			put(fixing, sw, lid, in_force(fixing, sw, lid));
	}
	if (any)
		join_all(fixing, lid);
}

static void fix_column(struct fixing *fixing, uint16_t lid)
{
	uint8_t exit;
	uint32_t leaf = route_leaf_of(fixing->fabric, lid, &exit);
	bool differs = put_fixed(fixing, lid);

	if (leaf == FABRIC_NONE) {
		keep_hidden(fixing, lid);
		return;
	}
	if (!differs)
		return;
	walk_all(fixing, lid, leaf, exit);
	fixing->turned += join_all(fixing, lid);
	leave_lost(fixing, lid);
}

struct routing *routing_fix(const struct fabric *fabric, struct routing *made,
			    const uint8_t *const *held, const bool *fixed,
			    struct route_watch *watch)
{
	struct fixing fixing = {.fabric = fabric, .held = held, .fixed = fixed, .made = made};
	uint32_t nodes, n_fixed = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		n_fixed += fixed[sw];
	fabric_count_silent(fabric, &nodes, &fixing.n_loose);
	if (n_fixed || fixing.n_loose) {
		fixing.graph = route_graph_new(fabric);
		fixing.hops = g_new(uint32_t, fixing.graph->n + 1);
		route_watch_begin(watch, "paths around switches that do not answer", made->top);
		for (uint32_t lid = 1; lid <= made->top && route_watch_step(watch); lid++)
			fix_column(&fixing, lid);
		route_graph_free(fixing.graph);
		g_free(fixing.hops);
	}
	if (fixing.turned || fixing.lost)
		routing_note(fixing.routing,
			     "%u switches do not answer and keep their tables: %" G_GUINT64_FORMAT
			     " entries of other switches avoid what these do not forward, and "
			     "%" G_GUINT64_FORMAT " entries lead nowhere",
			     n_fixed, fixing.turned, fixing.lost);
	return fixing.routing ? fixing.routing : routing_ref(made);
}
