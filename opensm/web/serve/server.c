// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each socket has a daemon of libmicrohttpd, with one descriptor for all of its connections. All of
 * them share one list of connections (crowd.h), from which newcomers take the place of those that
 * are slow to say what they want.
 *
 *	request line		on_target()	an exchange begins
 *	headers			on_request()	without a body: refused at once if it will be far
 *						too long
 *	pieces of the body	on_request()	with them
 *	its end			on_request()	the request is served; and the connection
 *						suspended until there is an answer
 *	answer			on_answer()	resumes it: on_request() once more, which sends it
 *	sent, or lost		on_completed()
 *
 * To renew certificates, new daemons take over the sockets; the old ones remain until their last
 * connection has ended.
 */
#include "web/serve/server.h"

#include <microhttpd.h>
#include <string.h>

#include "web/base/address.h"
#include "web/base/config.h"
#include "web/base/exchange.h"
#include "web/base/say.h"
#include "web/base/target.h"
#include "web/serve/body.h"
#include "web/serve/crowd.h"
#include "web/serve/listen.h"

#define SILENCE_S 30		/* without an octet in either direction */
#define HEADERS_MAX (32u << 10) /* octets, with the request line */
#define DISCARD_MAX (8u << 20)	/* octets of a body that is too long; then the connection ends */

struct port {
	struct server *server;
	const struct listener *listener;
	struct MHD_Daemon *daemon;
	GSource *source;
	bool tls, old; /* old: takes no connections any more */
};

struct server {
	struct server_config config;
	struct tls_files *tls;
	struct crowd *crowd;
	GPtrArray *ports;    /* of struct port */
	GHashTable *waiting; /* exchanges whose connections are suspended */
	struct say_limit lines;
	GSource *clock; /* runs each second; NULL: without connections */
};

/* A request and its connection. */
struct exchange {
	struct port *port;
	struct member *member; /* of the crowd */
	struct MHD_Connection *connection;
	char *target;
	struct request *request; /* NULL: not yet, or it is malformed */
	char *mistake;
	GByteArray *body;
	size_t discarded; /* octets */
	unsigned int status;
	bool began, served, queued, left;
};

/* ---- the loop ---- */

struct pump {
	GSource source;
	struct MHD_Daemon *daemon;
	gpointer tag;
};

static int time_left(struct MHD_Daemon *daemon)
{
	MHD_UNSIGNED_LONG_LONG ms;

	return MHD_get_timeout(daemon, &ms) == MHD_YES ? (int)MIN(ms, G_MAXINT) : -1;
}

static gboolean prepare_pump(GSource *source, gint *timeout)
{
	*timeout = time_left(((struct pump *)source)->daemon);
	return *timeout == 0;
}

static gboolean check_pump(GSource *source)
{
	struct pump *pump = (struct pump *)source;

	return g_source_query_unix_fd(source, pump->tag) || time_left(pump->daemon) == 0;
}

static gboolean run_pump(GSource *source, GSourceFunc callback, gpointer data)
{
	if (g_source_get_ready_time(source) >= 0)
		g_source_set_ready_time(source, -1);
	MHD_run(((struct pump *)source)->daemon);
	return callback(data);
}

static const GSourceFuncs pump_functions = {
	.prepare = prepare_pump, .check = check_pump, .dispatch = run_pump};

static void wake(struct port *port)
{
	if (port->source)
		g_source_set_ready_time(port->source, 0);
}

static void wake_all(const struct server *server)
{
	for (guint i = 0; server->ports && i < server->ports->len; i++)
		wake(server->ports->pdata[i]);
}

/* ---- refusals before a handler is asked ---- */

static void refuse(struct exchange *exchange, unsigned int status, const char *why)
{
	if (!exchange->request)
		exchange->request = request_new("GET", "/");
	request_fail(exchange->request, status, "%s", why);
}

static enum MHD_Result add_header(void *data, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	(void)kind;
	request_add_header(data, name, value ? value : "");
	return MHD_YES;
}

/* The mistake in the headers, or NULL. */
static const char *header_mistake(const struct request *request)
{
	const char *length = request_header(request, "Content-Length");
	guint64 number;

	if (length && request_header(request, "Transfer-Encoding"))
		return "Content-Length and Transfer-Encoding exclude each other";
	if (length && !g_ascii_string_to_unsigned(length, 10, 0, G_MAXINT64, &number, NULL))
		return "Content-Length: expected a number";
	return NULL;
}

