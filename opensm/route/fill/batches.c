// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each thread has all loads as they were before a batch. The changes of its switches are noted, and
 * undone before the next switch; at the end of the batch each thread adds the notes of the others.
 * There are two sets of notes, used in turn, so that the slowest thread may still read one while
 * others have begun the next batch.
 */
#include "route/fill/batches.h"

#include <glib.h>
#include <string.h>

#include "route/graph/graph.h"
#include "route/graph/parallel.h"

struct batches {
	uint32_t n, size; /* switches; switches per batch */
	uint32_t stride;  /* from a switch to the next one */
	uint64_t *load;
	uint32_t n_channels;
	route_batches_fn *route;
	void *const *workers;
	struct route_loads *notes[2]; /* [worker]: at the end of a batch */
};

struct route_change *route_loads_room(struct route_loads *loads, size_t n)
{
	if (loads->n + n >= loads->size) {
		loads->size = 2 * (loads->n + n) + 1;
		loads->changes = g_renew(struct route_change, loads->changes, loads->size);
	}
	loads->n += n;
	return loads->changes + loads->n - n;
}

/* Applies changes from the first one on, or undoes them. */
static void apply(uint64_t *load, const struct route_loads *notes, size_t first, size_t last,
		  bool back)
{
	for (size_t i = first; i < last; i++) {
		int64_t amount = notes->changes[i].amount;

		load[notes->changes[i].channel] += back ? -amount : amount;
	}
}

/* A worker's switches of a batch; returns how many changes are undone: not the last switch's. */
static size_t route_some(const struct batches *batches, uint32_t first, unsigned int worker,
			 unsigned int n_workers, struct route_loads *loads)
{
	uint32_t n = batches->n, stride = batches->stride;
	size_t back = 0;

	loads->n = 0;
	for (uint32_t i = first + worker; i < n && i < first + batches->size; i += n_workers) {
		apply(loads->load, loads, back, loads->n, true);
		back = loads->n;
		batches->route(batches->workers[worker], (uint64_t)i * stride % n, loads);
	}
	return back;
}

static void run_worker(void *arg, struct route_team *team, unsigned int worker,
		       unsigned int n_workers)
{
	const struct batches *batches = arg;
	uint64_t *load = g_memdup2(batches->load, batches->n_channels * sizeof(*load));
	struct route_loads own[2] = {{.load = load}, {.load = load}};
	bool odd = false;

	for (uint32_t first = 0; first < batches->n; first += batches->size, odd = !odd) {
		const struct route_loads *notes = batches->notes[odd];
		size_t back = route_some(batches, first, worker, n_workers, &own[odd]);

		batches->notes[odd][worker] = own[odd];
		route_team_meet(team);
		for (unsigned int i = 0; i < n_workers; i++)
			apply(load, &notes[i], 0, i == worker ? back : notes[i].n, false);
	}
	route_team_meet(team);
	if (!worker && load)
		memcpy(batches->load, load, batches->n_channels * sizeof(*load));
	g_free(own[0].changes);
	g_free(own[1].changes);
	g_free(load);
}

void route_batches(uint32_t n, uint32_t size, uint64_t *load, uint32_t n_channels,
		   route_batches_fn *route, void *const *workers, unsigned int n_workers)
{
	struct batches batches = {
		.n = n,
		.size = size,
		.stride = size == 1 ? 1 : route_stride(n),
		.load = load,
		.n_channels = n_channels,
		.route = route,
		.workers = workers,
	};

	n_workers = MIN(n_workers, size);
	for (int i = 0; i < 2; i++)
		batches.notes[i] = g_new0(struct route_loads, n_workers);
	route_team_run(n_workers, run_worker, &batches);
	g_free(batches.notes[0]);
	g_free(batches.notes[1]);
}
