// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MCMemberRecord (IBA 15.2.5.17): ports create, join and leave multicast groups, and look them up.
 * Everything here reads or changes the store and runs on the sa actor.
 *
 * A Set passes the checks below in order; the first that fails is the answer. It names a port,
 * which must be the requester's own unless both are in the group's partition, or the requester sees
 * all. A Set for a group that does not exist creates it if it gives enough parameters.
 *
 * Members of groups are shown only to trusted requesters, with one record per member and none for a
 * group without members; others see each group of their partitions once, without a port, and their
 * own memberships.
 */
#include <inttypes.h>

#include "iba/codes.h"
#include "iba/limit.h"
#include "sa/groups/ipoib.h"
#include "sa/groups/store.h"
#include "sa/sa_private.h"
#include "subnet/path.h"

#define C(name) IBA_COMPONENT(mc_member_record, name)
#define JOIN_NEEDS (C(mgid) | C(port_gid) | C(join_state))
#define CREATE_NEEDS (C(q_key) | C(t_class) | C(p_key) | C(flow_label) | C(sl))
#define CAN_CREATE (IBA_JOIN_FULL_MEMBER | IBA_JOIN_SEND_ONLY_FULL_MEMBER)
#define MEMBER_COMPONENTS (C(port_gid) | C(join_state) | C(proxy_join))
#define UNKNOWN_RATE IBA_RATE_10 /* for a port whose link is unknown */

struct member_query {
	struct sa_query *query;
	const struct subnet *subnet;
	const struct iba_mc_member_record *wanted;
	uint64_t mask;
	struct iba_limit mtu, rate, life;
	uint32_t port;		/* of the PortGID */
	uint64_t guid;		/* in the PortGID */
	struct sa_group *group; /* NULL: no group has that MGID */
};

static void prepare(struct member_query *join, struct sa_query *query)
{
	const struct iba_mc_member_record *w = &query->wanted.member;
	uint64_t mask = query->mask;

	*join = (struct member_query){
		.query = query,
		.subnet = query->subnet,
		.wanted = w,
		.mask = mask,
		.mtu = IBA_LIMIT(mc_member_record, mask, w, mtu),
		.rate = IBA_LIMIT(mc_member_record, mask, w, rate),
		.life = IBA_LIMIT(mc_member_record, mask, w, packet_life_time),
		.port = FABRIC_NONE,
	};
}

/* Returns the status; why is for the log, as it tells more than others may know. */
G_GNUC_PRINTF(3, 4)
static uint16_t refuse(struct member_query *join, uint16_t status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(join->query->why, sizeof(join->query->why), format, args);
	va_end(args);
	return status;
}

static uint16_t refuse_components(struct member_query *join, uint64_t needed)
{
	static const struct {
		uint64_t component;
		const char *name;
	} names[] = {
		{C(mgid), "MGID"},
		{C(port_gid), "PortGID"},
		{C(join_state), "JoinState"},
		{C(q_key), "Q_Key"},
		{C(p_key), "P_Key"},
		{C(t_class), "TClass"},
		{C(flow_label), "FlowLabel"},
		{C(sl), "SL"},
	};
	g_autoptr(GString) lacking = g_string_new(NULL);

	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].component & needed & ~join->mask)
			g_string_append_printf(lacking, "%s%s", lacking->len ? ", " : "",
					       names[i].name);
	return refuse(join, IBA_SA_INSUFFICIENT_COMPONENTS,
		      "its component mask 0x%" PRIx64 " lacks %s%s", join->mask, lacking->str,
		      needed == CREATE_NEEDS
			      ? ": there is no such group, and creating one needs more components"
			      : "");
}

static bool is_zero(struct iba_gid gid)
{
	return gid.prefix == 0 && gid.guid == 0;
}

/* The group's record as one member sees it. */
static struct iba_mc_member_record record_of(const struct sa_query *query,
					     const struct sa_group *group,
					     const struct sa_member *member)
{
	struct iba_mc_member_record record = group->record;

	record.port_gid.prefix = query->subnet->options->subnet_prefix;
	record.port_gid.guid = member->guid;
	record.join_state = member->join_state;
	record.proxy_join = member->proxy;
	return record;
}

/* ---- checks that Set and Delete share ---- */

