// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One plug-in: its host, its events, and what becomes of it. */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "complib/thread.h"
#include "ctl/base/answer.h"
#include "ctl/plugin/plugins_private.h"
#include "ctl/plugin/process.h"
#include "plugin/host/host.h"

#define US_PER_S INT64_C(1000000)
#define CREATE_US (20 * US_PER_S)
#define DESTROY_US (2 * US_PER_S)
#define STUCK_US (10 * US_PER_S)
#define KILL_US US_PER_S	 /* from one signal to the next */
#define CALM_US (600 * US_PER_S) /* of life, after which restarts come quickly again */
#define RESTART_MAX_S 60
#define LOG_BURST 500		       /* lines that it may log at once, */
#define LOG_EVERY_NS (100 * NS_PER_MS) /* then one in this time */
#define LAST_WORDS 64		       /* turns of reading what a process sent before it died */

void plugin_say(struct plugin *plugin, unsigned int level, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	log_at(plugin->all->context->log, level, "plug-in %s: %s", plugin->name, text);
}

static const char *const state_names[] = {
	[PLUGIN_LOADING] = "loading",	[PLUGIN_RUNNING] = "running", [PLUGIN_STUCK] = "stuck",
	[PLUGIN_STOPPING] = "stopping", [PLUGIN_STOPPED] = "stopped", [PLUGIN_ENDED] = "ended",
	[PLUGIN_FAILED] = "failed",
};

const char *plugin_state_name(const struct plugin *plugin)
{
	return state_names[plugin->state];
}

bool plugin_is_up(const struct plugin *plugin)
{
	return plugin->state == PLUGIN_RUNNING || plugin->state == PLUGIN_STUCK;
}

static void enter(struct plugin *plugin, enum plugin_state state)
{
	plugin->state = state;
	plugin->since_us = g_get_monotonic_time();
}

static void note_error(struct plugin *plugin, const char *text)
{
	g_free(plugin->error);
	plugin->error = g_strdup(text);
}

static void say(struct plugin *plugin, enum link_type type, uint32_t value)
{
	if (plugin->end)
		link_end_send(plugin->end, &(struct link_head){.type = type, .value = value}, NULL,
			      -1);
}

/* ---- what it has while it is up ---- */

static void drop_feed(struct plugin *plugin)
{
	if (!plugin->feed)
		return;
	plugin_events_remove(plugin->all->events, plugin->feed);
	plugin->delivered_before += feed_delivered(plugin->feed) - plugin->ahead;
	plugin->lost_before += feed_lost(plugin->feed);
	g_clear_pointer(&plugin->feed, feed_free);
}

/* Its engines as well, though they stay known. */
static void drop_requests(struct plugin *plugin)
{
	plugin_engines_detach(plugin, "its plug-in does not run");
	if (!plugin->requests)
		return;
	plugin->requests_before += requests_total(plugin->requests);
	g_clear_pointer(&plugin->requests, requests_free);
}

static void on_events(void *arg)
{
	struct plugin *plugin = arg;

	plugins_soon(plugin->all);
}

/* Sends the events that its host may have. */
static void pump(struct plugin *plugin)
{
	char octets[LINK_MESSAGE_MAX] __attribute__((aligned(8)));
	struct link_head head = {.type = LINK_EVENTS};
	unsigned int n;
	size_t length;

	while (plugin_is_up(plugin) && plugin->ahead < LINK_EVENTS_AHEAD &&
	       link_end_is_clear(plugin->end)) {
		n = 0;
		length = feed_take(plugin->feed, octets, sizeof(octets), &n,
				   LINK_EVENTS_AHEAD - plugin->ahead);
		if (!length)
			return;
		if (!plugin->ahead)
			plugin->taken_us = g_get_monotonic_time();
		plugin->ahead += n;
		head.value = n;
		head.length = (uint32_t)length;
		link_end_send(plugin->end, &head, octets, -1);
	}
}

/*
 * The feed of a process that died has gone on, but what was sent to it is lost, and so is what it
 * had made of the events before.
 */
static void give_feed(struct plugin *plugin)
{
	const struct feed_moment now = {
		.time_ns = (uint64_t)g_get_monotonic_time() * NS_PER_US,
		.real_us = g_get_real_time(),
	};

	if (plugin->feed && feed_events(plugin->feed) != plugin->loaded.events)
		drop_feed(plugin);
	if (!plugin->feed) {
		plugin->ahead = 0;
		plugin->feed = feed_new(plugin->loaded.events);
		feed_on_ready(plugin->feed, on_events, plugin);
		plugin_events_add(plugin->all->events, plugin->feed);
	}
	if (plugin->has_run)
		feed_lose(plugin->feed, &now, plugin->ahead);
	plugin->ahead = 0;
}

