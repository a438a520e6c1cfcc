// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of multicast groups (IBA 15.2.5.17, 10.5): groups by MGID and by MLID, members by
 * port GUID, free MLIDs as ranges. Only the sa actor touches it.
 *
 * A group lives as long as it has a full member (or send-only full member), or is well known:
 * made for a partition, which then decides its parameters.
 */
#include "sa/store.h"

#include "complib/range.h"

#define N_MLIDS (IBA_LID_MCAST_LAST - IBA_LID_MCAST_FIRST + 1)
#define KEEPS_ALIVE (IBA_JOIN_FULL_MEMBER | IBA_JOIN_SEND_ONLY_FULL_MEMBER)
#define QUOTA_MIN 64  /* groups that a port may make at least, */
#define QUOTA_PART 16 /* and at most this part of the MLIDs that there are */
#define SIGNATURE_SA UINT64_C(0xA01B)

struct sa_store {
	GTree *groups; /* struct sa_group by mgid */
	struct sa_group *by_mlid[N_MLIDS];
	GHashTable *made; /* uint64_t GUID of a creator -> groups it made that live, owned */
	struct range_set free_mlids; /* among those the switches can do */
	uint16_t top;		     /* the highest MLID the switches can do */
	uint32_t last_made;	     /* number in the last MGID made here */
	uint64_t serial;
	bool changed; /* since the last publication */
	const struct sa_store_watch *watch; /* NULL: nobody */
	void *watch_arg;
};

static gint compare_mgids(gconstpointer a, gconstpointer b, gpointer arg)
{
	const struct iba_gid *x = a, *y = b;

	(void)arg;
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static gint compare_guids(gconstpointer a, gconstpointer b, gpointer arg)
{
	const uint64_t *x = a, *y = b;

	(void)arg;
	return *x < *y ? -1 : *x > *y;
}

static void group_free(gpointer data)
{
	struct sa_group *group = data;

	g_tree_unref(group->members);
	g_free(group);
}

struct sa_store *sa_store_new(void)
{
	struct sa_store *store = g_new0(struct sa_store, 1);

	store->groups = g_tree_new_full(compare_mgids, NULL, NULL, group_free);
	store->made = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	range_set_init(&store->free_mlids);
	store->top = IBA_LID_MCAST_LAST;
	range_set_add(&store->free_mlids, IBA_LID_MCAST_FIRST, store->top);
	return store;
}

void sa_store_free(struct sa_store *store)
{
	if (!store)
		return;
	g_tree_unref(store->groups);
	g_hash_table_unref(store->made);
	range_set_clear(&store->free_mlids);
	g_free(store);
}

void sa_store_watch(struct sa_store *store, const struct sa_store_watch *watch, void *arg)
{
	store->watch = watch;
	store->watch_arg = arg;
}

static void tell_group(const struct sa_store *store, const struct sa_group *group, bool gone)
{
	if (store->watch)
		store->watch->group(store->watch_arg, group, gone);
}

static void tell_member(const struct sa_store *store, const struct sa_group *group,
			const struct sa_member *member)
{
	if (store->watch)
		store->watch->member(store->watch_arg, group, member);
}

/* ---- look-ups ---- */

struct sa_group *sa_store_find(const struct sa_store *store, struct iba_gid mgid)
{
	return g_tree_lookup(store->groups, &mgid);
}

struct sa_group *sa_store_find_mlid(const struct sa_store *store, uint16_t mlid)
{
	return iba_lid_is_multicast(mlid) ? store->by_mlid[mlid - IBA_LID_MCAST_FIRST] : NULL;
}

struct sa_member *sa_group_member(const struct sa_group *group, uint64_t guid)
{
	return g_tree_lookup(group->members, &guid);
}

void sa_store_each(const struct sa_store *store,
		   bool (*visit)(const struct sa_group *group, void *arg), void *arg)
{
	for (unsigned int i = 0; i < N_MLIDS; i++)
		if (store->by_mlid[i] && !visit(store->by_mlid[i], arg))
			return;
}

/* ---- MLIDs and MGIDs ---- */

static bool take_mlid(struct sa_store *store, uint16_t preferred, uint16_t *mlid)
{
	uint64_t first = preferred;

	if (!range_set_contains(&store->free_mlids, preferred) &&
	    !range_set_find(&store->free_mlids, 1, 1, &first))
		return false;
	range_set_remove(&store->free_mlids, first, first);
	*mlid = first;
	return true;
}

static void give_mlid(struct sa_store *store, uint16_t mlid)
{
	store->by_mlid[mlid - IBA_LID_MCAST_FIRST] = NULL;
	if (mlid <= store->top)
		range_set_add(&store->free_mlids, mlid, mlid);
}

static uint64_t mgid_head(uint8_t scope, uint64_t signature)
{
	return UINT64_C(0xFF10) << 48 | (uint64_t)(scope & 0xF) << 48 | signature << 32;
}

static struct iba_gid make_mgid(struct sa_store *store, uint8_t scope, uint64_t subnet_prefix)
{
	struct iba_gid mgid = {.prefix = mgid_head(scope, SIGNATURE_SA) | subnet_prefix >> 32};

	do {
		mgid.guid = subnet_prefix << 32 | ++store->last_made;
	} while (sa_store_find(store, mgid));
	return mgid;
}

/* ---- quotas ---- */

static unsigned int made_by(const struct sa_store *store, uint64_t creator)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(store->made, &creator));
}

