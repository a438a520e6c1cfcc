// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See mlids.h. Free MLIDs are ranges; a rule's MLIDs are found by slot: rule, number, parameters.
 */
#include "sa/mlids.h"

#include "complib/range.h"
#include "iba/codes.h"

/* FF1x:601B:<P_Key>::1:FFxx:xxxx: scope, P_Key and the last 24 bits are of the group. */
#define SNM_PREFIX UINT64_C(0xFF10601B00000000)
#define SNM_PREFIX_MASK UINT64_C(0xFFF0FFFF0000FFFF)
#define SNM_GUID UINT64_C(0x00000001FF000000)
#define SNM_GUID_MASK UINT64_C(0xFFFFFFFFFF000000)

struct erasing {
	uint16_t mlid;
	uint64_t serial;
};

struct sa_mlids {
	struct sa_mlid *all[SA_N_MLIDS]; /* NULL: it has no groups */
	struct range_set free;		 /* among those the switches can do */
	GQueue erasing;			 /* struct erasing by serial */
	bool is_erasing[SA_N_MLIDS];	 /* it is there */
	GHashTable *slots;		 /* uint64_t of an MLID -> it */
	uint16_t top;
	uint16_t n_snm;
};

struct sa_mlids *sa_mlids_new(void)
{
	struct sa_mlids *mlids = g_new0(struct sa_mlids, 1);

	range_set_init(&mlids->free);
	g_queue_init(&mlids->erasing);
	mlids->slots = g_hash_table_new(g_int64_hash, g_int64_equal);
	mlids->top = IBA_LID_MCAST_LAST;
	range_set_add(&mlids->free, IBA_LID_MCAST_FIRST, mlids->top);
	return mlids;
}

static void mlid_free(struct sa_mlid *mlid)
{
	g_ptr_array_unref(mlid->groups);
	g_free(mlid);
}

void sa_mlids_free(struct sa_mlids *mlids)
{
	for (unsigned int i = 0; i < SA_N_MLIDS; i++)
		if (mlids->all[i])
			mlid_free(mlids->all[i]);
	g_hash_table_unref(mlids->slots);
	g_queue_clear_full(&mlids->erasing, g_free);
	range_set_clear(&mlids->free);
	g_free(mlids);
}

struct sa_mlid *sa_mlids_find(const struct sa_mlids *mlids, uint16_t mlid)
{
	return iba_lid_is_multicast(mlid) && mlid <= IBA_LID_MCAST_LAST
		       ? mlids->all[mlid - IBA_LID_MCAST_FIRST]
		       : NULL;
}

uint32_t sa_mlids_count(const struct sa_mlids *mlids)
{
	return mlids->top - IBA_LID_MCAST_FIRST + 1u;
}

void sa_mlids_set_top(struct sa_mlids *mlids, uint16_t top)
{
	if (top < mlids->top)
		range_set_remove(&mlids->free, top + 1, mlids->top);
	for (uint32_t mlid = mlids->top + 1; mlid <= top; mlid++)
		if (!sa_mlids_find(mlids, (uint16_t)mlid) &&
		    !mlids->is_erasing[mlid - IBA_LID_MCAST_FIRST])
			range_set_add(&mlids->free, mlid, mlid);
	mlids->top = top;
}

void sa_mlids_share_snm(struct sa_mlids *mlids, uint16_t n)
{
	mlids->n_snm = n;
}

/* ---- sharing ---- */

bool sa_mlid_agrees(const struct sa_mlid *mlid, const struct iba_mc_member_record *b)
{
	const struct iba_mc_member_record *a = &mlid->terms;

	return !((a->p_key ^ b->p_key) & 0x7FFF) && a->mtu == b->mtu && a->rate == b->rate &&
	       a->sl == b->sl;
}

/* The last 24 bits of neighbouring hosts differ little: they are to be spread all the same. */
static uint16_t spread(uint64_t bits, uint16_t n)
{
	return (uint16_t)((bits * UINT64_C(0x9E3779B97F4A7C15) >> 32) % n);
}

