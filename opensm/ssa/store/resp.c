// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/store/resp.h"

#include <glib-unix.h>
#include <hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#define INPUT 65536u	  /* octets read at once */
#define KEEPALIVE_IDLE 10 /* s, and between probes */
#define KEEPALIVE_PROBES 3

struct resp_link {
	GMainContext *context; /* of this link alone: it runs while a call waits */
	GSocketConnection *connection;
	GPollableInputStream *input;
	GPollableOutputStream *output;
	redisReader *reader;
	redisReplyObjectFunctions functions;
	int cancel_fd;	     /* -1: none */
	GByteArray *pending; /* commands that are not sent yet */
	size_t unread;	     /* octets since the last whole reply */
};

/* ---- replies: objects for the reader of hiredis ---- */

#if HIREDIS_MAJOR >= 1
typedef size_t n_elements;
#else
typedef int n_elements;
#endif

void resp_reply_free(struct resp_reply *reply)
{
	if (!reply)
		return;
	for (unsigned int i = 0; i < reply->n; i++)
		resp_reply_free(reply->elements[i]);
	g_free(reply->text);
	g_free(reply);
}

static void free_object(void *object)
{
	resp_reply_free(object);
}

/* A new reply, as element of the array that it is in. */
static struct resp_reply *new_reply(const redisReadTask *task, enum resp_kind kind)
{
	struct resp_reply *reply = g_new0(struct resp_reply, 1), *array;

	reply->kind = kind;
	if (task->parent) {
		array = task->parent->obj;
		array->elements[task->idx] = reply;
	}
	return reply;
}

static void *make_text(const redisReadTask *task, char *octets, size_t length)
{
	struct resp_reply *reply = new_reply(task, task->type == REDIS_REPLY_ERROR    ? RESP_ERROR
						   : task->type == REDIS_REPLY_STATUS ? RESP_STATUS
										      : RESP_TEXT);

	reply->text = g_malloc(length + 1);
	memcpy(reply->text, octets, length);
	reply->text[length] = '\0';
	reply->length = length;
	return reply;
}

/* NULL makes the reader fail. */
static void *make_array(const redisReadTask *task, n_elements n)
{
	struct resp_reply *reply;

	if (n > RESP_ARRAY_MAX || (task->parent && task->parent->parent))
		return NULL;
	reply = new_reply(task, RESP_ARRAY);
	reply->n = (unsigned int)n;
	return reply;
}

static void *make_number(const redisReadTask *task, long long number)
{
	struct resp_reply *reply = new_reply(task, RESP_NUMBER);

	reply->number = number;
	return reply;
}

static void *make_nil(const redisReadTask *task)
{
	return new_reply(task, RESP_NIL);
}

#if HIREDIS_MAJOR >= 1
/* Of RESP3, which no server speaks unless it is asked to. */
static void *make_no_double(const redisReadTask *task, double value, char *octets, size_t length)
{
	(void)task, (void)value, (void)octets, (void)length;
	return NULL;
}

static void *make_no_bool(const redisReadTask *task, int value)
{
	(void)task, (void)value;
	return NULL;
}
#endif

static void make_reader(struct resp_link *link)
{
	link->functions = (redisReplyObjectFunctions)
	{
		.createString = make_text, .createArray = make_array, .createInteger = make_number,
		.createNil = make_nil, .freeObject = free_object,
#if HIREDIS_MAJOR >= 1
		.createDouble = make_no_double, .createBool = make_no_bool,
#endif
	};
	link->reader = redisReaderCreateWithFunctions(&link->functions);
}

/* ---- waiting ---- */

/* What has happened first. */
struct turn {
	GMainContext *context;
	GSource *late, *cancel;
	bool ready, is_late, cancelled;
};

static gboolean on_late(gpointer data)
{
	((struct turn *)data)->is_late = true;
	return G_SOURCE_REMOVE;
}

static gboolean on_cancel(gint fd, GIOCondition condition, gpointer data)
{
	(void)fd, (void)condition;
	((struct turn *)data)->cancelled = true;
	return G_SOURCE_REMOVE;
}

static gboolean on_stream(GObject *stream, gpointer data)
{
	(void)stream;
	((struct turn *)data)->ready = true;
	return G_SOURCE_REMOVE;
}

static void turn_begin(struct turn *turn, GMainContext *context, int64_t deadline_us, int cancel_fd)
{
	*turn = (struct turn){.context = context, .late = g_timeout_source_new(0)};
	g_source_set_ready_time(turn->late, deadline_us);
	g_source_set_callback(turn->late, on_late, turn, NULL);
	g_source_attach(turn->late, context);
	if (cancel_fd < 0)
		return;
	turn->cancel = g_unix_fd_source_new(cancel_fd, G_IO_IN);
	g_source_set_callback(turn->cancel, G_SOURCE_FUNC(on_cancel), turn, NULL);
	g_source_attach(turn->cancel, context);
}

