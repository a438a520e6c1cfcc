// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See guarded_options.h. The file has a checksum in its first line, and one line for each thing
 * that must be present again: the name of a guarded option, or a word and the name of an
 * opensm.conf. A damaged file counts as if m_key had been in use.
 */
#include "ctl/process/guarded_options.h"

#include <complib/file.h>
#include <string.h>

#define FIRST_WORDS "# opensm options that guard the subnet, in use at the last start, sha256 "
#define HAS_KEYS "keys " /* that file has options */
#define HAS_END "end "	 /* its last line has a line end */
#define SIZE_MAX_KEPT 65536

/*
 * Options without which the daemon runs but admits or trusts more than with them. Not included are
 * limits whose default differs from their set value, such as sa_max_groups, and options whose
 * default is the stricter one, such as part_enforce.
 */
static const struct guard {
	enum option_id id;
	const char *without;
} guards[] = {
	{OPTION_m_key, "any host may set ports and tables"},
	{OPTION_m_key_per_port, "the M_Key of one port opens all ports"},
	{OPTION_m_key_protection_level, "ports disclose their M_Key to any host"},
	{OPTION_m_key_update_interval, "an M_Key that a host has learnt stays valid"},
	{OPTION_sm_key, "an SM with the well-known default key is accepted"},
	{OPTION_sa_key, "a request with the well-known default key is trusted"},
	{OPTION_allowed_sm_guids, "any SM may take over the subnet"},
	{OPTION_sm_inactive, "this SM takes part in the election"},
	{OPTION_partition_config_file, "the partitions come from another file, or there are none"},
	{OPTION_disconnect_unconfigured_endports,
	 "ports can reach all others unless partitions forbid it"},
	{OPTION_hm_ports_health_policy_file, "ports that misbehave stay in the subnet"},
	{OPTION_babbling_port_policy, "ports that keep sending traps stay in the subnet"},
	{OPTION_sa_enhanced_trust_model, "hosts can query ports that are not their own"},
	{OPTION_sa_rate_threshold, "a host may ask the SA as often as it can"},
	{OPTION_console_key_file, "any user of the host may read the state of the subnet"},
	{OPTION_console_tls_cert, "the console is not encrypted"},
	{OPTION_console_tls_ca, "clients of the console need no certificate"},
};

/* Whether the other options make this one unnecessary: ports have one common M_Key, or one each. */
static bool is_replaced(const struct options *now, enum option_id id)
{
	switch (id) {
	case OPTION_m_key:
		return now->m_key_per_port;
	case OPTION_m_key_per_port:
		return now->m_key != 0;
	case OPTION_m_key_protection_level:
		return !now->m_key && !now->m_key_per_port;
	case OPTION_m_key_update_interval:
		return !now->m_key_per_port;
	case OPTION_console_key_file:
		return now->console != CONSOLE_LOOPBACK && now->console != CONSOLE_SOCKET;
	case OPTION_console_tls_cert:
	case OPTION_console_tls_ca:
		return now->console != CONSOLE_SOCKET;
	default:
		return false;
	}
}

static bool is_in_use(const struct options *options, enum option_id id)
{
	return options_source(options, id) == OPTION_FROM_FILE && options_is_named(options, id);
}

static bool is_dropped(const struct options *now, enum option_id id)
{
	return options_source(now, id) == OPTION_FROM_DEFAULT && !is_replaced(now, id);
}

static bool has_keys(const struct options *options)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (options_source(options, id) == OPTION_FROM_FILE)
			return true;
	return false;
}

static bool refuse(const struct options *now, const struct guard *guard, const char *since,
		   GError **error)
{
	g_autofree char *text = options_text(now, guard->id);
	const char *name = options_name(guard->id);

	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
		    "%s: %s is missing, which was in use %s, and without it %s: expected it, or "
		    "'%s %s' to go without it on purpose",
		    now->file, name, since, guard->without, name, text);
	return false;
}