static void give_answer(void *arg, const struct link_head *head, const void *octets, int file)
{
	struct plugin *plugin = arg;

	link_end_send(plugin->end, head, octets, file);
}

static void give_requests(struct plugin *plugin)
{
	const struct requests_config config = {
		.env = &plugin->all->env,
		.mad = daemon_mad(plugin->all->config.daemon),
		.snapshots = plugin->all->snapshots,
		.answer = give_answer,
		.arg = plugin,
	};

	plugin->requests = requests_new(&config);
}

/* ---- its end ---- */

/* The next start of a process that has died; it comes later each time. */
static void plan_restart(struct plugin *plugin, bool was_calm)
{
	if (was_calm || !plugin->restart_s)
		plugin->restart_s = 1;
	plugin->restart_us = g_get_monotonic_time() + (int64_t)plugin->restart_s * US_PER_S;
	plugin_log(plugin, "it is started again in %u s", plugin->restart_s);
	plugin->restart_s = MIN(2 * plugin->restart_s, RESTART_MAX_S);
}

static void fail(struct plugin *plugin, const char *why)
{
	note_error(plugin, why);
	enter(plugin, PLUGIN_FAILED);
	plugin->kill_us = plugin->since_us + KILL_US;
	if (plugin->starts)
		return; /* plugins_new() says why */
	plugin_log_error(plugin, "it cannot be loaded: %s", why);
	if (plugin->has_run && !plugin->in_process)
		plan_restart(plugin, false);
}

static void stopped(struct plugin *plugin)
{
	enter(plugin, PLUGIN_STOPPED);
	plugin_log(plugin, "it is stopped");
}

/* Its host is gone, though it was not told to end. */
static void ended(struct plugin *plugin, const char *how)
{
	bool was_calm = g_get_monotonic_time() - plugin->since_us >= CALM_US;

	drop_requests(plugin);
	note_error(plugin, how);
	plugin_log_error(plugin, "%s", how);
	enter(plugin, PLUGIN_ENDED);
	if (plugin->in_process)
		drop_feed(plugin);
	else
		plan_restart(plugin, was_calm);
}

/* What a plug-in that is to be stopped has not come back from, as far as its host has told. */
static const char *unfinished(const struct plugin *plugin)
{
	if (!plugin->is_created)
		return "create()";
	if (plugin->is_ending)
		return "destroy()";
	return plugin->ahead ? "on_event()" : "route()";
}

static void lost(struct plugin *plugin, const char *how)
{
	g_autofree char *why = NULL;

	switch (plugin->state) {
	case PLUGIN_LOADING:
		why = g_strdup_printf("its create() has not returned: %s", how);
		fail(plugin, why);
		break;
	case PLUGIN_RUNNING:
	case PLUGIN_STUCK:
		ended(plugin, how);
		break;
	case PLUGIN_STOPPING:
		if (!plugin->has_ended) {
			why = g_strdup_printf("its %s has not returned: %s", unfinished(plugin),
					      how);
			note_error(plugin, why);
			plugin_log_error(plugin, "%s", why);
		}
		stopped(plugin);
		break;
	default:
		break;
	}
}

/* Its threads are left to themselves; that they have come back is noticed, if they do. */
static void leave_loaded(struct plugin *plugin, const char *why)
{
	plugin->is_left = true;
	note_error(plugin, why);
	say(plugin, LINK_STOP, 0);
}

static void kill_next(struct plugin *plugin, int64_t now_us)
{
	if (now_us < plugin->kill_us)
		return;
	kill(plugin->process, plugin->kills++ ? SIGKILL : SIGTERM);
	plugin->kill_us = now_us + KILL_US;
}

/* ---- what its host says ---- */

static bool text_is_whole(char *text, size_t size)
{
	return memchr(text, '\0', size) && g_utf8_validate(text, -1, NULL);
}

