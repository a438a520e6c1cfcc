// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A line of the log as JSON, for collectors: one object per line,
 *
 *	{"time":"2026-11-21T09:15:02.123456Z","level":"info","message":"SUBNET UP","fields":{..}}
 *
 * Fields are those that the system's journal gets, by the same names; their values are strings.
 */
#include <string.h>
#include <time.h>

#include <complib/log.h>

#include "log_private.h"

/* Of the value of a field, which may come from a peer, any octets are possible. */
static void append_string(GString *out, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	g_string_append_c(out, '"');
	for (const char *p = valid; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			g_string_append_c(out, '\\');
		if (c == '\t')
			g_string_append(out, "\\t");
		else if (c < 0x20 || c == 0x7F)
			g_string_append_printf(out, "\\u%04x", c);
		else
			g_string_append_c(out, *p);
	}
	g_string_append_c(out, '"');
}

static void append_key(GString *out, const char *key)
{
	if (out->str[out->len - 1] != '{')
		g_string_append_c(out, ',');
	append_string(out, key);
	g_string_append_c(out, ':');
}

static void append_pair(GString *out, const char *key, const char *value)
{
	append_key(out, key);
	append_string(out, value);
}

/* "NAME=value" */
static void append_field(GString *out, const char *field)
{
	const char *equals = strchr(field, '=');
	g_autofree char *name = g_strndup(field, (size_t)(equals - field));

	append_pair(out, name, equals + 1);
}

/* Words as in the description of the option log_flags. */
static const char *level_word(unsigned int level)
{
	static const struct {
		unsigned int bit;
		const char *word;
	} words[] = {
		{LOG_ERROR, "error"}, {LOG_VERBOSE, "verbose"}, {LOG_DEBUG, "debug"},
		{LOG_FRAMES, "mad"},  {LOG_ROUTING, "routing"},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(words); i++)
		if (level & words[i].bit)
			return words[i].word;
	return "info";
}

void log_json_append(GString *out, const struct log_line *line)
{
	g_autofree char *thread = g_strdup_printf("%ld", line->thread);
	char time[sizeof("2026-11-21T09:15:02")];
	struct tm tm;

	gmtime_r(&line->time.tv_sec, &tm);
	strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &tm);
	g_string_append_printf(out, "{\"time\":\"%s.%06ldZ\"", time, line->time.tv_nsec / 1000);
	append_pair(out, "level", level_word(line->level));
	append_pair(out, "message", line->text);
	append_key(out, "fields");
	g_string_append_c(out, '{');
	if (line->message_id)
		append_pair(out, "MESSAGE_ID", line->message_id);
	append_pair(out, "CODE_FILE", line->file_c);
	append_pair(out, "TID", thread);
	for (unsigned int i = 0; line->fields && i < line->fields->len; i++)
		append_field(out, g_ptr_array_index(line->fields, i));
	for (const char *const *about = line->about; about && *about; about++)
		append_field(out, *about);
	g_string_append(out, "}}");
}
