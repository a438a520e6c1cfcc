// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See mlids.h. Free MLIDs are ranges; a rule's MLIDs are found by slot: rule, number, parameters.
 */
#include "sa/groups/mlids.h"

#include <string.h>

#include "complib/hash.h"
#include "complib/range.h"
#include "iba/codes.h"
#include "policy/partition/partition.h"
#include "sa/clients/quota.h"

#define RESERVED_PART 16  /* of all MLIDs: for groups of partitions */
#define PORT_PART 8	  /* of what is left: for one port, */
#define PORT_MIN 8	  /* but always this many */
#define PARTITION_TIMES 3 /* what is left: for ports of one partition, */
#define PARTITION_MIN 64
#define PARTITION_FIRST 4 /* that may come from the reserve */

/* FF1x:601B:<P_Key>::1:FFxx:xxxx: scope, P_Key and the last 24 bits identify the group. */
static const struct mlid_rule snm_rule = {
	.mgid = {UINT64_C(0xFF10601B00000000), UINT64_C(0x00000001FF000000)},
	.mask = {UINT64_C(0xFFF0FFFF0000FFFF), UINT64_C(0xFFFFFFFFFF000000)},
};

struct erasing {
	uint16_t mlid;
	uint64_t serial;
};

struct sa_mlids {
	struct sa_mlid *all[SA_N_MLIDS]; /* NULL: no groups */
	struct range_set free;		 /* among those that switches support */
	uint32_t n_free;
	struct sa_quota by_maker, by_p_key; /* with groups; P_Keys have the full-member bit */
	GQueue erasing;			 /* struct erasing by serial */
	bool is_erasing[SA_N_MLIDS];	 /* the MLID is in erasing */
	GHashTable *slots;		 /* slot (uint64_t in an MLID) -> that MLID */
	uint16_t top;
	struct mlid_rule rules[MLID_RULES_MAX + 1];
	unsigned int n_rules;
};

struct sa_mlids *sa_mlids_new(void)
{
	struct sa_mlids *mlids = g_new0(struct sa_mlids, 1);

	range_set_init(&mlids->free);
	sa_quota_init(&mlids->by_maker, SA_N_MLIDS, SA_N_MLIDS);
	sa_quota_init(&mlids->by_p_key, SA_N_MLIDS, SA_N_MLIDS);
	g_queue_init(&mlids->erasing);
	mlids->slots = g_hash_table_new(hash_uint64, g_int64_equal);
	mlids->top = IBA_LID_MCAST_LAST;
	range_set_add(&mlids->free, IBA_LID_MCAST_FIRST, mlids->top);
	mlids->n_free = SA_N_MLIDS;
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
	sa_quota_clear(&mlids->by_maker);
	sa_quota_clear(&mlids->by_p_key);
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

uint32_t sa_mlids_erasing(const struct sa_mlids *mlids)
{
	return g_queue_get_length((GQueue *)&mlids->erasing);
}

unsigned int sa_mlids_of(const struct sa_mlids *mlids, uint64_t maker)
{
	return sa_quota_of(&mlids->by_maker, maker);
}

static void set_free(struct sa_mlids *mlids, uint32_t mlid)
{
	mlids->n_free += !range_set_contains(&mlids->free, mlid);
	range_set_add(&mlids->free, mlid, mlid);
}

static void set_taken(struct sa_mlids *mlids, uint32_t mlid)
{
	mlids->n_free -= range_set_contains(&mlids->free, mlid);
	range_set_remove(&mlids->free, mlid, mlid);
}

void sa_mlids_set_top(struct sa_mlids *mlids, uint16_t top)
{
	for (uint32_t mlid = top + 1u; mlid <= mlids->top; mlid++)
		set_taken(mlids, mlid);
	for (uint32_t mlid = mlids->top + 1; mlid <= top; mlid++)
		if (!sa_mlids_find(mlids, (uint16_t)mlid) &&
		    !mlids->is_erasing[mlid - IBA_LID_MCAST_FIRST])
			set_free(mlids, mlid);
	mlids->top = top;
}

/* ---- sharing ---- */

bool sa_mlid_agrees(const struct sa_mlid *mlid, const struct iba_mc_member_record *b)
{
	const struct iba_mc_member_record *a = &mlid->terms;

	return !((a->p_key ^ b->p_key) & 0x7FFF) && a->mtu == b->mtu && a->rate == b->rate &&
	       a->sl == b->sl;
}

/* No MLID is assigned to a slot any more. */
static void forget_slots(struct sa_mlids *mlids)
{
	GHashTableIter iter;
	struct sa_mlid *mlid;

	g_hash_table_iter_init(&iter, mlids->slots);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&mlid))
		mlid->is_slot = false;
	g_hash_table_remove_all(mlids->slots);
}

