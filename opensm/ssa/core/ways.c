// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ways to all LIDs, found from the destinations: each entry of each forwarding table is read
 * once. Threads share the blocks of LIDs.
 */
#include <string.h>

#include "route/graph/parallel.h"
#include "route/value/lanes.h"
#include "ssa/core/make.h"

struct job {
	const struct ssa_source *source;
	const struct ssa_index *index;
	uint32_t n_lids, reach_size;
	uint8_t *paths; /* [row][LID] */
	uint8_t *reach; /* [LID][reach_size] */
};

static void keep_block(const struct job *job, uint32_t first, const uint8_t *ways)
{
	const struct ssa_index *index = job->index;
	uint32_t n = index->n_switches, here = MIN(FABRIC_LFT_BLOCK, job->n_lids - first);

	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t row = index->row[sw], place = index->sw_place[sw];

		for (uint32_t i = 0; i < here; i++) {
			uint8_t way = ways[(size_t)i * n + sw];

			if (row != SSA_NONE)
				job->paths[(size_t)row * job->n_lids + first + i] = way;
			if (way != SSA_WAY_NONE)
				job->reach[(size_t)(first + i) * job->reach_size + place / 8] |=
					(uint8_t)(1u << place % 8);
		}
	}
}

static void work(void *arg, uint32_t first, uint32_t last)
{
	const struct job *job = arg;
	g_autofree uint8_t *ways =
		g_malloc((size_t)job->index->n_switches * FABRIC_LFT_BLOCK + 1);

	for (uint32_t block = first; block < last; block++) {
		subnet_view_ways(job->source->view, block, ways);
		keep_block(job, block * FABRIC_LFT_BLOCK, ways);
	}
}

void ssa_make_ways(const struct ssa_source *source, const struct ssa_index *index,
		   struct ssa_made *made)
{
	struct job job = {
		.source = source,
		.index = index,
		.n_lids = source->view->subnet->fabric->max_lid + 1u,
		.reach_size = (index->n_switches + 7) / 8,
	};

	job.paths = g_malloc((size_t)index->n_rows * job.n_lids + 1);
	job.reach = g_malloc0((size_t)job.n_lids * job.reach_size + 1);
	route_parallel(source->threads,
		       (job.n_lids + FABRIC_LFT_BLOCK - 1) / FABRIC_LFT_BLOCK, work, &job);
	ssa_made_put(made, SSA_PATHS, job.paths, index->n_rows, job.n_lids);
	ssa_made_put(made, SSA_REACH, job.reach, index->n_rows ? job.n_lids : 0,
		     MAX(job.reach_size, 1));
}

void ssa_make_lanes(const struct ssa_source *source, const struct ssa_index *index,
		    struct ssa_made *made)
{
	const struct route_lanes *lanes = source->view->subnet->routing->lanes;
	uint32_t n = index->n_switches;
	uint8_t *rows;

	if (!lanes || !lanes->sl || !index->n_rows)
		return;
	rows = g_malloc((size_t)index->n_rows * n);
	for (uint32_t from = 0; from < n; from++) {
		uint32_t row = index->row[from];

		for (uint32_t to = 0; row != SSA_NONE && to < n; to++)
			rows[(size_t)row * n + index->sw_place[to]] =
				route_lanes_sl(lanes, from, to);
	}
	ssa_made_put(made, SSA_LANES, rows, index->n_rows, n);
}
