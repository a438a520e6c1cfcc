// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "subnet/refused_joins.h"

#include <string.h>

static uint32_t find(const struct refused_joins *joins, uint64_t port_guid, struct iba_gid mgid)
{
	uint32_t i = 0;

	while (joins && i < joins->n &&
	       (joins->all[i].port_guid != port_guid || !iba_gid_equal(joins->all[i].mgid, mgid)))
		i++;
	return i;
}

static unsigned int count_of(const struct refused_joins *joins, uint64_t port_guid)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < joins->n; i++)
		n += joins->all[i].port_guid == port_guid;
	return n;
}

static uint32_t find_to_drop(const struct refused_joins *joins)
{
	unsigned int most = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; i < joins->n; i++) {
		unsigned int n = count_of(joins, joins->all[i].port_guid);

		if (n > most)
			found = i;
		most = MAX(most, n);
	}
	return found;
}

static struct refused_joins *copy(const struct refused_joins *before)
{
	struct refused_joins *joins = g_new0(struct refused_joins, 1);

	ref_init(&joins->ref);
	if (before) {
		joins->n = before->n;
		memcpy(joins->all, before->all, before->n * sizeof(*joins->all));
	}
	return joins;
}

static void drop(struct refused_joins *joins, uint32_t at)
{
	joins->n--;
	memmove(joins->all + at, joins->all + at + 1, (joins->n - at) * sizeof(*joins->all));
}

struct refused_joins *refused_joins_with(const struct refused_joins *before,
					 const struct refused_join *join)
{
	struct refused_joins *joins = copy(before);
	uint32_t at = find(joins, join->port_guid, join->mgid);
	uint32_t times = at < joins->n ? joins->all[at].times : 0;

	if (at < joins->n)
		drop(joins, at);
	else if (joins->n == REFUSED_JOINS_KEPT)
		drop(joins, find_to_drop(joins));
	joins->all[joins->n] = *join;
	joins->all[joins->n++].times = times + 1;
	return joins;
}

struct refused_joins *refused_joins_without(const struct refused_joins *before, uint64_t port_guid,
					    struct iba_gid mgid)
{
	uint32_t at = find(before, port_guid, mgid);
	struct refused_joins *joins;

	if (!before || at == before->n)
		return NULL;
	joins = copy(before);
	drop(joins, at);
	return joins;
}

struct refused_joins *refused_joins_ref(struct refused_joins *joins)
{
	ref_get(&joins->ref);
	return joins;
}

void refused_joins_unref(struct refused_joins *joins)
{
	if (joins && ref_put(&joins->ref))
		g_free(joins);
}
