// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands of the console on a daemon in virtual time. */
#include "client/control.h"
#include "core/counters.h"
#include "core/options.h"
#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "ctl/report/status.h"
#include "iba/constants.h"
#include "tests/run_suite.h"
#include "tests/scenario/scenario.h"

#include <check.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <time.h>

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

static void start(void)
{
	f.s = scenario_new("fattree:4", 1);
	f.s->made = make_journal;
	f.s->made_arg = &f;
	scenario_start(f.s);
}

static void stop(void)
{
	scenario_stop(f.s);
	journal_free(f.env.journal);
	scenario_free(f.s);
}

static void start_converged(void)
{
	start();
	scenario_converge(f.s, 10);
}

static void take_plan(void *arg, GVariant *plan)
{
	command_answer_plan(plan, arg);
}

static bool is_answered(void *arg)
{
	return !((struct command_answer *)arg)->later;
}

static bool is_done(void *arg)
{
	return command_work_is_done(arg);
}

/* The answer to the line: valid until the next one. */
static const char *ask_as(const char *line, bool trusted, bool good)
{
	static char *text;
	struct command_answer answer;

	g_free(text);
	command_run(&f.env, line, trusted, &answer);
	if (answer.work) {
		g_free(answer.text);
		ck_assert(runtime_run(f.s->rt, is_done, answer.work, UINT64_MAX));
		command_answer_work(answer.work, &answer);
	} else if (answer.later) {
		g_free(answer.text);
		daemon_plan_listen(f.s->daemon, take_plan, &answer);
		ck_assert(runtime_run(f.s->rt, is_answered, &answer, UINT64_MAX));
	}
	text = answer.text;
	ck_assert_msg(answer.failed != good, "%s: %s", line, text);
	return text;
}

static const char *ask(const char *line)
{
	return ask_as(line, true, true);
}

static void expect(const char *line, const char *text)
{
	const char *answer = ask(line);

	ck_assert_msg(strstr(answer, text) != NULL, "%s: expected \"%s\" in\n%s", line, text,
		      answer);
}

static void expect_not(const char *line, const char *text)
{
	const char *answer = ask(line);

	ck_assert_msg(!strstr(answer, text), "%s: \"%s\" in\n%s", line, text, answer);
}

static void expect_error(const char *line, const char *text)
{
	const char *answer = ask_as(line, true, false);

	ck_assert_msg(strstr(answer, text) != NULL, "%s: expected \"%s\" in\n%s", line, text,
		      answer);
}

/* ---- what they print ---- */

static const struct {
	const char *line, *text;
} answers[] = {
	{"help", "\nSupported commands and syntax:\n"},
	{"help", "\nresweep heavy|light -- "},
	{"help", "\nsim link|unlink NODE PORT|traffic|errors|agent|cc|counters ... -- "},
	{"help status", "status [loop] -- "},
	{"help 'status'", "status [loop] -- "},
	{"  version\t", "OpenSM "},
	{"", ""},
	{"status", "   SM State             : Master\n"},
	{"status", "   SA State             : Ready\n"},
	{"status", "   Routing Engine       : minhop\n"},
	{"status", "   QP0 MADs outstanding           : 0\n"},
	{"status", "   Sweeping enabled               : 1\n"},
	{"status", "   Sweep interval (seconds)       : 10\n"},
	{"status", "   First time master sweep        : 0\n"},
	{"status", "   Switches                       : 20\n"},
	{"status", "   0x200000000000101 Master      0        SELF\n"},
	{"stat", "   SM State             : Master\n"},
	{"health", "healthy: MASTER, subnet up: 20 switches, 16 hosts, 48 links\nlast sweep: "},
	{"health", ", good, took "},
	{"health",
	 "\nwarning security: 4 settings leave the subnet open to its hosts; \"health security\" "
	 "lists them\n"},
	{"health security", "\nERROR security: m_key is 0: any host can set ports and tables; "},
	{"querylid 1", "Query results for LID 1\n   GUID                : 0x02"},
	{"querylid 0x1", "Query results for LID 1\n"},
	{"querylid 1", "   Port 1 health       : OK\n"},
	{"portstatus", "\"ALL\" port status:\n   96 port(s) scanned on 36 nodes in "},
	{"portstatus ca", "\"Channel Adapter\" port status:\n   16 port(s) scanned on 16 nodes "},
	{"portstatus switch", "   80 at 4X\n   80 at 25.78125 Gbps\n"},
	{"portstatus router", "   0 port(s) scanned on 0 nodes in "},
	{"switchbalance verbose", "Switch: 0x0200000080000700 (leaf-0-0)\nPort 3: 7\nPort 4: 7\n"},
	{"switchbalance", "Unbalanced Switch: 0x0200000080000500 (spine-0-0)\nPort 1: 2\n"},
	{"switchbalance verbose 0x0200000080000700", "(leaf-0-0)\nPort 3: 7\nPort 4: 7\n"},
	{"dump_conf", "\nlmc 0\n"},
	{"dump_conf", "\nm_key 0x0000000000000000\n"},
	{"dump_portguid ^host-0$ host-1$", "0x200000000000101\n0x200000000000201\n"},
	{"path host-0 host-15", "Path from host-0 (0x0200000000000101) LID "},
	{"path host-0 host-15", "P_Key 0xffff SL 0 MTU 4096 rate 100 Gb/s\n"},
	{"path host-0 host-15",
	 "  P_Key: partition Default\n  SL: partition Default\n  MTU: port 1 "
	 "of host-0\n  rate: port 1 of host-0\n  packet life time 18: "
	 "option subnet_timeout\n"},
	{"path host-0 host-15 pkey 0x7fff sl 3", "  P_Key: asked for\n  SL: asked for\n"},
	{"path host-0 host-15 pkey 0x1", "There is no such path: the two ports share no P_Key of "},
	{"path host-0 host-0 service-id 7 qos-class 4095", "0: it does not leave the port\n"},
	{"path host-0 0x0200000000001001", "  host-15 (0x0200000000001000)\n"},
	{"path 0x0200000000000100 leaf-0-0", "  leaf-0-0 (0x0200000080000700)\n"},
	{"path host-0 host-0", "     -     -"},
	{"lft leaf-0-0", "guid 0x0200000080000700 ('leaf-0-0'):\n0x0001 "},
	{"lft leaf-0-0", "# Channel Adapter portguid 0x0200000000000101: 'host-0'\n"},
	{"lft 0x0200000080000700", "36 lids dumped"},
	{"mgroups", "1 multicast group(s)\n   MLID 0xc000 MGID ff12:401b:ffff::ffff:ffff P_Key"},
	{"partitions", "1 partition(s), 1 class(es) of ports, enforced by switches\n"},
	{"partitions",
	 "   P_Key 0x7fff 'Default': 36 full and 0 limited members, 1 group(s), IPoIB\n"},
	{"partitions 0xffff", "0x0200000000000101 host-0 port 1: full\n"},
	{"partitions Default", "0x0200000080000700 leaf-0-0 port 0: full\n"},
	{"partitions reload", "partitions.conf has not changed\n"},
	{"partitions serial", "the latest policy is in effect\n"},
	{"qos", "QoS is off: opensm.conf says qos FALSE\n"},
	{"ports down", "0 port(s) down\n"},
	{"ports slow", "0 link(s) below"},
	{"events", "first subnet: 20 switches, 16 hosts, 48 links\n"},
	{"events", "the SM is MASTER\n"},
	{"events", "heavy sweep in "},
	{"loglevel", "Current log level is 0x"},
	{"priority", "Current sm-priority is 0\n"},
	{"plan", "Nothing would change\n"},
	{"plan all", "Read: 20 switches, 16 hosts, 48 links, by "},
	{"sim unlink leaf-0-0 3", "The cable of leaf-0-0 port 3 is pulled\n"},
	{"sim traffic add host-0 host-5 1M", "Done\n"},
	{"sim traffic list", "no flows\n"},
	{"sim errors leaf-0-0 1 cable 5", "Done\n"},
	{"sim agent leaf-0-0", "\"leaf-0-0\" all-ports extended"},
	{"sim counters leaf-0-0 1", "PortXmitData"},
};

