// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options: defaults < opensm.conf < command line.
 *
 * options.def lists them; option_table is that list as data, and everything else loops over it:
 * options_kind.c reads and writes one value, options_file.c parses opensm.conf, options_args.c the
 * command line, options_write.c makes the template and --help. Nothing here logs: errors are
 * returned as one GError with one line each, questionable values as warnings, because there is no
 * log yet when the options are read.
 *
 * Main thread only, but the result is immutable and may be read by any thread. The file is checked
 * again on SIGHUP and, if it changed, for a heavy sweep (site_files.c); that makes new options, and
 * the old ones are unchanged until their last user drops them.
 */
#include "core/options_private.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complib/file.h"
#include "complib/log.h"

#define M_KEY_SEED_MIN 16 /* octets */
#define M_KEY_SEED_MAX 1024
#define KEY_UPDATE_MIN 10 /* minutes */
#define CLASSIC_DIRECTORY "/etc/opensm"

const struct option option_table[OPTION_COUNT] = {
#define OPTION(name, kind, def, min, max, unit, flag, letter, preset, scope, state, section, help) \
	[OPTION_##name] = {#name,                                                                  \
			   OPTION_KIND_##kind,                                                     \
			   offsetof(struct options, name),                                         \
			   sizeof(((struct options *)NULL)->name),                                 \
			   def,                                                                    \
			   min,                                                                    \
			   max,                                                                    \
			   unit,                                                                   \
			   flag,                                                                   \
			   letter,                                                                 \
			   preset,                                                                 \
			   OPTION_SCOPE_##scope,                                                   \
			   OPTION_STATE_##state,                                                   \
			   OPTION_SECTION_##section,                                               \
			   help},
#include "core/options.def"
};

const struct option_action option_actions[OPTION_ACTION_COUNT] = {
#define ACTION(id, flag, letter, argument, section, help)                                          \
	[OPTION_ACTION_##id] = {flag, letter, argument, OPTION_SECTION_##section, help},
#include "core/options.def"
};

const struct option_alias option_aliases[] = {
#define ALIAS(old, name) {#old, OPTION_##name},
#include "core/options.def"
};
const unsigned int option_alias_count = G_N_ELEMENTS(option_aliases);

const char *const option_section_titles[OPTION_SECTION_COUNT] = {
#define X(name, title) [OPTION_SECTION_##name] = title,
	OPTION_SECTIONS(X)
#undef X
};

GQuark options_error_quark(void)
{
	return g_quark_from_static_string("options-error-quark");
}

void options_warn(GPtrArray *warnings, const char *format, ...)
{
	va_list args;

	if (!warnings)
		return;
	va_start(args, format);
	g_ptr_array_add(warnings, g_strdup_vprintf(format, args));
	va_end(args);
}

/* ---- the nearest name, for "did you mean" ---- */

/*
 * Edit distance (Levenshtein) by rows, or any number above limit if it exceeds it; names are short.
 */
static unsigned int distance(const char *a, const char *b, unsigned int limit)
{
	size_t length = strlen(b);
	g_autofree unsigned int *row = g_new(unsigned int, length + 1);

	for (size_t j = 0; j <= length; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned int diagonal = row[0], least = (unsigned int)i + 1;

		row[0] = least;
		for (size_t j = 0; j < length; j++) {
			unsigned int change = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = MIN(change, MIN(row[j], row[j + 1]) + 1);
			least = MIN(least, row[j + 1]);
		}
		if (least > limit)
			return least; /* the minimum of a row never decreases */
	}
	return row[length];
}

const char *option_nearest(const char *name, bool flags)
{
	unsigned int best = G_MAXUINT;
	const char *nearest = NULL;

	size_t length = strlen(name);

	if (length > 64)
		return NULL;
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		const char *candidate = flags ? option->flag : option->name;
		size_t other;
		unsigned int room, d;

		if (!candidate || (!flags && option->scope == OPTION_SCOPE_COMMAND))
			continue;
		other = strlen(candidate);
		room = 1 + (unsigned int)other / 4;
		if (length > other + room || other > length + room)
			continue; /* each letter of difference in length is a change */
		d = distance(name, candidate, room);
		if (d < best && d <= room) {
			best = d;
			nearest = candidate;
		}
	}
	return nearest;
}