static bool same_rules(const struct mlid_rule *a, const struct mlid_rule *b, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!iba_gid_equal(a[i].mgid, b[i].mgid) || !iba_gid_equal(a[i].mask, b[i].mask) ||
		    a[i].n != b[i].n)
			return false;
	return true;
}

void sa_mlids_share(struct sa_mlids *mlids, const struct mlid_rule *rules, unsigned int n,
		    uint16_t snm)
{
	struct mlid_rule all[MLID_RULES_MAX + 1];

	g_assert(n <= MLID_RULES_MAX);
	for (unsigned int i = 0; i < n; i++)
		all[i] = rules[i];
	if (snm) {
		all[n] = snm_rule;
		all[n++].n = snm;
	}
	if (n == mlids->n_rules && same_rules(mlids->rules, all, n))
		return;
	forget_slots(mlids);
	memcpy(mlids->rules, all, n * sizeof(*all));
	mlids->n_rules = n;
}

/* Neighbouring hosts differ in few bits; the hash must spread them anyway. */
static uint32_t spread(uint64_t prefix, uint64_t guid, uint32_t n)
{
	uint64_t bits = hash_spread(prefix * UINT64_C(0xC2B2AE3D27D4EB4F) ^ guid);

	return (uint32_t)((bits >> 32) % n);
}

/* The slot of a group that a rule names: rule number from 1, MLID within the rule, parameters. */
static bool slot_of(const struct sa_mlids *mlids, const struct iba_mc_member_record *record,
		    uint64_t *slot)
{
	for (unsigned int i = 0; i < mlids->n_rules; i++) {
		const struct mlid_rule *rule = &mlids->rules[i];
		uint64_t prefix = record->mgid.prefix ^ rule->mgid.prefix;
		uint64_t guid = record->mgid.guid ^ rule->mgid.guid;

		if (prefix & rule->mask.prefix || guid & rule->mask.guid)
			continue;
		*slot = (uint64_t)(i + 1) << 56 | (uint64_t)spread(prefix, guid, rule->n) << 40 |
			(uint64_t)(record->p_key & 0x7FFF) << 24 | (uint64_t)record->mtu << 16 |
			(uint64_t)record->rate << 8 | record->sl;
		return true;
	}
	return false;
}

/* Sharing with groups of the same port is preferred to another's; this SM's come last. */
static bool is_better(const struct sa_mlid *a, const struct sa_mlid *b, uint64_t maker)
{
	int x = a->maker == maker ? 0 : a->maker ? 1 : 2;
	int y = b->maker == maker ? 0 : b->maker ? 1 : 2;

	return x != y ? x < y : a->groups->len < b->groups->len;
}

/* If no MLID is free: the one with the fewest groups. */
static struct sa_mlid *least_used(const struct sa_mlids *mlids,
				  const struct iba_mc_member_record *record, uint64_t maker)
{
	struct sa_mlid *best = NULL;

	for (uint32_t i = 0; i < sa_mlids_count(mlids); i++) {
		struct sa_mlid *mlid = mlids->all[i];

		if (mlid && sa_mlid_agrees(mlid, record) && (!best || is_better(mlid, best, maker)))
			best = mlid;
	}
	return best;
}

