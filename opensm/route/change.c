// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the state of a routing to that of a changed fabric, with no more search than needed.
 *
 * The fabric must be a part of the one for which the tables were last computed whole (home), but
 * for a few LIDs. Then every switch has its place in the order of that time, and distances are
 * carried over:
 *
 * Cables lost: distances to a destination stay as they are as long as every switch that lost
 * cables keeps another that begins a best path. Otherwise the destination is searched anew
 * (columns.c).
 * Cables back: distances stay if none of the switches at their ends would gain by them. A switch
 * that is back takes its distances from its neighbours.
 *
 * Hops as octets, with ROUTE_UP and ROUTE_FAR, are ordered as best to worst, so that those of a
 * switch are the least of what its edges offer. What gets better at one end may be a worse offer:
 * a long way down is better than a short way up, but longer for who goes up to it.
 */
#include "route/change.h"

#include <string.h>

#include "route/columns.h"
#include "route/orient.h"
#include "route/single_top.h"

#define STRANGERS_MAX 32 /* one LID in so many may be new, or at another place than at home */
#define TOUCHED_MAX 6 /* one switch in so many may have other cables than before */
#define TOUCHED_MIN 16 /* or so many in all */

/* ---- the same switches, cables and LIDs ---- */

static bool map_switches(struct route_change *change)
{
	const struct fabric *fabric = change->fabric;
	const struct route_trace *trace = change->old->trace;
	const struct route_home *home = change->old->home;
	uint32_t *at = g_new(uint32_t, home->n + 1); /* row -> index in the old graph */
	bool known = true;

	memset(at, 0xFF, home->n * sizeof(*at));
	for (uint32_t was = 0; was < change->n_before; was++)
		at[route_home_row(home, trace->guids[was])] = was;
	for (uint32_t sw = 0; sw < change->n && known; sw++) {
		uint32_t row = route_home_row(home, fabric->nodes[fabric->switches[sw].node].guid);

		known = row != FABRIC_NONE;
		if (!known)
			break;
		change->row[sw] = row;
		change->before[sw] = at[row];
		if (at[row] != FABRIC_NONE)
			change->now[at[row]] = sw;
	}
	g_free(at);
	return known;
}

static bool same_cables(const struct route_change *change, uint32_t sw)
{
	const struct fabric *fabric = change->fabric;
	const struct route_home *home = change->old->home;
	uint32_t row = change->row[sw], first = home->first_end[row];
	unsigned int num_ports = fabric->nodes[fabric->switches[sw].node].num_ports;

	if (num_ports + 1 != home->first_end[row + 1] - first)
		return false;
	for (unsigned int num = 1; num <= num_ports; num++) {
		uint32_t peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer, to;
		const struct route_end *end = &home->ends[first + num];

		to = peer == FABRIC_NONE ? FABRIC_NONE
					 : fabric->nodes[fabric->ports[peer].node].sw;
		if (to != FABRIC_NONE &&
		    (end->row != change->row[to] || end->port != fabric->ports[peer].num))
			return false;
	}
	return true;
}

static bool has_all_cables(const struct route_change *change, uint32_t sw)
{
	const struct fabric *fabric = change->fabric;
	const struct route_home *home = change->old->home;
	uint32_t first = home->first_end[change->row[sw]];

	for (unsigned int num = 1; num <= fabric->nodes[fabric->switches[sw].node].num_ports; num++)
		if (home->ends[first + num].row != FABRIC_NONE &&
		    fabric->ports[fabric_switch_port(fabric, sw, num)].peer == FABRIC_NONE)
			return false;
	return true;
}

static bool is_whole(const struct route_change *change)
{
	if (change->n != change->old->home->n)
		return false;
	for (uint32_t sw = 0; sw < change->n; sw++)
		if (!has_all_cables(change, sw))
			return false;
	return true;
}

