// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of multicast groups (IBA 15.2.5.17, 10.5): groups by MGID and by MLID, members by
 * port GUID. Only the sa actor touches it.
 *
 * A group lives as long as it has a full member (or send-only full member), or is well known:
 * made for a partition, which then decides its parameters.
 *
 * A port that vanishes from the subnet may be back in a moment and never know that it was away: it
 * stays in its groups for a grace time, and has no part in their trees as long as it is not there.
 * A port without the P_Key of a group leaves it. Its client may not notice if it soon has the P_Key
 * again, at the index of before, so then it is to be asked to join again.
 */
#include "sa/store.h"

#include <string.h>

#include "complib/actor.h"
#include "sa/ipoib.h"
#include "sa/quota.h"

#define KEEPS_ALIVE (IBA_JOIN_FULL_MEMBER | IBA_JOIN_SEND_ONLY_FULL_MEMBER)
#define RECEIVES (IBA_JOIN_FULL_MEMBER | IBA_JOIN_NON_MEMBER)
#define QUOTA_MIN 64  /* groups that a port may make at least, */
#define QUOTA_PART 16 /* and at most this part of the MLIDs that there are */
/* MGIDs that were made: 8 a second of real time, more in a burst, as first_mgid of another life. */
#define MADE_RECENTLY (1u << 29) /* two years */
#define MADE_AHEAD (1u << 24)

/* A port that is in some group, or made others members. */
struct port {
	uint64_t guid;
	uint32_t n;	     /* groups */
	uint32_t n_made;     /* memberships of other GUIDs than that */
	uint64_t gone_until; /* when it leaves them; 0: it is in the subnet */
	uint64_t renew_by; /* it is back: when it leaves those that it did not join again; or 0 */
};

struct sa_store {
	GTree *groups; /* struct sa_group by mgid */
	struct sa_mlids *mlids;
	struct sa_quota made; /* groups that live, by the port that made them */
	struct sa_quota joined; /* memberships, by the port that made them */
	GHashTable *ports;  /* struct port by guid */
	uint32_t n_due;	    /* of these, that are to leave some at a time */
	GHashTable *lost_p_keys; /* GArray of those by whose lack a port left groups, by guid */
	uint32_t last_made; /* number in the last MGID made here */
	uint32_t n_unmet;   /* groups that partitions want, and for which no MLID is free */
	uint64_t serial;
	bool changed;			    /* since the last publication */
	bool block_changed[IBA_MFT_BLOCKS]; /* likewise */
	struct mc_groups *published;
	struct partitions *partitions;	    /* that members were looked at by; NULL: none yet */
	const struct sa_store_watch *watch; /* NULL: nobody */
	void *watch_arg;
	const struct alias_guids *aliases; /* NULL: none */
};

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
	store->ports = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	store->lost_p_keys = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
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

static void tell_group(const struct sa_store *store, struct sa_group *group, bool gone)
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

/* Where a port's membership is, or is to be. */
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

/* All groups, for who may remove some of them. */
static GPtrArray *list_groups(const struct sa_store *store)
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

static void note_change(struct sa_store *store, struct sa_group *group)
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

static void enter(struct sa_store *store, struct sa_group *group, struct sa_mlid *mlid)
{
	group->mlid = mlid;
	group->record.mlid = mlid->mlid;
	g_ptr_array_insert(mlid->groups, (gint)place_among(mlid->groups, group), group);
	note_change(store, group);
}

/* The list in which the group is not any more is the next one. */
static void leave_mlid(struct sa_store *store, struct sa_group *group)
{
	GPtrArray *groups = group->mlid->groups;

	note_change(store, group);
	g_ptr_array_remove_index(groups, place_among(groups, group));
	if (!groups->len)
		sa_mlids_give(store->mlids, group->mlid, store->serial + 1);
	group->mlid = NULL;
}

/* The first half of MGIDs that this SA makes. */
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
	enter(store, group, mlid);
	tell_group(store, group, false);
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
	tell_group(store, group, false);
}

/* ---- members ---- */

static struct port *port_of(const struct sa_store *store, uint64_t guid)
{
	return g_hash_table_lookup(store->ports, &guid);
}

