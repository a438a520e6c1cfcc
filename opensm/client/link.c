// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "client/link.h"

#include <string.h>

#include "client/sockets.h"
#include "client/source.h"

struct request {
	uint64_t number;
	char *line; /* with its line end */
	link_done_fn *done;
	void *arg;
	gint64 until_us; /* of the monotonic clock */
	bool failed;	 /* has its answer already, but done() was not called yet */
	struct reply reply;
};

struct connection {
	struct link *link;
	GSocket *socket;
	GSource *reader, *writer; /* writer NULL: all is sent */
	struct record_reader records;
	GString *out;
	bool welcome;		 /* the answer to CONTROL_HELLO has come */
	struct request *request; /* whose answer is awaited; NULL: idle */
};

struct link {
	char *path; /* NULL: to be looked for */
	unsigned int max;
	GPtrArray *connections; /* of struct connection */
	GQueue waiting;		/* of struct request: no connection has them yet */
	uint64_t last;		/* number of a request */
	GSource *turn;		/* looks after all requests; NULL: there are none */
	GPtrArray *dropped;	/* connections that are freed at the end of the turn */
};

static void request_free(struct request *request)
{
	g_free(request->line);
	reply_clear(&request->reply);
	g_free(request);
}

static void connection_free(struct connection *connection)
{
	source_drop(&connection->reader);
	source_drop(&connection->writer);
	record_reader_clear(&connection->records);
	g_string_free(connection->out, TRUE);
	g_object_unref(connection->socket);
	if (connection->request)
		request_free(connection->request);
	g_free(connection);
}

static void free_connection(gpointer connection)
{
	connection_free(connection);
}

/* ---- time ---- */

static void wake(struct link *link)
{
	if (link->turn)
		g_source_set_ready_time(link->turn, 0);
}

/* Calls done() in a turn of the link, not here. */
static void fail(struct request *request, enum control_status status, const char *why)
{
	reply_clear(&request->reply);
	request->failed = true;
	request->reply = (struct reply){.status = status, .output = g_strdup(why)};
}

/* The request of a connection that is gone has failed and waits for its done(). */
static void drop(struct connection *connection, enum control_status status, const char *why)
{
	struct link *link = connection->link;
	struct request *request = connection->request;

	connection->request = NULL;
	if (request) {
		fail(request, status, why);
		g_queue_push_head(&link->waiting, request);
	}
	source_drop(&connection->reader);
	source_drop(&connection->writer);
	g_ptr_array_remove(link->connections, connection);
	g_ptr_array_add(link->dropped, connection);
	wake(link);
}

static void drop_for(struct connection *connection, const GError *error)
{
	int code = error->domain == CLIENT_ERROR ? error->code : CONTROL_UNREACHABLE;

	drop(connection, (enum control_status)code, error->message);
}

/* ---- one connection ---- */

static gboolean on_writable(GSocket *socket, GIOCondition condition, gpointer data)
{
	struct connection *connection = data;
	g_autoptr(GError) error = NULL;
	gssize n = g_socket_send(socket, connection->out->str, connection->out->len, NULL, &error);

	(void)condition;
	if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
		return G_SOURCE_CONTINUE;
	/* A daemon that has closed the connection may have said why: on_readable() sees to it. */
	if (n < 0)
		g_string_truncate(connection->out, 0);
	else
		g_string_erase(connection->out, 0, n);
	if (connection->out->len)
		return G_SOURCE_CONTINUE;
	source_drop(&connection->writer);
	return G_SOURCE_REMOVE;
}

static GSource *attach(struct connection *connection, GIOCondition condition, GSocketSourceFunc run)
{
	GSource *source = g_socket_create_source(connection->socket, condition, NULL);

	g_source_set_callback(source, G_SOURCE_FUNC(run), connection, NULL);
	g_source_attach(source, NULL);
	return source;
}

static void send_line(struct connection *connection, const char *line)
{
	g_string_append(connection->out, line);
	if (!connection->writer)
		connection->writer = attach(connection, G_IO_OUT, on_writable);
}

