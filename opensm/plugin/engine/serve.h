// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The host's side of a routing engine. */
#ifndef PLUGIN_ENGINE_SERVE_H
#define PLUGIN_ENGINE_SERVE_H

#include "opensm/plugin.h"

/*
 * Runs the calls that come over this end, which remains the caller's, one after the other on this
 * thread. Returns when the daemon has closed its end. context is that of the plug-in; options: the
 * part of event_plugin_options that is its own.
 */
void engine_serve(int end, const struct osm_engine *engine, void *context, const char *options);

#endif