/*
 * A client that sends its body without a look at the answer would find the connection closed and no
 * answer: what can be discarded is read to its end first.
 */
static bool is_refused_unread(const struct request *request)
{
	const char *length = request_header(request, "Content-Length");
	guint64 octets = length ? g_ascii_strtoull(length, NULL, 10) : 0;

	return octets > SERVER_BODY_MAX &&
	       (octets > DISCARD_MAX || request_header(request, "Expect"));
}

static void note_caller(struct exchange *exchange)
{
	const union MHD_ConnectionInfo *info;
	const char *why = NULL;
	struct caller caller = {
		.address = member_address(exchange->member),
		.local = exchange->port->listener->local,
		.tls = exchange->port->tls,
	};

	if (exchange->port->tls && !member_names(exchange->member)) {
		info = MHD_get_connection_info(exchange->connection,
					       MHD_CONNECTION_INFO_GNUTLS_SESSION);
		member_set_names(exchange->member,
				 tls_client_names((gnutls_session_t)info->tls_session, &why));
		if (why && say_may(&exchange->port->server->lines, g_get_monotonic_time()))
			say(LOG_WARNING, "%s has sent a certificate that is not trusted: %s",
			    caller.address, why);
	}
	caller.names = member_names(exchange->member);
	request_set_caller(exchange->request, &caller);
}

/* The headers are there. */
static void begin(struct exchange *exchange, const char *method)
{
	const struct server_config *config = &exchange->port->server->config;
	const char *mistake;

	exchange->began = true;
	exchange->request = target_request(!strcmp(method, "HEAD") ? "GET" : method,
					   exchange->target, &exchange->mistake);
	if (!exchange->request) {
		refuse(exchange, 400, exchange->mistake);
		note_caller(exchange);
		return;
	}
	note_caller(exchange);
	MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, add_header,
				  exchange->request);
	if (config->begun)
		config->begun(config->arg, exchange->request);
	mistake = header_mistake(exchange->request);
	if (mistake)
		refuse(exchange, 400, mistake);
	else if (is_refused_unread(exchange->request))
		refuse(exchange, 413, "the body is too long, expected at most 1 MiB");
}

/* False: the connection is to be closed. */
static bool take_piece(struct exchange *exchange, const char *octets, size_t n)
{
	if (exchange->body->len + n > SERVER_BODY_MAX)
		exchange->discarded += n;
	else if (!exchange->discarded)
		g_byte_array_append(exchange->body, (const guint8 *)octets, (guint)n);
	return exchange->discarded < DISCARD_MAX;
}

/* ---- answers ---- */

static void resume(struct exchange *exchange)
{
	g_hash_table_remove(exchange->port->server->waiting, exchange);
	MHD_resume_connection(exchange->connection);
	wake(exchange->port);
}

