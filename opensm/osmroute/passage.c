// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "osmroute/passage.h"

#include <string.h>

#include "osmroute/tables.h"
#include "policy/files/route_files.h"
#include "route/transition/lane_changes.h"
#include "route/transition/transition.h"
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

/* As the daemon judges a change before it writes it. */
static char *find_exposed(const struct routing *held, const struct routing *routing,
			  const struct route_stages *stages)
{
	struct lane_changes changes = route_lane_changes(held, routing, NULL);
	const struct lane_change change = {
		.old = held,
		.new = routing,
		.held = (const uint8_t *const *)held->lft,
		.stages = stages,
		.maps = changes.maps,
	};

	if ((changes.pairs || changes.maps || changes.entries) &&
	    route_lanes_mix(&change, ROUTE_MIX_WORK))
		return NULL;
	return route_lane_changes_tell(&changes, routing);
}

void passage_clear(struct passage *passage)
{
	g_clear_pointer(&passage->exposed, g_free);
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
	*passage = (struct passage){stages->n, stages->n_ordered, stages->n_discarded, 0, NULL};
	passage->exposed = find_exposed(held, routing, stages);
	for (uint32_t i = 0; i < stages->n; i++) {
		passage->blocks += blocks_between(before, stages->rows[i], routing);
		before = stages->rows[i];
	}
	route_stages_free(stages);
}
