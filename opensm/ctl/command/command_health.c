// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The health command: one verdict from status, ports and the journal, for scripts that watch a
 * daemon. A problem needs action by an operator and has a status of its own; a warning is due to
 * the options, and leaves the daemon healthy.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "cc/report.h"
#include "ctl/command/command_private.h"
#include "client/control.h"
#include "ctl/report/journal.h"
#include "ctl/report/sms.h"
#include "ctl/report/status.h"
#include "fabric/link_quality.h"
#include "ha/agreement.h"
#include "ha/replicator.h"
#include "iba/constants.h"
#include "sm/health/unhealthy.h"
#include "sm/keys/advice.h"
#include "sm/schedule/plan.h"
#include "subnet/perf_alarms.h"
#include "subnet/refused_joins.h"
#include "subnet/small_tables.h"

#define DEVICES_TOLD 20
#define PARTITIONS_TOLD 10
#define JOINS_TOLD 5
#define ALARMS_TOLD 20
#define FILES_HANG_NS (60 * NS_PER_S)
#define SWEEP_HANGS_NS (60 * NS_PER_S)
#define SENDS_FAIL_NS (10 * NS_PER_S)
#define SENDS_FAIL_MIN 3
#define LINK_PERCENT_BAD 50
#define NAME_SIZE 160

struct verdict {
	struct command_call *call; /* its status is that of the worst problem */
	GVariantBuilder problems, warnings;
};

static void add(GVariantBuilder *list, const char *subject, const char *text)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_text(&row, "subject", subject);
	answer_text(&row, "text", text);
	answer_append(list, &row);
}

/* The graver the problem, the lower its status. */
static void add_problem(struct verdict *verdict, enum control_status status, const char *subject,
			const char *text)
{
	unsigned int *worst = &verdict->call->status;

	if (!*worst || status < *worst)
		*worst = status;
	add(&verdict->problems, subject, text);
}

/* The device refuses to send anything: all that is known of the subnet is old. */
static void judge_sends(struct verdict *verdict)
{
	struct context *context = verdict->call->context;
	uint64_t since = atomic_load(&context->sends_fail_since), now = runtime_now(context->rt);
	unsigned int failed = atomic_load(&context->sends_failed);
	g_autofree char *text = NULL;

	if (!since || now < since + SENDS_FAIL_NS || failed < SENDS_FAIL_MIN)
		return;
	text = g_strdup_printf("the device has refused all of the last %u sends, for %" PRIu64
			       " s: no device can be reached",
			       failed, (now - since) / NS_PER_S);
	add_problem(verdict, CONTROL_NO_SM, "sm", text);
}

static void judge_sm(struct verdict *verdict)
{
	struct context *context = verdict->call->context;
	unsigned int state = atomic_load(&context->sm_state), sweep = atomic_load(&context->sweep);
	g_autofree char *text = NULL;

	if (sweep & SWEEP_FLAG_PORT_LOST)
		add_problem(verdict, CONTROL_NO_SM, "sm",
			    "the device of its port is gone: no other device can be reached "
			    "until it is back");
	else if (sweep & SWEEP_FLAG_PORT_DOWN)
		add_problem(verdict, CONTROL_NO_SM, "sm",
			    "its port is down: check the cable and the switch at its other end; "
			    "no device can be reached until the link is up");
	judge_sends(verdict);
	if (state == IBA_SM_MASTER || state == IBA_SM_STANDBY)
		return;
	text = g_strdup_printf("the SM is %s, neither MASTER nor STANDBY",
			       status_sm_state(context));
	add_problem(verdict, CONTROL_NO_SM, "sm", text);
}

static void judge_lids(struct verdict *verdict)
{
	const struct fabric *fabric = verdict->call->fabric;
	char name[NAME_SIZE];
	g_autofree char *text = NULL;
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i) && fabric->ports[i].known &&
		    !fabric->ports[i].lid && !n++)
			first = i;
	if (!n)
		return;
	text = g_strdup_printf("%u ports have no LID, first %s; see the log for the reason", n,
			       fabric_port_name(fabric, first, name, sizeof(name)));
	add_problem(verdict, CONTROL_SUBNET_BAD, "subnet", text);
}

