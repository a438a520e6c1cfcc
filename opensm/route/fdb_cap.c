// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routing around switches that cannot hold the LIDs in use.
 *
 * A switch forwards LIDs below its LinearFDBCap and discards all others. So for the LIDs from one
 * cap up to the next the network is that of the switches which hold them: there, no cable leads to
 * the others, nor from them. Engines know nothing of this. Tables are first made as if every switch
 * held all LIDs, and kept for what follows later; then for each such range of LIDs what the smaller
 * network needs else, and its columns are put together.
 *
 * What the engine's tables become in a smaller network is what a repair makes of them, or else what
 * the engine makes in the order that they have: up remains up, for all LIDs, so no credit loop
 * comes about by the mixture. Where there is no such order the mixture is judged, on one lane: if
 * it breaks a promise that the engine gives everywhere, there are none; one that is a matter of the
 * network is taken back.
 *
 * LIDs below the least cap go by all switches as ever, that of a small switch itself included.
 */
#include "route/fdb_cap.h"

#include <string.h>

#include "route/trace.h"

#define CAPS_MAX 8 /* different ones */

uint32_t route_next_cap(const uint32_t *caps, uint32_t n, uint32_t lid)
{
	uint32_t next = FABRIC_LIDS;

	for (uint32_t sw = 0; sw < n; sw++)
		if (caps[sw] > lid)
			next = MIN(next, caps[sw]);
	return next;
}

/* Each of them costs a computation: no fabric shall make that many. To powers of two. */
static void round_down(uint32_t *caps, uint32_t n)
{
	for (uint32_t sw = 0; sw < n; sw++)
		while (caps[sw] < FABRIC_LIDS && caps[sw] & (caps[sw] - 1))
			caps[sw] &= caps[sw] - 1; /* without the lowest bit */
}

uint32_t *route_caps(const struct fabric *fabric)
{
	uint32_t n = fabric->n_switches, *caps = g_new(uint32_t, n + 1), different = 0;

	for (uint32_t sw = 0; sw < n; sw++)
		caps[sw] = fabric_fdb_cap(fabric, sw);
	for (uint32_t cap = route_next_cap(caps, n, 0); cap < FABRIC_LIDS;
	     cap = route_next_cap(caps, n, cap))
		different++;
	if (different >= CAPS_MAX)
		round_down(caps, n);
	if (!different)
		g_clear_pointer(&caps, g_free);
	return caps;
}

/* What switches that hold this LID are to each other. All hold all LIDs there. */
static struct fabric *view_new(const struct fabric *fabric, const uint32_t *caps, uint32_t lid)
{
	struct fabric *view = fabric_copy(fabric);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		view->switches[sw].info.linear_fdb_cap = 0;
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		uint32_t sw = fabric->nodes[fabric->ports[port].node].sw;
		uint32_t to = route_switch_across(fabric, port);

		if (sw != FABRIC_NONE && to != FABRIC_NONE && MIN(caps[sw], caps[to]) <= lid)
			view->ports[port].peer = FABRIC_NONE;
	}
	return view;
}

/* ---- columns ---- */

struct limit {
	const struct route_engine *engine;
	const struct fabric *fabric;
	const struct route_input *input;
	const uint32_t *caps;
	struct fabric *view;	   /* without cables to switches that lack the LIDs at hand */
	const uint32_t *order;	   /* that all parts have; NULL: none */
	const struct routing *old; /* of all LIDs, from it parts are repaired; NULL: made anew */
	struct routing *routing;   /* that is made */
	bool may_loop; /* freedom from deadlock is a matter of the network, not of the engine */
};

/* An entry that does not lead over a cable that the view lacks. */
static void copy_entry(const struct limit *limit, const struct routing *part, uint32_t sw,
		       uint32_t lid)
{
	uint8_t exit = part->lft[sw][lid];
	uint32_t port = fabric_switch_port(limit->fabric, sw, exit);

	if (limit->caps[sw] > lid && exit != ROUTE_NO_PORT &&
	    limit->view->ports[port].peer == limit->fabric->ports[port].peer)
		limit->routing->lft[sw][lid] = exit;
}

static void copy_columns(const struct limit *limit, const struct routing *part, uint32_t first,
			 uint32_t last)
{
	for (uint32_t lid = first; lid <= last; lid++) {
		uint8_t exit;
		uint32_t leaf = route_leaf_of(limit->fabric, lid, &exit);

		/* what its own switch does not hand over goes nowhere */
		if (leaf != FABRIC_NONE && limit->caps[leaf] <= lid)
			continue;
		for (uint32_t sw = 0; sw < limit->fabric->n_switches; sw++)
			copy_entry(limit, part, sw, lid);
	}
	limit->routing->promises &= part->promises;
	limit->routing->max_hops = MAX(limit->routing->max_hops, part->max_hops);
}

/* Tables for this LID and others that the same switches hold; sets the view to these switches. */
static struct routing *part_for(struct limit *limit, uint32_t lid, GError **error)
{
	struct route_input input = *limit->input;
	struct routing *part = NULL;

	fabric_unref(limit->view);
	limit->view = view_new(limit->fabric, limit->caps, lid);
	if (limit->old && !lid)
		return routing_ref((struct routing *)limit->old);
	input.order = limit->order;
	if (limit->old)
		part = routing_repair(limit->view, &input, limit->old);
	return part ? part : route_compute(limit->engine, limit->view, &input, error);
}

/* ---- the whole ---- */