static bool has_quota(const struct sa_store *store, uint64_t creator)
{
	unsigned int n_mlids = store->top - IBA_LID_MCAST_FIRST + 1u;

	return !creator || made_by(store, creator) < MAX(QUOTA_MIN, n_mlids / QUOTA_PART);
}

static void count_made(struct sa_store *store, uint64_t creator, int change)
{
	unsigned int n = made_by(store, creator) + (unsigned int)change;

	if (creator && n)
		g_hash_table_replace(store->made, g_memdup2(&creator, sizeof(creator)),
				     GUINT_TO_POINTER(n));
	else
		g_hash_table_remove(store->made, &creator);
}

/* ---- changes ---- */

struct sa_group *sa_store_create(struct sa_store *store, const struct iba_mc_member_record *record,
				 uint64_t subnet_prefix, uint64_t creator)
{
	struct sa_group *group;
	uint16_t mlid;

	if (!has_quota(store, creator) || !take_mlid(store, record->mlid, &mlid))
		return NULL;
	group = g_new0(struct sa_group, 1);
	group->creator = creator;
	count_made(store, creator, 1);
	group->record = *record;
	group->record.mlid = mlid;
	group->record.port_gid = (struct iba_gid){0};
	group->record.join_state = 0;
	group->record.proxy_join = 0;
	if (iba_gid_equal(record->mgid, (struct iba_gid){0}))
		group->record.mgid = make_mgid(store, record->scope, subnet_prefix);
	group->members = g_tree_new_full(compare_guids, NULL, NULL, g_free);
	g_tree_insert(store->groups, &group->record.mgid, group);
	store->by_mlid[mlid - IBA_LID_MCAST_FIRST] = group;
	store->changed = true;
	tell_group(store, group, false);
	return group;
}

void sa_store_keep(struct sa_store *store, struct sa_group *group, bool well_known)
{
	group->well_known = well_known;
	tell_group(store, group, false);
}

struct parting {
	const struct sa_store *store;
	const struct sa_group *group;
};

static gboolean tell_parting(gpointer key, gpointer value, gpointer arg)
{
	const struct parting *parting = arg;
	struct sa_member *member = value;

	(void)key;
	member->join_state = 0;
	tell_member(parting->store, parting->group, member);
	return FALSE;
}

static void group_remove(struct sa_store *store, struct sa_group *group)
{
	struct parting parting = {store, group};

	g_tree_foreach(group->members, tell_parting, &parting);
	tell_group(store, group, true);
	give_mlid(store, group->record.mlid);
	count_made(store, group->creator, -1);
	g_tree_remove(store->groups, &group->record.mgid);
	store->changed = true;
}

