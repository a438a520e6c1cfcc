// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The contents of partitions.conf (partition_file.c), as an object. */
#include <string.h>

#include "policy/partition/partition_changes.h"
#include "policy/partition/partition_file.h"
#include "policy/partition/partition_sources.h"

bool partition_rules_says_none(const struct partition_rules *rules)
{
	const char *file = rules->files->pdata[0];

	return !*file || !strcmp(file, "/dev/null");
}

/* The file has no definitions, and does not say that there are none. */
static bool are_gone(const struct partition_rules *new)
{
	return new->built_in && !partition_rules_says_none(new);
}

struct partition_rules *partition_rules_reload(const struct partition_rules *old, const char *file,
					       struct partition_changes *changes, GError **error)
{
	struct partition_rules *new = partition_rules_load_with(file, changes, error);

	if (!new || !are_gone(new) || old->built_in)
		return new;
	partition_rules_unref(new);
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE,
		    "%s: it no longer defines partitions, expected "
		    "'Default=0x7fff,ipoib:ALL=full;' if every port may talk to every other",
		    file);
	return NULL;
}

struct partition_rules *partition_rules_load(const char *file, GError **error)
{
	return partition_rules_load_with(file, NULL, error);
}

struct partition_rules *partition_rules_ref(struct partition_rules *rules)
{
	ref_get(&rules->ref);
	return rules;
}

void partition_rules_unref(struct partition_rules *rules)
{
	if (!rules || !ref_put(&rules->ref))
		return;
	g_ptr_array_unref(rules->rules);
	g_ptr_array_unref(rules->files);
	g_ptr_array_unref(rules->warnings);
	g_string_chunk_free(rules->texts);
	partition_sources_unref(rules->sources);
	g_free(rules->digest);
	partition_changes_unref(rules->changes);
	g_free(rules);
}

bool partition_rules_same(const struct partition_rules *a, const struct partition_rules *b)
{
	return !strcmp(a->digest, b->digest);
}

const struct partition_rule *partition_rules_find(const struct partition_rules *rules,
						  uint16_t p_key)
{
	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		if (rule->p_key == p_key)
			return rule;
	}
	return NULL;
}
