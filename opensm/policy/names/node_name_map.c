// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "policy/names/node_name_map.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "complib/file.h"
#include "complib/hash.h"
#include "core/skipped_lines.h"

struct reader {
	struct skipped_lines skipped; /* first */
	struct node_names *names;
	GHashTable *lines; /* GUID -> number of the line that names it */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static const char *skip_blanks(const char *at)
{
	while (is_blank(*at))
		at++;
	return at;
}

/* Takes the GUID at the start of a line, in hex with 0x, decimal or octal. */
static bool take_guid(const char **at, uint64_t *guid)
{
	char *end;

	if (!g_ascii_isdigit(**at))
		return false;
	errno = 0;
	*guid = g_ascii_strtoull(*at, &end, 0);
	*at = end;
	return !errno && *guid && (!*end || *end == '#' || is_blank(*end));
}

/* Whether it fits on one line of a terminal and cannot change what else is on it. */
static bool is_printable(const char *name)
{
	if (!g_utf8_validate(name, -1, NULL))
		return false;
	for (; *name; name = g_utf8_next_char(name)) {
		gunichar c = g_utf8_get_char(name);
		GUnicodeType type = g_unichar_type(c);

		if (!g_unichar_isprint(c) || type == G_UNICODE_LINE_SEPARATOR ||
		    type == G_UNICODE_PARAGRAPH_SEPARATOR)
			return false;
	}
	return true;
}

/* The name that begins there, which ends at a quote, a '#', or the end of the line. */
static char *name_at(const char *at)
{
	at += *at == '"';
	return g_strstrip(g_strndup(at, strcspn(at, "\"#")));
}

/* Makes a name short enough, but does not cut a character. */
static void shorten(struct reader *reader, char *name)
{
	char *end = name + NODE_NAME_MAX;

	if (strlen(name) <= NODE_NAME_MAX)
		return;
	skip_line(&reader->skipped, name,
		  "a name of at most " G_STRINGIFY(NODE_NAME_MAX) " octets, the rest is cut off");
	if ((*end & 0xC0) == 0x80)
		end = g_utf8_find_prev_char(name, end);
	*end = '\0';
	g_strchomp(name);
}

static void take_name(struct reader *reader, uint64_t guid, char *name)
{
	unsigned int first = GPOINTER_TO_UINT(g_hash_table_lookup(reader->lines, &guid));
	g_autofree char *expected = NULL;

	if (!is_printable(name)) {
		skip_line(&reader->skipped, name, "a name in UTF-8 without control characters");
	} else if (first) {
		expected = g_strdup_printf("one line for 0x%016" PRIx64
					   ", which line %u has named already",
					   guid, first);
		skip_line(&reader->skipped, name, expected);
	} else {
		shorten(reader, name);
		node_names_add(reader->names, guid, name);
		g_hash_table_insert(reader->lines, g_memdup2(&guid, sizeof(guid)),
				    GUINT_TO_POINTER(reader->skipped.number));
	}
}

static void take_line(struct skipped_lines *skipped, char *line)
{
	struct reader *reader = (struct reader *)skipped;
	const char *at = skip_blanks(line);
	g_autofree char *name = NULL;
	uint64_t guid;

	if (!*at || *at == '#')
		return;
	if (!take_guid(&at, &guid)) {
		skip_line(&reader->skipped, line,
			  "the GUID of a node or a port, as 0x and hex digits, and a "
			  "name");
		return;
	}
	name = name_at(skip_blanks(at));
	if (*name)
		take_name(reader, guid, name);
}

struct node_names *node_name_map_parse(const char *file, const char *text, size_t length)
{
	struct node_names *names = node_names_new();
	struct reader reader = {
		.skipped = {.file = file, .warnings = names->warnings},
		.names = names,
		.lines = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL),
	};

	skipped_lines_read(&reader.skipped, text, length, take_line);
	g_hash_table_unref(reader.lines);
	return names;
}

struct node_names *node_name_map_load(const char *file, bool must_start, GError **error)
{
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	struct node_names *names;
	gsize length;

	if (!file || !*file)
		return node_names_new();
	text = file_read(file, FILE_MAX_CONFIG, &length, &failure);
	if (text)
		return node_name_map_parse(file, text, length);
	if (!must_start || !g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_propagate_error(error, g_steal_pointer(&failure));
		return NULL;
	}
	names = node_names_new();
	g_ptr_array_add(names->warnings,
			g_strdup_printf("node_name_map_name: %s; nodes have their own names",
					failure->message));
	return names;
}
