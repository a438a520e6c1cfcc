// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The status command: the contents of the context, in the order and words of the classic daemon.
 * Lines about features that this daemon lacks (event plug-ins) are omitted.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "cc/report.h"
#include "ctl/base/problem.h"
#include "ctl/command/command_private.h"
#include "ctl/console/console_tls.h"
#include "ctl/perfmgr/word.h"
#include "ctl/report/sms.h"
#include "ctl/report/status.h"
#include "ctl/report/status_figures.h"
#include "ha/agreement.h"
#include "ha/replicator.h"
#include "iba/constants.h"
#include "sm/health/unhealthy.h"
#include "subnet/inventory.h"
#include "subnet/perf_alarms.h"

/* In the words of the classic console, which differ from those in the log. */
static const char *sm_state_text(unsigned int state)
{
	static const char *const texts[] = {
		[IBA_SM_NOT_ACTIVE] = "Not Active",
		[IBA_SM_DISCOVERING] = "Discovering",
		[IBA_SM_STANDBY] = "Standby",
		[IBA_SM_MASTER] = "Master",
	};

	return state < G_N_ELEMENTS(texts) ? texts[state] : "?";
}

static bool is_master(const struct command_call *call)
{
	return atomic_load(&call->context->sm_state) == IBA_SM_MASTER;
}

static void add_mads(struct command_call *call, GVariantBuilder *builder)
{
	const struct counters *counters = &call->context->counters;
	uint64_t received = counter_get(counters, sa_received);
	uint64_t answered = counter_get(counters, sa_answered);
	uint64_t dropped =
		counter_get(counters, sa_stale) + counter_get(counters, sa_resting) +
		counter_get(counters, sa_malformed) + counter_get(counters, sa_wrong_keys) +
		counter_get(counters, sa_repeated) + counter_get(counters, sa_unanswered) +
		counter_get(counters, sa_rate_dropped);
	uint64_t on_wire = counter_get(counters, smp_on_wire);
	GVariantBuilder mads;

	answer_begin(&mads);
	answer_number(&mads, "qp0_outstanding", counter_get(counters, smp_waiting) + on_wire);
	answer_number(&mads, "qp0_on_wire", on_wire);
	answer_number(&mads, "qp0_received",
		      counter_get(counters, smp_received) + counter_get(counters, traps_received));
	answer_number(&mads, "qp0_sent", counter_get(counters, smp_sent));
	answer_number(&mads, "qp0_unicasts", counter_get(counters, smp_unicasts));
	answer_number(&mads, "qp0_unknown",
		      counter_get(counters, mad_unknown) + counter_get(counters, mad_unhandled));
	answer_number(&mads, "qp0_retries", counter_get(counters, smp_retries));
	answer_number(&mads, "qp0_timeouts", counter_get(counters, smp_timeouts));
	answer_number(&mads, "sa_outstanding",
		      received > answered + dropped ? received - answered - dropped : 0);
	answer_number(&mads, "sa_received", received);
	answer_number(&mads, "sa_sent", answered);
	answer_number(&mads, "sa_errors", counter_get(counters, sa_errors));
	answer_number(&mads, "sa_busy", counter_get(counters, sa_busy));
	answer_number(&mads, "sa_stale", counter_get(counters, sa_stale));
	answer_number(&mads, "sa_rate_dropped", counter_get(counters, sa_rate_dropped));
	answer_number(&mads, "sa_quota_refused", counter_get(counters, sa_quota_refused));
	answer_number(&mads, "sa_reduced", counter_get(counters, sa_reduced));
	answer_number(&mads, "sa_unknown", counter_get(counters, sa_malformed));
	answer_number(&mads, "refused", counter_get(counters, mad_refused));
	answer_member(builder, "mads", &mads);
}

