// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which multicast groups were created and deleted between two lists of them. Pure. */
#ifndef CTL_REPORT_GROUP_CHANGES_H
#define CTL_REPORT_GROUP_CHANGES_H

#include "policy/partition/groups.h"

struct group_changes {
	uint32_t created, deleted;
	struct iba_gid mgid; /* of one that was created, else of one that was deleted */
};

/* Lists may be NULL. Takes time only for the blocks that differ. */
struct group_changes group_changes_of(const struct mc_groups *old, const struct mc_groups *now);

#endif
