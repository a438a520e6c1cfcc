// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * On this host daemons have their sockets in one directory, named by port GUID. Without a choice
 * the only one that answers is meant; where there are several the user has to say which.
 */
#include "opensmctl/connect.h"

#include <gio/gunixsocketaddress.h>
#include <inttypes.h>
#include <string.h>

#define ANSWER_S 30 /* so long a daemon may take */

G_GNUC_PRINTF(3, 4)
static void fail(GError **error, enum control_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(PEER_ERROR, (int)status, format, args));
	va_end(args);
}

static GIOStream *open_socket(const char *path, GError **error)
{
	g_autoptr(GSocketClient) client = g_socket_client_new();
	g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
	g_autoptr(GError) trouble = NULL;
	GSocketConnection *connection;
	bool forbidden;

	g_socket_client_set_timeout(client, ANSWER_S);
	connection = g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address), NULL, &trouble);
	if (connection)
		return G_IO_STREAM(connection);
	forbidden = g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
	fail(error, forbidden ? CONTROL_REFUSED : CONTROL_UNREACHABLE, "%s: %s", path,
	     trouble->message);
	return NULL;
}

/* ---- which of them ---- */

static const char *run_directory(void)
{
	const char *directory = g_getenv("OSM_RUN_DIR");

	return directory && *directory ? directory : OSM_RUN_DIR; /* the macro of the same name */
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Paths of the sockets, in order. */
static GPtrArray *all_sockets(void)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) directory = g_dir_open(run_directory(), 0, NULL);
	const char *name;

	while (directory && (name = g_dir_read_name(directory)))
		if (g_str_has_suffix(name, CONTROL_SUFFIX))
			g_ptr_array_add(paths, g_build_filename(run_directory(), name, NULL));
	g_ptr_array_sort(paths, compare_names);
	return paths;
}

static GIOStream *open_only(GError **error)
{
	g_autoptr(GPtrArray) paths = all_sockets();
	g_autoptr(GString) alive = g_string_new(NULL);
	g_autoptr(GError) trouble = NULL;
	GIOStream *stream = NULL;
	unsigned int n = 0;

	for (guint i = 0; i < paths->len; i++) {
		GIOStream *one;

		g_clear_error(&trouble);
		one = open_socket(paths->pdata[i], &trouble);
		if (!one)
			continue;
		g_string_append_printf(alive, "\n    -s %s", (char *)paths->pdata[i]);
		g_clear_object(&stream);
		stream = one;
		n++;
	}
	if (n == 1)
		return stream;
	g_clear_object(&stream);
	if (n)
		fail(error, CONTROL_USAGE, "there are several daemons, expected one of:%s",
		     alive->str);
	else if (trouble)
		g_propagate_error(error, g_steal_pointer(&trouble));
	else
		fail(error, CONTROL_UNREACHABLE, "no daemon has a socket in %s", run_directory());
	return NULL;
}

static GIOStream *open_local(const struct arguments *arguments, GError **error)
{
	g_autofree char *name = NULL;
	g_autofree char *path = NULL;

	if (arguments->socket)
		return open_socket(arguments->socket, error);
	if (!arguments->port_guid)
		return open_only(error);
	name = g_strdup_printf("0x%016" PRIx64 CONTROL_SUFFIX, arguments->port_guid);
	path = g_build_filename(run_directory(), name, NULL);
	return open_socket(path, error);
}

/* ---- getting in ---- */

static struct peer *welcome(GIOStream *stream, GError **error)
{
	struct peer *peer = peer_new(stream);
	struct reply reply = {0};

	if (peer_ask(peer, CONTROL_HELLO, &reply, error)) {
		if (reply.status == CONTROL_DONE) {
			g_free(reply.output);
			return peer;
		}
		fail(error, reply.status, "%s", g_strchomp(reply.output));
		g_free(reply.output);
	}
	peer_free(peer);
	return NULL;
}

struct peer *connect_daemon(const struct arguments *arguments, GError **error)
{
	g_autoptr(GIOStream) stream = open_local(arguments, error);

	return stream ? welcome(stream, error) : NULL;
}