static bool is_due(const struct port *port)
{
	return port->gone_until || port->renew_by;
}

unsigned int sa_store_groups_of(const struct sa_store *store, uint64_t guid)
{
	const struct port *port = port_of(store, guid);

	return port ? port->n : 0;
}

static struct port *need_port(struct sa_store *store, uint64_t guid)
{
	struct port *port = port_of(store, guid);

	if (!port) {
		port = g_new0(struct port, 1);
		port->guid = guid;
		g_hash_table_insert(store->ports, &port->guid, port);
	}
	return port;
}

static void drop_unused(struct sa_store *store, struct port *port)
{
	if (port->n || port->n_made)
		return;
	store->n_due -= is_due(port);
	g_hash_table_remove(store->ports, &port->guid);
}

/* Charged to the port that asks for it. */
static void charge(struct sa_store *store, struct sa_member *member, uint64_t maker)
{
	member->maker = maker;
	sa_quota_count(&store->joined, maker);
	if (maker && maker != member->guid)
		need_port(store, maker)->n_made++;
}

static void discharge(struct sa_store *store, const struct sa_member *member)
{
	struct port *port;

	sa_quota_give(&store->joined, member->maker);
	if (!member->maker || member->maker == member->guid)
		return;
	port = port_of(store, member->maker);
	port->n_made--;
	drop_unused(store, port);
}

static void count_out(struct sa_store *store, const struct sa_member *member)
{
	struct port *port = port_of(store, member->guid);

	discharge(store, member);
	port->n--;
	drop_unused(store, port);
}

static void group_remove(struct sa_store *store, struct sa_group *group)
{
	for (guint i = 0; i < group->members->len; i++) {
		struct sa_member *member = &g_array_index(group->members, struct sa_member, i);

		member->join_state = 0;
		tell_member(store, group, member);
		count_out(store, member);
	}
	tell_group(store, group, true);
	if (group->creator)
		sa_quota_give(&store->made, group->creator);
	leave_mlid(store, group);
	g_tree_remove(store->groups, &group->record.mgid);
}

static void set_join_state(struct sa_store *store, struct sa_group *group, struct sa_member *member,
			   uint8_t join_state)
{
	group->n_full -= (member->join_state & KEEPS_ALIVE) != 0;
	group->n_full += (join_state & KEEPS_ALIVE) != 0;
	if (!(member->join_state & RECEIVES) != !(join_state & RECEIVES))
		note_change(store, group);
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
		note_change(store, group);
	} else if (member->proxy && !proxy) {
		discharge(store, member);
		charge(store, member, maker);
	}
	member->proxy &= proxy;
	member->lapsing = false;
	set_join_state(store, group, member, member->join_state | join_state);
	tell_member(store, group, member);
	return member;
}

static void take_bits(struct sa_store *store, struct sa_group *group, guint place,
		      uint8_t join_state)
{
	struct sa_member *member = &g_array_index(group->members, struct sa_member, place);

	set_join_state(store, group, member, member->join_state & ~join_state);
	tell_member(store, group, member);
	if (member->join_state)
		return;
	count_out(store, member);
	g_array_remove_index(group->members, place);
	note_change(store, group);
}

void sa_store_leave(struct sa_store *store, struct sa_group *group, uint64_t guid,
		    uint8_t join_state)
{
	if (!sa_group_member(group, guid))
		return;
	take_bits(store, group, place_of(group, guid), join_state);
	if (group->n_full == 0 && !group->well_known)
		group_remove(store, group);
}

void sa_store_clear(struct sa_store *store)
{
	GPtrArray *groups = list_groups(store);

	for (guint i = 0; i < groups->len; i++)
		group_remove(store, groups->pdata[i]);
	g_ptr_array_unref(groups);
	g_hash_table_remove_all(store->lost_p_keys);
	sa_mlids_erased(store->mlids, UINT64_MAX);
}

/* ---- ports that are gone ---- */

/* Whether the SM asks a port that is back to join its groups again. */
static bool is_asked(const struct subnet *subnet, uint32_t port)
{
	return !subnet->options->no_clients_rereg &&
	       subnet->fabric->ports[port].info.capability_mask &
		       IBA_PORT_CAP_CLIENT_REREGISTRATION;
}

