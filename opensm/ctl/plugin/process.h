// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Processes that are hosts of plug-ins: children of the daemon. */
#ifndef CTL_PLUGIN_PROCESS_H
#define CTL_PLUGIN_PROCESS_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts this program once more as the host of a plug-in, with that end of a link; the caller keeps
 * its own descriptor of it. -1 and error.
 */
pid_t process_start(const char *name, int end, GError **error);
/*
 * Whether it has ended; then *how says how, in words, newly allocated. It is not a child any more
 * then. Other children are not waited for.
 */
bool process_has_ended(pid_t process, char **how);

#endif
