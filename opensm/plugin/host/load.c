// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "plugin/host/load.h"

#include <dlfcn.h>
#include <string.h>

#define CLASSIC_SYMBOL "osm_event_plugin"
/*
 * The sizes that these structs have in version 1, by their last members there: members that are
 * added later are not asked of a plug-in that was compiled before.
 */
#define SIZE_WITH(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define PLUGIN_SIZE SIZE_WITH(struct osm_plugin, engines)
#define ENGINE_SIZE SIZE_WITH(struct osm_engine, route)

G_GNUC_PRINTF(2, 3)
static bool refuse(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (error)
		*error = g_error_new_valist(G_FILE_ERROR, G_FILE_ERROR_INVAL, format, args);
	va_end(args);
	return false;
}

static char *file_of(const char *name)
{
	g_autofree char *file = NULL, *path = NULL;

	if (strchr(name, '/'))
		return g_strdup(name);
	file = g_strdup_printf("lib%s.so", name);
	path = g_build_filename(OSM_PLUGIN_DIR, file, NULL);
	return g_strdup(g_file_test(path, G_FILE_TEST_EXISTS) ? path : file);
}

/* A name for routing_engine, which is a list in opensm.conf. */
static bool is_engine_name(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n > 0 && n <= LOAD_ENGINE_NAME &&
	       strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_") == n;
}

static bool check_engine(const struct osm_engine *engine, unsigned int number, GError **error)
{
	if (engine->size < ENGINE_SIZE)
		return refuse(error, "its routing engine %u has size %u, expected %zu or more",
			      number, engine->size, ENGINE_SIZE);
	if (!is_engine_name(engine->name))
		return refuse(error,
			      "its routing engine %u has a name that cannot be used: expected 1 to "
			      "%u letters, digits, \"-\" and \"_\"",
			      number, LOAD_ENGINE_NAME);
	if (!engine->route)
		return refuse(error, "its routing engine %s has no function route()", engine->name);
	return true;
}

static bool check_engines(const struct osm_engine *const *engines, GError **error)
{
	unsigned int n = 0;

	for (; engines && engines[n]; n++) {
		if (n == LOAD_ENGINES)
			return refuse(error, "it has more than %u routing engines", LOAD_ENGINES);
		if (!check_engine(engines[n], n, error))
			return false;
		for (unsigned int i = 0; i < n; i++)
			if (!strcmp(engines[i]->name, engines[n]->name))
				return refuse(error, "it has two routing engines named %s",
					      engines[n]->name);
	}
	return true;
}

static bool check(const struct osm_plugin *plugin, GError **error)
{
	if (!plugin)
		return refuse(error, "osm_plugin_v1() returned NULL");
	if (plugin->abi != OSM_PLUGIN_ABI)
		return refuse(error, "it is made for version %u of the interface, expected %d",
			      plugin->abi, OSM_PLUGIN_ABI);
	if (plugin->size < PLUGIN_SIZE)
		return refuse(error, "its struct osm_plugin has size %u, expected %zu or more",
			      plugin->size, PLUGIN_SIZE);
	if (!plugin->create || !plugin->destroy)
		return refuse(error, "it has no function %s()",
			      plugin->create ? "destroy" : "create");
	return check_engines(plugin->engines, error);
}

static bool find_plugin(void *object, const struct osm_plugin **plugin, GError **error)
{
	const struct osm_plugin *(*get)(void);

	*(void **)&get = dlsym(object, "osm_plugin_v1");
	if (get) {
		*plugin = get();
		return check(*plugin, error);
	}
	if (dlsym(object, CLASSIC_SYMBOL))
		return refuse(error,
			      "it is written for the classic OpenSM, whose plug-ins read "
			      "its private structs, which do not exist here; opensm-plugin(3) "
			      "describes what to use, and \"opensmctl events --follow\" gives "
			      "events to scripts");
	return refuse(error, "it is not a plug-in of opensm: it exports no osm_plugin_v1()");
}

const struct osm_plugin *load_plugin(const char *name, void **object, GError **error)
{
	g_autofree char *file = file_of(name);
	const struct osm_plugin *plugin = NULL;

	*object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!*object) {
		refuse(error, "%s", dlerror());
		return NULL;
	}
	if (find_plugin(*object, &plugin, error))
		return plugin;
	g_prefix_error(error, "%s: ", file);
	dlclose(*object);
	*object = NULL;
	return NULL;
}
