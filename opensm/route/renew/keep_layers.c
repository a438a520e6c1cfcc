// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layers/layered.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "route/value/told.h"

/* With the good parts of old tables; NULL if they cannot be kept. */
static struct routing *compute_kept(const struct route_engine *engine, const struct fabric *fabric,
				    const struct route_input *input, const struct routing *old)
{
	struct routing *base = old->layered.base, *routing = NULL;
	struct route_kept kept[KEPT_TABLES];

	base = routing_ref(base ? base : (struct routing *)old);
	kept[0] = (struct route_kept){base, route_places(fabric, base->fabric)};
	kept[1] = (struct route_kept){old, route_places(fabric, old->fabric)};
	/* of what switches held at the start, the load of the busiest channel is unknown */
	if (!routing_is_held(base))
		routing = layered_compute_kept(engine, fabric, input, kept, true);
	if (!routing)
		routing = layered_compute_kept(engine, fabric, input, kept, false);
	for (unsigned int i = 0; i < KEPT_TABLES; i++)
		g_free(kept[i].row);
	if (routing && !routing->repair_state)
		routing->layered.base = g_steal_pointer(&base);
	routing_unref(base);
	return routing;
}

static bool is_busier(const struct routing *routing, const struct routing *other)
{
	return renew_is_busier(routing->layered.busiest, other->layered.busiest,
			       RENEW_LAYERS_BUSIER);
}

static struct routing *compute(const struct route_engine *engine, const struct fabric *fabric,
			       const struct route_input *input, const struct routing *old,
			       GError **error)
{
	struct routing *kept = compute_kept(engine, fabric, input, old), *routing;

	if (kept && kept->repair_state)
		return kept; /* newly computed, by an order of switches */
	if (kept && kept->layered.n_channels <= kept->layered.base->layered.n_channels &&
	    !is_busier(kept, kept->layered.base))
		return kept; /* no cable is new */
	routing = layered_compute(engine, fabric, input, kept ? NULL : error);
	if (!kept || (routing && is_busier(kept, routing))) {
		routing_unref(kept);
		return routing;
	}
	routing_unref(routing);
	/* what switches held at the start is not a state to return to */
	if (routing_is_held(kept->layered.base))
		g_clear_pointer(&kept->layered.base, routing_unref);
	return kept;
}

static uint8_t sl_of(const struct route_lanes *lanes, uint32_t a, uint32_t b)
{
	return lanes ? route_lanes_sl(lanes, a, b) : 0;
}

/* Whether two switches that had an SL get another one. */
static bool changes_sls(const struct routing *old, const struct routing *routing)
{
	g_autofree uint32_t *row = route_places(routing->fabric, old->fabric);

	if (!old->lanes && !routing->lanes)
		return false;
	for (uint32_t a = 0; a < routing->n_switches; a++)
		for (uint32_t b = a + 1; row[a] != FABRIC_NONE && b < routing->n_switches; b++) {
			uint8_t was = row[b] == FABRIC_NONE ? ROUTE_NO_SL
							    : sl_of(old->lanes, row[a], row[b]);

			if (was != ROUTE_NO_SL && was != sl_of(routing->lanes, a, b))
				return true;
		}
	return false;
}

/* Whether switches that were away, or had no SL, get another one than their hosts may still use. */
static bool changes_told(const struct routing *old, const struct routing *routing)
{
	struct route_told *told = old->told ? route_told_by(old, routing->fabric) : NULL;
	bool any = false;

	for (uint32_t a = 0; told && !any && a < routing->n_switches; a++)
		for (uint32_t b = 0; !any && b < a; b++) {
			uint16_t sls = route_told_sls(told, a, b);
			uint8_t sl = sl_of(routing->lanes, a, b);

			any = sls && sl < ROUTE_SLS && !(sls >> sl & 1);
		}
	route_told_unref(told);
	return any;
}

/* Whether both are free of loops, and it is known on which lanes. */
static bool are_on_lanes(const struct routing *old, const struct routing *routing)
{
	return routing->promises & ROUTE_DEADLOCK_FREE &&
	       (routing_is_held(old) ? !routing_has_turns(routing)
				     : old->promises & ROUTE_DEADLOCK_FREE);
}

/*
 * Whether hosts would have to ask for new SLs, or SLtoVLMappingTables change under them; except
 * where they get back the SLs of the base, which most of them then still use.
 */
static bool disturbs(const struct routing *old, const struct routing *routing)
{
	const struct routing *base = old->layered.base;

	if (routing_has_turns(old) || routing_has_turns(routing))
		return true;
	if (changes_told(old, routing))
		return true;
	return changes_sls(old, routing) && (!base || changes_sls(base, routing));
}

/* If a routing disturbs hosts, looks for tables that do not. */
struct routing *routing_keep_layers(const struct route_engine *engine, const struct fabric *fabric,
				    const struct route_input *input, const struct routing *old,
				    GError **error)
{
	struct routing *routing = compute(engine, fabric, input, old, error), *same = NULL;

	if (routing && are_on_lanes(old, routing) && !input->ties && disturbs(old, routing))
		same = routing_keep_sls(engine, fabric, input, old);
	if (!same)
		return routing;
	if (renew_is_busier(same->layered.busiest, routing->layered.busiest, RENEW_SAME_SLS)) {
		routing_unref(same);
		return routing;
	}
	routing_unref(routing);
	return same;
}
