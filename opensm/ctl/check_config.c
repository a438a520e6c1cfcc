// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files of a start, read one by one, so that a wrong one does not hide what the next says. */
#include "ctl/check_config.h"

#include <json-glib/json-glib.h>

#include "ctl/cache.h"
#include "policy/partition_door.h"
#include "policy/ports_policy.h"
#include "policy/prefix_routes.h"
#include "policy/qos_file.h"
#include "policy/route_files.h"

static void begin_list(JsonBuilder *json, const char *name)
{
	json_builder_set_member_name(json, name);
	json_builder_begin_array(json);
}

/* What comes from a file may be no UTF-8. */
static void add(JsonBuilder *json, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	json_builder_add_string_value(json, valid);
}

static void add_all(JsonBuilder *json, const GPtrArray *texts)
{
	for (guint i = 0; texts && i < texts->len; i++)
		add(json, texts->pdata[i]);
}

static char *finish(JsonBuilder *json)
{
	g_autoptr(JsonNode) root = NULL;

	json_builder_end_object(json);
	root = json_builder_get_root(json);
	return json_to_string(root, TRUE);
}

static void add_error(JsonBuilder *json, const GError *error)
{
	if (error)
		add(json, error->message);
}

/* With what was changed at run time. */
static struct partition_rules *load_partitions(const struct options *options, GError **error)
{
	g_autofree char *cache_dir = cache_dir_name(options->sim != NULL);
	struct partition_door *door = partition_door_load(cache_dir, error);
	struct partition_rules *rules =
		door ? partition_rules_load_with(options->partition_config_file, door, error)
		     : NULL;

	partition_door_unref(door);
	return rules;
}

char *check_config(const struct options *options, const GError *error, const GPtrArray *warnings,
		   bool *good)
{
	g_autoptr(JsonBuilder) json = json_builder_new();
	g_autoptr(GError) of_partitions = NULL, of_routes = NULL, of_qos = NULL, of_ports = NULL;
	g_autoptr(GError) of_prefixes = NULL;
	struct partition_rules *rules = NULL;
	struct route_files *files = NULL;
	struct qos_policy *qos = NULL;
	struct ports_policy *ports = NULL;
	struct prefix_routes *prefixes = NULL;

	if (options) {
		rules = load_partitions(options, &of_partitions);
		files = route_files_load_for(options, options->routing_engine, &of_routes);
		qos = qos_policy_load(options->qos_policy_file, &of_qos);
		ports = ports_policy_load(options, &of_ports);
		prefixes = prefix_routes_load(options->prefix_routes_file, &of_prefixes);
	}
	*good = rules && files && qos && ports && prefixes && !error;
	json_builder_begin_object(json);
	json_builder_set_member_name(json, "good");
	json_builder_add_boolean_value(json, *good);
	begin_list(json, "errors");
	add_error(json, error);
	add_error(json, of_partitions);
	add_error(json, of_routes);
	add_error(json, of_qos);
	add_error(json, of_ports);
	add_error(json, of_prefixes);
	json_builder_end_array(json);
	begin_list(json, "warnings");
	add_all(json, warnings);
	add_all(json, rules ? rules->warnings : NULL);
	add_all(json, files ? route_files_warnings(files) : NULL);
	add_all(json, qos ? qos->warnings : NULL);
	json_builder_end_array(json);
	ports_policy_unref(ports);
	prefix_routes_unref(prefixes);
	qos_policy_unref(qos);
	partition_rules_unref(rules);
	route_files_unref(files);
	return finish(json);
}