/* Names the devices that cause them, as far as the last sweep found out. */
static void judge_errors(struct verdict *verdict, const struct subnet *subnet, bool untold)
{
	for (char **line = subnet->sick; line && *line; line++)
		add_problem(verdict, CONTROL_SUBNET_BAD, "device", *line);
	if (!(subnet->sick || subnet->silent_errors) || subnet->lone_errors || untold)
		add_problem(verdict, CONTROL_SUBNET_BAD, "subnet",
			    "the last sweep ended with errors; see the log");
	judge_lids(verdict);
}

static void judge_time(struct verdict *verdict)
{
	struct context *context = verdict->call->context;
	uint64_t now = runtime_now(context->rt), since = atomic_load(&context->sweep_since);
	g_autofree char *text = NULL;

	if (!since || now < since + SWEEP_HANGS_NS)
		return;
	text = g_strdup_printf("a sweep has been running for %" PRIu64 " s: later changes have "
			       "not been handled yet",
			       (now - since) / NS_PER_S);
	add_problem(verdict, CONTROL_SUBNET_BAD, "sweep", text);
}

static void judge_subnet(struct verdict *verdict)
{
	const struct command_call *call = verdict->call;
	unsigned int sweep = atomic_load(&call->context->sweep);

	if (sweep & SWEEP_FLAG_INHIBITED)
		add_problem(verdict, CONTROL_SWEEPS_OFF, "sweep",
			    "sweeps are off: changes go unnoticed until \"sweep on\"");
	if (call->subnet && call->subnet->exposed)
		add(&verdict->warnings, "routing", call->subnet->exposed);
	if (call->subnet && call->subnet->credit_loop)
		add(&verdict->warnings, "routing", call->subnet->credit_loop);
	if (atomic_load(&call->context->sm_state) != IBA_SM_MASTER)
		return;
	judge_time(verdict);
	if (!call->subnet) {
		add_problem(verdict, CONTROL_SUBNET_BAD, "subnet", "no subnet yet");
	} else if (sweep & SWEEP_FLAG_ERRORS) {
		judge_errors(verdict, call->subnet, sweep & SWEEP_FLAG_UNTOLD);
	}
}

/*
 * Small tables are a problem if hosts lose paths by them, and a warning if routes avoid the
 * switches.
 */
static void judge_tables(struct verdict *verdict)
{
	const struct subnet *subnet = verdict->call->subnet;

	for (uint32_t i = 0; subnet && subnet->small_tables && subnet->small_tables[i]; i++)
		if (i < subnet->n_harmful)
			add_problem(verdict, CONTROL_SUBNET_BAD, "tables", subnet->small_tables[i]);
		else
			add(&verdict->warnings, "tables", subnet->small_tables[i]);
}

/* Switches with room for fewer MLIDs than existing groups need. */
static void judge_groups(struct verdict *verdict)
{
	const struct subnet *subnet = verdict->call->subnet;
	struct mc_groups *groups = slot_take(&verdict->call->context->groups);
	g_auto(GStrv) lines =
		subnet && groups ? small_tables_tell_groups(subnet->fabric, groups) : NULL;

	for (unsigned int i = 0; lines && lines[i]; i++)
		add_problem(verdict, CONTROL_SUBNET_BAD, "tables", lines[i]);
	mc_groups_unref(groups);
}

static void warn_of_join(struct verdict *verdict, const struct refused_join *join)
{
	const struct fabric *fabric = verdict->call->fabric;
	uint32_t port = fabric_port_by_guid(fabric, join->port_guid);
	uint64_t wire[2] = {GUINT64_TO_BE(join->mgid.prefix), GUINT64_TO_BE(join->mgid.guid)};
	char name[NAME_SIZE] = "a port that is gone", mgid[INET6_ADDRSTRLEN];
	g_autofree char *text = NULL;

	if (port != FABRIC_NONE)
		fabric_port_name(fabric, port, name, sizeof(name));
	inet_ntop(AF_INET6, wire, mgid, sizeof(mgid));
	text = g_strdup_printf("%s was not allowed to join multicast group %s: %s", name, mgid,
			       join->why);
	add(&verdict->warnings, "multicast", text);
}

