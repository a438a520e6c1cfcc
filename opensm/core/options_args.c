// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command line, read as getopt_long_only() does: --name, -name, unambiguous abbreviations of
 * both, --name=value, -x value, -xvalue and clusters of letters. Our own loop, because getopt keeps
 * its state in globals and writes to stderr.
 */
#include "core/options_private.h"

#include <inttypes.h>
#include <string.h>

/* A flag of the command line, from the three lists of options.def. */
struct flag {
	const char *name;
	char letter;
	bool argument;
	unsigned int id; /* as in struct option_given */
};

#define FLAG_COUNT (OPTION_COUNT + OPTION_ACTION_COUNT + option_alias_count)

/* False for a row of the table that has no flag. */
static bool flag_get(unsigned int index, struct flag *flag)
{
	if (index >= OPTION_COUNT + OPTION_ACTION_COUNT) {
		const struct option_alias *alias =
			&option_aliases[index - OPTION_COUNT - OPTION_ACTION_COUNT];

		*flag = (struct flag){alias->old, 0, !option_table[alias->id].preset, alias->id};
	} else if (index >= OPTION_COUNT) {
		const struct option_action *action = &option_actions[index - OPTION_COUNT];

		*flag = (struct flag){action->flag, action->letter, action->argument, index};
	} else {
		const struct option *option = &option_table[index];

		*flag = (struct flag){option->flag, option->letter, !option->preset, index};
	}
	return flag->name;
}

static bool find_letter(char letter, struct flag *flag)
{
	if (letter == '?')
		letter = 'h';
	for (unsigned int i = 0; i < FLAG_COUNT; i++)
		if (flag_get(i, flag) && flag->letter && flag->letter == letter)
			return true;
	return false;
}

enum match { MATCH_NONE, MATCH_ONE, MATCH_MANY };

/* Looks a name up, complete or abbreviated; candidates is set to all that it may mean. */
static enum match find_name(const char *name, size_t length, struct flag *found,
			    GString *candidates)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < FLAG_COUNT; i++) {
		struct flag flag;

		if (!flag_get(i, &flag) || strncmp(flag.name, name, length) != 0)
			continue;
		if (!flag.name[length]) {
			*found = flag;
			return MATCH_ONE;
		}
		g_string_append_printf(candidates, "%s--%s", n++ ? ", " : "", flag.name);
		*found = flag;
	}
	return n == 0 ? MATCH_NONE : n == 1 ? MATCH_ONE : MATCH_MANY;
}

struct splitter {
	char *const *argv;
	int argc;
	int next; /* index of the next argument */
	GArray *given;
	GError **error;
};

static bool G_GNUC_PRINTF(2, 3) fail(struct splitter *splitter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(splitter->error,
			  g_error_new_valist(OPTIONS_ERROR, OPTIONS_ERROR_USAGE, format, args));
	va_end(args);
	return false;
}

/* value: attached to the flag, or NULL. */
static bool add(struct splitter *splitter, const struct flag *flag, const char *value)
{
	struct option_given given = {flag->id, value};

	if (value && !flag->argument)
		return fail(splitter, "%s: takes no value", flag->name);
	if (flag->argument && !value) {
		if (splitter->next >= splitter->argc)
			return fail(splitter, "%s: needs a value", flag->name);
		given.value = splitter->argv[splitter->next++];
	}
	g_array_append_val(splitter->given, given);
	return true;
}

static bool unknown(struct splitter *splitter, const char *text)
{
	g_autofree char *shown = option_printable(text);
	const char *nearest = option_nearest(text + strspn(text, "-"), true);

	if (nearest)
		return fail(splitter, "unknown option '%s'; did you mean --%s?", shown, nearest);
	return fail(splitter, "unknown option '%s'; --help lists them", shown);
}

static bool split_letters(struct splitter *splitter, const char *text)
{
	for (const char *p = text + 1; *p; p++) {
		struct flag flag;

		if (!find_letter(*p, &flag))
			return unknown(splitter, text);
		if (flag.argument)
			return add(splitter, &flag, p[1] ? p + 1 : NULL);
		if (!add(splitter, &flag, NULL))
			return false;
	}
	return true;
}