static void drop(GSource *source)
{
	if (!source)
		return;
	g_source_destroy(source);
	g_source_unref(source);
}

static void turn_end(struct turn *turn)
{
	drop(turn->late);
	drop(turn->cancel);
}

static void set_cancelled(GError **error)
{
	g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
}

static void set_late(GError **error)
{
	g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "no answer in time");
}

/* Takes over the source, which is one of a stream. False and no error: the deadline has come. */
static bool await(struct resp_link *link, GSource *stream, int64_t deadline_us, GError **error)
{
	struct turn turn;

	turn_begin(&turn, link->context, deadline_us, link->cancel_fd);
	g_source_set_callback(stream, G_SOURCE_FUNC(on_stream), &turn, NULL);
	g_source_attach(stream, link->context);
	while (!turn.ready && !turn.is_late && !turn.cancelled)
		g_main_context_iteration(link->context, TRUE);
	drop(stream);
	turn_end(&turn);
	if (turn.cancelled)
		set_cancelled(error);
	return turn.ready && !turn.cancelled;
}

/* As await(), but the deadline is an error, too. */
static bool need(struct resp_link *link, GSource *stream, int64_t deadline_us, GError **error)
{
	GError *problem = NULL;

	if (await(link, stream, deadline_us, &problem))
		return true;
	if (problem)
		g_propagate_error(error, problem);
	else
		set_late(error);
	return false;
}

/* ---- connecting ---- */

static void on_event(GSocketClient *client, GSocketClientEvent event, GSocketConnectable *address,
		     GIOStream *stream, gpointer data)
{
	const struct resp_server *server = data;

	(void)client, (void)address;
	if (event != G_SOCKET_CLIENT_TLS_HANDSHAKING)
		return;
	if (server->ca)
		g_tls_connection_set_database(G_TLS_CONNECTION(stream), server->ca);
	if (server->certificate)
		g_tls_connection_set_certificate(G_TLS_CONNECTION(stream), server->certificate);
}

static void on_result(GObject *client, GAsyncResult *result, gpointer data)
{
	(void)client;
	*(GAsyncResult **)data = g_object_ref(result);
}

static GSocketClient *new_client(const struct resp_server *server)
{
	GSocketClient *client = g_socket_client_new();

	g_socket_client_set_enable_proxy(client, FALSE);
	g_socket_client_set_tls(client, server->tls);
	g_signal_connect(client, "event", G_CALLBACK(on_event), (gpointer)server);
	return client;
}

/*
 * A session of TLS that GLib resumes is taken though the certificate of its server does not pass
 * now: it may have passed before, with another CA.
 */
static bool is_trusted(GSocketConnection *connection, GError **error)
{
	GTlsConnection *tls = G_TLS_CONNECTION(
		g_tcp_wrapper_connection_get_base_io_stream(G_TCP_WRAPPER_CONNECTION(connection)));

	if (g_tls_connection_get_peer_certificate(tls) &&
	    !g_tls_connection_get_peer_certificate_errors(tls))
		return true;
	g_set_error_literal(error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
			    "Unacceptable TLS certificate");
	return false;
}

static GSocketConnection *connect_to(const struct resp_server *server, struct turn *turn,
				     GError **error)
{
	g_autoptr(GSocketConnectable) address = g_network_address_new(server->host, server->port);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	g_autoptr(GSocketClient) client = new_client(server);
	g_autoptr(GAsyncResult) result = NULL;
	GSocketConnection *connection;

	g_main_context_push_thread_default(turn->context);
	g_socket_client_connect_async(client, address, cancellable, on_result, &result);
	while (!result) {
		g_main_context_iteration(turn->context, TRUE);
		if (turn->is_late || turn->cancelled)
			g_cancellable_cancel(cancellable);
	}
	g_main_context_pop_thread_default(turn->context);
	connection = g_socket_client_connect_finish(client, result, error);
	if (connection && server->tls && !is_trusted(connection, error)) {
		g_socket_close(g_socket_connection_get_socket(connection), NULL);
		g_object_unref(connection);
		return NULL;
	}
	if (connection || (!turn->is_late && !turn->cancelled))
		return connection;
	g_clear_error(error);
	if (turn->cancelled)
		set_cancelled(error);
	else
		set_late(error);
	return NULL;
}

/* A server whose machine is lost is noticed by a connection on which nothing is said. */
static void set_keepalive(GSocket *socket)
{
	g_socket_set_keepalive(socket, TRUE);
	g_socket_set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
	g_socket_set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE, NULL);
	g_socket_set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_IDLE, NULL);
	g_socket_set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES, NULL);
}