/* Any host may request what it may not have, so this is never more than a warning. */
static void judge_joins(struct verdict *verdict)
{
	struct refused_joins *joins = slot_take(&verdict->call->context->refused_joins);
	uint64_t now = runtime_now(verdict->call->context->rt);
	unsigned int n = 0;

	for (uint32_t i = joins && verdict->call->fabric ? joins->n : 0; i-- > 0;)
		if (now <= joins->all[i].last_ns + REFUSED_JOIN_NS && ++n <= JOINS_TOLD)
			warn_of_join(verdict, &joins->all[i]);
	if (n > JOINS_TOLD) {
		g_autofree char *more = g_strdup_printf(
			"%u more joins were refused; \"mgroups\" lists them", n - JOINS_TOLD);

		add(&verdict->warnings, "multicast", more);
	}
	refused_joins_unref(joins);
}

static void judge_partitions(struct verdict *verdict)
{
	uint64_t unmet = counter_get(&verdict->call->context->counters, sa_groups_unmet);
	const struct subnet *subnet = verdict->call->subnet;
	unsigned int held = atomic_load(&verdict->call->context->p_keys_held);
	const GPtrArray *crowded = subnet ? subnet->partitions->crowded : NULL;
	guint n = crowded ? crowded->len : 0;

	for (guint i = 0; i < MIN(n, PARTITIONS_TOLD); i++)
		add(&verdict->warnings, "partitions", crowded->pdata[i]);
	if (n > PARTITIONS_TOLD) {
		g_autofree char *more =
			g_strdup_printf("%u more; \"partitions\" lists them", n - PARTITIONS_TOLD);

		add(&verdict->warnings, "partitions", more);
	}
	if (held) {
		g_autofree char *text =
			g_strdup_printf("no partitions are defined here, but %u ports are "
					"separated by P_Keys: no P_Key table is written until "
					"partitions.conf has definitions",
					held);

		add_problem(verdict, CONTROL_SUBNET_BAD, "partitions", text);
	}
	for (char **line = subnet ? subnet->without_p_keys : NULL; line && *line; line++)
		add_problem(verdict, CONTROL_SUBNET_BAD, "partitions", *line);
	for (char **line = subnet ? subnet->p_key_reuse : NULL; line && *line; line++)
		add(&verdict->warnings, "partitions", *line);
	if (unmet) {
		g_autofree char *text =
			g_strdup_printf("%" PRIu64 " multicast groups that IPoIB needs cannot be "
					"created: no MLID is free",
					unmet);

		add_problem(verdict, CONTROL_SUBNET_BAD, "partitions", text);
	}
}

static void warn_of_plugs(struct verdict *verdict, const struct fabric *fabric)
{
	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++) {
		char name[NAME_SIZE];
		g_autofree char *text = NULL;

		if (!fabric->ports[i].loopback)
			continue;
		text = g_strdup_printf("a loopback plug is in %s",
				       fabric_port_name(fabric, i, name, sizeof(name)));
		add(&verdict->warnings, "device", text);
	}
}

static void judge_keys(struct verdict *verdict)
{
	const struct subnet *subnet = verdict->call->subnet;

	for (char **line = subnet ? subnet->unknown_keys : NULL; line && *line; line++) {
		g_autofree char *text = g_strconcat(*line, ": " KEYS_DEVICE_ADVICE, NULL);

		add_problem(verdict, CONTROL_DEVICES_BAD, "m_key", text);
	}
}

static void warn_of_congestion(struct verdict *verdict, const struct cc_report *report,
			       enum cc_state state, const char *what)
{
	uint32_t n = report->n[0][state] + report->n[1][state];
	g_autofree char *text = NULL;

	if (!n)
		return;
	text = g_strdup_printf("congestion control: ports that %s: %u; \"cc ports %s\" lists them",
			       what, n, cc_state_word(state));
	add(&verdict->warnings, "congestion", text);
}

/* The subnet works without; a device that does not support it is as it should be. */
static void judge_congestion(struct verdict *verdict)
{
	struct cc_report *report = slot_take(&verdict->call->context->cc);

	if (report && verdict->call->fabric) {
		warn_of_congestion(verdict, report, CC_LOCKED,
				   "have a CC_Key that this SM does not know");
		warn_of_congestion(verdict, report, CC_FICKLE, "do not keep their settings");
		warn_of_congestion(verdict, report, CC_REFUSED, "refuse their settings");
	}
	cc_report_unref(report);
}

/* Whether the SM excluded this port, or its node at the other end of the cable. */
static bool is_excluded(const struct unhealthy_ports *ports, uint64_t guid, unsigned int num)
{
	for (unsigned int i = 0; ports && i < ports->n; i++) {
		const struct unhealthy_port *port = &ports->ports[i];

		if (port->action > PORT_REPORT && ((port->guid == guid && port->num == num) ||
						   (port->blamed == guid && port->guid != guid)))
			return true;
	}
	return false;
}

