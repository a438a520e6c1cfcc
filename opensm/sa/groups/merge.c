// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Merging groups. When no MLID is free for a group of a partition, groups that ports made and that
 * may share an MLID do so, which frees the others. Members that know the old MLID are asked to join
 * again, so only groups whose members can be asked are moved. Groups of the port that has most
 * MLIDs go first, if possible to others of the same port.
 */
#include "sa/groups/store_private.h"

/* An MLID whose groups may all be moved. */
struct movable {
	struct sa_mlid *mlid;
	unsigned int of_maker; /* MLIDs of its maker */
	unsigned int members;
};

static bool may_ask(const struct sa_store *store, const struct subnet *subnet,
		    const struct sa_group *group)
{
	for (guint i = 0; i < group->members->len; i++) {
		uint64_t guid = g_array_index(group->members, struct sa_member, i).guid;
		uint32_t port = alias_guids_port(store->aliases, subnet->fabric, guid);

		/* An absent port is asked when it is back. */
		if (port != FABRIC_NONE && !sa_store_is_asked(subnet, port))
			return false;
	}
	return true;
}

static bool may_move(const struct sa_store *store, const struct subnet *subnet,
		     const struct sa_mlid *mlid)
{
	for (guint i = 0; i < mlid->groups->len; i++) {
		const struct sa_group *group = mlid->groups->pdata[i];

		if (group->well_known || !may_ask(store, subnet, group))
			return false;
	}
	return true;
}

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct movable *x = a, *y = b;

	if (x->of_maker != y->of_maker)
		return x->of_maker > y->of_maker ? -1 : 1;
	if (x->mlid->maker != y->mlid->maker)
		return x->mlid->maker < y->mlid->maker ? -1 : 1;
	if (x->members != y->members)
		return x->members < y->members ? -1 : 1;
	return x->mlid->mlid < y->mlid->mlid ? -1 : 1;
}

static GArray *list_movable(const struct sa_store *store, const struct subnet *subnet)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct movable));

	for (uint32_t i = 0; i < SA_N_MLIDS; i++) {
		struct sa_mlid *mlid =
			sa_mlids_find(store->mlids, (uint16_t)(IBA_LID_MCAST_FIRST + i));
		struct movable movable = {.mlid = mlid};

		if (!mlid || !may_move(store, subnet, mlid))
			continue;
		movable.of_maker = sa_mlids_of(store->mlids, mlid->maker);
		for (guint k = 0; k < mlid->groups->len; k++)
			movable.members +=
				((struct sa_group *)mlid->groups->pdata[k])->members->len;
		g_array_append_val(list, movable);
	}
	g_array_sort(list, compare);
	return list;
}

static guint hash_terms(gconstpointer key)
{
	const struct sa_mlid *mlid = key;

	return (guint)(mlid->terms.p_key & 0x7FFF) << 16 ^ (guint)mlid->terms.mtu << 12 ^
	       (guint)mlid->terms.rate << 4 ^ mlid->terms.sl;
}

static gboolean same_terms(gconstpointer a, gconstpointer b)
{
	return sa_mlid_agrees(a, &((const struct sa_mlid *)b)->terms);
}

/* MLIDs that may share, in the order of the list: struct sa_mlid -> GPtrArray of them. */
static GHashTable *by_terms(const GArray *list)
{
	GHashTable *table = g_hash_table_new_full(hash_terms, same_terms, NULL,
						  (GDestroyNotify)g_ptr_array_unref);

	for (guint i = 0; i < list->len; i++) {
		struct sa_mlid *mlid = g_array_index(list, struct movable, i).mlid;
		GPtrArray *alike = g_hash_table_lookup(table, mlid);

		if (!alike) {
			alike = g_ptr_array_new();
			g_hash_table_insert(table, mlid, alike);
		}
		g_ptr_array_add(alike, mlid);
	}
	return table;
}

/* Where the groups of the first MLID go; NULL: there is no other MLID. */
static struct sa_mlid *choose_target(const GPtrArray *alike)
{
	const struct sa_mlid *first = alike->pdata[0];

	for (guint i = alike->len; i-- > 1;)
		if (((struct sa_mlid *)alike->pdata[i])->maker == first->maker)
			return alike->pdata[i];
	return alike->len > 1 ? alike->pdata[alike->len - 1] : NULL;
}

static void move_groups(struct sa_store *store, struct sa_mlid *from, struct sa_mlid *to,
			const struct fabric *fabric)
{
	for (guint n = from->groups->len; n-- > 0;) { /* from is gone with the last one */
		struct sa_group *group = from->groups->pdata[n];

		sa_store_leave_mlid(store, group);
		sa_store_enter(store, group, to);
		sa_store_ask_members(store, group, fabric);
		sa_store_tell(store, group, false);
	}
}

uint32_t sa_store_merge(struct sa_store *store, const struct subnet *subnet, uint32_t n)
{
	GArray *list = list_movable(store, subnet);
	GHashTable *table = by_terms(list);
	uint32_t n_moved = 0;

	for (guint i = 0; i < list->len && n_moved < n; i++) {
		struct sa_mlid *mlid = g_array_index(list, struct movable, i).mlid;
		GPtrArray *alike = g_hash_table_lookup(table, mlid);
		struct sa_mlid *target = choose_target(alike);

		if (!target)
			continue;
		g_ptr_array_remove_index(alike, 0);
		if (g_hash_table_steal(table, mlid)) /* may be the key, which is freed next */
			g_hash_table_insert(table, target, alike);
		move_groups(store, mlid, target, subnet->fabric);
		n_moved++;
	}
	g_hash_table_unref(table);
	g_array_unref(list);
	return n_moved;
}