START_TEST(what_they_print)
{
	expect(answers[_i].line, answers[_i].text);
}
END_TEST

/* Commands that osmsim has as well answer with whole texts, which stay lines. */
START_TEST(lines_of_the_fabric)
{
	expect("sim counters leaf-0-0 1", "\nPortRcvData ");
	expect("sim agent list", "\nsilent           it answers nothing\n");
	expect("sim counters leaf-0-0 1 json", "{\"lines\":[\"");
	expect("sim counters leaf-0-0 1 json", "\",\"PortRcvData ");
	expect_not("sim counters leaf-0-0 1 json", "x0a");
	expect("sim errors leaf-0-0 1 cable 5 json", "{\"text\":\"Done\"}\n");
}
END_TEST

static const struct {
	const char *line, *text;
} errors[] = {
	{"bogus", "bogus : Command not found"},
	{"HELP", "HELP : Command not found"},
	{"s", "s : may be status, sweep, switchbalance, subscriptions, sim"},
	{"help bogus", "bogus : Command not found"},
	{"quit now", "'now' is not expected"},
	{"health now", "expected accept, security or nothing"},
	{"status looping", "Invalid status command: expected loop"},
	{"resweep", "Invalid resweep command: expected heavy or light\nresweep heavy|light\n"},
	{"resweep foo", "Invalid resweep command"},
	{"sweep", "Invalid sweep command: expected on or off\nsweep on|off\n"},
	{"logflush", "Invalid logflush command: expected on or off\nlogflush on|off\n"},
	{"loglevel zz", "Invalid loglevel command: expected a number from 0 to 0xff"},
	{"loglevel 0x100", "Invalid loglevel command"},
	{"priority 77", "Invalid sm-priority 77; must be between 0 and 15\n"},
	{"priority -1", "Invalid sm-priority -1"},
	{"querylid", "no LID specified"},
	{"querylid 999", "Invalid lid 999\n"},
	{"querylid 65536", "Invalid lid 65536\n"},
	{"querylid 1x", "Invalid lid 1x\n"},
	{"portstatus bogus", "Node type not understood"},
	{"switchbalance 0x99", "guid not found"},
	{"switchbalance leaf-0-0", "'leaf-0-0' is not a GUID"},
	{"lidbalance 0x99", "switchguid not found"},
	{"plan all of", "Invalid plan command: of: expected the absolute name of a file\n"},
	{"plan /a /b", "'/b' is not expected"},
	{"plan /no/where", "/no/where"},
	{"plan /dev/zero", "expected a regular file"},
	{"dump_portguid", "No valid expression provided. Aborting"},
	{"dump_portguid [", "Cannot parse regular expression '['"},
	{"path host-0", "expected two ends"},
	{"path host-0 host-1 sl", "expected service-id, qos-class, pkey or sl and a number"},
	{"path host-0 host-1 sl 16", "expected service-id, qos-class, pkey or sl and a number"},
	{"path host-0 host-1 sl x", "expected service-id, qos-class, pkey or sl and a number"},
	{"path host-0 host-1 mtu 4", "expected service-id, qos-class, pkey or sl and a number"},
	{"path host-0 nobody", "there is no node 'nobody'"},
	{"path 0x0200000000009999 1", "there is no port or node with GUID 0x0200000000009999"},
	{"path host-0 0xC000", "Invalid lid 0xC000"},
	{"lft host-0", "'host-0' is not a switch"},
	{"lft", "expected one switch"},
	{"mgroups all", "'all' is not expected"},
	{"subscriptions all", "expected missed or nothing"},
	{"aliases x", "expected no argument"},
	{"partitions 1 2", "expected one argument at most"},
	{"partitions nobody", "there is no partition 'nobody'"},
	{"qos 1 2 3", "expected two arguments at most"},
	{"ports", "expected down or slow"},
	{"events many", "expected a number"},
	{"partitions change", "expected a definition"},
	{"partitions change by", "expected a user after 'by'"},
	{"partitions change wait", "after 'wait'"},
	{"partitions change 0x12,mtu=9,foo: 0x7=full",
	 "a code: 1 is 256 octets, 4 is 2048, 5 is 4096; request:1: found 'foo', expected "},
	{"partitions change wait 21 1: 2", "after 'wait'"},
	{"partitions change strict existing", "expected a definition"},
	{"partitions forget strict", "expected a P_Key or all"},
	{"partitions members x", "expected a P_Key or nothing"},
	{"partitions change \" \"", "expected a definition"},
	{"sim unlink", "expected link or unlink, a node and a port"},
	{"sim cut leaf-0-0 3", "expected traffic, errors, agent, cc or counters"},
	{"sim traffic add host-0 host-5 much", "'much' is not a rate"},
	{"sim agent leaf-0-0 lazy", "'lazy' is not a kind of agent"},
	{"sim unlink leaf-0-0 0", "'0' is not a port number"},
	{"sim unlink leaf-0-0 99", "port 99 of 'leaf-0-0' has no cable"},
	{"sim unlink nobody 1", "there is no node 'nobody'"},
	{"\033[2J", "control characters"},
	{"\xff\xfe", "not text"},
};

