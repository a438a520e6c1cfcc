// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the console tells of congestion control: of a fabric, and of reports made by hand. */
#include "cc/report.h"
#include "client/control.h"
#include "core/options.h"
#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "iba/constants.h"
#include "subnet/subnet.h"
#include "tests/run_suite.h"
#include "tests/scenario/scenario.h"
#include "vendor/sim_cc.h"

#include <check.h>
#include <json-glib/json-glib.h>
#include <string.h>

#define OFF "sweep_interval 1000\nperfmgr TRUE\nperfmgr_sweep_time_s 10\n"
#define ON OFF "congestion_control TRUE\ncc_log_poll 10\n"
#define STANDARD ON "cc_profile standard\n"

struct fixture {
	struct scenario *s;
	struct command_env env;
};

static struct fixture f; /* of the running test */

static void make_journal(struct scenario *s, void *arg)
{
	struct fixture *fixture = arg;

	fixture->env.daemon = s->daemon;
	fixture->env.journal = journal_new(s->daemon);
	fixture->env.sim = s->sim;
}

static void begin(void)
{
	f.s = scenario_new("fattree:4", 1);
	f.s->made = make_journal;
	f.s->made_arg = &f;
}

static void start(const char *conf)
{
	scenario_conf(f.s, conf);
	scenario_start(f.s);
	scenario_converge(f.s, 10);
	scenario_run_ms(f.s, 3000);
}

static void stop(void)
{
	scenario_stop(f.s);
	journal_free(f.env.journal);
	scenario_free(f.s);
}

static void reread(const char *conf)
{
	scenario_conf(f.s, conf);
	ck_assert(daemon_reread_logged(f.s->daemon));
	scenario_run_ms(f.s, 3000);
}

static bool is_done(void *arg)
{
	return command_work_is_done(arg);
}

/* The answer to the line: valid until the next one. */
static const char *ask_for(const char *line, bool good, unsigned int *status)
{
	static char *text;
	struct command_answer answer;

	g_free(text);
	command_run(&f.env, line, true, &answer);
	if (answer.work) {
		g_free(answer.text);
		ck_assert(runtime_run(f.s->rt, is_done, answer.work, UINT64_MAX));
		command_answer_work(answer.work, &answer);
	}
	text = answer.text;
	ck_assert_msg(answer.failed != good, "%s: %s", line, text);
	if (status)
		*status = answer.status;
	return text;
}

static void expect(const char *line, const char *text)
{
	const char *answer = ask_for(line, true, NULL);

	ck_assert_msg(strstr(answer, text) != NULL, "%s: expected \"%s\" in\n%s", line, text,
		      answer);
}

static void expect_not(const char *line, const char *text)
{
	const char *answer = ask_for(line, true, NULL);

	ck_assert_msg(!strstr(answer, text), "%s: \"%s\" in\n%s", line, text, answer);
}

static void expect_error(const char *line, const char *text)
{
	const char *answer = ask_for(line, false, NULL);

	ck_assert_msg(strstr(answer, text) != NULL, "%s: expected \"%s\" in\n%s", line, text,
		      answer);
}

static void answer_with(const char *node, uint16_t attribute, uint8_t method,
			enum sim_cc_answer how, uint16_t status)
{
	const struct sim_cc_rule rule = {attribute, method, how, status};

	ck_assert(sim_cc_answer(f.s->sim, scenario_node(f.s, node), &rule));
}

/* ---- a fabric ---- */

START_TEST(before_it_is_on)
{
	start(OFF);
	expect("cc", "congestion control is off: profile classic for 16 hosts, key mode send\n"
		     "no port has been asked yet\n");
	expect("cc json", "\"on\":false,\"profile\":\"classic\",\"hosts\":16,");
	expect("cc ports", "\n0 ports\n");
	expect("cc values", "; not in effect, as it is off\n");
	expect("cc log", "0 events are kept\n");
	expect("cc effect", "congestion control has not been on since the start\n");
	expect_error("cc ask", "congestion control is off");
	expect_error("cc ports host-5", "congestion control knows no such port");
}
END_TEST

static const struct {
	const char *line, *text;
} mistakes[] = {
	{"cc on", "'on': expected ports, values, log, effect, ask or nothing"},
	{"cc state", "'state': expected ports, values"},
	{"cc values all", "'all' is not expected"},
	{"cc ports host-5 1 2", "'2' is not expected"},
	{"cc ports host-99", "node 'host-99'"},
	{"cc ports host-5 255", "'255' is not a port number"},
	{"cc ports host-5 2", "congestion control knows no such port"},
	{"cc log 0", "'0' is not a number of events"},
	{"cc log many", "'many' is not a number of events"},
	{"cc effect soon", "'soon': expected a time such as 90s, 5m, 6h or 2d"},
	{"cc ask now", "'now' is not expected"},
};