/* ---- life ---- */

struct options *options_new(void)
{
	struct options *options = g_new0(struct options, 1);

	ref_init(&options->ref);
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		g_autofree char *mistake = NULL;

		if (option->def)
			mistake =
				option_parse(option, option_field(options, id), option->def, false);
		g_assert(!mistake);
	}
	return options;
}

struct options *options_ref(struct options *options)
{
	ref_get(&options->ref);
	return options;
}

void options_unref(struct options *options)
{
	if (!options || !ref_put(&options->ref))
		return;
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		option_clear(&option_table[id], option_field(options, id));
	g_strfreev(options->argv);
	g_free(options->site_file);
	g_free(options->file);
	g_bytes_unref(options->m_key_seed);
	g_free(options);
}

static void slot_get_options(void *object)
{
	options_ref(object);
}

static void slot_put_options(void *object)
{
	options_unref(object);
}

void options_slot_init(struct slot *slot)
{
	slot_init(slot, slot_get_options, slot_put_options);
}

/* ---- queries ---- */

enum option_source options_source(const struct options *options, enum option_id id)
{
	return (enum option_source)options->source[id];
}

/*
 * Where the classic daemon has it by default: the opensm.conf that it writes names each file, also
 * those that are not there. Installed elsewhere, this daemon has it in another place.
 */
static bool is_classic_default(const struct option *option, const char *text)
{
	const char *base = option->def ? strrchr(option->def, '/') : NULL;

	return base && g_str_has_prefix(text, CLASSIC_DIRECTORY) &&
	       strcmp(text + strlen(CLASSIC_DIRECTORY), base) == 0;
}

bool options_is_named(const struct options *options, enum option_id id)
{
	const struct option *option = &option_table[id];
	g_autofree char *text = options_text(options, id);

	return options->source[id] == OPTION_FROM_COMMAND ||
	       (options->source[id] == OPTION_FROM_FILE &&
		strcmp(text, option->def ? option->def : "(null)") != 0 &&
		!is_classic_default(option, text));
}

bool options_logs_apart(const struct options *options)
{
	return options->sim && options->source[OPTION_log_file] == OPTION_FROM_DEFAULT;
}

char *options_origin(const struct options *options, enum option_id id)
{
	switch (options->source[id]) {
	case OPTION_FROM_FILE:
		return g_strdup_printf("%s:%u", options->file, options->line[id]);
	case OPTION_FROM_COMMAND:
		return g_strdup("command line");
	default:
		return g_strdup("built in");
	}
}

char *options_text(const struct options *options, enum option_id id)
{
	return option_format(&option_table[id], option_field(options, id));
}

GVariant *options_value(const struct options *options, enum option_id id)
{
	g_autofree char *text = options_text(options, id);

	switch (option_table[id].kind) {
	case OPTION_KIND_BOOL:
		return g_variant_new_boolean(!strcmp(text, "TRUE"));
	case OPTION_KIND_U8:
	case OPTION_KIND_SET8:
	case OPTION_KIND_U16:
	case OPTION_KIND_U32:
	case OPTION_KIND_U64:
		return g_variant_new_uint64(g_ascii_strtoull(text, NULL, 10));
	case OPTION_KIND_I32:
		return g_variant_new_int64(g_ascii_strtoll(text, NULL, 10));
	case OPTION_KIND_REAL:
		return g_variant_new_double(g_ascii_strtod(text, NULL));
	default:
		return strcmp(text, "(null)") ? g_variant_new_take_string(g_steal_pointer(&text))
					      : g_variant_new_maybe(G_VARIANT_TYPE_STRING, NULL);
	}
}

bool options_in_file(enum option_id id)
{
	return option_table[id].scope != OPTION_SCOPE_COMMAND;
}

const char *options_name(enum option_id id)
{
	const struct option *option = &option_table[id];

	return option->scope == OPTION_SCOPE_COMMAND ? option->flag : option->name;
}