/* Whether it is back, and has groups to join again. */
static bool mark_port(struct port *port, const struct subnet *subnet, uint32_t found,
		      uint64_t until)
{
	bool was_gone = port->gone_until != 0;

	if (found == FABRIC_NONE || !fabric_is_connected(subnet->fabric, found)) {
		port->gone_until = was_gone ? MIN(port->gone_until, until) : until;
		port->renew_by = 0;
		return false;
	}
	port->gone_until = 0;
	if (was_gone && is_asked(subnet, found))
		port->renew_by = until;
	return was_gone && port->renew_by;
}

/* Members that are to join again by that time; nobody asks who joined on behalf of others. */
static void mark_lapsing(struct sa_store *store, uint64_t until)
{
	GPtrArray *groups = list_groups(store);

	for (guint i = 0; i < groups->len; i++) {
		const struct sa_group *group = groups->pdata[i];

		for (guint k = 0; k < group->members->len; k++) {
			struct sa_member *member =
				&g_array_index(group->members, struct sa_member, k);

			member->lapsing |= !member->proxy &&
					   port_of(store, member->guid)->renew_by == until;
		}
	}
	g_ptr_array_unref(groups);
}

static void mark_gone(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns)
{
	uint64_t until = now_ns + subnet->options->membership_grace * NS_PER_S;
	bool any_back = false;
	GHashTableIter iter;
	struct port *port;

	g_hash_table_iter_init(&iter, store->ports);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&port)) {
		uint32_t found = alias_guids_port(store->aliases, subnet->fabric, port->guid);

		store->n_due -= is_due(port);
		any_back |= mark_port(port, subnet, found, until);
		store->n_due += is_due(port);
	}
	if (any_back)
		mark_lapsing(store, until);
}

/* The port that joined another one. */
static const struct port *proxy_of(const struct sa_store *store, const struct sa_member *member)
{
	return member->proxy && member->maker ? port_of(store, member->maker) : NULL;
}

static bool is_overdue(const struct sa_store *store, const struct sa_member *member,
		       uint64_t now_ns)
{
	const struct port *port = port_of(store, member->guid), *proxy = proxy_of(store, member);

	return (port->gone_until && port->gone_until <= now_ns) ||
	       (proxy && proxy->gone_until && proxy->gone_until <= now_ns) ||
	       (member->lapsing && port->renew_by && port->renew_by <= now_ns);
}

/* The group stays, if nobody keeps it too. */
static void drop_overdue(struct sa_store *store, struct sa_group *group, uint64_t now_ns)
{
	for (guint i = group->members->len; i-- > 0;)
		if (is_overdue(store, &g_array_index(group->members, struct sa_member, i), now_ns))
			take_bits(store, group, i, 0xF);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && b ? MIN(a, b) : a + b;
}

/* 0: nobody is to leave. Forgets times that are over. */
static uint64_t next_to_leave(struct sa_store *store, uint64_t now_ns)
{
	uint64_t next = 0;
	GHashTableIter iter;
	struct port *port;

	if (!store->n_due)
		return 0;
	g_hash_table_iter_init(&iter, store->ports);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&port)) {
		store->n_due -= is_due(port);
		if (port->renew_by <= now_ns)
			port->renew_by = 0;
		store->n_due += is_due(port);
		next = earlier(next, earlier(port->gone_until, port->renew_by));
	}
	return next;
}

/* Those that nobody keeps, after members were dropped. */
static void remove_unkept(struct sa_store *store)
{
	GPtrArray *groups = list_groups(store);

	for (guint i = 0; i < groups->len; i++) {
		struct sa_group *group = groups->pdata[i];

		if (!group->well_known && group->n_full == 0)
			group_remove(store, group);
	}
	g_ptr_array_unref(groups);
}

uint64_t sa_store_expire(struct sa_store *store, uint64_t now_ns)
{
	uint64_t next = next_to_leave(store, 0);
	GPtrArray *groups;

	if (!next || next > now_ns)
		return next;
	groups = list_groups(store);
	for (guint i = 0; i < groups->len; i++)
		drop_overdue(store, groups->pdata[i], now_ns);
	g_ptr_array_unref(groups);
	remove_unkept(store);
	return next_to_leave(store, now_ns);
}

