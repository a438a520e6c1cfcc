// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files of a start, read one by one, so that a wrong one does not hide what the next says. */
#include "ctl/check_config.h"

#include "ctl/cache.h"
#include "ctl/console.h"
#include "ctl/console_key.h"
#include "ctl/console_tls.h"
#include "ctl/problem.h"
#include "policy/partition_door.h"
#include "policy/ports_policy.h"
#include "policy/prefix_routes.h"
#include "policy/qos_file.h"
#include "policy/route_files.h"

/* What was found so far. */
struct check {
	const struct options *options;
	GVariantBuilder errors, warnings; /* lists of problems */
	bool good;
};

/* Takes the error, NULL: there is none. */
static void note_error(struct check *check, GError *error)
{
	if (!error)
		return;
	check->good = false;
	problem_add(&check->errors, PROBLEM_ERROR, error->message);
	g_error_free(error);
}

static void note_warnings(struct check *check, const GPtrArray *texts)
{
	problem_add_all(&check->warnings, PROBLEM_WARNING, texts);
}

/* With what was changed at run time. */
static void check_partitions(struct check *check)
{
	g_autofree char *cache_dir = cache_dir_name(check->options->sim != NULL);
	GError *error = NULL;
	struct partition_door *door = partition_door_load(cache_dir, &error);
	struct partition_rules *rules =
		door ? partition_rules_load_with(daemon_partition_file(check->options), door,
						 &error)
		     : NULL;

	if (rules)
		note_warnings(check, rules->warnings);
	note_error(check, error);
	partition_rules_unref(rules);
	partition_door_unref(door);
}

static void check_routes(struct check *check)
{
	GError *error = NULL;
	struct route_files *files =
		route_files_load_for(check->options, check->options->routing_engine, &error);

	if (files)
		note_warnings(check, route_files_warnings(files));
	note_error(check, error);
	route_files_unref(files);
}

static void check_qos(struct check *check)
{
	GError *error = NULL;
	struct qos_policy *policy = qos_policy_load(daemon_qos_file(check->options), &error);

	if (policy)
		note_warnings(check, policy->warnings);
	note_error(check, error);
	qos_policy_unref(policy);
}

static void check_ports(struct check *check)
{
	GError *error = NULL;

	ports_policy_unref(ports_policy_load(check->options, &error));
	note_error(check, error);
}

static void check_prefix_routes(struct check *check)
{
	GError *error = NULL;

	prefix_routes_unref(prefix_routes_load(daemon_prefix_routes_file(check->options), &error));
	note_error(check, error);
}

/* file NULL: none is asked for. */
static void check_key(struct check *check, const char *option, const char *file)
{
	GError *error = NULL;

	if (file)
		console_key_free(console_key_load(option, file, &error));
	note_error(check, error);
}

/* The daemon starts without, and has no console by TCP then. */
static void check_tls(struct check *check)
{
	g_autoptr(GError) error = NULL;

	if (check->options->console != CONSOLE_SOCKET || !console_tls_is_wanted(check->options))
		return;
	console_tls_free(console_tls_new(check->options, &error));
	if (error)
		problem_add(&check->warnings, PROBLEM_WARNING, error->message);
}

static void check_files(struct check *check)
{
	check_partitions(check);
	check_routes(check);
	check_qos(check);
	check_ports(check);
	check_prefix_routes(check);
	check_key(check, "replication_key_file", check->options->replication_key_file);
	check_key(check, "--console-key-file", console_key_file(check->options));
	check_tls(check);
}

char *check_config(const struct options *options, const GError *error, const GPtrArray *warnings,
		   bool *good)
{
	struct check check = {.options = options, .good = true};
	g_autoptr(GVariant) told = NULL;
	GVariantBuilder answer;

	answer_begin_list(&check.errors);
	answer_begin_list(&check.warnings);
	note_error(&check, error ? g_error_copy(error) : NULL);
	note_warnings(&check, warnings);
	if (options)
		check_files(&check);
	*good = check.good;
	answer_begin(&answer);
	answer_flag(&answer, "good", check.good);
	answer_member(&answer, "errors", &check.errors);
	answer_member(&answer, "warnings", &check.warnings);
	told = g_variant_ref_sink(g_variant_builder_end(&answer));
	return g_strchomp(answer_json(told)); /* without the end of the line */
}
