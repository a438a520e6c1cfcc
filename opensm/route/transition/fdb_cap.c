// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routing around switches that cannot hold the LIDs in use.
 *
 * A switch forwards LIDs below its LinearFDBCap and discards all others; what it does with LIDs of
 * a block that it refuses is unknown. So for LIDs that the same switches hold, the network consists
 * of these: no cable leads to or from the others. Engines do not know about this. Tables are first
 * made as if every switch held all LIDs, and kept for later routings; then for each set of switches
 * the changes for the smaller network are computed, and the columns are combined.
 *
 * In a smaller network the engine's tables are repaired, or else the engine computes them in their
 * order: up remains up, for all LIDs, so the mixture creates no credit loop. If there is no such
 * order the mixture is verified, on one lane: if it breaks a promise that the engine always makes,
 * there are no tables; a promise that depends on the network is withdrawn.
 *
 * LIDs that all switches hold use all of them as usual, including a small switch's own LID.
 *
 * A switch that cannot hold all LIDs could be left out for all of them: it would carry no transit.
 * That costs nothing where others take its place, and nearly all where none do. Pairs of hosts that
 * get through, of those in the network, by LID as here and without transit:
 *
 *	18 spines of 52 leaves hold 999 of 1,006 LIDs	868,734 and 15,912 of 875,160
 *	4 spines of 13 leaves refuse one block		 30,768 and  3,120 of  43,056
 *	one switch of a row of 8 holds 63 LIDs of 72	  3,712 and  2,432 of   4,032
 *
 * The first is an old fabric that grew by one leaf: hosts that had LIDs go on. Of 300 random
 * networks with small tables (test_route_caps.c) 14 are refused; without the order of a smaller
 * network it would be 76.
 */
#include "route/transition/fdb_cap.h"

#include <string.h>

#include "route/graph/watch.h"
#include "route/renew/renew.h"
#include "route/value/base.h"

#define CAPS_MAX 8   /* different LinearFDBCaps */
#define BLOCKS_MAX 8 /* that some switch refuses */

/* ---- what switches hold ---- */

static uint32_t next_cap(const struct route_room *room, uint32_t lid)
{
	uint32_t next = FABRIC_LIDS;

	for (uint32_t sw = 0; sw < room->n; sw++)
		if (room->caps[sw] > lid)
			next = MIN(next, room->caps[sw]);
	return next;
}

uint32_t route_room_next(const struct route_room *room, uint32_t lid)
{
	uint32_t next = next_cap(room, lid);

	for (uint32_t i = 0; i < room->n_refusals; i++) {
		uint32_t begin = room->refusals[i].block * FABRIC_LFT_BLOCK;

		if (begin > lid)
			next = MIN(next, begin);
		else if (begin + FABRIC_LFT_BLOCK > lid)
			next = MIN(next, begin + FABRIC_LFT_BLOCK);
	}
	return next;
}

/* Bounds the number of computations, one for each value: rounds caps down to powers of two. */
static void round_down(const struct route_room *room)
{
	uint32_t different = 0;

	for (uint32_t cap = next_cap(room, 0); cap < FABRIC_LIDS; cap = next_cap(room, cap))
		different++;
	for (uint32_t sw = 0; different >= CAPS_MAX && sw < room->n; sw++)
		while (room->caps[sw] < FABRIC_LIDS && room->caps[sw] & (room->caps[sw] - 1))
			room->caps[sw] &= room->caps[sw] - 1; /* clears the lowest bit */
}

/* As round_down(), for blocks: switches that refuse any are taken to refuse all refused blocks. */
static GArray *join_refusals(const struct fabric *fabric, const bool *blocks, uint32_t n_blocks)
{
	GArray *refusals = g_array_new(FALSE, FALSE, sizeof(struct fabric_refusal));
	uint32_t last = FABRIC_NONE;

	for (uint32_t i = 0; i < fabric->n_refusals; i++) {
		struct fabric_refusal refusal = fabric->refusals[i];

		if (n_blocks > BLOCKS_MAX && refusal.sw == last)
			continue;
		last = refusal.sw;
		for (uint32_t block = 0; block <= fabric->max_lid / FABRIC_LFT_BLOCK; block++) {
			if (!blocks[block] || (n_blocks <= BLOCKS_MAX && block != refusal.block))
				continue;
			g_array_append_vals(refusals,
					    &(struct fabric_refusal){refusal.sw, block}, 1);
		}
	}
	return refusals;
}