/* A port without a cable, of a host that is seen through another, is no stranger: it is nowhere. */
static bool is_stranger(const struct route_change *change, uint16_t lid, uint32_t port)
{
	const struct route_place *place = &change->old->home->places[lid];
	uint8_t exit;
	uint32_t leaf;

	if (place->guid != change->fabric->ports[port].guid)
		return true;
	leaf = fabric_leaf(change->fabric, port, &exit);
	return leaf != FABRIC_NONE && (change->row[leaf] != place->row || exit != place->exit);
}

/* Whether there is little in the fabric that home has not seen where it is, and no cable. */
static bool is_part_of_home(const struct route_change *change)
{
	const struct fabric *fabric = change->fabric;
	uint32_t n_lids = 0, strangers = 0;

	if (fabric->max_lid / ROUTE_BLOCK >= change->old->n_blocks)
		return false;
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		if (fabric->lid_port[lid] == FABRIC_NONE)
			continue;
		n_lids++;
		strangers += is_stranger(change, lid, fabric->lid_port[lid]);
	}
	if (strangers > n_lids / STRANGERS_MAX)
		return false;
	for (uint32_t sw = 0; sw < change->n; sw++)
		if (!same_cables(change, sw))
			return false;
	return true;
}

/* ---- the new graph, and the hops that are known ---- */

/* Places of the switches that are there, without gaps. */
static void orient_as_home(struct route_change *change)
{
	const struct route_home *home = change->old->home;
	uint32_t *order = g_new(uint32_t, change->n + 1), n = 0;
	uint32_t *at = g_new(uint32_t, home->n + 1);

	memset(at, 0xFF, home->n * sizeof(*at));
	for (uint32_t sw = 0; sw < change->n; sw++)
		at[home->order[change->row[sw]]] = sw;
	for (uint32_t place = 0; place < home->n; place++)
		if (at[place] != FABRIC_NONE)
			order[at[place]] = n++;
	g_free(at);
	route_orient_by(change->graph, order);
	route_join_tops(change->graph);
	change->graph->open = change->old->trace->graph->open;
}

/* Switches that stand one behind the other now as before. */
struct run {
	uint32_t is, was, n;
};

static GArray *list_runs(const struct route_change *change)
{
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(struct run));

	for (uint32_t x = 0; x < change->n; x++) {
		struct run run = { x, change->before[x], 1 }, *last = NULL;

		if (run.was == FABRIC_NONE)
			continue;
		if (runs->len)
			last = &g_array_index(runs, struct run, runs->len - 1);
		if (last && last->is + last->n == x && last->was + last->n == run.was)
			last->n++;
		else
			g_array_append_val(runs, run);
	}
	return runs;
}

static void carry_row(const struct route_change *change, const GArray *runs, uint32_t sw,
		      const uint8_t *from, uint8_t *to, uint8_t none)
{
	const uint8_t *row = from + (size_t)change->before[sw] * change->n_before;

	memset(to, none, change->n);
	for (guint i = 0; change->before[sw] != FABRIC_NONE && i < runs->len; i++) {
		const struct run *run = &g_array_index(runs, struct run, i);

		memcpy(to + run->is, row + run->was, run->n);
	}
}

static bool is_same_order(const struct route_change *change)
{
	if (change->n != change->n_before)
		return false;
	for (uint32_t sw = 0; sw < change->n; sw++)
		if (change->before[sw] != sw)
			return false;
	return true;
}

static uint8_t *carry(const struct route_change *change, const uint8_t *from, uint8_t none)
{
	size_t size = (size_t)change->n * change->n;
	GArray *runs;
	uint8_t *to;

	if (is_same_order(change))
		return g_memdup2(from, size + 1);
	runs = list_runs(change);
	to = g_malloc(size + 1);
	for (uint32_t sw = 0; sw < change->n; sw++)
		carry_row(change, runs, sw, from, to + (size_t)sw * change->n, none);
	g_array_unref(runs);
	return to;
}

/* ---- what the edges of one switch were, and are ---- */

/* By switch: the edge of the one at hand that leads there, in the old graph and in the new. */
struct edges {
	uint32_t *was, *is;
};

