// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repair of a routing, instead of a full computation. Distances come from change.c. An entry is
 * examined if distances to its destination have been searched again, if the cables of its switch
 * have changed, or if its LID came back. Of the entry in the base tables (of the last full
 * computation), the one of the old routing, and any other, the first that begins a best path is
 * taken: so parts that come back get their old place, and unchanged ones stay.
 *
 * Any mixture of entries that begin best paths is complete and free of loops, and of credit loops
 * if the graph is oriented.
 *
 * Balance is kept by taking turns. LIDs to be moved take the best ports in turn, so that the ports
 * of a switch get equally many, unless one has clearly more than another already. And switches of
 * one kind, at the same distance from hosts, each start one port further: so they do not all choose
 * the same port for a LID, and the cables on its way down share the load.
 *
 * A row that is as in the base tables is balanced already, and not counted.
 *
 * A table has entries for LIDs that are never sent to its switch. On switches whose cables changed,
 * if it is worth the work, these do not count: the weight of a LID is the number of hosts on the
 * switch itself and on those neighbours whose old tables send the LID here.
 */
#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/order/hosts_shortest.h"
#include "route/order/orient.h"
#include "route/renew/change.h"
#include "route/renew/renew.h"

#define NEIGHBOUR_WEIGHT 16 /* of a neighbour without hosts */

struct repair {
	const struct route_change *change;
	struct routing *routing;
	uint32_t *turn; /* [switch]: its number within its kind */
	uint32_t salt;	/* added to all turns, so that repairs do not all start at the same port */
};

/* One switch while its row is repaired. */
struct row {
	const struct repair *repair;
	uint32_t sw;
	const uint8_t *base;
	uint32_t edges[256]; /* by exit port */
	uint32_t chosen;     /* ports chosen for LIDs of hosts that are sent here */
	bool counted, all;   /* all: not only those chosen now */
	uint64_t count[256]; /* weight of LIDs of hosts by exit port; if counted */
	uint32_t *weight;    /* [LID]: if counted; 1 if the switch's cables did not change */
};

static void number_by_kind(struct repair *repair)
{
	const struct route_graph *graph = repair->change->graph;
	g_autofree uint32_t *rank = g_new(uint32_t, graph->n + 1);
	g_autofree uint32_t *met = g_new0(uint32_t, graph->n + 1);

	route_rank_from_hosts(graph, rank);
	repair->turn = g_new(uint32_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		repair->turn[sw] = met[MIN(rank[sw], graph->n)]++;
}

/* Adds the weight of a neighbour to all LIDs that its old table sends here. */
static void weigh_neighbour(struct row *row, uint32_t from)
{
	const struct route_change *change = row->repair->change;
	const struct route_graph *graph = change->graph;
	const struct route_edge *back = &graph->edges[route_edge_to(graph, from, row->sw)];
	uint32_t hosts = route_n_hosts(graph, from), weight = hosts ? hosts : NEIGHBOUR_WEIGHT;
	const uint8_t *lft;

	if (change->before[from] == FABRIC_NONE)
		return;
	lft = change->old->lft[change->before[from]];
	for (unsigned int k = 0; k < back->n_links; k++)
		for (uint32_t lid = 0; lid <= change->old->top; lid++)
			if (lft[lid] == graph->links[back->first_link + k])
				row->weight[lid] += weight;
}

static void count_ports(struct row *row)
{
	const struct repair *repair = row->repair;
	const struct route_graph *graph = repair->change->graph;
	const uint8_t *lft = repair->routing->lft[row->sw];
	bool touched = repair->change->touched[row->sw];

	for (uint32_t lid = 0; lid <= repair->routing->top; lid++)
		row->weight[lid] = touched ? route_n_hosts(graph, row->sw) : 1;
	if (touched)
		route_each_edge(graph, row->sw, edge)
			weigh_neighbour(row, edge->to);
	memset(row->count, 0, sizeof(row->count));
	row->counted = true;
	row->all = touched || repair->routing->changed_rows[row->sw];
	for (uint32_t t = 0; row->all && t < route_n_targets(graph); t++) {
		uint16_t lid = graph->targets[t].lid;

		row->count[lft[lid]] +=
			repair->change->plan.wishes.of[t].ignored ? 0 : row->weight[lid];
	}
}

static bool leads(const struct row *row, uint32_t x, uint8_t port)
{
	const struct route_change *change = row->repair->change;

	return route_begins(&change->plan.order, change->hops, row->sw, row->edges[port], x);
}

/* The number of other LIDs of the same port that leave by this one. */
static uint32_t shared_by(const struct row *row, uint16_t lid, uint8_t port)
{
	const struct fabric *fabric = row->repair->change->fabric;
	const struct fabric_port *owner = &fabric->ports[fabric_port_by_lid(fabric, lid)];
	const uint8_t *lft = row->repair->routing->lft[row->sw];
	uint32_t n = 0;

	for (uint32_t i = owner->lid; i < owner->lid + (1u << owner->lmc); i++)
		n += i != lid && lft[i] == port;
	return n;
}

static uint8_t choose(struct row *row, uint32_t x, uint16_t lid)
{
	const struct route_graph *graph = row->repair->change->graph;
	uint8_t links[256], best = ROUTE_NO_PORT;
	uint32_t start = row->repair->turn[row->sw] + row->repair->salt + row->chosen;
	uint64_t least = 0, least_shared = 0;
	unsigned int n = 0;

	route_each_edge(graph, row->sw, edge) {
		if (!leads(row, x, graph->links[edge->first_link]))
			continue;
		memcpy(links + n, graph->links + edge->first_link, edge->n_links);
		n += edge->n_links;
	}
	if (!row->counted)
		count_ports(row);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t port = links[(start + i) % n];
		uint32_t shared = shared_by(row, lid, port);
		uint64_t count = row->count[port];

		if (i && (shared > least_shared ||
			  (shared == least_shared && count + count / RENEW_TURN_SLACK >= least)))
			continue;
		least_shared = shared;
		least = count;
		best = port;
	}
	return best;
}

