// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sa/clients/quota.h"

#include "complib/hash.h"

void sa_quota_init(struct sa_quota *quota, unsigned int max, unsigned int max_of_port)
{
	quota->by_port = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
	quota->n = 0;
	quota->max = max;
	quota->part = 0;
	quota->beyond = 0;
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

static unsigned int beyond(const struct sa_quota *quota, unsigned int has)
{
	return quota->part && has > quota->part ? has - quota->part : 0;
}

void sa_quota_follow(struct sa_quota *quota, unsigned int max_of_port, const struct fabric *fabric)
{
	unsigned int n_ports = 0;
	GHashTableIter iter;
	gpointer has;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n_ports += fabric_is_endport(fabric, i);
	quota->max_of_port = max_of_port ? max_of_port : quota->max;
	quota->part = quota->max / 2 / MAX(n_ports, 1u);
	quota->beyond = 0;
	g_hash_table_iter_init(&iter, quota->by_port);
	while (g_hash_table_iter_next(&iter, NULL, &has))
		quota->beyond += beyond(quota, GPOINTER_TO_UINT(has));
}

bool sa_quota_allows(const struct sa_quota *quota, uint64_t port_guid)
{
	unsigned int has = port_guid ? sa_quota_of(quota, port_guid) : 0;
	unsigned int half = quota->max - quota->max / 2;
	unsigned int left = half > quota->beyond ? half - quota->beyond : 0;

	if (quota->n >= quota->max)
		return false;
	if (!port_guid)
		return true;
	if (has >= quota->max_of_port)
		return false;
	return !quota->part || has < quota->part || beyond(quota, has) < (left + 7) / 8;
}

/* The number of a port's entries changes. */
static void change(struct sa_quota *quota, uint64_t port_guid, int by)
{
	unsigned int has = sa_quota_of(quota, port_guid);

	quota->n += by;
	if (!port_guid)
		return;
	quota->beyond += beyond(quota, has + by) - beyond(quota, has);
	set(quota, port_guid, has + by);
}

void sa_quota_count(struct sa_quota *quota, uint64_t port_guid)
{
	change(quota, port_guid, 1);
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
	change(quota, port_guid, -1);
}
