// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "opensmctl/stream.h"

#include <inttypes.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "client/json.h"
#include "opensmctl/show.h"

/* ---- the command line ---- */

bool stream_is_meant(char *const *words)
{
	if (!words || g_strcmp0(words[0], "events") != 0)
		return false;
	return g_strv_contains((const char *const *)words, "--follow");
}

/* "[RUN:]SERIAL" */
static bool parse_since(struct stream *stream, const char *text, GError **error)
{
	const char *colon = strchr(text, ':');
	g_autofree char *run = colon ? g_strndup(text, (gsize)(colon - text)) : NULL;
	guint64 number = 0, serial = 0;
	bool good =
		!run || (g_str_has_prefix(run, "0x") &&
			 g_ascii_string_to_unsigned(run + 2, 16, 1, G_MAXUINT64, &number, NULL));

	if (!good || !g_ascii_string_to_unsigned(colon ? colon + 1 : text, 10, 0, G_MAXINT64,
						 &serial, NULL)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--since: '%s': expected SERIAL or RUN:SERIAL, as in the lines of an "
			    "earlier stream",
			    text);
		return false;
	}
	stream->run = run ? g_strdup_printf("0x%016" PRIx64, number) : NULL;
	stream->serial = serial;
	stream->since = true;
	return true;
}

/* The daemon knows the kinds; here the list has to be one word. */
static bool parse_kinds(struct stream *stream, const char *text, GError **error)
{
	if (*text && strspn(text, "abcdefghijklmnopqrstuvwxyz_,") == strlen(text)) {
		stream->kinds = g_strdup(text);
		return true;
	}
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "--kind: '%s': expected kinds of events, separated by commas", text);
	return false;
}

static bool expect_no_more(char *const *rest, GError **error)
{
	if (!rest)
		return true;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "'%s': expected --since, --kind or --json", rest[0]);
	return false;
}

bool stream_parse(struct stream *stream, char *const *words, GError **error)
{
	g_autofree char *since = NULL, *kinds = NULL;
	g_auto(GStrv) rest = NULL, argv = NULL;
	gboolean json = FALSE, follow = FALSE;
	const GOptionEntry entries[] = {
		{"follow", 0, 0, G_OPTION_ARG_NONE, &follow, NULL, NULL},
		{"json", 'j', 0, G_OPTION_ARG_NONE, &json, NULL, NULL},
		{"since", 0, 0, G_OPTION_ARG_STRING, &since, NULL, NULL},
		{"kind", 0, 0, G_OPTION_ARG_STRING, &kinds, NULL, NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &rest, NULL, NULL},
		{NULL}};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);

	argv = g_strdupv((char **)words);
	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse_strv(context, &argv, error))
		return false;
	stream->json |= json;
	return expect_no_more(rest, error) && (!since || parse_since(stream, since, error)) &&
	       (!kinds || parse_kinds(stream, kinds, error));
}

void stream_clear(struct stream *stream)
{
	g_clear_pointer(&stream->kinds, g_free);
	g_clear_pointer(&stream->run, g_free);
}

/* ---- lines ---- */

static void append_json(GString *lines, JsonObject *object)
{
	g_autoptr(JsonNode) node = json_node_init_object(json_node_alloc(), object);
	g_autofree char *text = json_to_string(node, FALSE);
	g_autofree char *harmless = show_harmless(text);

	g_string_append_printf(lines, "%s\n", harmless);
}

/* One line for people, whatever the parts hold. */
static void append_text(GString *lines, const char *serial, JsonObject *row)
{
	gint64 times = json_number(row, "times");
	g_autofree char *more = times > 1 ? g_strdup_printf(" (%" PRId64 " times, last %s)", times,
							    json_text(row, "last"))
					  : g_strdup("");
	g_autofree char *line =
		g_strdup_printf("%s %s %-7s %s%s", serial, json_text(row, "time"),
				json_text(row, "kind"), json_text(row, "text"), more);
	g_autofree char *harmless = show_harmless(g_strdelimit(line, "\n\t", ' '));

	g_string_append_printf(lines, "%s\n", harmless);
}

static void append(const struct stream *stream, GString *lines, JsonObject *row)
{
	g_autofree char *serial = g_strdup_printf("%" PRIu64, stream->serial);

	if (stream->json)
		append_json(lines, row);
	else
		append_text(lines, serial, row);
}

static void copy_member(JsonObject *row, const char *name, JsonNode *node, void *data)
{
	(void)row;
	json_object_set_member(data, name, json_node_copy(node));
}

static void tell_event(struct stream *stream, GString *lines, JsonObject *row)
{
	g_autoptr(JsonObject) full = json_object_new();

	stream->serial = (uint64_t)MAX(json_number(row, "serial"), 0);
	json_object_set_string_member(full, "run", stream->run);
	json_object_foreach_member(row, copy_member, full);
	append(stream, lines, full);
}

