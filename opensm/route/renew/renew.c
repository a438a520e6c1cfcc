// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which way a routing follows an old one. The least work comes first:
 *
 *	the same input and fabric	the old routing itself
 *	a few losses			a repair (repair.c), by the same order of switches
 *	more, or an uneven repair	a full computation, and good old entries put back (sticky.c)
 *	a layered engine		a computation that keeps good old parts (keep_layers.c)
 *	a torus too broken for rules	a repair on the old lanes (keep_sls.c)
 *
 * What is kept may cost balance. So each way compares the load of the busiest cable with that of
 * tables computed from scratch.
 */
#include "route/renew/renew.h"

#include <string.h>

#include "route/graph/flows.h"
#include "route/graph/watch.h"
#include "route/value/base.h"
#include "route/value/fingerprint.h"
#include "route/value/lanes.h"

/* The load of the busiest cable. */
static uint64_t peak_of(const struct routing *routing, unsigned int threads)
{
	return routing->repair_state ? routing_peak(routing, threads) : routing->layered.busiest;
}

/*
 * Moves entries of a repair that loads a cable clearly more than a full computation; false if it
 * still does then.
 */
static bool make_even(struct routing *repaired, const struct routing *anew, unsigned int threads)
{
	uint64_t peak = peak_of(anew, threads);
	bool worse = renew_is_busier(routing_peak(repaired, threads), peak, RENEW_BUSIER);

	if (worse) {
		route_rebalance(repaired, peak + peak / RENEW_MOVED_TO);
		worse = renew_is_busier(routing_peak(repaired, threads), peak, RENEW_BUSIER);
	}
	repaired->repair_state->uneven = worse;
	repaired->repair_state->accepted_peak = peak;
	return !worse;
}

/*
 * Computes by the rules of the engine. Where these have no routes for what is left of a network,
 * its old ones may be repaired.
 */
static struct routing *compute(const struct route_engine *engine, const struct fabric *fabric,
			       const struct route_input *input, const struct routing *old,
			       GError **error)
{
	g_autoptr(GError) why = NULL;
	struct routing *routing = route_compute(engine, fabric, input, &why);

	if (!routing && engine->repairs && old && routing_has_turns(old) && !input->ties &&
	    !route_is_cancelled(input->watch))
		routing = routing_keep_sls(engine, fabric, input, old);
	if (!routing)
		g_propagate_error(error, g_steal_pointer(&why));
	else if (why)
		routing_note(routing,
			     "its rules have no routes for what is left (%s): the old ones are "
			     "repaired",
			     why->message);
	return routing;
}

/*
 * Follows an old routing of the same engine, or computes in full if that is NULL. A repair that may
 * be uneven stays if it is nearly as even as a full computation, or if that is not possible.
 */
static struct routing *follow(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const struct routing *old,
			      bool same_input, enum route_way *way, GError **error)
{
	struct routing *repaired = NULL, *routing;

	*way = ROUTE_REPAIRED;
	if (same_input && !input->ties)
		repaired = routing_repair(fabric, input, old, NULL);
	if (repaired && !repaired->repair_state->uneven)
		return repaired;
	routing = engine->route && same_input && !repaired
			  ? routing_keep_layers(engine, fabric, input, old, error)
			  : compute(engine, fabric, input, same_input ? old : NULL,
				    repaired ? NULL : error);
	if (repaired && (!routing || !routing->repair_state ||
			 make_even(repaired, routing, input->threads))) {
		routing_unref(routing);
		return repaired;
	}
	routing_unref(repaired);
	*way = ROUTE_ANEW;
	if (routing && old &&
	    (routing->layered.base || (!input->ties && routing_stick_to(input, routing, old))))
		*way = ROUTE_STICKY;
	return routing;
}

/* Whether an engine made it from the same input; if unknown, the caller guarantees that it is. */
static bool is_of_same_input(const struct routing *old, const struct route_engine *engine,
			     const char *word)
{
	if (routing_is_held(old))
		return old->maker == engine && !strcmp(old->input_word, word);
	return !old->input_word || !strcmp(old->input_word, word);
}

struct routing *routing_renew_unlimited(const struct route_engine *engine,
					const struct fabric *fabric,
					const struct route_input *input, const struct routing *old,
					enum route_way *way, GError **error)
{
	g_autofree char *word = fingerprint_for(engine, input);
	g_autofree char *demand = fingerprint_of_demand(input, fabric);
	struct routing *routing;
	bool same;

	if (old && old->engine != engine && !routing_is_held(old))
		old = NULL;
	same = old && is_of_same_input(old, engine, word);
	if (same && old->demand_word &&
	    fingerprint_same_fabric(old->fabric, fabric, input->avoid_throttled) &&
	    (!engine->word || fingerprint_same_details(old->fabric, fabric))) {
		*way = ROUTE_SAME;
		if (!strcmp(old->demand_word, demand))
			return routing_ref((struct routing *)old);
		same = false;
	}
	routing = follow(engine, fabric, input, old, same, way, error);
	if (routing && routing->repair_state)
		routing->repair_state->plan.graph->watch = NULL; /* it may be gone by then */
	if (routing && route_set_cancelled(input, error))
		g_clear_pointer(&routing, routing_unref);
	if (!routing)
		return NULL;
	if (input->ties && !engine->ties)
		routing_note(routing, "it does not respect reserved cables");
	routing->input_word = g_steal_pointer(&word);
	routing->demand_word = g_steal_pointer(&demand);
	return routing;
}
