// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layers/layered.h"

#include <string.h>

#include "route/graph/parallel.h"
#include "route/graph/watch.h"

#define DEPTH 8 /* rows that are listed ahead */

/* The pairs of a switch. */
struct row {
	struct layered_pair *pairs;
	uint32_t n, room;
};

/* While the caller's thread takes the pairs of a row, others list the steps of the next rows. */
struct listing {
	const struct layered *layered;
	const struct route_lanes *lanes;
	layered_kind_fn *is_kind;
	layered_pair_fn *call;
	void *arg;
	struct row rows[DEPTH];
};

static void list_paths(const struct layered *layered, uint32_t from, uint32_t to,
		       struct layered_pair *pair)
{
	unsigned int n = layered_n_lids_from(layered->graph, from, to);
	size_t most = layered->way->routing->max_hops;

	for (unsigned int i = 0; i < n; i++) {
		uint16_t lid = layered_lid(layered->graph, to, i);
		struct acyclic_step step = {FABRIC_NONE, FABRIC_NONE};

		if (layered->way->repeats[lid])
			continue;
		if (pair->room < pair->n + most) {
			pair->room = 2 * (pair->n + most);
			pair->steps = g_renew(struct acyclic_step, pair->steps, pair->room);
		}
		layered_each_hop(layered, from, to, lid, sw, channel) {
			step.to = channel;
			if (step.from != FABRIC_NONE)
				pair->steps[pair->n++] = step;
			step.from = channel;
		}
	}
}

static struct layered_pair *next_pair(struct row *row)
{
	if (row->n == row->room) {
		row->room = 2 * row->room + 16;
		row->pairs = g_renew(struct layered_pair, row->pairs, row->room);
		memset(row->pairs + row->n, 0, (row->room - row->n) * sizeof(*row->pairs));
	}
	return &row->pairs[row->n++];
}

/* Whether a pair has an SL says a row itself: no other row has its pairs. */
static void list_row(void *arg, uint32_t a, uint32_t slot)
{
	struct listing *listing = arg;
	const struct layered *layered = listing->layered;
	struct row *row = &listing->rows[slot];

	row->n = 0;
	for (uint32_t b = 0; b < layered->graph->n; b++) {
		struct layered_pair *pair;

		if (a == b || !listing->is_kind(listing->arg, a, b) ||
		    (listing->lanes && route_lanes_sl(listing->lanes, a, b) != ROUTE_NO_SL))
			continue;
		pair = next_pair(row);
		pair->a = a;
		pair->b = b;
		pair->n = 0;
		list_paths(layered, a, b, pair);
		list_paths(layered, b, a, pair);
	}
}

static bool take_row(void *arg, G_GNUC_UNUSED uint32_t a, uint32_t slot)
{
	const struct listing *listing = arg;
	const struct row *row = &listing->rows[slot];

	for (uint32_t i = 0; i < row->n; i++)
		if (!listing->call(listing->arg, &row->pairs[i]))
			return false;
	return route_watch_step(listing->layered->graph->watch);
}

static void clear_row(struct row *row)
{
	for (uint32_t i = 0; i < row->room; i++)
		g_free(row->pairs[i].steps);
	g_free(row->pairs);
}

void layered_each_pair(const struct layered *layered, const struct route_lanes *lanes,
		       layered_kind_fn *is_kind, layered_pair_fn *call, void *arg)
{
	const struct route_graph *graph = layered->graph;
	struct listing listing = {layered, lanes, is_kind, call, arg};
	const struct route_pipeline rows = {list_row, take_row, &listing};

	route_watch_begin(graph->watch, "lanes", graph->n);
	route_pipeline_run(graph->threads, graph->n, graph->threads > 1 ? DEPTH : 1, &rows);
	for (uint32_t i = 0; i < DEPTH; i++)
		clear_row(&listing.rows[i]);
}
