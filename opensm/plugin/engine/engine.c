// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "plugin/engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/base/link.h"
#include "plugin/base/route_sections.h"
#include "plugin/engine/exchange.h"
#include "route/graph/watch.h"

#define WATCH_MS 10 /* after as long, it looks whether the result is still wanted */

struct plugin_engine {
	struct route_engine engine;
	char *name, *summary, *plugin;

	pthread_mutex_t calls;	 /* held during a call: the host serves one at a time */
	uint64_t serial; /* of the last call */
	void *octets;	 /* room for messages, which have none */

	pthread_mutex_t lock; /* for what follows; never held while waiting */
	int end;     /* -1: it is detached */
	char *why;   /* detached: the reason */
	char *identity;
	uint64_t attached; /* how often its end was replaced or closed */
	gint64 called_us;  /* when the last call on this end was sent, if it has not returned; or 0
			    */
	bool is_late;	   /* that call was given up on, as it takes too long */
};

/* An end as it was when a call began; the descriptor is a duplicate. */
struct line {
	int end;
	uint64_t attached;
};

static bool fail(GError **error, const struct plugin_engine *engine, const char *what)
{
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE, "plug-in %s: %s", engine->plugin,
		    what);
	return false;
}

static bool fail_late(GError **error, const struct plugin_engine *engine, gint64 called_us)
{
	gint64 now = g_get_monotonic_time();
	g_autofree char *what = g_strdup_printf("it has not returned for %u s",
						(unsigned int)((now - called_us) / G_USEC_PER_SEC));

	return fail(error, engine, what);
}

/* ---- the end, with the lock ---- */

static void close_end(struct plugin_engine *engine, const char *why)
{
	if (engine->end >= 0) {
		shutdown(engine->end, SHUT_RDWR); /* wakes a thread that waits at a duplicate */
		close(engine->end);
	}
	engine->end = -1;
	engine->called_us = 0;
	engine->is_late = false;
	engine->attached++;
	g_free(engine->why);
	engine->why = g_strdup(why);
}

/* ---- the line ---- */

static bool open_line(struct plugin_engine *engine, struct line *line, GError **error)
{
	bool good;

	pthread_mutex_lock(&engine->lock);
	*line = (struct line){-1, engine->attached};
	if (engine->end >= 0)
		line->end = fcntl(engine->end, F_DUPFD_CLOEXEC, 0);
	good = line->end >= 0;
	if (!good)
		fail(error, engine, engine->end >= 0 ? g_strerror(errno) : engine->why);
	pthread_mutex_unlock(&engine->lock);
	return good;
}

/* The other end is closed, or sends what is not an answer. */
static bool lose_line(struct plugin_engine *engine, const struct line *line, GError **error)
{
	pthread_mutex_lock(&engine->lock);
	if (engine->attached == line->attached)
		close_end(engine, "it has ended");
	fail(error, engine, engine->why ? engine->why : "it has ended");
	pthread_mutex_unlock(&engine->lock);
	return false;
}

/* called_us 0: no call is open. */
static void set_open(struct plugin_engine *engine, const struct line *line, gint64 called_us,
		     bool is_late)
{
	pthread_mutex_lock(&engine->lock);
	if (engine->attached == line->attached) {
		engine->called_us = called_us;
		engine->is_late = is_late;
	}
	pthread_mutex_unlock(&engine->lock);
}

static gint64 find_open(struct plugin_engine *engine, const struct line *line, bool *is_late)
{
	gint64 called_us;

	pthread_mutex_lock(&engine->lock);
	called_us = engine->attached == line->attached ? engine->called_us : 0;
	*is_late = engine->is_late;
	pthread_mutex_unlock(&engine->lock);
	return called_us;
}

/*
 * LINK_DONE: the last call has returned, *result. It is the only one that may be open, as none is
 * sent while an older one is.
 */
static enum link_outcome receive(struct plugin_engine *engine, const struct line *line, int *result)
{
	struct link_head head = {0};
	int files[LINK_FILES];
	enum link_outcome outcome = link_receive(line->end, &head, engine->octets, files);

	if (outcome != LINK_DONE)
		return outcome;
	for (unsigned int i = 0; i < head.n_files; i++)
		close(files[i]);
	*result = (int)head.value;
	return head.type == ROUTE_RETURN && head.id == engine->serial ? LINK_DONE : LINK_ENDED;
}

/*
 * Waits until the call that was sent at called_us has returned; *result. False and error if it is
 * given up on.
 */
static bool wait_for(struct plugin_engine *engine, const struct line *line,
		     const struct route_input *input, gint64 called_us, int *result, GError **error)
{
	gint64 patience_us = input->patience_s * G_USEC_PER_SEC;
	gint64 until = g_get_monotonic_time() + patience_us;
	enum link_outcome outcome;

	route_watch_begin(input->watch, "plug-in", 0);
	while ((outcome = receive(engine, line, result)) == LINK_AGAIN) {
		if (!route_watch_step(input->watch)) {
			set_open(engine, line, called_us, route_has_expired(input->watch));
			return fail_late(error, engine, called_us);
		}
		if (patience_us && g_get_monotonic_time() >= until) {
			set_open(engine, line, called_us, true);
			return fail_late(error, engine, called_us);
		}
		link_wait(line->end, false, WATCH_MS);
	}
	if (outcome != LINK_DONE)
		return lose_line(engine, line, error);
	set_open(engine, line, 0, false);
	return true;
}

