// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Brings the groups to what the subnet wants: groups of partitions exist with the parameters that
 * partitions specify, IPoIB groups match their broadcast groups, and MLIDs are among those that the
 * switches support.
 */
#include "sa/groups/store_private.h"

#include "sa/groups/ipoib.h"

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

void sa_store_ask_members(const struct sa_store *store, const struct sa_group *group,
			  const struct fabric *fabric)
{
	for (guint i = 0; store->watch && store->watch->ask_again && i < group->members->len; i++) {
		uint64_t guid = g_array_index(group->members, struct sa_member, i).guid;
		uint32_t port = alias_guids_port(store->aliases, fabric, guid);

		if (port != FABRIC_NONE && fabric_is_connected(fabric, port))
			store->watch->ask_again(store->watch_arg, fabric->ports[port].guid);
	}
}

/* Moves the group to another MLID if the groups sharing its MLID no longer have its parameters. */
static bool move_group(struct sa_store *store, struct sa_group *group,
		       const struct iba_mc_member_record *record)
{
	struct sa_mlid *mlid = sa_mlids_take(store->mlids, record, group->creator, false);

	if (!mlid || mlid == group->mlid)
		return false;
	sa_store_leave_mlid(store, group);
	sa_store_enter(store, group, mlid);
	return true;
}

/*
 * Changes the group's parameters, and its MLID if switches do not support it. Members, if any, must
 * be told. False: there is no MLID for these parameters yet.
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
		return false; /* until there is an MLID */
	group->mlid->terms = *record;
	sa_store_note_change(store, group);
	group->record = *record;
	group->record.mlid = group->mlid->mlid;
	return true;
}

/* Corrects a group that may have members; they are asked to join again. */
static bool put_right(struct sa_store *store, struct sa_group *group,
		      const struct iba_mc_member_record *record, const struct fabric *fabric)
{
	if (!change_terms(store, group, record))
		return false;
	sa_store_ask_members(store, group, fabric);
	sa_store_tell(store, group, false);
	return true;
}

/*
 * A group of a partition. A group that has members keeps its parameters, as members rely on them
 * until all have left. Members also stay when their partition is no longer an IPoIB one: nothing
 * tells them so, and nothing would tell them when it is one again. But a group that existed before
 * the partition wanted it gets the partition's parameters.
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
	sa_store_tell(store, group, false);
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
 * Corrects groups from before, as in another SM's file, that hosts cannot join because of their
 * parameters. A group with a P_Key that is not in its MGID takes the place of another: it is
 * removed.
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
		sa_store_ask_members(store, group, subnet->fabric);
		sa_store_remove(store, group);
		return;
	}
	ipoib_take_parameters(&record, &broadcast);
	if (put_right(store, group, &record, subnet->fabric))
		tell_repair(store, group, what);
}

/* Broadcast groups first, because the others must match them. */
static void repair_groups(struct sa_store *store, const struct subnet *subnet)
{
	GPtrArray *groups;

	if (!subnet->options->ipoib_mcgroup_creation_validation)
		return;
	groups = sa_store_list(store);
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
		sa_store_drop_outsiders(store, group, subnet);
}

/* Members are checked again when a port came, or may have lost a P_Key. */
static void follow_groups(struct sa_store *store, const struct subnet *subnet, bool came_back)
{
	bool look = came_back || subnet->partitions != store->partitions;
	GPtrArray *groups = sa_store_list(store);

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
	for (uint32_t i = partitions->n; i-- > 0;) /* the default partition first */
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

/* Groups that are still to be made get MLIDs as these are erased. */
static void make_room(struct sa_store *store, const struct subnet *subnet)
{
	uint32_t coming = sa_mlids_erasing(store->mlids), n;

	if (store->n_unmet <= coming || subnet->options->no_clients_rereg)
		return;
	n = sa_store_merge(store, subnet, store->n_unmet - coming);
	if (n && store->watch && store->watch->merged)
		store->watch->merged(store->watch_arg, n);
}

void sa_store_follow(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns)
{
	uint32_t were_due = store->n_due;

	sa_store_follow_mlids(store, subnet);
	sa_store_follow_ports(store, subnet, now_ns);
	follow_groups(store, subnet, were_due != 0);
	sa_store_expire(store, now_ns);
	sa_store_remove_unkept(store);
	sa_store_wish(store, subnet);
	make_room(store, subnet);
	repair_groups(store, subnet);
}