/* Columns for each range of LIDs that the same switches hold; false and error. */
static bool mix(struct limit *limit, GError **error)
{
	const struct fabric *fabric = limit->fabric;
	uint32_t n = fabric->n_switches, next;
	struct routing *part;

	for (uint32_t first = 0; first <= fabric->max_lid; first = next) {
		next = route_next_cap(limit->caps, n, first);
		part = part_for(limit, first, error);
		if (!part)
			return false;
		if (!limit->routing) {
			limit->routing = routing_new(fabric, part->engine,
						     part->promises & ~ROUTE_SHORTEST);
			limit->routing->note = g_strdup(part->note);
			limit->routing->order = g_memdup2(part->order, n * sizeof(*part->order));
		}
		copy_columns(limit, part, first, MIN(next - 1, fabric->max_lid));
		routing_unref(part);
	}
	return true;
}

/* Whether they are right. */
static bool is_right(const struct limit *limit, struct routing *routing, GError **error)
{
	struct route_verdict verdict;
	bool right;

	if (!route_verify_by(limit->fabric, routing, limit->input, &verdict) &&
	    !verdict.acyclic && limit->may_loop)
		routing->promises &= ~ROUTE_DEADLOCK_FREE;
	right = verdict.complete && verdict.loop_free &&
		(verdict.acyclic || !(routing->promises & ROUTE_DEADLOCK_FREE));
	if (!right)
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "it finds no way around switches whose LinearFDBCap is too small%s: %s",
			    verdict.complete && verdict.loop_free ? " without credit loops" : "",
			    verdict.witness ? verdict.witness : "no witness");
	route_verdict_clear(&verdict);
	return right;
}

/* Sets the order to that of tables for a LID; switches that lack it are below all. */
static bool take_order_for(struct limit *limit, uint32_t lid, uint32_t *order)
{
	struct routing *part;
	uint32_t n = limit->fabric->n_switches, place = 0;
	g_autofree uint32_t *at = g_new(uint32_t, n + 1);

	limit->order = NULL;
	part = part_for(limit, lid, NULL);
	if (part && part->order) {
		for (uint32_t sw = 0; sw < n; sw++)
			at[part->order[sw]] = sw;
		for (unsigned int small = 0; small < 2; small++)
			for (uint32_t i = 0; i < n; i++)
				if ((limit->caps[at[i]] <= lid) == small)
					order[at[i]] = place++;
		limit->order = order;
	}
	routing_unref(part);
	return limit->order;
}

static bool make(struct limit *limit, GError **error)
{
	if (!mix(limit, error) || !is_right(limit, limit->routing, error))
		g_clear_pointer(&limit->routing, routing_unref);
	return limit->routing;
}

/*
 * What is left of tables for switches that hold all LIDs; or tables in the order of those that go
 * through no switch which lacks a LID, if there is any other way.
 */
static struct routing *limit_tables(struct limit *limit, const struct routing *unlimited,
				    GError **error)
{
	uint32_t n = limit->fabric->n_switches, cap = route_next_cap(limit->caps, n, 0);
	g_autofree uint32_t *order = g_new(uint32_t, n + 1);

	limit->may_loop = !(limit->engine->promises & ROUTE_DEADLOCK_FREE) &&
			  !(limit->engine->route && unlimited->promises & ROUTE_DEADLOCK_FREE);
	limit->old = unlimited;
	limit->order = unlimited->order;
	make(limit, error);
	limit->old = NULL;
	for (; !limit->routing && unlimited->order && cap < FABRIC_LIDS;
	     cap = route_next_cap(limit->caps, n, cap))
		if (take_order_for(limit, cap, order) && make(limit, NULL))
			g_clear_error(error);
	fabric_unref(limit->view);
	return limit->routing;
}

/* Where both switches hold the LID of the host, and those between them do not. */
static uint64_t count_cut(const struct limit *limit, const struct routing *routing,
			  const struct routing *unlimited)
{
	struct route_graph *graph = route_graph_new(limit->fabric);
	uint64_t n = 0;

	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		uint16_t lid = graph->targets[t].lid;

		if (limit->caps[graph->targets[t].leaf] <= lid)
			continue;
		for (uint32_t sw = 0; sw < graph->n; sw++)
			n += route_has_hosts(graph, sw) && limit->caps[sw] > lid &&
			     routing_port(routing, sw, lid) == ROUTE_NO_PORT &&
			     routing_port(unlimited, sw, lid) != ROUTE_NO_PORT;
	}
	route_graph_free(graph);
	return n;
}

struct routing *routing_renew(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const struct routing *old,
			      enum route_way *way, GError **error)
{
	const struct routing *base = old && old->unlimited ? old->unlimited : old;
	g_autofree uint32_t *caps = route_caps(fabric);
	struct limit limit = {.engine = engine, .fabric = fabric, .input = input, .caps = caps};
	struct routing *unlimited, *routing;
	struct fabric *view;

	if (!caps)
		return routing_renew_unlimited(engine, fabric, input, base, way, error);
	view = view_new(fabric, caps, 0);
	unlimited = routing_renew_unlimited(engine, view, input, base, way, error);
	fabric_unref(view);
	if (!unlimited)
		return NULL;
	if (old && unlimited == old->unlimited &&
	    !memcmp(old->caps, caps, old->n_switches * sizeof(*caps))) {
		routing_unref(unlimited);
		return routing_ref((struct routing *)old);
	}
	if (*way == ROUTE_SAME)
		*way = ROUTE_REPAIRED;
	routing = limit_tables(&limit, unlimited, error);
	if (routing) {
		routing->cut_by_caps = count_cut(&limit, routing, unlimited);
		routing->caps = g_steal_pointer(&caps);
		routing->unlimited = unlimited;
	} else {
		routing_unref(unlimited);
	}
	return routing;
}
