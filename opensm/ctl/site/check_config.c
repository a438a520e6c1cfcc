// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of a start, read one by one, so that a wrong file does not hide mistakes in the next.
 */
#include "ctl/site/check_config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cc/values.h"
#include "ctl/base/cache.h"
#include "ctl/base/problem.h"
#include "ctl/console/console.h"
#include "ctl/console/console_key.h"
#include "ctl/console/console_tls.h"
#include "ctl/process/guarded_options.h"
#include "ctl/site/site_policy.h"
#include "policy/files/route_files.h"
#include "policy/partition/partition_file.h"
#include "route/registry.h"

/* Problems found so far: texts in the form of ctl/base/problem.h. */
struct check {
	const struct options *options;
	GPtrArray *errors, *warnings;
};

/* ---- the place of a problem ---- */

/* The option that a text names first, "OPTION: "; OPTION_COUNT: none. */
static unsigned int option_of(const char *text)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		size_t length = strlen(options_name(id));

		if (!strncmp(text, options_name(id), length) && text[length] == ':' &&
		    text[length + 1] == ' ')
			return id;
	}
	return OPTION_COUNT;
}

/* Whether the text already names a place in a file. */
static bool has_place(const char *text)
{
	return g_regex_match_simple("^(\\w+: )?[^:]+:[0-9]+:", text, G_REGEX_RAW,
				    (GRegexMatchFlags)0);
}

/* Adds the line of opensm.conf with the option, if the text names no place. */
static void note_line(const struct check *check, GPtrArray *list, const char *text)
{
	unsigned int id = has_place(text) ? OPTION_COUNT : option_of(text);

	if (id < OPTION_COUNT && check->options &&
	    options_source(check->options, id) == OPTION_FROM_FILE) {
		g_autofree char *place = options_origin(check->options, id);

		g_ptr_array_add(list, g_strdup_printf("%s: %s", place, text));
	} else {
		g_ptr_array_add(list, g_strdup(text));
	}
}

static void note_lines(const struct check *check, GPtrArray *list, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++)
		if (*lines[i])
			note_line(check, list, lines[i]);
}

/* Takes over error; NULL: there is none. */
static void note_error(struct check *check, GError *error)
{
	if (!error)
		return;
	note_lines(check, check->errors, error->message);
	g_error_free(error);
}

/* As note_error(), for a file that an option names. */
static void note_file_error(struct check *check, enum option_id id, GError *error)
{
	if (error && !has_place(error->message) && option_of(error->message) == OPTION_COUNT)
		g_prefix_error(&error, "%s: ", options_name(id));
	note_error(check, error);
}

static void note_warnings(struct check *check, const GPtrArray *texts)
{
	for (guint i = 0; texts && i < texts->len; i++)
		note_lines(check, check->warnings, texts->pdata[i]);
}

G_GNUC_PRINTF(3, 4)
static void warn_of(struct check *check, enum option_id id, const char *format, ...)
{
	g_autofree char *text = NULL, *named = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	named = g_strdup_printf("%s: %s", options_name(id), text);
	note_line(check, check->warnings, named);
}

static bool is_default(const struct options *options, enum option_id id)
{
	struct options *defaults = options_new();
	bool same = options_same(options, defaults, id);

	options_unref(defaults);
	return same;
}

/* ---- engines ---- */

/* Sets the error, with the line of the file that names the engines, if there is one. */
static bool refuse_engines(const struct options *options, const char *why, GError **error)
{
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNKNOWN_ENGINE, "routing_engine: %s", why);
	if (options_source(options, OPTION_routing_engine) == OPTION_FROM_FILE) {
		g_autofree char *place = options_origin(options, OPTION_routing_engine);

		g_prefix_error(error, "%s: ", place);
	}
	return false;
}

