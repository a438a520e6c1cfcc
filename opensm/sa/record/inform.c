// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * InformInfo and InformInfoRecord (IBA 13.4.8.3, 15.2.5.12): ports subscribe to traps, and
 * subscriptions can be read. Whether a subscriber may know of a trap is checked when the trap
 * occurs: report.c.
 */
#include "sa/report/report.h"
#include "sa/sa_private.h"

#define C(name) IBA_COMPONENT(inform_info_record, name)

/*
 * The object of a subscription may be gone, or hidden by now: to unsubscribe, it need only exist.
 */
static bool is_legal(const struct sa_query *query, const struct iba_inform_info *info)
{
	uint32_t port;

	if (info->is_generic > 1 || info->subscribe > 1)
		return false;
	if (!info->subscribe)
		return true;
	if (info->gid.prefix == 0 && info->gid.guid == 0)
		return info->lid_range_begin == IBA_LID_PERMISSIVE || info->lid_range_end == 0 ||
		       info->lid_range_begin <= info->lid_range_end;
	port = sa_port_by_guid(query, info->gid.guid);
	return sa_prefix_is_local(query, info->gid.prefix) && port != FABRIC_NONE &&
	       sa_may_see(query, port);
}

/* A Subscribe names no QP. An Unsubscribe may name the QP that subscribed, or come from it. */
static struct sa_subscription *find(const struct sa_query *query, uint64_t guid,
				    const struct iba_inform_info *info)
{
	const struct sa_subscribers *subscribers = query->registries->subscribers;
	struct sa_subscription_key key = sa_subscription_key(guid, info->qpn, info);
	struct sa_subscription *found = sa_subscribers_find(subscribers, &key);

	if (found)
		return found;
	key = sa_subscription_key(guid, query->from.address->qpn, info);
	return sa_subscribers_find(subscribers, &key);
}

static bool may_subscribe(struct sa_query *query, uint64_t guid, const struct iba_inform_info *info)
{
	const struct sa_subscribers *subscribers = query->registries->subscribers;
	struct sa_subscription_key key = sa_subscription_key(guid, query->from.address->qpn, info);

	return sa_subscribers_find(subscribers, &key) ||
	       sa_has_quota(query, sa_subscribers_of(subscribers, guid),
			    query->subnet->options->sa_etm_max_num_event_subs);
}

uint16_t sa_inform_set(struct sa_query *query)
{
	struct sa_subscribers *subscribers = query->registries->subscribers;
	const struct iba_inform_info *info = &query->wanted.inform_info;
	uint64_t guid = query->subnet->fabric->ports[query->from.port].guid;
	struct sa_subscription *subscription;

	if (!is_legal(query, info))
		return IBA_SA_REQ_INVALID;
	if (!query->from.vouched && sa_is_secret(info->is_generic, info->type, info->trap_number))
		return IBA_SA_DENIED;
	if (info->subscribe) {
		if (!may_subscribe(query, guid, info) ||
		    !sa_subscribers_add(subscribers, guid, query->from.address, info,
					query->from.vouched))
			return sa_refuse_more(query);
	} else {
		subscription = find(query, guid, info);
		if (!subscription)
			return IBA_SA_REQ_INVALID;
		sa_subscribers_remove(subscribers, subscription);
	}
	sa_put(query, info);
	return IBA_STATUS_OK;
}

static bool offer_subscription(struct sa_subscription *subscription, void *arg)
{
	struct sa_query *query = arg;
	uint32_t port = fabric_port_by_guid(query->subnet->fabric, subscription->guid);
	struct iba_inform_info_record record = {
		.subscriber_gid = {query->subnet->options->subnet_prefix, subscription->guid},
		.enumeration = subscription->enumeration,
		.inform_info = subscription->info,
	};

	if (!query->from.trusted) {
		if (port == FABRIC_NONE)
			return true;
		record.inform_info.qpn = 0;
	}
	return sa_offer(query, &record, port);
}

uint16_t sa_inform_each(struct sa_query *query)
{
	struct iba_gid *gid = &query->wanted.subscription.subscriber_gid;

	if (sa_prefix_is_local(query, gid->prefix))
		gid->prefix = query->subnet->options->subnet_prefix;
	query->mask &= C(subscriber_gid) | C(enumeration);
	sa_subscribers_each(query->registries->subscribers, offer_subscription, query);
	return IBA_STATUS_OK;
}
