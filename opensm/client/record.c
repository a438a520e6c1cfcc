// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Text before a record is for people: it is used only if no record follows, as the reason. */
#include "client/record.h"

#include <gio/gunixfdmessage.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536

GQuark client_error_quark(void)
{
	return g_quark_from_static_string("client-error");
}

bool client_unreachable(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error,
			  g_error_new_valist(CLIENT_ERROR, CONTROL_UNREACHABLE, format, args));
	va_end(args);
	return false;
}

void reply_clear(struct reply *reply)
{
	g_free(reply->output);
	if (reply->file)
		close(reply->file);
	*reply = (struct reply){0};
}

void record_reader_init(struct record_reader *reader)
{
	*reader = (struct record_reader){.input = g_string_new(NULL)};
}

void record_reader_clear(struct record_reader *reader)
{
	if (reader->input)
		g_string_free(reader->input, TRUE);
	if (reader->file)
		close(reader->file);
	*reader = (struct record_reader){0};
}

void record_reader_add(struct record_reader *reader, const char *octets, size_t n)
{
	g_string_append_len(reader->input, octets, (gssize)n);
}

void record_reader_add_file(struct record_reader *reader, int file)
{
	if (reader->file)
		close(reader->file);
	reader->file = file;
}

bool record_reader_closed(struct record_reader *reader, GError **error)
{
	g_autofree char *words = g_strndup(reader->input->str, MIN(reader->input->len, 1000));

	g_strstrip(words);
	g_string_truncate(reader->input, 0);
	return client_unreachable(error, "the daemon closed the connection%s%s", *words ? ": " : "",
				  words);
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

static bool take(struct record_reader *reader, const char *json, struct reply *reply,
		 GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = parse(parser, json);
	JsonNode *status = object ? member(object, "status", G_TYPE_INT64) : NULL;
	JsonNode *output = object ? member(object, "output", G_TYPE_STRING) : NULL;

	if (!status || json_node_get_int(status) < 0 || json_node_get_int(status) > 125)
		return client_unreachable(error, "this is not an answer of opensm");
	if (flag(object, "file") && !reader->file)
		return client_unreachable(error, "the daemon has sent no file");
	*reply = (struct reply){
		.status = (enum control_status)json_node_get_int(status),
		.output = g_strdup(output ? json_node_get_string(output) : ""),
		.more = flag(object, "more"),
		.key = flag(object, "key"),
	};
	if (flag(object, "file")) {
		reply->file = reader->file;
		reader->file = 0;
	}
	return true;
}

/* Removes a whole record from the input; NULL if there is none yet. */
static char *cut(struct record_reader *reader)
{
	GString *input = reader->input;
	char *json;

	while (reader->record < input->len && input->str[reader->record] != CONTROL_RECORD)
		reader->record++;
	reader->end = MAX(reader->end, reader->record);
	while (reader->end < input->len && input->str[reader->end] != '\n')
		reader->end++;
	if (reader->end >= input->len)
		return NULL;
	json = g_strndup(input->str + reader->record + 1, reader->end - reader->record - 1);
	g_string_erase(input, 0, (gssize)reader->end + 1);
	reader->record = reader->end = 0;
	return json;
}

enum record_result record_reader_next(struct record_reader *reader, struct reply *reply,
				      GError **error)
{
	g_autofree char *json = cut(reader);

	if (json)
		return take(reader, json, reply, error) ? RECORD_READ : RECORD_WRONG;
	if (reader->input->len <= RECORD_MAX)
		return RECORD_NONE;
	client_unreachable(error, "the answer does not end");
	return RECORD_WRONG;
}

/* ---- receiving ---- */

static void take_files(struct record_reader *reader, GSocketControlMessage *message)
{
	int *files = NULL, n = 0;

	if (G_IS_UNIX_FD_MESSAGE(message))
		files = g_unix_fd_message_steal_fds(G_UNIX_FD_MESSAGE(message), &n);
	for (int i = 0; i < n; i++)
		record_reader_add_file(reader, files[i]);
	g_free(files);
	g_object_unref(message);
}

gssize record_reader_receive(struct record_reader *reader, GSocket *socket, GError **error)
{
	char chunk[CHUNK];
	GInputVector vector = {chunk, CHUNK};
	GSocketControlMessage **messages = NULL;
	int n_messages = 0, flags = 0;
	gssize n = g_socket_receive_message(socket, NULL, &vector, 1, &messages, &n_messages,
					    &flags, NULL, error);

	for (int i = 0; i < n_messages; i++)
		take_files(reader, messages[i]);
	g_free(messages);
	if (n > 0)
		record_reader_add(reader, chunk, (size_t)n);
	return n;
}
