// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sa/groups/ipoib.h"

#include "iba/codes.h"

bool ipoib_owns(struct iba_gid mgid)
{
	return iba_mgid_signature(mgid) == IBA_MGID_SIGNATURE_IPV4 ||
	       iba_mgid_signature(mgid) == IBA_MGID_SIGNATURE_IPV6;
}

uint16_t ipoib_p_key(struct iba_gid mgid)
{
	return (uint16_t)(mgid.prefix >> 16);
}

static uint8_t scope_of(struct iba_gid mgid)
{
	return mgid.prefix >> 48 & 0xF;
}

struct iba_gid ipoib_broadcast(struct iba_gid mgid)
{
	return partition_broadcast_mgid(ipoib_p_key(mgid), scope_of(mgid));
}

bool ipoib_rule(const struct partition *partition, struct iba_gid mgid,
		struct partition_group *rule)
{
	bool found = false;

	for (uint32_t i = 0; partition && partition->ipoib && i < partition->n_groups; i++) {
		const struct partition_group *group = &partition->groups[i];

		if (!ipoib_owns(group->mgid) ||
		    !iba_gid_equal(group->mgid, ipoib_broadcast(group->mgid)))
			continue;
		if (!found || iba_gid_equal(group->mgid, mgid))
			*rule = *group;
		found = true;
	}
	rule->mgid = mgid;
	rule->scope = scope_of(mgid);
	return found;
}

const char *ipoib_difference(const struct iba_mc_member_record *group,
			     const struct iba_mc_member_record *broadcast)
{
	return P_KEY_BASE(group->p_key) != P_KEY_BASE(broadcast->p_key) ? "P_Key"
	       : group->q_key != broadcast->q_key			? "Q_Key"
	       : group->mtu != broadcast->mtu				? "MTU"
	       : group->rate != broadcast->rate				? "rate"
	       : group->sl != broadcast->sl				? "SL"
	       : group->t_class != broadcast->t_class			? "TClass"
	       : group->flow_label != broadcast->flow_label		? "FlowLabel"
	       : group->hop_limit != broadcast->hop_limit		? "HopLimit"
									: NULL;
}

void ipoib_take_parameters(struct iba_mc_member_record *group,
			   const struct iba_mc_member_record *broadcast)
{
	group->p_key = broadcast->p_key;
	group->q_key = broadcast->q_key;
	group->mtu = broadcast->mtu;
	group->rate = broadcast->rate;
	group->sl = broadcast->sl;
	group->t_class = broadcast->t_class;
	group->flow_label = broadcast->flow_label;
	group->hop_limit = broadcast->hop_limit;
}