/*
 * Whether it may be called. One that was late has to have returned by now; if only the result was
 * not wanted any more, it gets time to see that.
 */
static bool is_idle(struct plugin_engine *engine, const struct line *line,
		    const struct route_input *input, GError **error)
{
	bool is_late;
	gint64 called_us = find_open(engine, line, &is_late);
	int result;

	if (!called_us)
		return true;
	if (!is_late)
		return wait_for(engine, line, input, called_us, &result, error);
	switch (receive(engine, line, &result)) {
	case LINK_DONE:
		set_open(engine, line, 0, false);
		return true;
	case LINK_AGAIN:
		return fail_late(error, engine, called_us);
	default:
		return lose_line(engine, line, error);
	}
}

static bool send_call(struct plugin_engine *engine, const struct line *line, const struct block *in,
		      const struct block *out, GError **error)
{
	const struct link_head head = {
		.type = ROUTE_CALL, .id = ++engine->serial, .n_files = LINK_FILES};
	const int files[LINK_FILES] = {in->file, out->file};

	return link_send(line->end, &head, NULL, files) == LINK_DONE ||
	       lose_line(engine, line, error);
}

/* ---- a call ---- */

static bool fail_by_itself(struct plugin_engine *engine, const struct block *out, int result,
			   GError **error)
{
	g_autofree char *note = exchange_note(out), *what = NULL;

	if (!*note)
		what = g_strdup_printf("it fails with %d, and does not say why", result);
	return fail(error, engine, what ? what : note);
}

static struct routing *call(struct plugin_engine *engine, const struct line *line,
			    const struct fabric *fabric, const struct route_input *input,
			    GError **error)
{
	struct block in = {.file = -1}, out = {.file = -1};
	struct routing *routing = NULL;
	int result = 0;
	bool sent = is_idle(engine, line, input, error) &&
		    exchange_input(&in, fabric, input, error) &&
		    exchange_output(&out, fabric, input, error) &&
		    send_call(engine, line, &in, &out, error);

	block_clear(&in);
	if (sent && wait_for(engine, line, input, g_get_monotonic_time(), &result, error)) {
		if (result)
			fail_by_itself(engine, &out, result, error);
		else
			routing = exchange_take(&out, &engine->engine, fabric, input, error);
	} else if (sent) {
		exchange_cancel(&out);
	}
	block_clear(&out);
	return routing;
}

static struct routing *compute(const struct route_engine *route, const struct fabric *fabric,
			       const struct route_input *input, GError **error)
{
	struct plugin_engine *engine = route->data;
	struct routing *routing = NULL;
	struct line line;

	pthread_mutex_lock(&engine->calls);
	if (open_line(engine, &line, error)) {
		routing = call(engine, &line, fabric, input, error);
		close(line.end);
	}
	pthread_mutex_unlock(&engine->calls);
	return routing;
}

static char *word(const struct route_engine *route)
{
	struct plugin_engine *engine = route->data;
	char *identity;

	pthread_mutex_lock(&engine->lock);
	identity = g_strdup(engine->identity);
	pthread_mutex_unlock(&engine->lock);
	return identity;
}

/* ---- life ---- */

struct plugin_engine *plugin_engine_new(const char *name, const char *summary, const char *plugin,
					int end)
{
	struct plugin_engine *engine = g_new0(struct plugin_engine, 1);

	engine->name = g_strdup(name);
	engine->summary = g_strdup(summary);
	engine->plugin = g_strdup(plugin);
	engine->engine = (struct route_engine){
		.name = engine->name,
		.summary = engine->summary,
		.compute = compute,
		.data = engine,
		.word = word,
	};
	engine->octets = g_malloc(LINK_MESSAGE_MAX);
	pthread_mutex_init(&engine->calls, NULL);
	pthread_mutex_init(&engine->lock, NULL);
	engine->end = end;
	engine->why = g_strdup("it is not running");
	return engine;
}

void plugin_engine_free(void *data)
{
	struct plugin_engine *engine = data;

	if (engine->end >= 0)
		close(engine->end);
	pthread_mutex_destroy(&engine->calls);
	pthread_mutex_destroy(&engine->lock);
	g_free(engine->octets);
	g_free(engine->identity);
	g_free(engine->why);
	g_free(engine->name);
	g_free(engine->summary);
	g_free(engine->plugin);
	g_free(engine);
}

const struct route_engine *plugin_engine_route(const struct plugin_engine *engine)
{
	return &engine->engine;
}

void plugin_engine_attach(struct plugin_engine *engine, int end, const char *identity)
{
	pthread_mutex_lock(&engine->lock);
	close_end(engine, NULL);
	engine->end = end;
	g_free(engine->identity);
	engine->identity = g_strdup(identity);
	pthread_mutex_unlock(&engine->lock);
}

void plugin_engine_detach(struct plugin_engine *engine, const char *why)
{
	pthread_mutex_lock(&engine->lock);
	close_end(engine, why);
	pthread_mutex_unlock(&engine->lock);
}

bool plugin_engine_is_late(struct plugin_engine *engine)
{
	bool is_late;

	pthread_mutex_lock(&engine->lock);
	is_late = engine->is_late;
	pthread_mutex_unlock(&engine->lock);
	return is_late;
}
