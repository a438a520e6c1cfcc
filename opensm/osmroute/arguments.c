// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options about routing have the names, letters, checks and help of the daemon's own table of
 * options; the other options are osmroute's own.
 */
#include "osmroute/arguments.h"

#include <string.h>

#include "osmroute/hosted.h"
#include "osmroute/outage.h"
#include "osmroute/tables.h"
#include "route/registry.h"

#define THREADS_MAX 256
#define COUNT_MAX 1000000

struct shared {
	enum option_id id;
	const char *name, *flag; /* flag NULL: none in the daemon, and its name serves as one */
	char letter;
	const char *preset;
	const char *help;
};

static const struct shared all_options[] = {
#define OPTION(name, kind, def, min, max, unit, flag, letter, preset, scope, state, section, help) \
	{OPTION_##name, #name, flag, letter, preset, help},
#include "core/options.def"
};

/* The daemon's options that change a table; max_reverse_hops is parsed as in the daemon. */
static const enum option_id shared_ids[] = {
#define INPUT(member, type, option) OPTION_##option,
#define LIST(member, kind, option, readers) OPTION_##option,
#define INPUT_FILE(option) OPTION_##option,
#include "route/inputs.def"
	OPTION_lmc,
	OPTION_max_reverse_hops,
};

/* An engine that was named, which may be that of a plug-in that is named later. */
struct wanted {
	const char *flag;
	char *name; /* NULL: tables_engine */
};

/* State while the command line is read. */
struct reader {
	struct arguments *arguments;
	gint threads, repeats, trials, lose, shifts, matchings;
	gint64 seed;
	gdouble lose_percent;
	gboolean json, version;
	GArray *wanted; /* struct wanted */
	char **plugins, **rest;
	GArray *entries; /* GOptionEntry, terminated by zeros */
};

static bool G_GNUC_PRINTF(2, 3) wrong(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
						    format, args));
	va_end(args);
	return false;
}

static char *engine_names(const struct arguments *arguments)
{
	g_autoptr(GPtrArray) engines = route_registry_engines(hosted_registry(arguments->hosted));
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < engines->len; i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       ((const struct route_engine *)engines->pdata[i])->name);
	return g_string_free(names, FALSE);
}

/* ---- options ---- */

static void want_engine(struct reader *reader, const char *flag, const char *name)
{
	const struct wanted wanted = {flag, g_strdup(name)};

	g_array_append_val(reader->wanted, wanted);
}

static void wanted_clear(void *data)
{
	g_free(((struct wanted *)data)->name);
}

/* -R as in the daemon, but without its fallback. */
static gboolean take_engines(const char *name, const char *value, void *data, GError **error)
{
	g_auto(GStrv) names = g_strsplit_set(value, ", ", -1);

	(void)error;
	for (unsigned int i = 0; names[i]; i++)
		if (*names[i] && strcmp(names[i], "no_fallback") != 0)
			want_engine(data, g_intern_string(name), names[i]);
	return true;
}

static gboolean take_outages(const char *name, const char *value, void *data, GError **error)
{
	struct reader *reader = data;
	g_auto(GStrv) names = g_strsplit_set(value, ", ", -1);

	for (unsigned int i = 0; names[i]; i++) {
		g_autofree char *shown = g_strescape(names[i], NULL);
		unsigned int kinds = 0;

		for (unsigned int kind = 0; kind < OUTAGE_N_KINDS; kind++)
			if (!strcmp(names[i], "all") || !strcmp(names[i], outage_kind_names[kind]))
				kinds |= 1u << kind;
		if (!kinds && *names[i])
			return wrong(error,
				     "%s: unknown kind '%s'; expected link, switch, leaf "
				     "or all",
				     name, shown);
		reader->arguments->outages |= kinds;
	}
	return true;
}

static bool set_option(struct reader *reader, enum option_id id, const char *value, GError **error)
{
	struct options *options = options_copy_with(reader->arguments->options, id, value, error);

	if (!options)
		return false;
	options_unref(reader->arguments->options);
	reader->arguments->options = options;
	return true;
}

static gboolean take_tables(const char *name, const char *value, void *data, GError **error)
{
	(void)name;
	want_engine(data, NULL, NULL);
	return set_option(data, OPTION_lfts_file, value, error);
}

static const char *flag_of(const struct shared *shared)
{
	return shared->flag ? shared->flag : shared->name;
}

static gboolean take_shared(const char *name, const char *value, void *data, GError **error)
{
	struct reader *reader = data;

	for (unsigned int i = 0; i < G_N_ELEMENTS(shared_ids); i++) {
		const struct shared *shared = &all_options[shared_ids[i]];

		if (name[1] == '-' ? strcmp(name + 2, flag_of(shared)) : name[1] != shared->letter)
			continue;
		return set_option(reader, shared->id, shared->preset ? shared->preset : value,
				  error);
	}
	g_assert_not_reached();
}