/* May be called while the handler runs, or at any time later. */
static void on_answer(void *arg, struct request *request)
{
	struct exchange *exchange = arg;

	(void)request;
	if (g_hash_table_contains(exchange->port->server->waiting, exchange))
		resume(exchange);
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
	struct MHD_Response *response = body_response(exchange->request);
	unsigned int status = request_taken_answer(exchange->request)->status;
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	exchange->queued = true;
	exchange->status = status;
	member_set_answer(exchange->member, body_size(request_taken_answer(exchange->request)));
	result = MHD_queue_response(exchange->connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static void serve(struct exchange *exchange)
{
	const struct server_config *config = &exchange->port->server->config;

	exchange->served = true;
	member_set_state(exchange->member, MEMBER_WAITS);
	if (exchange->discarded) {
		refuse(exchange, 413, "the body is too long, expected at most 1 MiB");
		return;
	}
	if (exchange->body->len)
		request_set_body(exchange->request,
				 g_byte_array_free_to_bytes(g_steal_pointer(&exchange->body)));
	request_listen(exchange->request, on_answer, exchange);
	config->serve(config->arg, exchange->request);
	request_begun(exchange->request);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *piece,
				  size_t *size, void **closure)
{
	struct exchange *exchange = *closure;

	(void)arg;
	(void)url;
	(void)version;
	exchange->connection = connection;
	if (!exchange->began) {
		begin(exchange, method);
		if (request_taken_answer(exchange->request))
			return send_answer(exchange);
		member_set_state(exchange->member, MEMBER_SENDS);
		return MHD_YES;
	}
	if (exchange->left)
		return MHD_NO;
	if (exchange->queued)
		return MHD_YES;
	if (*size) {
		if (!take_piece(exchange, piece, *size))
			return MHD_NO;
		*size = 0;
		return MHD_YES;
	}
	if (!exchange->served)
		serve(exchange);
	if (request_taken_answer(exchange->request))
		return send_answer(exchange);
	g_hash_table_add(exchange->port->server->waiting, exchange);
	MHD_suspend_connection(connection);
	return MHD_YES;
}

/* ---- the life of an exchange ---- */

static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
	struct exchange *exchange = g_new0(struct exchange, 1);
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	exchange->port = arg;
	exchange->connection = connection;
	exchange->member = info->socket_context;
	exchange->target = g_strdup(target);
	exchange->body = g_byte_array_new();
	return exchange;
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **closure,
			 enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *closure;
	const struct server_config *config = &((struct port *)arg)->server->config;

	(void)connection;
	if (!exchange)
		return;
	*closure = NULL;
	member_set_state(exchange->member, MEMBER_IS_IDLE);
	if (exchange->request) {
		request_forget(exchange->request);
		config->served(config->arg, exchange->request,
			       code == MHD_REQUEST_TERMINATED_COMPLETED_OK ? exchange->status : 0);
		request_unref(exchange->request);
	}
	if (exchange->body)
		g_byte_array_unref(exchange->body);
	g_free(exchange->mistake);
	g_free(exchange->target);
	g_free(exchange);
}

/* ---- connections ---- */

static void stop_clock(struct server *server)
{
	if (!server->clock)
		return;
	g_source_destroy(server->clock);
	g_clear_pointer(&server->clock, g_source_unref);
}

/* libmicrohttpd does not look at connections that are suspended. */
static gboolean on_clock(gpointer data)
{
	struct server *server = data;
	gint64 now_us = g_get_monotonic_time();
	g_autoptr(GList) waiting = g_hash_table_get_keys(server->waiting);

	crowd_look(server->crowd, now_us);
	for (GList *l = waiting; l; l = l->next) {
		struct exchange *exchange = l->data;

		exchange->left = member_has_left(exchange->member, now_us);
		if (exchange->left)
			resume(exchange);
	}
	return G_SOURCE_CONTINUE;
}

static void start_clock(struct server *server)
{
	if (server->clock)
		return;
	server->clock = g_timeout_source_new_seconds(1);
	g_source_set_callback(server->clock, on_clock, server, NULL);
	g_source_attach(server->clock, NULL);
}

/* The one that has waited for news for longest; of this address, or of any if it is NULL. */
static struct exchange *patient_one(const struct server *server, const char *address)
{
	struct exchange *found = NULL;
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, server->waiting);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		struct exchange *exchange = key;
		struct member *member = exchange->member;

		if (request_can_yield(exchange->request) && !member_gives_way(member) &&
		    (!address || !strcmp(member_address(member), address)) &&
		    (!found || member_since_us(member) < member_since_us(found->member)))
			found = exchange;
	}
	return found;
}

static bool makes_room(struct server *server, const char *address)
{
	struct exchange *exchange;
	bool many;

	if (crowd_makes_room(server->crowd, address))
		return true;
	many = crowd_is_full_of(server->crowd, address);
	exchange = patient_one(server, many ? address : NULL);
	if (!exchange)
		return false;
	member_give_way(exchange->member);
	request_yield(exchange->request);
	return true;
}

static enum MHD_Result on_accept(void *arg, const struct sockaddr *address, socklen_t length)
{
	struct port *port = arg;
	g_autofree char *text = length ? address_host_text(address) : g_strdup("unix");

	return makes_room(port->server, text) ? MHD_YES : MHD_NO;
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct port *port = arg;
	const union MHD_ConnectionInfo *info;
	g_autofree char *text = NULL;
	int socket;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		crowd_leave(port->server->crowd, *context);
		*context = NULL;
		/* At its limit, libmicrohttpd listens again only when it is run once more. */
		wake_all(port->server);
		if (!crowd_size(port->server->crowd))
			stop_clock(port->server);
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	socket = info->connect_fd;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	text = info && info->client_addr ? address_host_text(info->client_addr) : g_strdup("unix");
	*context = crowd_enter(port->server->crowd, text, socket);
	start_clock(port->server);
}

/* ---- ports ---- */

