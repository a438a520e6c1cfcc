// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/milestones.h"

const char *const *milestone_ids(void)
{
	static const char *const ids[MILESTONE_COUNT] = {
#define MILESTONE(name, id, meaning) [MILESTONE_##name] = id,
#include "core/milestones.def"
#undef MILESTONE
	};

	return ids;
}
