// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layered.h"

#include <limits.h>
#include <stdatomic.h>

#include "route/parallel.h"

#define PAIRS_AT_ONCE 2048

struct pair {
	uint32_t a, b;
};

/* Some pairs in a row, whose steps one thread lists. */
struct part {
	const struct pair *pairs;
	uint32_t n;
	struct acyclic_step *steps;
	size_t n_steps, size;
	size_t end[PAIRS_AT_ONCE]; /* [pair]: of its steps */
};

struct pipeline {
	const struct layered *layered;
	const GArray *pairs;
	layered_pair_fn *call;
	void *arg;
	struct part *parts[2]; /* [thread]: by turns */
	atomic_uint last;      /* round: it wants no more */
};

/* None if the tables have no way. */
static void list_path(const struct layered *layered, uint32_t sw, uint32_t to, uint16_t lid,
		      struct part *part)
{
	struct acyclic_step *next = part->steps + part->n_steps, step = {FABRIC_NONE, FABRIC_NONE};

	while (sw != to) {
		step.to = route_columns_get(&layered->way->columns, sw, lid);
		if (step.to == FABRIC_NONE)
			return;
		if (step.from != FABRIC_NONE)
			*next++ = step;
		step.from = step.to;
		sw = layered->channels->to[step.to];
	}
	part->n_steps = next - part->steps;
}

static void list_paths(const struct layered *layered, uint32_t from, uint32_t to,
		       struct part *part)
{
	unsigned int n = layered_n_lids_from(layered->graph, from, to);

	for (unsigned int i = 0; i < n; i++) {
		uint16_t lid = layered_lid(layered->graph, to, i);

		if (layered->way->repeats[lid])
			continue;
		if (part->size < part->n_steps + layered->graph->n) {
			part->size = 2 * (part->n_steps + layered->graph->n);
			part->steps = g_renew(struct acyclic_step, part->steps, part->size);
		}
		list_path(layered, from, to, lid, part);
	}
}

static void list_part(const struct layered *layered, struct part *part)
{
	part->n_steps = 0;
	for (uint32_t i = 0; i < part->n; i++) {
		list_paths(layered, part->pairs[i].a, part->pairs[i].b, part);
		list_paths(layered, part->pairs[i].b, part->pairs[i].a, part);
		part->end[i] = part->n_steps;
	}
}

static bool take_part(const struct pipeline *pipeline, const struct part *part)
{
	bool more = true;

	for (uint32_t i = 0; i < part->n && more; i++) {
		size_t first = i ? part->end[i - 1] : 0;

		more = pipeline->call(pipeline->arg, part->pairs[i].a, part->pairs[i].b,
				      part->steps ? part->steps + first : NULL,
				      part->end[i] - first);
	}
	return more;
}

/* The first thread takes what was listed, and the others list, if there are any. */
static void run(void *arg, struct route_team *team, unsigned int thread, unsigned int n)
{
	struct pipeline *pipeline = arg;
	unsigned int n_parts = MAX(n, 2) - 1, i = thread ? thread - 1 : 0;
	uint32_t n_pairs = pipeline->pairs->len;
	uint32_t n_rounds = (n_pairs + PAIRS_AT_ONCE - 1) / PAIRS_AT_ONCE;

	for (unsigned int round = 0; round <= n_rounds; round++) {
		const struct part *before = pipeline->parts[!(round % 2)];
		struct part *part = &pipeline->parts[round % 2][i];
		bool more = true;

		if (round < n_rounds && (thread || n == 1)) {
			uint32_t first = round * PAIRS_AT_ONCE;
			uint32_t size = MIN(PAIRS_AT_ONCE, n_pairs - first);

			part->pairs = &g_array_index(pipeline->pairs, struct pair,
						     first + size * i / n_parts);
			part->n = size * (i + 1) / n_parts - size * i / n_parts;
			list_part(pipeline->layered, part);
		}
		for (unsigned int p = 0; round && !thread && more && p < n_parts; p++)
			more = take_part(pipeline, &before[p]);
		if (!more)
			atomic_store(&pipeline->last, round);
		route_team_meet(team);
		if (round >= atomic_load(&pipeline->last))
			break;
	}
}

/* Struct pair. */
static GArray *list_pairs(const struct layered *layered, const struct route_lanes *lanes,
			  layered_kind_fn *is_kind, void *arg)
{
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct pair));

	for (uint32_t a = 0; a < layered->graph->n; a++)
		for (uint32_t b = 0; b < layered->graph->n; b++) {
			struct pair pair = {a, b};

			if (a != b && (!lanes || route_lanes_sl(lanes, a, b) == ROUTE_NO_SL) &&
			    is_kind(arg, a, b))
				g_array_append_val(pairs, pair);
		}
	return pairs;
}

void layered_each_pair(const struct layered *layered, const struct route_lanes *lanes,
		       layered_kind_fn *is_kind, layered_pair_fn *call, void *arg)
{
	g_autoptr(GArray) pairs = list_pairs(layered, lanes, is_kind, arg);
	unsigned int threads = pairs->len > PAIRS_AT_ONCE ? layered->graph->threads : 1;
	unsigned int n_parts = MAX(threads, 2) - 1;
	struct pipeline pipeline = {
		.layered = layered,
		.pairs = pairs,
		.call = call,
		.arg = arg,
		.parts = {g_new0(struct part, n_parts), g_new0(struct part, n_parts)},
	};

	atomic_init(&pipeline.last, UINT_MAX);
	route_team_run(threads, run, &pipeline);
	for (unsigned int i = 0; i < 2 * n_parts; i++)
		g_free(pipeline.parts[i % 2][i / 2].steps);
	g_free(pipeline.parts[0]);
	g_free(pipeline.parts[1]);
}
