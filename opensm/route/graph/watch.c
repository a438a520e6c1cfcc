// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/graph/watch.h"

struct route_watch *route_watch_new(uint64_t now_ns)
{
	struct route_watch *watch = g_new0(struct route_watch, 1);

	ref_init(&watch->ref);
	watch->began_ns = now_ns;
	return watch;
}

struct route_watch *route_watch_ref(struct route_watch *watch)
{
	if (watch)
		ref_get(&watch->ref);
	return watch;
}

void route_watch_unref(struct route_watch *watch)
{
	if (watch && ref_put(&watch->ref))
		g_free(watch);
}

void route_watch_cancel(struct route_watch *watch)
{
	if (watch)
		atomic_store(&watch->cancelled, true);
}

void route_watch_limit(struct route_watch *watch, unsigned int limit_s)
{
	if (!watch)
		return;
	atomic_store(&watch->expired, false);
	atomic_store(&watch->deadline_us,
		     limit_s ? g_get_monotonic_time() + (gint64)limit_s * G_USEC_PER_SEC : 0);
}

void route_watch_engine(struct route_watch *watch, const char *name)
{
	if (watch)
		atomic_store(&watch->engine, name);
}

/* Readers may see the phase with the numbers of the one before it, for a moment. */
void route_watch_begin(struct route_watch *watch, const char *phase, uint64_t total)
{
	if (!watch)
		return;
	atomic_store(&watch->total, 0);
	atomic_store(&watch->done, 0);
	atomic_store(&watch->phase, phase);
	atomic_store(&watch->total, total);
}

bool route_watch_look(struct route_watch *watch)
{
	gint64 deadline_us;
	uint64_t steps;

	if (!watch)
		return true;
	steps = atomic_fetch_add_explicit(&watch->steps, 1, memory_order_relaxed) + 1;
	if (watch->steps_max && steps >= watch->steps_max)
		route_watch_cancel(watch);
	deadline_us = atomic_load_explicit(&watch->deadline_us, memory_order_relaxed);
	if (deadline_us && g_get_monotonic_time() > deadline_us)
		atomic_store(&watch->expired, true);
	return !route_is_cancelled(watch);
}

bool route_watch_step(struct route_watch *watch)
{
	if (watch)
		atomic_fetch_add_explicit(&watch->done, 1, memory_order_relaxed);
	return route_watch_look(watch);
}

char *route_watch_text(const struct route_watch *watch, uint64_t now_ns)
{
	const char *engine = atomic_load(&watch->engine), *phase = atomic_load(&watch->phase);
	uint64_t total = atomic_load(&watch->total), done = atomic_load(&watch->done);
	GString *text = g_string_new("routes");

	if (engine)
		g_string_append_printf(text, " by %s", engine);
	if (phase)
		g_string_append_printf(text, ": %s", phase);
	if (total)
		g_string_append_printf(text, ", %u %%",
				       (unsigned int)(MIN(done, total) * 100 / total));
	g_string_append_printf(text, ", for %.1f s",
			       (double)(now_ns - MIN(now_ns, watch->began_ns)) / 1e9);
	return g_string_free(text, FALSE);
}