static void index_edges(const struct route_change *change, uint32_t sw, struct edges *edges,
			bool set)
{
	const struct route_graph *old = change->old->trace->graph, *graph = change->graph;
	uint32_t before = change->before[sw];

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		edges->is[graph->edges[e].to] = set ? e : FABRIC_NONE;
	if (before == FABRIC_NONE)
		return;
	for (uint32_t e = old->first_edge[before]; e < old->first_edge[before + 1]; e++)
		if (change->now[old->edges[e].to] != FABRIC_NONE)
			edges->was[change->now[old->edges[e].to]] = set ? e : FABRIC_NONE;
}

static bool same_links(const struct route_graph *a, uint32_t x, const struct route_graph *b,
		       uint32_t y)
{
	const struct route_edge *one = &a->edges[x], *other = &b->edges[y];

	return one->n_links == other->n_links &&
	       !memcmp(a->links + one->first_link, b->links + other->first_link, one->n_links);
}

/* Whether an edge leads up or down, and is closed or not, as it did. */
static bool same_way(const struct route_change *change, uint32_t was, uint32_t is)
{
	const struct route_graph *old = change->old->trace->graph, *graph = change->graph;

	return !graph->up || (old->up[was] == graph->up[is] &&
			      route_is_closed(old, was) == route_is_closed(graph, is));
}

/* Whether an old edge still leads where it did. */
static bool is_left(const struct route_change *change, const struct edges *edges, uint32_t was)
{
	uint32_t to = change->now[change->old->trace->graph->edges[was].to];

	return to != FABRIC_NONE && edges->is[to] != FABRIC_NONE &&
	       same_way(change, was, edges->is[to]);
}

static bool is_touched(const struct route_change *change, uint32_t sw, const struct edges *edges)
{
	const struct route_graph *old = change->old->trace->graph, *graph = change->graph;
	uint32_t before = change->before[sw];

	if (before == FABRIC_NONE || route_degree(old, before) != route_degree(graph, sw))
		return true;
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		uint32_t was = edges->was[graph->edges[e].to];

		if (was == FABRIC_NONE || !same_links(old, was, graph, e) ||
		    !same_way(change, was, e))
			return true;
	}
	return false;
}

static void search_anew(struct route_change *change, uint32_t x)
{
	if (change->anew[x])
		return;
	change->anew[x] = true;
	change->dests[change->n_anew++] = x;
}

/* ---- losses ---- */

/* Whether a switch, both by old index, still gets to x as well as before by the edges left. */
static bool still_leads(const struct route_change *change, const struct edges *edges, uint32_t sw,
			uint32_t x)
{
	const struct route_trace *trace = change->old->trace;
	const struct route_graph *old = trace->graph;
	uint8_t here = trace->hops[(size_t)sw * old->n + x];

	bool closed = old->joined && old->leaf[x];

	if (sw == x || here == ROUTE_FAR)
		return true;
	for (uint32_t e = old->first_edge[sw]; e < old->first_edge[sw + 1]; e++) {
		uint8_t there = trace->hops[(size_t)old->edges[e].to * old->n + x];

		if (route_leads(old, e, here, there) && is_left(change, edges, e) &&
		    !(closed && route_is_closed(old, e)))
			return true;
	}
	return false;
}

static void note_losses(struct route_change *change, uint32_t sw, const struct edges *edges)
{
	uint32_t before = change->before[sw];

	for (uint32_t x = 0; x < change->n; x++)
		if (change->before[x] != FABRIC_NONE && !change->anew[x] &&
		    !still_leads(change, edges, before, change->before[x]))
			search_anew(change, x);
}

/* ---- gains ---- */

/* What an edge of a switch offers as a way to x, given the hops at its other end. */
static uint8_t offer(const struct route_change *change, uint32_t edge, uint32_t x, uint8_t there)
{
	const struct route_graph *graph = change->graph;

	if (route_is_closed(graph, edge) && graph->leaf[x])
		return ROUTE_FAR;
	if (!graph->up || there == ROUTE_FAR)
		return there >= ROUTE_HOPS_MAX ? ROUTE_FAR : there + 1;
	if (!graph->up[edge] && there >= ROUTE_UP)
		return ROUTE_FAR;
	if ((there & ~ROUTE_UP) >= ROUTE_UP_HOPS_MAX)
		return ROUTE_FAR;
	return graph->up[edge] ? (there | ROUTE_UP) + 1 : there + 1;
}

