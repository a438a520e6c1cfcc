// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engines that a daemon knows: those built in, and those of its plug-ins, which it adds while
 * it runs. An engine lives as long as the registry, as routings point to it: a plug-in that comes
 * back finds its engine there. Any thread.
 */
#ifndef ROUTE_REGISTRY_H
#define ROUTE_REGISTRY_H

#include "route/engine.h"

struct route_registry;
struct route_registry *route_registry_new(void);
void route_registry_free(struct route_registry *registry); /* NULL is fine */

/*
 * False if an engine of this name exists, or no engine may have it. free_data is called with the
 * data of the engine when the registry is freed, and frees the engine as well.
 */
bool route_registry_add(struct route_registry *registry, const struct route_engine *engine,
			GDestroyNotify free_data);

/* registry NULL: only those built in. NULL if there is none of this name. */
const struct route_engine *route_registry_find(struct route_registry *registry, const char *name);
/* const struct route_engine, in the order in which they are shown; unref it. */
GPtrArray *route_registry_engines(struct route_registry *registry);

#endif