/* What a host says of a plug-in is not trusted. */
static bool understand(struct plugin *plugin, const struct link_head *head, const void *octets)
{
	struct link_loaded *loaded = &plugin->loaded;

	if (head->length != sizeof(*loaded))
		return false;
	memcpy(loaded, octets, sizeof(*loaded));
	memset(plugin->engines, 0, sizeof(plugin->engines));
	if (!text_is_whole(loaded->name, sizeof(loaded->name)) ||
	    !text_is_whole(loaded->version, sizeof(loaded->version)) ||
	    loaded->n_engines > G_N_ELEMENTS(loaded->engines))
		return false;
	for (uint32_t i = 0; i < loaded->n_engines; i++) {
		struct link_engine *engine = &loaded->engines[i];

		if (!text_is_whole(engine->name, sizeof(engine->name)) ||
		    !text_is_whole(engine->summary, sizeof(engine->summary)))
			return false;
		plugin->engines[i] = engine->name;
	}
	return true;
}

static bool on_loaded(struct plugin *plugin, const struct link_head *head, const void *octets)
{
	g_autofree char *engines = NULL, *where = NULL;

	plugin->is_created = true;
	if (plugin->state != PLUGIN_LOADING)
		return plugin->state != PLUGIN_RUNNING;
	if (!understand(plugin, head, octets))
		return false;
	enter(plugin, PLUGIN_RUNNING);
	give_feed(plugin);
	give_requests(plugin);
	plugin_engines_attach(plugin);
	plugin->has_run = true;
	say(plugin, LINK_READY, 0);
	if (!plugin->starts)
		plugin_engines_reroute(plugin);
	engines = g_strjoinv(", ", (char **)plugin->engines);
	where = plugin->in_process ? g_strdup("in this process")
				   : g_strdup_printf("as process %d", (int)plugin->process);
	plugin_log(plugin, "%s %s is loaded, and runs %s%s%s", plugin->loaded.name,
		   plugin->loaded.version, where, *engines ? "; routing engines: " : "", engines);
	return true;
}

/* A text of a host, which may be anything, on one line of valid UTF-8. */
static char *line_of(const struct link_head *head, const void *octets)
{
	g_autofree char *raw = g_strndup(octets, head->length);
	g_autofree char *text = g_utf8_make_valid(raw, -1);

	return answer_one_line(text);
}

static void on_log(struct plugin *plugin, const struct link_head *head, const void *octets)
{
	static const unsigned int levels[] = {LOG_ERROR, LOG_INFO, LOG_VERBOSE, LOG_DEBUG};
	g_autofree char *line = line_of(head, octets);
	unsigned int level = LOG_INFO, dropped;

	for (unsigned int i = 0; i < G_N_ELEMENTS(levels); i++)
		if (head->value == levels[i])
			level = levels[i];
	if (!log_wants(plugin->all->context->log, level, __FILE__) ||
	    !log_limit_pass(&plugin->lines, (uint64_t)g_get_monotonic_time() * NS_PER_US, LOG_BURST,
			    LOG_EVERY_NS, &dropped))
		return;
	if (dropped)
		plugin_say(plugin, level, "%s (%u lines before this one were dropped)", line,
			   dropped);
	else
		plugin_say(plugin, level, "%s", line);
}

static bool on_taken(struct plugin *plugin, uint32_t n)
{
	if (n > plugin->ahead)
		return !plugin_is_up(plugin);
	plugin->ahead -= n;
	plugin->taken_us = g_get_monotonic_time();
	if (plugin->state == PLUGIN_STUCK) {
		plugin->state = PLUGIN_RUNNING;
		plugin_log(plugin, "it takes events again");
	}
	plugins_soon(plugin->all);
	return true;
}

static void on_stopped(struct plugin *plugin, bool stays)
{
	plugin->has_ended = true;
	plugin->stays = stays && plugin->in_process;
	plugin->is_left = plugin->stays;
	if (plugin->stays)
		plugin_log_error(plugin, "a thread of it still runs after destroy(): it stays "
					 "loaded");
	if (plugin->state == PLUGIN_STOPPING && plugin->in_process)
		stopped(plugin);
}

static bool take(void *arg, const struct link_head *head, const void *octets, int files[LINK_FILES])
{
	struct plugin *plugin = arg;
	g_autofree char *text = NULL;

	(void)files;
	switch (head->type) {
	case LINK_LOADED:
		return on_loaded(plugin, head, octets);
	case LINK_FAILED:
		text = line_of(head, octets);
		if (plugin->state == PLUGIN_LOADING)
			fail(plugin, text);
		return true;
	case LINK_TAKEN:
		return on_taken(plugin, head->value);
	case LINK_REQUEST:
		return !plugin_is_up(plugin) || requests_take(plugin->requests, head, octets);
	case LINK_LOG:
		on_log(plugin, head, octets);
		return true;
	case LINK_LEAVE:
		if (plugin_is_up(plugin)) {
			plugin_log(plugin, "it asks to be unloaded");
			plugin_stop(plugin);
		}
		return true;
	case LINK_ENDING:
		plugin->is_ending = true;
		return !plugin_is_up(plugin);
	case LINK_STOPPED:
		on_stopped(plugin, head->value != 0);
		return !plugin_is_up(plugin);
	default:
		return false;
	}
}