static bool refuse_unknown(const struct options *options, struct route_registry *engines,
			   const GPtrArray *unknown, GError **error)
{
	g_autoptr(GPtrArray) known = route_registry_engines(engines);
	g_autoptr(GString) why = g_string_new(NULL);

	for (guint i = 0; i < unknown->len; i++)
		g_string_append_printf(why, "%s%s", i ? ", " : "there is no engine ",
				       (const char *)unknown->pdata[i]);
	g_string_append(why, ", expected a list of");
	for (guint i = 0; i < known->len; i++)
		g_string_append_printf(why, " %s,",
				       ((const struct route_engine *)known->pdata[i])->name);
	g_string_append(why, " or no_fallback");
	return refuse_engines(options, why->str, error);
}

/* Names in the list that no engine has. */
static GPtrArray *unknown_engines(const struct options *options, struct route_registry *engines)
{
	const char *list = options->routing_engine ? options->routing_engine : "";
	g_auto(GStrv) names = g_strsplit_set(list, ", ", -1);
	GPtrArray *unknown = g_ptr_array_new_with_free_func(g_free);

	for (unsigned int i = 0; names[i]; i++)
		if (*names[i] && strcmp(names[i], "no_fallback") != 0 &&
		    !route_registry_find(engines, names[i]))
			g_ptr_array_add(unknown, g_strdup(names[i]));
	return unknown;
}

static bool names_plugins(const struct options *options)
{
	return options->event_plugin_name && *options->event_plugin_name;
}

bool check_config_engines(const struct options *options, struct route_registry *engines,
			  GError **error)
{
	g_auto(GStrv) names =
		g_strsplit_set(options->routing_engine ? options->routing_engine : "", ", ", -1);
	g_autoptr(GPtrArray) unknown = unknown_engines(options, engines);
	bool fallback = true, usable = false;

	for (unsigned int i = 0; names[i]; i++) {
		if (!strcmp(names[i], "no_fallback"))
			fallback = false;
		else
			usable |= *names[i] != '\0';
	}
	if (unknown->len && (engines || !names_plugins(options)))
		return refuse_unknown(options, engines, unknown, error);
	return fallback || usable ||
	       refuse_engines(options, "names no engine, and no_fallback forbids others", error);
}

/* ---- files ---- */

/* Takes over error; notes it with the option that names the file. */
static void note_site_error(struct check *check, enum daemon_files files, GError *error)
{
	static const enum option_id options[DAEMON_FILES] = {
		[DAEMON_ROUTE_FILES] = OPTION_COUNT,
		[DAEMON_PARTITIONS] = OPTION_partition_config_file,
		[DAEMON_QOS] = OPTION_qos_policy_file,
		[DAEMON_PREFIX_ROUTES] = OPTION_prefix_routes_file,
		[DAEMON_PORTS_POLICY] = OPTION_hm_ports_health_policy_file,
		[DAEMON_NODE_NAMES] = OPTION_node_name_map_name,
		[DAEMON_MODULES] = OPTION_per_module_logging_file,
		[DAEMON_PERF_RULES] = OPTION_perfmgr_rules_file,
	};

	if (options[files] < OPTION_COUNT)
		note_file_error(check, options[files], error);
	else
		note_error(check, error);
}

/* QoS stays on without a policy if the file is missing. */
static void check_qos(struct check *check)
{
	const char *file = daemon_qos_file(check->options);

	if (file && is_default(check->options, OPTION_qos_policy_file) && access(file, F_OK) != 0)
		warn_of(check, OPTION_qos, "TRUE, but the policy file %s cannot be read: %s", file,
			g_strerror(errno));
}

/* A file that is not used is an error, even if the start goes on without it. */
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
			note_lines(check, check->warnings, source.note);
		if (source.instead)
			g_set_error_literal(&error, PARTITION_ERROR, PARTITION_ERROR_FILE,
					    source.instead);
		note_site_error(check, i, error);
		if (object)
			kind->put(object);
		g_free(source.note);
		g_free(source.instead);
	}
}

/* file NULL: no key is required. */
static void check_key(struct check *check, const char *option, const char *file)
{
	GError *error = NULL;

	if (file)
		console_key_free(console_key_load(option, file, &error));
	note_error(check, error);
}

