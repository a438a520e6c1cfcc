// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeping entries that need not change, where the fabric has more changes than a repair can handle:
 * new hosts, cables or switches. A full computation is free to choose differently everywhere, since
 * everything decided by turns moves on by one. Each entry that was right before and still begins a
 * best path is put back, so that only broken or new entries are programmed; except where the new
 * choice did not exist before, since otherwise new cables would stay idle.
 *
 * Tables read from switches, whose maker is unknown, are treated alike if most of their entries are
 * as newly computed: then the engine made them, and repairs followed.
 *
 * Choices made at different times may not fit together: so the load of the busiest cable is
 * compared with that of the new computation, which is used unchanged if it is clearly better.
 */
#include <string.h>

#include "route/graph/flows.h"
#include "route/graph/watch.h"
#include "route/renew/renew.h"
#include "route/value/base.h"

struct sticky {
	const struct routing *old;
	struct routing *routing;
	const struct route_repair_state *then; /* of old; NULL: it was read from switches */
	const struct route_repair_state *now;  /* of routing */
	uint32_t *before; /* [switch]: its index in old, or FABRIC_NONE */
	/* [LID]: the switch of its owner, if both were present when old, or its base, was made; or
	 * FABRIC_NONE */
	uint32_t *leaf;
	uint64_t n, same, kept; /* entries to such LIDs; of these unchanged; put back */
};

static uint64_t owner_of(const struct fabric *fabric, uint16_t lid)
{
	uint32_t port = fabric_port_by_lid(fabric, lid);

	return port == FABRIC_NONE ? 0 : fabric->ports[port].guid;
}

static void find_leaves(struct sticky *sticky)
{
	const struct fabric *fabric = sticky->routing->fabric, *was = sticky->old->base->fabric;

	sticky->leaf = g_new(uint32_t, sticky->routing->top + 1u);
	for (uint32_t lid = 0; lid <= sticky->routing->top; lid++) {
		uint8_t exit;
		uint32_t leaf = route_leaf_of(fabric, lid, &exit);
		bool stays = leaf != FABRIC_NONE && sticky->before[leaf] != FABRIC_NONE &&
			     lid <= sticky->old->top &&
			     owner_of(fabric, lid) == owner_of(was, lid);

		sticky->leaf[lid] = stays ? leaf : FABRIC_NONE;
		sticky->n += stays ? sticky->routing->n_switches : 0;
	}
}

/* Whether an exit that begins a best path now began none before, and the path is no longer. */
static bool is_gain(const struct sticky *sticky, uint32_t sw, uint32_t leaf, uint32_t old_edge)
{
	const struct route_repair_state *then = sticky->then, *now = sticky->now;
	uint32_t from = sticky->before[sw], to = sticky->before[leaf];

	return !route_begins(&then->plan.order, then->hops, from, old_edge, to) &&
	       now->hops[(size_t)sw * now->plan.graph->n + leaf] <=
		       then->hops[(size_t)from * then->plan.graph->n + to];
}

static void stick_switch(struct sticky *sticky, uint32_t sw)
{
	const struct route_repair_state *then = sticky->then, *now = sticky->now;
	uint32_t edges[256], old_edges[256]; /* by exit port */
	uint8_t *is = sticky->routing->lft[sw];
	const uint8_t *was;

	if (sticky->before[sw] == FABRIC_NONE)
		return;
	was = sticky->old->lft[sticky->before[sw]];
	route_edges_by_port(now->plan.graph, sw, edges);
	if (then)
		route_edges_by_port(then->plan.graph, sticky->before[sw], old_edges);
	for (uint32_t lid = 1; lid <= sticky->routing->top; lid++) {
		uint32_t leaf = sticky->leaf[lid];

		if (leaf == FABRIC_NONE)
			continue;
		sticky->same += is[lid] == was[lid];
		if (is[lid] == was[lid] ||
		    !route_begins(&now->plan.order, now->hops, sw, edges[was[lid]], leaf) ||
		    (then && is_gain(sticky, sw, leaf, old_edges[is[lid]])))
			continue;
		is[lid] = was[lid];
		sticky->kept++;
	}
}

/*
 * Whether tables with old entries put back can be as balanced as new ones. If that takes much work
 * to find out by loads, and cables are lost everywhere, it is not tried: with 1 to 10 % of the
 * cables lost the busiest one then nearly always carries 10 to 100 % more.
 */
static bool is_worth_it(const struct sticky *sticky)
{
	uint32_t before = sticky->then ? sticky->then->plan.graph->n_links : 0;

	return sticky->n &&
	       (sticky->n < RENEW_LARGE_ENTRIES ||
		sticky->now->plan.graph->n_links >= before - before / RENEW_LOST_CABLES);
}

/* Puts entries back; false, with none put back, if the result is not good. */
static bool stick(struct sticky *sticky, unsigned int threads)
{
	struct routing *routing = sticky->routing;
	size_t size = (size_t)routing->n_switches * routing->n_blocks * ROUTE_BLOCK;
	g_autofree uint8_t *anew = g_memdup2(routing->base->bytes, size);
	uint64_t peak = routing_peak(routing, threads);
	bool good;

	route_watch_begin(sticky->now->plan.graph->watch, "old entries", routing->n_switches);
	for (uint32_t sw = 0;
	     sw < routing->n_switches && route_watch_step(sticky->now->plan.graph->watch); sw++)
		stick_switch(sticky, sw);
	good = sticky->kept && (sticky->then || sticky->same >= sticky->n / RENEW_SAME) &&
	       !renew_is_busier(routing_peak(routing, threads), peak, RENEW_BUSIER);
	if (!good)
		memcpy(routing->base->bytes, anew, size);
	return good;
}

uint64_t routing_stick_to(const struct route_input *input, struct routing *routing,
			  const struct routing *old)
{
	struct sticky sticky = {.old = old,
				.routing = routing,
				.then = old->repair_state,
				.now = routing->repair_state};
	bool good;

	if (!routing->repair_state ||
	    (!routing_is_held(old) && (!old->repair_state || routing->engine != old->engine)))
		return 0;
	sticky.before = route_places(routing->fabric, old->fabric);
	find_leaves(&sticky);
	good = is_worth_it(&sticky) && stick(&sticky, input->threads);
	g_free(sticky.before);
	g_free(sticky.leaf);
	return good ? sticky.kept : 0;
}