static void add_flags(struct command_call *call, GVariantBuilder *builder,
		      const struct options *options)
{
	unsigned int sweep = atomic_load(&call->context->sweep);
	GVariantBuilder flags;

	answer_begin(&flags);
	answer_flag(&flags, "sweeping_enabled", !(sweep & SWEEP_FLAG_INHIBITED));
	answer_number(&flags, "sweep_interval", options->sweep_interval);
	answer_flag(&flags, "sweep_running", sweep & SWEEP_FLAG_RUNNING);
	answer_flag(&flags, "init_errors", sweep & SWEEP_FLAG_ERRORS);
	answer_flag(&flags, "in_sweep_hop_0", sweep & SWEEP_FLAG_HOP0);
	answer_flag(&flags, "first_time_master_sweep",
		    is_master(call) && !(sweep & SWEEP_FLAG_UP_BEFORE));
	answer_flag(&flags, "coming_out_of_standby", sweep & SWEEP_FLAG_TAKING_OVER);
	answer_member(builder, "subnet_flags", &flags);
}

/* priority -1: unknown, and omitted. */
static void add_sm(GVariantBuilder *list, uint64_t guid, const char *state, int priority, bool self)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_guid(&row, "guid", guid);
	answer_text(&row, "state", state);
	if (priority >= 0)
		answer_number(&row, "priority", (uint64_t)priority);
	answer_flag(&row, "self", self);
	answer_append(list, &row);
}

/* What another SM last reported; if that is old the SM is asked, for the next status. */
static bool look_up(struct command_call *call, uint32_t port, struct iba_sm_info *info)
{
	const struct fabric_port *p = &call->fabric->ports[port];
	struct inventory *inventory = slot_take(&call->context->inventory);
	const struct inventory_list *list;
	const void *block = NULL;

	if (inventory_look(inventory, call->fabric->nodes[p->node].guid, p->num, INVENTORY_SM_INFO,
			   runtime_now(call->context->rt), &list) == INVENTORY_KNOWN)
		block = inventory_list_block(list, 0);
	else
		event_emit(&call->context->bus, EVENT_INVENTORY_WANTED,
			   inventory_want(INVENTORY_SM_INFO, p->lid, p->num));
	if (block)
		*info = *(const struct iba_sm_info *)block;
	inventory_unref(inventory);
	return block != NULL;
}

static void add_other_sm(struct command_call *call, GVariantBuilder *list, uint32_t port)
{
	uint64_t guid = call->fabric->ports[port].guid;
	struct iba_sm_info info;

	if (look_up(call, port, &info))
		add_sm(list, guid, sm_state_text(info.sm_state), info.priority, false);
	else
		add_sm(list, guid, "Unknown", -1, false);
}

/* This SM, and the ports that report an SM. */
static void add_sms(struct command_call *call, GVariantBuilder *builder,
		    const struct options *options)
{
	const struct fabric *fabric = call->fabric;
	GVariantBuilder list;

	answer_begin_list(&list);
	if (call->subnet)
		add_sm(&list, call->subnet->sm_guid,
		       sm_state_text(atomic_load(&call->context->sm_state)), options->sm_priority,
		       true);
	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i) && i != fabric->sm_port &&
		    fabric->ports[i].info.capability_mask & IBA_PORT_CAP_SM)
			add_other_sm(call, &list, i);
	answer_member(builder, "known_sms", &list);
}

static void add_subnet(struct command_call *call, GVariantBuilder *builder)
{
	const struct fabric *fabric = call->fabric;
	GVariantBuilder subnet;
	uint32_t silent, loose;

	if (!fabric)
		return;
	fabric_count_silent(fabric, &silent, &loose);
	answer_begin(&subnet);
	answer_number(&subnet, "switches", fabric->n_switches);
	answer_number(&subnet, "hosts", fabric->n_nodes - fabric->n_switches);
	answer_number(&subnet, "links", fabric->n_links);
	answer_number(&subnet, "silent_nodes", silent);
	answer_number(&subnet, "silent_links", loose);
	answer_number(&subnet, "highest_lid", fabric->max_lid);
	answer_number(&subnet, "generation", fabric->generation);
	answer_member(builder, "subnet", &subnet);
}

