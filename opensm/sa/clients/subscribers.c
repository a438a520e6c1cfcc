// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See subscribers.h. A tree by key, and quotas of ports. */
#include "sa/clients/subscribers.h"

#include <string.h>

#include "sa/clients/services.h"

#define WATCHERS_MAX 2

struct sa_subscribers {
	GTree *all; /* struct sa_subscription, owned, by its key */
	struct sa_quota quota;
	uint64_t last_id;
	struct {
		const struct sa_subscribers_watch *watch;
		void *arg;
	} watchers[WATCHERS_MAX];
	unsigned int n_watchers;
};

static gint compare(gconstpointer a, gconstpointer b, gpointer arg)
{
	(void)arg;
	return memcmp(a, b, sizeof(struct sa_subscription_key));
}

struct sa_subscribers *sa_subscribers_new(void)
{
	struct sa_subscribers *subscribers = g_new0(struct sa_subscribers, 1);

	subscribers->all = g_tree_new_full(compare, NULL, NULL, g_free);
	sa_quota_init(&subscribers->quota, SA_MAX_SUBSCRIPTIONS, SA_SUBSCRIPTIONS_OF_PORT);
	return subscribers;
}

void sa_subscribers_free(struct sa_subscribers *subscribers)
{
	g_tree_unref(subscribers->all);
	sa_quota_clear(&subscribers->quota);
	g_free(subscribers);
}

void sa_subscribers_clear(struct sa_subscribers *subscribers)
{
	GTreeNode *node;

	while ((node = g_tree_node_first(subscribers->all)))
		sa_subscribers_remove(subscribers, g_tree_node_value(node));
}

void sa_subscribers_watch(struct sa_subscribers *subscribers,
			  const struct sa_subscribers_watch *watch, void *arg)
{
	g_assert(subscribers->n_watchers < WATCHERS_MAX);
	subscribers->watchers[subscribers->n_watchers].watch = watch;
	subscribers->watchers[subscribers->n_watchers++].arg = arg;
}

unsigned int sa_subscribers_count(const struct sa_subscribers *subscribers)
{
	return subscribers->quota.n;
}

struct sa_subscription_key sa_subscription_key(uint64_t guid, uint32_t qpn,
					       const struct iba_inform_info *info)
{
	struct iba_inform_info what = *info;
	struct sa_subscription_key key;

	what.subscribe = 0;
	what.qpn = 0;
	what.resp_time_value = 0;
	guid = GUINT64_TO_BE(guid);
	qpn = GUINT32_TO_BE(qpn);
	memcpy(key.octets, &guid, sizeof(guid));
	memcpy(key.octets + 8, &qpn, sizeof(qpn));
	wire_encode(&iba_inform_info_type, &what, key.octets + 12);
	return key;
}

struct sa_subscription *sa_subscribers_find(const struct sa_subscribers *subscribers,
					    const struct sa_subscription_key *key)
{
	return g_tree_lookup(subscribers->all, key);
}

unsigned int sa_subscribers_of(const struct sa_subscribers *subscribers, uint64_t guid)
{
	return sa_quota_of(&subscribers->quota, guid);
}

static struct sa_subscription *make(struct sa_subscribers *subscribers, uint64_t guid,
				    const struct sa_subscription_key *key,
				    const struct iba_inform_info *info)
{
	struct sa_subscription *subscription = g_new0(struct sa_subscription, 1);

	sa_quota_count(&subscribers->quota, guid);
	subscription->key = *key;
	subscription->guid = guid;
	subscription->info = *info;
	subscription->link.data = subscription;
	subscription->id = ++subscribers->last_id;
	subscription->enumeration = (uint16_t)subscription->id;
	g_tree_insert(subscribers->all, &subscription->key, subscription);
	return subscription;
}

void sa_subscribers_bound(struct sa_subscribers *subscribers, const struct subnet *subnet)
{
	sa_quota_follow(&subscribers->quota, subnet->options->sa_max_subscriptions, subnet->fabric);
}

/* charged: the port whose quota is charged; 0: only the quota of all. */
static struct sa_subscription *add(struct sa_subscribers *subscribers, uint64_t guid,
				   uint64_t charged, const struct vendor_address *to,
				   const struct iba_inform_info *info, bool trusted)
{
	struct sa_subscription_key key = sa_subscription_key(guid, to->qpn, info);
	struct sa_subscription *subscription = sa_subscribers_find(subscribers, &key);

	if (!subscription && !sa_quota_allows(&subscribers->quota, charged))
		return NULL;
	if (!subscription)
		subscription = make(subscribers, guid, &key, info);
	subscription->to = *to;
	subscription->info.qpn = to->qpn;
	subscription->trusted = trusted;
	subscription->gone_ns = 0;
	subscription->unanswered = 0;
	subscription->rests_until = 0;
	subscription->is_slow = false;
	subscription->is_stale = false;
	subscription->missed = 0;
	subscription->p_key = 0;
	for (unsigned int i = 0; i < subscribers->n_watchers; i++)
		subscribers->watchers[i].watch->added(subscribers->watchers[i].arg, subscription);
	return subscription;
}

struct sa_subscription *sa_subscribers_add(struct sa_subscribers *subscribers, uint64_t guid,
					   const struct vendor_address *to,
					   const struct iba_inform_info *info, bool trusted)
{
	return add(subscribers, guid, guid, to, info, trusted);
}

struct sa_subscription *sa_subscribers_restore(struct sa_subscribers *subscribers, uint64_t guid,
					       const struct vendor_address *to,
					       const struct iba_inform_info *info, bool trusted)
{
	return add(subscribers, guid, 0, to, info, trusted);
}

void sa_subscribers_remove(struct sa_subscribers *subscribers, struct sa_subscription *subscription)
{
	for (unsigned int i = 0; i < subscribers->n_watchers; i++)
		subscribers->watchers[i].watch->removed(subscribers->watchers[i].arg, subscription);
	sa_quota_give(&subscribers->quota, subscription->guid);
	g_tree_remove(subscribers->all, &subscription->key);
}

void sa_subscribers_each(const struct sa_subscribers *subscribers,
			 bool (*visit)(struct sa_subscription *subscription, void *arg), void *arg)
{
	GTreeNode *node = g_tree_node_first(subscribers->all);

	for (; node; node = g_tree_node_next(node))
		if (!visit(g_tree_node_value(node), arg))
			return;
}

void sa_subscribers_follow(struct sa_subscribers *subscribers, const struct subnet *subnet,
			   uint64_t now)
{
	uint64_t patience = subnet->options->drop_event_subscriptions ? 0 : SA_ABSENCE_NS;
	GTreeNode *node = g_tree_node_first(subscribers->all);

	while (node) {
		struct sa_subscription *subscription = g_tree_node_value(node);

		node = g_tree_node_next(node);
		if (fabric_port_by_guid(subnet->fabric, subscription->guid) != FABRIC_NONE)
			subscription->gone_ns = 0;
		else if (!subscription->gone_ns)
			subscription->gone_ns = MAX(now, 1);
		if (subscription->gone_ns && now - subscription->gone_ns >= patience)
			sa_subscribers_remove(subscribers, subscription);
	}
}
