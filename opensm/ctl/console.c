// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The console: who may speak to it, and how many at once.
 *
 *	local		the terminal of a daemon in the foreground
 *	loopback	TCP of this host only; anybody on it, unless there is a key
 *	socket		TCP of all interfaces, to those who know the key; without one it is loopback
 *
 * The key crosses the network as it is: whoever can read the network can read it.
 */
#include "ctl/console.h"

#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <unistd.h>

#include "core/options.h"
#include "ctl/console_key.h"
#include "ctl/console_session.h"
#include "ctl/journal.h"

struct console {
	struct command_env env;
	struct log *log;
	struct log_limit limit;
	struct actor *actor;
	char *key; /* NULL: none is asked for */
	enum console_mode mode;
	uint16_t port;
	GSocketService *service; /* NULL: the port was not to be had */
	GPtrArray *sessions;
};

/* Lines that whoever connects can provoke. */
G_GNUC_PRINTF(2, 3)
static void tell(struct console *console, const char *format, ...)
{
	g_autofree char *text = NULL;
	unsigned int held_back;
	va_list args;

	if (!log_limit_pass(&console->limit, actor_now(console->actor), 20, NS_PER_S, &held_back))
		return;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	log_info(console->log, "console: %s%s", text, held_back ? "; others were held back" : "");
}

/* ---- sessions ---- */

/* Makes room for a newcomer; false: there is none. */
static bool take_seat(struct console *console, const struct seat *newcomer)
{
	g_autofree struct seat *taken = g_new(struct seat, console->sessions->len);
	struct session *leaves;
	int i;

	for (guint j = 0; j < console->sessions->len; j++)
		taken[j] = session_seat(console->sessions->pdata[j]);
	i = seats_take(taken, console->sessions->len, newcomer);
	if (i < 0)
		return i == SEATS_FREE;
	leaves = console->sessions->pdata[i];
	tell(console, "the session of %s gave way to another", session_name(leaves));
	session_give_way(leaves);
	return true;
}

static bool on_opened(void *arg, struct session *session, const struct seat *seat)
{
	struct console *console = arg;
	bool good = take_seat(console, seat);

	if (good)
		tell(console, "session of %s", session_name(session));
	else
		tell(console, "turned %s away: there are too many sessions", session_name(session));
	return good;
}

static void on_ended(void *arg, struct session *session)
{
	struct console *console = arg;

	if (session_is_open(session))
		tell(console, "end of the session of %s", session_name(session));
	else if (console->key)
		tell(console, "%s did not know the key, %u tries", session_name(session),
		     session_wrong_keys(session));
	g_ptr_array_remove_fast(console->sessions, session);
	session_free(session);
}

static void begin(struct console *console, struct session_config *config)
{
	struct session *session;

	config->env = &console->env;
	config->opened = on_opened;
	config->ended = on_ended;
	config->arg = console;
	session = session_new(config);
	g_ptr_array_add(console->sessions, session);
	session_begin(session);
}

/* "127.0.0.1:40000" */
static char *peer_name(GSocketConnection *connection)
{
	g_autoptr(GSocketAddress) address =
		g_socket_connection_get_remote_address(connection, NULL);

	return address ? g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(address))
		       : g_strdup("somebody who has gone");
}

/* A host: of IPv6 addresses the half that it cannot choose. */
static char *peer_host(GSocketConnection *connection)
{
	g_autoptr(GSocketAddress) from = g_socket_connection_get_remote_address(connection, NULL);
	GInetAddress *address;

	if (!G_IS_INET_SOCKET_ADDRESS(from))
		return g_strdup("");
	address = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(from));
	if (g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6)
		return g_base64_encode(g_inet_address_to_bytes(address), 8);
	return g_inet_address_to_string(address);
}

static gboolean on_incoming(GSocketService *service, GSocketConnection *connection, GObject *source,
			    gpointer arg)
{
	struct console *console = arg;
	GSocket *socket = g_socket_connection_get_socket(connection);
	g_autofree char *name = peer_name(connection);
	g_autofree char *host = peer_host(connection);
	struct session_config config = {
		.name = name,
		.peer = host,
		.kind = SEAT_NETWORK,
		.key = console->key,
		.trusted = console->key != NULL,
		.in = g_io_stream_get_input_stream(G_IO_STREAM(connection)),
		.out = g_io_stream_get_output_stream(G_IO_STREAM(connection)),
		.connection = G_OBJECT(connection),
	};
	struct seat stranger = {SEAT_STRANGER, host, actor_now(console->actor)};

	(void)service;
	(void)source;
	g_socket_set_blocking(socket, FALSE);
	g_socket_set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
	if (console->key)
		take_seat(console, &stranger);
	begin(console, &config);
	return TRUE;
}

/* ---- opening ---- */