/* The daemon starts without TLS files, but then has no TCP console. */
static void check_tls(struct check *check)
{
	g_autoptr(GError) error = NULL;

	if (check->options->console != CONSOLE_SOCKET)
		return;
	if (!check->options->console_key_file)
		warn_of(check, OPTION_console,
			"socket without console_key_file: the console only listens on this host");
	if (console_tls_is_wanted(check->options))
		console_tls_free(console_tls_new(check->options, &error));
	if (error)
		note_lines(check, check->warnings, error->message);
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
	g_autoptr(GPtrArray) unknown = unknown_engines(check->options, NULL);
	GError *error = NULL;

	check_config_engines(check->options, NULL, &error);
	for (guint i = 0; !error && i < unknown->len; i++)
		warn_of(check, OPTION_routing_engine,
			"%s is not built in, and is refused at the start unless a plug-in of "
			"event_plugin_name has an engine of that name",
			(const char *)unknown->pdata[i]);
	note_error(check, error);
}

/* 0, or why a file of this name could not be opened for writing; does not create it. */
static int writing_fails(const char *file)
{
	g_autofree char *parent = g_path_get_dirname(file);
	g_autofree char *directory = g_strconcat(parent, "/", NULL);

	if (g_file_test(file, G_FILE_TEST_IS_DIR))
		return EISDIR;
	if (!access(file, F_OK))
		return access(file, W_OK) ? errno : 0;
	return errno != ENOENT || access(directory, W_OK | X_OK) ? errno : 0;
}

/* The user who checks may not be the one that the daemon will run as. */
static void check_log_file(struct check *check)
{
	static const char *const streams[] = {"stdout", "stderr", "syslog", NULL};
	const struct options *options = check->options;
	const char *file = options->log_file;
	GError *error = NULL;
	int err;

	if (g_strv_contains(streams, file) ||
	    (options->sim && options_source(options, OPTION_log_file) == OPTION_FROM_DEFAULT))
		return;
	err = writing_fails(file);
	if (err == EACCES && geteuid()) {
		warn_of(check, OPTION_log_file, "%s cannot be written by this user: %s", file,
			g_strerror(err));
	} else if (err) {
		g_set_error(&error, G_FILE_ERROR, g_file_error_from_errno(err),
			    "log_file: cannot open log file %s: %s", file, g_strerror(err));
		note_error(check, error);
	}
}

static void check_dump_files_dir(struct check *check)
{
	const char *directory = check->options->dump_files_dir;
	g_autofree char *inside = g_build_filename(directory ? directory : "", "x", NULL);
	int err = directory ? writing_fails(inside) : 0;

	if (err)
		warn_of(check, OPTION_dump_files_dir, "no dump can be written into %s: %s",
			directory, g_strerror(err));
}

/* ---- keys without effect ---- */

static bool has_no_tcp(const struct options *options)
{
	return options->console != CONSOLE_LOOPBACK && options->console != CONSOLE_SOCKET;
}

static bool has_no_socket(const struct options *options)
{
	return options->console != CONSOLE_SOCKET;
}

static bool has_one_key(const struct options *options)
{
	return !options->m_key_per_port;
}

static bool derives_no_key(const struct options *options)
{
	return !options->m_key_per_port && options->cc_key_mode != CC_KEY_PER_PORT;
}

static bool has_no_key(const struct options *options)
{
	return !options->m_key && !options->m_key_per_port;
}

static bool has_no_qos(const struct options *options)
{
	return !options->qos;
}

static bool trusts_all(const struct options *options)
{
	return !options->sa_enhanced_trust_model;
}

static bool keeps_groups_apart(const struct options *options)
{
	return !options->consolidate_ipv6_snm_req;
}

static bool has_no_control(const struct options *options)
{
	return !options->control_socket;
}

/* Options that matter only with another option, or only for some engines. */
static bool has_one_limit(const struct options *options)
{
	return !options->max_wire_smps || options->max_wire_smps2 <= options->max_wire_smps;
}

static bool sets_ports_singly(const struct options *options)
{
	return !options->use_optimized_slvl;
}

static bool lets_congest(const struct options *options)
{
	return !options->congestion_control;
}

static bool takes_other_values(const struct options *options)
{
	return !options->congestion_control || options->cc_profile != CC_CLASSIC;
}

static bool takes_classic_values(const struct options *options)
{
	return !options->congestion_control || options->cc_profile == CC_CLASSIC;
}

