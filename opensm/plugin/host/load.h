// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Loading a shared object, and judging whether it is a plug-in that can be used here. */
#ifndef PLUGIN_HOST_LOAD_H
#define PLUGIN_HOST_LOAD_H

#include <glib.h>
#include <stdbool.h>

#include "opensm/plugin.h"

#define LOAD_ENGINES 16u     /* of a plug-in */
#define LOAD_ENGINE_NAME 31u /* octets */

/*
 * The plug-in of that name: a name with "/" is a file; otherwise it is the file lib<NAME>.so in the
 * directory of plug-ins or, if it is not there, where dlopen() searches. *object is for dlclose().
 * NULL and error that says what to do.
 */
const struct osm_plugin *load_plugin(const char *name, void **object, GError **error);

#endif
