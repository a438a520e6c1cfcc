// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A routing engine of a plug-in, as an engine like those built in: each computation is a call over
 * a socket to the host, where engine_serve() (serve.h) runs the plug-in's code. It waits as long as
 * the input says. An engine that has not returned by then fails, and is not called again until it
 * has returned; so does one whose plug-in has ended, until it is attached again. Nothing that comes
 * back is trusted: what is not a routing is refused here, and the verifier judges the rest.
 */
#ifndef PLUGIN_ENGINE_ENGINE_H
#define PLUGIN_ENGINE_ENGINE_H

#include "route/engine.h"

struct plugin_engine;

/*
 * An engine of a plug-in, which takes over the daemon's end of its socket; -1: as if detached.
 * Texts are copied.
 */
struct plugin_engine *plugin_engine_new(const char *name, const char *summary, const char *plugin,
					int end);
/* When neither a thread computes with it nor a routing of it is used; as GDestroyNotify. */
void plugin_engine_free(void *engine);

/* For route_registry_add(), with plugin_engine_free(). */
const struct route_engine *plugin_engine_route(const struct plugin_engine *engine);

/* ---- any thread, also while it computes ---- */

/*
 * The plug-in runs again; takes over the end. identity is anything by which its routes may differ,
 * such as its version and options: if it differs from before, routes are computed again.
 */
void plugin_engine_attach(struct plugin_engine *engine, int end, const char *identity);
/* The plug-in is gone, or has to go: a computation ends at once, with this reason. */
void plugin_engine_detach(struct plugin_engine *engine, const char *why);
/* Whether it was given up on and has not returned, as far as was seen when it was called last. */
bool plugin_engine_is_late(struct plugin_engine *engine);

#endif
