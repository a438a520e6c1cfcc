// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See partition_sources.h. All texts as one, for each:
 *
 *	file LENGTH NAME
 *	LENGTH octets
 *
 * with the name escaped as in C. Unless all of it is valid, nothing is used.
 */
#include "policy/partition/partition_sources.h"

#include <complib/file.h>
#include <string.h>

#include "complib/handoff.h"

#define WORD "file "

struct source {
	char *name;
	GBytes *text; /* terminated by NUL */
	gsize length; /* without the NUL */
};

struct partition_sources {
	struct ref ref;
	GPtrArray *all; /* struct source */
};

static void source_free(gpointer data)
{
	struct source *source = data;

	g_free(source->name);
	g_bytes_unref(source->text);
	g_free(source);
}

/* Takes ownership of text, which is terminated by NUL. */
static struct source *add(struct partition_sources *sources, const char *name, char *text,
			  gsize length)
{
	struct source *source = g_new0(struct source, 1);

	source->name = g_strdup(name);
	source->text = g_bytes_new_take(text, length + 1);
	source->length = length;
	g_ptr_array_add(sources->all, source);
	return source;
}

struct partition_sources *partition_sources_new(void)
{
	struct partition_sources *sources = g_new0(struct partition_sources, 1);

	ref_init(&sources->ref);
	sources->all = g_ptr_array_new_with_free_func(source_free);
	return sources;
}

struct partition_sources *partition_sources_ref(struct partition_sources *sources)
{
	ref_get(&sources->ref);
	return sources;
}

void partition_sources_unref(struct partition_sources *sources)
{
	if (!sources || !ref_put(&sources->ref))
		return;
	g_ptr_array_unref(sources->all);
	g_free(sources);
}

static const struct source *nth(const struct partition_sources *sources, guint i)
{
	return sources->all->pdata[i];
}

guint partition_sources_n(const struct partition_sources *sources)
{
	return sources->all->len;
}

const char *partition_sources_name(const struct partition_sources *sources, guint i)
{
	return nth(sources, i)->name;
}

bool partition_sources_same(const struct partition_sources *a, const struct partition_sources *b)
{
	bool same = a->all->len == b->all->len;

	for (guint i = 0; same && i < a->all->len; i++)
		same = !strcmp(nth(a, i)->name, nth(b, i)->name) &&
		       g_bytes_equal(nth(a, i)->text, nth(b, i)->text);
	return same;
}

/* ---- reading ---- */

static const struct source *add_kept(struct partition_sources *sources,
				     const struct partition_sources *kept, const char *file,
				     GError **error)
{
	guint i = sources->all->len;
	struct source *source;

	if (i >= kept->all->len || strcmp(nth(kept, i)->name, file) != 0) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			    "%s: is not the file that was read then", file);
		return NULL;
	}
	source = g_new0(struct source, 1);
	*source = *nth(kept, i);
	source->name = g_strdup(source->name);
	g_bytes_ref(source->text);
	g_ptr_array_add(sources->all, source);
	return source;
}

const char *partition_sources_read(struct partition_sources *sources,
				   const struct partition_sources *kept, const char *file,
				   gsize *length, GError **error)
{
	const struct source *source;
	char *text;

	if (kept) {
		source = add_kept(sources, kept, file, error);
	} else {
		text = file_read(file, FILE_MAX_CONFIG, length, error);
		source = text ? add(sources, file, text, *length) : NULL;
	}
	if (!source)
		return NULL;
	*length = source->length;
	return g_bytes_get_data(source->text, NULL);
}

void partition_sources_cut_last(struct partition_sources *sources, gsize length)
{
	struct source *source = sources->all->pdata[sources->all->len - 1];
	char *text = g_strndup(g_bytes_get_data(source->text, NULL), length);

	g_bytes_unref(source->text);
	source->length = MIN(length, source->length);
	source->text = g_bytes_new_take(text, source->length + 1);
}

/* ---- as one text ---- */

char *partition_sources_format(const struct partition_sources *sources)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < sources->all->len; i++) {
		const struct source *source = nth(sources, i);
		g_autofree char *name = g_strescape(source->name, NULL);

		g_string_append_printf(out, WORD "%" G_GSIZE_FORMAT " %s\n", source->length, name);
		g_string_append_len(out, g_bytes_get_data(source->text, NULL),
				    (gssize)source->length);
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

/* Moves *at past a source; false: there is none. */
static bool parse_one(struct partition_sources *sources, const char **at, const char *end)
{
	const char *line_end = memchr(*at, '\n', (size_t)(end - *at));
	g_autofree char *line = line_end ? g_strndup(*at, (gsize)(line_end - *at)) : NULL;
	g_autofree char *name = NULL;
	char *rest;
	guint64 length;

	if (!line || !g_str_has_prefix(line, WORD) || !g_ascii_isdigit(line[strlen(WORD)]))
		return false;
	length = g_ascii_strtoull(line + strlen(WORD), &rest, 10);
	*at = line_end + 1;
	if (*rest != ' ' || !rest[1] || length >= (guint64)(end - *at) || (*at)[length] != '\n')
		return false;
	name = g_strcompress(rest + 1);
	add(sources, name, g_strndup(*at, length), length);
	*at += length + 1;
	return true;
}

struct partition_sources *partition_sources_parse(const char *text, gsize length)
{
	struct partition_sources *sources = partition_sources_new();
	const char *end = text + length;
	bool good = !memchr(text, '\0', length);

	while (good && text < end)
		good = parse_one(sources, &text, end);
	if (!good)
		g_clear_pointer(&sources, partition_sources_unref);
	return sources;
}
