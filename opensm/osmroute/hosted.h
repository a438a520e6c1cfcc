// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plug-ins whose routing engines are evaluated like those built in: loaded as the daemon does, by
 * the host (plugin/host) on threads of its own. Their requests are not served, as nothing answers.
 */
#ifndef OSMROUTE_HOSTED_H
#define OSMROUTE_HOSTED_H

#include <glib.h>
#include <stdbool.h>

struct route_registry;

struct hosted;
struct hosted *hosted_new(void);
/* When no routing of its engines is used. Waits until each plug-in has ended. NULL is fine. */
void hosted_free(struct hosted *hosted);

/*
 * Loads FILE[:OPTIONS]: a file, or a name as in event_plugin_name. Its engines are in the registry
 * from then on. False and error.
 */
bool hosted_load(struct hosted *hosted, const char *what, GError **error);
struct route_registry *hosted_registry(const struct hosted *hosted);

#endif