static bool split_option(struct splitter *splitter, const char *text)
{
	bool dashes = text[1] == '-';
	const char *name = text + 1 + dashes;
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	g_autoptr(GString) candidates = g_string_new(NULL);
	struct flag flag;

	/* A single letter is a letter, even if only one name begins with it. */
	if (!dashes && !name[1] && find_letter(name[0], &flag))
		return split_letters(splitter, text);
	switch (length ? find_name(name, length, &flag, candidates) : MATCH_NONE) {
	case MATCH_ONE:
		return add(splitter, &flag, value);
	case MATCH_MANY: {
		g_autofree char *shown = option_printable(text);

		return fail(splitter, "'%s' is short for several options: %s", shown,
			    candidates->str);
	}
	default:
		return dashes ? unknown(splitter, text) : split_letters(splitter, text);
	}
}

GArray *options_args_split(int argc, char *const *argv, GError **error)
{
	struct splitter splitter = {argv, argc, 1, NULL, error};
	bool good = true;

	splitter.given = g_array_new(FALSE, FALSE, sizeof(struct option_given));
	while (good && splitter.next < argc) {
		const char *text = argv[splitter.next++];

		if (strcmp(text, "--") == 0 && splitter.next == argc)
			break;
		if (text[0] == '-' && text[1] && strcmp(text, "--") != 0) {
			good = split_option(&splitter, text);
		} else {
			g_autofree char *shown = option_printable(text);

			good = fail(&splitter, "stray argument '%s'; --help lists the options",
				    shown);
		}
	}
	if (good)
		return splitter.given;
	g_array_unref(splitter.given);
	return NULL;
}

/* ---- applying them ---- */

static void set_bool(struct options *options, enum option_id id, bool value)
{
	*(bool *)option_field(options, id) = value;
	options->source[id] = OPTION_FROM_COMMAND;
}

static void set_log_flags(struct options *options, unsigned int flags)
{
	options->log_flags = (uint8_t)flags;
	options->source[OPTION_log_flags] = OPTION_FROM_COMMAND;
}

static bool apply_debug(struct options *options, const char *value, GPtrArray *warnings,
			GError **error)
{
	g_autofree char *shown = option_printable(value);
	static const int ids[] = {OPTION_ignore_other_sm, OPTION_single_thread,
				  OPTION_force_log_flush, OPTION_disable_multicast};

	if (strcmp(value, "5") == 0 || strcmp(value, "10") == 0) {
		options_warn(warnings, "debug: %s has no effect", value);
		return true;
	}
	if (value[0] >= '0' && value[0] <= '3' && !value[1]) {
		set_bool(options, (enum option_id)ids[value[0] - '0'], true);
		return true;
	}
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE,
		    "debug: '%s' is not one of 0, 1, 2, 3, 5, 10", shown);
	return false;
}

static bool apply_action(struct options *options, unsigned int action, const char *value,
			 GPtrArray *warnings, GError **error)
{
	switch (action) {
	case OPTION_ACTION_verbose:
		set_log_flags(options, options->log_flags << 1 | 1);
		return true;
	case OPTION_ACTION_all:
		set_log_flags(options, 0xFF);
		set_bool(options, OPTION_force_log_flush, true);
		return true;
	case OPTION_ACTION_debug:
		return apply_debug(options, value, warnings, error);
	default:
		/* help and version were handled before */
		return true;
	}
}

static bool apply_option(struct options *options, enum option_id id, const char *value,
			 GError **error)
{
	const struct option *option = &option_table[id];
	g_autofree char *mistake = NULL;

	if (option->preset)
		value = option->preset;
	if (!*value)
		mistake = g_strdup("the value is empty");
	else
		mistake = option_parse(option, option_field(options, id), value, true);
	if (mistake) {
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE, "%s: %s", option->flag,
			    mistake);
		return false;
	}
	options->source[id] = OPTION_FROM_COMMAND;
	return true;
}

/* Reports all errors at once. */
bool options_args_apply(struct options *options, const GArray *given, GPtrArray *warnings,
			GError **error)
{
	GError *all = NULL;

	for (unsigned int i = 0; i < given->len; i++) {
		const struct option_given *one = &g_array_index(given, struct option_given, i);
		GError *why = NULL;

		if (one->id < OPTION_COUNT)
			apply_option(options, (enum option_id)one->id, one->value, &why);
		else
			apply_action(options, one->id - OPTION_COUNT, one->value, warnings, &why);
		options_add_error(&all, why);
	}
	if (all)
		g_propagate_error(error, all);
	return !all;
}

/* ---- the given options, in the classic daemon's words ---- */