static uint16_t check_components(struct member_query *join)
{
	if (~join->mask & JOIN_NEEDS)
		return refuse_components(join, JOIN_NEEDS);
	if (join->wanted->join_state == 0)
		return refuse(join, IBA_SA_REQ_INVALID, "its JoinState is 0");
	return IBA_STATUS_OK;
}

static uint16_t check_port_gid(struct member_query *join)
{
	if (!sa_prefix_is_local(join->query, join->wanted->port_gid.prefix))
		return refuse(join, IBA_SA_INVALID_GID,
			      "its PortGID has the prefix 0x%016" PRIx64 " of another subnet",
			      join->wanted->port_gid.prefix);
	join->guid = join->wanted->port_gid.guid;
	join->port = sa_port_by_guid(join->query, join->guid);
	return IBA_STATUS_OK;
}

static uint16_t find_group(struct member_query *join)
{
	join->group = sa_store_find(join->query->store, join->wanted->mgid);
	return IBA_STATUS_OK;
}

/* ---- Set ---- */

static bool may_act_for_others(const struct sa_query *query)
{
	return !query->from.reduced ||
	       query->subnet->options->sa_etm_allow_untrusted_proxy_requests;
}

/*
 * A requester that joins another port need not set ProxyJoin: the SA sees it, as in the classic
 * daemon. A port that the requester may not see does not exist for it.
 */
static uint16_t check_proxy(struct member_query *join)
{
	if (join->query->from.port == join->port)
		return IBA_STATUS_OK;
	if (!may_act_for_others(join->query))
		return refuse(join, IBA_SA_DENIED,
			      "it asks on behalf of another port without "
			      "being trusted");
	if (join->port != FABRIC_NONE && sa_may_reach(join->query, join->port))
		return IBA_STATUS_OK;
	return refuse(join, IBA_SA_INVALID_GID,
		      "its PortGID names port 0x%016" PRIx64 ", which it may not reach",
		      join->guid);
}

/* Charged is the requester, whichever port it asks for. */
static uint64_t creator_of(const struct member_query *join)
{
	return join->subnet->fabric->ports[join->query->from.port].guid;
}

/*
 * Whether the requester may change how a port is in the group; member: NULL if it is not a member.
 */
static bool may_change(const struct member_query *join, const struct sa_member *member)
{
	const struct sa_query *query = join->query;

	if (query->from.privileged)
		return true;
	if (query->from.port == join->port) /* another port may have had the GUID before */
		return !member || member->proxy || !member->maker ||
		       member->maker == creator_of(join);
	return member && member->proxy && may_act_for_others(query) &&
	       sa_is_of_partition(query, join->group->record.p_key);
}

/* NULL: there is none that the requester may see. */
static const struct sa_group *seen_group(const struct member_query *join)
{
	return join->group && sa_is_of_partition(join->query, join->group->record.p_key)
		       ? join->group
		       : NULL;
}

/*
 * Another port may be joined to groups of partitions of both, but not again if it joined by itself.
 */
static uint16_t check_other(struct member_query *join)
{
	const struct sa_query *query = join->query;
	const struct sa_group *group = seen_group(join);
	const struct sa_member *member = group ? sa_group_member(group, join->guid) : NULL;
	bool names_p_key = group || join->mask & C(p_key);
	uint16_t p_key = group ? group->record.p_key : join->wanted->p_key;

	if (query->from.port == join->port || query->from.privileged)
		return IBA_STATUS_OK;
	if (names_p_key && !sa_is_of_partition(query, p_key))
		return refuse(join, IBA_SA_REQ_INVALID, "the requester is not in partition 0x%04x",
			      p_key);
	if (!member || may_change(join, member))
		return IBA_STATUS_OK;
	return refuse(join, IBA_SA_REQ_INVALID,
		      "it joined by itself, and the request comes from "
		      "another port");
}

/* The HopLimit of a group whose creator does not give one. */
static uint8_t usual_hop_limit(const struct iba_mc_member_record *group)
{
	return group->scope == IBA_SCOPE_LINK_LOCAL ? 0 : 0xFF;
}

/* Compares the fixed parameters of a group with those that the request names. */
static bool agrees(const struct member_query *join, const struct iba_mc_member_record *group)
{
	uint64_t compared = C(q_key) | C(mlid) | C(t_class) | C(sl) | C(flow_label) | C(scope);

	if (group->hop_limit != usual_hop_limit(group))
		compared |= C(hop_limit); /* a client asked for it */
	if ((join->mask & C(p_key)) && P_KEY_BASE(join->wanted->p_key) != P_KEY_BASE(group->p_key))
		return false;
	return wire_match(&iba_mc_member_record_type, join->wanted, group, join->mask & compared);
}

