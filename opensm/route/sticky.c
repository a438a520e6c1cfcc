// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeping what need not change, where there is more in the fabric than a repair can deal with:
 * hosts, cables or switches that were not there before. A routing made anew is free to choose
 * differently everywhere, as all that is a matter of turns moves on by one. Each entry that was
 * right before and still begins a best path is put back, so that only what is broken or new gets
 * programmed; except where the new choice is one that there was not before, for else new cables
 * would stay idle.
 *
 * Tables that were read from switches, of which nobody knows who made them, are treated alike if
 * most of their entries are as they come out anew: then the engine made them, and repairs followed.
 *
 * Choices made at different times need not go well together: so the load on the busiest cable is
 * compared with that of the routing made anew, which then stays as it was made. The same is done
 * with a repair that seems uneven.
 */
#include <string.h>

#include "route/rebalance.h"
#include "route/fingerprint.h"
#include "route/trace.h"

#define HELD "" /* engine of tables that were read from switches */
#define WORK_MUCH (1u << 20) /* entries */
#define LOST_PART 200 /* of the cables */

struct sticky {
	const struct fabric *fabric;
	const struct routing *old;
	struct routing *routing;
	bool held;	  /* old has no trace */
	uint32_t *before; /* [switch]: its index in old, or FABRIC_NONE */
	uint16_t *lids;	  /* that belong to the same endport as when old, or its home, was made */
	uint32_t *leaves; /* and where that is now */
	uint32_t n;
	uint64_t kept, same;
};

struct routing *routing_new_held(const struct fabric *fabric)
{
	return routing_new(fabric, HELD, 0);
}

static bool is_held(const struct routing *routing)
{
	return !strcmp(routing->engine, HELD);
}

static uint64_t owner_of(const struct fabric *fabric, uint16_t lid)
{
	uint32_t port = fabric_port_by_lid(fabric, lid);

	return port == FABRIC_NONE ? 0 : fabric->ports[port].guid;
}

/* LIDs whose owner is the same, on a switch that is the same. */
static void list_lids(struct sticky *sticky)
{
	uint16_t top = MIN(sticky->routing->top, sticky->old->top);

	sticky->lids = g_new(uint16_t, top + 1u);
	sticky->leaves = g_new(uint32_t, top + 1u);
	for (uint32_t lid = 1; lid <= top; lid++) {
		uint8_t exit;
		uint32_t leaf = route_leaf_of(sticky->fabric, lid, &exit);

		if (leaf == FABRIC_NONE || sticky->before[leaf] == FABRIC_NONE ||
		    owner_of(sticky->fabric, lid) !=
			    owner_of(sticky->old->home->fabric, lid))
			continue;
		sticky->lids[sticky->n] = lid;
		sticky->leaves[sticky->n++] = leaf;
	}
}

/* A switch whose entries are looked at. */
struct view {
	const struct sticky *sticky;
	uint32_t sw, before;
	uint8_t *is;
	const uint8_t *was;
	uint32_t edges[256], old_edges[256]; /* by exit port */
};

static void view_init(struct view *view, const struct sticky *sticky, uint32_t sw)
{
	view->sticky = sticky;
	view->sw = sw;
	view->before = sticky->before[sw];
	view->is = sticky->routing->lft[sw];
	view->was = sticky->old->lft[view->before];
	route_edges_by_port(sticky->routing->trace->graph, sw, view->edges);
	if (!sticky->held)
		route_edges_by_port(sticky->old->trace->graph, view->before, view->old_edges);
}

/* Whether a port that begins a best path now began none before, and the path is no longer. */
static bool is_gain(const struct view *view, uint32_t leaf, uint8_t port)
{
	const struct route_trace *trace = view->sticky->routing->trace;
	const struct route_trace *old = view->sticky->old->trace;
	uint32_t to = view->sticky->before[leaf];

	return !route_begins(old->graph, old->hops, view->before, view->old_edges[port], to) &&
	       trace->hops[(size_t)view->sw * trace->graph->n + leaf] <=
		       old->hops[(size_t)view->before * old->graph->n + to];
}

/* Whether an entry that is not what it was may be that again. */
static bool can_stay(const struct view *view, uint32_t i)
{
	const struct sticky *sticky = view->sticky;
	const struct route_trace *trace = sticky->routing->trace;
	uint16_t lid = sticky->lids[i];
	uint32_t leaf = sticky->leaves[i];

	return route_begins(trace->graph, trace->hops, view->sw, view->edges[view->was[lid]],
			    leaf) &&
	       (sticky->held || !is_gain(view, leaf, view->is[lid]));
}

/*
 * Whether to put entries back can be as even as tables made anew. Where it is much work to find
 * that out by loads, and cables are lost everywhere, it is not tried: with 1 to 10 % of the cables
 * lost the busiest one then nearly always carries 10 to 100 % more.
 */
static bool is_worth_it(const struct sticky *sticky)
{
	uint32_t before = sticky->old->trace->graph->n_links;

	return (uint64_t)sticky->routing->n_switches * sticky->n < WORK_MUCH ||
	       sticky->routing->trace->graph->n_links >= before - before / LOST_PART;
}

static void stick_switch(struct sticky *sticky, uint32_t sw)
{
	struct view view;

	if (sticky->before[sw] == FABRIC_NONE)
		return;
	view_init(&view, sticky, sw);
	for (uint32_t i = 0; i < sticky->n; i++) {
		uint16_t lid = sticky->lids[i];

		sticky->same += view.is[lid] == view.was[lid];
		if (view.is[lid] == view.was[lid] || !can_stay(&view, i))
			continue;
		view.is[lid] = view.was[lid];
		sticky->kept++;
	}
}

