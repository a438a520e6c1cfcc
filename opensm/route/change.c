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

/* Whether a switch has no cable that it had not at home. If it lacks one, home is not whole. */
static bool has_no_other_cables(struct route_change *change, uint32_t sw)
{
	const struct fabric *fabric = change->fabric, *home = change->old->home->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	const struct fabric_node *at_home = &home->nodes[home->switches[change->row[sw]].node];

	if (node->num_ports != at_home->num_ports)
		return false;
	for (unsigned int num = 1; num <= node->num_ports; num++) {
		const struct fabric_port *is = &fabric->ports[node->first_port + num];
		const struct fabric_port *was = &home->ports[at_home->first_port + num];
		uint32_t to = route_switch_across(fabric, node->first_port + num);
		uint32_t from = route_switch_across(home, at_home->first_port + num);

		if (to != FABRIC_NONE &&
		    (from == FABRIC_NONE || change->row[to] != from ||
		     fabric->ports[is->peer].num != home->ports[was->peer].num))
			return false;
		change->whole &= from == FABRIC_NONE || is->peer != FABRIC_NONE;
	}
	return true;
}

/* A port without a cable, of a host that is seen through another, is no stranger: it is nowhere. */
static bool is_stranger(const struct route_change *change, uint16_t lid)
{
	const struct fabric *fabric = change->fabric, *home = change->old->home->fabric;
	uint32_t port = fabric->lid_port[lid], at_home = home->lid_port[lid];
	uint8_t exit, exit_at_home = 0;
	uint32_t leaf = fabric_leaf(fabric, port, &exit);

	if (at_home == FABRIC_NONE || home->ports[at_home].guid != fabric->ports[port].guid)
		return true;
	return leaf != FABRIC_NONE &&
	       (change->row[leaf] != fabric_leaf(home, at_home, &exit_at_home) ||
		exit != exit_at_home);
}

static bool are_few_strangers(const struct route_change *change)
{
	uint32_t n_lids = 0, strangers = 0;

	for (uint32_t lid = 1; lid <= change->fabric->max_lid; lid++) {
		if (change->fabric->lid_port[lid] == FABRIC_NONE)
			continue;
		n_lids++;
		strangers += is_stranger(change, lid);
	}
	return strangers <= n_lids / STRANGERS_MAX;
}

/* Whether there is little in the fabric that home has not seen where it is, and no cable. */
static bool is_part_of_home(struct route_change *change)
{
	change->whole = change->n == change->old->home->fabric->n_switches;
	for (uint32_t sw = 0; sw < change->n; sw++)
		if (change->row[sw] == FABRIC_NONE || !has_no_other_cables(change, sw))
			return false;
	return change->fabric->max_lid / ROUTE_BLOCK < change->old->n_blocks &&
	       are_few_strangers(change);
}

/* ---- the new graph, and the hops that are known ---- */

/* Places of the switches that are there, without gaps. */
static void orient_as_home(struct route_change *change)
{
	const struct route_home *home = change->old->home;
	uint32_t *order = g_new(uint32_t, change->n + 1), n = 0, n_home = home->fabric->n_switches;
	g_autofree uint32_t *at = g_new(uint32_t, n_home + 1);

	memset(at, 0xFF, n_home * sizeof(*at));
	for (uint32_t sw = 0; sw < change->n; sw++)
		at[home->order[change->row[sw]]] = sw;
	for (uint32_t place = 0; place < n_home; place++)
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

/* Whether a switch has other edges than before. */
static bool is_touched(const struct route_change *change, uint32_t sw)
{
	const struct route_graph *old = change->old->trace->graph, *graph = change->graph;
	uint32_t before = change->before[sw];

	if (before == FABRIC_NONE || route_degree(old, before) != route_degree(graph, sw))
		return true;
	route_each_edge(graph, sw, edge) {
		uint32_t is = edge - graph->edges, was;

		if (change->before[edge->to] == FABRIC_NONE)
			return true;
		was = route_edge_to(old, before, change->before[edge->to]);
		if (was == FABRIC_NONE || !same_links(old, was, graph, is) ||
		    !same_way(change, was, is))
			return true;
	}
	return false;
}

/* ---- LIDs ---- */

/* LIDs that have an owner who did not have them, or was elsewhere. */
static void note_lids(struct route_change *change)
{
	const struct route_graph *graph = change->graph;

	change->back = g_new(bool, route_n_targets(graph) + 1);
	change->n_dests = change->n_anew;
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		const struct route_target *is = &graph->targets[t];
		uint8_t exit = 0;
		uint32_t leaf = route_leaf_of(change->old->fabric, is->lid, &exit);

		change->back[t] = leaf == FABRIC_NONE || change->now[leaf] != is->leaf ||
				  exit != is->exit;
		if (change->back[t] && !change->anew[is->leaf] &&
		    (change->n_dests == change->n_anew ||
		     change->dests[change->n_dests - 1] != is->leaf))
			change->dests[change->n_dests++] = is->leaf;
	}
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
	change->graph = route_graph_new(change->fabric);
	change->graph->threads = threads;
	if (change->old->home->order)
		orient_as_home(change);
	for (uint32_t sw = 0; sw < change->n; sw++)
		change->touched[sw] = is_touched(change, sw);
	if (!is_too_much(change))
		change->hops = route_hops_all(change->graph, NULL);
}

struct route_change *route_change_new(const struct fabric *fabric, unsigned int threads,
				      const struct routing *old)
{
	struct route_change *change = g_new0(struct route_change, 1);
	uint32_t n = fabric->n_switches;

	change->fabric = fabric;
	change->old = old;
	change->n = n;
	change->n_before = old->n_switches;
	change->row = route_places(fabric, old->home->fabric);
	change->before = route_places(fabric, old->fabric);
	change->now = route_places(old->fabric, fabric);
	change->touched = g_new0(bool, n + 1);
	change->anew = g_new0(bool, n + 1);
	change->dests = g_new(uint32_t, n + 1);
	if (is_part_of_home(change))
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