/* For a file that had keys, or a last line with an end: detects that it is cut off. */
static bool check_whole(const struct options *now, bool had_keys, bool had_end, GError **error)
{
	const char *wrong = NULL;

	if (had_keys && !has_keys(now))
		wrong = "it no longer sets any option: expected some, or the options with their "
			"default values";
	else if (had_end && options_file_is_cut(now))
		wrong = "its last line has no end: the file may be cut off, expected a newline at "
			"its end";
	if (wrong)
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE, "%s: %s", now->file, wrong);
	return !wrong;
}

bool guarded_options_check(const struct options *now, const struct options *before, GError **error)
{
	bool had_keys = has_keys(before);

	if (!check_whole(now, had_keys, had_keys && !options_file_is_cut(before), error))
		return false;
	for (unsigned int i = 0; i < G_N_ELEMENTS(guards); i++)
		if (is_in_use(before, guards[i].id) && is_dropped(now, guards[i].id))
			return refuse(now, &guards[i], "until now", error);
	return true;
}

/* ---- from one start to the next ---- */

char *guarded_options_file(const char *cache_dir)
{
	return cache_dir ? g_build_filename(cache_dir, GUARDED_OPTIONS_FILE, NULL) : NULL;
}

static char *with_first_line(const char *body)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, body, -1);

	return g_strdup_printf(FIRST_WORDS "%s\n%s", sum, body);
}

static char *about_file(const struct options *options, const char *word)
{
	g_autofree char *name = g_strescape(options->file ? options->file : "", NULL);

	return g_strconcat(word, name, NULL);
}

char *guarded_options_text(const struct options *options)
{
	g_autoptr(GString) body = g_string_new(NULL);
	g_autofree char *keys = about_file(options, HAS_KEYS), *end = about_file(options, HAS_END);

	for (unsigned int i = 0; i < G_N_ELEMENTS(guards); i++)
		if (is_in_use(options, guards[i].id))
			g_string_append_printf(body, "%s\n", options_name(guards[i].id));
	if (has_keys(options))
		g_string_append_printf(body, "%s\n", keys);
	if (has_keys(options) && !options_file_is_cut(options))
		g_string_append_printf(body, "%s\n", end);
	return with_first_line(body->str);
}

/* The lines after the first; NULL if the text is damaged. */
static char **lines_of(const char *text, gsize length)
{
	const char *body = strchr(text, '\n');
	g_autofree char *whole = body ? with_first_line(body + 1) : NULL;

	return whole && strlen(text) == length && !strcmp(whole, text)
		       ? g_strsplit(body + 1, "\n", -1)
		       : NULL;
}

static bool has_line(char **lines, const char *line)
{
	return g_strv_contains((const char *const *)lines, line);
}

static bool check_lines(const struct options *options, char **lines, GError **error)
{
	g_autofree char *keys = about_file(options, HAS_KEYS), *end = about_file(options, HAS_END);

	if (!check_whole(options, has_line(lines, keys), has_line(lines, end), error))
		return false;
	for (unsigned int i = 0; i < G_N_ELEMENTS(guards); i++)
		if (has_line(lines, options_name(guards[i].id)) &&
		    is_dropped(options, guards[i].id))
			return refuse(options, &guards[i], "at the last start", error);
	return true;
}

bool guarded_options_check_start(const struct options *options, const char *cache_dir,
				 GError **error)
{
	g_autofree char *file = guarded_options_file(cache_dir), *text = NULL, *since = NULL;
	g_autoptr(GError) why = NULL;
	g_auto(GStrv) lines = NULL;
	gsize length = 0;

	text = file ? file_read_own(file, SIZE_MAX_KEPT, &length, &why) : NULL;
	if (!file || g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return true;
	lines = text ? lines_of(text, length) : NULL;
	if (lines)
		return check_lines(options, lines, error);
	since = g_strdup_printf("perhaps, as %s is damaged", file);
	return !is_dropped(options, OPTION_m_key) || refuse(options, &guards[0], since, error);
}