struct resp_link *resp_connect(const struct resp_server *server, int cancel_fd, int64_t deadline_us,
			       GError **error)
{
	GMainContext *context = g_main_context_new();
	GSocketConnection *connection;
	struct resp_link *link;
	struct turn turn;

	turn_begin(&turn, context, deadline_us, cancel_fd);
	connection = connect_to(server, &turn, error);
	turn_end(&turn);
	if (!connection) {
		g_main_context_unref(context);
		return NULL;
	}
	set_keepalive(g_socket_connection_get_socket(connection));
	link = g_new0(struct resp_link, 1);
	link->context = context;
	link->connection = connection;
	link->input =
		G_POLLABLE_INPUT_STREAM(g_io_stream_get_input_stream(G_IO_STREAM(connection)));
	link->output =
		G_POLLABLE_OUTPUT_STREAM(g_io_stream_get_output_stream(G_IO_STREAM(connection)));
	link->cancel_fd = cancel_fd;
	link->pending = g_byte_array_new();
	make_reader(link);
	return link;
}

/* The socket first: to take leave of TLS could block. */
void resp_close(struct resp_link *link)
{
	if (!link)
		return;
	g_socket_close(g_socket_connection_get_socket(link->connection), NULL);
	g_object_unref(link->connection);
	redisReaderFree(link->reader);
	g_byte_array_unref(link->pending);
	g_main_context_unref(link->context);
	g_free(link);
}

/* ---- commands ---- */

void resp_add(struct resp_link *link, unsigned int n, const char *const *words,
	      const size_t *lengths)
{
	char *command = NULL;
	int length = redisFormatCommandArgv(&command, (int)n, (const char **)words, lengths);

	g_assert(length > 0);
	g_byte_array_append(link->pending, (const guint8 *)command, (guint)length);
	redisFreeCommand(command);
}

bool resp_send(struct resp_link *link, int64_t deadline_us, GError **error)
{
	size_t sent = 0;

	while (sent < link->pending->len) {
		GError *problem = NULL;
		gssize n = g_pollable_output_stream_write_nonblocking(
			link->output, link->pending->data + sent, link->pending->len - sent, NULL,
			&problem);

		if (n >= 0) {
			sent += (size_t)n;
			continue;
		}
		if (!g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
			g_propagate_error(error, problem);
			return false;
		}
		g_error_free(problem);
		if (!need(link, g_pollable_output_stream_create_source(link->output, NULL),
			  deadline_us, error))
			return false;
	}
	g_byte_array_set_size(link->pending, 0);
	return true;
}

/* ---- replies ---- */

/* The reply that has come, whole; NULL: none yet. False: that is not a reply. */
static bool take_reply(struct resp_link *link, struct resp_reply **reply, GError **error)
{
	void *object = NULL;

	if (redisReaderGetReply(link->reader, &object) != REDIS_OK) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
			    "not a reply that Redis sends here: %s", link->reader->errstr);
		return false;
	}
	*reply = object;
	if (object)
		link->unread = link->reader->len - link->reader->pos;
	else if (link->unread > RESP_REPLY_MAX) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
			    "a reply has more than %u octets", RESP_REPLY_MAX);
		return false;
	}
	return true;
}

/* Octets that are there; 0 and no error: none are. */
static size_t read_some(struct resp_link *link, char *octets, GError **error)
{
	GError *problem = NULL;
	gssize n = g_pollable_input_stream_read_nonblocking(link->input, octets, INPUT, NULL,
							    &problem);

	if (n > 0)
		return (size_t)n;
	if (n == 0)
		g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CLOSED,
				    "the server has closed the connection");
	else if (g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
		g_error_free(problem);
	else
		g_propagate_error(error, problem);
	return 0;
}

/* Reads some octets, which have to come by the deadline. */
static bool fill(struct resp_link *link, int64_t deadline_us, GError **error)
{
	g_autofree char *octets = g_malloc(INPUT);
	GError *problem = NULL;
	size_t n = 0;

	while (!n && !problem && g_get_monotonic_time() < deadline_us) {
		n = read_some(link, octets, &problem);
		if (!n && !problem)
			need(link, g_pollable_input_stream_create_source(link->input, NULL),
			     deadline_us, &problem);
	}
	if (n) {
		redisReaderFeed(link->reader, octets, n);
		link->unread += n;
	} else if (problem) {
		g_propagate_error(error, problem);
	} else {
		set_late(error);
	}
	return n > 0;
}

struct resp_reply *resp_read(struct resp_link *link, int64_t deadline_us, GError **error)
{
	struct resp_reply *reply = NULL;

	do {
		if (!take_reply(link, &reply, error))
			return NULL;
	} while (!reply && fill(link, deadline_us, error));
	return reply;
}

bool resp_has_more(const struct resp_link *link)
{
	return link->unread > 0;
}

bool resp_wait(struct resp_link *link, int64_t deadline_us, GError **error)
{
	return link->unread || await(link, g_pollable_input_stream_create_source(link->input, NULL),
				     deadline_us, error);
}
