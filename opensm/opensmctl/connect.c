// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * On this host daemons have their sockets in one directory, named by port GUID. By default the only
 * daemon that answers is used; if there are several the user must choose. For other hosts TLS is
 * required: no key leaves this host before the server has proved its identity.
 */
#include "opensmctl/connect.h"

#include <inttypes.h>
#include <string.h>

#include "client/sockets.h"
#include "ctl/console/console_key.h"
#include "opensmctl/editor.h"

#define ANSWER_S 30	   /* time limit for a daemon's answer */
#define CONSOLE_PORT 10000 /* default port */

G_GNUC_PRINTF(3, 4)
static void fail(GError **error, enum control_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(CLIENT_ERROR, (int)status, format, args));
	va_end(args);
}

/* No proxy: GIO would read the desktop's settings for it, which creates files. */
static GSocketClient *new_client(void)
{
	GSocketClient *client = g_socket_client_new();

	g_socket_client_set_enable_proxy(client, FALSE);
	g_socket_client_set_timeout(client, ANSWER_S);
	return client;
}

/* Takes over the socket; NULL is fine. */
static GIOStream *as_stream(GSocket *socket)
{
	GSocketConnection *connection;

	if (!socket)
		return NULL;
	g_socket_set_timeout(socket, ANSWER_S);
	connection = g_socket_connection_factory_create_connection(socket);
	g_object_unref(socket);
	return G_IO_STREAM(connection);
}

/* ---- choosing the daemon ---- */

static GSocket *open_only(GError **error)
{
	g_autoptr(GPtrArray) alive = NULL;
	GSocket *socket = sockets_open_only(&alive, error);
	g_autofree char *names = NULL;

	if (alive->len > 1) {
		g_ptr_array_add(alive, NULL);
		names = g_strjoinv("\n    -s ", (char **)alive->pdata);
		fail(error, CONTROL_USAGE, "there are several daemons, expected one of:\n    -s %s",
		     names);
	}
	return socket;
}

static GIOStream *open_local(const struct arguments *arguments, GError **error)
{
	g_autofree char *name = NULL;
	g_autofree char *path = NULL;

	if (arguments->socket)
		return as_stream(sockets_open(arguments->socket, error));
	if (!arguments->port_guid)
		return as_stream(open_only(error));
	name = g_strdup_printf("0x%016" PRIx64 CONTROL_SUFFIX, arguments->port_guid);
	path = g_build_filename(sockets_directory(), name, NULL);
	return as_stream(sockets_open(path, error));
}

/* ---- on another host ---- */

/* Sets the error code for a refusal if a certificate is the cause. */
static void fail_tls(GError **error, const char *where, const GError *trouble)
{
	bool certificate = g_error_matches(trouble, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE) ||
			   g_error_matches(trouble, G_TLS_ERROR, G_TLS_ERROR_CERTIFICATE_REQUIRED);

	fail(error, certificate ? CONTROL_REFUSED : CONTROL_UNREACHABLE, "%s: TLS: %s", where,
	     trouble->message);
}

/* Applies the arguments about certificates. */
static bool set_certificates(GIOStream *tls, const struct arguments *arguments, GError **error)
{
	g_autoptr(GTlsDatabase) database = NULL;
	g_autoptr(GTlsCertificate) certificate = NULL;
	g_autoptr(GError) trouble = NULL;

	if (arguments->ca) {
		g_autofree char *path = g_canonicalize_filename(arguments->ca, NULL);

		database = g_tls_file_database_new(path, &trouble);
		if (database)
			g_tls_connection_set_database(G_TLS_CONNECTION(tls), database);
	}
	if (!trouble && arguments->cert) {
		certificate = g_tls_certificate_new_from_files(arguments->cert, arguments->cert_key,
							       &trouble);
		if (certificate)
			g_tls_connection_set_certificate(G_TLS_CONNECTION(tls), certificate);
	}
	if (trouble)
		fail(error, CONTROL_USAGE, "%s: %s",
		     arguments->ca && !database ? arguments->ca : arguments->cert,
		     trouble->message);
	return !trouble;
}

static GIOStream *begin_tls(GIOStream *connection, const struct arguments *arguments,
			    GError **error)
{
	g_autoptr(GError) trouble = NULL;
	g_autoptr(GSocketConnectable) server =
		g_network_address_parse(arguments->connect, CONSOLE_PORT, &trouble);
	g_autoptr(GIOStream) tls = NULL;

	if (server)
		tls = g_tls_client_connection_new(connection, server, &trouble);
	if (tls && !set_certificates(tls, arguments, error))
		return NULL;
	if (tls && g_tls_connection_handshake(G_TLS_CONNECTION(tls), NULL, &trouble))
		return g_steal_pointer(&tls);
	fail_tls(error, arguments->connect, trouble);
	return NULL;
}

static GIOStream *open_remote(const struct arguments *arguments, GError **error)
{
	g_autoptr(GSocketClient) client = new_client();
	g_autoptr(GSocketConnection) connection = NULL;
	g_autoptr(GError) trouble = NULL;

	connection = g_socket_client_connect_to_host(client, arguments->connect, CONSOLE_PORT, NULL,
						     &trouble);
	if (connection)
		return begin_tls(G_IO_STREAM(connection), arguments, error);
	fail(error, CONTROL_UNREACHABLE, "%s: %s", arguments->connect, trouble->message);
	return NULL;
}

/* ---- connecting ---- */

static char *find_key(const struct arguments *arguments, GError **error)
{
	g_autoptr(GError) trouble = NULL;
	char *key = arguments->key_file
			    ? console_key_load("--key-file", arguments->key_file, &trouble)
			    : editor_secret("Key of the console: ");

	if (trouble)
		fail(error, CONTROL_USAGE, "%s", trouble->message);
	else if (!key)
		fail(error, CONTROL_USAGE,
		     "the console asks for a key: expected --key-file, or a "
		     "terminal to ask for it");
	return key;
}

static bool show_key(struct peer *peer, const struct arguments *arguments, GError **error)
{
	char *key = find_key(arguments, error);
	struct reply reply = {0};
	bool good;

	if (!key)
		return false;
	good = peer_ask(peer, key, &reply, error);
	console_key_free(key);
	if (good && reply.status != CONTROL_DONE) {
		fail(error, reply.status, "%s", g_strchomp(reply.output));
		good = false;
	}
	g_free(reply.output);
	return good;
}

static struct peer *welcome(GIOStream *stream, const struct arguments *arguments, GError **error)
{
	struct peer *peer = peer_new(stream);
	struct reply reply = {0};

	if (peer_ask(peer, CONTROL_HELLO, &reply, error)) {
		bool good = reply.status == CONTROL_DONE;

		if (!good)
			fail(error, reply.status, "%s", g_strchomp(reply.output));
		g_free(reply.output);
		if (good && (!reply.key || show_key(peer, arguments, error)))
			return peer;
	}
	peer_free(peer);
	return NULL;
}

struct peer *connect_daemon(const struct arguments *arguments, GError **error)
{
	g_autoptr(GIOStream) stream =
		arguments->connect ? open_remote(arguments, error) : open_local(arguments, error);

	return stream ? welcome(stream, arguments, error) : NULL;
}