static void note_gain(struct route_change *change, uint32_t sw, uint32_t edge)
{
	const struct route_graph *graph = change->graph;
	uint32_t to = graph->edges[edge].to;
	const uint8_t *here = change->hops + (size_t)sw * change->n;
	const uint8_t *there = change->hops + (size_t)to * change->n;

	for (uint32_t x = 0; x < change->n; x++)
		if (!change->anew[x] && offer(change, edge, x, there[x]) < here[x])
			search_anew(change, x);
}

static void note_gains(struct route_change *change, uint32_t sw, const struct edges *edges)
{
	const struct route_graph *graph = change->graph;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		uint32_t was = edges->was[graph->edges[e].to];

		if (was == FABRIC_NONE || !same_way(change, was, e))
			note_gain(change, sw, e);
	}
}

/*
 * Gives a switch that is back the best that its neighbours offer, on ways that go down alone or
 * that begin upwards; true if that changed any.
 */
static bool take_offers(struct route_change *change, uint32_t sw, bool up)
{
	const struct route_graph *graph = change->graph;
	uint8_t *here = change->hops + (size_t)sw * change->n;
	bool changed = false;

	here[sw] = 0;
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		const struct route_edge *edge = &graph->edges[e];
		const uint8_t *there = change->hops + (size_t)edge->to * change->n;
		bool open = !graph->up || graph->up[e] == up;

		for (uint32_t x = 0; x < change->n; x++) {
			uint8_t hops = offer(change, e, x, there[x]);

			if (open && hops < here[x]) {
				here[x] = hops;
				changed = true;
			}
		}
	}
	return changed;
}

/* On such ways, until nothing changes. */
static void fill_by(struct route_change *change, bool up)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t sw = 0; sw < change->n; sw++)
			if (change->before[sw] == FABRIC_NONE)
				changed |= take_offers(change, sw, up);
	}
}

/*
 * Down first: a switch that finds a way down has less to offer to those below it if its way up was
 * shorter.
 */
static void fill_those_back(struct route_change *change)
{
	fill_by(change, false);
	fill_by(change, true);
}

/* ---- LIDs ---- */

/* LIDs that have an owner who did not have them, or was elsewhere. */
static void note_lids(struct route_change *change)
{
	const struct route_graph *graph = change->graph, *old = change->old->trace->graph;
	const struct route_target **was = g_new0(const struct route_target *, FABRIC_LIDS);

	for (uint32_t t = 0; t < route_n_targets(old); t++)
		was[old->targets[t].lid] = &old->targets[t];
	change->back = g_new(bool, route_n_targets(graph) + 1);
	change->n_dests = change->n_anew;
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		const struct route_target *is = &graph->targets[t], *before = was[is->lid];

		change->back[t] = !before || before->exit != is->exit ||
				  change->now[before->leaf] != is->leaf;
		if (change->back[t] && !change->anew[is->leaf] &&
		    (change->n_dests == change->n_anew ||
		     change->dests[change->n_dests - 1] != is->leaf))
			change->dests[change->n_dests++] = is->leaf;
	}
	g_free(was);
}

/* The switch has other LIDs of its own: all that leads to it is looked at. */
static bool renamed(const struct route_change *change, uint32_t sw)
{
	const struct route_graph *graph = change->graph, *old = change->old->trace->graph;
	uint32_t before = change->before[sw];

	return before != FABRIC_NONE && (graph->own_lid[sw] != old->own_lid[before] ||
					 graph->own_lmc[sw] != old->own_lmc[before]);
}

