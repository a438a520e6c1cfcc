// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memberships that lapse. A port that vanishes from the subnet may be back in a moment and never
 * notice that it was away: it stays in its groups for a grace time, but is not in their trees while
 * it is absent. A port without the P_Key of a group leaves it. If it soon has the P_Key again, at
 * the same index, its client may not notice, so the client is asked to join again. Memberships that
 * a port made for others end in the same ways.
 */
#include "sa/groups/store_private.h"

#include "complib/actor.h"

/* Whether the SM asks a port that is back to join its groups again. */
bool sa_store_is_asked(const struct subnet *subnet, uint32_t port)
{
	return !subnet->options->no_clients_rereg &&
	       subnet->fabric->ports[port].info.capability_mask &
		       IBA_PORT_CAP_CLIENT_REREGISTRATION;
}

/* Whether it is back, and has groups to join again. */
static bool mark_port(struct sa_store_port *port, const struct subnet *subnet, uint32_t found,
		      uint64_t until)
{
	bool was_gone = port->gone_until != 0;

	if (found == FABRIC_NONE || !fabric_is_connected(subnet->fabric, found)) {
		port->gone_until = was_gone ? MIN(port->gone_until, until) : until;
		port->renew_by = 0;
		return false;
	}
	port->gone_until = 0;
	if (was_gone && sa_store_is_asked(subnet, found))
		port->renew_by = until;
	return was_gone && port->renew_by;
}

/* Marks members that are to join again by that time, except those joined on behalf of another. */
static void mark_lapsing(struct sa_store *store, uint64_t until)
{
	GPtrArray *groups = sa_store_list(store);

	for (guint i = 0; i < groups->len; i++) {
		const struct sa_group *group = groups->pdata[i];

		for (guint k = 0; k < group->members->len; k++) {
			struct sa_member *member =
				&g_array_index(group->members, struct sa_member, k);

			member->lapsing |= !member->proxy &&
					   sa_store_port(store, member->guid)->renew_by == until;
		}
	}
	g_ptr_array_unref(groups);
}

static void mark_gone(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns)
{
	uint64_t until = now_ns + subnet->options->membership_grace * NS_PER_S;
	bool any_back = false;
	GHashTableIter iter;
	struct sa_store_port *port;

	g_hash_table_iter_init(&iter, store->ports);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&port)) {
		uint32_t found = alias_guids_port(store->aliases, subnet->fabric, port->guid);

		store->n_due -= sa_store_is_due(port);
		any_back |= mark_port(port, subnet, found, until);
		store->n_due += sa_store_is_due(port);
	}
	if (any_back)
		mark_lapsing(store, until);
}

/* The port that joined this one. */
static const struct sa_store_port *proxy_of(const struct sa_store *store,
					    const struct sa_member *member)
{
	return member->proxy && member->maker ? sa_store_port(store, member->maker) : NULL;
}

static bool is_overdue(const struct sa_store *store, const struct sa_member *member,
		       uint64_t now_ns)
{
	const struct sa_store_port *port = sa_store_port(store, member->guid),
				   *proxy = proxy_of(store, member);

	return (port->gone_until && port->gone_until <= now_ns) ||
	       (proxy && proxy->gone_until && proxy->gone_until <= now_ns) ||
	       (member->lapsing && port->renew_by && port->renew_by <= now_ns);
}

/* The group stays even if nothing keeps it. */
static void drop_overdue(struct sa_store *store, struct sa_group *group, uint64_t now_ns)
{
	for (guint i = group->members->len; i-- > 0;)
		if (is_overdue(store, &g_array_index(group->members, struct sa_member, i), now_ns))
			sa_store_take_bits(store, group, i, 0xF);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && b ? MIN(a, b) : a + b;
}

/* When the next member leaves; 0: none is to leave. Forgets times that are over. */
static uint64_t next_to_leave(struct sa_store *store, uint64_t now_ns)
{
	uint64_t next = 0;
	GHashTableIter iter;
	struct sa_store_port *port;

	if (!store->n_due)
		return 0;
	g_hash_table_iter_init(&iter, store->ports);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&port)) {
		store->n_due -= sa_store_is_due(port);
		if (port->renew_by <= now_ns)
			port->renew_by = 0;
		store->n_due += sa_store_is_due(port);
		next = earlier(next, earlier(port->gone_until, port->renew_by));
	}
	return next;
}

