// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* osmsim as a client of a running osmsim. */
#ifndef OSMSIM_REQUEST_H
#define OSMSIM_REQUEST_H

#include <glib.h>
#include <stdbool.h>

/*
 * Has the server at that socket run console commands; *out gets their output (g_free). *failed: a
 * command failed. False and error if there is no server.
 */
bool request_commands(const char *socket, const char *text, char **out, bool *failed,
		      GError **error);

#endif