static void add_shared(struct reader *reader)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(shared_ids); i++) {
		const struct shared *shared = &all_options[shared_ids[i]];
		const char *flag = flag_of(shared);
		bool file = strstr(flag, "file") || strstr(flag, "guids") ||
			    strstr(flag, "config");
		GOptionEntry entry = {
			.long_name = flag,
			.short_name = shared->letter,
			.flags = (shared->preset ? G_OPTION_FLAG_NO_ARG : 0) |
				 (file ? G_OPTION_FLAG_FILENAME : 0),
			.arg = G_OPTION_ARG_CALLBACK,
			.arg_data = take_shared,
			.description = shared->help,
			.arg_description = shared->preset ? NULL : file ? "FILE" : "N",
		};

		g_array_append_val(reader->entries, entry);
	}
}

static void add_own(struct reader *reader)
{
	struct arguments *a = reader->arguments;
	const GOptionEntry entries[] = {
		{"engine", 'R', 0, G_OPTION_ARG_CALLBACK, take_engines,
		 "engines to try, separated by commas or repeated; default: all", "NAMES"},
		{"routing_engine", 0, 0, G_OPTION_ARG_CALLBACK, take_engines,
		 "engines to try, as -R, under the name of opensm's option", "NAMES"},
		{"plugin", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &reader->plugins,
		 "evaluate the routing engines of a plug-in of opensm, too, as if OPTIONS were its "
		 "event_plugin_options",
		 "FILE[:OPTIONS]"},
		{"tables", 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, take_tables,
		 "judge existing tables, in the format of opensm-lfts.dump or dump_lfts", "FILE"},
		{"transition", 0, 0, G_OPTION_ARG_FILENAME, &a->transition,
		 "show how switches that hold the tables of FILE would change to the new tables",
		 "FILE"},
		{"transition-sls", 0, 0, G_OPTION_ARG_FILENAME, &a->sls,
		 "SLs that hosts use with these tables: the daemon's file path_sls; without: SL 0",
		 "FILE"},
		{"policy", 0, 0, G_OPTION_ARG_FILENAME, &a->policy,
		 "only count load between ports that share a partition of FILE", "FILE"},
		{"load", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a->loads,
		 "show measured beside computed load: FILE is an image of the performance manager; "
		 "given twice, what was counted between them",
		 "FILE"},
		{"threads", 't', 0, G_OPTION_ARG_INT, &reader->threads,
		 "threads that engine and verifier may use; default: 1", "N"},
		{"lose", 'n', 0, G_OPTION_ARG_INT, &reader->lose,
		 "judge again after losing this many random cables between switches", "N"},
		{"lose-percent", 'x', 0, G_OPTION_ARG_DOUBLE, &reader->lose_percent,
		 "judge again after losing this percentage of these cables", "P"},
		{"outage", 0, 0, G_OPTION_ARG_CALLBACK, take_outages,
		 "lose one thing at a time and restore it: link, switch, leaf (separated by "
		 "commas) or all",
		 "KINDS"},
		{"trials", 0, 0, G_OPTION_ARG_INT, &reader->trials,
		 "how many things of each kind are lost, one after the other; default: 5", "N"},
		{"seed", 's', 0, G_OPTION_ARG_INT64, &reader->seed,
		 "seed of random choices; default: 1", "N"},
		{"shifts", 0, 0, G_OPTION_ARG_INT, &reader->shifts,
		 "most shift permutations to try; default: 512", "N"},
		{"matchings", 0, 0, G_OPTION_ARG_INT, &reader->matchings,
		 "random matchings to try; default: 50", "N"},
		{"repeats", 0, 0, G_OPTION_ARG_INT, &reader->repeats,
		 "run engine and verifier this many times and print the median of the times", "N"},
		{"json", 'j', 0, G_OPTION_ARG_NONE, &reader->json, "print JSON", NULL},
		{"dot", 0, 0, G_OPTION_ARG_FILENAME, &a->dot,
		 "write a drawing for Graphviz: load by the first engine as colour and width",
		 "FILE"},
		{"svg", 0, 0, G_OPTION_ARG_FILENAME, &a->svg, "write this drawing as a picture",
		 "FILE"},
		{"lfts", 0, 0, G_OPTION_ARG_FILENAME, &a->lfts,
		 "write the table of the first engine as opensm-lfts.dump has it", "FILE"},
		{"version", 'V', 0, G_OPTION_ARG_NONE, &reader->version, "print the version", NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &reader->rest, NULL,
		 "FILE|SPEC"},
	};

	g_array_append_vals(reader->entries, entries, G_N_ELEMENTS(entries));
}

/* ---- checks ---- */

static bool in_range(const char *name, gint value, gint least, gint most, GError **error)
{
	return (value >= least && value <= most) ||
	       wrong(error, "--%s: %d is not in %d..%d", name, value, least, most);
}