bool options_same(const struct options *a, const struct options *b, enum option_id id)
{
	g_autofree char *left = options_text(a, id);
	g_autofree char *right = options_text(b, id);

	return strcmp(left, right) == 0;
}

/* ---- construction ---- */

/* Replaces a default; takes ownership of text. */
static void set_default(struct options *options, enum option_id id, char **field, char *text)
{
	if (options->source[id] != OPTION_FROM_DEFAULT) {
		g_free(text);
		return;
	}
	g_free(*field);
	*field = text;
}

/*
 * Whether it was set in the site's opensm.conf, by whatever path: that does not apply to this run.
 */
static bool is_from_site(const struct options *options, enum option_id id)
{
	return options->source[id] == OPTION_FROM_FILE &&
	       !g_strcmp0(options->file, options->site_file);
}

/*
 * Files that a daemon on a simulated fabric writes concern only its user. Their paths come from the
 * command line, the environment and the user's files, not from the defaults or the site's
 * opensm.conf. Without a log, errors go to standard error.
 */
static void keep_from_site(struct options *options)
{
	static const enum option_id ids[] = {OPTION_log_file, OPTION_log_flags,
					     OPTION_dump_files_dir, OPTION_control_socket};

	for (unsigned int i = 0; i < G_N_ELEMENTS(ids); i++)
		if (is_from_site(options, ids[i]))
			options->source[ids[i]] = OPTION_FROM_DEFAULT;
	set_default(options, OPTION_log_file, &options->log_file, g_strdup("stderr"));
	set_default(options, OPTION_dump_files_dir, &options->dump_files_dir, NULL);
	set_default(options, OPTION_control_socket, &options->control_socket, NULL);
	if (options->source[OPTION_log_flags] == OPTION_FROM_DEFAULT)
		options->log_flags = options_logs_apart(options) ? LOG_ERROR : LOG_ERROR | LOG_INFO;
}

/* Chooses paths for files that no option sets. */
static void choose_places(struct options *options)
{
	const char *dumps = getenv("OSM_TMP_DIR"), *sockets = getenv("OSM_RUN_DIR");

	if (options->sim && !options->create_config)
		keep_from_site(options);
	if (dumps && *dumps)
		set_default(options, OPTION_dump_files_dir, &options->dump_files_dir,
			    g_strdup(dumps));
	if (sockets && *sockets)
		set_default(options, OPTION_control_socket, &options->control_socket,
			    g_build_filename(sockets, "%g.sock", NULL));
}

/*
 * Deprecated options set those that replace them: files of the classic daemon have both, and there
 * the old one counts. Only the command line overrides it.
 */
static void apply_deprecated(struct options *options, GPtrArray *warnings)
{
	const uint8_t *source = options->source;

	if (!options->no_partition_enforcement)
		return;
	if (source[OPTION_part_enforce] > source[OPTION_no_partition_enforcement]) {
		options_warn(warnings, "no_partition_enforcement: --part_enforce overrides it");
		options->no_partition_enforcement = false; /* not written to the file either */
		return;
	}
	options_warn(warnings, "no_partition_enforcement is deprecated: use part_enforce off");
	options->part_enforce = PART_ENFORCE_OFF;
}

/* 0xff means all: not worth a warning. */
static void warn_of_funcs(const struct options *options, GPtrArray *warnings)
{
	if (options->log_flags & LOG_FUNCS && options->log_flags != 0xFF)
		options_warn(warnings, "log_flags: 0x10 has no effect");
}

/* Reads the first line; free the octets with erase(). */
static char *read_seed(const char *file, GError **error)
{
	int fd = file_open_secret(file, error);
	char text[M_KEY_SEED_MAX + 2] = "";
	char *seed = NULL;
	size_t length;
	ssize_t n;

	if (fd < 0)
		return NULL;
	n = read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	length = strcspn(text, "\r\n");
	if (length >= M_KEY_SEED_MIN && length <= M_KEY_SEED_MAX)
		seed = g_strndup(text, length);
	else
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s:1: expected a line of %u to %u octets", file, M_KEY_SEED_MIN,
			    M_KEY_SEED_MAX);
	explicit_bzero(text, sizeof(text));
	close(fd);
	return seed;
}

