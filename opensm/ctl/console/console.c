// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The console: which users may connect to it, and how many at once.
 *
 *	local		the terminal of a daemon in the foreground
 *	loopback	TCP on this host only; without a key root and the user of the daemon may do
 *			everything, and other users of this host may only look
 *	socket		TCP on all interfaces, for users who know the key; without a key as loopback
 *
 * In every mode, also if off: the Unix socket of control_socket.c is for the operator of this host.
 * With console_tls_cert the TCP socket speaks only TLS; otherwise the key crosses the network in
 * clear text, and status says so.
 */
#include "ctl/console/console.h"

#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/options.h"
#include "ctl/console/console_certificate.h"
#include "ctl/console/console_key.h"
#include "ctl/console/console_listen.h"
#include "ctl/console/console_session.h"
#include "ctl/console/console_tls.h"
#include "client/control.h"
#include "ctl/console/control_socket.h"
#include "ctl/process/tcp_owner.h"
#include "ctl/image/image_store.h"
#include "ctl/report/journal.h"

/* How long the loop waits for the certificate files, also when the daemon starts. */
#define PATIENCE_NS (250 * NS_PER_MS)
#define START_PATIENCE_NS (2 * NS_PER_S)

struct console {
	struct command_env env;
	struct log *log;
	struct log_limit limit;
	struct actor *actor;
	char *key; /* NULL: none is required */
	enum console_mode mode;
	uint16_t port;
	GSocketService *tcp;	 /* NULL: the port could not be opened */
	struct certificate *certificate; /* for the TCP port; NULL: no TLS */
	struct console_tls *tls;	 /* as last read; NULL: not yet */
	char *control_path;	 /* NULL: no Unix socket is wanted */
	char *control_group;
	struct control_socket *control; /* NULL: it could not be opened */
	GSocketService *local;		/* for the control socket */
	GPtrArray *sessions;
};

/* For log lines that anyone who connects can provoke. */
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
	log_info(console->log, "console: %s%s", text,
		 held_back ? "; similar lines were "
			     "suppressed"
			   : "");
}

/* ---- sessions ---- */

/* Makes room for a newcomer; false if no session can be closed for it. */
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
	tell(console, "the session of %s was closed to make room for another",
	     session_name(leaves));
	session_give_way(leaves);
	return true;
}

/*
 * Programs connect to the Unix socket again and again only to look, so these sessions are logged as
 * verbose; a command that makes changes is always logged.
 */
static void tell_session(struct console *console, enum seat_kind kind, const char *what,
			 const struct session *session)
{
	if (kind == SEAT_OPERATOR || kind == SEAT_GROUP)
		log_verbose(console->log, "console: %s %s", what, session_name(session));
	else
		tell(console, "%s %s", what, session_name(session));
}

static bool on_opened(void *arg, struct session *session, const struct seat *seat)
{
	struct console *console = arg;
	bool good = take_seat(console, seat);

	if (good)
		tell_session(console, seat->kind, "session of", session);
	else
		tell(console, "rejected %s: there are too many sessions", session_name(session));
	return good;
}

static void on_ended(void *arg, struct session *session)
{
	struct console *console = arg;

	if (session_is_open(session))
		tell_session(console, session_seat(session).kind, "end of the session of", session);
	else if (session_wrong_keys(session))
		tell(console, "%s gave a wrong key %u times", session_name(session),
		     session_wrong_keys(session));
	else if (session_trouble(session))
		tell(console, "%s: %s", session_name(session), session_trouble(session));
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
		       : g_strdup("a client that has gone");
}

/* The host of a connection: for IPv6 the half of the address that the host cannot choose. */
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

/* TCP without a key: a user that the kernel cannot identify may not make changes, either. */
static bool only_reads(GSocketConnection *connection, char **name)
{
	uid_t uid = 0;
	bool known = tcp_owner(g_socket_connection_get_socket(connection), &uid);
	g_autofree char *address = *name;

	if (known && (uid == 0 || uid == geteuid())) {
		*name = g_steal_pointer(&address);
		return false;
	}
	*name = known ? g_strdup_printf("%s, uid %u, read only,", address, uid)
		      : g_strdup_printf("%s, of an unknown user, read only,", address);
	return true;
}

