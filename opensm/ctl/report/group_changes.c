// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A group that gets another MLID is in two blocks that differ: it is the same group. */
#include "ctl/report/group_changes.h"

#include "complib/hash.h"

static guint gid_hash(gconstpointer key)
{
	const struct iba_gid *gid = key;

	return (guint)(hash_spread(gid->guid ^ hash_spread(gid->prefix)) >> 32);
}

static gboolean gid_equal(gconstpointer a, gconstpointer b)
{
	return iba_gid_equal(*(const struct iba_gid *)a, *(const struct iba_gid *)b);
}

static struct mc_block *block_of(const struct mc_groups *groups, uint32_t i)
{
	return groups ? groups->blocks[i] : NULL;
}

/* The MGIDs in the blocks of list that others does not share. */
static GHashTable *set_of(const struct mc_groups *list, const struct mc_groups *others)
{
	GHashTable *set = g_hash_table_new(gid_hash, gid_equal);

	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++) {
		const struct mc_block *block = block_of(list, i);

		for (uint32_t k = 0; block && block != block_of(others, i) && k < block->n; k++)
			g_hash_table_add(set, &block->groups[k]->mgid);
	}
	return set;
}

/* How many of the set the other one lacks, and one of those. */
static uint32_t count_more(GHashTable *set, GHashTable *other, struct iba_gid *one)
{
	GHashTableIter iter;
	uint32_t n = 0;
	gpointer key;

	g_hash_table_iter_init(&iter, set);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		if (g_hash_table_contains(other, key))
			continue;
		*one = *(const struct iba_gid *)key;
		n++;
	}
	return n;
}

struct group_changes group_changes_of(const struct mc_groups *old, const struct mc_groups *now)
{
	g_autoptr(GHashTable) before = set_of(old, now), after = set_of(now, old);
	struct group_changes changes = {0};

	changes.deleted = count_more(before, after, &changes.mgid);
	changes.created = count_more(after, before, &changes.mgid);
	return changes;
}
