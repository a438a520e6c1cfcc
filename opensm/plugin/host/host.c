// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "plugin/host/host.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "complib/thread.h"
#include "plugin/base/event_record.h"
#include "plugin/engine/serve.h"
#include "plugin/host/host_private.h"

#define HELLO_TEXTS 4
#define TAKEN_US 100000 /* the daemon hears that often of what was taken, or after each message */

/* ---- sending ---- */

bool host_send(struct host *host, const struct link_head *head, const void *octets)
{
	enum link_outcome outcome;

	pthread_mutex_lock(&host->send_lock);
	while ((outcome = link_send(host->end, head, octets, NULL)) == LINK_AGAIN)
		link_wait(host->end, true, -1);
	pthread_mutex_unlock(&host->send_lock);
	return outcome == LINK_DONE;
}

bool host_send_text(struct host *host, enum link_type type, uint32_t value, const char *text)
{
	const struct link_head head = {.type = type,
				       .value = value,
				       .length = (uint32_t)MIN(strlen(text), LINK_MESSAGE_MAX)};

	return host_send(host, &head, text);
}

static void tell_taken(struct host *host, uint32_t *n)
{
	const struct link_head head = {.type = LINK_TAKEN, .value = *n};

	if (*n)
		host_send(host, &head, NULL);
	*n = 0;
}

/* ---- the event thread ---- */

/* What the plug-in says, as UTF-8; cut before a character that does not fit whole. */
static void copy_text(char *to, size_t size, const char *from)
{
	g_autofree char *text = g_utf8_make_valid(from ? from : "", -1);
	size_t n = strlen(text);

	if (n >= size)
		n = (size_t)(g_utf8_find_prev_char(text, text + size) - text);
	g_strlcpy(to, text, n + 1);
}

static void describe(const struct osm_plugin *plugin, struct link_loaded *loaded)
{
	loaded->events = plugin->on_event ? plugin->events : 0;
	copy_text(loaded->name, sizeof(loaded->name), plugin->name);
	copy_text(loaded->version, sizeof(loaded->version), plugin->version);
	for (; plugin->engines && plugin->engines[loaded->n_engines]; loaded->n_engines++) {
		const struct osm_engine *engine = plugin->engines[loaded->n_engines];
		struct link_engine *to = &loaded->engines[loaded->n_engines];

		copy_text(to->name, sizeof(to->name), engine->name);
		copy_text(to->summary, sizeof(to->summary), engine->summary);
	}
}

/* The daemon hears that it is loaded first, even if it asked in create() to be unloaded. */
static bool tell_loaded(struct host *host, const struct link_loaded *loaded)
{
	const struct link_head head = {.type = LINK_LOADED, .length = sizeof(*loaded)};
	bool is_leaving;

	if (!host_send(host, &head, loaded))
		return false;
	pthread_mutex_lock(&host->lock);
	host->is_known = true;
	is_leaving = host->is_leaving;
	pthread_mutex_unlock(&host->lock);
	return !is_leaving || host_send(host, &(struct link_head){.type = LINK_LEAVE}, NULL);
}

static bool load(struct host *host)
{
	g_autoptr(GError) error = NULL;
	struct link_loaded loaded = {0};

	host->plugin = load_plugin(host->name, &host->object, &error);
	if (!host->plugin) {
		host_send_text(host, LINK_FAILED, 0, error->message);
		return false;
	}
	host->context = host->plugin->create(&host->face);
	if (!host->context) {
		host_send_text(host, LINK_FAILED, 0,
			       "its create() has failed; what it has logged may say why");
		return false;
	}
	describe(host->plugin, &loaded);
	pthread_mutex_lock(&host->lock);
	host->n_engines = loaded.n_engines;
	host->is_created = true;
	pthread_mutex_unlock(&host->lock);
	return tell_loaded(host, &loaded);
}

/* Whether on_event() may be called. */
static bool goes_on(struct host *host)
{
	bool result;

	pthread_mutex_lock(&host->lock);
	result = !host->is_over && !host->is_leaving;
	pthread_mutex_unlock(&host->lock);
	return result;
}

