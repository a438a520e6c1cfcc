// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "osmroute/passage.h"

#include <string.h>

#include "osmroute/tables.h"
#include "policy/files/route_files.h"
#include "route/transition/transition.h"

#define BLOCK 64

struct routing *passage_held(const struct fabric *fabric, const struct options *options,
			     const char *file, GError **error)
{
	struct options *with = options_copy_with(options, OPTION_lfts_file, file, error);
	struct route_files *files = with ? route_files_load(with, error) : NULL;
	struct route_input input = {0};
	struct routing *held = NULL;

	if (files) {
		route_files_input(files, with, &input);
		held = tables_engine.compute(&tables_engine, fabric, &input, error);
		route_files_unref(files);
	}
	options_unref(with);
	return held;
}

static uint64_t blocks_between(const uint8_t *const *before, const uint8_t *const *after,
			       const struct routing *routing)
{
	uint64_t n = 0;

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		for (size_t i = 0; i < routing->n_blocks; i++)
			n += memcmp(before[sw] + i * BLOCK, after[sw] + i * BLOCK, BLOCK) != 0;
	return n;
}

void passage_find(const struct fabric *fabric, const struct routing *held, struct routing *routing,
		  const struct route_verdict *verdict, struct passage *passage)
{
	const uint8_t *const *before = (const uint8_t *const *)held->lft;
	struct route_stages *stages;

	g_assert(held->n_blocks ==
		 routing->n_blocks); /* both cover the LIDs of the fabric */
	stages = route_stages_new(fabric, before, false, routing, verdict, ROUTE_STAGES_WORK,
				  NULL);
	*passage = (struct passage){stages->n, stages->n_ordered, stages->n_discarded, 0};
	for (uint32_t i = 0; i < stages->n; i++) {
		passage->blocks += blocks_between(before, stages->rows[i], routing);
		before = stages->rows[i];
	}
	route_stages_free(stages);
}