START_TEST(what_they_refuse)
{
	expect_error(errors[_i].line, errors[_i].text);
}
END_TEST

START_TEST(lines_too_long)
{
	g_autofree char *fits = g_strnfill(COMMAND_MAX_LINE, 'x');
	g_autofree char *too_long = g_strnfill(COMMAND_MAX_LINE + 1, 'x');

	expect_error(fits, "Command not found");
	expect_error(too_long, "The line is too long");
}
END_TEST

/* ---- JSON ---- */

/* A line that works for each command; the test sees that none is missing. */
static const char *const good_lines[] = {
	"help",
	"quit",
	"exit",
	"version",
	"status",
	"health",
	"unhealthy",
	"resweep light",
	"reroute",
	"sweep on",
	"loglevel 3",
	"permodlog",
	"logflush off",
	"priority 3",
	"activate",
	"querylid 1",
	"portstatus",
	"switchbalance",
	"lidbalance",
	"plan",
	"dump_conf",
	"update_desc",
	"audit all",
	"dump_portguid host-1",
	"path host-0 host-9",
	"lft leaf-0-0",
	"mgroups",
	"subscriptions",
	"aliases",
	"partitions 0x7fff",
	"qos",
	"cc",
	"ports down",
	"events 5",
	"plugins",
	"metrics",
	"image",
	"perfmgr",
	"sim link leaf-0-0 3",
};

static JsonObject *parse(JsonParser *parser, const char *text)
{
	g_autoptr(GError) error = NULL;

	ck_assert_msg(json_parser_load_from_data(parser, text, -1, &error), "%s: %s",
		      error ? error->message : "", text);
	ck_assert_msg(!strchr(text, '\n')[1], "more than a line");
	ck_assert(JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)));
	return json_node_get_object(json_parser_get_root(parser));
}

START_TEST(every_command_as_json)
{
	const char *name, *arguments, *help;
	unsigned int n = 0;

	for (; command_describe(n, &name, &arguments, &help); n++) {
		g_autofree char *line = NULL;
		g_autoptr(JsonParser) parser = json_parser_new();
		JsonObject *object;

		ck_assert_uint_lt(n, G_N_ELEMENTS(good_lines));
		ck_assert(g_str_has_prefix(good_lines[n], name));
		line = g_strconcat(good_lines[n], " json", NULL);
		object = parse(parser, ask(line));
		ck_assert_msg(json_object_get_size(object) > 0, "%s", line);
		ck_assert(!json_object_has_member(object, "error"));
	}
	ck_assert_uint_eq(n, G_N_ELEMENTS(good_lines));
}
END_TEST

START_TEST(json_has_what_the_text_has)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = parse(parser, ask("path host-0 host-15 json"));
	JsonArray *hops = json_object_get_array_member(object, "hops");

	ck_assert(json_object_get_boolean_member(object, "arrives"));
	ck_assert_int_eq(json_object_get_int_member(object, "mtu"), 4096);
	ck_assert_str_eq(json_object_get_string_member(object, "sl_by"), "partition Default");
	ck_assert_str_eq(json_object_get_string_member(object, "rate_by"), "port 1 of host-0");
	/* Host, leaf, spine, core, spine, leaf, host. */
	ck_assert_uint_eq(json_array_get_length(hops), 7);
	object = json_array_get_object_element(hops, 6);
	ck_assert_str_eq(json_object_get_string_member(object, "node"), "host-15");
	object = parse(parser, ask_as("querylid 999 json", true, false));
	ck_assert_str_eq(json_object_get_string_member(object, "error"), "Invalid lid 999");
	object = parse(parser, ask_as("nothing of the kind json", true, false));
	ck_assert(json_object_has_member(object, "error"));
}
END_TEST

/* As the SA reports it: for one that stays at its port, and with port 0 of a switch as end. */
START_TEST(ends_limit_a_path)
{
	static const struct {
		const char *line, *rate, *by;
	} paths[] = {
		{"path host-0 host-0 json", "100 Gb/s", "port 1 of host-0"},
		{"path leaf-0-0 leaf-0-0 json", "10 Gb/s", "port 0 of leaf-0-0"},
		{"path leaf-0-0 host-15 json", "10 Gb/s", "port 0 of leaf-0-0"},
		{"path host-15 leaf-0-0 json", "10 Gb/s", "port 0 of leaf-0-0"},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_autoptr(JsonParser) parser = json_parser_new();
		JsonObject *object = parse(parser, ask(paths[i].line));

		ck_assert_int_eq(json_object_get_int_member(object, "mtu"), 4096);
		ck_assert_str_eq(json_object_get_string_member(object, "rate"), paths[i].rate);
		ck_assert_str_eq(json_object_get_string_member(object, "rate_by"), paths[i].by);
	}
}
END_TEST

START_TEST(before_the_first_subnet)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(good_lines); i++) {
		struct command_answer answer;

		command_run(&f.env, good_lines[i], true, &answer);
		if (answer.work) {
			g_free(answer.text);
			ck_assert(runtime_run(f.s->rt, is_done, answer.work, UINT64_MAX));
			command_answer_work(answer.work, &answer);
		}
		ck_assert(!answer.failed || !strcmp(answer.text, "no subnet yet\n"));
		g_free(answer.text);
	}
	expect_error("path host-0 host-1", "no subnet yet");
	expect_error("partitions change 1: 2 json",
		     "{\"error\":\"no subnet yet\",\"kind\":\"not master\"}\n");
	atomic_store(&daemon_context(f.s->daemon)->sm_state, IBA_SM_MASTER);
	expect_error("lft 1 json", "{\"error\":\"no subnet yet\",\"kind\":\"no subnet\"}\n");
	atomic_store(&daemon_context(f.s->daemon)->sm_state, IBA_SM_DISCOVERING);
	expect("status", "   SM State             : Discovering\n");
	atomic_store(&daemon_context(f.s->daemon)->sm_state, IBA_SM_NOT_ACTIVE);
	expect("status", "   SM State             : Not Active\n"); /* as the classic prints it */
	expect("status", "   SA State             : Not ready\n");
	expect("status", "   Routing Engine       : <none>\n");
}
END_TEST

