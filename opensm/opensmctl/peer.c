// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text before a record is for people: it is used only if no record follows, as the reason. A
 * daemon's output is not trusted to be short or well-formed.
 */
#include "opensmctl/peer.h"

#include <gio/gunixfdmessage.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536
#define MAX_RECORD (64u << 20)

struct peer {
	GIOStream *stream;
	GString *input; /* not processed yet */
	size_t record;	/* of input: a record begins at or after this */
	size_t end;	/* of input: it ends at or after this */
	bool heard;	/* something was received */
	int file;	/* that was received and not handed on yet; 0: none */
};

GQuark peer_error_quark(void)
{
	return g_quark_from_static_string("peer-error");
}

struct peer *peer_new(GIOStream *stream)
{
	struct peer *peer = g_new0(struct peer, 1);

	peer->stream = g_object_ref(stream);
	peer->input = g_string_new(NULL);
	return peer;
}

void peer_free(struct peer *peer)
{
	if (!peer)
		return;
	g_object_unref(peer->stream);
	g_string_free(peer->input, TRUE);
	if (peer->file)
		close(peer->file);
	g_free(peer);
}

G_GNUC_PRINTF(2, 3)
static bool unreachable(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(PEER_ERROR, CONTROL_UNREACHABLE, format, args));
	va_end(args);
	return false;
}

/* The daemon closed the connection: its last text is the reason. */
static bool closed(struct peer *peer, GError **error)
{
	g_autofree char *words = g_strndup(peer->input->str, MIN(peer->input->len, 1000));

	g_strstrip(words);
	g_string_truncate(peer->input, 0);
	return unreachable(error, "the daemon closed the connection%s%s", *words ? ": " : "",
			   words);
}

/*
 * With TLS 1.3 a daemon that refuses our certificate closes the connection after the handshake,
 * often without an alert; for other reasons it sends a text or closes TLS properly.
 */
static bool is_certificate_refused(const struct peer *peer, const GError *trouble)
{
	return G_IS_TLS_CONNECTION(peer->stream) && !peer->heard && trouble;
}

static bool refused(GError **error)
{
	g_set_error(error, PEER_ERROR, CONTROL_REFUSED,
		    "the daemon closed the connection before it answered; it does so if the "
		    "client certificate (--cert) is missing or not accepted");
	return false;
}

static GSocket *unix_socket(const struct peer *peer)
{
	GSocket *socket =
		G_IS_SOCKET_CONNECTION(peer->stream)
			? g_socket_connection_get_socket(G_SOCKET_CONNECTION(peer->stream))
			: NULL;

	return socket && g_socket_get_family(socket) == G_SOCKET_FAMILY_UNIX ? socket : NULL;
}

bool peer_sends_files(const struct peer *peer)
{
	return unix_socket(peer) != NULL;
}

/* Keeps the last file; a daemon sends one at a time. */
static void take_files(struct peer *peer, GSocketControlMessage *message)
{
	int *files = NULL, n = 0;

	if (G_IS_UNIX_FD_MESSAGE(message))
		files = g_unix_fd_message_steal_fds(G_UNIX_FD_MESSAGE(message), &n);
	for (int i = 0; i < n; i++) {
		if (peer->file)
			close(peer->file);
		peer->file = files[i];
	}
	g_free(files);
	g_object_unref(message);
}

static gssize read_socket(struct peer *peer, GSocket *socket, char *chunk, GError **error)
{
	GInputVector vector = {chunk, CHUNK};
	GSocketControlMessage **messages = NULL;
	int n_messages = 0, flags = 0;
	gssize n = g_socket_receive_message(socket, NULL, &vector, 1, &messages, &n_messages,
					    &flags, NULL, error);

	for (int i = 0; i < n_messages; i++)
		take_files(peer, messages[i]);
	g_free(messages);
	return n;
}