uint64_t sa_store_serial(const struct sa_store *store)
{
	return store->serial + store->changed;
}

void sa_store_programmed(struct sa_store *store, uint64_t serial)
{
	sa_mlids_erased(store->mlids, serial);
}

/* ---- a new subnet ---- */

/* A port that is not there keeps what it had: it is judged when it is back. */
static bool port_lacks_p_key(const struct sa_store *store, const struct subnet *subnet,
			     const struct port *port, uint16_t p_key)
{
	uint32_t found = alias_guids_port(store->aliases, subnet->fabric, port->guid);

	return !port->gone_until && !partitions_member(subnet->partitions, found, p_key);
}

/* The member, or the port that joined it and might not any more. */
static bool lacks_p_key(const struct sa_store *store, const struct subnet *subnet,
			const struct sa_member *member, uint16_t p_key)
{
	const struct port *proxy = proxy_of(store, member);

	return port_lacks_p_key(store, subnet, port_of(store, member->guid), p_key) ||
	       (proxy && port_lacks_p_key(store, subnet, proxy, p_key));
}

static bool has_key(const GArray *p_keys, uint16_t p_key)
{
	for (guint i = 0; i < p_keys->len; i++)
		if (P_KEY_BASE(g_array_index(p_keys, uint16_t, i)) == P_KEY_BASE(p_key))
			return true;
	return false;
}

static void note_lost(struct sa_store *store, uint64_t guid, uint16_t p_key)
{
	GArray *p_keys = g_hash_table_lookup(store->lost_p_keys, &guid);

	if (!p_keys) {
		p_keys = g_array_new(FALSE, FALSE, sizeof(uint16_t));
		g_hash_table_insert(store->lost_p_keys, g_memdup2(&guid, sizeof(guid)), p_keys);
	}
	if (!has_key(p_keys, p_key))
		g_array_append_val(p_keys, p_key);
}

/* The group stays, if nobody keeps it too. Nobody asks who joined on behalf of others. */
static void drop_outsiders(struct sa_store *store, struct sa_group *group,
			   const struct subnet *subnet)
{
	for (guint i = group->members->len; i-- > 0;) {
		const struct sa_member *member =
			&g_array_index(group->members, struct sa_member, i);

		if (!lacks_p_key(store, subnet, member, group->record.p_key))
			continue;
		if (!member->proxy)
			note_lost(store, member->guid, group->record.p_key);
		take_bits(store, group, i, 0xF);
	}
}

/* Whether the port has some of them again, which are lost no more. */
static bool take_regained(GArray *p_keys, const struct subnet *subnet, uint32_t port)
{
	guint were = p_keys->len;

	for (guint i = were; i-- > 0;)
		if (partitions_member(subnet->partitions, port, g_array_index(p_keys, uint16_t, i)))
			g_array_remove_index_fast(p_keys, i);
	return p_keys->len < were;
}