static bool gives_no_key(const struct options *options)
{
	return !options->congestion_control || options->cc_key_mode == CC_KEY_SEND;
}

static bool rotates_no_key(const struct options *options)
{
	return !options->congestion_control || options->cc_key_mode != CC_KEY_PER_PORT;
}

static bool has_no_plugins(const struct options *options)
{
	return !options->event_plugin_name;
}

#define NO_PLUGINS "event_plugin_name is not set"
#define NOT_CLASSIC "congestion_control is FALSE, or cc_profile is not classic"

static const struct dependence {
	enum option_id id;
	const char *engines; /* NULL: only is_off decides */
	bool (*is_off)(const struct options *options);
	const char *why;
} dependences[] = {
	{OPTION_cn_guid_file, "ftree dfsssp sssp", NULL, NULL},
	{OPTION_io_guid_file, "ftree dfsssp sssp", NULL, NULL},
	{OPTION_quasi_ftree_indexing, "ftree", NULL, NULL},
	{OPTION_lfts_file, "file", NULL, NULL},
	{OPTION_lid_matrix_dump_file, "file", NULL, NULL},
	{OPTION_torus_config, "torus-2QoS", NULL, NULL},
	{OPTION_do_mesh_analysis, "lash", NULL, NULL},
	{OPTION_lash_start_vl, "lash", NULL, NULL},
	{OPTION_nue_max_num_vls, "nue", NULL, NULL},
	{OPTION_long_transaction_timeout, NULL, sets_ports_singly, "use_optimized_slvl is FALSE"},
	{OPTION_max_smps_timeout, NULL, has_one_limit, "max_wire_smps2 is not above max_wire_smps"},
	{OPTION_qos_policy_file, NULL, has_no_qos, "qos is FALSE"},
	{OPTION_event_plugin_options, NULL, has_no_plugins, NO_PLUGINS},
	{OPTION_event_plugin_process, NULL, has_no_plugins, NO_PLUGINS},
	{OPTION_event_plugin_required, NULL, has_no_plugins, NO_PLUGINS},
	{OPTION_console_port, NULL, has_no_tcp, "console is neither loopback nor socket"},
	{OPTION_console_key_file, NULL, has_no_tcp,
	 "console is neither loopback nor socket"},
	{OPTION_console_tls_cert, NULL, has_no_socket, "console is not socket"},
	{OPTION_console_tls_key, NULL, has_no_socket, "console is not socket"},
	{OPTION_console_tls_ca, NULL, has_no_socket, "console is not socket"},
	{OPTION_control_group, NULL, has_no_control, "there is no control_socket"},
	{OPTION_m_key_seed_file, NULL, derives_no_key,
	 "m_key_per_port is FALSE, and cc_key_mode is not per_port"},
	{OPTION_m_key_update_interval, NULL, has_one_key, "m_key_per_port is FALSE"},
	{OPTION_m_key_protection_level, NULL, has_no_key, "m_key is 0"},
	{OPTION_m_key_lease_period, NULL, has_no_key, "m_key is 0"},
	{OPTION_consolidate_ipv6_snm_mlids, NULL, keeps_groups_apart,
	 "consolidate_ipv6_snm_req is FALSE"},
	{OPTION_sa_etm_allow_untrusted_guidinfo_rec, NULL, trusts_all,
	 "sa_enhanced_trust_model is FALSE"},
	{OPTION_sa_etm_allow_untrusted_proxy_requests, NULL, trusts_all,
	 "sa_enhanced_trust_model is FALSE"},
	{OPTION_sa_etm_max_num_mcgs, NULL, trusts_all, "sa_enhanced_trust_model is FALSE"},
	{OPTION_sa_etm_max_num_srvcs, NULL, trusts_all, "sa_enhanced_trust_model is FALSE"},
	{OPTION_sa_etm_max_num_event_subs, NULL, trusts_all, "sa_enhanced_trust_model is FALSE"},
	{OPTION_cc_profile, NULL, lets_congest, "congestion_control is FALSE"},
	{OPTION_cc_key_mode, NULL, lets_congest, "congestion_control is FALSE"},
	{OPTION_cc_log_poll, NULL, lets_congest, "congestion_control is FALSE"},
	{OPTION_cc_hosts, NULL, takes_classic_values,
	 "congestion_control is FALSE, or cc_profile is classic"},
	{OPTION_cc_key_lease_period, NULL, gives_no_key,
	 "congestion_control is FALSE, or cc_key_mode is send"},
	{OPTION_cc_key_protect_bit, NULL, gives_no_key,
	 "congestion_control is FALSE, or cc_key_mode is send"},
	{OPTION_cc_key_update_interval, NULL, rotates_no_key,
	 "congestion_control is FALSE, or cc_key_mode is not per_port"},
	{OPTION_cc_sw_cong_setting_control_map, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_sw_cong_setting_victim_mask, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_sw_cong_setting_credit_mask, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_sw_cong_setting_threshold, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_sw_cong_setting_packet_size, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_sw_cong_setting_credit_starvation_threshold, NULL, takes_other_values,
	 NOT_CLASSIC},
	{OPTION_cc_sw_cong_setting_credit_starvation_return_delay, NULL, takes_other_values,
	 NOT_CLASSIC},
	{OPTION_cc_sw_cong_setting_marking_rate, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_ca_cong_setting_port_control, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_ca_cong_setting_control_map, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_ca_cong_setting_ccti_timer, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_ca_cong_setting_ccti_increase, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_ca_cong_setting_trigger_threshold, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_ca_cong_setting_ccti_min, NULL, takes_other_values, NOT_CLASSIC},
	{OPTION_cc_cct, NULL, takes_other_values, NOT_CLASSIC},
};