static uint16_t refuse_partition(struct member_query *join, uint16_t p_key)
{
	return refuse(join, IBA_SA_REQ_INVALID, "its port is not in partition 0x%04x", p_key);
}

/*
 * The partition of an IPoIB group, by its P_Key or MGID, if it is not an IPoIB one; otherwise NULL.
 */
static const struct partition *lacks_ipoib(const struct member_query *join, uint16_t p_key)
{
	struct iba_gid mgid = join->wanted->mgid;
	const uint16_t keys[] = {p_key, ipoib_p_key(mgid)};

	for (unsigned int i = 0; ipoib_owns(mgid) && i < G_N_ELEMENTS(keys); i++) {
		const struct partition *partition =
			partitions_find(join->subnet->partitions, keys[i]);

		if (partition && !partition->ipoib)
			return partition;
	}
	return NULL;
}

static uint16_t refuse_ipoib(struct member_query *join, uint16_t status,
			     const struct partition *partition)
{
	return refuse(join, status, "partition 0x%04x is without ipoib in the partition file",
		      partition->p_key);
}

/*
 * A port must be able to receive what the group's senders may send. A group that the partition has
 * lost keeps its members and accepts no new ones.
 */
static uint16_t check_join(struct member_query *join)
{
	const struct iba_mc_member_record *group = &join->group->record;
	const struct fabric_port *port = &join->subnet->fabric->ports[join->port];
	const struct partition *lost = lacks_ipoib(join, group->p_key);

	if (lost && !join->group->well_known && !sa_group_member(join->group, join->guid))
		return refuse_ipoib(join, IBA_SA_REQ_INVALID, lost);
	if (join->subnet->options->mcgroup_join_validation && !agrees(join, group))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "it asks for a Q_Key, P_Key, SL, TClass, FlowLabel, scope, "
			      "HopLimit or MLID that differs from the group's");
	if (join->subnet->options->mcgroup_join_validation &&
	    !iba_group_fits(group, &join->mtu, &join->rate, &join->life))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "the group has MTU %u and %g Gb/s, which does not match the request",
			      iba_mtu_bytes(group->mtu), iba_rate_tenths(group->rate) / 10.0);
	if (port->mtu < group->mtu)
		return refuse(join, IBA_SA_REQ_INVALID,
			      "the group has MTU %u, but its port "
			      "supports %u",
			      iba_mtu_bytes(group->mtu), iba_mtu_bytes(port->mtu));
	if (port->rate && iba_rate_compare(port->rate, group->rate) < 0)
		return refuse(join, IBA_SA_REQ_INVALID,
			      "the group has %g Gb/s, but its link runs at "
			      "%g Gb/s",
			      iba_rate_tenths(group->rate) / 10.0,
			      iba_rate_tenths(port->rate) / 10.0);
	if (!partitions_member(join->subnet->partitions, join->port, group->p_key))
		return refuse_partition(join, group->p_key);
	return IBA_STATUS_OK;
}

/*
 * IBA 4.1.1: 0xFF, only the transient flag, a scope. Scope 0xF is reserved like 0, but the classic
 * daemon accepts it, and osmtest wants it accepted. The classic daemon also refuses the signature
 * of SAs in link-local scope, so that a port that was given such an MGID cannot have it again after
 * a restart; here it can, if this SA or its predecessor may have made it up.
 */
static bool is_legal_mgid(const struct member_query *join, struct iba_gid mgid)
{
	uint8_t flags = mgid.prefix >> 52 & 0xF, scope = mgid.prefix >> 48 & 0xF;

	if (!iba_gid_is_multicast(mgid) || (flags & ~1u) || scope == 0)
		return false;
	if (iba_mgid_signature(mgid) == IBA_MGID_SIGNATURE_SA && scope == IBA_SCOPE_LINK_LOCAL)
		return sa_store_made(join->query->store, mgid,
				     join->subnet->options->subnet_prefix);
	return true;
}

static bool is_checked_as_ipoib(const struct member_query *join)
{
	return ipoib_owns(join->wanted->mgid) &&
	       join->subnet->options->ipoib_mcgroup_creation_validation;
}

