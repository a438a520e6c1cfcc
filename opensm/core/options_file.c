// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm.conf: lines of "key value". A # outside quotes starts a comment; a value may be in single
 * or double quotes; (null) unsets it. The file is not trusted: it may be binary. All errors of a
 * file are reported at once; one is enough to refuse the file.
 */
#include "core/options_private.h"

#include <complib/file.h>
#include <string.h>

#define FILE_BYTES_MAX (UINT64_C(16) << 20)

struct reader {
	struct options *options;
	const char *file;
	unsigned int line;
	unsigned int seen[OPTION_COUNT]; /* line of each key; 0: absent */
	GString *mistakes;
	unsigned int mistake_count;
	GPtrArray *warnings;
	unsigned int warning_count;
	unsigned int unknown_count; /* unknown keys, limited apart from other errors */
};

static void G_GNUC_PRINTF(2, 3) add_mistake(struct reader *reader, const char *format, ...)
{
	va_list args;

	if (++reader->mistake_count > OPTIONS_REPORT_LIMIT)
		return;
	g_string_append_printf(reader->mistakes, "%s%s:%u: ", reader->mistakes->len ? "\n" : "",
			       reader->file, reader->line);
	va_start(args, format);
	g_string_append_vprintf(reader->mistakes, format, args);
	va_end(args);
}

static void G_GNUC_PRINTF(3, 4)
	add_warning(struct reader *reader, unsigned int *count, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	if (++*count > OPTIONS_REPORT_LIMIT)
		return;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	options_warn(reader->warnings, "%s:%u: %s", reader->file, reader->line, text);
}

/* ---- one line ---- */

static bool blank_or_comment(const char *text)
{
	text += strspn(text, " \t");
	return !*text || *text == '#';
}

/* The quote that ends the value: the first one followed by nothing but blanks or a comment. */
static const char *closing_quote(const char *text, char quote)
{
	const char *p = text;

	while ((p = strchr(p, quote)) && !blank_or_comment(p + 1))
		p++;
	return p;
}

char *options_file_value(const char *text)
{
	const char *end;

	text += strspn(text, " \t");
	if (*text == '"' || *text == '\'') {
		end = closing_quote(text + 1, *text);
		return end ? g_strndup(text + 1, (gsize)(end - text - 1)) : NULL;
	}
	end = text + strcspn(text, "#");
	while (end > text && g_ascii_isspace(end[-1]))
		end--;
	return g_strndup(text, (gsize)(end - text));
}

static int find_key(const char *key)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (option_table[id].scope != OPTION_SCOPE_COMMAND &&
		    strcmp(option_table[id].name, key) == 0)
			return (int)id;
	for (unsigned int i = 0; i < option_alias_count; i++)
		if (strcmp(option_aliases[i].old, key) == 0)
			return (int)option_aliases[i].id;
	return -1;
}

static bool is_key(const char *key)
{
	for (const char *p = key; *p; p++)
		if (!g_ascii_isalnum(*p) && *p != '_' && *p != '-')
			return false;
	return true;
}

/* The flag of an option that may not be in a file; NULL: it may. */
static const char *command_flag(const char *key)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (option_table[id].scope == OPTION_SCOPE_COMMAND &&
		    strcmp(option_table[id].name, key) == 0)
			return option_table[id].flag;
	return NULL;
}

static void unknown_key(struct reader *reader, const char *key)
{
	g_autofree char *shown = option_printable(key), *small = g_ascii_strdown(key, -1);
	const char *nearest = NULL;

	/* Comparing each line of a big file of another kind would take minutes. */
	if (reader->unknown_count < OPTIONS_REPORT_LIMIT)
		nearest = option_nearest(small, false);
	if (command_flag(key))
		add_warning(reader, &reader->unknown_count,
			    "%s is ignored: it is only valid on the command line, as --%s", shown,
			    command_flag(key));
	else if (!is_key(key))
		add_mistake(reader, "'%s' is not a key followed by a value%s", shown,
			    strpbrk(key, "=:") ? "; write them without '=' or ':'" : "");
	else if (nearest)
		add_warning(reader, &reader->unknown_count,
			    "unknown key '%s' ignored; did you mean %s?", shown, nearest);
	else
		add_warning(reader, &reader->unknown_count, "unknown key '%s' ignored", shown);
}

static void note_duplicate(struct reader *reader, unsigned int id)
{
	const struct option *option = &option_table[id];

	if (reader->seen[id] && option->kind != OPTION_KIND_PER_SL)
		add_warning(reader, &reader->warning_count, "%s: overrides line %u", option->name,
			    reader->seen[id]);
	reader->seen[id] = reader->options->line[id] = reader->line;
}