static bool names_one_of(const char *engines, const char *wanted)
{
	g_auto(GStrv) named = g_strsplit_set(engines ? engines : "", ", ", -1);
	g_auto(GStrv) names = g_strsplit(wanted, " ", -1);

	for (unsigned int i = 0; names[i]; i++)
		if (g_strv_contains((const char *const *)named, names[i]))
			return true;
	return false;
}

static void check_effects(struct check *check)
{
	const struct options *options = check->options;

	for (unsigned int i = 0; i < G_N_ELEMENTS(dependences); i++) {
		const struct dependence *on = &dependences[i];

		if (is_default(options, on->id))
			continue;
		if (on->engines && !names_one_of(options->routing_engine, on->engines))
			warn_of(check, on->id, "has no effect, as routing_engine does not list %s",
				on->engines);
		else if (on->is_off && on->is_off(options))
			warn_of(check, on->id, "has no effect, as %s", on->why);
	}
}

static void check_long_timeout(struct check *check)
{
	const struct options *options = check->options;

	if (!is_default(options, OPTION_long_transaction_timeout) &&
	    options->long_transaction_timeout < options->transaction_timeout)
		warn_of(check, OPTION_long_transaction_timeout,
			"%u ms is less than transaction_timeout: %u ms is used",
			options->long_transaction_timeout, options->transaction_timeout);
}

static void check_perfmgr(struct check *check)
{
	const struct options *options = check->options;

	if (!options->perfmgr_sweep_time_s)
		warn_of(check, OPTION_perfmgr_sweep_time_s, "0: 180 s is used");
	if (!options->perfmgr_max_outstanding_queries)
		warn_of(check, OPTION_perfmgr_max_outstanding_queries, "0: 500 is used");
}

/* The number of hosts is not known here, so a table that is too flat for them is not noticed. */
static void check_congestion(struct check *check)
{
	g_autofree struct cc_values *values = g_new0(struct cc_values, 1);
	g_autoptr(GPtrArray) texts = NULL;

	cc_values_make(check->options, &(struct cc_size){0}, values);
	texts = cc_values_warnings(check->options, values);
	for (guint i = 0; i < texts->len; i++)
		warn_of(check, OPTION_congestion_control, "%s", (const char *)texts->pdata[i]);
}

/* ---- all ---- */