/*
 * The count of excluded ports, which an operator must look at; other unhealthy ports are warnings.
 */
static void judge_unhealthy(struct verdict *verdict, const struct unhealthy_ports *ports)
{
	unsigned int acted = 0;
	g_autofree char *excluded = NULL, *reported = NULL;

	for (unsigned int i = 0; ports && i < ports->n; i++)
		acted += ports->ports[i].action > PORT_REPORT;
	excluded =
		g_strdup_printf("%u unhealthy ports are excluded; \"unhealthy\" lists them", acted);
	reported = g_strdup_printf("%u ports misbehave; \"unhealthy\" lists them",
				   ports ? ports->n - acted : 0);
	if (acted)
		add_problem(verdict, CONTROL_DEVICES_BAD, "ports", excluded);
	if (ports && ports->n > acted)
		add(&verdict->warnings, "ports", reported);
}

static void tell_more_alarms(struct verdict *verdict, const struct perf_alarms *alarms,
			     unsigned int level, unsigned int told)
{
	unsigned int more = alarms->count[level] - told;
	g_autofree char *text = g_strdup_printf("%u more %ss about counters of ports", more,
						perf_level_word(level));

	if (more && level == PERF_ALARM)
		add_problem(verdict, CONTROL_COUNTERS_BAD, "counters", text);
	else if (more)
		add(&verdict->warnings, "counters", text);
}

/* What the rules of the site call an alarm is a problem; of other levels, warnings are told. */
static void judge_counters(struct verdict *verdict)
{
	struct perf_alarms *alarms = slot_take(&verdict->call->context->perf_alarms);
	unsigned int told[PERF_LEVELS] = {0};

	for (uint32_t i = 0; alarms && i < alarms->n; i++) {
		const struct perf_alarm *alarm = &alarms->all[i];
		g_autofree char *text = NULL;

		if (alarm->level < PERF_WARNING || told[alarm->level] == ALARMS_TOLD)
			continue;
		told[alarm->level]++;
		text = perf_alarm_text(alarm);
		if (alarm->level == PERF_ALARM)
			add_problem(verdict, CONTROL_COUNTERS_BAD, "counters", text);
		else
			add(&verdict->warnings, "counters", text);
	}
	for (unsigned int level = PERF_WARNING; alarms && level < PERF_LEVELS; level++)
		tell_more_alarms(verdict, alarms, level, told[level]);
	perf_alarms_unref(alarms);
}

static const char *as_it_was(const struct fabric *fabric, uint32_t node)
{
	if (fabric->ports[fabric->sm_port].node == node)
		return "the SM runs on it; its configuration is kept";
	return fabric_is_switch(fabric, node)
		       ? "its links are up; it is kept and forwards by its current tables"
		       : "its link is up; it is kept with its LIDs and routes";
}

/* A node that becomes silent first makes sweeps fail; after a while it only counts as bad. */
static enum control_status silence_status(const struct verdict *verdict)
{
	const struct subnet *subnet = verdict->call->subnet;

	return subnet && subnet->errors && subnet->silent_errors ? CONTROL_SUBNET_BAD
								 : CONTROL_DEVICES_BAD;
}

static void judge_silent(struct verdict *verdict, const struct fabric *fabric)
{
	enum control_status status = silence_status(verdict);
	unsigned int n = 0;

	for (uint32_t i = 0; fabric && i < fabric->n_nodes; i++) {
		char name[NAME_SIZE];
		g_autofree char *text = NULL;

		if (!fabric->nodes[i].silent || ++n > DEVICES_TOLD)
			continue;
		text = g_strdup_printf("%s does not answer: %s",
				       fabric_node_name(fabric, i, name, sizeof(name)),
				       as_it_was(fabric, i));
		add_problem(verdict, status, "device", text);
	}
	if (n > DEVICES_TOLD) {
		g_autofree char *more =
			g_strdup_printf("%u more devices do not answer", n - DEVICES_TOLD);

		add_problem(verdict, status, "device", more);
	}
}

/* Why no device answers behind a port whose link is up, and what is to be done about it. */
static const char *why_silent(const struct verdict *verdict)
{
	const struct subnet *subnet = verdict->call->subnet;

	return subnet && keys_silence(subnet->options)
		       ? "it has no SM agent, or an unknown M_Key: " KEYS_CABLE_ADVICE
		       : "it has no SM agent, or an unknown M_Key; see the log";
}