/* Warns of values that the classic daemon reads differently, or warns about. */
static void note_value(struct reader *reader, const struct option *option, const char *value)
{
	const void *field = option_field(reader->options, option - option_table);
	const char *list = option->kind == OPTION_KIND_SL2VL ? *(char *const *)field : NULL;

	if (option->kind == OPTION_KIND_BOOL && strcmp(value, "TRUE") && strcmp(value, "FALSE"))
		add_warning(reader, &reader->warning_count,
			    "%s: '%s' counts as %s; OpenSM 3.3 takes everything but TRUE as FALSE",
			    option->name, value, *(const bool *)field ? "TRUE" : "FALSE");
	if (list && strlen(list) > strlen(value))
		add_warning(reader, &reader->warning_count,
			    "%s: fewer than 16 VLs, the other SLs are on VL 0", option->name);
}

/* An error in an option without effect does not prevent the start. */
static void refuse_value(struct reader *reader, const struct option *option, const char *why)
{
	if (option->state == OPTION_STATE_WORKS)
		add_mistake(reader, "%s: %s", option->name, why);
	else
		add_warning(reader, &reader->warning_count,
			    "%s: %s; it is ignored, as the key has no effect", option->name, why);
}

static void set_value(struct reader *reader, unsigned int id, const char *rest)
{
	const struct option *option = &option_table[id];
	g_autofree char *value = options_file_value(rest);
	g_autofree char *mistake = NULL;

	note_duplicate(reader, id);
	if (!value) {
		mistake = g_strdup("the quote that opens its value is not closed");
	} else if (!*value && !option_is_text(option)) {
		g_autofree char *expected = option_expected(option, false);

		mistake = g_strdup_printf("has no value; expected %s", expected);
	} else {
		mistake = option_parse(option, option_field(reader->options, id), value, false);
	}
	if (mistake) {
		refuse_value(reader, option, mistake);
		return;
	}
	note_value(reader, option, value);
	reader->options->source[id] = OPTION_FROM_FILE;
}

static void parse_line(struct reader *reader, char *line)
{
	size_t length;
	int id;

	g_strchomp(line);
	line += strspn(line, " \t");
	if (blank_or_comment(line))
		return;
	length = strcspn(line, " \t#");
	g_autofree char *key = g_strndup(line, length);

	id = find_key(key);
	if (id < 0)
		unknown_key(reader, key);
	else
		set_value(reader, (unsigned int)id, line + length);
}

/* ---- the file ---- */

static void parse_text(struct reader *reader, char *text, size_t length)
{
	char *end = text + length;

	while (text < end) {
		char *newline = memchr(text, '\n', (size_t)(end - text));
		char *next = newline ? newline + 1 : end;

		reader->line++;
		if (memchr(text, '\0', (size_t)(next - text))) {
			/* In a binary file, more messages would hide this one. */
			add_mistake(reader, "holds a zero byte: this is not a text file");
			return;
		}
		if (newline)
			*newline = '\0';
		parse_line(reader, text);
		text = next;
	}
}

static bool finish(struct reader *reader, GError **error)
{
	if (reader->warning_count > OPTIONS_REPORT_LIMIT)
		options_warn(reader->warnings, "%s: %u more warnings", reader->file,
			     reader->warning_count - OPTIONS_REPORT_LIMIT);
	if (reader->unknown_count > OPTIONS_REPORT_LIMIT)
		options_warn(reader->warnings, "%s: %u more unknown keys ignored", reader->file,
			     reader->unknown_count - OPTIONS_REPORT_LIMIT);
	if (reader->mistake_count > OPTIONS_REPORT_LIMIT)
		g_string_append_printf(reader->mistakes, "\n%s: %u more mistakes", reader->file,
				       reader->mistake_count - OPTIONS_REPORT_LIMIT);
	if (reader->mistake_count)
		g_set_error_literal(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
				    reader->mistakes->str);
	return !reader->mistake_count;
}

bool options_file_parse(struct options *options, const char *file, char *text, size_t length,
			GPtrArray *warnings, GError **error)
{
	struct reader reader = {.options = options, .file = file, .warnings = warnings};
	bool good;

	reader.mistakes = g_string_new(NULL);
	options->file_is_cut = length && text[length - 1] != '\n';
	parse_text(&reader, text, length);
	if (options->file_is_cut)
		add_warning(&reader, &reader.warning_count,
			    "the last line has no newline at its end: the file may be cut off, "
			    "and options after it are missing");
	good = finish(&reader, error);
	g_string_free(reader.mistakes, TRUE);
	return good;
}

bool options_file_read(struct options *options, const char *file, GPtrArray *warnings,
		       GError **error)
{
	g_autoptr(GError) why = NULL;
	gsize length;
	g_autofree char *text = file_read(file, FILE_BYTES_MAX, &length, &why);

	if (text)
		return options_file_parse(options, file, text, length, warnings, error);
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE, "%s%s", why->message,
		    g_str_has_suffix(file, ".log") ? "; -F names the options file, -f the log file"
						   : "");
	return false;
}
