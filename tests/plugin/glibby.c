// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A plug-in for tests that links GLib and runs a main loop of its own. */
#include <glib.h>
#include <pthread.h>

#include "opensm/plugin.h"

struct glibby {
	const struct osm_host *host;
	GMainContext *context;
	GMainLoop *loop;
	pthread_t thread;
};

static gboolean tick(gpointer arg)
{
	struct glibby *glibby = arg;

	glibby->host->log(glibby->host, OSM_LOG_INFO, "tick");
	return G_SOURCE_REMOVE;
}

static void *run(void *arg)
{
	struct glibby *glibby = arg;

	g_main_loop_run(glibby->loop);
	return NULL;
}

static void *create(const struct osm_host *host)
{
	struct glibby *glibby = g_new0(struct glibby, 1);
	GSource *source = g_timeout_source_new(10);

	glibby->host = host;
	glibby->context = g_main_context_new();
	glibby->loop = g_main_loop_new(glibby->context, FALSE);
	g_source_set_callback(source, tick, glibby, NULL);
	g_source_attach(source, glibby->context);
	g_source_unref(source);
	pthread_create(&glibby->thread, NULL, run, glibby);
	return glibby;
}

static void destroy(void *context)
{
	struct glibby *glibby = context;

	g_main_loop_quit(glibby->loop);
	pthread_join(glibby->thread, NULL);
	g_main_loop_unref(glibby->loop);
	g_main_context_unref(glibby->context);
	g_free(glibby);
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_plugin plugin = {
		.size = sizeof(plugin),
		.abi = OSM_PLUGIN_ABI,
		.name = "glibby",
		.version = "2",
		.create = create,
		.destroy = destroy,
	};

	return &plugin;
}
