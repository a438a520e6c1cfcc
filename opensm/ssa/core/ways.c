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
	const uint32_t *order; /* subnet_view_order() */
	uint32_t n_lids, reach_size;
	uint8_t *paths; /* [row][LID] */
	uint8_t *reach; /* [LID][reach_size] */
};

/* For the LIDs of a block: the bits of eight switches, in the order of the table. */
static void reach_octets(const struct ssa_index *index, const uint8_t *ways, uint32_t place,
			 uint8_t bits[FABRIC_LFT_BLOCK])
{
	uint32_t n = MIN(8, index->n_switches - place);

	memset(bits, 0, FABRIC_LFT_BLOCK);
	for (uint32_t k = 0; k < n; k++) {
		const uint8_t *of = ways + (size_t)index->sw[place + k] * FABRIC_LFT_BLOCK;

		for (uint32_t i = 0; i < FABRIC_LFT_BLOCK; i++)
			bits[i] |= (uint8_t)((of[i] != SSA_WAY_NONE) << k);
	}
}

/* ways: [switch][64] of the LIDs from first on. */
static void keep_block(const struct job *job, uint32_t first, const uint8_t *ways)
{
	const struct ssa_index *index = job->index;
	uint32_t here = MIN(FABRIC_LFT_BLOCK, job->n_lids - first);
	uint8_t bits[FABRIC_LFT_BLOCK];

	for (uint32_t sw = 0; sw < index->n_switches; sw++)
		if (index->row[sw] != SSA_NONE)
			memcpy(job->paths + (size_t)index->row[sw] * job->n_lids + first,
			       ways + (size_t)sw * FABRIC_LFT_BLOCK, here);
	for (uint32_t k = 0; k < job->reach_size; k++) {
		reach_octets(index, ways, 8 * k, bits);
		for (uint32_t i = 0; i < here; i++)
			job->reach[(size_t)(first + i) * job->reach_size + k] = bits[i];
	}
}

static void work(void *arg, uint32_t first, uint32_t last)
{
	const struct job *job = arg;
	g_autofree uint8_t *ways = g_malloc((size_t)job->index->n_switches * FABRIC_LFT_BLOCK + 1);

	for (uint32_t block = first; block < last; block++) {
		subnet_view_ways(job->source->view, job->order, block, ways);
		keep_block(job, block * FABRIC_LFT_BLOCK, ways);
	}
}

void ssa_make_ways(const struct ssa_source *source, const struct ssa_index *index,
		   struct ssa_made *made)
{
	g_autofree uint32_t *order = subnet_view_order(source->view);
	struct job job = {
		.source = source,
		.index = index,
		.order = order,
		.n_lids = source->view->subnet->fabric->max_lid + 1u,
		.reach_size = (index->n_switches + 7) / 8,
	};

	job.paths = g_malloc((size_t)index->n_rows * job.n_lids + 1);
	job.reach = g_malloc((size_t)job.n_lids * job.reach_size + 1);
	route_parallel(source->threads, (job.n_lids + FABRIC_LFT_BLOCK - 1) / FABRIC_LFT_BLOCK,
		       work, &job);
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
