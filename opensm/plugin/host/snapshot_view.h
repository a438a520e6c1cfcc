// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A snapshot as a plug-in sees it: lists that point into a block. */
#ifndef PLUGIN_HOST_SNAPSHOT_VIEW_H
#define PLUGIN_HOST_SNAPSHOT_VIEW_H

#include <glib.h>

#include "opensm/plugin.h"

/*
 * Maps the block, whose file it takes over, also if it fails. The contents are the daemon's and
 * trusted; that all sections are there is checked. NULL and error. Any thread.
 */
const struct osm_snapshot *snapshot_view_new(int file, GError **error);
void snapshot_view_free(const struct osm_snapshot *snapshot); /* NULL is fine */

#endif
