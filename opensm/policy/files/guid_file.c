// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads files of GUIDs, as a whole or not at all. */
#include "policy/files/guid_file.h"

#include <complib/file.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "complib/hash.h"
#include "core/mistakes.h"

#define SHOWN 64 /* characters of a wrong line or word shown in a message */

GQuark guid_file_error_quark(void)
{
	return g_quark_from_static_string("guid-file-error-quark");
}

/* A line being read. */
struct line {
	const char *file, *text;
	unsigned int number;
	const struct guid_file_form *form;
	GPtrArray *warnings;
};

/* The first of a kind in a file is reported, the others are counted: see tell_more(). */
G_GNUC_PRINTF(3, 4)
static void warn(const struct line *line, uint32_t *n, const char *format, ...)
{
	g_autofree char *raw = NULL, *escaped = NULL;
	va_list args;

	if ((*n)++ || !line->warnings)
		return;
	va_start(args, format);
	raw = g_strdup_vprintf(format, args);
	va_end(args);
	escaped = g_strescape(raw, "\""); /* it may quote a word of the file */
	g_ptr_array_add(line->warnings,
			g_strdup_printf("%s:%u: %s", line->file, line->number, escaped));
}

static void tell_more(const struct line *line, uint32_t n, const char *what)
{
	if (n > 1 && line->warnings)
		g_ptr_array_add(line->warnings, g_strdup_printf("%s: %u more lines %s", line->file,
								n - 1, what));
}

G_GNUC_PRINTF(3, 4)
static bool refuse(const struct line *line, GError **error, const char *format, ...)
{
	g_autofree char *why = NULL, *raw = NULL, *shown = g_strndup(line->text, SHOWN);
	g_autofree char *escaped = g_strescape(shown, NULL);
	g_autofree char *quoted = g_strdup_printf("'%s'", escaped);
	va_list args;

	va_start(args, format);
	raw = g_strdup_vprintf(format, args);
	va_end(args);
	why = g_strescape(raw, "\""); /* it may quote a word of the file */
	if (g_str_has_prefix(why, quoted)) /* the wrong word is the whole line */
		g_set_error(error, GUID_FILE_ERROR, 0, "%s:%u: %s, expected %s", line->file,
			    line->number, why, line->form->columns);
	else
		g_set_error(error, GUID_FILE_ERROR, 0, "%s:%u: %s: %s, expected %s", line->file,
			    line->number, quoted, why, line->form->columns);
	return false;
}

/* A whole word as a number; base 0 accepts 0x for hex, and ignores leading 0s. */
static bool to_number(const char *word, int base, uint64_t *value)
{
	char *end;

	if (base == 0 && strncmp(word, "0x", 2) && strncmp(word, "0X", 2))
		base = 10;
	if (!g_ascii_isxdigit(*word))
		return false;
	errno = 0;
	*value = g_ascii_strtoull(word, &end, base);
	return !errno && !*end;
}

static bool add_numbers(struct guid_table *table, const struct line *line, char **words,
			struct guid_row *row, GError **error)
{
	const struct guid_file_form *form = line->form;

	for (; *words; words++) {
		uint64_t value;

		if (form->exact && row->n == form->most)
			return refuse(line, error, "'%.*s' is one word too many", SHOWN, *words);
		if (!form->exact && (row->n == form->most || (row->n >= form->least &&
							      !to_number(*words, 0, &value)))) {
			warn(line, &table->n_rest,
			     "'%.*s' is ignored: expected %s, and a # before a comment", SHOWN,
			     *words, form->columns);
			return true;
		}
		if (!to_number(*words, 0, &value) || value > form->max ||
		    (value < form->min && !(form->last_zero && row->n == form->most - 1)))
			return refuse(line, error,
				      "'%.*s' is not a number from %" G_GUINT64_FORMAT
				      " to %" G_GUINT64_FORMAT,
				      SHOWN, *words, form->min, form->max);
		g_array_append_val(table->numbers, value);
		row->n++;
	}
	if (row->n < form->least)
		return refuse(line, error, "%u numbers after the GUID", row->n);
	return true;
}

