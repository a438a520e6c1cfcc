// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "client/sockets.h"

#include <gio/gunixsocketaddress.h>
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

GSocket *sockets_open(const char *path, GError **error)
{
	g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
	g_autoptr(GError) trouble = NULL;
	g_autoptr(GSocket) socket = g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM,
						 G_SOCKET_PROTOCOL_DEFAULT, &trouble);
	bool forbidden;

	if (socket && g_socket_connect(socket, address, NULL, &trouble))
		return g_steal_pointer(&socket);
	forbidden = g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
	g_set_error(error, CLIENT_ERROR, forbidden ? CONTROL_REFUSED : CONTROL_UNREACHABLE,
		    "%s: %s", path, trouble->message);
	return NULL;
}

GSocket *sockets_open_only(GPtrArray **alive, GError **error)
{
	g_autoptr(GError) trouble = NULL;
	g_autoptr(GPtrArray) paths = sockets_all(&trouble);
	g_autoptr(GSocket) found = NULL;

	*alive = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < paths->len; i++) {
		GSocket *socket;

		g_clear_error(&trouble);
		socket = sockets_open(paths->pdata[i], &trouble);
		if (!socket)
			continue;
		g_ptr_array_add(*alive, g_strdup(paths->pdata[i]));
		g_clear_object(&found);
		found = socket;
	}
	if ((*alive)->len == 1)
		return g_steal_pointer(&found);
	if (!(*alive)->len && trouble)
		g_propagate_error(error, g_steal_pointer(&trouble));
	else if (!(*alive)->len)
		client_unreachable(error, "no daemon has a socket in %s", sockets_directory());
	return NULL;
}