/* ---- what they do ---- */

static uint64_t count_heavy(void)
{
	return counter_get(&daemon_context(f.s->daemon)->counters, sweeps_heavy);
}

START_TEST(sweeps_off_and_on)
{
	uint64_t smps, heavy = count_heavy();

	ask("sweep off");
	scenario_run_ms(f.s, 100);
	expect("status", "   Sweeping enabled               : 0\n");
	smps = scenario_counters(f.s).gets;
	ask("sim unlink leaf-0-0 3");
	expect("resweep heavy", "Sweeps are off: it will run after 'sweep on'\n");
	scenario_run_ms(f.s, 30000);
	ck_assert_uint_eq(scenario_counters(f.s).gets, smps);
	ck_assert_uint_eq(count_heavy(), heavy);
	ask("sweep on");
	scenario_converge(f.s, 10);
	ck_assert_uint_eq(count_heavy(), heavy + 1);
	expect("status", "   Sweeping enabled               : 1\n");
	expect("events", "sweeps are off\n");
	/* And the interval goes on. */
	smps = scenario_counters(f.s).gets;
	scenario_run_ms(f.s, 11000);
	ck_assert_uint_gt(scenario_counters(f.s).gets, smps);
}
END_TEST

START_TEST(sweeps_wanted)
{
	struct counters *counters = &daemon_context(f.s->daemon)->counters;
	uint64_t heavy = count_heavy(), light = counter_get(counters, sweeps_light);

	ask("resweep heavy");
	scenario_run_ms(f.s, 500);
	ck_assert_uint_eq(count_heavy(), heavy + 1);
	ask("resweep light");
	scenario_run_ms(f.s, 500);
	ck_assert_uint_eq(counter_get(counters, sweeps_light), light + 1);
	ask("reroute");
	scenario_run_ms(f.s, 500);
	ck_assert_uint_eq(counter_get(counters, sweeps_reroute), 1);
	expect("events", "reroute sweep in ");
	expect("events", " ms (reroute requested)\n");
	expect("events", "light sweep in ");
}
END_TEST

START_TEST(descriptions_again)
{
	uint64_t gets = scenario_counters(f.s).gets;

	ask("update_desc");
	scenario_run_ms(f.s, 1000);
	/* One for each of 36 nodes, and no discovery of their ports. */
	ck_assert_uint_ge(scenario_counters(f.s).gets, gets + 36);
	ck_assert_uint_lt(scenario_counters(f.s).gets, gets + 60);
	expect("path host-0 host-1", "host-1");
	scenario_check(f.s);
}
END_TEST

START_TEST(options_changed)
{
	struct options *options;

	expect("priority 9", "Setting sm-priority to 9\n");
	expect("priority", "Current sm-priority is 9\n");
	expect("status", "   SM Priority          : 9\n");
	expect("loglevel 0x43", "Setting log level to 0x43\n");
	expect("loglevel", "Current log level is 0x43\n");
	ck_assert(log_wants(f.s->log, LOG_ROUTING, "x.c"));
	ask("logflush on");
	options = slot_take(&daemon_context(f.s->daemon)->options);
	ck_assert(options->force_log_flush);
	ck_assert_uint_eq(options->sm_priority, 9);
	options_unref(options);
	/* Rereading the file undoes it. */
	ck_assert(daemon_reread(f.s->daemon, NULL));
	expect("priority", "Current sm-priority is 0\n");
}
END_TEST

START_TEST(json_has_types)
{
	expect("priority json", "\"priority\":0");
	expect("priority 9 json", "\"priority\":9");
	expect("priority 0", "Setting sm-priority to 0\n");
	expect("loglevel json", "\"log_flags\":3");
	expect("dump_conf json", "\"lmc\":0,");
	expect("dump_conf json", "\"qos\":false,");
	expect("dump_conf json", "\"qos_high_limit\":-1,");
	expect("dump_conf json", "\"routing_engine\":null,");
	expect("dump_conf json", "\"sm_key\":\"0x0000000000000001\",");
	expect("dump_conf", "\nqos FALSE\n");
	expect("dump_conf", "\nqos_high_limit -1\n");
	expect("dump_conf", "\nrouting_engine (null)\n");
	expect("dump_conf", "\n# --sim-loss 0\n");
}
END_TEST

/* What anyone can abuse is named with the option to set, as long as it is so. */
START_TEST(insecure_settings)
{
	expect("status", "\n   Insecure Settings\n");
	expect("status", "   m_key is 0: ");
	expect("status", "   sm_key is the well-known default; ");
	expect("status json", "\"insecure\":[{\"key\":\"m_key\"");
	scenario_conf(f.s, "m_key 0x1234\nsm_key 0x5678\n");
	ck_assert(daemon_reread(f.s->daemon, NULL));
	expect_not("status", "   m_key is 0: ");
	expect_not("status", "   sm_key is");
	expect("status", "   sa_key is ");
	expect("status", "   m_key_protection_level is 0: ");
	scenario_conf(f.s, "m_key 0x1234\nm_key_protection_level 1\nsm_key 0x5678\n"
			   "sa_key 0x9abc\n");
	ck_assert(daemon_reread(f.s->daemon, NULL));
	expect_not("status", "   m_key_protection_level is");
	expect_not("status", "   sa_key is ");
	expect("status", "   m_key_per_port is FALSE: ");
	expect("status", "   partition_config_file leaves every port a full member ");
	expect("status json", "\"insecure_settings\":2");
	expect("health security", "ERROR security: m_key_per_port is FALSE: ");
}
END_TEST