static void add_refused(struct command_call *call, GVariantBuilder *builder)
{
	GVariantBuilder list, row, problems;

	answer_begin_list(&list);
	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		const struct refusal *refusal = daemon_refusal(call->env->daemon, i);
		g_auto(GStrv) lines = g_strsplit(refusal->why ? refusal->why : "", "\n", -1);
		g_autofree char *why = g_strjoinv("; ", lines);

		if (!refusal->why)
			continue;
		answer_begin(&row);
		answer_text(&row, "what", daemon_files_name(i));
		answer_text(&row, "since", refusal->since);
		answer_text(&row, "why", why);
		answer_begin_list(&problems);
		problem_add(&problems, PROBLEM_ERROR, refusal->why);
		answer_member(&row, "problems", &problems);
		answer_append(&list, &row);
	}
	answer_member(builder, "refused", &list);
}

/* Ports that do not have the settings that they should have, and could. */
static void add_congestion(struct command_call *call, GVariantBuilder *builder)
{
	struct cc_report *report = slot_take(&call->context->cc);
	uint64_t n = 0;

	for (unsigned int i = 0; report && i < G_N_ELEMENTS(report->n); i++)
		n += report->n[i][CC_LOCKED] + report->n[i][CC_FICKLE] + report->n[i][CC_REFUSED];
	answer_number(builder, "congestion_control_ports_wrong", n);
	cc_report_unref(report);
}

static void add_unhealthy(struct command_call *call, GVariantBuilder *builder)
{
	struct unhealthy_ports *ports = slot_take(&call->context->unhealthy_ports);
	unsigned int acted = 0;

	for (unsigned int i = 0; ports && i < ports->n; i++)
		acted += ports->ports[i].action > PORT_REPORT;
	answer_number(builder, "unhealthy_ports", ports ? ports->n : 0);
	answer_number(builder, "unhealthy_ports_left_out", acted);
	unhealthy_ports_unref(ports);
}

/* What the rules for counters find wrong now, by level. */
static void add_alarms(struct command_call *call, GVariantBuilder *builder)
{
	struct perf_alarms *alarms = slot_take(&call->context->perf_alarms);

	answer_number(builder, "counter_alarms", alarms ? alarms->count[PERF_ALARM] : 0);
	answer_number(builder, "counter_warnings", alarms ? alarms->count[PERF_WARNING] : 0);
	perf_alarms_unref(alarms);
}

static void add_lines(GVariantBuilder *builder, const char *key, char **lines)
{
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (char **line = lines; line && *line; line++) {
		answer_begin(&row);
		answer_text(&row, "why", *line);
		answer_append(&list, &row);
	}
	answer_member(builder, key, &list);
}

/* ---- what any host in the subnet can abuse ---- */

static bool has_key(const struct options *options)
{
	return options->m_key || options->m_key_per_port;
}

static bool has_no_m_key(const struct options *options, const struct subnet *subnet)
{
	(void)subnet;
	return !has_key(options);
}

static bool tells_m_key(const struct options *options, const struct subnet *subnet)
{
	(void)subnet;
	return has_key(options) && !options->m_key_protection_level;
}

static bool has_one_m_key(const struct options *options, const struct subnet *subnet)
{
	(void)subnet;
	return options->m_key && !options->m_key_per_port;
}

/* Each endport is a full member of the default partition, and there are several endports. */
static bool is_undivided(const struct options *options, const struct subnet *subnet)
{
	const struct fabric *fabric = subnet ? subnet->fabric : NULL;
	unsigned int full = 0;

	(void)options;
	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++) {
		const uint16_t *p_keys;
		bool member = false;
		uint32_t n;

		if (!fabric_is_endport(fabric, i) || !fabric->ports[i].lid)
			continue;
		p_keys = partitions_of(subnet->partitions, i, &n);
		for (uint32_t j = 0; j < n; j++)
			member |= p_keys[j] == IBA_P_KEY_DEFAULT_FULL;
		if (!member)
			return false;
		full++;
	}
	return full > 1;
}

static bool has_known_sm_key(const struct options *options, const struct subnet *subnet)
{
	(void)subnet;
	return options->sm_key <= 1;
}

