// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/push.h"

#include <stdatomic.h>
#include <string.h>

#include "client/say.h"
#include "ssa/tree/thread.h"
#include "ssa/wire/alive.h"

#define LOOK_MS 10000u	   /* without being woken */
#define TRY_AGAIN_MS 250u  /* after a failure */

/* What one of the stores has. */
struct side {
	struct ssa_store *store;
	GBytes *bytes; /* NULL: nothing */
	struct ssa_manifest manifest;
};

/* ---- once ---- */

/*
 * If there is nothing, the other one is newer. What is not signed, or torn, counts as
 * nothing, and is told: so it is replaced.
 */
static bool look(struct side *side, GBytes *key, GError **error)
{
	GError *problem = NULL;

	side->bytes = ssa_store_manifest(side->store, &problem);
	if (side->bytes && !ssa_manifest_parse(side->bytes, key, &side->manifest, &problem)) {
		say(LOG_WARNING, "%s: its epoch is not used: %s", ssa_store_uri(side->store),
		    problem->message);
		g_clear_pointer(&side->bytes, g_bytes_unref);
		g_clear_error(&problem);
	}
	if (!problem || g_error_matches(problem, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT)) {
		g_clear_error(&problem);
		return true;
	}
	g_propagate_error(error, problem);
	return false;
}

static GBytes *get_chunk(void *store, const char *name, GError **error)
{
	return ssa_store_get(store, name, error);
}

static bool copy_chunks(const struct side *from, const struct side *to, const GPtrArray *names,
			uint64_t *moved, GError **error)
{
	g_autofree bool *has = g_new0(bool, names->len + 1);

	if (!ssa_store_has(to->store, (const char *const *)names->pdata, names->len, has, error))
		return false;
	for (guint i = 0; i < names->len; i++) {
		g_autoptr(GBytes) frame = NULL;

		if (has[i])
			continue;
		frame = ssa_store_get(from->store, names->pdata[i], error);
		if (!frame)
			return false;
		if (!ssa_chunk_has_name(frame, names->pdata[i])) {
			g_set_error(error, SSA_WIRE_ERROR, SSA_WIRE_ERROR_BROKEN,
				    "%s: chunk %s has other octets", ssa_store_uri(from->store),
				    (const char *)names->pdata[i]);
			return false;
		}
		if (!ssa_store_put(to->store, names->pdata[i], frame, error))
			return false;
		*moved += g_bytes_get_size(frame);
	}
	return true;
}

static bool copy(const struct side *from, const struct side *to, uint64_t *moved, GError **error)
{
	g_autoptr(GPtrArray) names = ssa_wire_names(&from->manifest, get_chunk, from->store, error);

	return names && copy_chunks(from, to, names, moved, error) &&
	       ssa_store_publish(to->store, from->bytes, from->manifest.term, from->manifest.epoch,
				 (const char *const *)names->pdata, names->len, error);
}

static bool level(const struct side *a, const struct side *b, bool both_ways,
		  struct ssa_manifest *manifest, uint64_t *moved, GError **error)
{
	const struct side *newer = b;
	int order = -1;

	if (a->bytes && b->bytes)
		order = ssa_manifest_compare(&a->manifest, &b->manifest);
	else if (a->bytes)
		order = 1;
	if (order > 0)
		newer = a;
	*manifest = newer->manifest;
	if (newer == b && !both_ways)
		return true;
	return !newer->bytes || order == 0 || copy(newer, newer == a ? b : a, moved, error);
}

/* False: none that can be believed is there. */
static bool look_for_pulse(const struct side *side, uint64_t prefix, GBytes *key, char **text,
			   struct ssa_alive *alive, GError **error)
{
	*text = ssa_store_pulse(side->store, error);
	return *text && ssa_alive_parse(*text, prefix, key, alive);
}

/* The daemon's pulse is passed on as it is. */
static bool level_pulse(const struct side *a, const struct side *b, bool both_ways, uint64_t prefix,
			GBytes *key, GError **error)
{
	struct ssa_alive alive_a = {0}, alive_b = {0};
	g_autofree char *text_a = NULL, *text_b = NULL;
	GError *problem = NULL;
	bool good_a = look_for_pulse(a, prefix, key, &text_a, &alive_a, &problem);
	bool good_b = !problem && look_for_pulse(b, prefix, key, &text_b, &alive_b, &problem);

	if (good_a && ssa_alive_is_news(&alive_a, &alive_b))
		ssa_store_set_pulse(b->store, text_a, &problem);
	else if (both_ways && good_b && ssa_alive_is_news(&alive_b, &alive_a))
		ssa_store_set_pulse(a->store, text_b, &problem);
	if (!problem)
		return true;
	g_propagate_error(error, problem);
	return false;
}

bool ssa_push_once(struct ssa_store *from, struct ssa_store *to, bool both_ways, GBytes *key,
		   struct ssa_manifest *manifest, uint64_t *moved, GError **error)
{
	struct side a = {.store = from}, b = {.store = to};
	bool done;

	*moved = 0;
	memset(manifest, 0, sizeof(*manifest));
	done = look(&a, key, error) && look(&b, key, error) &&
	       level(&a, &b, both_ways, manifest, moved, error) &&
	       (!manifest->term || level_pulse(&a, &b, both_ways, manifest->prefix, key, error));
	if (a.bytes)
		g_bytes_unref(a.bytes);
	if (b.bytes)
		g_bytes_unref(b.bytes);
	return done;
}

/* ---- the threads ---- */

/* Another core, from whose server what is newer is taken. */
struct other {
	struct ssa_push *push;
	struct ssa_store *store, *shared;
	pthread_t thread;
};

