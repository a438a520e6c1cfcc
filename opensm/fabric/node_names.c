// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "fabric/node_names.h"

#include <string.h>

#include "complib/hash.h"

struct node_names *node_names_new(void)
{
	struct node_names *names = g_new0(struct node_names, 1);

	ref_init(&names->ref);
	names->by_guid = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, g_free);
	names->warnings = g_ptr_array_new_with_free_func(g_free);
	return names;
}

struct node_names *node_names_ref(struct node_names *names)
{
	ref_get(&names->ref);
	return names;
}

void node_names_unref(struct node_names *names)
{
	if (!names || !ref_put(&names->ref))
		return;
	g_hash_table_unref(names->by_guid);
	g_ptr_array_unref(names->warnings);
	g_free(names);
}

void node_names_add(struct node_names *names, uint64_t guid, const char *name)
{
	g_assert(strlen(name) <= NODE_NAME_MAX);
	g_hash_table_insert(names->by_guid, g_memdup2(&guid, sizeof(guid)), g_strdup(name));
}

const char *node_names_find(const struct node_names *names, uint64_t guid)
{
	return node_names_are_empty(names) ? NULL : g_hash_table_lookup(names->by_guid, &guid);
}

bool node_names_same(const struct node_names *a, const struct node_names *b)
{
	GHashTableIter iter;
	gpointer guid, name;

	if (g_hash_table_size(a->by_guid) != g_hash_table_size(b->by_guid))
		return false;
	g_hash_table_iter_init(&iter, a->by_guid);
	while (g_hash_table_iter_next(&iter, &guid, &name))
		if (g_strcmp0(name, g_hash_table_lookup(b->by_guid, guid)) != 0)
			return false;
	return true;
}