/* Whether what is put back is good: if not, it is not there. */
static bool stick(struct sticky *sticky, unsigned int threads)
{
	struct routing *routing = sticky->routing;
	size_t n = (size_t)routing->n_switches * routing->n_blocks * ROUTE_BLOCK;
	g_autofree uint8_t *anew = g_memdup2(routing->home->bytes, n);
	uint64_t peak = routing_peak(routing, threads);
	bool good;

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		stick_switch(sticky, sw);
	good = !sticky->held || sticky->same >= sticky->n * (uint64_t)routing->n_switches / 2;
	good = good && sticky->kept && routing_peak(routing, threads) <= peak + peak / 10;
	if (!good)
		memcpy(routing->home->bytes, anew, n);
	return good;
}

uint64_t routing_stick_to(const struct fabric *fabric, const struct route_input *input,
			  struct routing *routing, const struct routing *old)
{
	struct sticky sticky = {
		.fabric = fabric, .old = old, .routing = routing, .held = is_held(old)};
	bool good;

	if (!routing->trace ||
	    (!sticky.held && (!old->trace || strcmp(routing->engine, old->engine) != 0)))
		return 0;
	sticky.before = route_places(fabric, old->fabric);
	list_lids(&sticky);
	good = sticky.n && (sticky.held || is_worth_it(&sticky)) && stick(&sticky, input->threads);
	g_free(sticky.before);
	g_free(sticky.lids);
	g_free(sticky.leaves);
	return good ? sticky.kept : 0;
}

/* Whether a repair loads a cable with over a tenth more than this. Notes it if not. */
static bool is_worse(struct routing *routing, uint64_t peak, unsigned int threads)
{
	routing->trace->uneven = routing_peak(routing, threads) > peak + peak / 10;
	routing->trace->excused = routing->trace->uneven ? 0 : peak;
	return routing->trace->uneven;
}

/* Whether tables computed whole are better than a repair, whatever is moved in it. */
static bool is_better(const struct routing *anew, struct routing *repaired, unsigned int threads)
{
	uint64_t peak = routing_peak(anew, threads);

	if (!is_worse(repaired, peak, threads))
		return false;
	route_rebalance_to(repaired, peak + peak / 16);
	return is_worse(repaired, peak, threads);
}

/* Tables computed whole; but a repair if it is nearly as even, or if they cannot be had. */
static struct routing *compute(const struct route_engine *engine, const struct fabric *fabric,
			       const struct route_input *input, struct routing *repaired,
			       enum route_way *way, GError **error)
{
	struct routing *routing = engine->compute(fabric, input, repaired ? NULL : error);

	*way = ROUTE_ANEW;
	if (!repaired)
		return routing;
	if (routing && is_better(routing, repaired, input->threads)) {
		routing_unref(repaired);
		return routing;
	}
	routing_unref(routing);
	*way = ROUTE_REPAIRED;
	return repaired;
}

/* What follows an old routing of the same engine, or is made anew if that is NULL. */
static struct routing *follow(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const struct routing *old,
			      bool same_input, enum route_way *way, GError **error)
{
	struct route_input by = *input;
	struct routing *routing = NULL;

	*way = ROUTE_REPAIRED;
	by.old = same_input ? old : NULL;
	if (same_input && !input->ties)
		routing = routing_repair(fabric, input, old);
	if (routing && !routing->trace->uneven)
		return routing;
	routing = compute(engine, fabric, &by, routing, way, error);
	if (!routing || !old || *way == ROUTE_REPAIRED)
		return routing;
	if (routing->layered.base ||
	    (!input->ties && routing_stick_to(fabric, input, routing, old)))
		*way = ROUTE_STICKY;
	return routing;
}

/* Whether an engine made it of the same input; if that is not known, the caller warrants it. */
static bool is_of_same_input(const struct routing *old, const struct route_engine *engine,
			     const char *word)
{
	if (is_held(old))
		return old->maker == engine->name && !strcmp(old->input_word, word);
	return !old->input_word || !strcmp(old->input_word, word);
}

struct routing *routing_renew_unlimited(const struct route_engine *engine,
					const struct fabric *fabric,
					const struct route_input *input, const struct routing *old,
					enum route_way *way, GError **error)
{
	g_autofree char *word = fingerprint_of_input(input);
	g_autofree char *demand = fingerprint_of_demand(input, fabric);
	struct routing *routing;
	bool same;

	if (old && strcmp(old->engine, engine->name) != 0 && !is_held(old))
		old = NULL;
	same = old && is_of_same_input(old, engine, word);
	if (same && old->demand_word &&
	    fingerprint_same_fabric(old->fabric, fabric, input->avoid_throttled)) {
		*way = ROUTE_SAME;
		if (!strcmp(old->demand_word, demand))
			return routing_ref((struct routing *)old);
		same = false;
	}
	routing = follow(engine, fabric, input, old, same, way, error);
	if (!routing)
		return NULL;
	if (input->ties && !engine->ties)
		routing_note(routing, "it does not mind what partitions are tied to");
	routing->input_word = g_steal_pointer(&word);
	routing->demand_word = g_steal_pointer(&demand);
	return routing;
}
