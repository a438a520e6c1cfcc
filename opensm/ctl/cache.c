// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finding a directory for guid2lid and the like. */
#include "ctl/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

char *cache_dir_open(bool simulated, GError **error)
{
	const char *directory = getenv("OSM_CACHE_DIR");
	int err;

	if (!directory || !*directory) {
		if (simulated)
			return NULL;
		directory = OSM_CACHE_DIR; /* the macro of the same name */
	}
	if (g_mkdir_with_parents(directory, 0755) == 0 && access(directory, W_OK | X_OK) == 0)
		return g_strdup(directory);
	err = errno;
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
		    "cannot write in cache directory %s: %s", directory, g_strerror(err));
	return NULL;
}