static void give(struct host *host, const struct event_record *record)
{
	const char *body = (const char *)(record + 1);
	const struct osm_event event = {
		.size = sizeof(event),
		.id = record->id,
		.serial = record->serial,
		.time_ns = record->time_ns,
		.real_us = record->real_us,
		.generation = record->generation,
		.text = record->text_octets ? body + record->body_octets : "",
		.body = record->body_octets ? body : NULL,
		.body_size = record->body_octets,
	};

	if (goes_on(host) && host->plugin->on_event)
		host->plugin->on_event(host->context, &event);
}

static void give_all(struct host *host, GBytes *events)
{
	gsize size;
	const char *at = g_bytes_get_data(events, &size);
	const char *past = at + size;
	int64_t told_us = g_get_monotonic_time();
	uint32_t n = 0;

	while ((size_t)(past - at) >= sizeof(struct event_record)) {
		const struct event_record *record = (const void *)at;

		give(host, record);
		at += record->octets;
		n++;
		if (g_get_monotonic_time() - told_us < TAKEN_US)
			continue;
		tell_taken(host, &n);
		told_us = g_get_monotonic_time();
	}
	tell_taken(host, &n);
}

/* The next message of events; NULL: it is over. */
static GBytes *next_events(struct host *host)
{
	GBytes *events = NULL;

	pthread_mutex_lock(&host->lock);
	while (!host->is_over && g_queue_is_empty(&host->events))
		pthread_cond_wait(&host->changed, &host->lock);
	if (!host->is_over)
		events = g_queue_pop_head(&host->events);
	pthread_mutex_unlock(&host->lock);
	return events;
}

/* The threads of engines return when their ends are shut down, and what they compute is done. */
static void end_engines(struct host *host)
{
	for (unsigned int i = 0; i < host->n_engines; i++) {
		struct host_engine *engine = &host->engines[i];
		bool runs;

		pthread_mutex_lock(&host->lock);
		runs = engine->runs;
		pthread_mutex_unlock(&host->lock);
		if (!runs)
			continue;
		shutdown(engine->end, SHUT_RDWR);
		pthread_join(engine->thread, NULL);
		close(engine->end);
	}
}

/* A thread that returns from a function of the host would return into code that is gone. */
static void unload(struct host *host)
{
	host_send(host, &(struct link_head){.type = LINK_ENDING}, NULL);
	host->plugin->destroy(host->context);
	pthread_mutex_lock(&host->lock);
	host->left_loaded = host->n_inside > 0;
	pthread_mutex_unlock(&host->lock);
	if (!host->left_loaded)
		dlclose(host->object);
}

static void *run_events(void *arg)
{
	struct host *host = arg;
	GBytes *events;

	host->failed = !load(host);
	if (host->context) {
		while ((events = next_events(host))) {
			give_all(host, events);
			g_bytes_unref(events);
		}
		end_engines(host);
		unload(host);
	} else if (host->object) {
		dlclose(host->object);
	}
	if (!host->failed)
		host_send(host,
			  &(struct link_head){.type = LINK_STOPPED, .value = host->left_loaded},
			  NULL);
	shutdown(host->end, SHUT_RDWR); /* wakes the reader; what was sent still arrives */
	return NULL;
}

/* ---- the reader ---- */

static void *run_engine(void *arg)
{
	struct host_engine *engine = arg;
	struct host *host = engine->host;

	engine_serve(engine->end, host->plugin->engines[engine - host->engines], host->context,
		     host->face.own_options);
	return NULL;
}