/* ---- taking and giving ---- */

/* Whether the port may have one more of its own, if one is free. */
static bool may_occupy(const struct sa_mlids *mlids, const struct iba_mc_member_record *record,
		       uint64_t maker)
{
	uint32_t reserved = sa_mlids_count(mlids) / RESERVED_PART;
	uint32_t left = mlids->n_free > reserved ? mlids->n_free - reserved : 0;
	unsigned int of_port = sa_quota_of(&mlids->by_maker, maker);
	unsigned int of_partition = sa_quota_of(&mlids->by_p_key, record->p_key | P_KEY_FULL);

	if (!maker)
		return true;
	if (!left)
		return of_partition < PARTITION_FIRST && mlids->n_free > reserved / 2;
	if (of_port >= PORT_MIN && of_port >= left / PORT_PART)
		return false;
	return !of_port || of_partition < PARTITION_MIN || of_partition < PARTITION_TIMES * left;
}

/* A new group that needs an MLID. */
struct request {
	const struct iba_mc_member_record *record;
	uint64_t maker;
	bool exact;
};

static struct sa_mlid *occupy(struct sa_mlids *mlids, uint16_t number,
			      const struct request *request)
{
	struct sa_mlid *mlid = g_new0(struct sa_mlid, 1);

	set_taken(mlids, number);
	mlid->mlid = number;
	mlid->terms = *request->record;
	mlid->maker = request->maker;
	mlid->groups = g_ptr_array_new();
	mlids->all[number - IBA_LID_MCAST_FIRST] = mlid;
	sa_quota_count(&mlids->by_maker, mlid->maker);
	mlid->counted = request->record->p_key | P_KEY_FULL;
	sa_quota_count(&mlids->by_p_key, mlid->counted);
	return mlid;
}

static struct sa_mlid *take_exact(struct sa_mlids *mlids, const struct request *request)
{
	const struct iba_mc_member_record *record = request->record;
	struct sa_mlid *taken = sa_mlids_find(mlids, record->mlid);

	if (range_set_contains(&mlids->free, record->mlid) &&
	    (request->exact || may_occupy(mlids, record, request->maker)))
		return occupy(mlids, record->mlid, request);
	return request->exact && taken && sa_mlid_agrees(taken, record) ? taken : NULL;
}

static struct sa_mlid *take_lowest(struct sa_mlids *mlids, const struct request *request)
{
	uint64_t first;

	if ((request->exact || may_occupy(mlids, request->record, request->maker)) &&
	    range_set_find(&mlids->free, 1, 1, &first))
		return occupy(mlids, (uint16_t)first, request);
	return least_used(mlids, request->record, request->maker);
}

struct sa_mlid *sa_mlids_take(struct sa_mlids *mlids, const struct iba_mc_member_record *record,
			      uint64_t maker, bool exact)
{
	const struct request request = {record, maker, exact};
	uint64_t slot;
	bool has_slot = slot_of(mlids, record, &slot);
	struct sa_mlid *mlid = take_exact(mlids, &request);

	if (!mlid && has_slot)
		mlid = g_hash_table_lookup(mlids->slots, &slot);
	if (!mlid || (!exact && mlid->mlid > mlids->top)) /* some switches no longer support it */
		mlid = take_lowest(mlids, &request);
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
	sa_quota_give(&mlids->by_maker, mlid->maker);
	sa_quota_give(&mlids->by_p_key, mlid->counted);
	mlid_free(mlid);
}

void sa_mlids_erased(struct sa_mlids *mlids, uint64_t serial)
{
	for (struct erasing *first = g_queue_peek_head(&mlids->erasing);
	     first && first->serial <= serial; first = g_queue_peek_head(&mlids->erasing)) {
		mlids->is_erasing[first->mlid - IBA_LID_MCAST_FIRST] = false;
		if (first->mlid <= mlids->top)
			set_free(mlids, first->mlid);
		g_free(g_queue_pop_head(&mlids->erasing));
	}
}