static void set_join_state(struct sa_group *group, struct sa_member *member, uint8_t join_state)
{
	group->n_full -= (member->join_state & KEEPS_ALIVE) != 0;
	group->n_full += (join_state & KEEPS_ALIVE) != 0;
	member->join_state = join_state;
}

const struct sa_member *sa_store_join(struct sa_store *store, struct sa_group *group, uint64_t guid,
				      uint8_t join_state, bool proxy)
{
	struct sa_member *member = sa_group_member(group, guid);

	if (!member) {
		member = g_new0(struct sa_member, 1);
		member->guid = guid;
		member->proxy = proxy;
		g_tree_insert(group->members, &member->guid, member);
		store->changed = true;
	}
	set_join_state(group, member, member->join_state | join_state);
	tell_member(store, group, member);
	return member;
}

void sa_store_leave(struct sa_store *store, struct sa_group *group, uint64_t guid,
		    uint8_t join_state)
{
	struct sa_member *member = sa_group_member(group, guid);

	if (!member)
		return;
	set_join_state(group, member, member->join_state & ~join_state);
	tell_member(store, group, member);
	if (member->join_state == 0) {
		g_tree_remove(group->members, &guid);
		store->changed = true;
	}
	if (group->n_full == 0 && !group->well_known)
		group_remove(store, group);
}

void sa_store_clear(struct sa_store *store)
{
	for (unsigned int i = 0; i < N_MLIDS; i++)
		if (store->by_mlid[i])
			group_remove(store, store->by_mlid[i]);
}

/* ---- a new subnet ---- */

static uint16_t highest_mlid(const struct fabric *fabric)
{
	uint32_t cap = N_MLIDS;

	for (uint32_t i = 0; i < fabric->n_switches; i++)
		if (fabric->switches[i].info.multicast_fdb_cap)
			cap = MIN(cap, fabric->switches[i].info.multicast_fdb_cap);
	return IBA_LID_MCAST_FIRST + cap - 1;
}

/* Groups above a new, lower top stay; their MLIDs do not come back. */
static void set_top(struct sa_store *store, uint16_t top)
{
	if (top < store->top)
		range_set_remove(&store->free_mlids, top + 1, store->top);
	for (uint32_t mlid = store->top + 1; mlid <= top; mlid++)
		if (!sa_store_find_mlid(store, mlid))
			range_set_add(&store->free_mlids, mlid, mlid);
	store->top = top;
}

struct leavers {
	const struct subnet *subnet;
	bool all;
	uint16_t p_key;
	GArray *guids;
};

static gboolean note_if_lost(gpointer key, gpointer value, gpointer arg)
{
	const struct sa_member *member = value;
	struct leavers *leavers = arg;
	const struct subnet *subnet = leavers->subnet;
	uint32_t port = fabric_port_by_guid(subnet->fabric, member->guid);

	(void)key;
	if (leavers->all || port == FABRIC_NONE || !fabric_is_connected(subnet->fabric, port) ||
	    !partitions_member(subnet->partitions, port, leavers->p_key))
		g_array_append_val(leavers->guids, member->guid);
	return FALSE;
}

/* Lets all members go, or those that the subnet no longer has; the group may go with them. */
static void drop_members(struct sa_store *store, struct sa_group *group,
			 const struct subnet *subnet, bool all)
{
	struct iba_gid mgid = group->record.mgid;
	struct leavers leavers = {
		.subnet = subnet,
		.all = all,
		.p_key = group->record.p_key,
		.guids = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};

	g_tree_foreach(group->members, note_if_lost, &leavers);
	for (guint i = 0; i < leavers.guids->len && sa_store_find(store, mgid); i++)
		sa_store_leave(store, group, g_array_index(leavers.guids, uint64_t, i), 0xF);
	g_array_unref(leavers.guids);
}

