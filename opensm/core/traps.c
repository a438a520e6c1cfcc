// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/traps.h"

#include <string.h>

static unsigned int count_from(const struct traps *traps, uint16_t from)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < traps->n; i++)
		n += traps->all[i].from == from;
	return n;
}

/* The oldest trap of the LID that sent most of them. */
static uint32_t find_to_drop(const struct traps *traps)
{
	unsigned int most = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; i < traps->n; i++) {
		unsigned int n = count_from(traps, traps->all[i].from);

		if (n > most)
			found = i;
		most = MAX(most, n);
	}
	return found;
}

static void drop(struct traps *traps, uint32_t at)
{
	traps->n--;
	memmove(traps->all + at, traps->all + at + 1, (traps->n - at) * sizeof(*traps->all));
}

struct traps *traps_with(const struct traps *before, const struct iba_notice *notice, uint16_t from)
{
	struct traps *traps = g_new0(struct traps, 1);

	ref_init(&traps->ref);
	if (before) {
		traps->end = before->end;
		traps->n = before->n;
		memcpy(traps->all, before->all, sizeof(traps->all));
	}
	if (traps->n == TRAPS_KEPT)
		drop(traps, find_to_drop(traps));
	traps->all[traps->n++] =
		(struct trap){.notice = *notice, .from = from, .serial = traps->end++};
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
