// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the state of a routing to that of a changed fabric.
 *
 * The fabric must be a part of the one for which the tables were last fully computed (the base),
 * except for a few LIDs. Then every switch has its place in the order of that time. Distances are
 * searched again, in that order; the result is which destinations have other distances than before.
 */
#include "route/renew/change.h"

#include <string.h>

#include "route/graph/watch.h"
#include "route/order/orient.h"
#include "route/renew/renew.h"

/* ---- the same switches, cables and LIDs ---- */

/*
 * False if a switch has a cable that it does not have in the base fabric. If it lacks one, that is
 * not whole.
 */
static bool compare_cables(struct route_change *change, uint32_t sw)
{
	const struct fabric *fabric = change->fabric, *base = change->old->base->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	const struct fabric_node *before = &base->nodes[base->switches[change->row[sw]].node];

	if (node->num_ports != before->num_ports)
		return false;
	for (unsigned int num = 1; num <= node->num_ports; num++) {
		const struct fabric_port *is = &fabric->ports[node->first_port + num];
		const struct fabric_port *was = &base->ports[before->first_port + num];
		uint32_t to = route_switch_across(fabric, node->first_port + num);
		uint32_t from = route_switch_across(base, before->first_port + num);

		if (to != FABRIC_NONE &&
		    (from == FABRIC_NONE || change->row[to] != from ||
		     fabric->ports[is->peer].num != base->ports[was->peer].num))
			return false;
		change->whole &= from == FABRIC_NONE || is->peer != FABRIC_NONE;
	}
	return true;
}

/* A port without a cable, of a host seen through another port, does not count: it is nowhere. */
static bool is_new_lid(const struct route_change *change, uint16_t lid)
{
	const struct fabric *fabric = change->fabric, *base = change->old->base->fabric;
	uint32_t port = fabric->lid_port[lid], before = base->lid_port[lid];
	uint8_t exit, exit_before = 0;
	uint32_t leaf = fabric_leaf(fabric, port, &exit);

	if (before == FABRIC_NONE || base->ports[before].guid != fabric->ports[port].guid)
		return true;
	return leaf != FABRIC_NONE &&
	       (change->row[leaf] != fabric_leaf(base, before, &exit_before) ||
		exit != exit_before);
}

static bool are_few_new_lids(const struct route_change *change)
{
	uint32_t n_lids = 0, n_new = 0;

	for (uint32_t lid = 1; lid <= change->fabric->max_lid; lid++) {
		if (change->fabric->lid_port[lid] == FABRIC_NONE)
			continue;
		n_lids++;
		n_new += is_new_lid(change, lid);
	}
	return n_new <= n_lids / RENEW_NEW_LIDS;
}

/* False if the fabric has a cable or more than a few LIDs that the base has not in that place. */
static bool compare_with_base(struct route_change *change)
{
	change->whole = change->n == change->old->base->fabric->n_switches;
	for (uint32_t sw = 0; sw < change->n; sw++)
		if (change->row[sw] == FABRIC_NONE || !compare_cables(change, sw))
			return false;
	return change->fabric->max_lid / ROUTE_BLOCK < change->old->n_blocks &&
	       are_few_new_lids(change);
}

/* ---- the new graph, and the known hops ---- */

/* Places of the present switches, without gaps. */
static void orient_as_base(struct route_change *change)
{
	const struct route_base *base = change->old->base;
	uint32_t *order = g_new(uint32_t, change->n + 1), n = 0, n_base = base->fabric->n_switches;
	g_autofree uint32_t *at = g_new(uint32_t, n_base + 1);

	memset(at, 0xFF, n_base * sizeof(*at));
	for (uint32_t sw = 0; sw < change->n; sw++)
		at[base->order[change->row[sw]]] = sw;
	for (uint32_t place = 0; place < n_base; place++)
		if (at[place] != FABRIC_NONE)
			order[at[place]] = n++;
	route_orient_by(&change->plan.order, order);
	change->plan.order.connect_roots = change->old->repair_state->plan.order.connect_roots;
	route_join_tops(&change->plan.order);
	change->plan.order.open = change->old->repair_state->plan.order.open;
}

/* ---- differences ---- */

/* Whether an edge still has the same links and direction, and is still closed or not. */
static bool is_same_edge(const struct route_change *change, uint32_t was, uint32_t is)
{
	const struct route_graph *old = change->old->repair_state->plan.graph;
	const struct route_graph *graph = change->graph;
	const struct route_order *before = &change->old->repair_state->plan.order;
	const struct route_order *order = &change->plan.order;
	const struct route_edge *a = &old->edges[was], *b = &graph->edges[is];

	if (a->n_links != b->n_links ||
	    memcmp(old->links + a->first_link, graph->links + b->first_link, a->n_links) != 0)
		return false;
	return !order->up || (before->up[was] == order->up[is] &&
			      route_is_closed(before, was) == route_is_closed(order, is));
}

