// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "config.h"

#include "osmroute/hosted.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "opensm/plugin.h"
#include "plugin/base/link.h"
#include "plugin/engine/engine.h"
#include "plugin/host/host.h"
#include "route/registry.h"

struct hosted {
	struct route_registry *registry;
	GPtrArray *list; /* struct plug */
};

/* One plug-in. The thread of its host talks to the thread that reads its link. */
struct plug {
	char *name, *options;
	int end;      /* of the link; -1: it has not begun */
	int host_end; /* that of the host, which takes it over */
	pthread_t host, reader;
	bool is_read; /* by the reader */
	struct link_loaded loaded;
	char octets[LINK_MESSAGE_MAX] __attribute__((aligned(8))); /* of the last message */
};

G_GNUC_PRINTF(3, 4)
static bool fail(GError **error, const struct plug *plug, const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "--plugin: %s: %s", plug->name, what);
	return false;
}

/* ---- its host ---- */

/* A line of its log; what is only for the curious is left out. */
static void show(const struct plug *plug, const struct link_head *head)
{
	g_autofree char *raw = g_strndup(plug->octets, head->length);
	g_autofree char *text = g_utf8_make_valid(raw, -1);

	if (head->value == OSM_LOG_ERROR || head->value == OSM_LOG_INFO)
		fprintf(stderr, "osmroute: %s: %s\n", plug->name, text);
}

/* The next message that is not a line of its log. False: the host has ended. */
static bool next_message(struct plug *plug, struct link_head *head)
{
	int files[LINK_FILES];
	enum link_outcome outcome;

	while ((outcome = link_receive(plug->end, head, plug->octets, files)) != LINK_ENDED) {
		if (outcome == LINK_AGAIN) {
			link_wait(plug->end, false, -1);
			continue;
		}
		if (head->type != LINK_LOG)
			return true;
		show(plug, head);
	}
	return false;
}

static void *read_on(void *arg)
{
	struct link_head head;

	while (next_message(arg, &head))
		continue;
	return NULL;
}

static void *run_host(void *arg)
{
	const struct plug *plug = arg;

	plugin_host_run(plug->host_end);
	return NULL;
}

static bool start_host(struct plug *plug, GError **error)
{
	int ends[2], code;

	if (!link_pair(ends, error))
		return false;
	plug->host_end = ends[1];
	code = pthread_create(&plug->host, NULL, run_host, plug);
	if (!code) {
		plug->end = ends[0];
		return true;
	}
	close(ends[0]);
	close(ends[1]);
	return fail(error, plug, "cannot start a thread: %s", g_strerror(code));
}

static bool greet(struct plug *plug, GError **error)
{
	g_autoptr(GByteArray) all = link_hello(plug->name, plug->options, plug->options,
					       "osmroute " PACKAGE_VERSION);
	const struct link_head head = {.type = LINK_HELLO, .length = all->len};

	return (all->len <= LINK_MESSAGE_MAX &&
		link_send(plug->end, &head, all->data, NULL) == LINK_DONE) ||
	       fail(error, plug, "its options are too long");
}

static bool wait_for_it(struct plug *plug, GError **error)
{
	struct link_head head;

	if (!next_message(plug, &head))
		return fail(error, plug, "its host has ended");
	if (head.type != LINK_LOADED)
		return fail(error, plug, "%.*s", (int)head.length, plug->octets);
	memcpy(&plug->loaded, plug->octets, sizeof(plug->loaded));
	return true;
}

/* ---- its engines ---- */

static bool add_engine(const struct hosted *hosted, const struct plug *plug, uint32_t number,
		       GError **error)
{
	const struct link_engine *from = &plug->loaded.engines[number];
	const struct link_head head = {.type = LINK_ENGINE, .value = number, .n_files = 1};
	struct plugin_engine *engine =
		plugin_engine_new(from->name, from->summary, plug->loaded.name, -1);
	int ends[2];

	if (!route_registry_add(hosted->registry, plugin_engine_route(engine),
				plugin_engine_free)) {
		plugin_engine_free(engine);
		return fail(error, plug, "its routing engine %s cannot be used: the name is taken",
			    from->name);
	}
	if (!link_pair(ends, error))
		return false;
	plugin_engine_attach(engine, ends[0], plug->options);
	link_send(plug->end, &head, NULL, &ends[1]);
	close(ends[1]);
	return true;
}

static bool add_engines(const struct hosted *hosted, const struct plug *plug, GError **error)
{
	if (!plug->loaded.n_engines)
		return fail(error, plug, "it has no routing engine");
	for (uint32_t i = 0; i < plug->loaded.n_engines; i++)
		if (!add_engine(hosted, plug, i, error))
			return false;
	return true;
}

/* ---- life ---- */

static struct plug *plug_new(const char *what)
{
	struct plug *plug = g_new0(struct plug, 1);
	const char *colon = strchr(what, ':');
	g_autofree char *name = colon ? g_strndup(what, (gsize)(colon - what)) : g_strdup(what);

	/* For the loader a file is a name with a slash. */
	plug->name = !strchr(name, '/') && g_file_test(name, G_FILE_TEST_EXISTS)
			     ? g_strconcat("./", name, NULL)
			     : g_strdup(name);
	plug->options = g_strdup(colon ? colon + 1 : "");
	plug->end = -1;
	return plug;
}

static void plug_free(void *data)
{
	struct plug *plug = data;

	if (plug->end >= 0) {
		link_send(plug->end, &(struct link_head){.type = LINK_STOP}, NULL, NULL);
		if (plug->is_read)
			pthread_join(plug->reader, NULL);
		else
			read_on(plug);
		pthread_join(plug->host, NULL);
		close(plug->end);
	}
	g_free(plug->options);
	g_free(plug->name);
	g_free(plug);
}

static bool start(const struct hosted *hosted, struct plug *plug, GError **error)
{
	if (!start_host(plug, error) || !greet(plug, error) || !wait_for_it(plug, error) ||
	    !add_engines(hosted, plug, error))
		return false;
	plug->is_read = !pthread_create(&plug->reader, NULL, read_on, plug);
	return plug->is_read || fail(error, plug, "cannot start a thread");
}

bool hosted_load(struct hosted *hosted, const char *what, GError **error)
{
	struct plug *plug = plug_new(what);

	g_ptr_array_add(hosted->list, plug);
	return start(hosted, plug, error);
}

struct route_registry *hosted_registry(const struct hosted *hosted)
{
	return hosted->registry;
}

struct hosted *hosted_new(void)
{
	struct hosted *hosted = g_new0(struct hosted, 1);

	hosted->registry = route_registry_new();
	hosted->list = g_ptr_array_new_with_free_func(plug_free);
	return hosted;
}

void hosted_free(struct hosted *hosted)
{
	if (!hosted)
		return;
	g_ptr_array_unref(hosted->list);
	route_registry_free(hosted->registry);
	g_free(hosted);
}
