// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layers/layered.h"

#include "route/graph/parallel.h"
#include "route/graph/watch.h"

#define PAIRS_AT_ONCE 2048

struct batch {
	struct layered_pair pairs[PAIRS_AT_ONCE];
	uint32_t n;
};

/*
 * While one thread takes the pairs of a batch, the others list the steps of the next. With a single
 * thread both are the same batch, which it lists and takes.
 */
struct pipeline {
	const struct layered *layered;
	layered_pair_fn *call;
	void *arg;
	struct batch *next, *listed;
	bool done; /* the consumer wants no more */
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

static void list_pairs(const struct layered *layered, struct layered_pair *pairs, uint32_t n)
{
	for (struct layered_pair *pair = pairs; pair < pairs + n; pair++) {
		pair->n = 0;
		list_paths(layered, pair->a, pair->b, pair);
		list_paths(layered, pair->b, pair->a, pair);
	}
}

static void run(void *arg, G_GNUC_UNUSED struct route_team *team, unsigned int thread,
		unsigned int n)
{
	struct pipeline *pipeline = arg;
	struct batch *next = pipeline->next, *listed = pipeline->listed;
	uint32_t part = next->n / MAX(n - 1, 1) + 1, first = thread ? (thread - 1) * part : 0;

	if ((thread || n == 1) && first < next->n)
		list_pairs(pipeline->layered, &next->pairs[first], MIN(part, next->n - first));
	for (uint32_t i = 0; !thread && !pipeline->done && i < listed->n; i++)
		pipeline->done = !pipeline->call(pipeline->arg, &listed->pairs[i]);
}

static void go_on(struct pipeline *pipeline)
{
	struct batch *taken = pipeline->listed;
	bool is_full = pipeline->next->n == PAIRS_AT_ONCE;

	pipeline->done |= !route_watch_step(pipeline->layered->graph->watch);
	route_team_run(is_full ? pipeline->layered->graph->threads : 1, run, pipeline);
	taken->n = 0;
	pipeline->listed = pipeline->next;
	pipeline->next = taken;
}

static void free_batch(struct batch *batch)
{
	for (uint32_t i = 0; i < PAIRS_AT_ONCE; i++)
		g_free(batch->pairs[i].steps);
	g_free(batch);
}

void layered_each_pair(const struct layered *layered, const struct route_lanes *lanes,
		       layered_kind_fn *is_kind, layered_pair_fn *call, void *arg)
{
	uint32_t n = layered->graph->n;
	struct batch *one = g_new0(struct batch, 1);
	struct batch *other = layered->graph->threads > 1 ? g_new0(struct batch, 1) : one;
	struct pipeline pipeline = {layered, call, arg, one, other, false};

	route_watch_begin(layered->graph->watch, "lanes", 0);

	for (uint32_t a = 0; a < n && !pipeline.done; a++)
		for (uint32_t b = 0; b < n; b++) {
			struct batch *next = pipeline.next;

			if (a == b || (lanes && route_lanes_sl(lanes, a, b) != ROUTE_NO_SL) ||
			    !is_kind(arg, a, b))
				continue;
			next->pairs[next->n].a = a;
			next->pairs[next->n++].b = b;
			if (next->n == PAIRS_AT_ONCE)
				go_on(&pipeline);
		}
	go_on(&pipeline);
	go_on(&pipeline);
	free_batch(one);
	if (other != one)
		free_batch(other);
}