static void take_refusals(struct route_room *room, const struct fabric *fabric)
{
	g_autofree bool *blocks = g_new0(bool, FABRIC_LIDS / FABRIC_LFT_BLOCK);
	uint32_t last = fabric->max_lid / FABRIC_LFT_BLOCK, n_blocks = 0, i = 0;
	GArray *refusals;

	for (uint32_t k = 0; k < fabric->n_refusals; k++) {
		uint32_t block = fabric->refusals[k].block;

		n_blocks += block <= last && !blocks[block];
		blocks[MIN(block, last)] |= block <= last;
	}
	refusals = join_refusals(fabric, blocks, n_blocks);
	room->n_refusals = refusals->len;
	room->refusals = (struct fabric_refusal *)g_array_free(refusals, FALSE);
	for (uint32_t sw = 0; sw <= room->n; sw++) {
		while (i < room->n_refusals && room->refusals[i].sw < sw)
			i++;
		room->first[sw] = i;
	}
}

struct route_room *route_room_new(const struct fabric *fabric)
{
	struct route_room *room = g_new0(struct route_room, 1);

	room->n = fabric->n_switches;
	room->caps = g_new(uint32_t, room->n + 1);
	room->first = g_new(uint32_t, room->n + 1);
	for (uint32_t sw = 0; sw < room->n; sw++)
		room->caps[sw] = fabric_fdb_cap(fabric, sw);
	round_down(room);
	take_refusals(room, fabric);
	if (room->n_refusals || next_cap(room, 0) < FABRIC_LIDS)
		return room;
	route_room_free(room);
	return NULL;
}

void route_room_free(struct route_room *room)
{
	if (!room)
		return;
	g_free(room->caps);
	g_free(room->refusals);
	g_free(room->first);
	g_free(room);
}

bool route_room_equal(const struct route_room *a, const struct route_room *b)
{
	return a->n == b->n && a->n_refusals == b->n_refusals &&
	       !memcmp(a->caps, b->caps, a->n * sizeof(*a->caps)) &&
	       (!a->n_refusals || /* then the list may be NULL */
		!memcmp(a->refusals, b->refusals, a->n_refusals * sizeof(*a->refusals)));
}

/* The fabric as seen by switches that hold this LID. In it all hold all LIDs. */
static struct fabric *view_new(const struct fabric *fabric, const bool *lacks)
{
	struct fabric *view = fabric_copy(fabric);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		view->switches[sw].info.linear_fdb_cap = view->switches[sw].lids_taken = 0;
	view->n_refusals = 0;
	for (uint32_t port = 0; lacks && port < fabric->n_ports; port++) {
		uint32_t sw = fabric->nodes[fabric->ports[port].node].sw;
		uint32_t to = route_switch_across(fabric, port);

		if (sw != FABRIC_NONE && to != FABRIC_NONE && (lacks[sw] || lacks[to]))
			view->ports[port].peer = FABRIC_NONE;
	}
	return view;
}

/* ---- columns ---- */

/* Tables for all LIDs that the same switches hold. */
struct part {
	bool *lacks;	      /* [switch]: it does not hold them */
	struct fabric *view;  /* without cables to those switches */
	struct routing *made; /* computed in the view */
};

struct limit {
	const struct route_engine *engine;
	const struct fabric *fabric;
	const struct route_input *input;
	const struct route_room *room;
	GPtrArray *parts;	   /* struct part */
	const uint32_t *order;	   /* common to all parts; NULL: none */
	const struct routing *old; /* for all LIDs, from which parts are repaired; NULL: computed */
	struct routing *routing;   /* the result */
	bool may_loop; /* freedom from deadlock depends on the network, not on the engine */
};

static void part_free(void *item)
{
	struct part *part = item;

	g_free(part->lacks);
	fabric_unref(part->view);
	routing_unref(part->made);
	g_free(part);
}

