// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files of a start, read one by one, so that a wrong one does not hide what the next says. */
#include "ctl/check_config.h"

#include "ctl/cache.h"
#include "ctl/problem.h"
#include "policy/partition_door.h"
#include "policy/ports_policy.h"
#include "policy/prefix_routes.h"
#include "policy/qos_file.h"
#include "policy/route_files.h"

static void add_error(GVariantBuilder *list, const GError *error)
{
	problem_add(list, PROBLEM_ERROR, error ? error->message : NULL);
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
	GVariantBuilder answer, list;
	g_autoptr(GVariant) told = NULL;
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
	answer_begin(&answer);
	answer_flag(&answer, "good", *good);
	answer_begin_list(&list);
	add_error(&list, error);
	add_error(&list, of_partitions);
	add_error(&list, of_routes);
	add_error(&list, of_qos);
	add_error(&list, of_ports);
	add_error(&list, of_prefixes);
	answer_member(&answer, "errors", &list);
	answer_begin_list(&list);
	problem_add_all(&list, PROBLEM_WARNING, warnings);
	problem_add_all(&list, PROBLEM_WARNING, rules ? rules->warnings : NULL);
	problem_add_all(&list, PROBLEM_WARNING, files ? route_files_warnings(files) : NULL);
	problem_add_all(&list, PROBLEM_WARNING, qos ? qos->warnings : NULL);
	answer_member(&answer, "warnings", &list);
	told = g_variant_ref_sink(g_variant_builder_end(&answer));
	ports_policy_unref(ports);
	prefix_routes_unref(prefixes);
	qos_policy_unref(qos);
	partition_rules_unref(rules);
	route_files_unref(files);
	return g_strchomp(answer_json(told)); /* without the end of the line */
}
