// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files of a start, read one by one, so that a wrong one does not hide what the next says. */
#include "ctl/check_config.h"

#include <json-glib/json-glib.h>

#include "policy/partition_file.h"
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

char *check_config(const struct options *options, const GError *error, const GPtrArray *warnings,
		   bool *good)
{
	g_autoptr(JsonBuilder) json = json_builder_new();
	g_autoptr(GError) of_partitions = NULL, of_routes = NULL;
	struct partition_rules *rules = NULL;
	struct route_files *files = NULL;

	if (options) {
		rules = partition_rules_load(options->partition_config_file, &of_partitions);
		files = route_files_load_for(options, options->routing_engine, &of_routes);
	}
	*good = rules && files && !error;
	json_builder_begin_object(json);
	json_builder_set_member_name(json, "good");
	json_builder_add_boolean_value(json, *good);
	begin_list(json, "errors");
	if (error)
		add(json, error->message);
	if (of_partitions)
		add(json, of_partitions->message);
	if (of_routes)
		add(json, of_routes->message);
	json_builder_end_array(json);
	begin_list(json, "warnings");
	add_all(json, warnings);
	add_all(json, rules ? rules->warnings : NULL);
	add_all(json, files ? route_files_warnings(files) : NULL);
	json_builder_end_array(json);
	partition_rules_unref(rules);
	route_files_unref(files);
	return finish(json);
}
