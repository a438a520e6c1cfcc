// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* All engines that are built in, one line each; and those that a daemon knows besides. */
#include "route/registry.h"

#include <pthread.h>
#include <string.h>

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
		return engine->compute(engine, fabric, input, error);
	if (engine->route && !order)
		return layered_compute(engine, fabric, input, error);
	return route_by_hops(engine, fabric, input, order, error);
}

bool route_set_cancelled(const struct route_input *input, GError **error)
{
	if (!route_is_cancelled(input->watch))
		return false;
	g_clear_error(error);
	g_set_error_literal(error, ROUTE_ERROR, ROUTE_ERROR_CANCELLED,
			    route_has_expired(input->watch)
				    ? "it takes longer than routing_timeout allows"
				    : "the computation was cancelled");
	return true;
}

struct routing *route_compute_in_order(const struct route_engine *engine,
				       const struct fabric *fabric, const struct route_input *input,
				       const uint32_t *order, GError **error)
{
	struct routing *routing;

	route_watch_engine(input->watch, engine->name);
	routing = compute(engine, fabric, input, order, error);
	if (route_set_cancelled(input, error))
		g_clear_pointer(&routing, routing_unref);
	return routing;
}

struct routing *route_compute(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, GError **error)
{
	return route_compute_in_order(engine, fabric, input, NULL, error);
}

/* ---- engines of plug-ins ---- */

struct route_registry {
	pthread_mutex_t lock;
	GPtrArray *added; /* struct added */
};

struct added {
	const struct route_engine *engine;
	GDestroyNotify free_data;
};

static void added_free(void *data)
{
	struct added *added = data;

	added->free_data(added->engine->data);
	g_free(added);
}

struct route_registry *route_registry_new(void)
{
	struct route_registry *registry = g_new0(struct route_registry, 1);

	pthread_mutex_init(&registry->lock, NULL);
	registry->added = g_ptr_array_new_with_free_func(added_free);
	return registry;
}

void route_registry_free(struct route_registry *registry)
{
	if (!registry)
		return;
	g_ptr_array_unref(registry->added);
	pthread_mutex_destroy(&registry->lock);
	g_free(registry);
}

/* With the lock. */
static const struct route_engine *find_added(const struct route_registry *registry,
					     const char *name)
{
	for (guint i = 0; i < registry->added->len; i++) {
		const struct added *added = registry->added->pdata[i];

		if (!strcmp(added->engine->name, name))
			return added->engine;
	}
	return NULL;
}

bool route_registry_add(struct route_registry *registry, const struct route_engine *engine,
			GDestroyNotify free_data)
{
	bool is_free = !route_find(engine->name) && strcmp(engine->name, "no_fallback") != 0;
	struct added *added;

	pthread_mutex_lock(&registry->lock);
	is_free = is_free && !find_added(registry, engine->name);
	if (is_free) {
		added = g_new(struct added, 1);
		*added = (struct added){engine, free_data};
		g_ptr_array_add(registry->added, added);
	}
	pthread_mutex_unlock(&registry->lock);
	return is_free;
}

const struct route_engine *route_registry_find(struct route_registry *registry, const char *name)
{
	const struct route_engine *engine = route_find(name);

	if (engine || !registry)
		return engine;
	pthread_mutex_lock(&registry->lock);
	engine = find_added(registry, name);
	pthread_mutex_unlock(&registry->lock);
	return engine;
}

GPtrArray *route_registry_engines(struct route_registry *registry)
{
	GPtrArray *all = g_ptr_array_new();

	for (size_t i = 0; engines[i]; i++)
		g_ptr_array_add(all, (gpointer)engines[i]);
	if (!registry)
		return all;
	pthread_mutex_lock(&registry->lock);
	for (guint i = 0; i < registry->added->len; i++)
		g_ptr_array_add(all, (gpointer)((struct added *)registry->added->pdata[i])->engine);
	pthread_mutex_unlock(&registry->lock);
	return all;
}
