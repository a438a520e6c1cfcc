// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of multicast groups (IBA 15.2.5.17, 10.5): groups by MGID and by MLID, members by
 * port GUID. Only the sa actor touches it.
 *
 * A group lives as long as it has a full member (or send-only full member), or is well known:
 * made for a partition, which then decides its parameters.
 */
#include "sa/groups/store_private.h"

#include <string.h>

#include "complib/actor.h"
#include "complib/hash.h"

#define KEEPS_ALIVE (IBA_JOIN_FULL_MEMBER | IBA_JOIN_SEND_ONLY_FULL_MEMBER)
#define RECEIVES (IBA_JOIN_FULL_MEMBER | IBA_JOIN_NON_MEMBER)
#define QUOTA_MIN 64  /* groups that a port may always make, */
#define QUOTA_PART 16 /* and at most this fraction of all MLIDs */
/*
 * MGIDs that were made up: 8 per second of real time, more in a burst, as first_mgid after a
 * restart.
 */
#define MADE_RECENTLY (1u << 29) /* two years */
#define MADE_AHEAD (1u << 24)

static gint compare_mgids(gconstpointer a, gconstpointer b, gpointer arg)
{
	const struct iba_gid *x = a, *y = b;

	(void)arg;
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static void group_free(gpointer data)
{
	struct sa_group *group = data;

	mc_group_unref(group->published);
	g_array_unref(group->members);
	g_free(group);
}

struct sa_store *sa_store_new(uint32_t first_mgid)
{
	struct sa_store *store = g_new0(struct sa_store, 1);

	store->groups = g_tree_new_full(compare_mgids, NULL, NULL, group_free);
	sa_quota_init(&store->made, SA_MAX_GROUPS, QUOTA_MIN);
	sa_quota_init(&store->joined, SA_MAX_MEMBERSHIPS, SA_MEMBERSHIPS_OF_PORT);
	store->ports = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, g_free);
	store->lost_p_keys = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free,
						   (GDestroyNotify)g_array_unref);
	store->mlids = sa_mlids_new();
	store->last_made = first_mgid;
	return store;
}

void sa_store_set_aliases(struct sa_store *store, const struct alias_guids *aliases)
{
	store->aliases = aliases;
}

void sa_store_free(struct sa_store *store)
{
	mc_groups_unref(store->published);
	partitions_unref(store->partitions);
	g_tree_unref(store->groups);
	sa_quota_clear(&store->made);
	sa_quota_clear(&store->joined);
	g_hash_table_unref(store->ports);
	g_hash_table_unref(store->lost_p_keys);
	sa_mlids_free(store->mlids);
	g_free(store);
}

void sa_store_watch(struct sa_store *store, const struct sa_store_watch *watch, void *arg)
{
	store->watch = watch;
	store->watch_arg = arg;
}

void sa_store_tell(const struct sa_store *store, struct sa_group *group, bool gone)
{
	if (store->watch)
		store->watch->group(store->watch_arg, group, gone);
	group->is_told = true;
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
	const struct sa_mlid *found = sa_mlids_find(store->mlids, mlid);

	return found ? found->groups->pdata[0] : NULL;
}