START_TEST(wrong_words)
{
	start(STANDARD);
	for (unsigned int i = 0; i < G_N_ELEMENTS(mistakes); i++)
		expect_error(mistakes[i].line, mistakes[i].text);
}
END_TEST

START_TEST(all_is_right)
{
	unsigned int status;

	start(STANDARD);
	expect("cc", "congestion control is on: profile standard for 16 hosts, key mode send\n");
	expect("cc", "\n   right        as wanted                           20        16\n");
	expect("cc json", "{\"state\":\"right\",\"text\":\"as wanted\",\"switches\":20,"
			  "\"ca_ports\":16}");
	expect("cc ports", "\n36 ports\n");
	expect("cc ports right", "\n36 ports\n");
	expect("cc ports locked", "\n0 ports\n");
	expect("cc ports leaf-0-0", "\n   VictimMask               1-2\n");
	expect("cc ports leaf-0-0", "\n   CreditMask               not changed: none\n");
	expect("cc ports host-5 1", "\n   SL 0-15 CCTI_Timer       16\n");
	expect("cc ports host-5 1 json", "{\"field\":\"CCTI_Limit\",\"wanted\":\"127\","
					 "\"has\":\"127\",\"differs\":false}");
	expect_not("cc ports host-5", "but it is");
	expect("cc values", "\n   VictimMask               ports to hosts\n");
	expect("cc values", "\n   (the last entry leaves 1/36.0 of the rate)\n");
	expect_not("cc values", "warning");
	ask_for("health", true, &status);
	ck_assert_uint_eq(status, 0);
	expect_not("health", "congestion");
	expect_not("status", "Congestion");
}
END_TEST

START_TEST(warnings)
{
	start(ON);
	expect("cc", " warnings; \"cc values\" lists them\n");
	expect("cc values", "\nwarning: cc_cct is empty: no host slows down\n");
	expect("cc values json", "\"cc_cct is empty: no host slows down\"");
	expect("cc values", "\n   Threshold                not changed\n");
}
END_TEST

/* What a port refused, and what it has in place of what it should have. */
START_TEST(refusals)
{
	unsigned int status;

	answer_with("host-5", IBA_ATTR_CONGESTION_CONTROL_TABLE, IBA_METHOD_SET, SIM_CC_STATUS,
		    IBA_STATUS_INVALID_FIELD);
	answer_with("core-0-0", 0, 0, SIM_CC_STATUS, IBA_STATUS_UNSUP_METHOD_ATTR);
	start(STANDARD);
	scenario_run_ms(f.s, 5000);
	expect("cc ports refused", "CongestionControlTable: a field or the modifier is invalid "
				   "(status 0x001c)\n1 port\n");
	expect("cc ports unsupported", ": attribute not supported (status 0x000c)\n1 port\n");
	expect("cc ports host-5", "\n   CCTI_Limit               127; but it is 0\n");
	expect("cc ports host-5 json",
	       "{\"field\":\"CCTI_Limit\",\"wanted\":\"127\",\"has\":\"0\",\"differs\":true}");
	expect("cc ports core-0-0", "\n   Threshold                12; not known what it is\n");
	expect("health",
	       "warning congestion: congestion control: ports that refuse their settings: 1; "
	       "\"cc ports refused\" lists them\n");
	ask_for("health", true, &status);
	ck_assert_uint_eq(status, 0);
	expect("status", "\n   Congestion Control   : 1 unlike wanted (see cc)\n");
	expect("status json", "\"congestion_control_ports_wrong\":1,");
	sim_cc_set_default(f.s->sim, scenario_node(f.s, "core-0-0"));
	expect("cc ask", "all ports will be asked again\n");
	scenario_run_ms(f.s, 3000);
	expect("cc ports unsupported", "\n0 ports\n");
}
END_TEST