/* Removes groups that nothing keeps, after members left. */
void sa_store_remove_unkept(struct sa_store *store)
{
	GPtrArray *groups = sa_store_list(store);

	for (guint i = 0; i < groups->len; i++) {
		struct sa_group *group = groups->pdata[i];

		if (!group->well_known && group->n_full == 0)
			sa_store_remove(store, group);
	}
	g_ptr_array_unref(groups);
}

uint64_t sa_store_expire(struct sa_store *store, uint64_t now_ns)
{
	uint64_t next = next_to_leave(store, 0);
	GPtrArray *groups;

	if (!next || next > now_ns)
		return next;
	groups = sa_store_list(store);
	for (guint i = 0; i < groups->len; i++)
		drop_overdue(store, groups->pdata[i], now_ns);
	g_ptr_array_unref(groups);
	sa_store_remove_unkept(store);
	return next_to_leave(store, now_ns);
}

/* ---- GUIDs that move to another port ---- */

static void disown(struct sa_store *store, struct sa_group *group, uint64_t guid, uint64_t maker)
{
	for (guint i = group->members->len; i-- > 0;) {
		const struct sa_member *member =
			&g_array_index(group->members, struct sa_member, i);

		if (member->guid == guid &&
		    (!maker || member->maker == maker || (!member->maker && !member->proxy)))
			sa_store_take_bits(store, group, i, 0xF);
	}
}

void sa_store_disown(struct sa_store *store, uint64_t guid, uint64_t maker)
{
	GPtrArray *groups;

	if (!sa_store_groups_of(store, guid))
		return;
	groups = sa_store_list(store);
	for (guint i = 0; i < groups->len; i++)
		disown(store, groups->pdata[i], guid, maker);
	g_ptr_array_unref(groups);
	sa_store_remove_unkept(store);
}

/* ---- P_Keys ---- */

/* A port that is absent keeps its memberships; it is checked when it is back. */
static bool port_lacks_p_key(const struct sa_store *store, const struct subnet *subnet,
			     const struct sa_store_port *port, uint16_t p_key)
{
	uint32_t found = alias_guids_port(store->aliases, subnet->fabric, port->guid);

	return !port->gone_until && !partitions_member(subnet->partitions, found, p_key);
}

/* Whether the member lacks the P_Key, or the port that joined it may no longer do so. */
static bool lacks_p_key(const struct sa_store *store, const struct subnet *subnet,
			const struct sa_member *member, uint16_t p_key)
{
	const struct sa_store_port *proxy = proxy_of(store, member);

	return port_lacks_p_key(store, subnet, sa_store_port(store, member->guid), p_key) ||
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

/*
 * The group stays even if nothing keeps it. Members joined on behalf of others are not asked to
 * join.
 */
void sa_store_drop_outsiders(struct sa_store *store, struct sa_group *group,
			     const struct subnet *subnet)
{
	for (guint i = group->members->len; i-- > 0;) {
		const struct sa_member *member =
			&g_array_index(group->members, struct sa_member, i);

		if (!lacks_p_key(store, subnet, member, group->record.p_key))
			continue;
		if (!member->proxy)
			note_lost(store, member->guid, group->record.p_key);
		sa_store_take_bits(store, group, i, 0xF);
	}
}

/* Whether the port has some of these P_Keys again; they are then removed from the array. */
static bool take_regained(GArray *p_keys, const struct subnet *subnet, uint32_t port)
{
	guint were = p_keys->len;

	for (guint i = were; i-- > 0;)
		if (partitions_member(subnet->partitions, port, g_array_index(p_keys, uint16_t, i)))
			g_array_remove_index_fast(p_keys, i);
	return p_keys->len < were;
}

/* A port that is gone meanwhile is asked anyway when it comes back. */
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

void sa_store_follow_ports(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns)
{
	mark_gone(store, subnet, now_ns);
	follow_lost(store, subnet);
}