/* The index of a port's membership, existing or new. */
static guint place_of(const struct sa_group *group, uint64_t guid)
{
	guint low = 0, high = group->members->len;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (g_array_index(group->members, struct sa_member, middle).guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sa_member *sa_group_member(const struct sa_group *group, uint64_t guid)
{
	guint place = place_of(group, guid);
	struct sa_member *member;

	if (place == group->members->len)
		return NULL;
	member = &g_array_index(group->members, struct sa_member, place);
	return member->guid == guid ? member : NULL;
}

static bool visit_all(const struct sa_mlid *mlid,
		      bool (*visit)(const struct sa_group *group, void *arg), void *arg)
{
	for (guint i = 0; mlid && i < mlid->groups->len; i++)
		if (!visit(mlid->groups->pdata[i], arg))
			return false;
	return true;
}

void sa_store_each_of(const struct sa_store *store, uint16_t mlid,
		      bool (*visit)(const struct sa_group *group, void *arg), void *arg)
{
	visit_all(sa_mlids_find(store->mlids, mlid), visit, arg);
}

void sa_store_each(const struct sa_store *store,
		   bool (*visit)(const struct sa_group *group, void *arg), void *arg)
{
	for (uint32_t mlid = IBA_LID_MCAST_FIRST; mlid <= IBA_LID_MCAST_LAST; mlid++)
		if (!visit_all(sa_mlids_find(store->mlids, (uint16_t)mlid), visit, arg))
			return;
}

/* All groups, for callers that may remove some of them. */
GPtrArray *sa_store_list(const struct sa_store *store)
{
	GPtrArray *list = g_ptr_array_sized_new(g_tree_nnodes(store->groups) + 1u);

	for (uint32_t i = 0; i < SA_N_MLIDS; i++) {
		const struct sa_mlid *mlid =
			sa_mlids_find(store->mlids, (uint16_t)(IBA_LID_MCAST_FIRST + i));

		for (guint k = 0; mlid && k < mlid->groups->len; k++)
			g_ptr_array_add(list, mlid->groups->pdata[k]);
	}
	return list;
}

/* ---- MLIDs and MGIDs ---- */

void sa_store_note_change(struct sa_store *store, struct sa_group *group)
{
	store->changed = true;
	store->block_changed[mc_block_of(group->record.mlid)] = true;
	g_clear_pointer(&group->published, mc_group_unref);
}

static gint compare_groups(gconstpointer a, gconstpointer b)
{
	const struct sa_group *const *x = a, *const *y = b;

	return compare_mgids(&(*x)->record.mgid, &(*y)->record.mgid, NULL);
}

static guint place_among(const GPtrArray *groups, const struct sa_group *group)
{
	guint low = 0, high = groups->len;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (compare_groups(&groups->pdata[middle], &group) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void sa_store_enter(struct sa_store *store, struct sa_group *group, struct sa_mlid *mlid)
{
	group->mlid = mlid;
	group->record.mlid = mlid->mlid;
	g_ptr_array_insert(mlid->groups, (gint)place_among(mlid->groups, group), group);
	sa_store_note_change(store, group);
}

/* The first list without the group is the next one published. */
void sa_store_leave_mlid(struct sa_store *store, struct sa_group *group)
{
	GPtrArray *groups = group->mlid->groups;

	sa_store_note_change(store, group);
	g_ptr_array_remove_index(groups, place_among(groups, group));
	if (!groups->len)
		sa_mlids_give(store->mlids, group->mlid, store->serial + 1);
	group->mlid = NULL;
}

/* The first half of MGIDs that this SM makes up. */
static uint64_t mgid_head(uint8_t scope, uint64_t subnet_prefix)
{
	return UINT64_C(0xFF10) << 48 | (uint64_t)(scope & 0xF) << 48 |
	       (uint64_t)IBA_MGID_SIGNATURE_SA << 32 | subnet_prefix >> 32;
}

static struct iba_gid make_mgid(struct sa_store *store, uint8_t scope, uint64_t subnet_prefix)
{
	struct iba_gid mgid = {.prefix = mgid_head(scope, subnet_prefix)};

	do {
		mgid.guid = subnet_prefix << 32 | ++store->last_made;
	} while (sa_store_find(store, mgid));
	return mgid;
}

bool sa_store_made(const struct sa_store *store, struct iba_gid mgid, uint64_t subnet_prefix)
{
	uint32_t age = store->last_made + MADE_AHEAD - (uint32_t)mgid.guid;

	return (mgid.prefix & ~(UINT64_C(0xF) << 48)) == mgid_head(0, subnet_prefix) &&
	       mgid.guid >> 32 == (uint32_t)subnet_prefix && age < MADE_RECENTLY + MADE_AHEAD;
}

/* ---- quotas ---- */

void sa_store_bound(struct sa_store *store, const struct subnet *subnet)
{
	const struct options *options = subnet->options;
	unsigned int usual = MAX(QUOTA_MIN, sa_mlids_count(store->mlids) / QUOTA_PART);

	sa_quota_follow(&store->made, options->sa_max_groups ? options->sa_max_groups : usual,
			subnet->fabric);
	sa_quota_follow(&store->joined, options->sa_max_memberships, subnet->fabric);
}

bool sa_store_may_join(const struct sa_store *store, uint64_t maker)
{
	return sa_quota_allows(&store->joined, maker);
}

static bool has_quota(const struct sa_store *store, uint64_t creator)
{
	return !creator || sa_quota_allows(&store->made, creator);
}

/* ---- changes ---- */

static struct sa_group *create(struct sa_store *store, const struct iba_mc_member_record *record,
			       uint64_t creator, bool exact)
{
	struct sa_mlid *mlid = sa_mlids_take(store->mlids, record, creator, exact);
	struct sa_group *group;

	if (!mlid)
		return NULL;
	group = g_new0(struct sa_group, 1);
	group->creator = creator;
	if (creator)
		sa_quota_count(&store->made, creator);
	group->record = *record;
	group->record.port_gid = (struct iba_gid){0};
	group->record.join_state = 0;
	group->record.proxy_join = 0;
	group->members = g_array_new(FALSE, FALSE, sizeof(struct sa_member));
	g_tree_insert(store->groups, &group->record.mgid, group);
	sa_store_enter(store, group, mlid);
	sa_store_tell(store, group, false);
	return group;
}

struct sa_group *sa_store_create(struct sa_store *store, const struct iba_mc_member_record *record,
				 uint64_t subnet_prefix, uint64_t creator)
{
	struct iba_mc_member_record named = *record;

	if (!has_quota(store, creator))
		return NULL;
	if (iba_gid_equal(named.mgid, (struct iba_gid){0}))
		named.mgid = make_mgid(store, named.scope, subnet_prefix);
	return create(store, &named, creator, false);
}

struct sa_group *sa_store_restore(struct sa_store *store, const struct iba_mc_member_record *record,
				  uint64_t creator)
{
	return create(store, record, creator, true);
}

void sa_store_keep(struct sa_store *store, struct sa_group *group, bool well_known)
{
	group->well_known = well_known;
	sa_store_tell(store, group, false);
}

/* ---- members ---- */

struct sa_store_port *sa_store_port(const struct sa_store *store, uint64_t guid)
{
	return g_hash_table_lookup(store->ports, &guid);
}

unsigned int sa_store_groups_of(const struct sa_store *store, uint64_t guid)
{
	const struct sa_store_port *port = sa_store_port(store, guid);

	return port ? port->n : 0;
}

static struct sa_store_port *need_port(struct sa_store *store, uint64_t guid)
{
	struct sa_store_port *port = sa_store_port(store, guid);

	if (!port) {
		port = g_new0(struct sa_store_port, 1);
		port->guid = guid;
		g_hash_table_insert(store->ports, &port->guid, port);
	}
	return port;
}

static void drop_unused(struct sa_store *store, struct sa_store_port *port)
{
	if (port->n || port->n_made)
		return;
	store->n_due -= sa_store_is_due(port);
	g_hash_table_remove(store->ports, &port->guid);
}

/* Charges the membership to the port that asks for it. */
static void charge(struct sa_store *store, struct sa_member *member, uint64_t maker)
{
	member->maker = maker;
	sa_quota_count(&store->joined, maker);
	if (maker && maker != member->guid)
		need_port(store, maker)->n_made++;
}

static void discharge(struct sa_store *store, const struct sa_member *member)
{
	struct sa_store_port *port;

	sa_quota_give(&store->joined, member->maker);
	if (!member->maker || member->maker == member->guid)
		return;
	port = sa_store_port(store, member->maker);
	port->n_made--;
	drop_unused(store, port);
}

static void count_out(struct sa_store *store, const struct sa_member *member)
{
	struct sa_store_port *port = sa_store_port(store, member->guid);

	discharge(store, member);
	port->n--;
	drop_unused(store, port);
}

void sa_store_remove(struct sa_store *store, struct sa_group *group)
{
	for (guint i = 0; i < group->members->len; i++) {
		struct sa_member *member = &g_array_index(group->members, struct sa_member, i);

		member->join_state = 0;
		tell_member(store, group, member);
		count_out(store, member);
	}
	sa_store_tell(store, group, true);
	if (group->creator)
		sa_quota_give(&store->made, group->creator);
	sa_store_leave_mlid(store, group);
	g_tree_remove(store->groups, &group->record.mgid);
}

static void set_join_state(struct sa_store *store, struct sa_group *group, struct sa_member *member,
			   uint8_t join_state)
{
	group->n_full -= (member->join_state & KEEPS_ALIVE) != 0;
	group->n_full += (join_state & KEEPS_ALIVE) != 0;
	if (!(member->join_state & RECEIVES) != !(join_state & RECEIVES))
		sa_store_note_change(store, group);
	member->join_state = join_state;
}

const struct sa_member *sa_store_join_by(struct sa_store *store, struct sa_group *group,
					 uint64_t guid, uint8_t join_state, bool proxy,
					 uint64_t maker)
{
	struct sa_member *member = sa_group_member(group, guid);

	if (!member) {
		struct sa_member new = {.guid = guid, .proxy = true};

		g_array_insert_val(group->members, place_of(group, guid), new);
		member = sa_group_member(group, guid);
		need_port(store, guid)->n++;
		charge(store, member, maker);
		sa_store_note_change(store, group);
	} else if (!proxy && member->maker != maker) {
		discharge(store, member);
		charge(store, member, maker);
	}
	member->proxy &= proxy;
	member->lapsing = false;
	set_join_state(store, group, member, member->join_state | join_state);
	tell_member(store, group, member);
	return member;
}

void sa_store_take_bits(struct sa_store *store, struct sa_group *group, guint place,
		      uint8_t join_state)
{
	struct sa_member *member = &g_array_index(group->members, struct sa_member, place);

	set_join_state(store, group, member, member->join_state & ~join_state);
	tell_member(store, group, member);
	if (member->join_state)
		return;
	count_out(store, member);
	g_array_remove_index(group->members, place);
	sa_store_note_change(store, group);
}

void sa_store_leave(struct sa_store *store, struct sa_group *group, uint64_t guid,
		    uint8_t join_state)
{
	if (!sa_group_member(group, guid))
		return;
	sa_store_take_bits(store, group, place_of(group, guid), join_state);
	if (group->n_full == 0 && !group->well_known)
		sa_store_remove(store, group);
}

void sa_store_clear(struct sa_store *store)
{
	GPtrArray *groups = sa_store_list(store);

	for (guint i = 0; i < groups->len; i++)
		sa_store_remove(store, groups->pdata[i]);
	g_ptr_array_unref(groups);
	g_hash_table_remove_all(store->lost_p_keys);
	sa_mlids_erased(store->mlids, UINT64_MAX);
}

uint64_t sa_store_serial(const struct sa_store *store)
{
	return store->serial + store->changed;
}

void sa_store_programmed(struct sa_store *store, uint64_t serial)
{
	sa_mlids_erased(store->mlids, serial);
}

/* ---- publication ---- */

static struct mc_group *publish_group(const struct sa_store *store, struct sa_group *group)
{
	struct mc_group *out;

	if (group->published)
		return mc_group_ref(group->published);
	out = mc_group_new(group->members->len);
	out->mgid = group->record.mgid;
	out->mlid = group->record.mlid;
	out->p_key = group->record.p_key;
	out->mtu = group->record.mtu;
	out->rate = group->record.rate;
	out->sl = group->record.sl;
	for (guint i = 0; i < group->members->len; i++) {
		const struct sa_member *member =
			&g_array_index(group->members, struct sa_member, i);
		const struct alias_guid *alias = alias_guids_find(store->aliases, member->guid);

		out->port_guids[out->n_ports] = alias ? alias->port : member->guid;
		out->only_sends[out->n_ports++] = !(member->join_state & RECEIVES);
	}
	group->published = mc_group_ref(out);
	return out;
}

static struct mc_block *publish_block(const struct sa_store *store, uint32_t index)
{
	uint16_t first = (uint16_t)(IBA_LID_MCAST_FIRST + index * MC_PER_BLOCK);
	struct mc_block *block;
	uint32_t n = 0;

	for (uint16_t i = 0; i < MC_PER_BLOCK; i++) {
		const struct sa_mlid *mlid = sa_mlids_find(store->mlids, first + i);

		n += mlid ? mlid->groups->len : 0;
	}
	if (!n)
		return NULL;
	block = mc_block_new(n);
	n = 0;
	for (uint16_t i = 0; i < MC_PER_BLOCK; i++) {
		const struct sa_mlid *mlid = sa_mlids_find(store->mlids, first + i);

		for (guint k = 0; mlid && k < mlid->groups->len; k++)
			block->groups[n++] = publish_group(store, mlid->groups->pdata[k]);
	}
	return block;
}

bool sa_store_changed(const struct sa_store *store)
{
	return store->changed;
}

struct mc_groups *sa_store_publish(struct sa_store *store)
{
	struct mc_groups *before = store->published, *groups;

	if (!store->changed)
		return NULL;
	groups = mc_groups_new(++store->serial);
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++) {
		if (store->block_changed[i])
			groups->blocks[i] = publish_block(store, i);
		else if (before && before->blocks[i])
			groups->blocks[i] = mc_block_ref(before->blocks[i]);
		groups->n += groups->blocks[i] ? groups->blocks[i]->n : 0;
	}
	store->changed = false;
	memset(store->block_changed, 0, sizeof(store->block_changed));
	mc_groups_unref(before);
	store->published = mc_groups_ref(groups);
	return groups;
}