/* Whether the parameters that the request names are those of the broadcast group. */
static bool names_parameters_of(const struct member_query *join,
				const struct iba_mc_member_record *broadcast)
{
	const struct iba_mc_member_record *wanted = join->wanted;
	static const struct iba_limit any;

	return wanted->q_key == broadcast->q_key && wanted->sl == broadcast->sl &&
	       wanted->t_class == broadcast->t_class &&
	       wanted->flow_label == broadcast->flow_label &&
	       (!(join->mask & C(hop_limit)) || wanted->hop_limit == broadcast->hop_limit) &&
	       (!(join->mask & C(scope)) || wanted->scope == (wanted->mgid.prefix >> 48 & 0xF)) &&
	       iba_group_fits(broadcast, &join->mtu, &join->rate, &any);
}

/*
 * An IPoIB group carries its P_Key, with the full-member bit, and has all parameters of its
 * broadcast group, which must exist (RFC 4391, 4 and 5): hosts ask for exactly these. Its first
 * port must be able to receive what the senders of the group may send. A broadcast group for which
 * a partition has no rule is unrestricted: any port may make it, as in the classic daemon.
 */
static uint16_t check_ipoib(struct member_query *join, struct iba_mc_member_record *record)
{
	const struct iba_mc_member_record *wanted = join->wanted;
	const struct fabric_port *port = &join->subnet->fabric->ports[join->port];
	struct iba_mc_member_record broadcast;

	if (ipoib_p_key(wanted->mgid) != (wanted->p_key | P_KEY_FULL))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "the P_Key in the MGID is not that of the group");
	if (!sa_store_broadcast(join->query->store, join->subnet, wanted->mgid, &broadcast))
		return iba_gid_equal(wanted->mgid, ipoib_broadcast(wanted->mgid))
			       ? IBA_STATUS_OK
			       : refuse(join, IBA_SA_REQ_INVALID,
					"its broadcast group does not exist");
	if (!names_parameters_of(join, &broadcast))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "its parameters differ from its broadcast group");
	if (port->mtu < broadcast.mtu ||
	    (port->rate && iba_rate_compare(port->rate, broadcast.rate) < 0))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "its broadcast group has MTU %u and %g Gb/s, but its port supports "
			      "%u and %g",
			      iba_mtu_bytes(broadcast.mtu), iba_rate_tenths(broadcast.rate) / 10.0,
			      iba_mtu_bytes(port->mtu), iba_rate_tenths(port->rate) / 10.0);
	ipoib_take_parameters(record, &broadcast);
	return IBA_STATUS_OK;
}

/*
 * The life time is not enforced: members get what the first of them asked for, as in the classic
 * daemon.
 */
static bool choose_life(uint8_t *life, const struct iba_limit *limit)
{
	if (!limit->given || (limit->selector == IBA_SELECTOR_LESS && !limit->value))
		return iba_fit_life(life, limit);
	if (limit->selector == IBA_SELECTOR_LESS)
		*life = MIN(*life, limit->value - 1);
	else if (limit->selector == IBA_SELECTOR_EXACTLY)
		*life = limit->value;
	else
		return iba_fit_life(life, limit);
	return true;
}

/* MTU and rate of a new group: as requested, within what its first port can do. */
static bool choose_limits(const struct member_query *join, struct iba_mc_member_record *record)
{
	const struct fabric_port *port = &join->subnet->fabric->ports[join->port];
	const struct options *options = join->subnet->options;

	record->mtu = port->mtu;
	record->rate = policy_known_rate(options, port->rate ? port->rate : UNKNOWN_RATE);
	record->packet_life_time = options->subnet_timeout;
	return iba_fit_mtu(&record->mtu, &join->mtu) && iba_fit_rate(&record->rate, &join->rate) &&
	       choose_life(&record->packet_life_time, &join->life);
}

/*
 * The scope in an MGID counts only if the request names none: a repeated request must get the same.
 */
static uint8_t choose_scope(const struct member_query *join)
{
	uint8_t scope = join->mask & C(scope) ? join->wanted->scope : 0;

	if (!is_zero(join->wanted->mgid))
		return scope ? scope : join->wanted->mgid.prefix >> 48 & 0xF;
	return scope != 0 && scope != 0xF ? scope : IBA_SCOPE_LINK_LOCAL;
}

