// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The list of multicast groups that the SA passes to the sweep. */
#include "policy/partition/groups.h"

#include <glib.h>

struct mc_group *mc_group_new(uint32_t n_ports)
{
	struct mc_group *group = g_new0(struct mc_group, 1);

	ref_init(&group->ref);
	group->port_guids = g_new0(uint64_t, n_ports);
	group->only_sends = g_new0(bool, n_ports);
	return group;
}

struct mc_group *mc_group_ref(struct mc_group *group)
{
	ref_get(&group->ref);
	return group;
}

void mc_group_unref(struct mc_group *group)
{
	if (!group || !ref_put(&group->ref))
		return;
	g_free(group->port_guids);
	g_free(group->only_sends);
	g_free(group);
}

struct mc_block *mc_block_new(uint32_t n)
{
	struct mc_block *block = g_new0(struct mc_block, 1);

	ref_init(&block->ref);
	block->n = n;
	block->groups = g_new0(struct mc_group *, n);
	return block;
}

struct mc_block *mc_block_ref(struct mc_block *block)
{
	ref_get(&block->ref);
	return block;
}

void mc_block_unref(struct mc_block *block)
{
	if (!block || !ref_put(&block->ref))
		return;
	for (uint32_t i = 0; i < block->n; i++)
		mc_group_unref(block->groups[i]);
	g_free(block->groups);
	g_free(block);
}

struct mc_groups *mc_groups_new(uint64_t serial)
{
	struct mc_groups *groups = g_new0(struct mc_groups, 1);

	ref_init(&groups->ref);
	groups->serial = serial;
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
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++)
		mc_block_unref(groups->blocks[i]);
	g_free(groups);
}

const struct mc_group *mc_groups_next(const struct mc_groups *groups, struct mc_cursor *cursor)
{
	for (; groups && cursor->block < IBA_MFT_BLOCKS; cursor->block++, cursor->place = 0) {
		const struct mc_block *block = groups->blocks[cursor->block];

		if (block && cursor->place < block->n)
			return block->groups[cursor->place++];
	}
	return NULL;
}