static bool has_known_sa_key(const struct options *options, const struct subnet *subnet)
{
	(void)subnet;
	return options_sa_key_is_known(options);
}

static bool has_clear_console(const struct options *options, const struct subnet *subnet)
{
	(void)subnet;
	return options->console == CONSOLE_SOCKET && options->console_key_file &&
	       !console_tls_is_wanted(options);
}

static bool has_open_console(const struct options *options, const struct subnet *subnet)
{
	(void)subnet;
	return options_console_is_open(options);
}

static const struct insecure {
	const char *key;
	bool (*is)(const struct options *options, const struct subnet *subnet);
	const char *why, *advice;
} insecure[] = {
	{"m_key", has_no_m_key, "is 0: any host can set ports and tables",
	 "set a secret key with m_key_protection_level 2, or m_key_per_port"},
	{"m_key_protection_level", tells_m_key, "is 0: ports disclose their M_Key to any host",
	 "set it to 1 or more"},
	{"m_key_per_port", has_one_m_key, "is FALSE: the M_Key of one port opens all ports",
	 "set it, with m_key_seed_file and m_key_protection_level 1"},
	{"sm_key", has_known_sm_key, "is the well-known default",
	 "set a secret key, the same in all SMs of the subnet"},
	{"sa_key", has_known_sa_key, "is the well-known default: the SA trusts any host",
	 "set a secret key, known to management tools only"},
	{"partition_config_file", is_undivided,
	 "leaves every port a full member of the default partition: any host reaches any other",
	 "divide the subnet, or make hosts limited members"},
	{"console", has_clear_console,
	 "socket shows its key to anyone that can read the network "
	 "traffic",
	 "set console_tls_cert and console_tls_key"},
	{"console_key_file", has_open_console,
	 "is not set: any user of this host may look at the subnet by the console's TCP port",
	 "set it, or set console to off: opensmctl needs neither"},
};

bool insecure_setting(const struct options *options, const struct subnet *subnet,
		      unsigned int *number, const char **key, const char **why, const char **advice)
{
	unsigned int i = *number;

	while (i < G_N_ELEMENTS(insecure) && !insecure[i].is(options, subnet))
		i++;
	if (i >= G_N_ELEMENTS(insecure))
		return false;
	*number = i;
	*key = insecure[i].key;
	*why = insecure[i].why;
	*advice = insecure[i].advice;
	return true;
}

const char *insecure_check(const struct options *options, const struct subnet *subnet,
			   unsigned int number, bool *is)
{
	if (number >= G_N_ELEMENTS(insecure))
		return NULL;
	*is = insecure[number].is(options, subnet);
	return insecure[number].key;
}

static void add_insecure(GVariantBuilder *builder, const struct options *options,
			 const struct subnet *subnet)
{
	unsigned int n = 0;
	const char *key, *why, *advice;
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (unsigned int i = 0; insecure_setting(options, subnet, &i, &key, &why, &advice);
	     i++, n++) {
		answer_begin(&row);
		answer_text(&row, "key", key);
		answer_text(&row, "why", why);
		answer_text(&row, "advice", advice);
		answer_append(&list, &row);
	}
	answer_member(builder, "insecure", &list);
	answer_number(builder, "insecure_settings", n);
}

static void add_agreement(GVariantBuilder *row, const struct replication_agreement *agreement)
{
	static const char *const words[] = {
		[AGREEMENT_UNKNOWN] = "unknown",       [AGREEMENT_OLD] = "older version",
		[AGREEMENT_UNREADABLE] = "unreadable", [AGREEMENT_SAME] = "same",
		[AGREEMENT_DIFFERS] = "differs",
	};
	const GPtrArray *differences = agreement->differences;
	GVariantBuilder list, option;

	answer_text(row, "agreement", words[agreement->state]);
	answer_begin_list(&list);
	for (guint i = 0; differences && i < differences->len; i++) {
		const struct agreement_difference *difference = differences->pdata[i];

		answer_begin(&option);
		answer_text(&option, "option", difference->name);
		answer_flag(&option, "file", difference->how == AGREED_FILE);
		if (difference->here) {
			answer_text(&option, "here", difference->here);
			answer_text(&option, "there", difference->there);
		}
		answer_append(&list, &option);
	}
	answer_member(row, "differences", &list);
}