static uint16_t check_create(struct member_query *join)
{
	const struct iba_mc_member_record *wanted = join->wanted;
	bool has_p_key = join->mask & C(p_key);
	const struct partition *lacking =
		lacks_ipoib(join, has_p_key ? wanted->p_key : ipoib_p_key(wanted->mgid));

	if (~join->mask & CREATE_NEEDS)
		return lacking ? refuse_ipoib(join, IBA_SA_INSUFFICIENT_COMPONENTS, lacking)
			       : refuse_components(join, CREATE_NEEDS);
	if (!(wanted->join_state & CAN_CREATE))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "there is no such group, and JoinState 0x%x does not create one",
			      wanted->join_state);
	if (!is_zero(wanted->mgid) && !is_legal_mgid(join, wanted->mgid))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "there is no such group, and that MGID is not allowed");
	if (!partitions_member(join->subnet->partitions, join->port, wanted->p_key))
		return refuse_partition(join, wanted->p_key);
	if (lacking)
		return refuse_ipoib(join, IBA_SA_REQ_INVALID, lacking);
	return IBA_STATUS_OK;
}

static uint16_t create_group(struct member_query *join)
{
	struct iba_mc_member_record record = *join->wanted;
	uint16_t status = check_create(join);

	if (status != IBA_STATUS_OK)
		return status;
	if (!choose_limits(join, &record))
		return refuse(join, IBA_SA_REQ_INVALID,
			      "it asks for an MTU, rate or life time that its port (MTU %u, %g "
			      "Gb/s) does not support",
			      iba_mtu_bytes(join->subnet->fabric->ports[join->port].mtu),
			      iba_rate_tenths(join->subnet->fabric->ports[join->port].rate) / 10.0);
	record.mtu_selector = IBA_SELECTOR_EXACTLY;
	record.rate_selector = IBA_SELECTOR_EXACTLY;
	record.packet_life_time_selector = IBA_SELECTOR_EXACTLY;
	record.scope = choose_scope(join);
	if (!(join->mask & C(hop_limit)))
		record.hop_limit = usual_hop_limit(&record);
	if (!(join->mask & C(mlid)))
		record.mlid = 0;
	status = is_checked_as_ipoib(join) ? check_ipoib(join, &record) : IBA_STATUS_OK;
	if (status != IBA_STATUS_OK)
		return status;
	join->group = sa_store_create(join->query->store, &record,
				      join->subnet->options->subnet_prefix, creator_of(join));
	return join->group ? IBA_STATUS_OK
			   : refuse(join, IBA_SA_NO_RESOURCES, "no MLID is free for a new group");
}

/* As if there were no such group, as far as possible: no second group gets that MGID. */
static uint16_t check_join_unseen(struct member_query *join)
{
	uint16_t status = check_create(join);

	return status == IBA_STATUS_OK ? refuse_partition(join, join->group->record.p_key) : status;
}

/*
 * The membership belongs to the requester, whichever port it asks for; a privileged one has no
 * limit.
 */
static uint64_t maker_of(const struct member_query *join)
{
	bool other = join->query->from.port != join->port;

	return other && join->query->from.privileged ? 0 : creator_of(join);
}

static uint16_t join_or_create(struct member_query *join)
{
	const struct sa_store *store = join->query->store;
	bool is_member = join->group && sa_group_member(join->group, join->guid);

	if (!is_member && !sa_has_quota(join->query, sa_store_groups_of(store, join->guid),
					join->subnet->options->sa_etm_max_num_mcgs))
		return refuse(join, IBA_SA_NO_RESOURCES,
			      "it is already in sa_etm_max_num_mcgs groups");
	if (!is_member && !sa_store_may_join(store, maker_of(join)))
		return refuse(join, sa_refuse_more(join->query),
			      "it has too many memberships already");
	if (!join->group)
		return create_group(join);
	return seen_group(join) ? check_join(join) : check_join_unseen(join);
}

typedef uint16_t member_check(struct member_query *join);

static uint16_t run_checks(struct member_query *join, member_check *const *checks)
{
	uint16_t status = IBA_STATUS_OK;

	for (; *checks && status == IBA_STATUS_OK; checks++)
		status = (*checks)(join);
	return status;
}