/* A user that may only look cannot make the SM send packets. */
START_TEST(looks_send_nothing)
{
	struct counters *counters = &daemon_context(f.s->daemon)->counters;
	unsigned int n = 0;

	ask("sweep off");
	for (unsigned int i = 0; i < G_N_ELEMENTS(answers) + G_N_ELEMENTS(good_lines); i++) {
		const char *line = i < G_N_ELEMENTS(answers)
					   ? answers[i].line
					   : good_lines[i - G_N_ELEMENTS(answers)];
		uint64_t before = counter_get(counters, smp_sent), sent;

		if (command_changes(line))
			continue;
		ask(line);
		scenario_run_ms(f.s, 10);
		sent = counter_get(counters, smp_sent) - before;
		ck_assert_msg(!sent, "%s: %u SMPs", line, (unsigned int)sent);
		n++;
	}
	ck_assert_uint_gt(n, 60);
}
END_TEST

START_TEST(refused_files)
{
	expect_not("status", "was refused");
	scenario_conf(f.s, "lmc 0\nsm_sl 99\n");
	ck_assert(!daemon_reread_logged(f.s->daemon));
	expect("status", "   ERROR                : opensm.conf was refused at 20");
	expect("status", "opensm.conf:2: sm_sl: '99'");
	expect("status json", "\"refused\":[{\"what\":\"opensm.conf\",\"since\":\"20");
	scenario_conf(f.s, "sm_sl 1\n");
	ck_assert(daemon_reread_logged(f.s->daemon));
	expect_not("status", "was refused");
}
END_TEST

START_TEST(refused_route_file)
{
	g_autofree char *directory = g_dir_make_tmp("opensm-console-XXXXXX", NULL);
	g_autofree char *roots = g_build_filename(directory, "roots", NULL);

	ck_assert(g_file_set_contents(roots, "0x0200000080000900\n", -1, NULL));
	f.s = scenario_new("fattree:4", 1);
	scenario_option(f.s, "--root_guid_file", roots);
	f.s->made = make_journal;
	f.s->made_arg = &f;
	scenario_start(f.s);
	scenario_converge(f.s, 10);
	expect_not("status", "was refused");
	ck_assert(g_file_set_contents(roots, "\nno GUID\n", -1, NULL));
	daemon_reread_routes(f.s->daemon);
	expect("status", "a file of the routing options was refused at 20");
	expect("status", "roots:2: ");
	ck_assert(g_file_set_contents(roots, "0x0200000080000900\n", -1, NULL));
	daemon_reread_routes(f.s->daemon);
	expect_not("status", "was refused");
	stop();
	g_unlink(roots);
	g_rmdir(directory);
}
END_TEST

/* ---- health ---- */

static void expect_health(enum control_status status, const char *text)
{
	struct command_answer answer;

	command_run(&f.env, "health", true, &answer);
	ck_assert_msg(!answer.failed && answer.status == status && strstr(answer.text, text),
		      "expected %u with \"%s\", got %u with\n%s", status, text, answer.status,
		      answer.text);
	g_free(answer.text);
}

/* Each kind of files has a name in what the operator is told. */
START_TEST(refused_of_all_kinds)
{
	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		g_autofree char *told = g_strdup_printf("ERROR files: %s refused at 20",
							daemon_files_name(i));

		daemon_refuse(f.s->daemon, i, "of a reason");
		expect("status", daemon_files_name(i));
		expect_health(CONTROL_FILES_BAD, told);
		daemon_refuse(f.s->daemon, i, NULL);
	}
}
END_TEST

START_TEST(health_of_the_sm)
{
	expect_health(CONTROL_NO_SM, "ERROR sm: the SM is DISCOVERING, neither MASTER nor STANDBY");
	atomic_store(&daemon_context(f.s->daemon)->sm_state, IBA_SM_DISCOVERING);
	expect_health(CONTROL_NO_SM, "ERROR sm: the SM is DISCOVERING");
	atomic_store(&daemon_context(f.s->daemon)->sm_state, IBA_SM_STANDBY);
	expect_health(CONTROL_DONE, "healthy: STANDBY");
}
END_TEST