/* The SMs that this SM replicates to, or whose replica it has. */
static void add_replication(struct command_call *call, GVariantBuilder *builder)
{
	struct replication_status *status = slot_take(&call->context->replication);
	GVariantBuilder replication, list, row;

	if (!status)
		return;
	answer_begin(&replication);
	answer_flag(&replication, "key", status->has_key);
	if (status->followed) {
		answer_guid(&replication, "of", status->followed);
		answer_flag(&replication, "whole", status->whole);
		add_agreement(&replication, &status->with_followed);
	}
	answer_begin_list(&list);
	for (unsigned int i = 0; i < status->n; i++) {
		answer_begin(&row);
		answer_guid(&row, "guid", status->peers[i].guid);
		answer_flag(&row, "in_step", status->peers[i].state == REPLICATION_IN_STEP);
		answer_text(&row, "state", replication_state_text(status->peers[i].state));
		add_agreement(&row, &status->peers[i].agreement);
		answer_append(&list, &row);
	}
	answer_member(&replication, "standbys", &list);
	answer_member(builder, "replication", &replication);
	replication_status_unref(status);
}

static void add_perf(struct command_call *call, GVariantBuilder *builder)
{
	struct perf_status status;

	perf_status(daemon_perf(call->env->daemon), &status);
	answer_text(builder, "perfmgr", status.enabled ? "Enabled" : "Disabled");
	answer_text(builder, "perfmgr_sweep", perfmgr_sweep_text(status.sweep));
}

/* What others may know of the keys. */
static void add_keys(GVariantBuilder *builder, const struct options *options)
{
	GVariantBuilder keys;

	answer_begin(&keys);
	answer_guid(&keys, "subnet_prefix", options->subnet_prefix);
	answer_flag(&keys, "m_key", has_key(options));
	answer_flag(&keys, "m_key_per_port",
		    options->m_key_per_port && options->m_key_protection_level);
	answer_flag(&keys, "sm_key_is_known", options->sm_key <= 1);
	answer_flag(&keys, "sa_key_is_known", options_sa_key_is_known(options));
	answer_member(builder, "keys", &keys);
}

static void add_computing(struct command_call *call, GVariantBuilder *builder)
{
	g_autofree char *text = status_computing(call->context);

	if (text)
		answer_text(builder, "computing", text);
}

GVariant *command_status(struct command_call *call, GError **error)
{
	const struct subnet *subnet = call->subnet;
	struct options *options;
	GVariantBuilder builder;

	call->loop = call->n == 1 && !strcmp(call->words[0], "loop");
	if (call->n && !call->loop)
		return command_usage(error, "expected loop or nothing");
	options = slot_take(&call->context->options);
	answer_begin(&builder);
	answer_text(&builder, "version", "OpenSM " PACKAGE_VERSION);
	answer_text(&builder, "sm_state", sm_state_text(atomic_load(&call->context->sm_state)));
	answer_number(&builder, "sm_priority", options->sm_priority);
	if (subnet) {
		answer_guid(&builder, "sm_guid", subnet->sm_guid);
		answer_number(&builder, "sm_lid", subnet->sm_lid);
	}
	answer_flag(&builder, "has_subnet", subnet != NULL);
	answer_text(&builder, "sa_state", subnet && is_master(call) ? "Ready" : "Not ready");
	answer_text(&builder, "routing_engine", subnet ? subnet->routing->engine->name : "<none>");
	answer_flag(&builder, "credit_loop", subnet && subnet->credit_loop);
	answer_flag(&builder, "credit_loop_of_hosts",
		    subnet && subnet->credit_loop && !subnet->only_switches);
	if (subnet && subnet->credit_loop)
		answer_text(&builder, "credit_loop_witness", subnet->credit_loop);
	if (subnet && subnet->exposed)
		answer_text(&builder, "lane_change", subnet->exposed);
	add_computing(call, &builder);
	if (subnet && subnet->fallback)
		answer_text(&builder, "fallback", subnet->fallback);
	if (subnet && subnet->held)
		answer_text(&builder, "files_held", subnet->held);
	add_lines(&builder, "small_tables", subnet ? subnet->small_tables : NULL);
	add_lines(&builder, "unknown_m_keys", subnet ? subnet->unknown_keys : NULL);
	add_refused(call, &builder);
	add_unhealthy(call, &builder);
	add_congestion(call, &builder);
	add_alarms(call, &builder);
	add_perf(call, &builder);
	add_mads(call, &builder);
	add_flags(call, &builder, options);
	add_subnet(call, &builder);
	add_sms(call, &builder, options);
	sms_answer(call->context, &builder);
	add_replication(call, &builder);
	add_insecure(&builder, options, subnet);
	add_keys(&builder, options);
	status_add_figures(call->context, call->env->journal, &builder);
	options_unref(options);
	return g_variant_builder_end(&builder);
}

