// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What follows when the rules of the performance manager find something wrong: the log, the
 * console, and what the SM does about the port.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command/command.h"
#include "client/control.h"
#include "ctl/report/journal.h"
#include "perf/judge/perf_rules.h"
#include "scenario.h"
#include "subnet/perf_alarms.h"
#include "tests/run_suite.h"

static struct command_env env;

static void make_journal(struct scenario *s, void *arg)
{
	(void)arg;
	env = (struct command_env){
		.daemon = s->daemon, .journal = journal_new(s->daemon), .sim = s->sim};
}

static char *file_of(const struct scenario *s, const char *name)
{
	return g_build_filename(s->directory, name, NULL);
}

static void put(const struct scenario *s, const char *name, const char *text)
{
	g_autofree char *file = file_of(s, name);

	scenario_old_file(file, text);
}

/* A policy of unhealthy ports, and more of opensm.conf. */
static struct scenario *up(const char *spec, const char *policy, const char *conf)
{
	struct scenario *s = scenario_new(spec, 1);
	g_autofree char *ports = file_of(s, "ports"), *rules = file_of(s, "rules");
	g_autofree char *text = g_strdup_printf(
		"hm_ports_health_policy_file %s\nperfmgr_rules_file %s\n%s", ports, rules, conf);

	put(s, "ports", policy);
	put(s, "rules",
	    "PortRcvErrors host alarm 10 in 60 unhealthy\n"
	    "SymbolErrorCounter all warning 10 in 60\n");
	scenario_conf(s, text);
	s->made = make_journal;
	scenario_start(s);
	scenario_converge(s, 20);
	scenario_run_ms(s, 2000);
	return s;
}

static void down(struct scenario *s)
{
	scenario_stop(s);
	journal_free((struct journal *)env.journal);
	scenario_free(s);
}

static void expect_said(struct scenario *s, const char *line, const char *text, bool said)
{
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	if (!strstr(answer.text, text) == said)
		scenario_fail(s, "'%s' says '%s', %s '%s'", line, answer.text,
			      said ? "expected" : "did not expect", text);
	g_free(answer.text);
}

static unsigned int health_status(void)
{
	struct command_answer answer;

	command_run(&env, "health", true, &answer);
	g_free(answer.text);
	return answer.status;
}

static bool is_in_subnet(struct scenario *s, const char *name)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	struct sim_node_view view;
	bool found;

	sim_node_view(s->sim, scenario_node(s, name), &view);
	found = fabric_node_by_guid(subnet->fabric, view.node_guid) != FABRIC_NONE;
	subnet_unref(subnet);
	return found;
}

/* ---- lists made by hand ---- */

static uint64_t last_serial;

/* Alarms at the ports of these hosts, the first one the worst; NULL ends them. */
static void publish(struct scenario *s, const char *const *nodes, uint8_t port)
{
	struct context *context = daemon_context(s->daemon);
	struct perf_alarms *alarms = perf_alarms_new(g_strv_length((char **)nodes));

	for (uint32_t i = 0; i < alarms->n; i++) {
		struct sim_node_view view;

		last_serial++;
		sim_node_view(s->sim, scenario_node(s, nodes[i]), &view);
		alarms->all[i] = (struct perf_alarm){
			.serial = last_serial,
			.guid = view.node_guid,
			.port = port,
			.level = PERF_ALARM,
			.unhealthy = last_serial,
			.value = "PortRcvErrors",
			.unit = "",
			.measured = 20 - i,
			.limit = 10,
			.window_s = 60,
			.where = g_strdup_printf("port %u of '%s'", port, nodes[i]),
			.cause = g_strdup("the cable"),
		};
		alarms->count[PERF_ALARM]++;
	}
	alarms->last_serial = last_serial;
	slot_publish(&context->perf_alarms, alarms);
	event_emit(&context->bus, EVENT_PERF_ALARMS, alarms->n);
	scenario_run_ms(s, 3000);
}

static const char *const four[] = {"host-9", "host-10", "host-11", "host-12", NULL};
static const char *const none[] = {NULL};