/* Repairs a LID of x with the given exit; count: whether it is load. */
static void repair_lid(struct row *row, uint32_t x, uint16_t lid, uint8_t exit, bool counts)
{
	const struct route_change *change = row->repair->change;
	struct routing *routing = row->repair->routing;
	uint8_t was = routing->lft[row->sw][lid], is = was;

	if (row->sw == x) {
		is = exit;
	} else if (change->hops[(size_t)row->sw * change->n + x] == ROUTE_FAR) {
		is = ROUTE_NO_PORT; /* no path begins there any more */
	} else if (leads(row, x, row->base[lid])) {
		is = row->base[lid];
	} else if (!leads(row, x, was)) {
		is = choose(row, x, lid);
		row->chosen += counts && row->weight[lid];
	}
	if (is == was)
		return;
	routing_put(routing, row->sw, lid, is);
	if (row->counted && counts) {
		row->count[was] -= row->all ? row->weight[lid] : 0;
		row->count[is] += row->weight[lid];
	}
}

static void repair_destination(struct row *row, uint32_t x, bool all)
{
	const struct route_change *change = row->repair->change;
	const struct route_graph *graph = change->graph;

	for (uint32_t t = graph->first_target[x]; t < graph->first_target[x + 1]; t++) {
		const struct route_target *target = &graph->targets[t];

		if (all || route_change_is_back(change, target))
			repair_lid(row, x, target->lid, target->exit,
				   !change->plan.wishes.of[t].ignored);
	}
	for (unsigned int i = 0; all && i < route_n_own(graph, x); i++)
		repair_lid(row, x, graph->own_lid[x] + i, 0, false);
}

/* Examines all entries if cables changed, or if those moved for balance can be as in base again. */
static void repair_row(struct row *row)
{
	const struct route_change *change = row->repair->change;
	bool all = change->touched[row->sw] || (change->whole && change->old->repair_state->moved);
	uint32_t n = all ? change->n : change->n_dests;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = all ? i : change->dests[i];

		repair_destination(row, x, all || change->anew[x]);
	}
}

/*
 * For a switch that came back: its entries may be outdated for LIDs that are absent, or whose owner
 * has no cable and is seen through another port.
 */
