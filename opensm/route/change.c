// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the state of a routing to that of a changed fabric.
 *
 * The fabric must be a part of the one for which the tables were last computed whole (home), but
 * for a few LIDs. Then every switch has its place in the order of that time. Distances are searched
 * anew, in that order; what counts is which destinations have others than before.
 */
#include "route/change.h"

#include <string.h>

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
	g_autofree uint32_t *at = g_new(uint32_t, home->n + 1); /* row -> index in the old graph */

	memset(at, 0xFF, home->n * sizeof(*at));
	for (uint32_t was = 0; was < change->n_before; was++)
		at[route_home_row(home, trace->guids[was])] = was;
	for (uint32_t sw = 0; sw < change->n; sw++) {
		uint32_t row = route_home_row(home, fabric->nodes[fabric->switches[sw].node].guid);

		if (row == FABRIC_NONE)
			return false;
		change->row[sw] = row;
		change->before[sw] = at[row];
		if (at[row] != FABRIC_NONE)
			change->now[at[row]] = sw;
	}
	return true;
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
		uint32_t port = fabric_switch_port(fabric, sw, num);
		uint32_t to = route_switch_across(fabric, port);
		const struct route_end *end = &home->ends[first + num];

		if (to != FABRIC_NONE &&
		    (end->row != change->row[to] ||
		     end->port != fabric->ports[fabric->ports[port].peer].num))
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
	g_autofree uint32_t *at = g_new(uint32_t, home->n + 1);

	memset(at, 0xFF, home->n * sizeof(*at));
	for (uint32_t sw = 0; sw < change->n; sw++)
		at[home->order[change->row[sw]]] = sw;
	for (uint32_t place = 0; place < home->n; place++)
		if (at[place] != FABRIC_NONE)
			order[at[place]] = n++;
	route_orient_by(change->graph, order);
	change->graph->connect_roots = change->old->trace->graph->connect_roots;
	route_join_tops(change->graph);
	change->graph->open = change->old->trace->graph->open;
}

/* ---- what the edges of one switch were, and are ---- */

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

/* Whether a switch has other edges than before; was[] is scratch that enters and leaves unset. */
static bool is_touched(const struct route_change *change, uint32_t sw, uint32_t *was)
{
	const struct route_graph *old = change->old->trace->graph, *graph = change->graph;
	uint32_t before = change->before[sw];
	bool touched = false;

	if (before == FABRIC_NONE || route_degree(old, before) != route_degree(graph, sw))
		return true;
	route_each_edge(old, before, edge)
		if (change->now[edge->to] != FABRIC_NONE)
			was[change->now[edge->to]] = edge - old->edges;
	route_each_edge(graph, sw, edge) {
		uint32_t other = was[edge->to], e = edge - graph->edges;

		touched |= other == FABRIC_NONE || !same_links(old, other, graph, e) ||
			   !same_way(change, other, e);
	}
	route_each_edge(old, before, edge)
		if (change->now[edge->to] != FABRIC_NONE)
			was[change->now[edge->to]] = FABRIC_NONE;
	return touched;
}

static void find_touched(struct route_change *change)
{
	g_autofree uint32_t *was = g_new(uint32_t, change->n + 1);

	memset(was, 0xFF, (change->n + 1) * sizeof(*was));
	for (uint32_t sw = 0; sw < change->n; sw++)
		change->touched[sw] = is_touched(change, sw, was);
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

/* ---- what differs ---- */

/* Destinations to which the distance from some switch is another. */
static void compare_hops(struct route_change *change)
{
	const uint8_t *old = change->old->trace->hops;

	for (uint32_t sw = 0; sw < change->n; sw++) {
		const uint8_t *is = change->hops + (size_t)sw * change->n;
		const uint8_t *was = old + (size_t)change->before[sw] * change->n_before;

		for (uint32_t x = 0; change->before[sw] != FABRIC_NONE && x < change->n; x++)
			change->anew[x] |=
				change->before[x] == FABRIC_NONE || is[x] != was[change->before[x]];
	}
}

static void list_anew(struct route_change *change)
{
	for (uint32_t x = 0; x < change->n; x++) {
		change->anew[x] |= change->before[x] == FABRIC_NONE || renamed(change, x) ||
				   is_reopened(change, x);
		if (change->anew[x])
			change->dests[change->n_anew++] = x;
	}
}

/* Whether a new computation would be faster, and better balanced. */
static bool is_too_much(const struct route_change *change)
{
	uint32_t touched = 0;

	for (uint32_t sw = 0; sw < change->n; sw++)
		touched += change->touched[sw];
	return touched > MAX(change->n / TOUCHED_MAX, TOUCHED_MIN);
}

/* The new graph and the hops in it, unless that is too much. */
static void find_hops(struct route_change *change, unsigned int threads)
{
	change->whole = is_whole(change);
	change->graph = route_graph_new(change->fabric);
	change->graph->threads = threads;
	if (change->old->home->order)
		orient_as_home(change);
	find_touched(change);
	if (!is_too_much(change))
		change->hops = route_hops_all(change->graph, NULL);
}

struct route_change *route_change_new(const struct fabric *fabric, unsigned int threads,
				      const struct routing *old)
{
	struct route_change *change = g_new0(struct route_change, 1);
	uint32_t n = fabric->n_switches, n_before = old->n_switches;

	change->fabric = fabric;
	change->old = old;
	change->n = n;
	change->n_before = n_before;
	change->row = g_new(uint32_t, n + 1);
	change->before = g_new(uint32_t, n + 1);
	change->now = g_new(uint32_t, n_before + 1);
	memset(change->now, 0xFF, n_before * sizeof(*change->now));
	change->touched = g_new0(bool, n + 1);
	change->anew = g_new0(bool, n + 1);
	change->dests = g_new(uint32_t, n + 1);
	if (map_switches(change) && is_part_of_home(change))
		find_hops(change, threads);
	if (!change->hops) {
		route_change_free(change);
		return NULL;
	}
	compare_hops(change);
	list_anew(change);
	note_lids(change);
	return change;
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
