// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/traps.h"

#include <string.h>

struct traps *traps_with(const struct traps *before, const struct iba_notice *notice, uint16_t from)
{
	struct traps *traps = g_new0(struct traps, 1);
	uint32_t kept = before ? MIN(before->n, TRAPS_KEPT - 1) : 0;

	ref_init(&traps->ref);
	if (kept)
		memcpy(traps->all, before->all + before->n - kept, kept * sizeof(*traps->all));
	traps->all[kept] = (struct trap){.notice = *notice, .from = from};
	traps->n = kept + 1;
	traps->end = before ? before->end + 1 : 1;
	return traps;
}

struct traps *traps_ref(struct traps *traps)
{
	ref_get(&traps->ref);
	return traps;
}

void traps_unref(struct traps *traps)
{
	if (traps && ref_put(&traps->ref))
		g_free(traps);
}
