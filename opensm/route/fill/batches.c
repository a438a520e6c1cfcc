// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each thread has all loads as they were before a batch. What its switches add to them is summed
 * up, and taken back before the next switch; at the end of the batch each thread adds the sums of
 * all. There are two sets of sums, used in turn, so that the slowest thread may still read one
 * while others have begun the next batch.
 */
#include "route/fill/batches.h"

#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "route/graph/graph.h"
#include "route/graph/parallel.h"

struct batches {
	uint32_t n, size; /* switches; switches per batch */
	uint32_t stride;  /* from a switch to the next one */
	uint32_t n_channels;
	uint64_t *load; /* before the first batch, then after the last */
	route_batches_fn *route;
	void *const *workers;
	_Atomic uint32_t next; /* switch to be taken, in the order of batches */
	uint64_t **sums[2];    /* [worker]: what its switches of a batch add to loads */
};

/* Takes a switch before this one, in the order of batches; false if none is left. */
static bool take(struct batches *batches, uint32_t end, uint32_t *i)
{
	*i = atomic_load(&batches->next);
	while (*i < end)
		if (atomic_compare_exchange_weak(&batches->next, i, *i + 1))
			return true;
	return false;
}

/* What was added to loads, or more of it. */
static void find_sum(uint64_t *restrict sum, const uint64_t *restrict load,
		     const uint64_t *restrict before, uint32_t n, bool more)
{
	for (uint32_t c = 0; c < n; c++)
		sum[c] = (more ? sum[c] : 0) + load[c] - before[c];
}

/* Some switches of a batch, by the loads before it. */
static void route_some(struct batches *batches, uint32_t end, unsigned int worker,
		       const uint64_t *before, uint64_t *load, uint64_t *sum)
{
	size_t size = batches->n_channels * sizeof(*load);
	bool more = false;
	uint32_t i;

	for (; take(batches, end, &i); more = true) {
		if (more)
			memcpy(load, before, size);
		batches->route(batches->workers[worker], (uint64_t)i * batches->stride % batches->n,
			       load);
		find_sum(sum, load, before, batches->n_channels, more);
	}
	if (!more)
		memset(sum, 0, size);
}

static void add(uint64_t *restrict load, const uint64_t *restrict sum, uint32_t n)
{
	for (uint32_t c = 0; c < n; c++)
		load[c] += sum[c];
}

static void run_worker(void *arg, struct route_team *team, unsigned int worker,
		       unsigned int n_workers)
{
	struct batches *batches = arg;
	uint32_t n = batches->n_channels, end = 0;
	g_autofree uint64_t *before = g_memdup2(batches->load, n * sizeof(*before));
	g_autofree uint64_t *load = g_memdup2(batches->load, n * sizeof(*load));

	for (bool odd = false; end < batches->n; odd = !odd) {
		uint64_t **sums = batches->sums[odd];

		end += MIN(batches->size, batches->n - end);
		route_some(batches, end, worker, before, load, sums[worker]);
		route_team_meet(team);
		for (unsigned int i = 0; i < n_workers; i++)
			add(before, sums[i], n);
		memcpy(load, before, n * sizeof(*load));
	}
	route_team_meet(team);
	if (!worker)
		memcpy(batches->load, before, n * sizeof(*before));
}

/* Without threads, each switch sees what all before it have added. */
static void run_alone(const struct batches *batches)
{
	for (uint32_t i = 0; i < batches->n; i++)
		batches->route(batches->workers[0], i, batches->load);
}

void route_batches(uint32_t n, uint32_t size, uint64_t *load, uint32_t n_channels,
		   route_batches_fn *route, void *const *workers, unsigned int n_workers)
{
	struct batches batches = {
		.n = n,
		.size = size,
		.stride = route_stride(n),
		.n_channels = n_channels,
		.load = load,
		.route = route,
		.workers = workers,
	};

	if (size == 1 || !n_channels) {
		run_alone(&batches);
		return;
	}
	n_workers = MIN(n_workers, size);
	for (int k = 0; k < 2; k++) {
		batches.sums[k] = g_new(uint64_t *, n_workers);
		for (unsigned int i = 0; i < n_workers; i++)
			batches.sums[k][i] = g_new(uint64_t, n_channels);
	}
	route_team_run(n_workers, run_worker, &batches);
	for (int k = 0; k < 2; k++) {
		for (unsigned int i = 0; i < n_workers; i++)
			g_free(batches.sums[k][i]);
		g_free(batches.sums[k]);
	}
}
