// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sa/quota.h"

void sa_quota_init(struct sa_quota *quota, unsigned int max, unsigned int max_of_port)
{
	quota->by_port = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	quota->n = 0;
	quota->max = max;
	quota->max_of_port = max_of_port;
}

void sa_quota_clear(struct sa_quota *quota)
{
	g_hash_table_unref(quota->by_port);
}

unsigned int sa_quota_of(const struct sa_quota *quota, uint64_t port_guid)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(quota->by_port, &port_guid));
}

static void set(struct sa_quota *quota, uint64_t port_guid, unsigned int n)
{
	if (n)
		g_hash_table_replace(quota->by_port, g_memdup2(&port_guid, sizeof(port_guid)),
				     GUINT_TO_POINTER(n));
	else
		g_hash_table_remove(quota->by_port, &port_guid);
}

bool sa_quota_allows(const struct sa_quota *quota, uint64_t port_guid)
{
	return quota->n < quota->max && sa_quota_of(quota, port_guid) < quota->max_of_port;
}

void sa_quota_count(struct sa_quota *quota, uint64_t port_guid)
{
	quota->n++;
	set(quota, port_guid, sa_quota_of(quota, port_guid) + 1);
}

bool sa_quota_take(struct sa_quota *quota, uint64_t port_guid)
{
	if (!sa_quota_allows(quota, port_guid))
		return false;
	sa_quota_count(quota, port_guid);
	return true;
}

void sa_quota_give(struct sa_quota *quota, uint64_t port_guid)
{
	quota->n--;
	set(quota, port_guid, sa_quota_of(quota, port_guid) - 1);
}
