// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin: asks and explains the Scalable SA. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ssa/admin/admin.h"

#define CONFIG_FILE OSM_CONF_DIR "/ssa.conf"
#define SNAPSHOT_FILE "/run/opensm-ssa/snapshot"

/* ---- what commands have in common ---- */

enum admin_status admin_fail(enum admin_status status, GError *error)
{
	fprintf(stderr, "ssadmin: %s\n", error->message);
	g_error_free(error);
	return status;
}

static GBytes *get_chunk(void *store, const char *name, GError **error)
{
	return ssa_store_get(store, name, error);
}

static struct ssa_snapshot *join_whole(const struct admin *admin, GBytes *key, GError **error)
{
	const struct ssa_wanted whole = {.whole = true, .addresses = true};
	const struct ssa_settings *settings = admin->settings;
	struct ssa_store_options options = {.more = &ssa_store_redis};
	uint64_t prefix = settings ? settings->prefix : UINT64_C(0xFE80000000000000);
	struct ssa_store *store;
	struct ssa_snapshot *snapshot = NULL;
	g_autoptr(GBytes) bytes = NULL;
	struct ssa_manifest manifest;

	if (settings)
		options = ssa_settings_store(settings, false);
	store = ssa_store_open(admin->store, prefix, &options, error);
	bytes = store ? ssa_store_manifest(store, error) : NULL;
	if (bytes && ssa_manifest_parse(bytes, key, &manifest, error))
		snapshot = ssa_wire_join(&manifest, NULL, &whole, get_chunk, store, error);
	ssa_store_close(store);
	return snapshot;
}

struct ssa_snapshot *admin_snapshot(const struct admin *admin, GError **error)
{
	const struct ssa_settings *settings = admin->settings;
	g_autoptr(GBytes) key = NULL;

	if (!admin->store)
		return ssa_snapshot_map(admin->snapshot, error);
	if (settings && settings->key_file) {
		key = ssa_key_read(settings->key_file, error);
		if (!key)
			return NULL;
	}
	return join_whole(admin, key, error);
}

void admin_print(JsonBuilder *builder)
{
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = json_builder_get_root(builder);
	g_autofree char *text = NULL;

	json_generator_set_root(generator, root);
	text = json_generator_to_data(generator, NULL);
	puts(text);
}

void admin_add_hex(JsonBuilder *builder, const char *name, uint64_t value, int digits)
{
	g_autofree char *text = g_strdup_printf("0x%0*" G_GINT64_MODIFIER "x", digits, value);

	admin_add_text(builder, name, text);
}

void admin_add_number(JsonBuilder *builder, const char *name, uint64_t value)
{
	json_builder_set_member_name(builder, name);
	json_builder_add_int_value(builder, (gint64)value);
}

void admin_add_text(JsonBuilder *builder, const char *name, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	json_builder_set_member_name(builder, name);
	json_builder_add_string_value(builder, valid);
}

/* ---- commands ---- */

static enum admin_status run_path(const struct admin *admin, char **words)
{
	return admin_path(admin, words[0], words[1]);
}

static enum admin_status run_snapshot(const struct admin *admin, char **words)
{
	return admin_show_snapshot(admin, words[0]);
}

static enum admin_status run_ping(const struct admin *admin, char **words)
{
	return admin_ping(admin, words[0]);
}

static enum admin_status run_stats(const struct admin *admin, char **words)
{
	return admin_stats(admin, words[0]);
}

static enum admin_status run_nodeinfo(const struct admin *admin, char **words)
{
	return admin_nodeinfo(admin, words[0]);
}

static enum admin_status run_verify(const struct admin *admin, char **words)
{
	(void)words;
	return admin_verify(admin);
}

static enum admin_status run_tree(const struct admin *admin, char **words)
{
	(void)words;
	return admin_tree(admin);
}

static const struct command {
	const char *name;
	int min, max; /* words after it */
	enum admin_status (*run)(const struct admin *admin, char **words);
	const char *usage;
} commands[] = {
	{"ping", 0, 1, run_ping, "ping [GUID]"},
	{"stats", 0, 1, run_stats, "stats [GUID]"},
	{"nodeinfo", 0, 1, run_nodeinfo, "nodeinfo [GUID]"},
	{"tree", 0, 0, run_tree, "tree"},
	{"verify", 0, 0, run_verify, "verify"},
	{"path", 2, 2, run_path, "path A B"},
	{"snapshot", 0, 1, run_snapshot, "snapshot [OTHER]"},
};

static enum admin_status run(const struct admin *admin, int n, char **words)
{
	for (size_t i = 0; n > 0 && i < G_N_ELEMENTS(commands); i++) {
		const struct command *command = &commands[i];

		if (strcmp(command->name, words[0]) != 0)
			continue;
		if (n - 1 >= command->min && n - 1 <= command->max)
			return command->run(admin, words + 1);
		fprintf(stderr, "ssadmin: expected %s\n", command->usage);
		return ADMIN_USAGE;
	}
	fprintf(stderr, "ssadmin: %s%s%s: expected one of:", n > 0 ? "'" : "",
		n > 0 ? words[0] : "no command", n > 0 ? "'" : "");
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		fprintf(stderr, "%s %s", i ? "," : "", commands[i].usage);
	fputc('\n', stderr);
	return ADMIN_USAGE;
}

