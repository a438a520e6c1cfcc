// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How congestion control stands in the whole, and the values that it goes by. */
#include <inttypes.h>

#include "ctl/cc/cc_view.h"
#include "ctl/perfmgr/figures.h"

/* "classic", "per_port". */
static void add_option(GVariantBuilder *answer, const char *key, const struct options *options,
		       enum option_id id)
{
	answer_value(answer, key, options_value(options, id));
}

void cc_add_lid(GVariantBuilder *row, const char *key, const struct fabric *fabric, uint16_t lid)
{
	uint32_t port = fabric && lid ? fabric_port_by_lid(fabric, lid) : FABRIC_NONE;
	g_autofree char *node = g_strconcat(key, "_node", NULL);

	answer_number(row, key, lid);
	if (port != FABRIC_NONE)
		answer_name(row, node, fabric, fabric->ports[port].node);
}

/* ---- the state ---- */

static void add_states(GVariantBuilder *answer, const struct cc_report *report)
{
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (unsigned int state = 0; report && state < CC_STATES; state++) {
		answer_begin(&row);
		answer_text(&row, "state", cc_state_word(state));
		answer_text(&row, "text", cc_state_text(state));
		answer_number(&row, "switches", report->n[1][state]);
		answer_number(&row, "ca_ports", report->n[0][state]);
		answer_append(&list, &row);
	}
	answer_member(answer, "states", &list);
}

static void add_round(GVariantBuilder *answer, const struct cc_report *report)
{
	GVariantBuilder round;

	answer_begin(&round);
	answer_number(&round, "number", report->round);
	answer_flag(&round, "on", report->on);
	answer_number(&round, "mads", report->mads);
	answer_number(&round, "took_us", report->took_us);
	answer_number(&round, "ended_us", (uint64_t)report->ended_us);
	answer_member(answer, "last_round", &round);
}

static void add_logs(GVariantBuilder *answer, const struct cc_view *view)
{
	answer_number(answer, "wrong_key_traps", view->report->traps);
	if (view->report->traps)
		cc_add_lid(answer, "wrong_key_from", view->fabric, view->report->trap_from);
	answer_number(answer, "switch_events", view->report->log_events[1]);
	answer_number(answer, "ca_events", view->report->log_events[0]);
	answer_number(answer, "events_kept", view->report->events->len);
}

/* Those that are in effect; the hosts as the present subnet has them. */
static void make_values(const struct cc_view *view, struct cc_values *values)
{
	struct cc_size size = {0};

	if (view->fabric)
		size = cc_size_of(view->fabric);
	cc_values_make(view->options, &size, values);
}

void cc_view_state(const struct cc_view *view, GVariantBuilder *answer)
{
	g_autofree struct cc_values *values = g_new0(struct cc_values, 1);
	g_autoptr(GPtrArray) warnings = NULL;

	make_values(view, values);
	warnings = cc_values_warnings(view->options, values);
	answer_flag(answer, "on", view->options->congestion_control);
	add_option(answer, "profile", view->options, OPTION_cc_profile);
	answer_number(answer, "hosts", values->hosts);
	add_option(answer, "key_mode", view->options, OPTION_cc_key_mode);
	answer_number(answer, "warnings", warnings->len);
	if (view->report) {
		add_round(answer, view->report);
		answer_number(answer, "changed_us", (uint64_t)view->report->changed_us);
		add_logs(answer, view);
	}
	add_states(answer, view->report);
}

static void print_count(GVariant *row, GString *out)
{
	uint64_t switches = answer_get_number(row, "switches");
	uint64_t ca_ports = answer_get_number(row, "ca_ports");

	if (switches || ca_ports)
		g_string_append_printf(out, "   %-12s %-28s %9" PRIu64 " %9" PRIu64 "\n",
				       answer_get_text(row, "state"), answer_get_text(row, "text"),
				       switches, ca_ports);
}

static void print_round(GVariant *answer, GVariant *round, GString *out)
{
	g_autofree char *ended = figures_time(answer_get_number(round, "ended_us"));
	g_autofree char *changed = figures_time(answer_get_number(answer, "changed_us"));
	uint64_t traps = answer_get_number(answer, "wrong_key_traps");

	g_string_append_printf(out,
			       "last round: number %" PRIu64 ", %" PRIu64 " MADs in %.1f ms, ended "
			       "%s%s\nlast change of settings: %s\n",
			       answer_get_number(round, "number"), answer_get_number(round, "mads"),
			       (double)answer_get_number(round, "took_us") / 1000, ended,
			       answer_get_flag(round, "on") == answer_get_flag(answer, "on")
				       ? ""
				       : ", before it was switched",
			       changed);
	g_string_append_printf(out, "traps about wrong keys: %" PRIu64, traps);
	if (traps)
		g_string_append_printf(out, ", the last key was sent by LID %" PRIu64 " %s",
				       answer_get_number(answer, "wrong_key_from"),
				       answer_get_text(answer, "wrong_key_from_node"));
	g_string_append_printf(out,
			       "\nevents in logs: %" PRIu64 " of switches, %" PRIu64
			       " of CA ports; %" PRIu64 " are kept\n",
			       answer_get_number(answer, "switch_events"),
			       answer_get_number(answer, "ca_events"),
			       answer_get_number(answer, "events_kept"));
	g_string_append_printf(out, "   %-12s %-28s %9s %9s\n", "STATE", "", "SWITCHES",
			       "CA PORTS");
	answer_each(answer, "states", print_count, out);
}

