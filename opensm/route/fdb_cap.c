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
 * comes about by the mixture. Where there is no such order the mixture is judged, and a promise
 * that it breaks is taken back.
 *
 * LIDs below the least cap go by all switches as ever, that of a small switch itself included.
 */
#include "route/fdb_cap.h"

#include <string.h>

#include "route/trace.h"

#define CAPS_MAX 8 /* different ones */

/* ---- caps ---- */

static uint32_t count_different(const uint32_t *caps, uint32_t n)
{
	g_autofree bool *seen = g_new0(bool, FABRIC_LIDS + 1);
	uint32_t different = 0;

	for (uint32_t sw = 0; sw < n; sw++) {
		different += !seen[caps[sw]];
		seen[caps[sw]] = true;
	}
	return different;
}

/* Each of them costs a computation: no fabric shall make that many. To powers of two. */
static void round_down(uint32_t *caps, uint32_t n)
{
	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t power = 1;

		while (power * 2 <= caps[sw])
			power *= 2;
		caps[sw] = caps[sw] < FABRIC_LIDS ? power : FABRIC_LIDS;
	}
}

uint32_t *route_caps(const struct fabric *fabric)
{
	uint32_t n = fabric->n_switches, *caps;
	bool any = false;

	for (uint32_t sw = 0; sw < n && !any; sw++)
		any = fabric_fdb_cap(fabric, sw) < FABRIC_LIDS;
	if (!any)
		return NULL;
	caps = g_new(uint32_t, n);
	for (uint32_t sw = 0; sw < n; sw++)
		caps[sw] = fabric_fdb_cap(fabric, sw);
	if (count_different(caps, n) > CAPS_MAX)
		round_down(caps, n);
	return caps;
}

uint32_t route_next_cap(const uint32_t *caps, uint32_t n, uint32_t lid)
{
	uint32_t next = FABRIC_LIDS;

	for (uint32_t sw = 0; sw < n; sw++)
		if (caps[sw] > lid)
			next = MIN(next, caps[sw]);
	return next;
}

/* ---- the network of a range of LIDs ---- */

/* A view of a fabric in which some cables are missing; nobody else holds it. */
static void take_cables(struct fabric *view, uint32_t sw)
{
	const struct fabric_node *node = &view->nodes[view->switches[sw].node];

	for (unsigned int num = 1; num <= node->num_ports; num++) {
		struct fabric_port *port = &view->ports[node->first_port + num];

		if (port->peer == FABRIC_NONE ||
		    !fabric_is_switch(view, view->ports[port->peer].node))
			continue;
		view->ports[port->peer].peer = FABRIC_NONE;
		port->peer = FABRIC_NONE;
	}
}

/* What switches that hold this LID are to each other. All hold all LIDs there. */
static struct fabric *view_new(const struct fabric *fabric, const uint32_t *caps, uint32_t lid)
{
	struct fabric *view = fabric_copy(fabric);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		view->switches[sw].info.linear_fdb_cap = 0;
		if (caps[sw] <= lid)
			take_cables(view, sw);
	}
	return view;
}

/* ---- columns ---- */

struct limit {
	const struct route_engine *engine;
	const struct fabric *fabric;
	const struct route_input *input;
	const uint32_t *caps;
	const uint32_t *order;	   /* that all parts have; NULL: none */
	const struct routing *old; /* what parts are repaired from; NULL: they are made anew */
	struct routing *routing;   /* that is made */
};

/* LIDs [first, last] of one table. */
static void copy_row(const struct limit *limit, const struct routing *part,
		     const struct fabric *view, uint32_t sw, uint32_t first, uint32_t last)
{
	const struct fabric_node *node = &view->nodes[view->switches[sw].node];
	uint8_t *row = limit->routing->lft[sw];
	bool dead[256] = {false};

	if (limit->caps[sw] <= first)
		return;
	for (unsigned int num = 1; num <= node->num_ports; num++)
		dead[num] = view->ports[node->first_port + num].peer !=
			    limit->fabric->ports[node->first_port + num].peer;
	for (uint32_t lid = first; lid <= last; lid++)
		if (!dead[part->lft[sw][lid]])
			row[lid] = part->lft[sw][lid];
}

