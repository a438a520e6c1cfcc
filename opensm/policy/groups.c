// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The list of multicast groups that the SA hands to the sweep. */
#include "policy/groups.h"

#include <glib.h>

struct mc_groups *mc_groups_new(uint32_t n, uint64_t serial)
{
	struct mc_groups *groups = g_new0(struct mc_groups, 1);

	ref_init(&groups->ref);
	groups->serial = serial;
	groups->n = n;
	groups->groups = g_new0(struct mc_group, n);
	return groups;
}

struct mc_groups *mc_groups_ref(struct mc_groups *groups)
{
	ref_get(&groups->ref);
	return groups;
}

void mc_groups_unref(struct mc_groups *groups)
{
	if (!groups || !ref_put(&groups->ref))
		return;
	for (uint32_t i = 0; i < groups->n; i++)
		g_free(groups->groups[i].port_guids);
	g_free(groups->groups);
	g_free(groups);
}