uint16_t sa_member_set(struct sa_query *query)
{
	static member_check *const checks[] = {
		check_components, check_port_gid, check_proxy, find_group,
		check_other,	  join_or_create, NULL,
	};
	struct iba_mc_member_record record;
	const struct sa_member *member;
	struct member_query join;
	uint16_t status;

	prepare(&join, query);
	status = run_checks(&join, checks);
	if (status != IBA_STATUS_OK)
		return status;
	member = sa_store_join_by(query->store, join.group, join.guid, join.wanted->join_state,
				  query->from.port != join.port, maker_of(&join));
	record = record_of(query, join.group, member);
	record.port_gid = join.wanted->port_gid;
	sa_put(query, &record);
	if (query->subnet->options->join_answer_timeout) {
		query->until[SA_HOLD_GROUPS] = sa_store_serial(query->store);
		query->until_ns =
			query->now + query->subnet->options->join_answer_timeout * NS_PER_MS;
	}
	return IBA_STATUS_OK;
}

/* ---- Delete ---- */

/* A requester that may not remove a port is not told whether it is a member. */
static uint16_t check_membership(struct member_query *leave)
{
	const struct sa_member *member =
		leave->group ? sa_group_member(leave->group, leave->guid) : NULL;

	if (!may_change(leave, member))
		return IBA_SA_DENIED;
	if (!member || leave->wanted->join_state & ~member->join_state) /* o15-0.1.14 */
		return IBA_SA_REQ_INVALID;
	return IBA_STATUS_OK;
}

uint16_t sa_member_remove(struct sa_query *query)
{
	static member_check *const checks[] = {
		check_components, check_port_gid, find_group, check_membership, NULL,
	};
	struct iba_mc_member_record record;
	struct member_query leave;
	uint16_t status;

	prepare(&leave, query);
	status = run_checks(&leave, checks);
	if (status != IBA_STATUS_OK)
		return status;
	record = record_of(query, leave.group, sa_group_member(leave.group, leave.guid));
	record.port_gid = leave.wanted->port_gid;
	record.join_state &= ~leave.wanted->join_state;
	sa_store_leave(query->store, leave.group, leave.guid, leave.wanted->join_state);
	sa_put(query, &record);
	return IBA_STATUS_OK;
}

/* ---- Get, GetTable ---- */

struct visit {
	struct member_query *query;
	bool go_on;
};

static bool offer_member(struct visit *visit, const struct sa_group *group,
			 const struct sa_member *member)
{
	struct sa_query *query = visit->query->query;
	struct iba_mc_member_record record = record_of(query, group, member);

	visit->go_on = sa_offer(query, &record, FABRIC_NONE);
	return visit->go_on;
}

/* Offers what the requester may know of a group. */
static bool offer_group(const struct sa_group *group, void *arg)
{
	struct visit *visit = arg;
	struct member_query *members = visit->query;
	struct sa_query *query = members->query;
	const struct iba_mc_member_record *record = &group->record;
	struct sa_member *own;

	if (!sa_is_of_partition(query, record->p_key))
		return true;
	if (((members->mask & C(p_key)) &&
	     P_KEY_BASE(members->wanted->p_key) != P_KEY_BASE(record->p_key)) ||
	    !iba_group_fits(record, &members->mtu, &members->rate, &members->life))
		return true;
	for (guint i = 0; query->from.trusted && visit->go_on && i < group->members->len; i++)
		offer_member(visit, group, &g_array_index(group->members, struct sa_member, i));
	if (query->from.trusted)
		return visit->go_on;
	if (!(members->mask & MEMBER_COMPONENTS))
		return sa_offer(query, record, FABRIC_NONE);
	own = sa_group_member(group, query->subnet->fabric->ports[query->from.port].guid);
	if (own)
		offer_member(visit, group, own);
	return visit->go_on;
}

uint16_t sa_member_each(struct sa_query *query)
{
	struct iba_mc_member_record *wanted = &query->wanted.member;
	struct member_query members;
	struct visit visit = {.query = &members, .go_on = true};
	const struct sa_group *group;

	prepare(&members, query);
	query->mask &= ~C(p_key);
	if ((query->mask & C(port_gid)) && sa_prefix_is_local(query, wanted->port_gid.prefix))
		wanted->port_gid.prefix = query->subnet->options->subnet_prefix;
	group = query->mask & C(mgid) ? sa_store_find(query->store, wanted->mgid) : NULL;
	if (group)
		offer_group(group, &visit);
	else if (!(query->mask & C(mgid)) && query->mask & C(mlid))
		sa_store_each_of(query->store, wanted->mlid, offer_group, &visit);
	else if (!(query->mask & C(mgid)))
		sa_store_each(query->store, offer_group, &visit);
	return IBA_STATUS_OK;
}
