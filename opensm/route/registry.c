// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* All engines, one line each. */
#include <string.h>

#include "route/engine.h"
#include "route/fill/shortest.h"
#include "route/graph/watch.h"
#include "route/layers/layered.h"

#define ENGINES(ENGINE)                                                                            \
	ENGINE(minhop)                                                                             \
	ENGINE(updn)                                                                               \
	ENGINE(dnup)                                                                               \
	ENGINE(dor)                                                                                \
	ENGINE(ftree)                                                                              \
	ENGINE(file)                                                                               \
	ENGINE(sssp)                                                                               \
	ENGINE(dfsssp)                                                                             \
	ENGINE(lash)                                                                               \
	ENGINE(nue)                                                                                \
	ENGINE(hoplanes)                                                                           \
	ENGINE(torus_2qos)

#define ENGINE(name) extern const struct route_engine route_engine_##name;
ENGINES(ENGINE)
#undef ENGINE

static const struct route_engine *const engines[] = {
#define ENGINE(name) &route_engine_##name,
	ENGINES(ENGINE)
#undef ENGINE
	NULL,
};

const struct route_engine *const *route_engines(void)
{
	return engines;
}

const struct route_engine *route_find(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

static struct routing *compute(const struct route_engine *engine, const struct fabric *fabric,
			       const struct route_input *input, const uint32_t *order,
			       GError **error)
{
	if (engine->compute)
		return engine->compute(fabric, input, error);
	if (engine->route)
		return layered_compute(engine, fabric, input, error);
	return route_by_hops(engine, fabric, input, order, error);
}

struct routing *route_compute_in_order(const struct route_engine *engine,
				       const struct fabric *fabric, const struct route_input *input,
				       const uint32_t *order, GError **error)
{
	struct routing *routing;

	route_watch_engine(input->watch, engine->name);
	routing = compute(engine, fabric, input, order, error);
	if (!route_is_cancelled(input->watch))
		return routing;
	routing_unref(routing);
	g_clear_error(error);
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_CANCELLED, "%s",
		    route_has_expired(input->watch) ? "it takes longer than routing_timeout allows"
						    : "the computation was cancelled");
	return NULL;
}

struct routing *route_compute(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, GError **error)
{
	return route_compute_in_order(engine, fabric, input, NULL, error);
}