static JsonObject *new_row(const struct stream *stream, const char *change, const char *text)
{
	g_autoptr(GDateTime) now = g_date_time_new_now_local();
	g_autofree char *time = g_date_time_format(now, "%Y-%m-%dT%H:%M:%S.%f");
	JsonObject *row = json_object_new();

	json_object_set_string_member(row, "run", stream->run ? stream->run : "");
	json_object_set_int_member(row, "serial", (gint64)stream->serial);
	json_object_set_string_member(row, "time", time);
	json_object_set_string_member(row, "kind", "stream");
	json_object_set_string_member(row, "change", change);
	json_object_set_string_member(row, "text", text);
	return row;
}

/* What the subnet is as of this line: from here events say what changes. */
static void tell_state(const struct stream *stream, GString *lines, JsonObject *answer,
		       const char *change, const char *what)
{
	g_autofree char *text =
		g_strdup_printf("%s: run %s, %s, generation %" PRId64, what, stream->run,
				json_text(answer, "state"), json_number(answer, "generation"));
	g_autoptr(JsonObject) row = new_row(stream, change, text);

	json_object_set_string_member(row, "state", json_text(answer, "state"));
	json_object_set_int_member(row, "generation", json_number(answer, "generation"));
	append(stream, lines, row);
}

static void tell_gap(struct stream *stream, GString *lines, JsonObject *answer)
{
	gint64 missed = json_number(answer, "missed");
	uint64_t after = stream->serial;
	g_autofree char *text = NULL;
	g_autoptr(JsonObject) row = NULL;

	if (missed <= 0)
		return;
	stream->serial += (uint64_t)missed;
	text = g_strdup_printf("up to %" PRId64 " events after %" PRIu64 " were missed, events "
			       "are complete again after %" PRIu64,
			       missed, after, stream->serial);
	row = new_row(stream, "gap", text);
	json_object_set_int_member(row, "after", (gint64)after);
	json_object_set_int_member(row, "missed", missed);
	json_object_set_int_member(row, "generation", json_number(answer, "generation"));
	append(stream, lines, row);
}

/* ---- questions and answers ---- */

char *stream_question(const struct stream *stream, bool waits)
{
	g_autofree char *wait = waits ? g_strdup_printf(" wait %d", STREAM_WAIT_S) : g_strdup("");

	if (!stream->since)
		return g_strdup("events 0 json");
	return g_strdup_printf("events since %" PRIu64 "%s%s%s json", stream->serial,
			       stream->kinds ? " kind " : "", stream->kinds ? stream->kinds : "",
			       wait);
}

/* The serial is of an earlier run: all events of the present one are new. */
static void begin_run(struct stream *stream, GString *lines, JsonObject *answer)
{
	g_free(stream->run);
	stream->run = g_strdup(json_text(answer, "run"));
	stream->serial = 0;
	tell_state(stream, lines, answer, "run", "the daemon was started again");
}

/* The first answer of a connection. True: it is of the run that was asked about. */
static bool join(struct stream *stream, GString *lines, JsonObject *answer)
{
	uint64_t present = (uint64_t)MAX(json_number(answer, "serial"), 0);
	bool same = !stream->run || !strcmp(stream->run, json_text(answer, "run"));
	bool back = stream->started;

	stream->started = stream->joined = true;
	if (!same || (stream->since && stream->serial > present)) {
		begin_run(stream, lines, answer);
		return false;
	}
	if (!stream->run)
		stream->run = g_strdup(json_text(answer, "run"));
	if (!stream->since)
		stream->serial = present;
	stream->since = true;
	tell_state(stream, lines, answer, back ? "back" : "start",
		   back ? "connected again" : "the stream starts");
	return true;
}

bool stream_take(struct stream *stream, const char *text, GString *lines, bool *waits)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GBytes) octets = g_bytes_new_static(text, strlen(text));
	JsonObject *answer = json_read(parser, octets);
	JsonArray *events = json_list(answer, "events");

	*waits = false;
	if (!events || !*json_text(answer, "run"))
		return false;
	if (!stream->joined && !join(stream, lines, answer))
		return true;
	tell_gap(stream, lines, answer);
	for (guint i = 0; i < json_rows(events); i++)
		if (json_row(events, i))
			tell_event(stream, lines, json_row(events, i));
	stream->serial = MAX(stream->serial, (uint64_t)MAX(json_number(answer, "serial"), 0));
	*waits = !json_flag(answer, "more") || !json_rows(events);
	return true;
}

void stream_lose(struct stream *stream, const char *why, GString *lines)
{
	g_autofree char *text = g_strdup_printf("the connection is lost: %s", why);
	g_autoptr(JsonObject) row = NULL;

	if (stream->joined) {
		row = new_row(stream, "lost", text);
		append(stream, lines, row);
	}
	stream->joined = false;
}