static void erase(gpointer text)
{
	explicit_bzero(text, strlen(text));
	g_free(text);
}

/* Earlier errors come first; takes ownership of more, NULL: nothing. */
void options_add_error(GError **all, GError *more)
{
	if (!more)
		return;
	if (*all)
		g_prefix_error(&more, "%s\n", (*all)->message);
	g_clear_error(all);
	*all = more;
}

static bool check_interval(const char *name, uint32_t minutes, GError **error)
{
	if (!minutes || minutes >= KEY_UPDATE_MIN)
		return true;
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
		    "%s: '%u' is neither 0 nor from %u to 71582 (min)", name, minutes,
		    KEY_UPDATE_MIN);
	return false;
}

static bool take_seed(struct options *options, GError **error)
{
	g_autoptr(GError) wrong = NULL;
	char *seed = NULL;

	if (!check_interval("m_key_update_interval", options->m_key_update_interval, error) ||
	    !check_interval("cc_key_update_interval", options->cc_key_update_interval, error))
		return false;
	if (!options->m_key_per_port && options->cc_key_mode != CC_KEY_PER_PORT &&
	    !options->m_key_seed_file)
		return true;
	if (options->m_key_seed_file)
		seed = read_seed(options->m_key_seed_file, &wrong);
	if (!seed && wrong)
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE, "m_key_seed_file: %s",
			    wrong->message);
	else if (!seed)
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
			    "%s: needs m_key_seed_file, which is not given",
			    options->m_key_per_port ? "m_key_per_port" : "cc_key_mode per_port");
	if (!seed)
		return false;
	options->m_key_seed = g_bytes_new_with_free_func(seed, strlen(seed), erase, seed);
	return true;
}

/* Checks combinations of values. */
static bool check_together(const struct options *options, GError **error)
{
	if (options->daemon && !options->guid &&
	    options->source[OPTION_guid] == OPTION_FROM_COMMAND) {
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE,
			    "guid: '0' asks for a port on the terminal, but --daemon runs "
			    "without one");
		return false;
	}
	if (options->daemon && options->console == CONSOLE_LOCAL) {
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE,
			    "console: 'local' needs the terminal, but --daemon runs without one");
		return false;
	}
	if (options->json && !options->plan && !options->check_config) {
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE,
			    "json: there is nothing to print without --plan or --check-config");
		return false;
	}
	return true;
}

/* "FILE:LINE: " if the value was set in the file. */
static char *place_of(const struct options *options, enum option_id id)
{
	if (options->source[id] != OPTION_FROM_FILE)
		return g_strdup("");
	return g_strdup_printf("%s:%u: ", options->file, options->line[id]);
}

/* IBA 4.1.1: GIDs that begin with 0xff are those of multicast groups. */
static bool check_prefix(const struct options *options, GPtrArray *warnings, GError **error)
{
	g_autofree char *place = place_of(options, OPTION_subnet_prefix);
	g_autofree char *value = options_text(options, OPTION_subnet_prefix);

	if (options->subnet_prefix >> 56 == 0xFF) {
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
			    "%ssubnet_prefix: '%s' is a prefix of multicast GIDs, expected one of "
			    "ports, such as 0xfe80000000000000", place, value);
		return false;
	}
	if (!(options->subnet_prefix >> 60))
		options_warn(warnings, "%ssubnet_prefix: '%s' begins with 0: was a digit lost? "
			     "Expected 16, as in 0xfe80000000000000", place, value);
	return true;
}

