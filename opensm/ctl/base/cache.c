// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finding a directory for guid2lid and the like. */
#include "ctl/base/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

char *cache_dir_name(bool simulated)
{
	const char *directory = getenv("OSM_CACHE_DIR");

	if (directory && *directory)
		return g_strdup(directory);
	return simulated ? NULL : g_strdup(OSM_CACHE_DIR); /* the macro of the same name */
}

char *cache_dir_open(bool simulated, GError **error)
{
	g_autofree char *directory = cache_dir_name(simulated);
	int err;

	if (!directory)
		return NULL;
	if (g_mkdir_with_parents(directory, 0755) == 0 && access(directory, W_OK | X_OK) == 0)
		return g_steal_pointer(&directory);
	err = errno;
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
		    "cannot write in cache directory %s: %s", directory, g_strerror(err));
	return NULL;
}