/* What its own switch does not hand over goes nowhere. */
static void discard(const struct limit *limit, uint32_t lid)
{
	uint8_t exit;
	uint32_t leaf = route_leaf_of(limit->fabric, lid, &exit);

	if (leaf == FABRIC_NONE || limit->caps[leaf] > lid)
		return;
	for (uint32_t sw = 0; sw < limit->fabric->n_switches; sw++)
		limit->routing->lft[sw][lid] = ROUTE_NO_PORT;
}

static void copy_columns(const struct limit *limit, const struct routing *part,
			 const struct fabric *view, uint32_t first, uint32_t last)
{
	struct routing *routing = limit->routing;

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		copy_row(limit, part, view, sw, first, last);
	for (uint32_t lid = first; lid <= last; lid++)
		discard(limit, lid);
	routing->promises &= part->promises;
	routing->max_hops = MAX(routing->max_hops, part->max_hops);
}

/* Tables for the LIDs from first on, which is a cap. */
static struct routing *part_from(const struct limit *limit, const struct fabric *view,
				 GError **error)
{
	struct route_input input = *limit->input;
	struct routing *part = NULL;

	input.order = limit->order;
	if (limit->old)
		part = routing_repair(view, &input, limit->old);
	return part ? part : limit->engine->compute(view, &input, error);
}

static bool add_range(const struct limit *limit, uint32_t first, uint32_t last, GError **error)
{
	struct fabric *view = view_new(limit->fabric, limit->caps, first);
	struct routing *part = part_from(limit, view, error);

	if (part)
		copy_columns(limit, part, view, first, last);
	fabric_unref(view);
	routing_unref(part);
	return part != NULL;
}

/* ---- the whole ---- */

static struct routing *new_like(const struct fabric *fabric, const struct routing *base)
{
	struct routing *routing = routing_new(fabric, base->engine, base->promises);
	uint32_t n = fabric->n_switches;

	routing->promises &= ~ROUTE_SHORTEST;
	routing->note = g_strdup(base->note);
	if (base->order)
		routing->order = g_memdup2(base->order, n * sizeof(*routing->order));
	return routing;
}

/* The columns of base that all switches hold, and others for each range above. */
static struct routing *mix(struct limit *limit, const struct routing *base, GError **error)
{
	const struct fabric *fabric = limit->fabric;
	uint32_t n = fabric->n_switches, next = route_next_cap(limit->caps, n, 0);
	bool made = true;

	limit->routing = new_like(fabric, base);
	copy_columns(limit, base, fabric, 0, next - 1);
	while (made && next <= fabric->max_lid) {
		uint32_t first = next;

		next = route_next_cap(limit->caps, n, first);
		made = add_range(limit, first, MIN(next - 1, fabric->max_lid), error);
	}
	if (!made)
		g_clear_pointer(&limit->routing, routing_unref);
	return limit->routing;
}

/*
 * Whether they are right. Freedom from deadlock that is a matter of the network, not of the engine,
 * may be lost.
 */
static bool is_right(const struct limit *limit, struct routing *routing, GError **error)
{
	struct route_verdict verdict;
	bool right;

	if (!route_verify_by(limit->fabric, routing, limit->input, &verdict) &&
	    !verdict.acyclic && !(limit->engine->promises & ROUTE_DEADLOCK_FREE))
		routing->promises &= ~ROUTE_DEADLOCK_FREE;
	right = verdict.complete && verdict.loop_free &&
		(verdict.acyclic || !(routing->promises & ROUTE_DEADLOCK_FREE));
	if (!right)
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "it finds no way around switches whose LinearFDBCap is too small: %s",
			    verdict.witness ? verdict.witness : "no witness");
	route_verdict_clear(&verdict);
	return right;
}

