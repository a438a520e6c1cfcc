// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The routing engines of a plug-in: each has a socket of its own to its host. They stay in the
 * daemon's registry when the plug-in is gone, and are attached again when it comes back.
 */
#include <string.h>
#include <unistd.h>

#include "ctl/plugin/plugins_private.h"
#include "plugin/engine/engine.h"
#include "route/registry.h"
#include "subnet/subnet.h"

static struct plugin_engine *find(const struct plugin *plugin, const char *name)
{
	for (unsigned int i = 0; i < plugin->n_known; i++)
		if (!strcmp(plugin->known[i].name, name))
			return plugin->known[i].engine;
	return NULL;
}

/* NULL: it cannot be known by this name. */
static struct plugin_engine *add(struct plugin *plugin, const struct link_engine *from)
{
	struct plugin_engine *engine;

	if (plugin->n_known == G_N_ELEMENTS(plugin->known))
		return NULL;
	engine = plugin_engine_new(from->name, from->summary, plugin->name, -1);
	if (!route_registry_add(plugin->all->context->engines, plugin_engine_route(engine),
				plugin_engine_free)) {
		plugin_engine_free(engine);
		return NULL;
	}
	g_strlcpy(plugin->known[plugin->n_known].name, from->name, sizeof(plugin->known[0].name));
	plugin->known[plugin->n_known++].engine = engine;
	return engine;
}

static void attach(struct plugin *plugin, uint32_t number, const char *identity)
{
	const struct link_engine *from = &plugin->loaded.engines[number];
	struct plugin_engine *engine = find(plugin, from->name);
	g_autoptr(GError) error = NULL;
	int ends[2];

	if (!engine)
		engine = add(plugin, from);
	if (!engine) {
		plugin_log_error(plugin, "its routing engine %s cannot be used: the name is taken",
				 from->name);
	} else if (!link_pair(ends, &error)) {
		plugin_log_error(plugin, "its routing engine %s cannot be used: %s", from->name,
				 error->message);
	} else {
		plugin_engine_attach(engine, ends[0], identity);
		link_end_send(plugin->end,
			      &(struct link_head){.type = LINK_ENGINE, .value = number}, NULL,
			      ends[1]);
	}
}

void plugin_engines_attach(struct plugin *plugin)
{
	g_autofree char *identity =
		g_strdup_printf("%s\n%s", plugin->loaded.version, plugin->own_options);

	for (uint32_t i = 0; i < plugin->loaded.n_engines; i++)
		attach(plugin, i, identity);
}

void plugin_engines_detach(struct plugin *plugin, const char *why)
{
	for (unsigned int i = 0; i < plugin->n_known; i++)
		plugin_engine_detach(plugin->known[i].engine, why);
}

/* The engine whose routes are in use; NULL: there are none yet. */
static const struct route_engine *engine_in_use(struct context *context)
{
	struct subnet *subnet = slot_take(&context->subnet);
	const struct route_engine *engine = subnet ? subnet->routing->engine : NULL;

	subnet_unref(subnet);
	return engine; /* as long as the registry */
}

void plugin_engines_reroute(struct plugin *plugin)
{
	struct context *context = plugin->all->context;
	const struct route_engine *used = engine_in_use(context);
	struct options *options = slot_take(&context->options);
	g_auto(GStrv) names =
		g_strsplit_set(options->routing_engine ? options->routing_engine : "", ", ", -1);

	options_unref(options);
	for (unsigned int i = 0; names[i]; i++) {
		if (find(plugin, names[i])) {
			daemon_sweep(plugin->all->config.daemon, SWEEP_REROUTE);
			return;
		}
		if (used && !strcmp(names[i], used->name))
			return;
	}
}