static void on_clear(void *arg)
{
	pump(arg);
}

static void on_link_ended(void *arg)
{
	struct plugin *plugin = arg;

	plugin->is_going = true;
	plugin->kill_us = g_get_monotonic_time() + KILL_US;
	plugins_soon(plugin->all);
}

/* ---- its beginning ---- */

static void *run_host(void *arg)
{
	plugin_host_run(GPOINTER_TO_INT(arg));
	return NULL;
}

static bool start_thread(int end, GError **error)
{
	pthread_t thread;
	int code = thread_try(&thread, NULL, run_host, GINT_TO_POINTER(end));

	if (!code) {
		pthread_detach(thread);
		return true;
	}
	close(end);
	g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
		    "cannot start a thread: %s", g_strerror(code));
	return false;
}

static bool start_host(struct plugin *plugin, int end, GError **error)
{
	if (plugin->in_process)
		return start_thread(end, error);
	plugin->process = process_start(plugin->name, end, error);
	close(end);
	if (plugin->process > 0)
		return true;
	plugin->process = 0;
	return false;
}

/* What it is greeted with. NULL and error: more than a message can carry. */
static GByteArray *greeting(const struct plugin *plugin, GError **error)
{
	GByteArray *all = link_hello(plugin->name, plugin->all->options, plugin->own_options,
				     "OpenSM " PACKAGE_VERSION);

	if (all->len <= LINK_MESSAGE_MAX)
		return all;
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
		    "event_plugin_options is too long: with the part of this plug-in it takes %u "
		    "octets, expected at most %u",
		    all->len, LINK_MESSAGE_MAX);
	g_byte_array_unref(all);
	return NULL;
}

/* False and error: it has no host. */
static bool begin(struct plugin *plugin, GError **error)
{
	const struct link_end_user user = {
		.take = take, .clear = on_clear, .ended = on_link_ended, .arg = plugin};
	g_autoptr(GByteArray) hello = greeting(plugin, error);
	int ends[2];

	if (!hello || !link_pair(ends, error))
		return false;
	if (!start_host(plugin, ends[1], error)) {
		close(ends[0]);
		return false;
	}
	plugin->end = link_end_new(ends[0], plugin->all->config.loop, &user);
	link_end_send(plugin->end, &(struct link_head){.type = LINK_HELLO, .length = hello->len},
		      hello->data, -1);
	return true;
}

void plugin_start(struct plugin *plugin)
{
	g_autoptr(GError) error = NULL;

	plugin->restart_us = 0;
	plugin->is_going = false;
	plugin->kills = 0;
	plugin->is_created = false;
	plugin->is_ending = false;
	plugin->has_ended = false;
	plugin->in_process = plugin->all->in_process;
	g_clear_pointer(&plugin->end, link_end_free);
	enter(plugin, PLUGIN_LOADING);
	if (!begin(plugin, &error))
		fail(plugin, error->message);
	plugins_soon(plugin->all);
}

void plugin_stop(struct plugin *plugin)
{
	plugin->to_be_stopped = false;
	plugin->restart_us = 0;
	plugin->restart_s = 0;
	drop_requests(plugin);
	drop_feed(plugin);
	plugins_soon(plugin->all);
	switch (plugin->state) {
	case PLUGIN_LOADING:
	case PLUGIN_RUNNING:
	case PLUGIN_STUCK:
		enter(plugin, PLUGIN_STOPPING);
		plugin->kill_us = plugin->since_us + DESTROY_US;
		say(plugin, LINK_STOP, 0);
		break;
	case PLUGIN_ENDED:
		stopped(plugin);
		break;
	default:
		break;
	}
}

/* ---- time ---- */