/* Without a policy for them they are reported, and nothing else happens. */
START_TEST(reported)
{
	struct scenario *s = up("fattree:4", "flapping ca report\n", "");

	ck_assert_uint_eq(health_status(), 0);
	publish(s, four, 1);
	scenario_check_log(s, "unhealthy (counters): port", true);
	scenario_check_log(s, "its counters show errors; action report", true);
	ck_assert(is_in_subnet(s, "host-9"));
	ck_assert_uint_eq(health_status(), CONTROL_COUNTERS_BAD);
	expect_said(s, "health",
		    "alarm: port 1 of 'host-9': PortRcvErrors was 20 within 60 s (limit 10): the "
		    "cable",
		    true);
	expect_said(s, "status", "Counters             : 4 alarms, 0 warnings (see health)", true);
	expect_said(s, "events", "counter began: alarm: port 1 of 'host-12': PortRcvErrors", true);
	expect_said(s, "unhealthy", "counters", true);
	publish(s, none, 1);
	expect_said(s, "events", "counter ended: alarm: port 1 of 'host-12': PortRcvErrors", true);
	expect_said(s, "status", "Counters  ", false);
	ck_assert_uint_eq(health_status(), 0);
	down(s);
}
END_TEST

/* Programs that wait are told of what has no event: a port is healthy again. */
START_TEST(news_of_ports)
{
	struct scenario *s = up("fattree:4", "flapping ca report\n", "sweep_interval 0\n");
	uint64_t image;

	publish(s, four, 1);
	expect_said(s, "sweep off", "", true);
	scenario_run_ms(s, 1000);
	image = journal_image(env.journal);
	expect_said(s, "unhealthy release all", "4 released", true);
	scenario_run_ms(s, 100);
	ck_assert_uint_gt(journal_image(env.journal), image);
	down(s);
}
END_TEST

/* Counters were read. */
START_TEST(news_of_counters)
{
	struct scenario *s = up("fattree:4", "flapping ca report\n",
				"sweep_interval 0\nperfmgr TRUE\nperfmgr_sweep_time_s 30\n");
	uint64_t image;

	scenario_run_ms(s, 60000);
	image = journal_image(env.journal);
	scenario_run_ms(s, 31000);
	ck_assert_uint_gt(journal_image(env.journal), image);
	ck_assert_uint_ge(journal_serial(env.journal), journal_image(env.journal));
	down(s);
}
END_TEST

/* 5 % of 48 links are 2: the worst are isolated, until their time is over. */
START_TEST(share)
{
	struct scenario *s = up("fattree:4", "counters ca isolate release 60\n", "");

	publish(s, four, 1);
	ck_assert(!is_in_subnet(s, "host-9"));
	ck_assert(!is_in_subnet(s, "host-10"));
	ck_assert(is_in_subnet(s, "host-11"));
	ck_assert(is_in_subnet(s, "host-12"));
	scenario_check_log(s,
			   "only reported: no more links may be excluded at once "
			   "(hm_unhealthy_ports_share)",
			   true);
	expect_said(s, "status", "Unhealthy Ports      : 4, 2 of them excluded", true);
	scenario_run_ms(s, 30 * 1000);
	ck_assert(!is_in_subnet(s, "host-9"));
	scenario_run_ms(s, 30 * 1000); /* what still stands counts once */
	scenario_converge(s, 20);
	ck_assert(is_in_subnet(s, "host-9"));
	publish(s, four, 1);
	ck_assert(!is_in_subnet(s, "host-9"));
	down(s);
}
END_TEST

START_TEST(whole_share)
{
	struct scenario *s =
		up("fattree:4", "counters ca disable\n",
		   _i ? "hm_unhealthy_ports_share 0\n" : "hm_unhealthy_ports_share 100\n");

	publish(s, four, 1);
	for (const char *const *name = four; *name; name++)
		ck_assert_int_eq(is_in_subnet(s, *name), _i);
	ck_assert(is_in_subnet(s, "host-0"));
	down(s);
}
END_TEST