START_TEST(logs)
{
	const struct sim_cc_event at_switch = {.slid = 1, .dlid = 3, .sl = 2};
	unsigned int leaf, host;
	struct sim_cc_event at_host = {.service_type = 1, .local_qp = 0x12, .remote_qp = 0x34};

	start(STANDARD);
	leaf = scenario_node(f.s, "leaf-0-0");
	host = scenario_node(f.s, "host-5");
	at_host.dlid = scenario_lid(f.s, scenario_node(f.s, "host-1"));
	ck_assert(sim_cc_event(f.s->sim, leaf, 1, &at_switch, 3));
	ck_assert(sim_cc_event(f.s->sim, host, 1, &at_host, 1));
	scenario_run_ms(f.s, 15000);
	expect("cc", "\nevents in logs: 3 of switches, 1 of CA ports; 4 are kept\n");
	expect("cc log", "  leaf-0-0 marked a packet: host-0 (LID 1) to host-1 (LID 3), SL 2\n");
	expect("cc log", "  host-5 slows down: host-5 (LID ");
	expect("cc log", "UC from QP 0x12 to QP 0x34\n");
	expect("cc log", "\nsources with the most events:\n          3  host-0 (LID 1)\n"
			 "          1  host-5 (LID ");
	expect("cc log", "\ntargets with the most events:\n          4  host-1 (LID 3)\n");
	expect("cc log", "\nswitches with the most events:\n          3  leaf-0-0\n");
	expect("cc log json", "\"local_qp\":18,\"remote_qp\":52}");
	expect("cc log 1 json", "{\"word\":\"log\",\"kept\":4,");
	expect("cc ports leaf-0-0", " 3 events in its log; 1 ports have marked packets\n");
}
END_TEST

/* Two windows around the change; with fewer than two sweeps there is nothing to compare. */
START_TEST(effect)
{
	start(OFF);
	scenario_run_ms(f.s, 60 * 1000);
	reread(STANDARD);
	expect("cc effect",
	       "since when it is on (the first round since the start of the daemon)\n");
	expect("cc effect", "\nafter: none; at least two sweeps of the counters are needed\n");
	expect("cc effect",
	       "\nhosts                     XmitWaitShare            0.00 %            "
	       "-       0.00 %            -       0\n");
	scenario_run_ms(f.s, 60 * 1000);
	expect_not("cc effect", "none");
	expect("cc effect", "\nswitch ports to switches  XmitWaitShare            0.00 %       "
			    "0.00 %       0.00 %       0.00 %      64\n");
	expect("cc effect", "\nhosts                     PortPktRcvFECN/s ");
	expect("cc effect", "\nswitch ports to switches  PortXmitTimeCong/s ");
	expect_not("cc effect", "not read");
	expect("cc effect 30s", "\nbefore: ");
	reread(ON "cc_profile gentle\n");
	expect("cc effect", "since when it is on\n");
	expect("cc effect", "; at least two sweeps of the counters are needed\n");
	reread(OFF);
	expect("cc effect", "since when it is off\n");
	expect("cc", "congestion control is off");
}
END_TEST

#define FEW_IMAGES "perfmgr_images 3\nperfmgr_history_interval 60\n"

/* The images before the change are not in memory any more. */
START_TEST(effect_from_disk)
{
	start(OFF FEW_IMAGES);
	scenario_run_ms(f.s, 400 * 1000);
	reread(STANDARD FEW_IMAGES);
	scenario_run_ms(f.s, 200 * 1000);
	expect_not("cc effect", "none; at least");
	expect("cc effect json", "\"images\":3,");
	expect_not("cc effect json", "\"files\":0,");
	expect_not("cc effect json", "\"before\":{\"images\":0,");
	expect_not("cc effect json", "\"before\":{\"images\":1,");
	expect("cc effect json", "\"files_skipped\":0}");
}
END_TEST

START_TEST(without_counters)
{
	start("sweep_interval 1000\nperfmgr FALSE\ncongestion_control TRUE\n");
	expect("cc effect", "there are no counters: perfmgr is FALSE, or no sweep");
	expect("cc effect json", "\"counters\":false,");
}
END_TEST

/* ---- reports made by hand ---- */

static struct cc_report *make_report(unsigned int n_rows)
{
	struct cc_report *report = g_new0(struct cc_report, 1);

	ref_init(&report->ref);
	report->on = true;
	report->events = g_array_new(FALSE, FALSE, sizeof(struct cc_event));
	report->rows = g_new0(struct cc_row, n_rows);
	report->n_rows = n_rows;
	return report;
}

static void publish(struct cc_report *report)
{
	slot_publish(&daemon_context(f.s->daemon)->cc, report);
}

