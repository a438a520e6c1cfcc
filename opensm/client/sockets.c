// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "client/sockets.h"

#include <string.h>

#include "client/record.h"

const char *sockets_directory(void)
{
	const char *directory = g_getenv("OSM_RUN_DIR");

	return directory && *directory ? directory : OSM_RUN_DIR; /* the macro of the same name */
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *sockets_all(GError **error)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) trouble = NULL;
	g_autoptr(GDir) directory = g_dir_open(sockets_directory(), 0, &trouble);
	const char *name;

	if (g_error_matches(trouble, G_FILE_ERROR, G_FILE_ERROR_ACCES))
		g_set_error(error, CLIENT_ERROR, CONTROL_REFUSED, "%s", trouble->message);
	while (directory && (name = g_dir_read_name(directory)))
		if (g_str_has_suffix(name, CONTROL_SUFFIX))
			g_ptr_array_add(paths, g_build_filename(sockets_directory(), name, NULL));
	g_ptr_array_sort(paths, compare_names);
	return paths;
}