static void check_files(struct check *check)
{
	check_log_file(check);
	check_dump_files_dir(check);
	check_effects(check);
	check_long_timeout(check);
	check_perfmgr(check);
	check_congestion(check);
	check_engines(check);
	check_guards(check);
	check_site(check);
	check_qos(check);
	check_key(check, "replication_key_file", check->options->replication_key_file);
	check_key(check, "console_key_file", console_key_file(check->options));
	check_tls(check);
	if (options_console_is_open(check->options))
		note_line(check, check->warnings,
			  "console: without console_key_file any user of this host may read the "
			  "state of the subnet by TCP; only root and the user of the daemon may "
			  "change anything");
}

static void check_all(struct check *check, const GError *error, const GPtrArray *warnings)
{
	note_error(check, error ? g_error_copy(error) : NULL);
	note_warnings(check, warnings);
	if (check->options)
		check_files(check);
}

static char *as_json(const struct check *check)
{
	g_autoptr(GVariant) told = NULL;
	GVariantBuilder answer, errors, warnings;

	answer_begin_list(&errors);
	answer_begin_list(&warnings);
	problem_add_all(&errors, PROBLEM_ERROR, check->errors);
	problem_add_all(&warnings, PROBLEM_WARNING, check->warnings);
	answer_begin(&answer);
	answer_flag(&answer, "good", !check->errors->len);
	answer_member(&answer, "errors", &errors);
	answer_member(&answer, "warnings", &warnings);
	told = g_variant_ref_sink(g_variant_builder_end(&answer));
	return g_strchomp(answer_json(told)); /* without the final newline */
}

static char *as_text(const struct check *check)
{
	g_autoptr(GString) text = g_string_new(NULL);

	problem_write_all(text, PROBLEM_ERROR, check->errors);
	problem_write_all(text, PROBLEM_WARNING, check->warnings);
	g_string_append_printf(text, "%s: %u error%s, %u warning%s",
			       check->errors->len ? "opensm does not start" : "opensm starts",
			       check->errors->len, check->errors->len == 1 ? "" : "s",
			       check->warnings->len, check->warnings->len == 1 ? "" : "s");
	return g_string_free(g_steal_pointer(&text), FALSE);
}

char *check_config(const struct options *options, const GError *error, const GPtrArray *warnings,
		   bool json, bool *good)
{
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) doubts = g_ptr_array_new_with_free_func(g_free);
	struct check check = {options, errors, doubts};

	check_all(&check, error, warnings);
	*good = !errors->len;
	return json ? as_json(&check) : as_text(&check);
}

/* Whether a reported line is this one, apart from its place. */
static bool is_among(const char *text, char **lines)
{
	for (; *lines; lines++)
		if (g_str_has_suffix(text, *lines))
			return true;
	return false;
}

char *check_config_others(const struct options *options, const GError *error)
{
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) doubts = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) told = g_strsplit(error->message, "\n", -1);
	struct check check = {options, errors, doubts};
	GString *others = g_string_new(NULL);

	check_all(&check, NULL, NULL);
	for (guint i = 0; i < errors->len; i++)
		if (!is_among(errors->pdata[i], told))
			g_string_append_printf(others, "%s\n", (const char *)errors->pdata[i]);
	return g_string_free(others, FALSE);
}

/* ---- while it runs ---- */

/* Checks files of routing options that have new names, or are for other engines. */
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

/* Key files are read only at a start, but a running daemon reports now that they are gone. */
static bool check_keys(const struct options *options, GError **error)
{
	const struct {
		const char *option, *file; /* NULL: none is required */
	} keys[] = {
		{"replication_key_file", options->replication_key_file},
		{"console_key_file", console_key_file(options)},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(keys); i++) {
		char *key = keys[i].file ? console_key_load(keys[i].option, keys[i].file, error)
					 : NULL;

		if (keys[i].file && !key)
			return false;
		console_key_free(key);
	}
	return true;
}

bool check_config_restart(const struct options *options, const struct options *before,
			  GError **error)
{
	return check_config_engines(options, NULL, error) &&
	       check_other_routes(options, before, error) && check_keys(options, error);
}

bool check_config_again(const struct options *options, const struct options *before,
			GError **error)
{
	return guarded_options_check(options, before, error) &&
	       check_config_restart(options, before, error);
}