/* Copies an entry unless it leads over a cable that the view lacks. */
static void copy_entry(const struct limit *limit, const struct part *part, uint32_t sw,
		       uint32_t lid)
{
	uint8_t exit = part->made->lft[sw][lid];
	uint32_t port = fabric_switch_port(limit->fabric, sw, exit);

	if (!part->lacks[sw] && exit != ROUTE_NO_PORT &&
	    part->view->ports[port].peer == limit->fabric->ports[port].peer)
		limit->routing->lft[sw][lid] = exit;
}

static void copy_columns(const struct limit *limit, const struct part *part, uint32_t first,
			 uint32_t last)
{
	for (uint32_t lid = first; lid <= last && route_watch_step(limit->input->watch); lid++) {
		uint8_t exit;
		uint32_t leaf = route_leaf_of(limit->fabric, lid, &exit);

		/* LIDs that their own switch does not deliver go nowhere */
		if (leaf != FABRIC_NONE && part->lacks[leaf])
			continue;
		for (uint32_t sw = 0; sw < limit->fabric->n_switches; sw++)
			copy_entry(limit, part, sw, lid);
	}
	limit->routing->promises &= part->made->promises;
	limit->routing->max_hops = MAX(limit->routing->max_hops, part->made->max_hops);
}

static struct part *find_part(const struct limit *limit, const bool *lacks)
{
	for (guint i = 0; i < limit->parts->len; i++) {
		struct part *part = limit->parts->pdata[i];

		if (!memcmp(part->lacks, lacks, limit->room->n * sizeof(*lacks)))
			return part;
	}
	return NULL;
}

static struct routing *make_part(const struct limit *limit, const struct part *part, bool all,
				 GError **error)
{
	struct routing *made = NULL;

	if (limit->old && all)
		return routing_ref((struct routing *)limit->old);
	if (limit->old)
		made = routing_repair(part->view, limit->input, limit->old, limit->order);
	return made ? made
		    : route_compute_in_order(limit->engine, part->view, limit->input, limit->order,
					     error);
}

/* Tables for this LID and all that the same switches hold; NULL and error. */
static struct part *part_for(struct limit *limit, uint32_t lid, GError **error)
{
	uint32_t n = limit->room->n;
	bool *lacks = g_new(bool, n + 1), all = true;
	struct part *part;

	for (uint32_t sw = 0; sw < n; sw++) {
		lacks[sw] = route_room_lacks(limit->room, sw, lid);
		all &= !lacks[sw];
	}
	part = find_part(limit, lacks);
	if (part) {
		g_free(lacks);
		return part;
	}
	part = g_new0(struct part, 1);
	part->lacks = lacks;
	part->view = view_new(limit->fabric, lacks);
	part->made = make_part(limit, part, all, error);
	if (part->made) {
		g_ptr_array_add(limit->parts, part);
		return part;
	}
	part_free(part);
	return NULL;
}

/* ---- the whole ---- */

/* Columns for each range of LIDs that the same switches hold; false and error. */
static bool mix(struct limit *limit, GError **error)
{
	const struct fabric *fabric = limit->fabric;
	uint32_t n = fabric->n_switches, next;

	g_ptr_array_set_size(limit->parts, 0);
	for (uint32_t first = 0; first <= fabric->max_lid; first = next) {
		const struct part *part = part_for(limit, first, error);

		next = route_room_next(limit->room, first);
		if (!part || route_is_cancelled(limit->input->watch))
			return false;
		if (!limit->routing) {
			const struct routing *made = part->made;

			limit->routing = routing_new(fabric, made->engine,
						     made->promises & ~ROUTE_SHORTEST);
			limit->routing->note = g_strdup(made->note);
			limit->routing->order = g_memdup2(made->order, n * sizeof(*made->order));
		}
		copy_columns(limit, part, first, MIN(next - 1, fabric->max_lid));
	}
	return true;
}

/* Withdraws a promise that the combined tables do not keep, if it may; false if they are wrong. */
static bool settle_promises(const struct limit *limit, struct routing *routing, GError **error)
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
			    "it finds no paths around switches that cannot hold all LIDs%s: %s",
			    verdict.complete && verdict.loop_free ? " without credit loops" : "",
			    verdict.witness ? verdict.witness : "no example");
	route_verdict_clear(&verdict);
	return right;
}