/* A TCP session, on the streams of the connection or of TLS over it. */
static void begin_tcp(struct console *console, GSocketConnection *connection, GIOStream *stream)
{
	g_autofree char *name = peer_name(connection);
	g_autofree char *host = peer_host(connection);
	struct seat stranger = {SEAT_STRANGER, host, actor_now(console->actor)};
	struct session_config config = {
		.peer = host,
		.kind = SEAT_NETWORK,
		.key = console->key,
		.trusted = console->key != NULL,
		.in = g_io_stream_get_input_stream(stream),
		.out = g_io_stream_get_output_stream(stream),
		.connection = G_OBJECT(connection),
		.tls = G_OBJECT(stream),
	};

	if (console->key)
		take_seat(console, &stranger);
	else
		config.reads_only = only_reads(connection, &name);
	config.name = name;
	begin(console, &config);
}

static gboolean on_tcp(GSocketService *service, GSocketConnection *connection, GObject *source,
		       gpointer arg)
{
	struct console *console = arg;
	GSocket *socket = g_socket_connection_get_socket(connection);
	g_autoptr(GIOStream) stream = NULL;
	g_autoptr(GError) error = NULL;

	(void)service;
	(void)source;
	g_socket_set_blocking(socket, FALSE);
	g_socket_set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
	stream = console->tls ? console_tls_wrap(console->tls, connection, &error)
			      : g_object_ref(G_IO_STREAM(connection));
	if (stream)
		begin_tcp(console, connection, stream);
	else
		tell(console, "TLS: %s", error->message);
	return TRUE;
}

static void refuse(GSocketConnection *connection, const char *who)
{
	g_autofree char *text = g_strdup_printf(
		"%s may not use this socket: it is for root, the user of the daemon, and the "
		"members of control_group\n",
		who);
	g_autofree char *record = control_record(CONTROL_REFUSED, text, false);

	g_socket_send(g_socket_connection_get_socket(connection), record, strlen(record), NULL,
		      NULL);
	g_io_stream_close(G_IO_STREAM(connection), NULL, NULL);
}

/* A connection to the Unix socket. */
static gboolean on_local(GSocketService *service, GSocketConnection *connection, GObject *source,
			 gpointer arg)
{
	struct console *console = arg;
	GSocket *socket = g_socket_connection_get_socket(connection);
	g_autofree char *name = NULL;
	struct session_config config = {
		.in = g_io_stream_get_input_stream(G_IO_STREAM(connection)),
		.out = g_io_stream_get_output_stream(G_IO_STREAM(connection)),
		.connection = G_OBJECT(connection),
	};

	(void)service;
	(void)source;
	g_socket_set_blocking(socket, FALSE);
	if (!control_socket_admits(console->control, socket, &config.kind, &name)) {
		tell(console, "rejected %s: it may not use %s", name, console->control_path);
		refuse(connection, name);
		return TRUE;
	}
	config.name = config.peer = name;
	config.trusted = config.kind == SEAT_OPERATOR;
	begin(console, &config);
	return TRUE;
}

/* ---- opening ---- */

/* Another instance may have the port; the subnet manager must run all the same. */
static void open_tcp(struct console *console)
{
	bool everywhere = console->mode == CONSOLE_SOCKET && console->key;
	g_autoptr(GError) error = NULL;

	console->tcp = console_listen_tcp(console->port, everywhere, console->log, &error);
	if (!console->tcp) {
		log_error(console->log,
			  "console: TCP port %u: %s; no console until a SIGHUP finds the port "
			  "free",
			  console->port, error->message);
		return;
	}
	g_signal_connect(console->tcp, "incoming", G_CALLBACK(on_tcp), console);
	g_socket_service_start(console->tcp);
	log_info(console->log, "console: TCP port %u of %s%s", console->port,
		 everywhere ? "all addresses" : "this host", console->tls ? ", with TLS" : "");
	if (!console->key)
		log_info(console->log, "console: without console_key_file any user of this host "
				       "may read the state of the subnet by that port; only root "
				       "and the user of the daemon may change anything");
}

/* Without a certificate the port stays closed: if TLS is configured, it never uses clear text. */
static void on_certificate(void *arg, struct console_tls *tls, const char *why)
{
	struct console *console = arg;

	if (!tls) {
		log_error(console->log, "%s; %s", why,
			  console->tls ? "the old certificate stays in use"
				       : "no console until SIGHUP, which tries again");
		return;
	}
	console_tls_free(console->tls);
	console->tls = tls;
	if (!console->tcp)
		open_tcp(console);
}