/* Neither the cable of the SM, nor one without which other nodes would be cut off. */
START_TEST(never_a_cut)
{
	static const char *const first[] = {"s0", NULL}, *const own[] = {"h0", NULL};
	static const char *const names[] = {"s0", "s1", "s2", "s3", "s4", "h0", "h1", "h2"};
	struct scenario *s =
		up("chain.topo", "counters all disable\n", "hm_unhealthy_ports_share 100\n");

	publish(s, first, 1); /* to s2 */
	scenario_check_log(s, "other nodes would be cut off", true);
	publish(s, own, 1);
	scenario_check_log(s, "it is the cable of the SM's own port", true);
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++)
		scenario_expect(s, is_in_subnet(s, names[i]));
	down(s);
}
END_TEST

/* ---- by the manager itself ---- */

static void count_errors(struct scenario *s, const char *host, enum sim_port_counter which,
			 uint64_t n)
{
	unsigned int sw, port;

	g_assert(sim_peer(s->sim, scenario_node(s, host), 1, &sw, &port));
	g_assert(sim_port_count(s->sim, sw, port, which, n));
}

#define PERFMGR "perfmgr TRUE\nperfmgr_sweep_time_s 10\n"

/* Errors of a cable: an alarm with its cause, isolation, and the way back. */
START_TEST(whole_way)
{
	struct scenario *s = up("fattree:4", "counters ca isolate release 60\n", PERFMGR);

	scenario_run_ms(s, 25 * 1000);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 9);
	count_errors(s, "host-10", SIM_COUNT_SYMBOL_ERROR, 10);
	scenario_run_ms(s, 10 * 1000);
	scenario_check_log(s, "warning: port ", true);
	scenario_check_log(s,
			   "SymbolErrorCounter was 10 within 60 s (limit 10): only this end "
			   "receives errors: the cable, or the transmitter of port 1 of 'host-10'",
			   true);
	scenario_check_log(s, "ERR alarm: port ", false);
	ck_assert_uint_eq(health_status(), 0);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 1);
	scenario_run_ms(s, 14 * 1000);
	scenario_check_log(s, "ERR alarm: port ", true);
	scenario_check_log(s, "unhealthy (counters): port", true);
	ck_assert(!is_in_subnet(s, "host-9"));
	ck_assert(is_in_subnet(s, "host-10"));
	scenario_run_ms(s, 20 * 1000); /* afterwards it is judged afresh */
	scenario_check_log(s,
			   "alarm ended: port 2 of 'leaf-2-0' (0x0200000080000f00): "
			   "PortRcvErrors: its link is not in use",
			   true);
	scenario_run_ms(s, 50 * 1000);
	scenario_converge(s, 20);
	ck_assert(is_in_subnet(s, "host-9"));
	scenario_run_ms(s, 120 * 1000); /* it counts no more, so it stays */
	ck_assert(is_in_subnet(s, "host-9"));
	ck_assert_uint_eq(health_status(), 0);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 10);
	scenario_run_ms(s, 14 * 1000);
	ck_assert(!is_in_subnet(s, "host-9"));
	down(s);
}
END_TEST

/* Other rules at SIGHUP; wrong ones are refused, and the old ones stay. */
START_TEST(rules_again)
{
	struct scenario *s = up("fattree:4", "counters ca report\n", PERFMGR);

	scenario_run_ms(s, 25 * 1000);
	put(s, "rules",
	    "PortRcvErrors host alarm 5 in 60\nPortRcvErrors hots alarm 1 in 1\n"
	    "VL15Dropped none off\n");
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 1000);
	scenario_check_log(s, "the rules for counters are unchanged: perfmgr_rules_file: ", true);
	scenario_check_log(s, "rules:2:15: found 'hots', expected all, ", true);
	/* A line of its own. */
	scenario_check_log(s, "the rules for counters are unchanged: /", true);
	scenario_check_log(s, "rules:3:13: found 'none', expected all, ", true);
	scenario_check_log(s, "\\n", false);
	ck_assert_uint_eq(health_status(), CONTROL_FILES_BAD);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 9);
	scenario_run_ms(s, 12 * 1000);
	expect_said(s, "status", "Counters  ", false);
	put(s, "rules", "PortRcvErrors host alarm 5 in 60\n");
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 1000);
	scenario_check_log(s, "the rules for counters changed", true);
	ck_assert_uint_eq(health_status(), 0);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 5);
	scenario_run_ms(s, 12 * 1000);
	expect_said(s, "status", "Counters             : 1 alarms, 0 warnings", true);
	down(s);
}
END_TEST

