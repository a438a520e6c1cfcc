// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/plugin/plugins.h"

#include <string.h>

#include "client/source.h"
#include "ctl/plugin/plugins_private.h"
#include "ctl/plugin/snapshot.h"

#define US_PER_MS 1000
#define DRAIN_US (5 * G_USEC_PER_SEC)
#define STOP_US (5 * G_USEC_PER_SEC)
#define WORK_MS 5
/* How often they are looked at: one is being loaded or stopped; events are out; processes run. */
#define CHANGING_MS 50
#define AHEAD_MS 1000
#define PROCESS_MS 5000

static struct plugin *at(const struct plugins *plugins, unsigned int i)
{
	return plugins->list->pdata[i];
}

/* ---- looking at them ---- */

static unsigned int wanted_ms(const struct plugins *plugins)
{
	unsigned int ms = 0;

	for (guint i = 0; i < plugins->list->len; i++) {
		const struct plugin *plugin = at(plugins, i);

		if (plugin_is_changing(plugin))
			return CHANGING_MS;
		if (plugin->ahead && plugin_is_up(plugin))
			ms = AHEAD_MS;
		else if (plugin->process && !ms)
			ms = PROCESS_MS;
	}
	return plugins->drained ? CHANGING_MS : ms;
}

static void finish_drain(struct plugins *plugins)
{
	void (*done)(void *arg) = plugins->drained;

	for (guint i = 0; done && i < plugins->list->len; i++)
		if (!plugin_is_drained(at(plugins, i)) &&
		    g_get_monotonic_time() < plugins->drain_until_us)
			return;
	plugins->drained = NULL;
	if (done)
		done(plugins->drained_arg);
}

static void look(struct plugins *plugins)
{
	for (guint i = 0; i < plugins->list->len; i++)
		plugin_look(at(plugins, i), g_get_monotonic_time());
	finish_drain(plugins);
}

static gboolean on_tick(gpointer arg)
{
	look(arg);
	plugins_soon(arg); /* looks once more, and sets the next time */
	return G_SOURCE_CONTINUE;
}

static void set_tick(struct plugins *plugins)
{
	unsigned int ms = wanted_ms(plugins);

	if (ms == plugins->tick_ms)
		return;
	source_drop(&plugins->tick);
	plugins->tick_ms = ms;
	if (!ms)
		return;
	plugins->tick = g_timeout_source_new(ms);
	g_source_set_callback(plugins->tick, on_tick, plugins, NULL);
	g_source_attach(plugins->tick, plugins->config.loop);
}

static gboolean on_soon(gpointer arg)
{
	struct plugins *plugins = arg;

	source_drop(&plugins->soon);
	look(plugins);
	set_tick(plugins);
	return G_SOURCE_REMOVE;
}

void plugins_soon(struct plugins *plugins)
{
	if (plugins->soon)
		return;
	plugins->soon = g_idle_source_new();
	g_source_set_priority(plugins->soon, G_PRIORITY_DEFAULT);
	g_source_set_callback(plugins->soon, on_soon, plugins, NULL);
	g_source_attach(plugins->soon, plugins->config.loop);
}

/* ---- for the operator ---- */

static bool about_one(const struct plugins *plugins, unsigned int number,
		      struct plugin_about *about)
{
	const struct plugin *plugin;

	if (number >= plugins->list->len)
		return false;
	plugin = at(plugins, number);
	*about = (struct plugin_about){
		.name = plugin->name,
		.title = plugin->loaded.name,
		.version = plugin->loaded.version,
		.state = plugin_state_name(plugin),
		.is_up = plugin_is_up(plugin),
		.is_process = !plugins->in_process,
		.process = plugin->process,
		.engines = plugin->engines,
		.requests = plugin->requests_before +
			    (plugin->requests ? requests_total(plugin->requests) : 0),
		.restarts = plugin->restarts,
		.error = plugin->error ? plugin->error : "",
	};
	about->delivered = plugin->delivered_before;
	about->lost = plugin->lost_before;
	if (plugin->feed) {
		about->delivered += feed_delivered(plugin->feed) - plugin->ahead;
		about->waiting = feed_waiting(plugin->feed) + plugin->ahead;
		about->lost += feed_lost(plugin->feed);
	}
	return true;
}

static struct plugin *find(struct plugins *plugins, const char *name, GError **error)
{
	for (guint i = 0; i < plugins->list->len; i++)
		if (!strcmp(at(plugins, i)->name, name))
			return at(plugins, i);
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "event_plugin_name does not list %s",
		    name);
	return NULL;
}

static bool stop_one(struct plugins *plugins, const char *name, GError **error)
{
	struct plugin *plugin = find(plugins, name, error);

	if (!plugin)
		return false;
	plugin->to_be_stopped = true;
	plugins_soon(plugins);
	return true;
}

static bool start_one(struct plugins *plugins, const char *name, GError **error)
{
	struct plugin *plugin = find(plugins, name, error);

	if (!plugin)
		return false;
	if (plugin->is_left) {
		g_set_error(
			error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			"plug-in %s still runs in the daemon, as it does not end: only a restart "
			"of the daemon loads it again",
			name);
		return false;
	}
	if (plugin->state != PLUGIN_STOPPED && plugin->state != PLUGIN_FAILED &&
	    plugin->state != PLUGIN_ENDED) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "plug-in %s is %s", name,
			    plugin_state_name(plugin));
		return false;
	}
	if (plugin->process) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			    "plug-in %s: its process has not ended yet", name);
		return false;
	}
	plugin->has_run = false;
	plugin_start(plugin);
	return true;
}