static bool has_port(const struct console *console)
{
	return console->mode == CONSOLE_LOOPBACK || console->mode == CONSOLE_SOCKET;
}

/* Reads the certificate files again, whether or not the port is open already. */
static void listen_tcp(struct console *console, uint64_t patience_ns)
{
	if (console->certificate)
		certificate_read(console->certificate, patience_ns);
	else if (!console->tcp)
		open_tcp(console);
}

static void listen_local(struct console *console)
{
	g_autoptr(GError) error = NULL;

	console->control =
		control_socket_new(console->control_path, console->control_group, &error);
	if (console->control)
		console->local =
			console_listen_at(control_socket_listener(console->control), &error);
	if (!console->local) {
		log_error(console->log,
			  "%s; opensmctl does not work until SIGHUP, which tries again",
			  error->message);
		g_clear_pointer(&console->control, control_socket_free);
		return;
	}
	g_signal_connect(console->local, "incoming", G_CALLBACK(on_local), console);
	g_socket_service_start(console->local);
	log_info(console->log, "console: Unix socket %s", console->control_path);
}

static void listen_all(struct console *console, uint64_t patience_ns)
{
	if (has_port(console))
		listen_tcp(console, patience_ns);
	if (!console->local && console->control_path)
		listen_local(console);
}

void console_listen_again(struct console *console)
{
	if (console)
		listen_all(console, PATIENCE_NS);
}

/* Newly allocated; NULL: no socket is wanted. */
static char *choose_path(const struct daemon *daemon, const struct options *options)
{
	if (!options->control_socket)
		return NULL;
	return control_socket_name(options->control_socket, daemon_port_guid(daemon));
}

const char *console_key_file(const struct options *options)
{
	bool by_tcp = options->console != CONSOLE_OFF && options->console != CONSOLE_LOCAL;

	return by_tcp ? options->console_key_file : NULL;
}

static bool open_key(struct console *console, const struct options *options, GError **error)
{
	const char *file = console_key_file(options);

	if (!file)
		return true;
	console->key = console_key_load("console_key_file", file, error);
	return console->key != NULL;
}

/* In the background of a terminal, reads fail instead of stopping the daemon. */
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

static void open_all(struct console *console)
{
	if (console->mode == CONSOLE_LOCAL)
		open_terminal(console);
	listen_all(console, START_PATIENCE_NS);
}

struct console *console_new(struct daemon *daemon, struct journal *journal, struct sim *sim,
			    GError **error)
{
	struct context *context = daemon_context(daemon);
	struct options *options = slot_take(&context->options);
	char *control_path = choose_path(daemon, options);
	struct console *console = NULL;
	bool good = true;

	if (options->console != CONSOLE_OFF || control_path) {
		console = g_new0(struct console, 1);
		console->env.daemon = daemon;
		console->env.sim = sim;
		console->env.journal = journal;
		console->env.images = image_store_new();
		console->log = context->log;
		console->actor = daemon_actor(daemon);
		console->sessions = g_ptr_array_new();
		console->mode = options->console;
		console->port = options->console_port;
		console->control_path = control_path;
		console->control_group = g_strdup(options->control_group);
		if (console->mode == CONSOLE_SOCKET && console_tls_is_wanted(options))
			console->certificate = certificate_new(daemon, on_certificate, console);
		good = open_key(console, options, error);
	}
	if (console && good)
		open_all(console);
	options_unref(options);
	if (good)
		return console;
	console_free(console);
	return NULL;
}

void console_free(struct console *console)
{
	if (!console)
		return;
	console_listen_end(console->tcp, console);
	console_listen_end(console->local, console);
	for (guint i = 0; i < console->sessions->len; i++)
		session_free(console->sessions->pdata[i]);
	g_ptr_array_unref(console->sessions);
	control_socket_free(console->control);
	certificate_free(console->certificate);
	console_tls_free(console->tls);
	console_key_free(console->key);
	image_store_unref(console->env.images);
	g_free(console->control_path);
	g_free(console->control_group);
	g_free(console);
}