/* Under the lock, so that the event thread ends those that run, and no other is started then. */
static void take_engine(struct host *host, uint32_t number, int files[LINK_FILES])
{
	pthread_mutex_lock(&host->lock);
	if (host->is_created && !host->is_over && number < host->n_engines &&
	    !host->engines[number].runs && files[0] >= 0) {
		struct host_engine *engine = &host->engines[number];

		engine->host = host;
		engine->end = files[0];
		engine->runs = !thread_try(&engine->thread, host->name, run_engine, engine);
		if (engine->runs)
			files[0] = -1;
	}
	pthread_mutex_unlock(&host->lock);
	for (unsigned int i = 0; i < LINK_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
}

static void set(struct host *host, bool *flag)
{
	pthread_mutex_lock(&host->lock);
	*flag = true;
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
}

static void take_events(struct host *host, const void *octets, uint32_t length)
{
	pthread_mutex_lock(&host->lock);
	g_queue_push_tail(&host->events, g_bytes_new(octets, length));
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
}

static void take(struct host *host, const struct link_head *head, const void *octets,
		 int files[LINK_FILES])
{
	switch (head->type) {
	case LINK_READY:
		set(host, &host->is_ready);
		break;
	case LINK_EVENTS:
		take_events(host, octets, head->length);
		break;
	case LINK_ANSWER:
		host_take_answer(host, head, octets, files);
		break;
	case LINK_ENGINE:
		take_engine(host, head->value, files);
		break;
	case LINK_STOP:
		set(host, &host->is_over);
		break;
	default: /* the rest is sent by hosts only */
		break;
	}
}

static void read_all(struct host *host, void *octets)
{
	int files[LINK_FILES];
	struct link_head head;
	enum link_outcome outcome;

	for (;;) {
		outcome = link_receive(host->end, &head, octets, files);
		if (outcome == LINK_ENDED)
			break;
		if (outcome == LINK_DONE)
			take(host, &head, octets, files);
		else
			link_wait(host->end, false, -1);
	}
	set(host, &host->is_over);
}

/* ---- life ---- */

/* The texts of HELLO, each with its NUL. */
static bool understand(struct host *host, const struct link_head *head, const char *octets)
{
	const char *text[HELLO_TEXTS];
	uint32_t at = 0;

	if (head->type != LINK_HELLO || !head->length || octets[head->length - 1])
		return false;
	host->texts = g_memdup2(octets, head->length);
	for (unsigned int i = 0; i < HELLO_TEXTS; i++) {
		if (at == head->length)
			return false;
		text[i] = host->texts + at;
		at += (uint32_t)strlen(text[i]) + 1;
	}
	host->name = text[0];
	host->face.options = text[1];
	host->face.own_options = text[2];
	host->face.version = text[3];
	return true;
}

static bool greet(struct host *host, void *octets)
{
	int files[LINK_FILES];
	struct link_head head;
	enum link_outcome outcome;

	while ((outcome = link_receive(host->end, &head, octets, files)) == LINK_AGAIN)
		link_wait(host->end, false, -1);
	return outcome == LINK_DONE && understand(host, &head, octets);
}

static struct host *host_new(int end)
{
	struct host *host = g_new0(struct host, 1);

	host->end = end;
	host->failed = true;
	pthread_mutex_init(&host->send_lock, NULL);
	pthread_mutex_init(&host->lock, NULL);
	pthread_cond_init(&host->changed, NULL);
	g_queue_init(&host->events);
	host_fill_face(host);
	return host;
}

static void free_bytes(gpointer events)
{
	g_bytes_unref(events);
}

/* If a thread of the plug-in may still use the host, it is left as it is. */
static void host_free(struct host *host)
{
	if (host->left_loaded)
		return;
	close(host->end);
	g_queue_clear_full(&host->events, free_bytes);
	pthread_cond_destroy(&host->changed);
	pthread_mutex_destroy(&host->lock);
	pthread_mutex_destroy(&host->send_lock);
	g_free(host->texts);
	g_free(host);
}

int plugin_host_run(int end)
{
	g_autofree void *octets = g_malloc(LINK_MESSAGE_MAX);
	struct host *host = host_new(end);
	bool good;

	if (greet(host, octets) &&
	    !thread_try(&host->event_thread, host->name, run_events, host)) {
		read_all(host, octets);
		pthread_join(host->event_thread, NULL);
	}
	good = !host->failed && !host->left_loaded;
	host_free(host);
	return good ? 0 : 1;
}