/* ---- life ---- */

/* Before the loop runs: waits until it is loaded, or cannot be. */
static bool load(struct plugin *plugin, GError **error)
{
	plugin->starts = true;
	plugin_start(plugin);
	while (plugin->state == PLUGIN_LOADING) {
		link_end_work(plugin->end, CHANGING_MS);
		plugin_look(plugin, g_get_monotonic_time());
	}
	plugin->starts = false;
	/* One that has asked to be unloaded was loaded. */
	if (plugin->has_run && plugin->state != PLUGIN_ENDED)
		return true;
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
		    "event_plugin_name: plug-in %s cannot be loaded: %s", plugin->name,
		    plugin->error);
	return false;
}

static bool load_all(struct plugins *plugins, bool required, GError **error)
{
	for (guint i = 0; i < plugins->list->len; i++) {
		g_autoptr(GError) trouble = NULL;

		if (load(at(plugins, i), &trouble))
			continue;
		if (required) {
			g_propagate_error(error, g_steal_pointer(&trouble));
			return false;
		}
		log_error(plugins->context->log, "%s", trouble->message);
	}
	return true;
}

static bool is_named(const struct plugins *plugins, const char *name)
{
	for (guint i = 0; i < plugins->list->len; i++)
		if (!strcmp(at(plugins, i)->name, name))
			return true;
	return false;
}

/* A name that stands twice in the list is loaded once. */
static void add_all(struct plugins *plugins, char *const *names)
{
	for (char *const *name = names; *name; name++)
		if (**name && !is_named(plugins, *name))
			g_ptr_array_add(plugins->list, plugin_new(plugins, *name, names));
}

static void free_plugin(gpointer plugin)
{
	plugin_free(plugin);
}

static struct plugins *make(const struct plugins_config *config, const struct options *options)
{
	struct plugins *plugins = g_new0(struct plugins, 1);
	g_auto(GStrv) names = g_strsplit_set(options->event_plugin_name, ", \t\r\n", -1);

	plugins->face = (struct plugins_face){
		.plugins = plugins, .about = about_one, .stop = stop_one, .start = start_one};
	plugins->config = *config;
	plugins->context = daemon_context(config->daemon);
	plugins->env = (struct command_env){
		.daemon = config->daemon,
		.journal = config->journal,
		.sim = config->sim,
	};
	plugins->events =
		plugin_events_new(plugins->context, daemon_actor(config->daemon), config->journal);
	plugins->snapshots = snapshot_store_new();
	plugins->list = g_ptr_array_new_with_free_func(free_plugin);
	plugins->options =
		g_strdup(options->event_plugin_options ? options->event_plugin_options : "");
	plugins->in_process = !options->event_plugin_process;
	add_all(plugins, names);
	return plugins;
}

bool plugins_new(struct plugins **plugins, const struct plugins_config *config, GError **error)
{
	struct options *options = slot_take(&daemon_context(config->daemon)->options);
	bool good = true;

	*plugins = NULL;
	if (options->event_plugin_name && *options->event_plugin_name) {
		*plugins = make(config, options);
		good = load_all(*plugins, options->event_plugin_required, error);
	}
	options_unref(options);
	if (good)
		return true;
	plugins_stop(*plugins);
	g_clear_pointer(plugins, plugins_free);
	return false;
}

bool plugins_are_loaded(const struct plugins *plugins)
{
	for (guint i = 0; plugins && i < plugins->list->len; i++)
		if (!at(plugins, i)->has_run)
			return false;
	return true;
}

void plugins_drain(struct plugins *plugins, void (*done)(void *arg), void *arg)
{
	if (!plugins) {
		done(arg);
		return;
	}
	plugins->drained = done;
	plugins->drained_arg = arg;
	plugins->drain_until_us = g_get_monotonic_time() + DRAIN_US;
	plugins_soon(plugins);
}

static bool is_any_changing(const struct plugins *plugins)
{
	for (guint i = 0; i < plugins->list->len; i++)
		if (plugin_is_changing(at(plugins, i)))
			return true;
	return false;
}

void plugins_stop(struct plugins *plugins)
{
	int64_t until_us = g_get_monotonic_time() + STOP_US;

	if (!plugins)
		return;
	plugins->drained = NULL;
	for (guint i = 0; i < plugins->list->len; i++)
		plugin_stop(at(plugins, i));
	while (is_any_changing(plugins) && g_get_monotonic_time() < until_us) {
		for (guint i = 0; i < plugins->list->len; i++)
			if (at(plugins, i)->end)
				link_end_work(at(plugins, i)->end, WORK_MS);
		look(plugins);
	}
	source_drop(&plugins->soon);
	source_drop(&plugins->tick);
}

void plugins_free(struct plugins *plugins)
{
	if (!plugins)
		return;
	g_ptr_array_unref(plugins->list);
	source_drop(&plugins->soon);
	source_drop(&plugins->tick);
	plugin_events_free(plugins->events);
	snapshot_store_unref(plugins->snapshots);
	g_free(plugins->options);
	g_free(plugins);
}

const struct plugins_face *plugins_face(const struct plugins *plugins)
{
	return plugins ? &plugins->face : NULL;
}