/* The order of what it makes for LIDs from this one on; switches that lack them are below all. */
static uint32_t *order_for(const struct limit *limit, uint32_t lid)
{
	struct fabric *view = view_new(limit->fabric, limit->caps, lid);
	struct routing *routing = limit->engine->compute(view, limit->input, NULL);
	uint32_t n = limit->fabric->n_switches, place = 0, *order = NULL;
	g_autofree uint32_t *at = g_new(uint32_t, n + 1);

	if (routing && routing->order) {
		order = g_new(uint32_t, n + 1);
		for (uint32_t sw = 0; sw < n; sw++)
			at[routing->order[sw]] = sw;
		for (unsigned int small = 0; small < 2; small++)
			for (uint32_t i = 0; i < n; i++)
				if ((limit->caps[at[i]] <= lid) == small)
					order[at[i]] = place++;
	}
	fabric_unref(view);
	routing_unref(routing);
	return order;
}

/* Nothing goes through switches that lack this LID then, if there is any other way. */
static struct routing *make_in_order_for(struct limit *limit, uint32_t lid)
{
	g_autofree uint32_t *order = order_for(limit, lid);
	struct fabric *view = view_new(limit->fabric, limit->caps, 0);
	struct routing *base = NULL, *routing = NULL;

	limit->order = order;
	if (order)
		base = part_from(limit, view, NULL);
	if (base)
		routing = mix(limit, base, NULL);
	if (routing && !is_right(limit, routing, NULL))
		g_clear_pointer(&routing, routing_unref);
	routing_unref(base);
	fabric_unref(view);
	return routing;
}

static struct routing *make_in_other_order(struct limit *limit)
{
	uint32_t n = limit->fabric->n_switches, cap = route_next_cap(limit->caps, n, 0);
	struct routing *routing = NULL;

	limit->old = NULL;
	for (; !routing && cap < FABRIC_LIDS; cap = route_next_cap(limit->caps, n, cap))
		routing = make_in_order_for(limit, cap);
	return routing;
}

/* What is left of tables for switches that hold all LIDs. */
static struct routing *limit_tables(struct limit *limit, const struct routing *unlimited,
				    GError **error)
{
	struct routing *routing;
	GError *first = NULL;

	limit->old = unlimited;
	limit->order = unlimited->order;
	routing = mix(limit, unlimited, &first);
	if (routing && !is_right(limit, routing, &first))
		g_clear_pointer(&routing, routing_unref);
	if (!routing && unlimited->order)
		routing = make_in_other_order(limit);
	if (routing)
		g_clear_error(&first);
	else
		g_propagate_error(error, first);
	return routing;
}

/* [switch]: hosts stand on it. */
static bool *find_leaves(const struct fabric *fabric)
{
	bool *leaves = g_new0(bool, fabric->n_switches + 1);

	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint8_t exit;
		uint32_t leaf = route_leaf_of(fabric, lid, &exit);

		if (leaf != FABRIC_NONE && exit)
			leaves[leaf] = true;
	}
	return leaves;
}

/* Where both switches hold the LID of the host, and those between them do not. */
static uint64_t count_cut(const struct limit *limit, const struct routing *routing,
			  const struct routing *unlimited)
{
	const struct fabric *fabric = limit->fabric;
	g_autofree bool *leaves = find_leaves(fabric);
	uint32_t first = route_next_cap(limit->caps, fabric->n_switches, 0);
	uint64_t n = 0;

	for (uint32_t lid = first; lid <= fabric->max_lid; lid++) {
		uint8_t exit;
		uint32_t leaf = route_leaf_of(fabric, lid, &exit);

		if (leaf == FABRIC_NONE || !exit || limit->caps[leaf] <= lid)
			continue;
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			n += leaves[sw] && limit->caps[sw] > lid &&
			     routing_port(routing, sw, lid) == ROUTE_NO_PORT &&
			     routing_port(unlimited, sw, lid) != ROUTE_NO_PORT;
	}
	return n;
}

struct routing *routing_renew(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const struct routing *old,
			      enum route_way *way, GError **error)
{
	const struct routing *base = old && old->unlimited ? old->unlimited : old;
	g_autofree uint32_t *caps = route_caps(fabric);
	struct limit limit = {engine, fabric, input, caps};
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