static bool listen_at(struct console *console, GSocketFamily family, uint16_t port, GError **error)
{
	g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(family);
	g_autoptr(GSocketAddress) address = g_inet_socket_address_new(loopback, port);

	return g_socket_listener_add_address(G_SOCKET_LISTENER(console->service), address,
					     G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL,
					     NULL, error);
}

/* IPv6 where there is any. */
static bool listen_loopback(struct console *console, uint16_t port, GError **error)
{
	g_autoptr(GError) no_ipv6 = NULL;

	if (!listen_at(console, G_SOCKET_FAMILY_IPV4, port, error))
		return false;
	if (listen_at(console, G_SOCKET_FAMILY_IPV6, port, &no_ipv6))
		return true;
	if (g_error_matches(no_ipv6, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) {
		g_propagate_error(error, g_steal_pointer(&no_ipv6));
		return false;
	}
	log_verbose(console->log, "console: not on ::1: %s", no_ipv6->message);
	return true;
}

static bool add_addresses(struct console *console, bool everywhere, GError **error)
{
	if (!everywhere)
		return listen_loopback(console, console->port, error);
	return g_socket_listener_add_inet_port(G_SOCKET_LISTENER(console->service), console->port,
					       NULL, error);
}

/* Another instance may have the port; the subnet needs a manager all the same. */
static void listen_tcp(struct console *console)
{
	bool everywhere = console->mode == CONSOLE_SOCKET && console->key;
	g_autoptr(GError) error = NULL;

	console->service = g_socket_service_new();
	/* One that listens already would drop who connects while the next address is added. */
	g_socket_service_stop(console->service);
	if (!add_addresses(console, everywhere, &error)) {
		log_error(console->log,
			  "console: TCP port %u: %s; there is no console until SIGHUP, which tries "
			  "again, finds it free",
			  console->port, error->message);
		g_socket_listener_close(G_SOCKET_LISTENER(console->service));
		g_clear_object(&console->service);
		return;
	}
	g_signal_connect(console->service, "incoming", G_CALLBACK(on_incoming), console);
	g_socket_service_start(console->service);
	log_info(console->log, "console: TCP port %u of %s", console->port,
		 everywhere ? "all addresses" : "this host");
}

void console_listen_again(struct console *console)
{
	if (console && console->mode != CONSOLE_LOCAL && !console->service)
		listen_tcp(console);
}

static bool open_key(struct console *console, const struct options *options, GError **error)
{
	if (options->console == CONSOLE_LOCAL || !options->console_key_file)
		return true;
	console->key = console_key_load(options->console_key_file, error);
	return console->key != NULL;
}

/* In the background of a terminal, reading fails instead of stopping the daemon. */
static void open_terminal(struct console *console)
{
	g_autoptr(GInputStream) in = g_unix_input_stream_new(STDIN_FILENO, FALSE);
	g_autoptr(GOutputStream) out = g_unix_output_stream_new(STDOUT_FILENO, FALSE);
	struct session_config config = {
		.name = "the terminal",
		.peer = "",
		.kind = SEAT_TERMINAL,
		.trusted = true,
		.in = in,
		.out = out,
	};

	signal(SIGTTIN, SIG_IGN);
	begin(console, &config);
}

struct console *console_new(struct daemon *daemon, struct sim *sim, GError **error)
{
	struct context *context = daemon_context(daemon);
	struct options *options = slot_take(&context->options);
	struct console *console = NULL;
	bool good = true;

	if (options->console != CONSOLE_OFF) {
		console = g_new0(struct console, 1);
		console->env.daemon = daemon;
		console->env.sim = sim;
		console->env.journal = journal_new(daemon);
		console->log = context->log;
		console->actor = daemon_actor(daemon);
		console->sessions = g_ptr_array_new();
		console->mode = options->console;
		console->port = options->console_port;
		good = open_key(console, options, error);
		if (console->mode == CONSOLE_LOCAL)
			open_terminal(console);
		else if (good)
			listen_tcp(console);
	}
	options_unref(options);
	if (good)
		return console;
	console_free(console);
	return NULL;
}

static void close_service(struct console *console)
{
	if (!console->service)
		return;
	g_signal_handlers_disconnect_by_data(console->service, console);
	g_socket_service_stop(console->service);
	g_socket_listener_close(G_SOCKET_LISTENER(console->service));
	g_object_unref(console->service);
	/* The accept that was cancelled still reports to the loop. */
	while (g_main_context_iteration(NULL, FALSE))
		continue;
}

void console_free(struct console *console)
{
	if (!console)
		return;
	close_service(console);
	for (guint i = 0; i < console->sessions->len; i++)
		session_free(console->sessions->pdata[i]);
	g_ptr_array_unref(console->sessions);
	journal_free(console->env.journal);
	console_key_free(console->key);
	g_free(console);
}