/* A rule that asks for the unhealthy ports while its alarm stands. */
START_TEST(unhealthy_later)
{
	struct scenario *s = up("fattree:4", "counters ca report\n", PERFMGR);

	put(s, "rules", "PortRcvErrors host alarm 5 in 600\n");
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 25 * 1000);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 9);
	scenario_run_ms(s, 12 * 1000);
	expect_said(s, "status", "Counters             : 1 alarms, 0 warnings", true);
	scenario_check_log(s, "unhealthy (counters): port", false);
	put(s, "rules", "PortRcvErrors host alarm 5 in 600 unhealthy\n");
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 12 * 1000);
	scenario_check_log(s, "unhealthy (counters): port", true);
	down(s);
}
END_TEST

/* A rise of the level is one entry of the journal, and so is a fall. */
START_TEST(levels)
{
	struct scenario *s = up("fattree:4", "counters ca report\n", PERFMGR);

	put(s, "rules", "PortRcvErrors host alarm 5 in 30\nPortRcvErrors host warning 1 in 300\n");
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 25 * 1000);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 1);
	scenario_run_ms(s, 12 * 1000);
	expect_said(s, "events", "counter began: warning: ", true);
	count_errors(s, "host-9", SIM_COUNT_PORT_RCV_ERRORS, 9);
	scenario_run_ms(s, 12 * 1000);
	expect_said(s, "events", "counter began: alarm: ", true);
	expect_said(s, "events", "counter ended: ", false);
	expect_said(s, "status", "Counters             : 1 alarms, 0 warnings", true);
	scenario_run_ms(s, 90 * 1000);
	expect_said(s, "events", "counter ended: alarm: ", true);
	expect_said(s, "events", "counter ended: warning: ", false);
	expect_said(s, "status", "Counters             : 0 alarms, 1 warnings", true);
	scenario_check_log(s, " within 30 s; its level is now warning", true);
	down(s);
}
END_TEST

/* A host that is switched off and on is none of it; one whose cable flaps is. */
START_TEST(downs)
{
	struct scenario *s = up("fattree:4", "flapping ca report\n", PERFMGR);
	unsigned int sw, port;

	put(s, "rules", "LinkDownedCounter all alarm 1 in 300\n");
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 25 * 1000);
	sim_node_set(s->sim, scenario_node(s, "host-9"), false);
	scenario_run_ms(s, 45 * 1000);
	sim_node_set(s->sim, scenario_node(s, "host-9"), true);
	scenario_run_ms(s, 45 * 1000);
	scenario_check_log(s, "ERR alarm: port ", false);
	expect_said(s, "status", "Counters  ", false);
	g_assert(sim_peer(s->sim, scenario_node(s, "host-10"), 1, &sw, &port));
	sim_link_flap(s->sim, sw, port, NS_PER_S, NS_PER_S, 2); /* nothing explains that */
	scenario_run_ms(s, 20 * 1000);
	scenario_check_log(s,
			   "ERR alarm: port 1 of 'leaf-2-1' (0x0200000080001000): "
			   "LinkDownedCounter was ",
			   true);
	down(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_alarms");
	TCase *tcase = tcase_create("perf_alarms");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, reported);
	tcase_add_test(tcase, news_of_ports);
	tcase_add_test(tcase, news_of_counters);
	tcase_add_test(tcase, share);
	tcase_add_loop_test(tcase, whole_share, 0, 2);
	tcase_add_test(tcase, never_a_cut);
	tcase_add_test(tcase, whole_way);
	tcase_add_test(tcase, rules_again);
	tcase_add_test(tcase, unhealthy_later);
	tcase_add_test(tcase, levels);
	tcase_add_test(tcase, downs);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
