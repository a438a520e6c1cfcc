// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/store/kept.h"

#include <stdio.h>
#include <string.h>

#include "ssa/wire/wire.h"

#define MANIFESTS 3	  /* whose chunks stay */
#define MANY (64u * 1024) /* chunks: beyond that, time does not save them */
#define AGE_MAX 1000000u

struct ssa_kept {
	GHashTable *chunks; /* name -> struct use */
};

struct use {
	unsigned int age; /* manifests since; 0: the last one uses it, or none has used it yet */
	int64_t at_s;	  /* UNIX time when it was put, or when a manifest last used it */
};

static struct use *use_of(struct ssa_kept *kept, const char *name)
{
	struct use *use = g_hash_table_lookup(kept->chunks, name);

	if (!use) {
		use = g_new0(struct use, 1);
		g_hash_table_insert(kept->chunks, g_strdup(name), use);
	}
	return use;
}

/* "NAME AGE SECONDS" */
static void parse_line(struct ssa_kept *kept, const char *line, int64_t now_s)
{
	char name[SSA_NAME_LENGTH + 1], end;
	unsigned int age;
	int64_t at_s;
	struct use *use;

	if (sscanf(line, "%32s %7u %15" G_GINT64_MODIFIER "d%c", name, &age, &at_s, &end) != 3 ||
	    !ssa_chunk_is_name(name))
		return;
	use = use_of(kept, name);
	use->age = MIN(age, AGE_MAX);
	use->at_s = MIN(at_s, now_s); /* the clock may have gone back */
}

struct ssa_kept *ssa_kept_parse(const char *text, size_t length, int64_t now_s)
{
	struct ssa_kept *kept = g_new0(struct ssa_kept, 1);
	const char *at = text, *end = text ? text + length : NULL;

	kept->chunks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		g_autofree char *line = g_strndup(at, (size_t)((stop ? stop : end) - at));

		parse_line(kept, line, now_s);
		at = stop ? stop + 1 : end;
	}
	return kept;
}

void ssa_kept_free(struct ssa_kept *kept)
{
	if (!kept)
		return;
	g_hash_table_unref(kept->chunks);
	g_free(kept);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(a, b);
}

char *ssa_kept_text(const struct ssa_kept *kept)
{
	GList *names = g_list_sort(g_hash_table_get_keys(kept->chunks), compare_names);
	GString *text = g_string_new(NULL);

	for (GList *at = names; at; at = at->next) {
		const struct use *use = g_hash_table_lookup(kept->chunks, at->data);

		g_string_append_printf(text, "%s %u %" G_GINT64_FORMAT "\n", (const char *)at->data,
				       use->age, use->at_s);
	}
	g_list_free(names);
	return g_string_free(text, FALSE);
}

bool ssa_kept_knows(const struct ssa_kept *kept, const char *name)
{
	return g_hash_table_contains(kept->chunks, name);
}

void ssa_kept_add(struct ssa_kept *kept, const char *name, int64_t now_s)
{
	use_of(kept, name)->at_s = now_s;
}

void ssa_kept_publish(struct ssa_kept *kept, const char *const *names, unsigned int n, bool again,
		      int64_t now_s)
{
	GHashTableIter at;
	gpointer value;

	g_hash_table_iter_init(&at, kept->chunks);
	while (!again && g_hash_table_iter_next(&at, NULL, &value)) {
		struct use *use = value;

		use->age = MIN(use->age + 1, AGE_MAX);
	}
	for (unsigned int i = 0; i < n; i++)
		*use_of(kept, names[i]) = (struct use){0, now_s};
}

GPtrArray *ssa_kept_take_old(struct ssa_kept *kept, unsigned int keep_s, int64_t now_s)
{
	GPtrArray *old = g_ptr_array_new_with_free_func(g_free);
	bool many = g_hash_table_size(kept->chunks) > MANY;
	gpointer name, value;
	GHashTableIter at;

	g_hash_table_iter_init(&at, kept->chunks);
	while (g_hash_table_iter_next(&at, &name, &value)) {
		const struct use *use = value;

		if (use->age >= MANIFESTS && (many || now_s - use->at_s >= (int64_t)keep_s)) {
			g_ptr_array_add(old, g_strdup(name));
			g_hash_table_iter_remove(&at);
		}
	}
	return old;
}