static void judge_devices(struct verdict *verdict)
{
	const struct fabric *fabric = verdict->call->fabric;
	struct unhealthy_ports *ports = slot_take(&verdict->call->context->unhealthy_ports);
	enum control_status status = silence_status(verdict);
	const char *why = why_silent(verdict);
	unsigned int n = 0;

	judge_unhealthy(verdict, ports);
	warn_of_plugs(verdict, fabric);
	judge_silent(verdict, fabric);
	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++) {
		char name[NAME_SIZE];
		g_autofree char *text = NULL;

		if (!fabric_is_silent_link(fabric, i) ||
		    is_excluded(ports, fabric->nodes[fabric->ports[i].node].guid,
				fabric->ports[i].num) ||
		    ++n > DEVICES_TOLD)
			continue;
		text = g_strdup_printf("no usable device answers behind %s, although its link is "
				       "up: %s",
				       fabric_port_name(fabric, i, name, sizeof(name)), why);
		add_problem(verdict, status, "device", text);
	}
	if (n > DEVICES_TOLD) {
		g_autofree char *more = g_strdup_printf("no usable device answers behind %u more "
							"ports",
							n - DEVICES_TOLD);

		add_problem(verdict, status, "device", more);
	}
	unhealthy_ports_unref(ports);
}

static void tell_of_sms(void *arg, bool grave, const char *text)
{
	struct verdict *verdict = arg;

	if (grave)
		add_problem(verdict, CONTROL_SUBNET_BAD, "sm", text);
	else
		add(&verdict->warnings, "sms", text);
}

static void judge_others(struct verdict *verdict)
{
	const struct context *context = verdict->call->context;

	if (atomic_load(&context->sm_state) == IBA_SM_MASTER &&
	    runtime_now(context->rt) < atomic_load(&context->contested_until))
		add_problem(verdict, CONTROL_SUBNET_BAD, "sm",
			    "there are two masters: another SM configures ports of this subnet "
			    "and the two do not agree: it has a different sm_key, "
			    "allowed_sm_guids lacks it, or ignore_other_sm is TRUE on one of them");
}

/* role: that of the other SM relative to this one. */
static void judge_agreement(struct verdict *verdict, const char *role, uint64_t guid,
			    const struct replication_agreement *agreement)
{
	g_autofree char *differences = NULL, *text = NULL;

	if (agreement->state == AGREEMENT_SAME)
		return;
	if (agreement->state != AGREEMENT_DIFFERS) {
		text = g_strdup_printf("it is unknown whether the %s, SM 0x%016" PRIx64
				       ", has the same options and files: %s",
				       role, guid, agreement_state_text(agreement->state));
		add(&verdict->warnings, "sms", text);
		return;
	}
	differences = agreement_tell(agreement->differences);
	text = g_strdup_printf("the %s, SM 0x%016" PRIx64 ", differs from this one, so a "
			       "takeover will change the subnet: %s",
			       role, guid, differences);
	add_problem(verdict, CONTROL_SMS_DIFFER, "sms", text);
}

/* For all SMs in replication: without a key nothing is known about any SM. */
static void judge_agreements(struct verdict *verdict)
{
	struct replication_status *status = slot_take(&verdict->call->context->replication);

	if (status && !status->has_key && (status->n || status->followed))
		add(&verdict->warnings, "sms",
		    "it is unknown whether the other SMs of the subnet have the same options and "
		    "files: there is no replication_key_file");
	for (unsigned int i = 0; status && status->has_key && i < status->n; i++)
		judge_agreement(verdict, "standby", status->peers[i].guid,
				&status->peers[i].agreement);
	if (status && status->has_key && status->followed)
		judge_agreement(verdict, "master", status->followed, &status->with_followed);
	replication_status_unref(status);
}

/* A STANDBY has no subnet of its own; it only knows whether its master is alive. */
static void judge_master(struct verdict *verdict)
{
	struct context *context = verdict->call->context;
	unsigned int misses = atomic_load(&context->master_misses);
	g_autofree char *text = NULL;

	if (atomic_load(&context->sm_state) != IBA_SM_STANDBY)
		return;
	if (misses)
		text = g_strdup_printf(
			"the master has not answered the last %u polls: if this continues, this "
			"SM takes over",
			misses);
	else if (!atomic_load(&context->master_heard))
		text = g_strdup("the master has not answered a poll yet: it is unknown whether "
				"it works");
	if (text)
		add(&verdict->warnings, "sm", text);
}