/* Whether the edges of a switch have changed; they are in the order of their ports. */
static bool is_touched(const struct route_change *change, uint32_t sw)
{
	const struct route_graph *old = change->old->repair_state->plan.graph;
	const struct route_graph *graph = change->graph;
	uint32_t before = change->before[sw];

	if (before == FABRIC_NONE || route_degree(old, before) != route_degree(graph, sw))
		return true;
	route_each_edge(graph, sw, edge) {
		uint32_t is = edge - graph->edges;
		uint32_t was = old->first_edge[before] + is - graph->first_edge[sw];

		if (old->edges[was].to != change->before[edge->to] ||
		    !is_same_edge(change, was, is))
			return true;
	}
	return false;
}

/* Destinations whose distance from some switch has changed, and pairs now without a path. */
static void compare_hops(struct route_change *change)
{
	const uint8_t *old = change->old->repair_state->hops;
	size_t n_before = change->old->n_switches;
	g_autofree uint32_t *part = route_parts(change->graph, NULL);

	for (uint32_t sw = 0; sw < change->n && route_watch_look(change->graph->watch); sw++) {
		const uint8_t *is = change->hops + (size_t)sw * change->n;
		const uint8_t *was = old + change->before[sw] * n_before;

		for (uint32_t x = 0; change->before[sw] != FABRIC_NONE && x < change->n; x++) {
			uint32_t before = change->before[x];

			change->anew[x] |= before == FABRIC_NONE || is[x] != was[before];
			if (is[x] == ROUTE_FAR && before != FABRIC_NONE && part[x] == part[sw])
				change->loses_pairs |= was[before] != ROUTE_FAR;
		}
	}
}

/*
 * Whether a switch has changed as a destination: it came back, has other LIDs of its own, or other
 * edges are closed for traffic to it, since it has become a leaf, or stopped being one.
 */
static bool is_another(const struct route_change *change, uint32_t sw)
{
	const struct route_graph *graph = change->graph;
	const struct route_graph *old = change->old->repair_state->plan.graph;
	const struct route_order *order = &change->plan.order;
	const struct route_order *old_order = &change->old->repair_state->plan.order;
	uint32_t before = change->before[sw];

	return before == FABRIC_NONE || graph->own_lid[sw] != old->own_lid[before] ||
	       graph->own_lmc[sw] != old->own_lmc[before] ||
	       (order->joined && old_order->joined && order->leaf[sw] != old_order->leaf[before]);
}

bool route_change_is_back(const struct route_change *change, const struct route_target *target)
{
	uint8_t exit = 0;
	uint32_t leaf = route_leaf_of(change->old->fabric, target->lid, &exit);

	return leaf == FABRIC_NONE || leaf != change->before[target->leaf] || exit != target->exit;
}

static void list_dests(struct route_change *change)
{
	const struct route_graph *graph = change->graph;

	for (uint32_t x = 0; x < change->n; x++) {
		bool changed = change->anew[x] |= is_another(change, x);

		for (uint32_t t = graph->first_target[x]; t < graph->first_target[x + 1]; t++)
			changed |= route_change_is_back(change, &graph->targets[t]);
		if (changed)
			change->dests[change->n_dests++] = x;
	}
}

/* The new graph and the hops in it; but not if a full computation is faster and balances better. */
static void find_hops(struct route_change *change, const struct route_input *input)
{
	route_plan_init(&change->plan, change->fabric);
	change->graph = change->plan.graph;
	change->graph->threads = input->threads;
	change->graph->watch = input->watch;
	if (change->old->base->order)
		orient_as_base(change);
	for (uint32_t sw = 0; sw < change->n; sw++) {
		change->touched[sw] = is_touched(change, sw);
		change->n_touched += change->touched[sw];
	}
	if (change->n_touched <=
	    MAX(change->n / RENEW_CHANGED_SWITCHES, RENEW_CHANGED_SWITCHES_MIN))
		change->hops = route_hops_all(&change->plan.order, NULL);
}

struct route_change *route_change_new(const struct fabric *fabric, const struct route_input *input,
				      const struct routing *old)
{
	struct route_change *change = g_new0(struct route_change, 1);
	uint32_t n = fabric->n_switches;

	change->fabric = fabric;
	change->old = old;
	change->n = n;
	change->row = route_places(fabric, old->base->fabric);
	change->before = route_places(fabric, old->fabric);
	change->touched = g_new0(bool, n + 1);
	change->anew = g_new0(bool, n + 1);
	change->dests = g_new(uint32_t, n + 1);
	if (compare_with_base(change))
		find_hops(change, input);
	if (!change->hops) {
		route_change_free(change);
		return NULL;
	}
	compare_hops(change);
	list_dests(change);
	return change;
}

void route_change_free(struct route_change *change)
{
	if (!change)
		return;
	g_free(change->row);
	g_free(change->before);
	route_plan_clear(&change->plan);
	g_free(change->hops);
	g_free(change->touched);
	g_free(change->anew);
	g_free(change->dests);
	g_free(change);
}
