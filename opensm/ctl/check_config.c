// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files of a start, read one by one, so that a wrong one does not hide what the next says. */
#include "ctl/check_config.h"

#include <string.h>

#include "ctl/cache.h"
#include "ctl/console.h"
#include "ctl/console_key.h"
#include "ctl/console_tls.h"
#include "ctl/guarded_options.h"
#include "ctl/logging.h"
#include "ctl/problem.h"
#include "ctl/site_policy.h"
#include "policy/partition_file.h"
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

/* ---- engines ---- */

/* Why, with the line of the file that names them, if it does. */
static bool refuse_engines(const struct options *options, const char *why, GError **error)
{
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNKNOWN_ENGINE, "routing_engine: %s", why);
	if (options_source(options, OPTION_routing_engine) == OPTION_FROM_FILE) {
		g_autofree char *place = options_origin(options, OPTION_routing_engine);

		g_prefix_error(error, "%s: ", place);
	}
	return false;
}

static bool refuse_unknown(const struct options *options, const char *name, GError **error)
{
	g_autoptr(GString) why = g_string_new(NULL);

	g_string_printf(why, "there is no engine %s, expected a list of", name);
	for (const struct route_engine *const *engine = route_engines(); *engine; engine++)
		g_string_append_printf(why, " %s,", (*engine)->name);
	g_string_append(why, " or no_fallback");
	return refuse_engines(options, why->str, error);
}

bool check_config_engines(const struct options *options, GError **error)
{
	g_auto(GStrv) names =
		g_strsplit_set(options->routing_engine ? options->routing_engine : "", ", ", -1);
	bool fallback = true, usable = false;

	for (unsigned int i = 0; names[i]; i++) {
		if (!strcmp(names[i], "no_fallback"))
			fallback = false;
		else if (*names[i] && !route_find(names[i]))
			return refuse_unknown(options, names[i], error);
		else
			usable |= *names[i] != '\0';
	}
	return fallback || usable ||
	       refuse_engines(options, "names no engine, and no_fallback forbids others", error);
}

/* ---- all ---- */

/* One that does not count, though the start goes on without, is an error all the same. */
static void check_site(struct check *check)
{
	g_autofree char *cache_dir = cache_dir_name(check->options->sim != NULL);

	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		const struct site_kind *kind = site_kind(i);
		struct site_source source = {.options = check->options, .cache_dir = cache_dir};
		GError *error = NULL;
		void *object;

		if (!kind->load)
			continue;
		object = site_load(i, &source, &error);
		if (object && kind->warnings)
			note_warnings(check, kind->warnings(object));
		if (source.note)
			problem_add(&check->warnings, PROBLEM_WARNING, source.note);
		if (source.instead)
			g_set_error_literal(&error, PARTITION_ERROR, PARTITION_ERROR_FILE,
					    source.instead);
		note_error(check, error);
		if (object)
			kind->put(object);
		g_free(source.note);
		g_free(source.instead);
	}
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

static void check_guards(struct check *check)
{
	g_autofree char *cache_dir = cache_dir_name(check->options->sim != NULL);
	GError *error = NULL;

	guarded_options_check_start(check->options, cache_dir, &error);
	note_error(check, error);
}

static void check_engines(struct check *check)
{
	GError *error = NULL;

	check_config_engines(check->options, &error);
	note_error(check, error);
}

static void check_logging(struct check *check)
{
	g_autoptr(GPtrArray) mistakes = g_ptr_array_new_with_free_func(g_free);
	GError *error = NULL;

	logging_check(check->options, mistakes, &error);
	note_warnings(check, mistakes);
	note_error(check, error);
}

static void check_files(struct check *check)
{
	check_logging(check);
	check_engines(check);
	check_guards(check);
	check_site(check);
	check_key(check, "replication_key_file", check->options->replication_key_file);
	check_key(check, "--console-key-file", console_key_file(check->options));
	check_tls(check);
	if (options_console_is_open(check->options))
		problem_add(&check->warnings, PROBLEM_WARNING,
			    "console: without console_key_file any user of this host may look at "
			    "the subnet by TCP; only root and the user of the daemon change "
			    "something");
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

/* ---- while it runs ---- */

/* Files of the routing options that are named otherwise, or for other engines. */
static bool check_other_routes(const struct options *options, const struct options *before,
			       GError **error)
{
	g_autoptr(GPtrArray) now = g_ptr_array_new(), then = g_ptr_array_new();
	bool same = options_same(options, before, OPTION_routing_engine);
	struct route_files *files;

	route_files_names(options, now);
	route_files_names(before, then);
	for (guint i = 0; i < now->len; i++)
		same &= g_strcmp0(now->pdata[i], then->pdata[i]) == 0;
	if (same)
		return true;
	files = route_files_load_for(options, options->routing_engine, error);
	route_files_unref(files);
	return files;
}

static bool check_other_key(const struct options *options, const struct options *before,
			    GError **error)
{
	const char *file = options->replication_key_file;
	char *key;

	if (!file || options_same(options, before, OPTION_replication_key_file))
		return true;
	key = console_key_load("replication_key_file", file, error);
	console_key_free(key);
	return key;
}

bool check_config_restart(const struct options *options, const struct options *before,
			  GError **error)
{
	return check_config_engines(options, error) &&
	       check_other_routes(options, before, error) &&
	       check_other_key(options, before, error);
}

static bool has_keys(const struct options *options)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (options_source(options, id) == OPTION_FROM_FILE)
			return true;
	return false;
}

bool check_config_again(const struct options *options, const struct options *before,
			GError **error)
{
	const char *wrong = NULL;

	if (has_keys(before) && !has_keys(options))
		wrong = "the keys that it had are gone, expected some, or those that are to have "
			"their defaults with these";
	else if (has_keys(before) && options_file_is_cut(options) && !options_file_is_cut(before))
		wrong = "its last line has no end: the file may be cut off, expected a newline at "
			"its end";
	if (wrong) {
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE, "%s: %s", options->file,
			    wrong);
		return false;
	}
	return guarded_options_check(options, before, error) &&
	       check_config_restart(options, before, error);
}