/*
 * One thread works, and waits for the daemon's store; another waits for the Redis server and wakes
 * the first. Other cores have one each, so that a core that hangs delays only its own.
 */
struct ssa_push {
	struct ssa_push_config config;
	pthread_t worker, listener;
	atomic_bool stop;
	struct ssa_store *local, *shared; /* of the worker */
	struct ssa_store *heard;	  /* of the listener */
	GPtrArray *others;		  /* struct other */
	struct ssa_manifest last;
};

static bool must_stop(struct ssa_push *push)
{
	return atomic_load(&push->stop);
}

static void tell_moved(struct ssa_push *push, const struct ssa_manifest *manifest, uint64_t moved)
{
	if (!ssa_manifest_compare(manifest, &push->last))
		return;
	push->last = *manifest;
	say(LOG_INFO,
	    "term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT
	    " octets copied",
	    manifest->term, manifest->epoch, moved);
	ssa_report_epoch(push->config.reporter, manifest->term, manifest->epoch);
}

static bool work(struct ssa_push *push, GError **error)
{
	struct ssa_manifest manifest;
	uint64_t moved;

	if (!ssa_push_once(push->local, push->shared, true, push->config.key, &manifest, &moved,
			   error))
		return false;
	if (manifest.term)
		tell_moved(push, &manifest, moved);
	return true;
}

static void *run_worker(void *arg)
{
	struct ssa_push *push = arg;
	bool failed = false;

	while (!must_stop(push)) {
		g_autoptr(GError) error = NULL;
		bool good = work(push, &error);

		if (!good || failed)
			ssa_report_error(push->config.reporter, error);
		failed = !good;
		if (must_stop(push))
			break;
		if (!ssa_store_wait(push->local, failed ? TRY_AGAIN_MS : LOOK_MS, NULL))
			g_usleep(TRY_AGAIN_MS * 1000); /* the daemon has not made it yet */
	}
	return NULL;
}

static void *run_listener(void *arg)
{
	struct ssa_push *push = arg;

	while (!must_stop(push)) {
		if (ssa_store_wait(push->heard, LOOK_MS, NULL))
			ssa_store_cancel(push->local);
		else if (!must_stop(push))
			g_usleep(TRY_AGAIN_MS * 1000);
	}
	return NULL;
}

static void *run_other(void *arg)
{
	struct other *other = arg;
	struct ssa_push *push = other->push;

	while (!must_stop(push)) {
		struct ssa_manifest manifest;
		uint64_t moved;
		bool good = ssa_push_once(other->store, other->shared, false, push->config.key,
					  &manifest, &moved, NULL);

		if (must_stop(push))
			break;
		if (!good || !ssa_store_wait(other->store, LOOK_MS, NULL))
			g_usleep(TRY_AGAIN_MS * 1000);
	}
	return NULL;
}

static void other_free(void *data)
{
	struct other *other = data;

	ssa_store_close(other->store);
	ssa_store_close(other->shared);
	g_free(other);
}

static void start_other(struct ssa_push *push, const char *uri)
{
	const struct ssa_push_config *config = &push->config;
	struct other *other = g_new0(struct other, 1);
	g_autoptr(GError) error = NULL;

	other->push = push;
	other->store = ssa_store_open(uri, config->prefix, &config->options, &error);
	if (other->store)
		other->shared =
			ssa_store_open(config->shared, config->prefix, &config->options, &error);
	if (other->shared) {
		ssa_thread_start(&other->thread, run_other, other);
		g_ptr_array_add(push->others, other);
	} else {
		say(LOG_ERR, "%s", error->message);
		other_free(other);
	}
}

static void close_all(struct ssa_push *push)
{
	g_ptr_array_unref(push->others);
	ssa_store_close(push->local);
	ssa_store_close(push->shared);
	ssa_store_close(push->heard);
	g_free(push);
}

struct ssa_push *ssa_push_start(const struct ssa_push_config *config)
{
	struct ssa_push *push = g_new0(struct ssa_push, 1);
	struct ssa_store_options reads = config->options;
	g_autoptr(GError) error = NULL;

	push->config = *config;
	push->config.options.writes = true;
	push->others = g_ptr_array_new_with_free_func(other_free);
	reads.writes = false;
	push->local = ssa_store_open(config->local, config->prefix, &push->config.options, &error);
	if (push->local)
		push->shared = ssa_store_open(config->shared, config->prefix, &push->config.options,
					      &error);
	if (push->shared)
		push->heard = ssa_store_open(config->shared, config->prefix, &reads, &error);
	if (!push->heard) {
		say(LOG_ERR, "%s", error->message);
		close_all(push);
		return NULL;
	}
	ssa_thread_start(&push->worker, run_worker, push);
	ssa_thread_start(&push->listener, run_listener, push);
	for (guint i = 0; config->others && i < config->others->len; i++)
		if (strcmp(config->others->pdata[i], config->shared) != 0)
			start_other(push, config->others->pdata[i]);
	return push;
}

void ssa_push_stop(struct ssa_push *push)
{
	if (!push)
		return;
	atomic_store(&push->stop, true);
	for (guint i = 0; i < push->others->len; i++) {
		struct other *other = push->others->pdata[i];

		ssa_store_cancel(other->store);
		pthread_join(other->thread, NULL);
	}
	ssa_store_cancel(push->heard);
	ssa_store_cancel(push->local);
	pthread_join(push->listener, NULL);
	ssa_store_cancel(push->local);
	pthread_join(push->worker, NULL);
	close_all(push);
}
