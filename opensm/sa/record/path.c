// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PathRecord (IBA 15.2.5.16): which LIDs, P_Key, SL, MTU, rate and life time two ports may use.
 *
 * Get is answered with the first path, even if an end is left open, as in the classic daemon;
 * GetTable with all paths, up to NumbPath for each pair of ports.
 *
 * A multicast DGID is answered from the group, whose values are fixed.
 */
#include "sa/groups/store.h"
#include "sa/record/paths.h"

#define C(name) IBA_COMPONENT(path_record, name)

/* ---- multicast ---- */

static bool wants_multicast(const struct sa_query *query)
{
	const struct iba_path_record *wanted = &query->wanted.path;

	if (sa_wants(query, C(dgid)))
		return iba_gid_is_multicast(wanted->dgid);
	return sa_wants(query, C(dlid)) && iba_lid_is_multicast(wanted->dlid);
}

/* Offers the path from a port, by default the requester's, to all members of a group. */
static uint16_t offer_group(const struct paths *paths, const struct sa_group *group)
{
	struct sa_query *query = paths->query;
	const struct iba_mc_member_record *g = &group->record;
	uint32_t from =
		paths->from.end == paths->from.first + 1 ? paths->from.first : query->from.port;
	const struct fabric_port *source = &query->subnet->fabric->ports[from];
	uint64_t guid = paths->from.guid ? paths->from.guid : source->guid;
	struct iba_path_record record = {
		.sgid = {paths->from.prefix, guid},
		.dgid = g->mgid,
		.slid = paths->from.lid ? paths->from.lid : source->lid,
		.dlid = g->mlid,
		.flow_label = g->flow_label,
		.hop_limit = g->hop_limit,
		.t_class = g->t_class,
		.p_key = paths->mask & C(p_key) ? paths->wanted->p_key : g->p_key,
		.sl = g->sl,
		.mtu_selector = IBA_SELECTOR_EXACTLY,
		.mtu = g->mtu,
		.rate_selector = IBA_SELECTOR_EXACTLY,
		.rate = g->rate,
		.packet_life_time_selector = IBA_SELECTOR_EXACTLY,
		.packet_life_time = g->packet_life_time,
	};

	if (!sa_is_of_partition(query, g->p_key) ||
	    P_KEY_BASE(record.p_key) != P_KEY_BASE(g->p_key) ||
	    !partitions_member(query->subnet->partitions, from, g->p_key) ||
	    policy_drops_multicast(query->subnet, g->sl, from) ||
	    !iba_group_fits(g, &paths->mtu, &paths->rate, &paths->life))
		return IBA_STATUS_OK;
	query->mask &= C(t_class) | C(flow_label) | C(hop_limit) | C(sl) | C(raw_traffic) | C(dlid);
	if (!(paths->mask & C(reversible)) || !paths->wanted->reversible)
		sa_offer(query, &record, from);
	return IBA_STATUS_OK;
}

static uint16_t each_multicast(struct paths *paths)
{
	const struct sa_query *query = paths->query;
	const struct sa_group *group;

	if (paths->from.first == paths->from.end)
		return IBA_STATUS_OK;
	group = paths->mask & C(dgid) ? sa_store_find(query->store, paths->wanted->dgid)
				      : sa_store_find_mlid(query->store, paths->wanted->dlid);
	if (!group)
		return IBA_STATUS_OK;
	return offer_group(paths, group);
}

/* ---- the query ---- */

enum sa_place sa_path_place(const struct sa_query *query)
{
	if (wants_multicast(query))
		return SA_AT_REGISTRIES;
	if (!(query->mask & (C(sgid) | C(slid) | C(dgid) | C(dlid))))
		return SA_SLOWLY; /* all pairs */
	return query->header.method == IBA_METHOD_GET && (query->mask & (C(sgid) | C(slid))) &&
			       (query->mask & (C(dgid) | C(dlid)))
		       ? SA_AT_ONCE
		       : SA_IN_POOL;
}

/* Prefetches both ends at once: in a large fabric each is far away in memory. */
static void prefetch_ends(const struct paths *paths)
{
	const struct sa_query *query = paths->query;
	const struct fabric *fabric = query->subnet->fabric;

	if (paths->mask & C(sgid))
		subnet_view_prefetch(query->view,
				     fabric_port_guess(fabric, paths->wanted->sgid.guid));
	if (paths->mask & C(dgid))
		subnet_view_prefetch(query->view,
				     fabric_port_guess(fabric, paths->wanted->dgid.guid));
}

static bool take(struct paths *paths, uint32_t from, uint32_t to,
		 const struct iba_path_record *record)
{
	(void)from;
	(void)to;
	return sa_offer(paths->query, record, FABRIC_NONE) && sa_is_table(paths->query);
}

uint16_t sa_path_each(struct sa_query *query)
{
	struct paths paths;
	uint16_t status = paths_begin(&paths, query, &query->wanted.path, query->mask);

	if (status != IBA_STATUS_OK)
		return status;
	paths.take = take;
	if (!sa_is_table(query))
		paths.per_pair = 1;
	prefetch_ends(&paths);
	status = paths_resolve_from(&paths);
	if (status != IBA_STATUS_OK)
		return status;
	if (wants_multicast(query))
		return each_multicast(&paths);
	status = paths_resolve_to(&paths);
	if (status != IBA_STATUS_OK)
		return status;
	query->mask = 0; /* paths are built to match the query */
	return paths_each(&paths);
}