/* Adaptive engines of other subnet managers are replaced by the engines they are based on. */
static void take_plain_engines(struct options *options, GPtrArray *warnings)
{
	g_auto(GStrv) names =
		g_strsplit(options->routing_engine ? options->routing_engine : "", ",", -1);
	g_autofree char *place = place_of(options, OPTION_routing_engine);

	for (unsigned int i = 0; names[i]; i++) {
		char *name = names[i];

		if (!g_str_has_prefix(name, "ar_") || !name[3])
			continue;
		names[i] = g_strdup(!strcmp(name, "ar_torus") ? "torus-2QoS" : name + 3);
		options_warn(warnings, "%srouting_engine: '%s' is taken as %s, without adaptive "
			     "routing", place, name, names[i]);
		g_free(name);
	}
	if (!*names)
		return;
	g_free(options->routing_engine);
	options->routing_engine = g_strjoinv(",", names);
}

/* "-" and (null) are read as in the classic daemon. */
static void take_dash(struct options *options)
{
	if (options->log_file && strcmp(options->log_file, "-") != 0)
		return;
	g_free(options->log_file);
	options->log_file = g_strdup("stdout");
}

struct options_stamp options_file_stamp(const struct options *options)
{
	struct stat st;

	if (!options->file || stat(options->file, &st) != 0)
		return (struct options_stamp){0};
	return (struct options_stamp){
		.device = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.changed_ns = (uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) +
			      (uint64_t)st.st_mtim.tv_nsec,
	};
}

bool options_stamp_same(const struct options_stamp *a, const struct options_stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed_ns == b->changed_ns;
}

bool options_file_is_cut(const struct options *options)
{
	return options->file_is_cut;
}

bool options_file_changed(const struct options *options)
{
	struct options_stamp now = options_file_stamp(options);

	return !options_stamp_same(&now, &options->stamp);
}

/*
 * The default file may be absent; if it exists it must be readable. Its stamp is taken before it is
 * read: a write during reading counts as another change.
 */
static bool read_file(struct options *options, GPtrArray *warnings, GError **error)
{
	struct stat st;

	options->stamp = options_file_stamp(options);
	if (!options->file_required && stat(options->file, &st) != 0 &&
	    (errno == ENOENT || errno == ENOTDIR))
		return true;
	options->file_required = true;
	return options_file_read(options, options->file, warnings, error);
}

static const char *named_file(const GArray *given)
{
	const char *file = NULL;

	for (unsigned int i = 0; i < given->len; i++) {
		const struct option_given *one = &g_array_index(given, struct option_given, i);

		if (one->id == OPTION_config)
			file = one->value;
	}
	return file;
}

static char **copy_argv(int argc, char *const *argv)
{
	char **copy = g_new0(char *, (size_t)argc + 1);

	for (int i = 0; i < argc; i++)
		copy[i] = g_strdup(argv[i]);
	return copy;
}

static enum options_request requested(const GArray *given)
{
	for (unsigned int i = 0; i < given->len; i++) {
		unsigned int id = g_array_index(given, struct option_given, i).id;

		if (id == OPTION_COUNT + OPTION_ACTION_help)
			return OPTIONS_HELP;
		if (id == OPTION_COUNT + OPTION_ACTION_version)
			return OPTIONS_VERSION;
	}
	return OPTIONS_RUN;
}

/* Reports all errors at once; options has the valid values. */
static bool build(struct options *options, const GArray *given, GPtrArray *warnings, GError **error)
{
	GError *all = NULL, *why = NULL;

	read_file(options, warnings, &all);
	options_args_apply(options, given, warnings, &why);
	options_add_error(&all, g_steal_pointer(&why));
	check_together(options, &why);
	options_add_error(&all, g_steal_pointer(&why));
	check_prefix(options, warnings, &why);
	options_add_error(&all, g_steal_pointer(&why));
	take_seed(options, &why);
	options_add_error(&all, why);
	choose_places(options);
	apply_deprecated(options, warnings);
	warn_of_funcs(options, warnings);
	take_plain_engines(options, warnings);
	take_dash(options);
	if (all)
		g_propagate_error(error, all);
	return !all;
}

static struct options *new_for(const char *default_file, int argc, char *const *argv,
			       const GArray *given)
{
	struct options *options = options_new();
	const char *file = named_file(given);

	options->argv = copy_argv(argc, argv);
	options->file_required = file != NULL;
	/* Absolute, because a daemon leaves the directory in which it was started. */
	options->site_file = g_canonicalize_filename(default_file, NULL);
	options->file = file ? g_canonicalize_filename(file, NULL) : g_strdup(options->site_file);
	return options;
}