/* ---- in words ---- */

struct line {
	const char *key, *title;
};

static void print_numbers(GVariant *answer, const char *key, const struct line *lines, GString *out)
{
	g_autoptr(GVariant) numbers = answer_get(answer, key);

	for (; numbers && lines->key; lines++) {
		uint64_t value = answer_get_number(numbers, lines->key);

		if (!value)
			value = answer_get_flag(numbers, lines->key);
		g_string_append_printf(out, "   %-31s: %" PRIu64 "\n", lines->title, value);
	}
}

static void print_sm(GVariant *row, GString *out)
{
	uint64_t guid = g_ascii_strtoull(answer_get_text(row, "guid"), NULL, 16);

	g_autoptr(GVariant) value = answer_get(row, "priority");
	g_autofree char *priority =
		value ? g_variant_print(value, FALSE) : g_strdup("-");

	g_string_append_printf(out, "   0x%" PRIx64 " %-11s %-8s %s\n", guid,
			       answer_get_text(row, "state"), priority,
			       answer_get_flag(row, "self") ? "SELF" : "");
}

static void print_heading(GString *out, const char *text)
{
	g_string_append_printf(out, "\n   %s\n   %.*s\n", text, (int)strlen(text),
			       "--------------------");
}

static void print_difference(GVariant *row, GString *out)
{
	const char *here = answer_get_text(row, "here"), *there = answer_get_text(row, "there");

	g_string_append_printf(out, "   ERROR: %s differs", answer_get_text(row, "option"));
	if (*here || *there)
		g_string_append_printf(out, ": %s here, %s there", here, there);
	else if (answer_get_flag(row, "file"))
		g_string_append(out, " in the contents of the file");
	g_string_append_c(out, '\n');
}

/* How the SM in row differs from this one, or that this is not known. */
static void print_agreement(GVariant *row, GString *out)
{
	const char *agreement = answer_get_text(row, "agreement");

	if (strcmp(agreement, "same") != 0 && strcmp(agreement, "differs") != 0)
		g_string_append(out, "   it is unknown whether it has the same options and "
				     "files\n");
	answer_each(row, "differences", print_difference, out);
}

static void print_standby(GVariant *row, GString *out)
{
	uint64_t guid = g_ascii_strtoull(answer_get_text(row, "guid"), NULL, 16);

	g_string_append_printf(out, "   0x%" PRIx64 " %s\n", guid, answer_get_text(row, "state"));
	print_agreement(row, out);
}

/* Prints nothing if there is no other SM. */
static void print_replication(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) replication = answer_get(answer, "replication");
	g_autoptr(GVariant) list = replication ? answer_get(replication, "standbys") : NULL;
	bool follows = replication && *answer_get_text(replication, "of");

	if (!follows && !(list && g_variant_n_children(list)))
		return;
	print_heading(out, "Replication");
	if (follows && !answer_get_flag(replication, "key"))
		g_string_append(out, "   nothing is replicated: there is no "
				     "replication_key_file\n");
	else if (follows)
		g_string_append_printf(out, "   %s of SM %s is stored here\n",
				       answer_get_flag(replication, "whole") ? "everything"
									     : "nothing yet",
				       answer_get_text(replication, "of"));
	if (follows)
		print_agreement(replication, out);
	answer_each(replication, "standbys", print_standby, out);
}