static struct iba_mc_member_record record_of(const struct partition *partition,
					     const struct partition_group *group,
					     const struct options *options)
{
	bool local = group->scope == IBA_SCOPE_LINK_LOCAL;

	return (struct iba_mc_member_record){
		.mgid = group->mgid,
		.q_key = group->q_key,
		.mtu_selector = IBA_SELECTOR_EXACTLY,
		.mtu = group->mtu,
		.t_class = group->t_class,
		.p_key = partition->p_key | P_KEY_FULL,
		.rate_selector = IBA_SELECTOR_EXACTLY,
		.rate = group->rate,
		.packet_life_time_selector = IBA_SELECTOR_EXACTLY,
		.packet_life_time = options->subnet_timeout,
		.sl = group->sl,
		.flow_label = group->flow_label,
		.hop_limit = local ? 0 : 0xFF,
		.scope = group->scope,
	};
}

/*
 * A group of a partition. Parameters of a group that has members stay: the members rely on them
 * until all have left.
 */
static void follow_wish(struct sa_store *store, const struct partition *partition,
			const struct partition_group *wish, const struct subnet *subnet)
{
	struct iba_mc_member_record record = record_of(partition, wish, subnet->options);
	struct sa_group *group = sa_store_find(store, record.mgid);

	if (!group)
		group = sa_store_create(store, &record, subnet->options->subnet_prefix, 0);
	if (!group)
		return;
	group->well_known = true;
	group->barred = wish->barred;
	if (wish->barred)
		drop_members(store, group, subnet, true);
	if (g_tree_nnodes(group->members) == 0) {
		record.mlid = group->record.mlid;
		group->record = record;
	}
	tell_group(store, group, false);
}

static void follow_group(struct sa_store *store, struct sa_group *group,
			 const struct subnet *subnet)
{
	const struct partition *partition =
		partitions_find(subnet->partitions, group->record.p_key);
	bool wanted = false;

	for (uint32_t i = 0; group->well_known && partition && i < partition->n_groups; i++)
		wanted |= iba_gid_equal(group->record.mgid, partition->groups[i].mgid);
	if (group->well_known && !wanted)
		sa_store_keep(store, group, false);
	group->barred &= wanted;
	drop_members(store, group, subnet, false);
}

void sa_store_follow(struct sa_store *store, const struct subnet *subnet)
{
	const struct partitions *partitions = subnet->partitions;

	set_top(store, highest_mlid(subnet->fabric));
	for (unsigned int i = 0; i < N_MLIDS; i++)
		if (store->by_mlid[i])
			follow_group(store, store->by_mlid[i], subnet);
	for (unsigned int i = 0; i < N_MLIDS; i++)
		if (store->by_mlid[i] && !store->by_mlid[i]->well_known &&
		    store->by_mlid[i]->n_full == 0)
			group_remove(store, store->by_mlid[i]);
	for (uint32_t i = partitions->n; i-- > 0;) /* the default one first */
		for (uint32_t k = 0; k < partitions->all[i].n_groups; k++)
			follow_wish(store, &partitions->all[i], &partitions->all[i].groups[k],
				    subnet);
}

/* ---- publication ---- */

static gboolean copy_guid(gpointer key, gpointer value, gpointer arg)
{
	struct mc_group *out = arg;

	(void)value;
	out->port_guids[out->n_ports++] = *(const uint64_t *)key;
	return FALSE;
}

static void copy_group(const struct sa_group *group, struct mc_group *out)
{
	*out = (struct mc_group){
		.mgid = group->record.mgid,
		.mlid = group->record.mlid,
		.p_key = group->record.p_key,
		.mtu = group->record.mtu,
		.rate = group->record.rate,
		.sl = group->record.sl,
		.port_guids = g_new(uint64_t, g_tree_nnodes(group->members)),
	};
	g_tree_foreach(group->members, copy_guid, out);
}

bool sa_store_changed(const struct sa_store *store)
{
	return store->changed;
}

struct mc_groups *sa_store_publish(struct sa_store *store)
{
	struct mc_groups *groups;
	uint32_t n = 0;

	if (!store->changed)
		return NULL;
	store->changed = false;
	groups = mc_groups_new(g_tree_nnodes(store->groups), ++store->serial);
	for (unsigned int i = 0; i < N_MLIDS; i++)
		if (store->by_mlid[i])
			copy_group(store->by_mlid[i], &groups->groups[n++]);
	return groups;
}