/* ---- compared with a while ago ---- */

struct loss {
	const char *one, *many; /* "switch", "switches" */
	enum control_status status;
	uint32_t now, most;
	bool grave; /* a problem, not only a warning */
};

static void judge_loss(struct verdict *verdict, const struct loss *loss, uint64_t window_s)
{
	uint32_t lost = loss->most - MIN(loss->now, loss->most);
	bool minutes = window_s % 60 == 0;
	g_autofree char *text = NULL;

	if (!lost)
		return;
	text = g_strdup_printf("%u %s fewer than within the last %" PRIu64 " %s (%u of %u); "
			       "\"health accept\" accepts the current numbers",
			       lost, lost == 1 ? loss->one : loss->many,
			       minutes ? window_s / 60 : window_s, minutes ? "min" : "s", loss->now,
			       loss->most);
	if (loss->grave)
		add_problem(verdict, loss->status, "subnet", text);
	else
		add(&verdict->warnings, "subnet", text);
}

/* Some hosts are always being restarted; switches are not. */
static void judge_losses(struct verdict *verdict)
{
	const struct command_call *call = verdict->call;
	const struct fabric *fabric = call->fabric;
	struct options *options = slot_take(&call->context->options);
	struct loss switches = {"switch", "switches", CONTROL_NODES_LOST, .grave = true};
	struct loss hosts = {"host", "hosts", CONTROL_NODES_LOST};
	struct loss cables = {"cable", "cables", CONTROL_CABLES_LOST, .grave = true};

	if (call->env->journal && fabric && options->health_window &&
	    atomic_load(&call->context->sm_state) == IBA_SM_MASTER) {
		struct census_counts most =
			census_most(journal_census(call->env->journal),
				    runtime_now(call->context->rt), JOURNAL_WINDOW_NS(options));

		switches.now = fabric->n_switches;
		switches.most = most.switches;
		hosts.now = fabric->n_nodes - fabric->n_switches;
		hosts.most = most.hosts;
		hosts.grave = (uint64_t)(hosts.most - MIN(hosts.now, hosts.most)) * 100 >
			      (uint64_t)hosts.most * options->health_lost_hosts;
		judge_loss(verdict, &switches, options->health_window);
		judge_loss(verdict, &hosts, options->health_window);
		cables.now = census_of(fabric).cables;
		cables.most = most.cables;
		judge_loss(verdict, &cables, options->health_window);
	}
	options_unref(options);
}

/* ---- cables ---- */

static void add_slow(struct verdict *verdict, const struct fabric *fabric, uint32_t port,
		     unsigned int percent)
{
	const struct fabric_port *from = &fabric->ports[port];
	char here[NAME_SIZE], there[NAME_SIZE];
	g_autofree char *text = NULL;

	text = g_strdup_printf(
		"the cable from %s to %s runs at %s %s a lane, %u%% of what both ends can do",
		fabric_port_name(fabric, port, here, sizeof(here)),
		fabric_port_name(fabric, fabric->ports[port].peer, there, sizeof(there)),
		link_width_name(&from->info), link_speed_name(from), percent);
	add_problem(verdict, CONTROL_LINKS_SLOW, "link", text);
}

/* Each cable is judged once, from its first end. */
static void judge_links(struct verdict *verdict)
{
	const struct fabric *fabric = verdict->call->fabric;
	unsigned int bad = 0, reduced = 0;
	g_autofree char *more = NULL, *text = NULL;

	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++) {
		uint32_t peer = fabric->ports[i].peer;
		unsigned int percent;

		if (!fabric->ports[i].num || !fabric->ports[i].known || peer == FABRIC_NONE ||
		    (peer < i && fabric->ports[peer].known))
			continue;
		percent = link_percent(fabric, i);
		if (percent > LINK_PERCENT_BAD)
			reduced += percent < 100;
		else if (++bad <= DEVICES_TOLD)
			add_slow(verdict, fabric, i, percent);
	}
	more = g_strdup_printf("%u more cables run at half of what both ends can do, or less",
			       bad - MIN(bad, DEVICES_TOLD));
	text = g_strdup_printf("%u %s below what both ends can do; \"ports slow\" lists them",
			       reduced, reduced == 1 ? "cable runs" : "cables run");
	if (bad > DEVICES_TOLD)
		add_problem(verdict, CONTROL_LINKS_SLOW, "link", more);
	if (reduced)
		add(&verdict->warnings, "link", text);
}