/* True if the connection lives on. */
static bool take(struct connection *connection, struct reply *reply)
{
	struct request *request = connection->request;

	if (!connection->welcome && reply->status != CONTROL_DONE) {
		drop(connection, reply->status, g_strchomp(reply->output));
		return false;
	}
	if (!connection->welcome && reply->key) {
		drop(connection, CONTROL_REFUSED, "the daemon wants a key");
		return false;
	}
	if (!connection->welcome) {
		connection->welcome = true;
		return true;
	}
	if (!request || reply->more) {
		drop(connection, CONTROL_UNREACHABLE, "this is not an answer of opensm");
		return false;
	}
	connection->request = NULL;
	request->done(request->arg, reply);
	request_free(request);
	wake(connection->link);
	return true;
}

static gboolean on_readable(GSocket *socket, GIOCondition condition, gpointer data)
{
	struct connection *connection = data;
	g_autoptr(GError) error = NULL;
	gssize n = record_reader_receive(&connection->records, socket, &error);
	struct reply reply;
	enum record_result result;

	(void)condition;
	if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
		return G_SOURCE_CONTINUE;
	g_clear_error(&error);
	while ((result = record_reader_next(&connection->records, &reply, &error)) == RECORD_READ) {
		bool lives = take(connection, &reply);

		reply_clear(&reply);
		if (!lives)
			return G_SOURCE_REMOVE;
	}
	if (result == RECORD_NONE && n <= 0)
		record_reader_closed(&connection->records, &error);
	if (!error)
		return G_SOURCE_CONTINUE;
	drop_for(connection, error);
	return G_SOURCE_REMOVE;
}

/* ---- connecting ---- */

/* Of the only daemon that lives. */
static GSocket *open_only(GError **error)
{
	g_autoptr(GPtrArray) alive = NULL;
	GSocket *socket = sockets_open_only(&alive, error);

	if (alive->len > 1)
		client_unreachable(error,
				   "%u daemons have a socket in %s, expected control_socket to "
				   "name one of them",
				   alive->len, sockets_directory());
	return socket;
}

static struct connection *connect_to(struct link *link, GError **error)
{
	GSocket *socket = link->path ? sockets_open(link->path, error) : open_only(error);
	struct connection *connection;

	if (!socket)
		return NULL;
	g_socket_set_blocking(socket, FALSE);
	connection = g_new0(struct connection, 1);
	connection->link = link;
	connection->socket = socket;
	connection->out = g_string_new(NULL);
	record_reader_init(&connection->records);
	connection->reader = attach(connection, G_IO_IN | G_IO_HUP | G_IO_ERR, on_readable);
	send_line(connection, CONTROL_HELLO "\n");
	g_ptr_array_add(link->connections, connection);
	return connection;
}

/* ---- turns ---- */

/* One that can take a request; NULL: none can now, or error. */
static struct connection *free_one(struct link *link, GError **error)
{
	for (guint i = 0; i < link->connections->len; i++) {
		struct connection *connection = link->connections->pdata[i];

		if (!connection->request)
			return connection;
	}
	return link->connections->len < link->max ? connect_to(link, error) : NULL;
}

/* Gives the requests in the queue to connections, and calls done() of those that have failed. */
static void hand_out(struct link *link)
{
	struct request *request;

	while ((request = g_queue_peek_head(&link->waiting))) {
		g_autoptr(GError) error = NULL;
		struct connection *connection = request->failed ? NULL : free_one(link, &error);

		if (!connection && !request->failed && !error)
			return;
		g_queue_pop_head(&link->waiting);
		if (error)
			fail(request, (enum control_status)error->code, error->message);
		if (!connection) {
			request->done(request->arg, &request->reply);
			request_free(request);
			continue;
		}
		connection->request = request;
		send_line(connection, request->line);
	}
}

static gint64 drop_late(struct link *link)
{
	gint64 now = g_get_monotonic_time(), next = -1;

	for (GList *l = link->waiting.head; l; l = l->next) {
		struct request *request = l->data;

		if (!request->failed && request->until_us <= now)
			fail(request, CONTROL_UNREACHABLE, "the daemon is busy");
		else if (!request->failed && (next < 0 || request->until_us < next))
			next = request->until_us;
	}
	for (guint i = link->connections->len; i--;) {
		struct connection *connection = link->connections->pdata[i];

		if (!connection->request)
			continue;
		if (connection->request->until_us <= now)
			drop(connection, CONTROL_UNREACHABLE, "the daemon does not answer");
		else if (next < 0 || connection->request->until_us < next)
			next = connection->request->until_us;
	}
	return next;
}

