// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The directory of what a subnet manager keeps across a restart. */
#ifndef CTL_BASE_CACHE_H
#define CTL_BASE_CACHE_H

#include <glib.h>
#include <stdbool.h>

/*
 * OSM_CACHE_DIR from the environment, else the default of the build; created if missing; free it
 * with g_free(). NULL and error if it cannot be written. NULL without error for a simulated fabric,
 * whose LIDs must not mix with those of a real one, unless the environment names one.
 */
char *cache_dir_open(bool simulated, GError **error);
/* Only the name of the directory: it may be missing. */
char *cache_dir_name(bool simulated);

#endif