static gboolean on_turn(gpointer data)
{
	const struct port *port = data;
	const union MHD_DaemonInfo *info;

	if (!port->old)
		return G_SOURCE_CONTINUE;
	info = MHD_get_daemon_info(port->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
	if (info->num_connections)
		return G_SOURCE_CONTINUE;
	g_ptr_array_remove(port->server->ports, (gpointer)port);
	return G_SOURCE_REMOVE;
}

static void port_free(gpointer data)
{
	struct port *port = data;

	if (port->source) {
		g_source_destroy(port->source);
		g_clear_pointer(&port->source, g_source_unref);
	}
	/* The socket is the caller's. */
	if (port->daemon && !port->old)
		MHD_quiesce_daemon(port->daemon);
	if (port->daemon)
		MHD_stop_daemon(port->daemon);
	g_free(port);
}

static struct MHD_Daemon *start(struct port *port)
{
	const struct server *server = port->server;
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, server->tls ? server->tls->cert : NULL},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, server->tls ? server->tls->key : NULL},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
		{server->tls && server->tls->ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
		 server->tls ? server->tls->ca : NULL},
		{MHD_OPTION_END, 0, NULL},
	};

	if (!port->tls)
		tls[0] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	return MHD_start_daemon(
		flags | (port->tls ? MHD_USE_TLS : 0), 0, on_accept, port, on_request, port,
		MHD_OPTION_LISTEN_SOCKET, port->listener->socket, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)(server->config.max_connections +
			       SERVER_SPARE(server->config.max_connections)),
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SILENCE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_target, port,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, port, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, port, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static struct port *port_new(struct server *server, const struct listener *listener, GError **error)
{
	struct port *port = g_new0(struct port, 1);
	struct pump *pump;

	port->server = server;
	port->listener = listener;
	port->tls = server->tls && listener->has_ip;
	port->daemon = start(port);
	if (!port->daemon) {
		g_set_error(error, CONFIG_ERROR, 0, "cannot serve at %s", listener->text);
		port_free(port);
		return NULL;
	}
	port->source = g_source_new((GSourceFuncs *)&pump_functions, sizeof(struct pump));
	pump = (struct pump *)port->source;
	pump->daemon = port->daemon;
	pump->tag = g_source_add_unix_fd(
		port->source, MHD_get_daemon_info(port->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		G_IO_IN);
	g_source_set_callback(port->source, on_turn, port, NULL);
	g_source_attach(port->source, NULL);
	return port;
}

static GPtrArray *open_ports(struct server *server, GError **error)
{
	g_autoptr(GPtrArray) ports = g_ptr_array_new_with_free_func(port_free);

	for (guint i = 0; i < server->config.listeners->len; i++) {
		struct port *port = port_new(server, server->config.listeners->pdata[i], error);

		if (!port)
			return NULL;
		g_ptr_array_add(ports, port);
	}
	return g_steal_pointer(&ports);
}

/* ---- the interface ---- */

struct server *server_new(const struct server_config *config, GError **error)
{
	struct server *server = g_new0(struct server, 1);

	server->config = *config;
	server->tls = config->tls;
	server->crowd = crowd_new(config->max_connections, config->max_per_address);
	server->waiting = g_hash_table_new(NULL, NULL);
	server->ports = open_ports(server, error);
	if (server->ports)
		return server;
	server_free(server);
	return NULL;
}

void server_free(struct server *server)
{
	GPtrArray *ports;
	GHashTableIter iter;
	gpointer exchange;

	if (!server)
		return;
	stop_clock(server);
	g_hash_table_iter_init(&iter, server->waiting);
	while (g_hash_table_iter_next(&iter, &exchange, NULL))
		MHD_resume_connection(((struct exchange *)exchange)->connection);
	ports = g_steal_pointer(&server->ports); /* none is woken while they end */
	if (ports)
		g_ptr_array_unref(ports);
	g_hash_table_unref(server->waiting);
	crowd_free(server->crowd);
	tls_files_free(server->tls);
	g_free(server);
}

bool server_renew(struct server *server, struct tls_files *tls, GError **error)
{
	struct tls_files *before = server->tls;
	g_autoptr(GPtrArray) ports = NULL;

	server->tls = tls;
	ports = open_ports(server, error);
	tls_files_free(ports ? before : tls);
	if (!ports) {
		server->tls = before;
		return false;
	}
	for (guint i = 0; i < server->ports->len; i++) {
		struct port *port = server->ports->pdata[i];

		if (!port->old)
			MHD_quiesce_daemon(port->daemon);
		port->old = true;
		wake(port);
	}
	g_ptr_array_extend_and_steal(server->ports, g_steal_pointer(&ports));
	return true;
}

unsigned int server_connections(const struct server *server)
{
	return crowd_size(server->crowd);
}