static bool check(const struct reader *reader, GError **error)
{
	if (!in_range("threads", reader->threads, 1, THREADS_MAX, error) ||
	    !in_range("lose", reader->lose, 0, COUNT_MAX, error) ||
	    !in_range("trials", reader->trials, 1, COUNT_MAX, error) ||
	    !in_range("shifts", reader->shifts, 0, COUNT_MAX, error) ||
	    !in_range("matchings", reader->matchings, 0, COUNT_MAX, error) ||
	    !in_range("repeats", reader->repeats, 1, COUNT_MAX, error))
		return false;
	if (!(reader->lose_percent >= 0 && reader->lose_percent <= 100))
		return wrong(error, "--lose-percent: %g is not in 0..100", reader->lose_percent);
	if (reader->lose && reader->lose_percent > 0)
		return wrong(error, "--lose and --lose-percent exclude each other");
	if (reader->version)
		return true;
	if (!reader->rest)
		return wrong(error, "a topology is needed, FILE or SPEC: see --help");
	return !reader->rest[1] || wrong(error, "expected only one topology");
}

static void add_engine(struct arguments *arguments, const struct route_engine *engine)
{
	if (!g_ptr_array_find(arguments->engines, engine, NULL))
		g_ptr_array_add(arguments->engines, (gpointer)engine);
}

static bool find_wanted(struct arguments *arguments, const struct wanted *wanted, GError **error)
{
	const struct route_engine *engine = &tables_engine;
	g_autofree char *known = NULL, *shown = NULL;

	if (wanted->name)
		engine = route_registry_find(hosted_registry(arguments->hosted), wanted->name);
	if (engine) {
		add_engine(arguments, engine);
		return true;
	}
	known = engine_names(arguments);
	shown = g_strescape(wanted->name, NULL);
	return wrong(error, "%s: unknown engine '%s'; expected one of %s", wanted->flag, shown,
		     known);
}

/* The engines that are named, or else all, those of plug-ins as well. */
static bool find_engines(const struct reader *reader, GError **error)
{
	struct arguments *a = reader->arguments;
	g_autoptr(GPtrArray) all = NULL;

	for (char **plugin = reader->plugins; plugin && *plugin; plugin++)
		if (!hosted_load(a->hosted, *plugin, error))
			return false;
	for (guint i = 0; i < reader->wanted->len; i++)
		if (!find_wanted(a, &g_array_index(reader->wanted, struct wanted, i), error))
			return false;
	a->named = a->engines->len;
	all = route_registry_engines(hosted_registry(a->hosted));
	for (guint i = 0; !a->named && i < all->len; i++)
		g_ptr_array_add(a->engines, all->pdata[i]);
	return true;
}

static void take_over(struct reader *reader)
{
	struct arguments *a = reader->arguments;

	a->topology = g_strdup(reader->rest ? reader->rest[0] : NULL);
	a->json = reader->json;
	a->version = reader->version;
	a->threads = reader->threads;
	a->repeats = reader->repeats;
	a->trials = reader->trials;
	a->lose = reader->lose;
	a->lose_percent = reader->lose_percent;
	a->seed = reader->seed;
	a->effort = (struct quality_effort){reader->shifts, reader->matchings, reader->seed};
}

bool arguments_parse(struct arguments *arguments, char **argv, GError **error)
{
	const struct quality_effort effort = QUALITY_EFFORT_DEFAULT;
	struct reader reader = {
		arguments, .threads = 1, .repeats = 1, .trials = 5, .seed = 1,
		.shifts = effort.shifts, .matchings = effort.matchings,
	};
	GOptionContext *context = g_option_context_new(NULL);
	GOptionGroup *group = g_option_group_new("", "", "", &reader, NULL);
	g_auto(GStrv) copy = g_strdupv(argv);
	bool good;

	*arguments = (struct arguments){.options = options_new(),
					.hosted = hosted_new(),
					.engines = g_ptr_array_new()};
	reader.wanted = g_array_new(FALSE, FALSE, sizeof(struct wanted));
	g_array_set_clear_func(reader.wanted, wanted_clear);
	reader.entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
	add_own(&reader);
	add_shared(&reader);
	g_option_group_add_entries(group, (const GOptionEntry *)reader.entries->data);
	g_option_context_set_main_group(context, group);
	g_option_context_set_summary(context, "Computes routes of an InfiniBand fabric offline "
					      "and judges them.");
	good = g_option_context_parse_strv(context, &copy, error) && check(&reader, error) &&
	       find_engines(&reader, error);
	if (good)
		take_over(&reader);
	g_option_context_free(context);
	g_array_unref(reader.entries);
	g_array_unref(reader.wanted);
	g_strfreev(reader.plugins);
	g_strfreev(reader.rest);
	return good;
}

void arguments_clear(struct arguments *arguments)
{
	options_unref(arguments->options);
	g_ptr_array_unref(arguments->engines);
	hosted_free(arguments->hosted);
	g_free(arguments->topology);
	g_free(arguments->dot);
	g_free(arguments->lfts);
	g_free(arguments->svg);
	g_free(arguments->transition);
	g_free(arguments->sls);
	g_free(arguments->policy);
	g_strfreev(arguments->loads);
	*arguments = (struct arguments){0};
}
