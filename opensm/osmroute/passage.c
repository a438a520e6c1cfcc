// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "osmroute/passage.h"

#include <string.h>

#include "osmroute/tables.h"
#include "policy/files/route_files.h"
#include "route/transition/change_plan.h"
#include "subnet/path_sls.h"

#define BLOCK 64

static bool take_sls(const struct fabric *fabric, struct routing *held, const char *file,
		     GError **error)
{
	g_autofree char *text = NULL;
	struct path_sls *sls;
	struct log *log;

	if (!g_file_get_contents(file, &text, NULL, error))
		return false;
	log = log_new_null();
	sls = path_sls_new(NULL, log);
	path_sls_parse(sls, file, text);
	path_sls_hold(sls, fabric, held);
	path_sls_free(sls);
	log_free(log);
	if (!held->maker)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: it is not a file path_sls of the daemon", file);
	return held->maker;
}

struct routing *passage_held(const struct fabric *fabric, const struct options *options,
			     const char *file, const char *sls, GError **error)
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
	if (held)
		held->engine = NULL; /* these are what switches hold, as the daemon reads them */
	if (held && sls && !take_sls(fabric, held, sls, error))
		g_clear_pointer(&held, routing_unref);
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

void passage_clear(struct passage *passage)
{
	g_clear_pointer(&passage->exposed, g_free);
}

void passage_find(const struct routing *held, const struct routing *routing,
		  const struct route_verdict *verdict, struct passage *passage)
{
	const uint8_t *const *before = (const uint8_t *const *)held->lft;
	const struct route_change change = {
		.old = held, .new = routing, .verdict = verdict, .held = before};
	struct route_change_plan plan;

	g_assert(held->n_blocks ==
		 routing->n_blocks); /* both cover the LIDs of the fabric */
	route_change_plan(&change, &plan);
	*passage = (struct passage){
		.stages = plan.stages->n,
		.ordered = plan.stages->n_ordered,
		.discarded = plan.stages->n_discarded,
		.exposed = g_steal_pointer(&plan.exposed),
	};
	for (uint32_t i = 0; i < plan.stages->n; i++) {
		passage->blocks += blocks_between(before, plan.stages->rows[i], routing);
		before = plan.stages->rows[i];
	}
	route_change_plan_clear(&plan);
}
