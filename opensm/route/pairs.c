// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/pairs.h"

#include <limits.h>
#include <stdatomic.h>

#include "route/parallel.h"

#define PAIRS_AT_ONCE 2048

/* Some pairs in a row, whose paths one thread lists. */
struct part {
	const struct layered_pair *pairs;
	uint32_t n;
	struct layered_paths paths;
	size_t end[PAIRS_AT_ONCE];
};

struct pipeline {
	const struct layered *layered;
	const GArray *pairs;
	layered_pair_fn *call;
	void *arg;
	struct part *parts[2]; /* [thread]: by turns */
	atomic_uint last;      /* round: it wants no more */
};

static void list_part(const struct layered *layered, struct part *part)
{
	part->paths.n = 0;
	for (uint32_t i = 0; i < part->n; i++) {
		layered_list_paths(layered, part->pairs[i].a, part->pairs[i].b, &part->paths);
		part->end[i] = part->paths.n;
	}
}

static bool take_part(const struct pipeline *pipeline, const struct part *part)
{
	const uint32_t *channels = part->paths.channels;
	bool more = true;

	for (uint32_t i = 0; i < part->n && more; i++) {
		size_t first = i ? part->end[i - 1] : 0;

		more = pipeline->call(pipeline->arg, part->pairs[i].a, part->pairs[i].b,
				      channels + first, part->end[i] - first);
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

			part->pairs = &g_array_index(pipeline->pairs, struct layered_pair,
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

void layered_each_pair(const struct layered *layered, const GArray *pairs, layered_pair_fn *call,
		       void *arg)
{
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
	for (unsigned int i = 0; i < n_parts; i++) {
		g_free(pipeline.parts[0][i].paths.channels);
		g_free(pipeline.parts[1][i].paths.channels);
	}
	g_free(pipeline.parts[0]);
	g_free(pipeline.parts[1]);
}