/* Whether other edges are closed for what leads to it, as it is a leaf now, or no more. */
static bool is_reopened(const struct route_change *change, uint32_t sw)
{
	const struct route_graph *graph = change->graph, *old = change->old->trace->graph;

	return graph->joined && old->joined && graph->leaf[sw] != old->leaf[change->before[sw]];
}

/* ---- search ---- */

static void note_changes(struct route_change *change)
{
	struct edges edges = { g_new(uint32_t, change->n + 1), g_new(uint32_t, change->n + 1) };

	memset(edges.was, 0xFF, (change->n + 1) * sizeof(uint32_t));
	memset(edges.is, 0xFF, (change->n + 1) * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < change->n; sw++) {
		index_edges(change, sw, &edges, true);
		change->touched[sw] = is_touched(change, sw, &edges);
		if (change->before[sw] == FABRIC_NONE || renamed(change, sw) ||
		    is_reopened(change, sw))
			search_anew(change, sw);
		if (change->before[sw] != FABRIC_NONE && change->touched[sw]) {
			note_losses(change, sw, &edges);
			note_gains(change, sw, &edges);
		}
		index_edges(change, sw, &edges, false);
	}
	g_free(edges.was);
	g_free(edges.is);
}

/* Whether a new computation would be faster, and better balanced. */
static bool is_too_much(const struct route_change *change)
{
	uint32_t touched = 0;

	for (uint32_t sw = 0; sw < change->n; sw++)
		touched += change->touched[sw];
	return touched > MAX(change->n / TOUCHED_MAX, TOUCHED_MIN);
}

/* Columns of the table of all pairs: those of the destinations that are searched anew. */
static void scatter(struct route_change *change, const uint8_t *from)
{
	for (uint32_t sw = 0; sw < change->n; sw++)
		for (uint32_t i = 0; i < change->n_anew; i++)
			change->hops[(size_t)sw * change->n + change->dests[i]] =
				from[(size_t)sw * change->n_anew + i];
}

static bool search(struct route_change *change)
{
	size_t size = (size_t)change->n * change->n_anew + 1;
	g_autofree uint8_t *hops = NULL;

	if (!change->n_anew)
		return true;
	hops = g_malloc(size);
	if (!route_columns(change->graph, change->dests, change->n_anew, hops) &&
	    !route_hops(change->graph, change->dests, change->n_anew, hops, NULL))
		return false;
	scatter(change, hops);
	return true;
}

struct route_change *route_change_new(const struct fabric *fabric, unsigned int threads,
				      const struct routing *old)
{
	struct route_change *change = g_new0(struct route_change, 1);
	uint32_t n = fabric->n_switches, n_before = old->n_switches;

	g_assert(!old->trace->graph->weight); /* search() knows nothing of weights */
	change->fabric = fabric;
	change->old = old;
	change->n = n;
	change->n_before = n_before;
	change->row = g_new(uint32_t, n + 1);
	change->before = g_new(uint32_t, n + 1);
	change->now = g_new(uint32_t, n_before + 1);
	memset(change->now, 0xFF, n_before * sizeof(*change->now));
	if (!map_switches(change) || !is_part_of_home(change)) {
		route_change_free(change);
		return NULL;
	}
	change->whole = is_whole(change);
	change->graph = route_graph_new(fabric);
	change->graph->threads = threads;
	if (old->home->order)
		orient_as_home(change);
	change->hops = carry(change, old->trace->hops, ROUTE_FAR);
	change->touched = g_new0(bool, n + 1);
	change->anew = g_new0(bool, n + 1);
	change->dests = g_new(uint32_t, n + 1);
	fill_those_back(change);
	note_changes(change);
	note_lids(change);
	if (!is_too_much(change) && search(change))
		return change;
	route_change_free(change);
	return NULL;
}

void route_change_free(struct route_change *change)
{
	if (!change)
		return;
	g_free(change->row);
	g_free(change->before);
	g_free(change->now);
	route_graph_free(change->graph);
	g_free(change->hops);
	g_free(change->touched);
	g_free(change->anew);
	g_free(change->dests);
	g_free(change->back);
	g_free(change);
}
