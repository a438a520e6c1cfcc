// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands of the console that print figures, flags and GUIDs: status, permodlog, dump_portguid. */
#include <check.h>
#include <string.h>

#include "core/context.h"
#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/scenario.h"

static struct scenario *s;
static struct command_env env;

static void make_journal(struct scenario *scenario, void *arg)
{
	(void)arg;
	env.daemon = scenario->daemon;
	env.journal = journal_new(scenario->daemon);
	env.sim = scenario->sim;
}

static void start_with(const char *lmc)
{
	s = scenario_new("fattree:4", 1);
	scenario_option(s, "--dump_files_dir", s->directory);
	scenario_option(s, "--lmc", lmc);
	s->made = make_journal;
	scenario_start(s);
	scenario_converge(s, 10);
}

static void start(void)
{
	start_with("0");
}

static void stop(void)
{
	scenario_stop(s);
	journal_free(env.journal);
	scenario_free(s);
}

static void expect(const char *line, const char *text)
{
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	ck_assert_msg(strstr(answer.text, text) != NULL, "%s: no \"%s\" in %.2000s", line, text,
		      answer.text);
	g_free(answer.text);
}

START_TEST(figures_of_status)
{
	expect("status", "\n   Seconds since the last change  : ");
	expect("status", "\n   Steps of Sweeps\n   ---------------\n   OWN_PORT ");
	expect("status", "\n   sweeps_heavy                   : ");
	expect("status json", ",\"priority\":0,\"self\":true}");
	expect("status json", "\"seconds_since_change\":");
	expect("status json", "\"counters\":{\"smp_sent\":");
	expect("status json", ",\"perf_foreign_resets\":0}");
	expect("status json", "{\"step\":\"DISCOVER\",\"times\":");
}
END_TEST

START_TEST(refusals)
{
	expect("dump_portguid file x", "No valid expression provided. Aborting");
	expect("dump_portguid file /tmp/x host", "expected the name of a file in dump_files_dir, ");
	expect("dump_portguid file ../x host", ", found '../x'\n");
	expect("dump_portguid file .. host", ", found '..'\n");
	expect("permodlog all", "Invalid permodlog command");
	expect("portstatus", " us\n   96 active\n");
}
END_TEST

START_TEST(flags_of_files)
{
	expect("permodlog json", "{\"modules\":[]}");
	log_set_module_flags(s->log, "opensm/sm/sweep.c", 0x43);
	log_set_module_flags(s->log, "lid.c", 0);
	expect("permodlog", "lid.c 0x00\nsweep.c 0x43\n");
	log_clear_module_flags(s->log);
	expect("permodlog json", "{\"modules\":[]}");
}
END_TEST

START_TEST(guids_into_a_file)
{
	g_autofree char *path = g_build_filename(s->directory, "guids", NULL);
	g_autofree char *text = NULL;

	expect("dump_portguid file guids ^host-0$ host-1$", path);
	scenario_run_ms(s, 100);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_str_eq(text, "0x200000000000101\n0x200000000000201\n");
}
END_TEST

START_TEST(times_of_the_sa)
{
	struct client *client = client_new(s, scenario_node(s, "host-7"));
	struct iba_path_record path;

	ck_assert_int_eq(client_path(client, client_guid(client), &path), 0);
	expect("status", "\n   Answers of the SA\n   -----------------\n   PathRecord ");
	expect("status json", "{\"attribute\":\"PathRecord\",\"times\":1,\"last_us\":");
	client_free(client);
}
END_TEST

START_TEST(uneven_lids)
{
	struct command_answer answer;

	start_with("1");
	/* A leaf uses both its spines for the two LIDs of a host, a spine only one of its cores. */
	expect("lidbalance", "(host-0) at switch 0x0200000080000900 (spine-1-0)\nPort 3: ");
	command_run(&env, "lidbalance 0x0200000080000700", true, &answer);
	ck_assert_str_eq(answer.text, "");
	g_free(answer.text);
	expect("lidbalance leaf-0-0", "switchguid not found");
	stop();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("console_figures");
	TCase *tests = tcase_create("up"), *own = tcase_create("own");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, start, stop);
	tcase_add_test(tests, figures_of_status);
	tcase_add_test(tests, refusals);
	tcase_add_test(tests, flags_of_files);
	tcase_add_test(tests, guids_into_a_file);
	tcase_add_test(tests, times_of_the_sa);
	suite_add_tcase(suite, tests);
	tcase_set_timeout(own, 60);
	tcase_add_test(own, uneven_lids);
	suite_add_tcase(suite, own);
	return suite;
}
