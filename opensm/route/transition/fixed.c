// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Column by column, of those in which a switch that cannot be written holds something else than
 * the engine made: which switches get there all the same is found by walking; the others get there
 * by the nearest of these, in a search that goes through a switch with a fixed row only as that
 * leads. A switch that gets there keeps its entry, and others join it: so no loop comes about.
 */
#include "route/transition/fixed.h"

#include <string.h>

#include "route/renew/trace.h"

#define LOST UINT32_MAX
#define UNKNOWN (UINT32_MAX - 1)

struct fixing {
	const struct fabric *fabric;
	const uint8_t *const *held; /* [switch] */
	const uint8_t **rows;	    /* [switch]: of those that cannot be written; NULL */
	struct route_graph *graph;
	struct routing *made, *routing; /* that is made; NULL: as yet it is made itself */
	uint32_t *hops;			/* [switch]: to the LID at hand; or LOST, UNKNOWN */
	uint32_t n_loose; /* links with nobody known behind them */
	uint64_t turned, lost;		/* entries that go elsewhere, and that lead nowhere */
};

/* What a switch does with a LID now, as far as that is known. */
static uint8_t in_force(const struct fixing *fixing, uint32_t sw, uint16_t lid)
{
	const uint8_t *row = fixing->held[sw];

	if (!row || lid > fixing->fabric->switches[sw].info.linear_fdb_top)
		return ROUTE_NO_PORT;
	return row[lid];
}

/* What the hardware will do, as far as that is known. */
static uint8_t entry(const struct fixing *fixing, uint32_t sw, uint16_t lid)
{
	if (!fixing->rows[sw])
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

/* ---- who gets there ---- */

/* Walks from a switch until that is known of one on the way, and notes it of all of them. */
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

/* ---- the others ---- */

static void put(struct fixing *fixing, uint32_t sw, uint16_t lid, uint8_t port);

/* A switch that is lost joins a neighbour that gets there, if it may. */
static void join(struct fixing *fixing, uint32_t sw, uint32_t to, uint16_t lid)
{
	const struct route_graph *graph = fixing->graph;
	uint32_t edge = route_edge_to(graph, sw, to);

	if (fixing->hops[sw] != LOST || edge == FABRIC_NONE)
		return;
	if (fixing->rows[sw] && next(fixing, sw, lid) != to)
		return;
	fixing->hops[sw] = fixing->hops[to] + 1;
	if (fixing->rows[sw])
		return;
	put(fixing, sw, lid,
	    graph->links[graph->edges[edge].first_link + lid % graph->edges[edge].n_links]);
	fixing->turned++;
}

/* From those that get there outwards, the nearest first. */
static void join_all(struct fixing *fixing, uint16_t lid)
{
	const struct route_graph *graph = fixing->graph;
	uint32_t n = graph->n;

	for (uint32_t hops = 0; hops < 2 * n; hops++) {
		bool any = false;

		for (uint32_t sw = 0; sw < n; sw++) {
			any |= fixing->hops[sw] < UNKNOWN && fixing->hops[sw] >= hops;
			if (fixing->hops[sw] != hops)
				continue;
			route_each_edge(graph, sw, edge)
				join(fixing, edge->to, sw, lid);
		}
		if (!any)
			break;
	}
	for (uint32_t sw = 0; sw < n; sw++)
		fixing->lost += fixing->hops[sw] == LOST && route_is_source(graph, sw);
}

/* ---- the result ---- */

/* Shares all rows with the one that the engine made, for as long as they are the same. */
static struct routing *copy(const struct fabric *fabric, struct routing *made)
{
	uint32_t n = made->n_switches;
	g_autofree uint32_t *row = route_places(fabric, made->home->fabric);
	g_autofree uint32_t *before = route_places(fabric, made->fabric);
	struct routing *routing = routing_from(fabric, made, row, before);

	routing->maker = made->maker;
	routing->promises &= ~ROUTE_SHORTEST;
	routing->top = made->top;
	routing->max_hops = made->max_hops;
	routing->order = g_memdup2(made->order, made->order ? n * sizeof(*made->order) : 0);
	routing->trunk = g_memdup2(made->trunk, made->trunk ? n : 0);
	routing->lanes = made->lanes;
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

/* Puts in what fixed rows have of a column; true if the engine made something else of it. */
static bool put_fixed(struct fixing *fixing, uint16_t lid)
{
	bool differs = false;

	for (uint32_t sw = 0; sw < fixing->graph->n; sw++) {
		uint8_t is = fixing->rows[sw] ? entry(fixing, sw, lid) : 0;

		if (!fixing->rows[sw] || is == routing_port(fixing->made, sw, lid))
			continue;
		put(fixing, sw, lid, is);
		differs = true;
	}
	return differs;
}

/* Whether tables as they are lead a LID from a switch out by a link with nobody known behind. */
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

static void keep_hidden(struct fixing *fixing, uint16_t lid)
{
	for (uint32_t sw = 0; fixing->n_loose && sw < fixing->graph->n; sw++)
		if (leads_out(fixing, sw, lid) &&
		    in_force(fixing, sw, lid) != entry(fixing, sw, lid))
			put(fixing, sw, lid, in_force(fixing, sw, lid));
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
	join_all(fixing, lid);
}

static uint32_t find_rows(struct fixing *fixing, const bool *fixed)
{
	uint32_t n = fixing->fabric->n_switches, rows = 0;

	fixing->rows = g_new0(const uint8_t *, n + 1);
	for (uint32_t sw = 0; sw < n; sw++) {
		fixing->rows[sw] = fixed[sw] ? fixing->held[sw] : NULL;
		rows += fixing->rows[sw] != NULL;
	}
	return rows;
}

struct routing *routing_fix(const struct fabric *fabric, struct routing *made,
			    const uint8_t *const *held, const bool *fixed)
{
	struct fixing fixing = {.fabric = fabric, .held = held, .made = made};
	uint32_t nodes, n_fixed = find_rows(&fixing, fixed);

	fabric_count_silent(fabric, &nodes, &fixing.n_loose);
	if (n_fixed || fixing.n_loose) {
		fixing.graph = route_graph_new(fabric);
		fixing.hops = g_new(uint32_t, fixing.graph->n + 1);
		for (uint32_t lid = 1; lid <= made->top; lid++)
			fix_column(&fixing, lid);
		route_graph_free(fixing.graph);
		g_free(fixing.hops);
	}
	g_free(fixing.rows);
	if (fixing.turned || fixing.lost)
		routing_note(fixing.routing,
			     "%u switches do not answer and keep their tables: %" G_GUINT64_FORMAT
			     " entries of others lead around what these do not forward, and %"
			     G_GUINT64_FORMAT " lead nowhere",
			     n_fixed, fixing.turned, fixing.lost);
	return fixing.routing ? fixing.routing : routing_ref(made);
}