bool options_load_with(struct options **out, enum options_request *request,
		       const char *default_file, int argc, char *const *argv, GPtrArray *warnings,
		       GError **error)
{
	g_autoptr(GArray) given = options_args_split(argc, argv, error);
	struct options *options;

	*out = NULL;
	if (!given)
		return false;
	*request = requested(given);
	if (*request != OPTIONS_RUN)
		return true;
	options = new_for(default_file, argc, argv, given);
	if (!build(options, given, warnings, error)) {
		options_unref(options);
		return false;
	}
	*out = options;
	return true;
}

struct options *options_load_right(int argc, char *const *argv)
{
	g_autoptr(GArray) given = options_args_split(argc, argv, NULL);
	struct options *options;

	if (!given)
		return NULL;
	options = new_for(OSM_CONF_DIR "/opensm.conf", argc, argv, given);
	build(options, given, NULL, NULL);
	return options;
}

bool options_load(struct options **out, enum options_request *request, int argc, char *const *argv,
		  GPtrArray *warnings, GError **error)
{
	return options_load_with(out, request, OSM_CONF_DIR "/opensm.conf", argc, argv, warnings,
				 error);
}

/* ---- re-reading the file ---- */

static void keep_value(struct options *options, const struct options *old, enum option_id id)
{
	const struct option *option = &option_table[id];
	g_autofree char *text = options_text(old, id);
	g_autofree char *mistake = NULL;
	void *field = option_field(options, id);

	option_clear(option, field);
	mistake = option_parse(option, field, text, false);
	g_assert(!mistake);
	options->source[id] = old->source[id];
	options->line[id] = old->line[id];
}

static void keep_restart_only(struct options *options, const struct options *old,
			      GPtrArray *warnings)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		g_autofree char *before = NULL;
		g_autofree char *after = NULL;

		if (option->scope == OPTION_SCOPE_LIVE || options_same(options, old, id))
			continue;
		before = options_text(old, id);
		after = options_text(options, id);
		options_warn(warnings, "%s: %s stays in effect, %s needs a restart", option->name,
			     before, after);
		keep_value(options, old, id);
	}
}

/* NULL and an error if nothing was read before, as with options_new(). */
static GArray *split_again(const struct options *options, GError **error)
{
	if (options->argv && options->file)
		return options_args_split((int)g_strv_length(options->argv), options->argv, error);
	g_set_error_literal(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
			    "no file of options is in use");
	return NULL;
}

struct options *options_reread(const struct options *old, const char *file, options_check_fn *check,
			       GPtrArray *warnings, GError **error)
{
	struct options *options = options_new();
	g_autoptr(GArray) given = NULL;

	options->argv = g_strdupv(old->argv);
	options->site_file = g_strdup(old->site_file);
	options->file = g_strdup(file ? file : old->file);
	options->file_required = file || old->file_required;
	given = split_again(options, error);
	if (!given || !build(options, given, warnings, error) ||
	    (check && !check(options, old, error))) {
		options_unref(options);
		return NULL;
	}
	keep_restart_only(options, old, warnings);
	return options;
}

struct options *options_copy_with(const struct options *old, enum option_id id, const char *text,
				  GError **error)
{
	struct options *options = options_new();
	g_autofree char *mistake = NULL;

	options->argv = g_strdupv(old->argv);
	options->site_file = g_strdup(old->site_file);
	options->file = g_strdup(old->file);
	options->file_required = old->file_required;
	options->file_is_cut = old->file_is_cut;
	options->stamp = old->stamp;
	for (unsigned int i = 0; i < OPTION_COUNT; i++)
		keep_value(options, old, i);
	mistake = option_parse(&option_table[id], option_field(options, id), text, true);
	if (!mistake)
		return options;
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE, "%s: %s", options_name(id), mistake);
	options_unref(options);
	return NULL;
}