/* Moves those that have failed to the front, so that they do not wait for a connection. */
static int failed_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct request *left = a, *right = b;

	(void)data;
	return right->failed - left->failed;
}

static gboolean on_turn(gpointer data)
{
	struct link *link = data;
	gint64 next;

	g_source_set_ready_time(link->turn, -1);
	next = drop_late(link);
	g_queue_sort(&link->waiting, failed_first, NULL);
	hand_out(link);
	if (g_source_get_ready_time(link->turn) < 0)
		g_source_set_ready_time(link->turn, next);
	g_ptr_array_set_size(link->dropped, 0);
	return G_SOURCE_CONTINUE;
}

static gboolean dispatch(GSource *source, GSourceFunc run, gpointer data)
{
	(void)source;
	return run(data);
}

static const GSourceFuncs turn_functions = {.dispatch = dispatch};

/* ---- the interface ---- */

struct link *link_new(const char *path, unsigned int connections)
{
	struct link *link = g_new0(struct link, 1);

	link->path = g_strdup(path);
	link->max = connections;
	link->connections = g_ptr_array_new();
	link->dropped = g_ptr_array_new_with_free_func(free_connection);
	g_queue_init(&link->waiting);
	link->turn = g_source_new((GSourceFuncs *)&turn_functions, sizeof(GSource));
	g_source_set_callback(link->turn, on_turn, link, NULL);
	g_source_attach(link->turn, NULL);
	return link;
}

void link_free(struct link *link)
{
	struct request *request;

	if (!link)
		return;
	source_drop(&link->turn);
	for (guint i = 0; i < link->connections->len; i++)
		connection_free(link->connections->pdata[i]);
	g_ptr_array_unref(link->connections);
	g_ptr_array_unref(link->dropped);
	while ((request = g_queue_pop_head(&link->waiting)))
		request_free(request);
	g_free(link->path);
	g_free(link);
}

uint64_t link_ask(struct link *link, const char *line, unsigned int patience_ms, link_done_fn *done,
		  void *arg)
{
	struct request *request = g_new0(struct request, 1);

	request->number = ++link->last;
	request->line = g_strconcat(line, "\n", NULL);
	request->done = done;
	request->arg = arg;
	request->until_us = g_get_monotonic_time() + (gint64)patience_ms * 1000;
	if (link->waiting.length >= LINK_WAITING_MAX)
		fail(request, CONTROL_UNREACHABLE, "too many requests wait for the daemon");
	g_queue_push_tail(&link->waiting, request);
	wake(link);
	return request->number;
}

void link_cancel(struct link *link, uint64_t number)
{
	for (GList *l = link->waiting.head; l; l = l->next) {
		struct request *request = l->data;

		if (request->number != number)
			continue;
		g_queue_delete_link(&link->waiting, l);
		request_free(request);
		return;
	}
	for (guint i = 0; i < link->connections->len; i++) {
		struct connection *connection = link->connections->pdata[i];

		if (!connection->request || connection->request->number != number)
			continue;
		request_free(g_steal_pointer(&connection->request));
		drop(connection, CONTROL_UNREACHABLE, "");
		return;
	}
}

unsigned int link_waiting(const struct link *link)
{
	unsigned int n = link->waiting.length;

	for (guint i = 0; i < link->connections->len; i++) {
		const struct connection *connection = link->connections->pdata[i];

		n += connection->request != NULL;
	}
	return n;
}

static bool needs_quotes(const char *word)
{
	return !*word || strpbrk(word, " \t\"'");
}

char *link_line(const char *const *words, unsigned int n)
{
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned int i = 0; i < n; i++) {
		const char *quote = strchr(words[i], '"') ? "'" : "\"";

		if (strpbrk(words[i], "\r\n") || (strchr(words[i], '"') && strchr(words[i], '\'')))
			return NULL;
		if (!needs_quotes(words[i]))
			quote = "";
		g_string_append_printf(line, "%s%s%s%s", i ? " " : "", quote, words[i], quote);
	}
	return g_string_free(g_steal_pointer(&line), FALSE);
}