/* Splits at blanks; the result ends with NULL. */
static GPtrArray *split(char *text)
{
	GPtrArray *words = g_ptr_array_new();
	char *rest = NULL;

	for (char *word = strtok_r(text, " \t\r", &rest); word;
	     word = strtok_r(NULL, " \t\r", &rest))
		g_ptr_array_add(words, word);
	g_ptr_array_add(words, NULL);
	return words;
}

/* If a GUID may occur only once, its last line counts. */
static void add_row(struct guid_table *table, GHashTable *seen, const struct line *line,
		    const struct guid_row *row)
{
	gpointer found = g_hash_table_lookup(seen, &row->guid);
	struct guid_row *old;

	if (!found || line->form->repeated) {
		g_array_append_val(table->rows, *row);
		g_hash_table_insert(seen, g_memdup2(&row->guid, sizeof(row->guid)),
				    GUINT_TO_POINTER(table->rows->len));
		return;
	}
	old = &g_array_index(table->rows, struct guid_row, GPOINTER_TO_UINT(found) - 1);
	warn(line, &table->n_repeated,
	     "GUID 0x%016" PRIx64 " is also in line %u, which this "
	     "line replaces",
	     row->guid, old->line);
	*old = *row;
}

static bool add_line(struct guid_table *table, GHashTable *seen, const struct line *line,
		     GError **error)
{
	g_autofree char *text = g_strndup(line->text, strcspn(line->text, "#"));
	g_autoptr(GPtrArray) words = split(text);
	struct guid_row row = {.first = table->numbers->len, .line = line->number};

	if (!words->pdata[0])
		return true;
	if (!to_number(words->pdata[0], 16, &row.guid) || !row.guid)
		return refuse(line, error, "'%.*s' is not a GUID", SHOWN, (char *)words->pdata[0]);
	if (!add_numbers(table, line, (char **)words->pdata + 1, &row, error))
		return false;
	add_row(table, seen, line, &row);
	return true;
}

void guid_table_free(struct guid_table *table)
{
	if (!table)
		return;
	g_array_unref(table->rows);
	g_array_unref(table->numbers);
	g_free(table);
}

struct guid_table *guid_file_parse(const char *file, const char *text, size_t length,
				   const struct guid_file_form *form, GPtrArray *warnings,
				   GError **error)
{
	struct guid_table *table = g_new0(struct guid_table, 1);
	g_autoptr(GHashTable) seen =
		g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
	struct line line = {.file = file, .form = form, .warnings = warnings};
	const char *end = text + length;
	struct mistakes mistakes = {0};

	table->rows = g_array_new(FALSE, FALSE, sizeof(struct guid_row));
	table->numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	while (text < end) {
		GError *why = NULL;
		bool has_nul;
		g_autofree char *copy = file_next_line(&text, end, &has_nul);

		line.number++;
		line.text = copy;
		if (has_nul)
			refuse(&line, &why, "a NUL octet");
		else
			add_line(table, seen, &line, &why);
		if (why)
			mistakes_take(&mistakes, why);
		if (has_nul)
			break; /* binary file: more messages would hide this one */
	}
	if (!mistakes_end(&mistakes, file, GUID_FILE_ERROR, 0, error)) {
		guid_table_free(table);
		return NULL;
	}
	tell_more(&line, table->n_rest, "with words that are ignored");
	tell_more(&line, table->n_repeated, "that repeat a GUID");
	return table;
}

struct guid_table *guid_file_load(const char *file, const struct guid_file_form *form,
				  GPtrArray *warnings, GError **error)
{
	g_autofree char *text = NULL;
	gsize length;

	text = file_read(file, FILE_MAX_CONFIG, &length, error);
	if (!text)
		return NULL;
	return guid_file_parse(file, text, length, form, warnings, error);
}
