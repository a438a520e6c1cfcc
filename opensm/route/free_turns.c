// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/free_turns.h"

#include <string.h>

#include "route/acyclic.h"
#include "route/trunk.h"

#define NO_RANK 0xFF

static const struct route_channels *channels_of(const struct free_turns *turns)
{
	return turns->layered->channels;
}

void free_turns_init(struct free_turns *turns, const struct layered *layered)
{
	const struct route_channels *channels = layered->channels;

	*turns = (struct free_turns){.layered = layered};
	turns->is_free = g_new0(bool, channels->n_steps + 1);
	turns->rank = g_malloc(channels->n_steps + 1);
}

void free_turns_clear(struct free_turns *turns)
{
	g_free(turns->is_free);
	g_free(turns->rank);
}

void free_turns_each(const struct free_turns *turns, free_turns_fn *call, void *arg)
{
	const struct route_channels *channels = channels_of(turns);

	for (uint32_t c = 0; c < channels->n; c++)
		for (uint32_t out = channels->first[channels->to[c]];
		     out < channels->first[channels->to[c] + 1]; out++)
			call(arg, c, out);
}

bool free_turns_is_trunk(const struct free_turns *turns, uint32_t in, uint32_t out)
{
	const bool *trunk = turns->layered->way->trunk;

	return trunk && trunk[in] && trunk[out] && out != turns->layered->channels->back[in];
}

/* The turns of one rank. */
struct tried {
	struct free_turns *turns;
	unsigned int rank;
	struct acyclic *lane;
};

/* By what two switches send each other; the lane gets all turns. */
static void note_ranks(const struct tried *tried, const struct layered_paths *paths)
{
	const struct free_turns *turns = tried->turns;

	for (size_t i = 1, at = 0; i < paths->n; i++) {
		struct acyclic_step step = {paths->channels[i - 1], paths->channels[i]};
		uint8_t *rank;

		if (step.to == FABRIC_NONE || step.from == FABRIC_NONE) {
			at = 0;
			continue;
		}
		rank = &turns->rank[route_step_of(channels_of(turns), step.from, step.to)];
		if (*rank == NO_RANK)
			acyclic_note(tried->lane, step);
		*rank = *rank == NO_RANK ? at : MAX(*rank, at);
		at++;
	}
}

static void try_turn(void *arg, uint32_t in, uint32_t out)
{
	const struct tried *tried = arg;
	uint32_t turn = route_step_of(channels_of(tried->turns), in, out);
	struct acyclic_step step = {in, out};

	if (tried->turns->rank[turn] == tried->rank)
		tried->turns->is_free[turn] = acyclic_add(tried->lane, &step, 1);
}

static void free_trunk(void *arg, uint32_t in, uint32_t out)
{
	struct free_turns *turns = arg;

	turns->is_free[route_step_of(channels_of(turns), in, out)] =
		free_turns_is_trunk(turns, in, out);
}

/* Those of the trunk first, then those near the beginning of paths. */
void free_turns_find(struct free_turns *turns)
{
	const struct layered *layered = turns->layered;
	const struct route_graph *graph = layered->graph;
	struct acyclic *all = acyclic_new(layered->channels, NULL);
	struct tried tried = {turns, 0, all};
	struct layered_paths paths = {0};

	memset(turns->rank, NO_RANK, layered->channels->n_steps);
	for (uint32_t a = 0; a < graph->n; a++)
		for (uint32_t b = a + 1; b < graph->n; b++)
			if (route_is_source(graph, a) || route_is_source(graph, b)) {
				paths.n = 0;
				layered_list_paths(layered, a, b, &paths);
				note_ranks(&tried, &paths);
			}
	g_free(paths.channels);
	acyclic_sort(all);
	tried.lane = acyclic_new(layered->channels, all);
	layered_take_trunk(layered, tried.lane);
	free_turns_each(turns, free_trunk, turns);
	for (; tried.rank < layered->way->routing->max_hops; tried.rank++)
		free_turns_each(turns, try_turn, &tried);
	acyclic_free(tried.lane);
	acyclic_free(all);
}