static void judge_written(struct verdict *verdict)
{
	struct context *context = verdict->call->context;
	bool master = atomic_load(&context->sm_state) == IBA_SM_MASTER; /* others write no dumps */

	if (atomic_load(&context->unkept))
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "LIDs, M_Keys or vacated P_Key indexes of ports could not be "
			    "written, so they will be lost at the next start; see the log for "
			    "the reason");
	if (master && atomic_load(&context->sa_unkept))
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "the dump of the SA could not be written, so the registrations of "
			    "clients will be lost at the next start; see the log for the reason");
	if (atomic_load(&context->perf_unkept))
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "counters of ports could not be saved, so totals since the last time "
			    "that they were will be lost at the next start, and the history has "
			    "a gap; see the log for the reason");
	if (master && atomic_load(&context->ssa_unpublished))
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "the last epoch of the Scalable SA could not be published, so hosts "
			    "use paths as they were before; see the log for the reason");
	if (master && atomic_load(&context->undumped))
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "dumps could not be written and show an older state of the subnet; "
			    "see the log for the reason");
}

static void judge_files(struct verdict *verdict)
{
	const struct subnet *subnet = verdict->call->subnet;

	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		const struct refusal *refusal = daemon_refusal(verdict->call->env->daemon, i);
		g_autofree char *text = NULL, *why = NULL;
		g_auto(GStrv) lines = NULL;

		if (!refusal->why)
			continue;
		lines = g_strsplit(refusal->why, "\n", -1);
		why = g_strjoinv("; ", lines);
		text = g_strdup_printf("%s refused at %s: %s", daemon_files_name(i), refusal->since,
				       why);
		add_problem(verdict, CONTROL_FILES_BAD, "files", text);
	}
	judge_written(verdict);
	if (pool_busy_ns(verdict->call->context->files) > FILES_HANG_NS)
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "a file in the cache or dump directory has been being written for "
			    "more than a minute: the disk may hang");
	if (log_is_astray(verdict->call->context->log))
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "the log could not be reopened at SIGUSR1: lines still go to the old "
			    "file");
	if (log_is_losing(verdict->call->context->log))
		add_problem(verdict, CONTROL_FILES_BAD, "files",
			    "lines of the log are being lost: its disk is full or too slow");
	if (subnet && subnet->held)
		add_problem(verdict, CONTROL_FILES_BAD, "files", subnet->held);
	if (subnet && subnet->fallback)
		add_problem(verdict, CONTROL_FILES_BAD, "routing", subnet->fallback);
}

/* An open subnet works all the same: it is a problem only if security was asked for. */
static void judge_security(struct verdict *verdict, bool asked)
{
	struct options *options = slot_take(&verdict->call->context->options);
	const char *key, *why, *advice;
	unsigned int n = 0;

	for (unsigned int i = 0;
	     insecure_setting(options, verdict->call->subnet, &i, &key, &why, &advice); i++, n++) {
		g_autofree char *text = g_strdup_printf("%s %s; %s", key, why, advice);

		if (asked)
			add_problem(verdict, CONTROL_INSECURE, "security", text);
	}
	if (n && !asked) {
		g_autofree char *text = g_strdup_printf(
			"%u setting%s the subnet open to its hosts; \"health security\" lists "
			"them",
			n, n == 1 ? " leaves" : "s leave");

		add(&verdict->warnings, "security", text);
	}
	options_unref(options);
}

static void add_last_sweep(const struct command_call *call, GVariantBuilder *builder)
{
	const struct journal_sweep *last = journal_last_sweep(call->env->journal);
	GVariantBuilder sweep;

	if (!last)
		return;
	answer_begin(&sweep);
	answer_text(&sweep, "kind", plan_kind_name(last->done.kind));
	answer_flag(&sweep, "errors", last->done.errors);
	answer_number(&sweep, "took_us", last->done.took_us);
	answer_number(&sweep, "seconds_ago",
		      (runtime_now(call->context->rt) - last->ended_ns) / NS_PER_S);
	answer_member(builder, "last_sweep", &sweep);
}