static void look_at_end(struct plugin *plugin)
{
	g_autofree char *how = NULL;

	if (plugin->process && process_has_ended(plugin->process, &how)) {
		plugin->process = 0;
		for (unsigned int i = 0; i < LAST_WORDS && !plugin->is_going; i++)
			link_end_work(plugin->end, 0);
		plugin->is_going = true;
	}
	if (!plugin->is_going || plugin->process)
		return;
	plugin->is_going = false;
	plugin->is_left = plugin->stays;
	g_clear_pointer(&plugin->end, link_end_free);
	lost(plugin, how ? how : "its host has ended");
}

static void look_at_events(struct plugin *plugin, int64_t now_us)
{
	pump(plugin);
	if (plugin->state != PLUGIN_RUNNING || !plugin->ahead ||
	    now_us - plugin->taken_us < STUCK_US)
		return;
	plugin->state = PLUGIN_STUCK;
	plugin_log_error(plugin, "it has not taken an event for %d s; %" G_GUINT64_FORMAT " wait",
			 (int)(STUCK_US / US_PER_S), feed_waiting(plugin->feed) + plugin->ahead);
}

static void look_at_stopping(struct plugin *plugin, int64_t now_us)
{
	g_autofree char *why = NULL;

	if (!plugin->in_process || now_us - plugin->since_us < DESTROY_US)
		return;
	why = g_strdup_printf("its %s has not returned after %d s: it stays loaded",
			      unfinished(plugin), (int)(DESTROY_US / US_PER_S));
	plugin_log_error(plugin, "%s", why);
	leave_loaded(plugin, why);
	enter(plugin, PLUGIN_STOPPED);
}

static void look_at_loading(struct plugin *plugin, int64_t now_us)
{
	if (now_us - plugin->since_us < CREATE_US)
		return;
	leave_loaded(plugin, "its create() has not returned");
	fail(plugin, "its create() has not returned after 20 s");
}

void plugin_look(struct plugin *plugin, int64_t now_us)
{
	look_at_end(plugin);
	if (plugin->to_be_stopped)
		plugin_stop(plugin);
	if (plugin->state == PLUGIN_LOADING)
		look_at_loading(plugin, now_us);
	else if (plugin_is_up(plugin))
		look_at_events(plugin, now_us);
	else if (plugin->state == PLUGIN_STOPPING)
		look_at_stopping(plugin, now_us);
	if (plugin->process &&
	    (plugin->is_going || (!plugin_is_up(plugin) && plugin->state != PLUGIN_LOADING)))
		kill_next(plugin, now_us);
	if (plugin->restart_us && now_us >= plugin->restart_us && !plugin->process) {
		plugin->restarts++;
		plugin_start(plugin);
	}
}

bool plugin_is_changing(const struct plugin *plugin)
{
	return plugin->state == PLUGIN_LOADING || plugin->state == PLUGIN_STOPPING ||
	       plugin->restart_us || plugin->is_going || (plugin->process && !plugin_is_up(plugin));
}

bool plugin_is_drained(const struct plugin *plugin)
{
	return !plugin_is_up(plugin) || (!plugin->ahead && !feed_waiting(plugin->feed));
}

/* ---- life ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Where that word begins in the options; NULL: it is not there. */
static const char *find_word(const char *options, const char *word)
{
	size_t n = strlen(word);
	const char *at = options;

	for (; (at = strstr(at, word)); at++)
		if ((at == options || is_blank(at[-1])) && (!at[n] || is_blank(at[n])))
			return at;
	return NULL;
}

/* What stands between this name and the next name of a plug-in; all, if this name does not occur.
 */
static char *own_part(const char *options, const char *name, char *const *names)
{
	const char *from = find_word(options, name), *to = options + strlen(options);
	char *part;

	if (!from)
		return g_strdup(options);
	from += strlen(name);
	for (; *names; names++) {
		const char *next = **names ? find_word(from, *names) : NULL;

		if (next && next < to)
			to = next;
	}
	part = g_strndup(from, (gsize)(to - from));
	return g_strstrip(part);
}

struct plugin *plugin_new(struct plugins *all, const char *name, char *const *names)
{
	struct plugin *plugin = g_new0(struct plugin, 1);

	plugin->all = all;
	plugin->name = g_strdup(name);
	plugin->own_options = own_part(all->options, name, names);
	plugin->state = PLUGIN_STOPPED;
	return plugin;
}

void plugin_free(struct plugin *plugin)
{
	drop_requests(plugin);
	drop_feed(plugin);
	link_end_free(plugin->end);
	g_free(plugin->error);
	g_free(plugin->own_options);
	g_free(plugin->name);
	g_free(plugin);
}