/* A port that is gone meanwhile comes back as one that is asked anyway. */
static void follow_lost(struct sa_store *store, const struct subnet *subnet)
{
	const struct fabric *fabric = subnet->fabric;
	GHashTableIter iter;
	uint64_t *guid;
	GArray *p_keys;

	g_hash_table_iter_init(&iter, store->lost_p_keys);
	while (g_hash_table_iter_next(&iter, (void **)&guid, (void **)&p_keys)) {
		uint32_t port = alias_guids_port(store->aliases, fabric, *guid);
		bool gone = port == FABRIC_NONE || !fabric_is_connected(fabric, port);

		if (!gone && take_regained(p_keys, subnet, port) && store->watch)
			store->watch->ask_again(store->watch_arg, fabric->ports[port].guid);
		if (gone || !p_keys->len)
			g_hash_table_iter_remove(&iter);
	}
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

/* Clients of the members join again, and are told what the group is like now. */
static void ask_members(const struct sa_store *store, const struct sa_group *group,
			const struct fabric *fabric)
{
	for (guint i = 0; store->watch && store->watch->ask_again && i < group->members->len; i++) {
		uint64_t guid = g_array_index(group->members, struct sa_member, i).guid;
		uint32_t port = alias_guids_port(store->aliases, fabric, guid);

		if (port != FABRIC_NONE && fabric_is_connected(fabric, port))
			store->watch->ask_again(store->watch_arg, fabric->ports[port].guid);
	}
}

/* Another MLID, if those with which the group shares its own do not agree any more. */
static bool move_group(struct sa_store *store, struct sa_group *group,
		       const struct iba_mc_member_record *record)
{
	struct sa_mlid *mlid = sa_mlids_take(store->mlids, record, group->creator, false);

	if (!mlid || mlid == group->mlid)
		return false;
	leave_mlid(store, group);
	enter(store, group, mlid);
	return true;
}

/*
 * And its MLID, if switches cannot do it. Members, if there are any, are to be told. False: there
 * is no MLID for these parameters yet.
 */
static bool change_terms(struct sa_store *store, struct sa_group *group,
			 const struct iba_mc_member_record *record)
{
	uint32_t place = group->record.mlid - (uint32_t)IBA_LID_MCAST_FIRST;
	bool shares;

	if (place >= sa_mlids_count(store->mlids))
		move_group(store, group, record);
	shares = group->mlid->groups->len > 1 || group->mlid->is_slot;
	if (wire_equal(&iba_mc_member_record_type, record, &group->record))
		return true;
	if (shares && !sa_mlid_agrees(group->mlid, record) && !move_group(store, group, record))
		return false; /* until there is one */
	group->mlid->terms = *record;
	note_change(store, group);
	group->record = *record;
	group->record.mlid = group->mlid->mlid;
	return true;
}

/* Of a group that may have members, who join again then. */
static bool put_right(struct sa_store *store, struct sa_group *group,
		      const struct iba_mc_member_record *record, const struct fabric *fabric)
{
	if (!change_terms(store, group, record))
		return false;
	ask_members(store, group, fabric);
	tell_group(store, group, false);
	return true;
}

/*
 * A group of a partition. Parameters of a group that has members stay: the members rely on them
 * until all have left. So do members when a partition is for IPoIB no more: as nothing tells them
 * of it, nothing would when it is again. But a group that was there before the partition
 * wanted it gets the parameters of the partition.
 */
static void follow_wish(struct sa_store *store, const struct partition *partition,
			const struct partition_group *wish, const struct subnet *subnet)
{
	struct iba_mc_member_record record = record_of(partition, wish, subnet->options);
	struct sa_group *group = sa_store_find(store, record.mgid);

	if (!group)
		group = sa_store_create(store, &record, subnet->options->subnet_prefix, 0);
	if (!group) {
		store->n_unmet++;
		return;
	}
	record.mlid = group->record.mlid;
	if (!group->members->len)
		change_terms(store, group, &record);
	else if (!group->well_known &&
		 !wire_equal(&iba_mc_member_record_type, &record, &group->record))
		put_right(store, group, &record, subnet->fabric);
	group->well_known = true;
	group->barred = wish->barred;
	tell_group(store, group, false);
}

bool sa_store_broadcast(const struct sa_store *store, const struct subnet *subnet,
			struct iba_gid mgid, struct iba_mc_member_record *broadcast)
{
	struct iba_gid owner = ipoib_broadcast(mgid);
	const struct sa_group *group = sa_store_find(store, owner);
	const struct partition *partition = partitions_find(subnet->partitions, ipoib_p_key(mgid));
	struct partition_group rule;

	if (!iba_gid_equal(mgid, owner)) {
		if (group)
			*broadcast = group->record;
		return group != NULL;
	}
	if (!ipoib_rule(partition, mgid, &rule))
		return false;
	*broadcast = record_of(partition, &rule, subnet->options);
	return true;
}

static void tell_repair(const struct sa_store *store, const struct sa_group *group,
			const char *what)
{
	if (store->watch && store->watch->repaired)
		store->watch->repaired(store->watch_arg, group, what);
}

/*
 * Groups that were there before, as in the file of another SM, and whose parameters shut hosts out.
 * One of a P_Key that is not in its MGID holds the place of another: it goes.
 */
static void repair_ipoib(struct sa_store *store, struct sa_group *group,
			 const struct subnet *subnet)
{
	struct iba_mc_member_record broadcast, record = group->record;
	const char *what;

	if (group->well_known || !sa_store_broadcast(store, subnet, record.mgid, &broadcast))
		return;
	what = ipoib_difference(&record, &broadcast);
	if (!what)
		return;
	if (P_KEY_BASE(record.p_key) != P_KEY_BASE(broadcast.p_key)) {
		tell_repair(store, group, what);
		ask_members(store, group, subnet->fabric);
		group_remove(store, group);
		return;
	}
	ipoib_take_parameters(&record, &broadcast);
	if (put_right(store, group, &record, subnet->fabric))
		tell_repair(store, group, what);
}

/* Broadcast groups first, which are what the others are to be like. */
static void repair_groups(struct sa_store *store, const struct subnet *subnet)
{
	GPtrArray *groups;

	if (!subnet->options->ipoib_mcgroup_creation_validation)
		return;
	groups = list_groups(store);
	for (guint i = 0; i < 2 * groups->len; i++) {
		struct sa_group *group = groups->pdata[i % groups->len];
		struct iba_gid mgid = group->record.mgid;

		if (ipoib_owns(mgid) &&
		    iba_gid_equal(mgid, ipoib_broadcast(mgid)) == (i < groups->len))
			repair_ipoib(store, group, subnet);
	}
	g_ptr_array_unref(groups);
}

static void follow_group(struct sa_store *store, struct sa_group *group,
			 const struct subnet *subnet, bool look_at_members)
{
	const struct partition *partition =
		partitions_find(subnet->partitions, group->record.p_key);
	bool wanted = false;

	for (uint32_t i = 0; group->well_known && partition && i < partition->n_groups; i++)
		wanted |= iba_gid_equal(group->record.mgid, partition->groups[i].mgid);
	if (group->well_known && !wanted)
		sa_store_keep(store, group, false);
	if (look_at_members)
		drop_outsiders(store, group, subnet);
}

/* Members are looked at anew when somebody came, or may have lost a P_Key. */
static void follow_groups(struct sa_store *store, const struct subnet *subnet, bool came_back)
{
	bool look = came_back || subnet->partitions != store->partitions;
	GPtrArray *groups = list_groups(store);

	for (guint i = 0; i < groups->len; i++)
		follow_group(store, groups->pdata[i], subnet, look);
	g_ptr_array_unref(groups);
	partitions_unref(store->partitions);
	store->partitions = partitions_ref(subnet->partitions);
}

static void share_mlids(struct sa_store *store, const struct options *options)
{
	struct mlid_rule rules[MLID_RULES_MAX];
	int n = mlid_rules_parse(options->mlid_sharing, rules);

	sa_mlids_share(store->mlids, rules, n > 0 ? (unsigned int)n : 0,
		       options->consolidate_ipv6_snm_req ? options->consolidate_ipv6_snm_mlids : 0);
}

void sa_store_wish(struct sa_store *store, const struct subnet *subnet)
{
	const struct partitions *partitions = subnet->partitions;

	store->n_unmet = 0;
	for (uint32_t i = partitions->n; i-- > 0;) /* the default one first */
		for (uint32_t k = 0; k < partitions->all[i].n_groups; k++)
			follow_wish(store, &partitions->all[i], &partitions->all[i].groups[k],
				    subnet);
}

uint32_t sa_store_unmet(const struct sa_store *store)
{
	return store->n_unmet;
}

void sa_store_follow_mlids(struct sa_store *store, const struct subnet *subnet)
{
	sa_mlids_set_top(store->mlids, fabric_mlid_top(subnet->fabric));
	sa_store_bound(store, subnet);
	share_mlids(store, subnet->options);
}

void sa_store_follow(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns)
{
	uint32_t were_due = store->n_due;

	sa_store_follow_mlids(store, subnet);
	mark_gone(store, subnet, now_ns);
	follow_lost(store, subnet);
	follow_groups(store, subnet, were_due != 0);
	sa_store_expire(store, now_ns);
	remove_unkept(store);
	sa_store_wish(store, subnet);
	repair_groups(store, subnet);
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