/* ---- arguments ---- */

struct arguments {
	char *config, *snapshot, *store, *core, *recursion, *filter, *format;
	gboolean json, version;
	int count;
};

static bool take_words(const struct arguments *arguments, struct admin *admin)
{
	static const struct {
		const char *word;
		enum ssa_role role;
	} filters[] = {{"core", SSA_ROLE_CORE},
		       {"distrib", SSA_ROLE_DISTRIBUTION},
		       {"access", SSA_ROLE_ACCESS},
		       {"acm", SSA_ROLE_AGENT}};
	const char *recursion = arguments->recursion;

	if (recursion && strcmp(recursion, "d") != 0 && strcmp(recursion, "u") != 0) {
		fprintf(stderr, "ssadmin: -r %s: expected d (down) or u (up)\n", recursion);
		return false;
	}
	if (arguments->count < 1) {
		fprintf(stderr, "ssadmin: -n %d: expected a number of at least 1\n",
			arguments->count);
		return false;
	}
	admin->direction = recursion ? *recursion : 0;
	for (size_t i = 0; arguments->filter && i < G_N_ELEMENTS(filters); i++)
		if (!strcmp(arguments->filter, filters[i].word))
			admin->filter = filters[i].role;
	if (!arguments->filter || admin->filter)
		return true;
	fprintf(stderr, "ssadmin: --filter=%s: expected core, distrib, access or acm\n",
		arguments->filter);
	return false;
}

/* The configuration need not be there, unless it was named. */
static bool read_settings(const struct arguments *arguments, struct ssa_settings **settings)
{
	const char *path = arguments->config ? arguments->config : CONFIG_FILE;
	GError *error = NULL;

	*settings = NULL;
	if (!arguments->config && access(path, F_OK) < 0)
		return true;
	*settings = ssa_settings_read(path, &error);
	if (!*settings)
		admin_fail(ADMIN_USAGE, error);
	return *settings != NULL;
}

static enum admin_status start(const struct arguments *arguments, int n, char **words)
{
	struct admin admin = {.store = arguments->store,
			      .json = arguments->json,
			      .core = arguments->core,
			      .count = (uint32_t)arguments->count,
			      .format = arguments->format ? arguments->format : "short"};
	struct ssa_settings *settings;
	enum admin_status status;

	if (!take_words(arguments, &admin) || !read_settings(arguments, &settings))
		return ADMIN_USAGE;
	admin.settings = settings;
	admin.snapshot = arguments->snapshot ? arguments->snapshot
			 : settings	     ? settings->snapshot
					     : SNAPSHOT_FILE;
	status = run(&admin, n, words);
	ssa_settings_free(settings);
	return status;
}

int main(int argc, char **argv)
{
	struct arguments a = {.count = 100};
	const GOptionEntry entries[] = {
		{"config", 'c', 0, G_OPTION_ARG_FILENAME, &a.config,
		 "configuration of opensm-ssa, instead of " CONFIG_FILE, "FILE"},
		{"snapshot", 's', 0, G_OPTION_ARG_FILENAME, &a.snapshot,
		 "snapshot, instead of " SNAPSHOT_FILE, "FILE"},
		{"store", 0, 0, G_OPTION_ARG_STRING, &a.store,
		 "take the whole epoch of this store instead of a snapshot", "URI"},
		{"core", 0, 0, G_OPTION_ARG_STRING, &a.core,
		 "Redis server of a core, instead of the first of the configuration", "URI"},
		{"recursion", 'r', 0, G_OPTION_ARG_STRING, &a.recursion,
		 "ping, stats, nodeinfo: also all nodes below (d) or above (u)", "d|u"},
		{"filter", 0, 0, G_OPTION_ARG_STRING, &a.filter,
		 "only nodes of that role: core, distrib, access or acm", "ROLE"},
		{"format", 'f', 0, G_OPTION_ARG_STRING, &a.format,
		 "of nodeinfo: full, short, conn, up or down", "FORMAT"},
		{"number", 'n', 0, G_OPTION_ARG_INT, &a.count,
		 "verify: that many ports; default 100", "NUMBER"},
		{"json", 'j', 0, G_OPTION_ARG_NONE, &a.json, "answer in JSON", NULL},
		{"version", 0, 0, G_OPTION_ARG_NONE, &a.version, "print the version and exit",
		 NULL},
		{NULL}};
	g_autoptr(GOptionContext) context = g_option_context_new("COMMAND");
	GError *error = NULL;
	enum admin_status status = ADMIN_DONE;

	g_option_context_set_summary(context, "Asks and explains the Scalable SA.");
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, &argc, &argv, &error))
		return admin_fail(ADMIN_USAGE, error);
	if (a.version)
		puts("ssadmin " PACKAGE_VERSION);
	else
		status = start(&a, argc - 1, argv + 1);
	g_free(a.config);
	g_free(a.snapshot);
	g_free(a.store);
	g_free(a.core);
	g_free(a.recursion);
	g_free(a.filter);
	g_free(a.format);
	return status;
}
