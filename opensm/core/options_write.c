// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options as text: the commented opensm.conf of --create-config, --help, and the plain dump.
 * Descriptions of an option come from its row.
 */
#include "core/options_private.h"

#include <complib/file.h>
#include <string.h>

#define COMMENT_WIDTH 78
#define HELP_WIDTH 79

/* Keys unknown to the classic daemon (3.3.23); commented out while at their default. */
static const enum option_id newer_keys[] = {
	OPTION_cc_key_mode,
	OPTION_cc_key_lease_period,
	OPTION_cc_key_protect_bit,
	OPTION_cc_key_update_interval,
	OPTION_cc_log_poll,
	OPTION_cc_profile,
	OPTION_cc_hosts,
	OPTION_routing_timeout,
	OPTION_routing_memory,
	OPTION_event_plugin_process,
	OPTION_event_plugin_required,
	OPTION_max_rate_enum,
	OPTION_master_sm_priority,
	OPTION_sm_take_over_useless_master,
	OPTION_kernel_rmpp,
	OPTION_sa_busy_response,
	OPTION_join_answer_timeout,
	OPTION_alias_answer_timeout,
	OPTION_audit_nodes,
	OPTION_control_socket,
	OPTION_control_group,
	OPTION_allowed_sm_guids,
	OPTION_console_tls_cert,
	OPTION_console_tls_key,
	OPTION_console_tls_ca,
	OPTION_console_key_file,
	OPTION_m_key_per_port,
	OPTION_m_key_seed_file,
	OPTION_m_key_update_interval,
	OPTION_disconnect_unconfigured_endports,
	OPTION_hm_unhealthy_ports_checks,
	OPTION_hm_ports_health_policy_file,
	OPTION_hm_unhealthy_ports_share,
	OPTION_health_window,
	OPTION_health_lost_hosts,
	OPTION_perfmgr_standby,
	OPTION_perfmgr_clear,
	OPTION_perfmgr_images,
	OPTION_perfmgr_history_interval,
	OPTION_perfmgr_history_hours,
	OPTION_perfmgr_history_max_size,
	OPTION_perfmgr_rules_file,
	OPTION_perfmgr_log_lines,
	OPTION_event_plugin_routing_timeout,
	OPTION_log_format,
	OPTION_replication_key_file,
	OPTION_replication_max_memory,
	OPTION_client_rereg_rate,
	OPTION_consolidate_ipv6_snm_mlids,
	OPTION_mlid_sharing,
	OPTION_mc_spread_roots,
	OPTION_partition_aware_routing,
	OPTION_pkey_index_quarantine,
	OPTION_reuse_pkey_indexes,
	OPTION_partition_links_file,
	OPTION_membership_grace,
	OPTION_ssa,
	OPTION_ssa_directory,
	OPTION_ssa_key_file,
	OPTION_ssa_address_file,
	OPTION_sa_enhanced_trust_model,
	OPTION_sa_etm_allow_untrusted_guidinfo_rec,
	OPTION_sa_etm_allow_untrusted_proxy_requests,
	OPTION_sa_etm_max_num_mcgs,
	OPTION_sa_etm_max_num_srvcs,
	OPTION_sa_etm_max_num_event_subs,
	OPTION_sa_max_groups,
	OPTION_sa_max_memberships,
	OPTION_sa_max_services,
	OPTION_sa_max_subscriptions,
	OPTION_sa_rate_threshold,
};

/* Wraps text between words; every line begins with prefix. */
static void append_wrapped(GString *out, const char *prefix, const char *text, size_t width)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	size_t column = 0;

	for (unsigned int i = 0; words[i]; i++) {
		size_t length = strlen(words[i]);

		if (!column || column + 1 + length > width) {
			g_string_append_printf(out, "%s%s", column ? "\n" : "", prefix);
			column = strlen(prefix);
		} else {
			g_string_append_c(out, ' ');
			column++;
		}
		g_string_append(out, words[i]);
		column += length;
	}
	g_string_append_c(out, '\n');
}

static const char *default_text(const struct option *option)
{
	return option->def ? option->def : "unset";
}

/* The unit of a number; for CHOICE and SET8 the field has words, not a unit. */
static const char *unit_text(const struct option *option)
{
	bool words = option->kind == OPTION_KIND_CHOICE || option->kind == OPTION_KIND_SET8;

	return words ? "" : option->unit;
}

/* ---- the template ---- */

bool option_is_newer(enum option_id id)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(newer_keys); i++)
		if (newer_keys[i] == id)
			return true;
	return false;
}

/* The value as written in the file, with quotes if needed; NULL if no quotes can help. */
static char *quoted(const char *value)
{
	static const char *const quotes[] = {"", "\"", "'"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(quotes); i++) {
		g_autofree char *text = g_strconcat(quotes[i], value, quotes[i], NULL);
		g_autofree char *back = options_file_value(text);

		if (back && strcmp(back, value) == 0)
			return g_steal_pointer(&text);
	}
	return NULL;
}