/* Reads more input; false at its end, or if it does not arrive in time. */
static bool read_more(struct peer *peer, GError **error)
{
	GInputStream *in = g_io_stream_get_input_stream(peer->stream);
	GSocket *socket = unix_socket(peer);
	g_autoptr(GError) trouble = NULL;
	char chunk[CHUNK];
	gssize n = socket ? read_socket(peer, socket, chunk, &trouble)
			  : g_input_stream_read(in, chunk, sizeof(chunk), NULL, &trouble);

	if (g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
		return unreachable(error, "the daemon does not answer");
	if (is_certificate_refused(peer, trouble))
		return refused(error);
	if (n <= 0)
		return closed(peer, error);
	peer->heard = true;
	g_string_append_len(peer->input, chunk, n);
	return true;
}

/* ---- records ---- */

static JsonObject *parse(JsonParser *parser, const char *json)
{
	JsonNode *root;

	if (!json_parser_load_from_data(parser, json, -1, NULL))
		return NULL;
	root = json_parser_get_root(parser);
	return root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
}

/* The member if it has this type, else NULL. */
static JsonNode *member(JsonObject *object, const char *name, GType type)
{
	JsonNode *node = json_object_get_member(object, name);

	return node && json_node_get_value_type(node) == type ? node : NULL;
}

static bool flag(JsonObject *object, const char *name)
{
	JsonNode *node = member(object, name, G_TYPE_BOOLEAN);

	return node && json_node_get_boolean(node);
}

static bool take_record(struct peer *peer, const char *json, struct reply *reply, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = parse(parser, json);
	JsonNode *status = object ? member(object, "status", G_TYPE_INT64) : NULL;
	JsonNode *output = object ? member(object, "output", G_TYPE_STRING) : NULL;

	if (!status || json_node_get_int(status) < 0 || json_node_get_int(status) > 125)
		return unreachable(error, "this is not an answer of opensm");
	if (flag(object, "file") && !peer->file)
		return unreachable(error, "the daemon has sent no file");
	*reply = (struct reply){
		.status = (enum control_status)json_node_get_int(status),
		.output = g_strdup(output ? json_node_get_string(output) : ""),
		.more = flag(object, "more"),
		.key = flag(object, "key"),
	};
	if (flag(object, "file")) {
		reply->file = peer->file;
		peer->file = 0;
	}
	return true;
}

/* Removes a whole record from the input; NULL if there is none yet. */
static char *cut_record(struct peer *peer)
{
	GString *input = peer->input;
	char *json;

	while (peer->record < input->len && input->str[peer->record] != CONTROL_RECORD)
		peer->record++;
	peer->end = MAX(peer->end, peer->record);
	while (peer->end < input->len && input->str[peer->end] != '\n')
		peer->end++;
	if (peer->end >= input->len)
		return NULL;
	json = g_strndup(input->str + peer->record + 1, peer->end - peer->record - 1);
	g_string_erase(input, 0, (gssize)peer->end + 1);
	peer->record = peer->end = 0;
	return json;
}

bool peer_receive(struct peer *peer, struct reply *reply, GError **error)
{
	g_autofree char *json = NULL;

	while (!(json = cut_record(peer))) {
		if (peer->input->len > MAX_RECORD)
			return unreachable(error, "the answer does not end");
		if (!read_more(peer, error))
			return false;
	}
	return take_record(peer, json, reply, error);
}

bool peer_send(struct peer *peer, const char *line)
{
	g_autofree char *text = g_strconcat(line, "\n", NULL);
	GOutputStream *out = g_io_stream_get_output_stream(peer->stream);
	bool good = g_output_stream_write_all(out, text, strlen(text), NULL, NULL, NULL);

	explicit_bzero(text, strlen(text)); /* it may be a key */
	return good;
}

/* A daemon that has closed the connection has said why, so its text is read in any case. */
bool peer_ask(struct peer *peer, const char *line, struct reply *reply, GError **error)
{
	peer_send(peer, line);
	return peer_receive(peer, reply, error);
}

bool peer_has_input(struct peer *peer)
{
	GInputStream *in = g_io_stream_get_input_stream(peer->stream);

	return peer->input->len || g_pollable_input_stream_is_readable(G_POLLABLE_INPUT_STREAM(in));
}