void cc_print_state(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) round = answer_get(answer, "last_round");
	uint64_t warnings = answer_get_number(answer, "warnings");

	g_string_append_printf(
		out, "congestion control is %s: profile %s for %" PRIu64 " hosts, key mode %s\n",
		answer_get_flag(answer, "on") ? "on" : "off", answer_get_text(answer, "profile"),
		answer_get_number(answer, "hosts"), answer_get_text(answer, "key_mode"));
	if (warnings)
		g_string_append_printf(out, "%" PRIu64 " warnings; \"cc values\" lists them\n",
				       warnings);
	if (round)
		print_round(answer, round, out);
	else
		g_string_append(out, "no port has been asked yet\n");
}

/* ---- the values ---- */

static void add_switch(GVariantBuilder *answer, const struct cc_values *values)
{
	uint8_t octets[CC_SWITCH_OCTETS] = {0};
	GVariantBuilder list;

	wire_encode(&iba_switch_congestion_setting_type, &values->of_switch, octets);
	answer_begin_list(&list);
	cc_add_switch_fields(&list, octets, values->masks_by_topology, NULL);
	answer_member(answer, "switch", &list);
	answer_flag(answer, "masks_by_topology", values->masks_by_topology);
}

static void add_ca(GVariantBuilder *answer, const struct cc_values *values)
{
	uint8_t octets[CC_OCTETS_MAX];
	bool cut;
	unsigned int blocks = cc_blocks(values, 0, &cut);
	GVariantBuilder list;

	cc_settings_of_ca(values, blocks, octets);
	answer_begin_list(&list);
	cc_add_ca_fields(&list, octets, 1 + blocks, NULL, 0, 0);
	answer_member(answer, "ca", &list);
	answer_number(answer, "table_entries", values->n_table);
}

static void add_slowest(GVariantBuilder *answer, const struct cc_values *values)
{
	const struct iba_congestion_control_entry *last;

	if (!values->n_table)
		return;
	last = &values->table[values->n_table - 1];
	answer_value(answer, "least_rate_share",
		     g_variant_new_double(
			     1 / (1 + (double)last->cct_multiplier / (1u << last->cct_shift))));
}

void cc_view_values(const struct cc_view *view, GVariantBuilder *answer)
{
	g_autofree struct cc_values *values = g_new0(struct cc_values, 1);
	g_autoptr(GPtrArray) warnings = NULL;

	make_values(view, values);
	warnings = cc_values_warnings(view->options, values);
	g_ptr_array_add(warnings, NULL);
	answer_flag(answer, "on", view->options->congestion_control);
	add_option(answer, "profile", view->options, OPTION_cc_profile);
	answer_number(answer, "hosts", values->hosts);
	answer_flag(answer, "hosts_given", view->options->cc_hosts != 0);
	add_switch(answer, values);
	add_ca(answer, values);
	add_slowest(answer, values);
	answer_value(answer, "warnings",
		     g_variant_new_strv((const char *const *)warnings->pdata, -1));
}

void cc_print_values(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) warnings = answer_get(answer, "warnings");

	g_string_append_printf(
		out, "profile %s for %" PRIu64 " hosts%s%s\n", answer_get_text(answer, "profile"),
		answer_get_number(answer, "hosts"),
		answer_get_flag(answer, "hosts_given") ? " (cc_hosts)" : "",
		answer_get_flag(answer, "on") ? "" : "; not in effect, as it is off");
	g_string_append(out, "switches:\n");
	cc_print_wanted(answer, "switch", out);
	g_string_append_printf(out, "CAs, whose table has %" PRIu64 " entries:\n",
			       answer_get_number(answer, "table_entries"));
	cc_print_wanted(answer, "ca", out);
	if (answer_get_real(answer, "least_rate_share") > 0)
		g_string_append_printf(out, "   (the last entry leaves 1/%.1f of the rate)\n",
				       1 / answer_get_real(answer, "least_rate_share"));
	for (gsize i = 0; warnings && i < g_variant_n_children(warnings); i++) {
		const char *text;

		g_variant_get_child(warnings, i, "&s", &text);
		g_string_append_printf(out, "warning: %s\n", text);
	}
}
