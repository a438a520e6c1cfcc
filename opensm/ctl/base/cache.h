// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The directory of what a subnet manager remembers over a restart. */
#ifndef CTL_BASE_CACHE_H
#define CTL_BASE_CACHE_H

#include <glib.h>
#include <stdbool.h>

/*
 * OSM_CACHE_DIR of the environment, else that of the build, made if it is missing; to be freed
 * with g_free. NULL and error if nothing can be written there. NULL without error for a simulated
 * fabric, whose LIDs must not mix with those of the real one, unless the environment names one.
 */
char *cache_dir_open(bool simulated, GError **error);
/* Its name only: it may be missing. */
char *cache_dir_name(bool simulated);

#endif