/* Sets the order to that of tables for a LID; switches that lack it are below all. */
static bool take_order_for(struct limit *limit, uint32_t lid, uint32_t *order)
{
	const struct part *part;
	uint32_t n = limit->room->n, place = 0;
	g_autofree uint32_t *at = g_new(uint32_t, n + 1);

	limit->order = NULL;
	g_ptr_array_set_size(limit->parts, 0);
	part = part_for(limit, lid, NULL);
	if (!part || !part->made->order)
		return false;
	for (uint32_t sw = 0; sw < n; sw++)
		at[part->made->order[sw]] = sw;
	for (unsigned int small = 0; small < 2; small++)
		for (uint32_t i = 0; i < n; i++)
			if (part->lacks[at[i]] == small)
				order[at[i]] = place++;
	limit->order = order;
	return true;
}

static bool make(struct limit *limit, GError **error)
{
	if (!mix(limit, error) || !settle_promises(limit, limit->routing, error))
		g_clear_pointer(&limit->routing, routing_unref);
	return limit->routing;
}

/*
 * The unlimited tables, repaired where switches lack LIDs; or, if that fails, tables in the order
 * of those computed without the switches that lack a LID.
 */
static struct routing *limit_tables(struct limit *limit, const struct routing *unlimited,
				    GError **error)
{
	uint32_t n = limit->fabric->n_switches, lid = 0;
	g_autofree uint32_t *order = g_new(uint32_t, n + 1);

	limit->parts = g_ptr_array_new_with_free_func(part_free);
	limit->may_loop = !(limit->engine->promises & ROUTE_DEADLOCK_FREE) &&
			  !(limit->engine->route && unlimited->promises & ROUTE_DEADLOCK_FREE);
	limit->old = unlimited;
	limit->order = unlimited->order;
	make(limit, error);
	limit->old = NULL;
	for (; !limit->routing && unlimited->order && lid <= limit->fabric->max_lid &&
	       !route_is_cancelled(limit->input->watch);
	     lid = route_room_next(limit->room, lid))
		if (take_order_for(limit, lid, order) && make(limit, NULL))
			g_clear_error(error);
	g_ptr_array_unref(limit->parts);
	if (route_set_cancelled(limit->input, error))
		g_clear_pointer(&limit->routing, routing_unref);
	return limit->routing;
}

/* Pairs where both switches hold the LID of the host, and those between them do not. */
static uint64_t count_cut(const struct limit *limit, const struct routing *routing,
			  const struct routing *unlimited)
{
	struct route_graph *graph = route_graph_new(limit->fabric);
	uint64_t n = 0;

	route_watch_begin(limit->input->watch, "pairs cut off", route_n_targets(graph));
	for (uint32_t t = 0; t < route_n_targets(graph) && route_watch_step(limit->input->watch);
	     t++) {
		uint16_t lid = graph->targets[t].lid;

		if (route_room_lacks(limit->room, graph->targets[t].leaf, lid))
			continue;
		for (uint32_t sw = 0; sw < graph->n; sw++)
			n += route_has_hosts(graph, sw) &&
			     !route_room_lacks(limit->room, sw, lid) &&
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
	struct route_room *room = route_room_new(fabric);
	struct limit limit = {.engine = engine, .fabric = fabric, .input = input, .room = room};
	struct routing *unlimited, *routing;
	struct fabric *view;

	if (!room)
		return routing_renew_unlimited(engine, fabric, input, base, way, error);
	view = view_new(fabric, NULL);
	unlimited = routing_renew_unlimited(engine, view, input, base, way, error);
	fabric_unref(view);
	if (!unlimited ||
	    (old && unlimited == old->unlimited && route_room_equal(old->room, room))) {
		route_room_free(room);
		routing_unref(unlimited);
		if (!unlimited)
			return NULL;
		return routing_ref((struct routing *)old);
	}
	if (*way == ROUTE_SAME)
		*way = ROUTE_REPAIRED;
	routing = limit_tables(&limit, unlimited, error);
	if (routing) {
		routing->cut_by_caps = count_cut(&limit, routing, unlimited);
		routing->room = room;
		routing->unlimited = unlimited;
	} else {
		route_room_free(room);
		routing_unref(unlimited);
	}
	return routing;
}