/* The text for an option with this flag; others are shown by their flag. */
static const struct words {
	enum option_id id;
	const char *text; /* before the value; without a value, all of it */
	const char *end;
} classic_words[] = {
	{OPTION_config, "Config file is `", "':"},
	{OPTION_guid, "Guid <", ">"},
	{OPTION_lmc, "LMC = ", ""},
	{OPTION_sm_priority, "Priority = ", ""},
	{OPTION_sweep_interval, "sweep interval = ", ""},
	{OPTION_routing_engine, "Activate '", "' routing engine(s)"},
	{OPTION_transaction_timeout, "Transaction timeout = ", ""},
	{OPTION_transaction_retries, "Transaction retries = ", ""},
	{OPTION_max_wire_smps, "Max wire smp's = ", ""},
	{OPTION_port_prof_ignore_file, "Ignore Guids File = ", ""},
	{OPTION_hop_weights_file, "Hop Weights File = ", ""},
	{OPTION_root_guid_file, "Root Guid File: ", ""},
	{OPTION_cn_guid_file, "Compute Node Guid File: ", ""},
	{OPTION_io_guid_file, "I/O Node Guid File: ", ""},
	{OPTION_ids_guid_file, "IDs Guid File: ", ""},
	{OPTION_guid_routing_order_file, "GUID Routing Order File: ", ""},
	{OPTION_max_reverse_hops, "Max Reverse Hops: ", ""},
	{OPTION_lash_start_vl, "LASH starting VL = ", ""},
	{OPTION_nue_max_num_vls, "Nue maximum #VLs = ", ""},
	{OPTION_sm_sl, "SMSL = ", ""},
	{OPTION_subnet_prefix, "Subnet_Prefix = <", ">"},
	{OPTION_log_flags, "verbose option -D = ", ""},
	{OPTION_log_file, "Log File: ", ""},
	{OPTION_lfts_file, "LFTs file is '", "'"},
	{OPTION_sa_db_file, "SA DB file is '", "'"},
	{OPTION_qos_policy_file, "QoS policy file '", "'"},
	{OPTION_accum_log_file, "Creating new log file", NULL},
	{OPTION_connect_roots, "Connect roots option is on", NULL},
	{OPTION_port_shifting, "Port Shifting is on", NULL},
	{OPTION_reassign_lids, "Reassign LIDs", NULL},
	{OPTION_once, "Run Once", NULL},
	{OPTION_daemon, "Daemon mode", NULL},
	{OPTION_sm_inactive, "SM started in inactive state", NULL},
};

/* Keys are never shown. */
static char *text_of(const struct options *options, enum option_id id)
{
	const struct option *option = &option_table[id];

	if (option_is_secret(option))
		return g_strdup("...");
	if (option->kind == OPTION_KIND_HEX64) /* without leading zeros */
		return g_strdup_printf("0x%" PRIx64,
				       *(const uint64_t *)option_field(options, id));
	return options_text(options, id);
}

static void tell_option(GString *out, const struct options *options, enum option_id id)
{
	const struct option *option = &option_table[id];
	const struct words *words = NULL;
	g_autofree char *value = text_of(options, id);

	for (unsigned int i = 0; i < G_N_ELEMENTS(classic_words) && !words; i++)
		if (classic_words[i].id == id)
			words = &classic_words[i];
	if (words)
		g_string_append_printf(out, " %s%s%s\n", words->text, words->end ? value : "",
				       words->end ? words->end : "");
	else if (option->preset)
		g_string_append_printf(out, " %s\n", option->flag);
	else
		g_string_append_printf(out, " %s = %s\n", option->flag, value);
}

static void tell_action(GString *out, const struct options *options, unsigned int action,
			const char *value)
{
	if (action == OPTION_ACTION_verbose)
		g_string_append_printf(out, " Verbose option -v (log flags = 0x%X)\n",
				       options->log_flags);
	else if (action == OPTION_ACTION_all)
		g_string_append(out, " Big V selected\n");
	else
		g_string_append_printf(out, " d level = %s\n", value ? value : "");
}

char *options_tell_given(const struct options *options)
{
	g_autoptr(GArray) given =
		options_args_split((int)g_strv_length(options->argv), options->argv, NULL);
	GString *out = g_string_new("Command Line Arguments:\n");

	for (unsigned int i = 0; given && i < given->len; i++) {
		const struct option_given *one = &g_array_index(given, struct option_given, i);

		if (one->id < OPTION_COUNT)
			tell_option(out, options, (enum option_id)one->id);
		else
			tell_action(out, options, one->id - OPTION_COUNT, one->value);
	}
	return g_string_free(out, FALSE);
}