static void forget_absent(struct row *row)
{
	const struct route_change *change = row->repair->change;
	uint8_t *lft = routing_changed_row(row->repair->routing, row->sw), exit;

	for (uint32_t lid = 1; lid <= change->old->top; lid++)
		if (route_leaf_of(change->fabric, lid, &exit) == FABRIC_NONE)
			lft[lid] = ROUTE_NO_PORT;
}

static void repair_switches(void *arg, uint32_t first, uint32_t last)
{
	const struct repair *repair = arg;
	const struct route_change *change = repair->change;
	struct row row = { .repair = repair };

	row.weight = g_new(uint32_t, repair->routing->top + 1u);
	for (uint32_t sw = first; sw < last && route_watch_step(change->graph->watch); sw++) {
		row.sw = sw;
		row.base = change->old->base->rows[change->row[sw]];
		row.counted = false;
		row.chosen = 0;
		route_edges_by_port(change->graph, sw, row.edges);
		if (change->before[sw] == FABRIC_NONE)
			forget_absent(&row);
		repair_row(&row);
	}
	g_free(row.weight);
}

/* Whether an earlier repair was made, and some of it stays. */
static bool is_repaired(const struct routing *routing)
{
	bool any = false;

	for (uint32_t sw = 0; routing->changed_rows && sw < routing->n_switches; sw++)
		any |= routing->changed_rows[sw] != NULL;
	return any;
}

/*
 * If cables were lost or came back. In trees turns keep the balance, but not forever: in small
 * ones, where that costs little, loads are added up, and sticky.c compares them with a full
 * computation when damage adds up.
 */
static void keep_even(const struct route_change *change, struct routing *routing)
{
	const struct route_repair_state *old = change->old->repair_state;
	uint64_t work = (uint64_t)change->n * route_n_targets(routing->repair_state->plan.graph);

	routing->repair_state->moved = old->moved && !change->whole;
	routing->repair_state->accepted_peak = change->whole ? 0 : old->accepted_peak;
	if (!change->n_touched || change->whole)
		return;
	if (routing->base->by_load || work <= RENEW_COMPARED_PAIRS)
		route_rebalance(routing, 0);
	if (!routing->base->by_load && !is_repaired(change->old))
		routing->repair_state->uneven = false;
}

static struct routing *make(struct route_change *change, const struct route_input *input)
{
	struct repair repair = { .change = change };
	struct route_graph *graph = change->graph;

	repair.routing =
		routing_from(change->fabric, change->old, change->row, change->before);
	route_mark_preferences(&change->plan.wishes, change->fabric, input);
	number_by_kind(&repair);
	repair.salt = change->n_dests + graph->n_links;
	route_watch_begin(input->watch, "repair", change->n);
	route_parallel(graph->threads, change->n, repair_switches, &repair);
	g_free(repair.turn);
	repair.routing->max_hops = route_most_hops(&change->plan.order, change->hops);
	routing_set_repair_state(repair.routing, &change->plan, g_steal_pointer(&change->hops));
	keep_even(change, repair.routing);
	routing_share(repair.routing, change->row);
	return repair.routing;
}

/*
 * Whether legal paths lead everywhere, and are shortest between hosts if the routing promises that,
 * in the given order, if any.
 */
static bool is_as_good(const struct route_change *change, const uint32_t *order)
{
	const struct route_order *is = &change->plan.order;

	return !is->up || ((!order || !memcmp(order, is->place, change->n * sizeof(*order))) &&
			   route_reaches(change->graph, change->fabric, change->hops, NULL) &&
			   (!(change->old->promises & ROUTE_SHORTEST) ||
			    route_hosts_shortest(is, change->hops)) &&
			   !change->loses_pairs);
}

struct routing *routing_repair(const struct fabric *fabric, const struct route_input *input,
			       const struct routing *old, const uint32_t *order)
{
	struct routing *routing = NULL;
	struct route_change *change;

	/* change.c does not support weights */
	if (!old->repair_state || old->repair_state->plan.order.weighed)
		return NULL;
	change = route_change_new(fabric, input, old);
	if (change && is_as_good(change, order))
		routing = make(change, input);
	route_change_free(change);
	if (route_is_cancelled(input->watch))
		g_clear_pointer(&routing, routing_unref);
	return routing;
}