/* The slot of a group that a rule names: rule 1, MLID of the rule, parameters. */
static bool slot_of(const struct sa_mlids *mlids, const struct iba_mc_member_record *record,
		    uint64_t *slot)
{
	if (!mlids->n_snm || (record->mgid.prefix & SNM_PREFIX_MASK) != SNM_PREFIX ||
	    (record->mgid.guid & SNM_GUID_MASK) != SNM_GUID)
		return false;
	*slot = UINT64_C(1) << 56 |
		(uint64_t)spread(record->mgid.guid & ~SNM_GUID_MASK, mlids->n_snm) << 40 |
		(uint64_t)(record->p_key & 0x7FFF) << 24 | (uint64_t)record->mtu << 16 |
		(uint64_t)record->rate << 8 | record->sl;
	return true;
}

/* None is free: the one with the fewest groups. */
static struct sa_mlid *least_used(const struct sa_mlids *mlids,
				  const struct iba_mc_member_record *record)
{
	struct sa_mlid *best = NULL;

	for (uint32_t i = 0; i < sa_mlids_count(mlids); i++) {
		struct sa_mlid *mlid = mlids->all[i];

		if (mlid && sa_mlid_agrees(mlid, record) &&
		    (!best || mlid->groups->len < best->groups->len))
			best = mlid;
	}
	return best;
}

/* ---- taking and giving ---- */

static struct sa_mlid *occupy(struct sa_mlids *mlids, uint16_t number,
			      const struct iba_mc_member_record *record)
{
	struct sa_mlid *mlid = g_new0(struct sa_mlid, 1);

	range_set_remove(&mlids->free, number, number);
	mlid->mlid = number;
	mlid->terms = *record;
	mlid->groups = g_ptr_array_new();
	mlids->all[number - IBA_LID_MCAST_FIRST] = mlid;
	return mlid;
}

static struct sa_mlid *take_exact(struct sa_mlids *mlids, const struct iba_mc_member_record *record,
				  bool exact)
{
	struct sa_mlid *taken = sa_mlids_find(mlids, record->mlid);

	if (range_set_contains(&mlids->free, record->mlid))
		return occupy(mlids, record->mlid, record);
	return exact && taken && sa_mlid_agrees(taken, record) ? taken : NULL;
}

static struct sa_mlid *take_lowest(struct sa_mlids *mlids,
				   const struct iba_mc_member_record *record)
{
	uint64_t first;

	if (range_set_find(&mlids->free, 1, 1, &first))
		return occupy(mlids, (uint16_t)first, record);
	return least_used(mlids, record);
}

struct sa_mlid *sa_mlids_take(struct sa_mlids *mlids, const struct iba_mc_member_record *record,
			      bool exact)
{
	uint64_t slot;
	bool has_slot = slot_of(mlids, record, &slot);
	struct sa_mlid *mlid = take_exact(mlids, record, exact);

	if (!mlid && has_slot)
		mlid = g_hash_table_lookup(mlids->slots, &slot);
	if (!mlid)
		mlid = take_lowest(mlids, record);
	if (mlid && has_slot && !mlid->is_slot && !g_hash_table_contains(mlids->slots, &slot)) {
		mlid->is_slot = true;
		mlid->slot = slot;
		g_hash_table_insert(mlids->slots, &mlid->slot, mlid);
	}
	return mlid;
}

void sa_mlids_give(struct sa_mlids *mlids, struct sa_mlid *mlid, uint64_t serial)
{
	struct erasing erasing = {mlid->mlid, serial};

	mlids->all[mlid->mlid - IBA_LID_MCAST_FIRST] = NULL;
	mlids->is_erasing[mlid->mlid - IBA_LID_MCAST_FIRST] = true;
	g_queue_push_tail(&mlids->erasing, g_memdup2(&erasing, sizeof(erasing)));
	if (mlid->is_slot)
		g_hash_table_remove(mlids->slots, &mlid->slot);
	mlid_free(mlid);
}

void sa_mlids_erased(struct sa_mlids *mlids, uint64_t serial)
{
	for (struct erasing *first = g_queue_peek_head(&mlids->erasing);
	     first && first->serial <= serial; first = g_queue_peek_head(&mlids->erasing)) {
		mlids->is_erasing[first->mlid - IBA_LID_MCAST_FIRST] = false;
		if (first->mlid <= mlids->top)
			range_set_add(&mlids->free, first->mlid, first->mlid);
		g_free(g_queue_pop_head(&mlids->erasing));
	}
}
