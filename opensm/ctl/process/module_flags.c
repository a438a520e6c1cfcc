// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/process/module_flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "complib/file.h"
#include "core/skipped_lines.h"

#define SEPARATORS " \t\v\f\r=:,"

/* Sorted as strcmp() does; made from the lists of sources, see local.mk. */
static const char *const own_names[] = {
#include "opensm/ctl/process/source_names.h"
};

static const struct {
	const char *name, *files;
} classic_names[] = {
#define CLASSIC_MODULE(name, files) {name, files},
#include "ctl/process/classic_modules.def"
#undef CLASSIC_MODULE
};

/* ---- names ---- */

static int compare_names(const void *name, const void *member)
{
	return strcmp(name, *(const char *const *)member);
}

bool module_is_own(const char *name)
{
	return bsearch(name, own_names, G_N_ELEMENTS(own_names), sizeof(*own_names),
		       compare_names) != NULL;
}

/* The files here that a file of OpenSM 3.3 stands for; NULL: it had no such file. */
static const char *files_of_classic(const char *name)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(classic_names); i++)
		if (!strcmp(classic_names[i].name, name))
			return classic_names[i].files;
	return NULL;
}

/* ---- reading ---- */

struct reader {
	struct skipped_lines skipped; /* first */
	GHashTable *named;	      /* file as in a line -> its last flags */
	struct module_flags *flags;
};

static bool to_flags(const char *word, unsigned int *flags)
{
	unsigned long value;
	char *end;

	if (!g_ascii_isdigit(*word))
		return false;
	errno = 0;
	value = strtoul(word, &end, 0);
	*flags = (unsigned int)value;
	return !errno && !*end && value <= 0xFF;
}

static void take_flags(struct reader *reader, const char *word, unsigned int flags)
{
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
	const char *files = files_of_classic(name);

	if (!module_is_own(name) && !files)
		skip_line(&reader->skipped, word, "a source file of this program or of OpenSM 3.3");
	else if (!module_is_own(name) && !*files)
		skip_line(&reader->skipped, word,
			  "a source file of OpenSM 3.3 whose part this program has");
	else
		g_hash_table_insert(reader->named, g_strdup(name), GUINT_TO_POINTER(flags));
}

static void take_line(struct skipped_lines *skipped, char *line)
{
	struct reader *reader = (struct reader *)skipped;
	char *rest = NULL, *name, *word, *more;
	unsigned int flags;

	line[strcspn(line, "#")] = '\0';
	name = strtok_r(line, SEPARATORS, &rest);
	if (!name)
		return;
	word = strtok_r(NULL, SEPARATORS, &rest);
	more = word ? strtok_r(NULL, SEPARATORS, &rest) : NULL;
	if (!word)
		skip_line(&reader->skipped, name,
			  "the log flags after the name of the source file");
	else if (!to_flags(word, &flags))
		skip_line(&reader->skipped, word, "log flags, a number up to 0xff");
	else if (more)
		skip_line(&reader->skipped, more, "the end of the line after the log flags");
	else
		take_flags(reader, name, flags);
}

/* Several files of OpenSM 3.3 may stand for one here. */
static void add_classic(struct module_flags *to, const char *names, unsigned int flags)
{
	g_auto(GStrv) files = g_strsplit(names, " ", -1);

	for (unsigned int i = 0; files[i]; i++) {
		unsigned int before = GPOINTER_TO_UINT(g_hash_table_lookup(to->classic, files[i]));

		g_hash_table_insert(to->classic, g_strdup(files[i]),
				    GUINT_TO_POINTER(before | flags));
	}
}

/* After all lines, since the last one about a file counts. */
static void take_named(struct reader *reader)
{
	GHashTableIter iter;
	gpointer name, flags;

	g_hash_table_iter_init(&iter, reader->named);
	while (g_hash_table_iter_next(&iter, &name, &flags))
		if (module_is_own(name))
			g_hash_table_insert(reader->flags->own, g_strdup(name), flags);
		else
			add_classic(reader->flags, files_of_classic(name), GPOINTER_TO_UINT(flags));
}

static struct module_flags *flags_new(void)
{
	struct module_flags *flags = g_new0(struct module_flags, 1);

	ref_init(&flags->ref);
	flags->own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	flags->classic = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	flags->warnings = g_ptr_array_new_with_free_func(g_free);
	return flags;
}

struct module_flags *module_flags_parse(const char *file, const char *text, size_t length)
{
	struct module_flags *flags = flags_new();
	struct reader reader = {
		.skipped = {.file = file, .warnings = flags->warnings},
		.named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.flags = flags,
	};

	skipped_lines_read(&reader.skipped, text, length, take_line);
	take_named(&reader);
	g_hash_table_unref(reader.named);
	return flags;
}

struct module_flags *module_flags_load(const char *file, bool named, GError **error)
{
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	struct module_flags *flags;
	gsize length;

	if (!file || !*file)
		return flags_new();
	text = file_read(file, FILE_MAX_CONFIG, &length, &failure);
	if (text)
		return module_flags_parse(file, text, length);
	if (!g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_propagate_prefixed_error(error, g_steal_pointer(&failure),
					   "per_module_logging_file: ");
		return NULL;
	}
	flags = flags_new();
	if (named)
		g_ptr_array_add(flags->warnings,
				g_strdup_printf("per_module_logging_file: %s", failure->message));
	return flags;
}

struct module_flags *module_flags_ref(struct module_flags *flags)
{
	ref_get(&flags->ref);
	return flags;
}

void module_flags_unref(struct module_flags *flags)
{
	if (!flags || !ref_put(&flags->ref))
		return;
	g_hash_table_unref(flags->own);
	g_hash_table_unref(flags->classic);
	g_ptr_array_unref(flags->warnings);
	g_free(flags);
}

/* ---- using them ---- */

static bool same(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	gpointer name, flags, other;

	if (g_hash_table_size(a) != g_hash_table_size(b))
		return false;
	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &name, &flags))
		if (!g_hash_table_lookup_extended(b, name, NULL, &other) || other != flags)
			return false;
	return true;
}

bool module_flags_same(const struct module_flags *a, const struct module_flags *b)
{
	return same(a->own, b->own) && same(a->classic, b->classic);
}

void module_flags_apply(const struct module_flags *flags, struct log *log)
{
	GHashTableIter iter;
	gpointer name, value;

	log_clear_module_flags(log);
	if (!flags)
		return;
	g_hash_table_iter_init(&iter, flags->classic);
	while (g_hash_table_iter_next(&iter, &name, &value))
		log_set_module_flags(log, name, log_flags(log) | GPOINTER_TO_UINT(value));
	g_hash_table_iter_init(&iter, flags->own);
	while (g_hash_table_iter_next(&iter, &name, &value))
		log_set_module_flags(log, name, GPOINTER_TO_UINT(value));
}