static void print_sight(GVariant *row, GString *out)
{
	g_string_append(out, "   ");
	sms_print_row(row, out);
}

/* Prints nothing if there is no other SM. */
static void print_sights(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) list = answer_get(answer, "sms");

	if (!list || !g_variant_n_children(list))
		return;
	print_heading(out, "Subnet Seen");
	answer_each(answer, "sms", print_sight, out);
}

static void print_sms(GVariant *answer, GString *out)
{
	print_heading(out, "Known SMs");
	g_string_append(out, "   Port GUID       SM State    Priority\n"
			     "   ---------       --------    --------\n");
	answer_each(answer, "known_sms", print_sm, out);
	print_sights(answer, out);
	print_replication(answer, out);
}

static void print_refused(GVariant *row, GString *out)
{
	g_string_append_printf(
		out,
		"   ERROR                : %s was refused at %s, its earlier contents stay in "
		"effect: %s\n",
		answer_get_text(row, "what"), answer_get_text(row, "since"),
		answer_get_text(row, "why"));
}

static void print_error(GVariant *row, GString *out)
{
	g_string_append_printf(out, "   ERROR                : %s\n", answer_get_text(row, "why"));
}

static void print_insecure(GVariant *row, GString *out)
{
	g_string_append_printf(out, "   %s %s; %s\n", answer_get_text(row, "key"),
			       answer_get_text(row, "why"), answer_get_text(row, "advice"));
}

static void print_all_insecure(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) list = answer_get(answer, "insecure");

	if (!list || !g_variant_n_children(list))
		return;
	print_heading(out, "Insecure Settings");
	answer_each(answer, "insecure", print_insecure, out);
}

static void print_head(GVariant *answer, GString *out)
{
	g_string_append_printf(out, "   OpenSM Version       : %s\n",
			       answer_get_text(answer, "version"));
	g_string_append_printf(out, "   SM State             : %s\n",
			       answer_get_text(answer, "sm_state"));
	g_string_append_printf(out, "   SM Priority          : %" PRIu64 "\n",
			       answer_get_number(answer, "sm_priority"));
	if (*answer_get_text(answer, "sm_guid"))
		g_string_append_printf(out, "   SM Port              : GUID %s LID %" PRIu64 "\n",
				       answer_get_text(answer, "sm_guid"),
				       answer_get_number(answer, "sm_lid"));
	g_string_append_printf(out, "   SA State             : %s\n",
			       answer_get_text(answer, "sa_state"));
	g_string_append_printf(out, "   Routing Engine       : %s\n",
			       answer_get_text(answer, "routing_engine"));
	if (*answer_get_text(answer, "computing"))
		g_string_append_printf(out, "   Computing            : %s\n",
				       answer_get_text(answer, "computing"));
	if (*answer_get_text(answer, "fallback"))
		g_string_append_printf(out, "   ERROR                : it is a fallback; %s\n",
				       answer_get_text(answer, "fallback"));
	if (*answer_get_text(answer, "files_held"))
		g_string_append_printf(out,
				       "   ERROR                : the last usable routing files "
				       "stay in effect; %s\n",
				       answer_get_text(answer, "files_held"));
	answer_each(answer, "refused", print_refused, out);
	answer_each(answer, "small_tables", print_error, out);
	answer_each(answer, "unknown_m_keys", print_error, out);
	if (answer_get_number(answer, "congestion_control_ports_wrong"))
		g_string_append_printf(
			out,
			"   Congestion Control   : %" PRIu64 " unlike wanted (see cc)\n",
			answer_get_number(answer, "congestion_control_ports_wrong"));
	if (answer_get_number(answer, "unhealthy_ports"))
		g_string_append_printf(out,
				       "   Unhealthy Ports      : %" PRIu64 ", %" PRIu64
				       " of them excluded (see unhealthy)\n",
				       answer_get_number(answer, "unhealthy_ports"),
				       answer_get_number(answer, "unhealthy_ports_left_out"));
	if (answer_get_number(answer, "counter_alarms") ||
	    answer_get_number(answer, "counter_warnings"))
		g_string_append_printf(out,
				       "   Counters             : %" PRIu64 " alarms, %" PRIu64
				       " warnings (see health)\n",
				       answer_get_number(answer, "counter_alarms"),
				       answer_get_number(answer, "counter_warnings"));
	if (*answer_get_text(answer, "lane_change"))
		g_string_append_printf(out, "   WARNING              : %s\n",
				       answer_get_text(answer, "lane_change"));
	if (answer_get_flag(answer, "credit_loop"))
		g_string_append_printf(out, "   %-20s : %s can deadlock; %s\n",
				       answer_get_flag(answer, "credit_loop_of_hosts") ? "ERROR"
										       : "WARNING",
				       answer_get_flag(answer, "credit_loop_of_hosts")
					       ? "the fabric"
					       : "packets to or from switches",
				       answer_get_text(answer, "credit_loop_witness"));
}