/* For a STANDBY: when the master was last heard from. */
static void add_master(const struct command_call *call, GVariantBuilder *builder)
{
	struct replication_status *status = slot_take(&call->context->replication);
	uint64_t heard = atomic_load(&call->context->master_heard);
	GVariantBuilder master;

	if (status && status->followed && atomic_load(&call->context->sm_state) == IBA_SM_STANDBY) {
		answer_begin(&master);
		answer_guid(&master, "guid", status->followed);
		answer_flag(&master, "heard", heard != 0);
		if (heard)
			answer_number(&master, "heard_seconds_ago",
				      (runtime_now(call->context->rt) - heard) / NS_PER_S);
		answer_number(&master, "polls_missed", atomic_load(&call->context->master_misses));
		answer_member(builder, "master", &master);
	}
	replication_status_unref(status);
}

GVariant *command_health(struct command_call *call, GError **error)
{
	const char *word = call->n ? call->words[0] : NULL;
	bool accept = !g_strcmp0(word, "accept"), security = !g_strcmp0(word, "security");
	struct verdict verdict = {.call = call};
	g_autofree char *line = NULL;
	GVariantBuilder builder;

	if (call->n > 1 || (word && !accept && !security))
		return command_usage(error, "expected accept, security or nothing");
	if (accept && call->env->journal)
		journal_accept(call->env->journal);
	if (atomic_load(&call->context->sm_state) != IBA_SM_MASTER) {
		call->subnet = NULL; /* an old one, from when it was MASTER */
		call->fabric = NULL;
	}
	line = status_line(call->context);
	answer_begin_list(&verdict.problems);
	answer_begin_list(&verdict.warnings);
	judge_sm(&verdict);
	sms_judge(call->context, tell_of_sms, &verdict);
	judge_subnet(&verdict);
	judge_tables(&verdict);
	judge_groups(&verdict);
	judge_joins(&verdict);
	judge_partitions(&verdict);
	judge_keys(&verdict);
	judge_congestion(&verdict);
	judge_devices(&verdict);
	judge_others(&verdict);
	judge_agreements(&verdict);
	judge_master(&verdict);
	judge_losses(&verdict);
	judge_links(&verdict);
	judge_counters(&verdict);
	judge_files(&verdict);
	judge_security(&verdict, security);
	answer_begin(&builder);
	answer_flag(&builder, "healthy", !call->status);
	answer_number(&builder, "status", call->status);
	answer_text(&builder, "state", line);
	add_last_sweep(call, &builder);
	add_master(call, &builder);
	sms_answer(call->context, &builder);
	answer_member(&builder, "problems", &verdict.problems);
	answer_member(&builder, "warnings", &verdict.warnings);
	return g_variant_builder_end(&builder);
}

/* ---- in words ---- */

static void print_problem(GVariant *row, GString *out)
{
	g_string_append_printf(out, "ERROR %s: %s\n", answer_get_text(row, "subject"),
			       answer_get_text(row, "text"));
}

static void print_warning(GVariant *row, GString *out)
{
	g_string_append_printf(out, "warning %s: %s\n", answer_get_text(row, "subject"),
			       answer_get_text(row, "text"));
}

void print_health(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) sweep = answer_get(answer, "last_sweep");
	g_autoptr(GVariant) master = answer_get(answer, "master");

	g_string_append_printf(out, "%s: %s\n",
			       answer_get_flag(answer, "healthy") ? "healthy" : "NOT HEALTHY",
			       answer_get_text(answer, "state"));
	if (sweep)
		g_string_append_printf(
			out, "last sweep: %s, %s, took %.1f ms, ended %" PRIu64 " s ago\n",
			answer_get_text(sweep, "kind"),
			answer_get_flag(sweep, "errors") ? "with errors" : "good",
			(double)answer_get_number(sweep, "took_us") / 1000,
			answer_get_number(sweep, "seconds_ago"));
	if (master && answer_get_flag(master, "heard"))
		g_string_append_printf(out,
				       "master: SM %s, answered a poll %" PRIu64 " s ago, has not "
				       "answered %" PRIu64 " since\n",
				       answer_get_text(master, "guid"),
				       answer_get_number(master, "heard_seconds_ago"),
				       answer_get_number(master, "polls_missed"));
	answer_each(answer, "sms", sms_print_row, out);
	answer_each(answer, "problems", print_problem, out);
	answer_each(answer, "warnings", print_warning, out);
}