static void append_comment(GString *out, const struct option *option)
{
	const char *unit = unit_text(option);
	g_autofree char *expected = option_expected(option, false);
	g_autofree char *help = g_strdup(option->help);
	g_autoptr(GString) facts = g_string_new("Takes ");

	g_string_append(facts, expected);
	if (*unit)
		g_string_append_printf(facts, " (%s)", unit);
	g_string_append_printf(facts, "; default %s.", default_text(option));
	if (option->scope != OPTION_SCOPE_LIVE)
		g_string_append(facts, " A change needs a restart.");
	if (option->state == OPTION_STATE_ALWAYS)
		g_string_append(facts, " Always done, regardless of this value.");
	help[0] = g_ascii_toupper(help[0]);
	append_wrapped(out, "# ", help, COMMENT_WIDTH);
	append_wrapped(out, "# ", facts->str, COMMENT_WIDTH);
}

static bool append_value(GString *out, const struct options *options, enum option_id id)
{
	const struct option *option = &option_table[id];
	g_autofree char *value = options_text(options, id);
	g_auto(GStrv) lines = NULL;

	if (option->kind == OPTION_KIND_PER_SL) {
		lines = g_strsplit(value, ",", -1);
		for (unsigned int i = 0; lines[i]; i++)
			g_string_append_printf(out, "%s %s\n", option->name, lines[i]);
	} else {
		g_autofree char *text = quoted(value);
		bool off = option_is_newer(id) && options->source[id] == OPTION_FROM_DEFAULT;

		if (!text)
			return false;
		g_string_append_printf(out, "%s%s %s\n", off ? "#" : "", option->name, text);
	}
	g_string_append_c(out, '\n');
	return true;
}

static bool append_section(GString *out, const struct options *options, unsigned int section,
			   GError **error)
{
	bool begun = false;

	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];

		if (option->section != section || option->scope == OPTION_SCOPE_COMMAND)
			continue;
		if (!begun)
			g_string_append_printf(out, "#\n# %s\n#\n", option_section_titles[section]);
		begun = true;
		append_comment(out, option);
		if (!append_value(out, options, (enum option_id)id)) {
			g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
				    "%s: its value cannot be quoted in a file", option->name);
			return false;
		}
	}
	return true;
}

bool options_write(const struct options *options, const char *file, GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);

	g_string_append(out,
			"# Configuration of opensm: lines of key and value, see opensm.conf(5).\n"
			"# A # starts a comment; (null) stands for unset.\n\n");
	for (unsigned int section = 0; section < OPTION_SECTION_COUNT; section++)
		if (!append_section(out, options, section, error))
			return false;
	return file_write(file, out->str, 0600, error); /* contains keys */
}

/* ---- --help and the dump ---- */

static void append_flag(GString *out, const char *flag, char letter, const char *argument,
			const char *text)
{
	g_string_append(out, "  ");
	if (letter)
		g_string_append_printf(out, "-%c, ", letter);
	g_string_append_printf(out, "--%s%s%s\n", flag, argument ? " " : "",
			       argument ? argument : "");
	append_wrapped(out, "        ", text, HELP_WIDTH);
}

static void append_option_help(GString *out, const struct option *option)
{
	static const char *const states[] = {"", "no effect yet", "done always"};
	const char *state = states[option->state];
	const char *unit = unit_text(option);
	g_autofree char *words = g_strdelimit(g_strdup(option->unit), " ", '|');
	const char *argument = option->kind == OPTION_KIND_CHOICE ? words : option_argument(option);
	g_autoptr(GString) text = g_string_new(option->help);

	if (!option->flag)
		return;
	if (!option->preset)
		g_string_append_printf(text, " [%s%s%s%s%s]", default_text(option),
				       *unit ? " " : "", unit, *state ? "; " : "", state);
	else if (*state)
		g_string_append_printf(text, " [%s]", state);
	append_flag(out, option->flag, option->letter, option->preset ? NULL : argument, text->str);
}

static void append_section_help(GString *out, unsigned int section)
{
	g_autoptr(GString) flags = g_string_new(NULL);

	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (option_table[id].section == section)
			append_option_help(flags, &option_table[id]);
	for (unsigned int i = 0; i < OPTION_ACTION_COUNT; i++)
		if (option_actions[i].section == section)
			append_flag(flags, option_actions[i].flag, option_actions[i].letter,
				    option_actions[i].argument, option_actions[i].help);
	if (flags->len)
		g_string_append_printf(out, "\n%s:\n%s", option_section_titles[section],
				       flags->str);
}

char *options_help(void)
{
	GString *out = g_string_new(NULL);

	g_string_append(out,
			"Usage: opensm [OPTION]...\n"
			"Subnet manager and administrator of an InfiniBand subnet.\n"
			"Long options may be abbreviated and begin with one dash. In brackets:\n"
			"the default. Options without a flag are set in opensm.conf(5).\n");
	for (unsigned int section = 0; section < OPTION_SECTION_COUNT; section++)
		append_section_help(out, section);
	return g_string_free(out, FALSE);
}

char *options_dump(const struct options *options)
{
	GString *out = g_string_new(NULL);

	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		g_autofree char *value = options_text(options, (enum option_id)id);

		g_string_append_printf(out, "%s %s\n", options_name((enum option_id)id), value);
	}
	return g_string_free(out, FALSE);
}