static const struct line mad_lines[] = {
	{"qp0_outstanding", "QP0 MADs outstanding"},
	{"qp0_on_wire", "QP0 MADs outstanding (on wire)"},
	{"qp0_received", "QP0 MADs rcvd"},
	{"qp0_sent", "QP0 MADs sent"},
	{"qp0_unicasts", "QP0 unicasts sent"},
	{"qp0_unknown", "QP0 unknown MADs rcvd"},
	{"qp0_retries", "QP0 MADs retransmitted"},
	{"qp0_timeouts", "QP0 MADs given up"},
	{"sa_outstanding", "SA MADs outstanding"},
	{"sa_received", "SA MADs rcvd"},
	{"sa_sent", "SA MADs sent"},
	{"sa_unknown", "SA unknown MADs rcvd"},
	{"sa_errors", "SA MADs answered with an error"},
	{"sa_busy", "SA MADs answered BUSY"},
	{"sa_stale", "SA MADs that waited too long"},
	{"sa_rate_dropped", "SA MADs dropped by sa_rate_threshold"},
	{"sa_quota_refused", "SA MADs refused by sa_etm_max_num quotas"},
	{"sa_reduced", "SA MADs answered in part by sa_enhanced_trust_model"},
	{"refused", "MADs refused as their source sent too many"},
	{NULL, NULL},
};

void print_status(GVariant *answer, GString *out)
{
	static const struct line flags[] = {
		{"sweeping_enabled", "Sweeping enabled"},
		{"sweep_interval", "Sweep interval (seconds)"},
		{"sweep_running", "Sweep running"},
		{"init_errors", "Subnet Init errors"},
		{"in_sweep_hop_0", "In sweep hop 0"},
		{"first_time_master_sweep", "First time master sweep"},
		{"coming_out_of_standby", "Coming out of standby"},
		{NULL, NULL},
	};
	static const struct line subnet[] = {
		{"switches", "Switches"},
		{"hosts", "Hosts and routers"},
		{"links", "Links"},
		{"silent_nodes", "Silent nodes that are kept"},
		{"silent_links", "Links up without a known device"},
		{"highest_lid", "Highest LID"},
		{NULL, NULL},
	};

	print_head(answer, out);
	g_string_append_printf(out, "\n   PerfMgr state/sweep state : %s/%s\n",
			       answer_get_text(answer, "perfmgr"),
			       answer_get_text(answer, "perfmgr_sweep"));
	print_heading(out, "MAD stats");
	print_numbers(answer, "mads", mad_lines, out);
	print_heading(out, "Subnet flags");
	print_numbers(answer, "subnet_flags", flags, out);
	if (answer_get_flag(answer, "has_subnet")) {
		print_heading(out, "Subnet");
		print_numbers(answer, "subnet", subnet, out);
	}
	print_sms(answer, out);
	print_all_insecure(answer, out);
	status_print_figures(answer, out);
	g_string_append_c(out, '\n');
}