static unsigned int times(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void reset_stubborn(const char *description)
{
	unsigned int node = scenario_node(f.s, description);

	sim_node_set(f.s->sim, node, false);
	sim_node_set(f.s->sim, node, true);
	sim_node_stubborn(f.s->sim, node, true);
}

/* A host that does not answer makes sweeps fail at first; it is kept, and named once. */
START_TEST(health_of_devices)
{
	unsigned int node = scenario_node(f.s, "host-7");

	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
	sim_node_mute(f.s->sim, node, true);
	ask("resweep heavy");
	scenario_run_ms(f.s, 5000);
	expect_health(CONTROL_SUBNET_BAD, "ERROR device: host-7 (0x");
	expect_health(CONTROL_SUBNET_BAD, ") does not answer: its link is up; it is kept");
	ck_assert_uint_eq(times(ask("health"), "ERROR "), 1);
	reset_stubborn("host-6"); /* an error of another one is shown beside it */
	scenario_run_ms(f.s, 5000);
	expect_health(CONTROL_SUBNET_BAD, "ERROR device: 'host-6' (0x");
	expect_health(CONTROL_SUBNET_BAD, "ERROR device: host-7 (0x");
	ck_assert_uint_eq(times(ask("health"), "ERROR "), 2);
	sim_node_stubborn(f.s->sim, scenario_node(f.s, "host-6"), false);
	scenario_run_ms(f.s, 120000);
	expect_health(CONTROL_DEVICES_BAD, "ERROR device: host-7 (0x");
	expect_health(CONTROL_DEVICES_BAD, ") does not answer: its link is up; it is kept");
	ck_assert_uint_eq(times(ask("health"), "ERROR "), 1);
	expect_health(CONTROL_DEVICES_BAD, "NOT HEALTHY: MASTER, subnet up");
	sim_node_mute(f.s->sim, node, false);
	scenario_run_ms(f.s, 120000);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
}
END_TEST

static void set_node(const char *description, bool up)
{
	sim_node_set(f.s->sim, scenario_node(f.s, description), up);
	scenario_run_ms(f.s, 3000);
}

/* Nodes missing in comparison with a while ago, until they are back, given up, or long gone. */
START_TEST(health_of_losses)
{
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
	set_node("host-7", false);
	expect_health(CONTROL_NODES_LOST,
		      "ERROR subnet: 1 host fewer than within the last 60 min (15 of 16); ");
	expect("health json", "1 host fewer than within the last 60 min");
	set_node("host-7", true);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up: 20 switches, 16 hosts");
	set_node("host-7", false);
	set_node("spine-0-0", false);
	expect_health(CONTROL_NODES_LOST, "ERROR subnet: 1 switch fewer than within the last ");
	expect_health(CONTROL_NODES_LOST, "ERROR subnet: 1 host fewer than within the last ");
	ask("health accept");
	expect("events 1", "the present nodes and cables were accepted");
	expect("events 1 json", "\"change\":\"accepted\"");
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up: 19 switches, 15 hosts");
	set_node("host-5", false);
	set_node("host-6", false);
	expect_health(CONTROL_NODES_LOST, "ERROR subnet: 2 hosts fewer than within the last 60 "
					  "min (13 of 15); ");
	scenario_run_ms(f.s, 3700 * 1000);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up: 19 switches, 13 hosts");
}
END_TEST

static void set_options(const char *lines)
{
	scenario_conf(f.s, lines);
	ck_assert(daemon_reread(f.s->daemon, NULL));
	scenario_run_ms(f.s, 1000);
}

/* Losing a cable between switches cuts off no node, and yet it is missing. */
START_TEST(health_of_a_cable)
{
	ask("sim unlink leaf-0-0 3");
	scenario_run_ms(f.s, 3000);
	expect_health(CONTROL_CABLES_LOST,
		      "ERROR subnet: 1 cable fewer than within the last 60 min (31 of 32); ");
	ask("sim link leaf-0-0 3");
	scenario_run_ms(f.s, 3000);
	expect_health(CONTROL_DONE, "healthy: MASTER");
}
END_TEST

/* The cable of the SM's own port is pulled. */
START_TEST(health_of_the_own_cable)
{
	g_autofree char *line = NULL;

	ask("sim unlink host-0 1");
	scenario_run_ms(f.s, 15000);
	line = status_line(daemon_context(f.s->daemon));
	ck_assert_str_eq(line, "MASTER, its port is down");
	expect_health(CONTROL_NO_SM, "NOT HEALTHY: MASTER, its port is down\n");
	expect_health(CONTROL_NO_SM, "ERROR sm: its port is down: check the cable");
	ask("sim link host-0 1");
	scenario_run_ms(f.s, 15000);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
	scenario_check_log(f.s, "0x80 -> SM port is up", true);
}
END_TEST

/* Options say how many lost hosts are only a warning, and for how long they count. */
START_TEST(health_of_few_losses)
{
	set_options("health_lost_hosts 10\n");
	set_node("host-7", false);
	expect_health(CONTROL_DONE, "warning subnet: 1 host fewer than within the last 60 min ");
	set_node("host-6", false);
	expect_health(CONTROL_NODES_LOST, "ERROR subnet: 2 hosts fewer than within the last 60 ");
	set_options("health_window 0\n");
	expect_health(CONTROL_DONE, "healthy: MASTER");
	ck_assert_ptr_null(strstr(ask("health"), "fewer"));
	set_options("health_window 90\n");
	set_node("host-5", false);
	expect_health(CONTROL_NODES_LOST, "ERROR subnet: 1 host fewer than within the last 90 s ");
	scenario_run_ms(f.s, 100 * 1000);
	expect_health(CONTROL_DONE, "healthy: MASTER");
}
END_TEST

/* A cable with one lane of four is not healthy; if it is meant so, it is. */
START_TEST(health_of_links)
{
	unsigned int node = scenario_node(f.s, "host-7");

	ck_assert(sim_link_degrade(f.s->sim, node, 1, 1, 212500));
	scenario_run_ms(f.s, 3000);
	expect_health(CONTROL_LINKS_SLOW, "ERROR link: the cable from ");
	expect_health(CONTROL_LINKS_SLOW, " runs at 1X ");
	expect_health(CONTROL_LINKS_SLOW, " a lane, 25% of what both ends can do\n");
	ck_assert_uint_eq(times(ask("health"), "ERROR link: "), 1);
	set_options("force_link_width 1\n");
	ask("resweep heavy");
	scenario_run_ms(f.s, 30000);
	expect_health(CONTROL_DONE, "healthy: MASTER");
	set_options("force_link_width 255\n");
	ask("resweep heavy");
	scenario_run_ms(f.s, 3000);
	ck_assert(sim_link_degrade(f.s->sim, node, 1, 12, 212500));
	scenario_run_ms(f.s, 30000);
	expect_health(CONTROL_DONE, "healthy: MASTER");
	ck_assert_ptr_null(strstr(ask("health"), " link: "));
	ck_assert(sim_link_degrade(f.s->sim, node, 1, 12, 14062)); /* FDR in place of EDR */
	scenario_run_ms(f.s, 3000);
	expect_health(CONTROL_DONE, "warning link: 1 cable runs below what both ends can do");
}
END_TEST

/* 45 seconds in which the device accepts nothing: whatever was known, no node is reached. */
START_TEST(health_of_sends)
{
	unsigned int port, node = scenario_sm_node(f.s, &port);

	sim_device_refuse(f.s->sim, node, true);
	scenario_run_ms(f.s, 45000);
	expect_health(CONTROL_NO_SM, "ERROR sm: the device has refused all of the last ");
	sim_device_refuse(f.s->sim, node, false);
	scenario_run_ms(f.s, 15000);
	ck_assert_ptr_null(strstr(ask("health"), "the device has refused"));
	scenario_run_ms(f.s, 120000);
	expect_health(CONTROL_DONE, "healthy: MASTER");
}
END_TEST

/* Devices that cause errors are named, of many the first ones, until they no longer do. */
START_TEST(health_of_the_sick)
{
	char name[] = "host-1";

	reset_stubborn("spine-0-0");
	scenario_run_ms(f.s, 20000);
	expect_health(CONTROL_SUBNET_BAD, "ERROR device: 'spine-0-0' (0x");
	expect_not("health", "ERROR subnet: ");
	expect("health json", "{\"subject\":\"device\",\"text\":\"'spine-0-0' (0x");
	sim_node_stubborn(f.s->sim, scenario_node(f.s, "spine-0-0"), false);
	scenario_run_ms(f.s, 20000);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
	for (; name[5] <= '9'; name[5]++)
		reset_stubborn(name);
	reset_stubborn("host-10");
	reset_stubborn("host-11");
	reset_stubborn("host-12");
	scenario_run_ms(f.s, 20000);
	ck_assert_uint_eq(times(ask("health"), "ERROR device: 'host-"), 10);
	expect("health", "ERROR device: 2 more nodes have errors; see the log\n");
}
END_TEST

/* A cable that leads back into its port is not a device that does not answer. */
START_TEST(health_of_a_loopback_plug)
{
	unsigned int node = scenario_node(f.s, "host-7"), leaf, port;

	ck_assert(sim_peer(f.s->sim, node, 1, &leaf, &port));
	ck_assert(sim_cable_move(f.s->sim, node, 1, leaf, port));
	scenario_run_ms(f.s, 30000);
	ask("health accept"); /* accepts that the host is gone */
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
	expect_health(CONTROL_DONE, "warning device: a loopback plug is in leaf-1-1 ");
	ck_assert(sim_cable_move(f.s->sim, leaf, port, node, 1));
	scenario_run_ms(f.s, 30000);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up: 20 switches, 16 hosts");
	ck_assert_ptr_null(strstr(ask("health"), "loopback"));
}
END_TEST

/* A host of another subnet manager is named, with the port in front of it. */
START_TEST(health_of_unknown_keys)
{
	unsigned int node = scenario_node(f.s, "host-7");

	sim_set_m_key(f.s->sim, node, 1, 0x77, 1, 0);
	sim_set_port_guid(f.s->sim, node, 1, 0x77); /* equivalent to another host */
	sim_link_set(f.s->sim, node, 1, false);
	scenario_run_ms(f.s, 2000);
	sim_link_set(f.s->sim, node, 1, true);
	scenario_run_ms(f.s, 12000);
	expect_health(CONTROL_DEVICES_BAD, "ERROR m_key: ");
	expect_health(CONTROL_DEVICES_BAD, "behind 'leaf-1-1' ");
	expect("status", " port 2: unknown M_Key\n");
	expect("status json", "\"unknown_m_keys\":[{\"why\":");
}
END_TEST

START_TEST(health_of_the_port)
{
	unsigned int port, node = scenario_sm_node(f.s, &port);

	sim_device_set(f.s->sim, node, false);
	scenario_run_ms(f.s, 10);
	expect_health(CONTROL_NO_SM, "ERROR sm: the device of its port is gone");
	expect_health(CONTROL_NO_SM, "NOT HEALTHY: MASTER, its port is gone\n");
	sim_device_set(f.s->sim, node, true);
	scenario_converge(f.s, 10);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
}
END_TEST

/* A net of this size does not take a sweep so long: the time when it began is moved back. */
START_TEST(health_of_a_long_sweep)
{
	struct context *context = daemon_context(f.s->daemon);

	scenario_run_ms(f.s, 70000);
	ck_assert_uint_eq(atomic_load(&context->sweep_since), 0);
	ask("resweep heavy");
	scenario_run_ms(f.s, 0);
	ck_assert_uint_eq(atomic_load(&context->sweep_since), runtime_now(context->rt));
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
	atomic_fetch_sub(&context->sweep_since, 61 * NS_PER_S);
	expect_health(CONTROL_SUBNET_BAD, "ERROR sweep: a sweep has been running for 61 s: ");
	scenario_run_ms(f.s, 2000);
	ck_assert_uint_eq(atomic_load(&context->sweep_since), 0);
}
END_TEST

START_TEST(health_of_files)
{
	scenario_conf(f.s, "lmc 0\nsm_sl 99\n");
	ck_assert(!daemon_reread_logged(f.s->daemon));
	expect_health(CONTROL_FILES_BAD, "ERROR files: opensm.conf refused at 20");
	expect_health(CONTROL_FILES_BAD, "opensm.conf:2: sm_sl: '99'");
	scenario_conf(f.s, "lmc 9\nsm_sl 99\n");
	ck_assert(!daemon_reread_logged(f.s->daemon));
	expect_health(CONTROL_FILES_BAD, "; ");
	expect_health(CONTROL_FILES_BAD, "opensm.conf:2: sm_sl: '99'");
	/* The worse problem counts, and hides nothing. */
	atomic_store(&daemon_context(f.s->daemon)->sm_state, IBA_SM_NOT_ACTIVE);
	expect_health(CONTROL_NO_SM, "opensm.conf:2: sm_sl: '99'");
	atomic_store(&daemon_context(f.s->daemon)->sm_state, IBA_SM_MASTER);
	scenario_conf(f.s, "sm_sl 1\n");
	ck_assert(daemon_reread_logged(f.s->daemon));
	ask("sweep off");
	scenario_run_ms(f.s, 10);
	expect_health(CONTROL_SWEEPS_OFF, "ERROR sweep: sweeps are off: ");
}
END_TEST

/* A directory is in the place of the LIDs' file, and a foreign card is plugged in. */
START_TEST(health_of_what_is_kept)
{
	const char *cache_dir = daemon_context(f.s->daemon)->cache_dir;
	g_autofree char *file = g_build_filename(cache_dir, "guid2lid", NULL);
	unsigned int node = scenario_node(f.s, "host-7");

	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
	ck_assert_int_eq(g_unlink(file), 0);
	ck_assert_int_eq(g_mkdir(file, 0700), 0);
	sim_link_set(f.s->sim, node, 1, false);
	scenario_run_ms(f.s, 2000);
	sim_set_port_guid(f.s->sim, node, 1, 0x77);
	sim_link_set(f.s->sim, node, 1, true);
	scenario_run_ms(f.s, 2000);
	expect_health(CONTROL_FILES_BAD, "ERROR files: LIDs, M_Keys or vacated P_Key indexes");
	ck_assert_int_eq(g_rmdir(file), 0);
	ask("resweep heavy");
	scenario_run_ms(f.s, 2000);
	expect_health(CONTROL_DONE, "healthy: MASTER, subnet up");
}
END_TEST

START_TEST(keys_are_for_the_trusted)
{
	ck_assert_ptr_nonnull(strstr(ask_as("dump_conf", false, true), "\nm_key (hidden)\n"));
	ck_assert_ptr_nonnull(strstr(ask_as("dump_conf", false, true), "\nsa_key (hidden)\n"));
	ck_assert_ptr_null(strstr(ask_as("dump_conf json", false, true), "0000000000000001"));
	expect("dump_conf", "\nsa_key 0x0000000000000001\n");
}
END_TEST

START_TEST(sessions)
{
	struct command_answer answer;

	command_run(&f.env, "quit", false, &answer);
	ck_assert(answer.quit && !answer.loop && !answer.failed);
	g_free(answer.text);
	command_run(&f.env, "status loop", false, &answer);
	ck_assert(!answer.quit && answer.loop && !answer.failed);
	g_free(answer.text);
	f.env.sim = NULL;
	expect_error("sim unlink leaf-0-0 3", "not a simulated one");
	expect_not("help", "\nsim ");
}
END_TEST

/*
 * A second one on the same fabric stays standby; it is asked once its port says that it is there.
 */
START_TEST(another_sm)
{
	struct daemon_config config = {.rt = f.s->rt, .log = f.s->log};
	struct daemon *other;

	config.options = slot_take(&daemon_context(f.s->daemon)->options);
	config.vendor = sim_open(f.s->sim, 0x0200000000001001, NULL);
	other = daemon_new(&config, NULL);
	options_unref(config.options);
	daemon_start(other);
	scenario_run_ms(f.s, 2000);
	ask("resweep heavy");
	scenario_run_ms(f.s, 2000);
	expect("status", "   0x200000000001001 ");
	scenario_run_ms(f.s, 1000);
	expect("status", "   0x200000000001001 Standby     0        \n");
	daemon_free(other);
}
END_TEST

/* ---- hostile lines ---- */

/* Words of commands and rubbish, mixed; none may crash, and each answers or complains. */
START_TEST(any_line_at_all)
{
	static const char *const words[] = {
		"help",
		"status",
		"loop",
		"json",
		"path",
		"host-0",
		"0x",
		"0xffffffffffffffff",
		"99999999999999999999",
		"-1",
		"\"",
		"'",
		"\"host-0",
		"lft",
		"portstatus",
		"ca",
		"switchbalance",
		"verbose",
		"lidbalance",
		"dump_portguid",
		"(a+)+$",
		"(((((a{99}){99}){99}",
		"\\",
		"\xc3\xa9",
		"\xc3",
		"\t",
		"%s%n",
		"ports",
		"down",
		"events",
		"4294967295",
		"querylid",
		"0",
		"65535",
		"49152",
		"sim",
		"link",
		"leaf-0-0",
		"3",
		"priority",
		"cc",
		"values",
		"effect",
		"log",
		"ask",
		"locked",
		"",
	};
	struct scenario *s = f.s;

	for (unsigned int i = 0; i < 20000; i++) {
		g_autoptr(GString) line = g_string_new(NULL);
		struct command_answer answer;

		for (unsigned int n = scenario_random(s, 6); n; n--) {
			g_string_append(line, words[scenario_random(s, G_N_ELEMENTS(words))]);
			g_string_append(line, scenario_random(s, 8) ? " " : "");
		}
		command_run(&f.env, line->str, scenario_random(s, 2), &answer);
		ck_assert(g_utf8_validate(answer.text, -1, NULL));
		ck_assert(!*answer.text || g_str_has_suffix(answer.text, "\n"));
		ck_assert(!answer.failed || *answer.text);
		g_free(answer.text);
	}
}
END_TEST

START_TEST(expressions_that_take_long)
{
	/* Nested repeats that match nothing: the limit on matching ends them. */
	struct command_answer answer;
	clock_t begin = clock(); /* processor time: the machine may be busy with others */

	command_run(&f.env, "dump_portguid ^(([a-z0-9-]+)*)*[!?]$", true, &answer);
	ck_assert(answer.failed);
	ck_assert_ptr_nonnull(strstr(answer.text, "takes too long"));
	ck_assert_int_lt(clock() - begin, 20 * CLOCKS_PER_SEC);
	g_free(answer.text);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("console");
	TCase *up = tcase_create("up"), *early = tcase_create("early"), *own = tcase_create("own");

	tcase_add_checked_fixture(up, start_converged, stop);
	tcase_set_timeout(up, 60);
	tcase_add_loop_test(up, what_they_print, 0, G_N_ELEMENTS(answers));
	tcase_add_test(up, lines_of_the_fabric);
	tcase_add_loop_test(up, what_they_refuse, 0, G_N_ELEMENTS(errors));
	tcase_add_test(up, lines_too_long);
	tcase_add_test(up, every_command_as_json);
	tcase_add_test(up, json_has_what_the_text_has);
	tcase_add_test(up, ends_limit_a_path);
	tcase_add_test(up, sweeps_off_and_on);
	tcase_add_test(up, sweeps_wanted);
	tcase_add_test(up, descriptions_again);
	tcase_add_test(up, options_changed);
	tcase_add_test(up, json_has_types);
	tcase_add_test(up, refused_files);
	tcase_add_test(up, refused_of_all_kinds);
	tcase_add_test(up, insecure_settings);
	tcase_add_test(up, looks_send_nothing);
	tcase_add_test(up, health_of_devices);
	tcase_add_test(up, health_of_losses);
	tcase_add_test(up, health_of_a_cable);
	tcase_add_test(up, health_of_the_own_cable);
	tcase_add_test(up, health_of_few_losses);
	tcase_add_test(up, health_of_links);
	tcase_add_test(up, health_of_sends);
	tcase_add_test(up, health_of_a_loopback_plug);
	tcase_add_test(up, health_of_unknown_keys);
	tcase_add_test(up, health_of_the_sick);
	tcase_add_test(up, health_of_the_port);
	tcase_add_test(up, health_of_a_long_sweep);
	tcase_add_test(up, health_of_files);
	tcase_add_test(up, health_of_what_is_kept);
	tcase_add_test(up, keys_are_for_the_trusted);
	tcase_add_test(up, sessions);
	tcase_add_test(up, another_sm);
	tcase_add_test(up, any_line_at_all);
	tcase_add_test(up, expressions_that_take_long);
	suite_add_tcase(suite, up);
	tcase_add_checked_fixture(early, start, stop);
	tcase_add_test(early, before_the_first_subnet);
	tcase_add_test(early, health_of_the_sm);
	suite_add_tcase(suite, early);
	tcase_add_test(own, refused_route_file);
	suite_add_tcase(suite, own);
	return suite;
}
