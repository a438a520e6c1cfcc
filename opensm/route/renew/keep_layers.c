// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layers/layered.h"
#include "route/renew/renew.h"
#include "route/value/base.h"

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

struct routing *routing_keep_layers(const struct route_engine *engine, const struct fabric *fabric,
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