/* Agents that are gone, or have states and keys of every kind. */
START_TEST(of_every_kind)
{
	struct cc_report *report = make_report(CC_STATES);

	start(OFF);
	for (unsigned int i = 0; i < CC_STATES; i++) {
		report->rows[i] = (struct cc_row){
			.guid = 0x990 + i,
			.node_guid = 0x990 + i,
			.port = 1,
			.state = i,
			.attribute = 0x77,
			.status = 0x0100,
			.has_key = i == CC_RIGHT,
			.has_other_key = i == CC_PENDING,
			.lacks_key = i == CC_SILENT,
			.violations = 7,
			.cut = true,
		};
		report->n[0][i] = 1;
	}
	report->traps = 5;
	report->trap_from = 3;
	publish(report);
	expect("cc", "\ntraps about wrong keys: 5, the last key was sent by LID 3 host-1\n");
	expect("cc ports locked", "0x0000000000000997 port 1 ");
	expect("cc ports locked", "unknown              7  the table is cut\n");
	expect("cc ports pending", "other ");
	expect("cc ports right", "ours ");
	expect("cc ports silent", "unsupported          7  0x0077  the table is cut\n");
	expect("cc ports refused", "0x0077: an error of the class (status 0x0100)");
	expect("health", "ports that have a CC_Key that this SM does not know: 1; "
			 "\"cc ports locked\" lists them\n");
	expect("health", "\"cc ports fickle\" lists them\n");
	expect_not("health", "unsupported");
	expect("cc ports json", "\"attribute_id\":\"0x0077\",\"refused_with\":\"0x0100\",");
}
END_TEST

static uint64_t guid_of(const char *description)
{
	struct subnet *subnet = slot_take(&daemon_context(f.s->daemon)->subnet);
	const struct fabric *fabric = subnet->fabric;
	uint64_t guid = 0;

	for (uint32_t node = 0; node < fabric->n_nodes; node++)
		if (fabric_is_called(fabric, node, description))
			guid = fabric->nodes[node].guid;
	subnet_unref(subnet);
	return guid;
}

static GBytes *ca_octets(uint16_t timer_of_sl_3, uint16_t limit)
{
	struct iba_ca_congestion_setting setting = {.control_map = 0x000F, .port_control = 1};
	struct iba_congestion_control_table table = {.ccti_limit = limit};
	uint8_t octets[2 * CC_CA_OCTETS] = {0};

	setting.sl[3].ccti_timer = timer_of_sl_3;
	table.entry[1] = (struct iba_congestion_control_entry){2, 9};
	wire_encode(&iba_ca_congestion_setting_type, &setting, octets);
	wire_encode(&iba_congestion_control_table_type, &table, octets + cc_piece_at(1));
	return g_bytes_new(octets, sizeof(octets));
}

/* Field by field: what counts by ControlMap, what was read, and octets of a wrong length. */
START_TEST(fields)
{
	struct cc_report *report = make_report(3);

	start(OFF);
	for (unsigned int i = 0; i < 3; i++)
		report->rows[i] = (struct cc_row){
			.guid = 0x990,
			.node_guid = guid_of("host-5"),
			.port = (uint8_t)i,
			.n_has = i == 2 ? 3 : 2,
			.n_wanted = 2,
			.known = i == 1 ? 1 : 3,
			.wanted = ca_octets(50, 2),
			.has = ca_octets(60, 1),
		};
	publish(report);
	expect("cc ports host-5 0", "\n   PortControl              per SL\n");
	expect("cc ports host-5 0", "\n   SL 0-2 CCTI_Timer        0\n");
	expect("cc ports host-5 0", "\n   SL 3 CCTI_Timer          50; but it is 60\n");
	expect("cc ports host-5 0", "\n   SL 4-15 CCTI_Timer       not changed: 0\n");
	expect("cc ports host-5 0", "\n   CCTI_Limit               2; but it is 1\n");
	expect("cc ports host-5 0", "\n   entries 0-2              0:0,2:9,0:0\n");
	expect("cc ports host-5 1", "\n   SL 3 CCTI_Timer          50; but it is 60\n");
	expect("cc ports host-5 1", "\n   CCTI_Limit               2; not known what it is\n");
	expect("cc ports host-5 2", "\n   SL 3 CCTI_Timer          50; not known what it is\n");
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("console_cc");
	TCase *tcase = tcase_create("cc");

	tcase_add_checked_fixture(tcase, begin, stop);
	tcase_add_test(tcase, before_it_is_on);
	tcase_add_test(tcase, wrong_words);
	tcase_add_test(tcase, all_is_right);
	tcase_add_test(tcase, warnings);
	tcase_add_test(tcase, refusals);
	tcase_add_test(tcase, logs);
	tcase_add_test(tcase, effect);
	tcase_add_test(tcase, effect_from_disk);
	tcase_add_test(tcase, without_counters);
	tcase_add_test(tcase, of_every_kind);
	tcase_add_test(tcase, fields);
	suite_add_tcase(suite, tcase);
	return suite;
}
