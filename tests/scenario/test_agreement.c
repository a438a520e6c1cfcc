// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMs of a subnet that have different options or files: both report it, with the names of these, in
 * the log, health and status; and report when it is repaired.
 */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command.h"
#include "client/control.h"
#include "ha/replicator.h"
#include "replicated.h"
#include "tests/run_suite.h"

static char *ask(unsigned int i, const char *line, unsigned int *status)
{
	const struct command_env env = {.daemon = m->sm[i].daemon};
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	*status = answer.status;
	return answer.text;
}

static bool says(unsigned int i, const char *line, const char *text)
{
	unsigned int status;
	g_autofree char *answer = ask(i, line, &status);

	return strstr(answer, text);
}

static void expect_says(unsigned int i, const char *line, const char *text)
{
	unsigned int status;
	g_autofree char *answer = ask(i, line, &status);

	ck_assert_msg(strstr(answer, text), "%s of sm%u lacks '%s':\n%s", line, i + 1, text,
		      answer);
}

static void expect_status(unsigned int i, unsigned int wanted)
{
	unsigned int status;
	g_autofree char *answer = ask(i, "health", &status);

	ck_assert_msg(status == wanted, "status %u of sm%u:\n%s", status, i + 1, answer);
}

/* A line of opensm.conf that names a file of that text as the value of an option. To be freed. */
static char *file_line(const char *option, const char *text)
{
	static unsigned int number;
	g_autofree char *name = g_strdup_printf("%s-%u", option, number++);
	g_autofree char *file = g_build_filename(m->s->directory, name, NULL);

	ck_assert(g_file_set_contents(file, text, -1, NULL));
	return g_strdup_printf("%s %s\n", option, file);
}

struct kind {
	const char *option;
	const char *here, *there; /* values, or contents of the file */
	bool is_file;
	const char *told; /* as reported by the master; NULL: it reports no value */
};

static const struct kind kinds[] = {
	{"lmc", "0", "2", false, "lmc (0 here, 2 there)"},
	{"subnet_prefix", "0xfe80000000000000", "0xfec0000000000001", false,
	 "subnet_prefix (0xfe80000000000000 here, 0xfec0000000000001 there)"},
	{"routing_engine", "minhop", "updn", false, "routing_engine (minhop here, updn there)"},
	{"sa_key", "0x7", "0x8", false, NULL},
	{"m_key_lease_period", "0", "60", false, "m_key_lease_period (0 here, 60 there)"},
	{"qos", "FALSE", "TRUE", false, "qos (FALSE here, TRUE there)"},
	{"partition_config_file", "Default=0x7fff,ipoib:ALL=full;\nA=0x12:0x1=full,0x2=full;\n",
	 "Default=0x7fff,ipoib:ALL=full;\nA=0x12:0x1=full,0x3=full;\n", true,
	 "partition_config_file (contents of the file)"},
	{"prefix_routes_file", "* *\n", "0x20 *\n", true,
	 "prefix_routes_file (contents of the file)"},
	{"root_guid_file", "0x1\n", "0x1\n0x2\n", true, "root_guid_file (contents of the file)"},
	{"hop_weights_file", "0x1 1 3\n", "0x1 1 4\n", true,
	 "hop_weights_file (contents of the file)"},
};

static char *line_of(const struct kind *kind, const char *value)
{
	return kind->is_file ? file_line(kind->option, value)
			     : g_strdup_printf("%s %s\n", kind->option, value);
}

/* Before a takeover changes anything. */
START_TEST(both_tell_what_differs)
{
	const struct kind *kind = &kinds[_i];
	g_autofree char *here = NULL, *there = NULL;

	begin("fattree:4", 1);
	here = line_of(kind, kind->here);
	there = line_of(kind, kind->there);
	up_with_standby(conf(KEY, here), conf(KEY, there));
	for (unsigned int i = 0; i < 2; i++) {
		expect_status(i, CONTROL_SMS_DIFFER);
		expect_says(i, "health", "differs from this one, so a takeover will change ");
		expect_says(i, "health", kind->option);
		expect_says(i, "status", kind->option);
		expect_says(i, "status json", "\"agreement\":\"differs\"");
	}
	expect_says(0, "health", "ERROR sms: the standby, SM 0x");
	expect_says(1, "health", "ERROR sms: the master, SM 0x");
	expect_says(0, "health", kind->told ? kind->told : kind->option);
	if (!kind->told) {
		ck_assert(!says(0, "health", kind->there));
		ck_assert(!says(0, "status json", kind->there));
	}
	scenario_check_log(m->s, "the standby, SM 0x", true);
	scenario_check_log(m->s, "the master, SM 0x", true);
	end();
}
END_TEST

/* Comments, layout, the place of a file, and options of one SM alone make no difference. */
START_TEST(the_same_is_no_difference)
{
	g_autofree char *file1 = NULL, *file2 = NULL, *here = NULL, *there = NULL;

	begin("fattree:4", 1);
	file1 = file_line("partition_config_file", "Default=0x7fff,ipoib:ALL=full;\n");
	file2 = file_line("partition_config_file",
			  "# the same\nDefault = 0x7fff, ipoib :\n  ALL=full ;\n");
	here = g_strconcat(file1, "sm_priority 3\nsweep_interval 5\n", NULL);
	there = g_strconcat(file2, "sm_priority 2\nsweep_interval 7\n", NULL);
	up_with_standby(conf(KEY, here), conf(KEY, there));
	for (unsigned int i = 0; i < 2; i++) {
		expect_status(i, CONTROL_DONE);
		ck_assert(!says(i, "health", " sms: "));
		expect_says(i, "status json", "\"agreement\":\"same\"");
	}
	scenario_check_log(m->s, "differs from this one", false);
	end();
}
END_TEST

/* Either of the two may be changed while it runs. */
START_TEST(told_when_it_changes_and_is_mended)
{
	unsigned int changed = (unsigned int)_i;
	const char *plain, *other;

	begin("fattree:4", 1);
	plain = conf(KEY, "");
	other = conf(KEY, "packet_life_time 0x11\n");
	up_with_standby(plain, plain);
	expect_status(0, CONTROL_DONE);
	managers_configure(m, changed, other);
	scenario_run_ms(m->s, 3000);
	for (unsigned int i = 0; i < 2; i++) {
		expect_status(i, CONTROL_SMS_DIFFER);
		expect_says(i, "health",
			    i == changed ? "packet_life_time (0x11 here, 0x12 there)"
					 : "packet_life_time (0x12 here, 0x11 there)");
	}
	managers_configure(m, changed, plain);
	scenario_run_ms(m->s, 3000);
	for (unsigned int i = 0; i < 2; i++)
		expect_status(i, CONTROL_DONE);
	scenario_check_log(m->s, "the standby, SM 0x", true);
	scenario_check_log(m->s, "no longer differs from this one", true);
	end();
}
END_TEST

/* The file of one of them has other contents from now on, and is reread. */
START_TEST(told_when_a_file_changes)
{
	static const char more[] = "Default=0x7fff,ipoib:ALL=full;\nB=0x13:0x1=full;\n";
	g_autofree char *line = NULL, *other = NULL;
	unsigned int changed = (unsigned int)_i;

	begin("fattree:4", 1);
	line = file_line("partition_config_file", "Default=0x7fff,ipoib:ALL=full;\n");
	other = file_line("partition_config_file", "Default=0x7fff,ipoib:ALL=full;\n");
	up_with_standby(conf(KEY, line), conf(KEY, other));
	expect_status(0, CONTROL_DONE);
	g_strchomp(changed ? other : line);
	ck_assert(g_file_set_contents(strchr(changed ? other : line, '/'), more, -1, NULL));
	ck_assert(daemon_reread_partitions(m->sm[changed].daemon));
	scenario_run_ms(m->s, 3000);
	for (unsigned int i = 0; i < 2; i++)
		expect_says(i, "health", "partition_config_file (contents of the file)");
	end();
}
END_TEST

/* A member added at run time is replicated, and is not a difference. */
START_TEST(changes_at_run_time_are_shared)
{
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	ck_assert(daemon_change_partitions(m->sm[0].daemon, "0x12: 0x7=full", 0, &serial, &error));
	scenario_run_ms(m->s, 3000);
	expect_status(0, CONTROL_DONE);
	expect_status(1, CONTROL_DONE);
	end();
}
END_TEST

/* An SM that does not know the peer's options does not report that all is well. */
START_TEST(unknown_without_a_key)
{
	static const char unknown[] = "warning sms: it is unknown whether the ";

	begin("fattree:4", 1);
	if (_i)
		up_with_standby(conf(KEY, ""), conf("a key that nobody shares\n", "lmc 1\n"));
	else
		up_with_standby(MANAGERS_POLLS, MANAGERS_POLLS "lmc 1\n");
	for (unsigned int i = 0; i < 2; i++) {
		expect_status(i, CONTROL_DONE);
		expect_says(i, "health", unknown);
		expect_says(i, "health", "it is unknown whether the ");
		expect_says(i, "status", "it is unknown whether it has the same options and files");
		expect_says(i, "status json", "\"agreement\":\"unknown\"");
	}
	expect_says(0, "health",
		    _i ? "it has not reported its options" : "there is no replication_key_file");
	end();
}
END_TEST

/* A report is about the SM that is followed: the next one is asked again. */
START_TEST(roles_change)
{
	begin("fattree:4", 1);
	up_with_standby(conf(KEY, "sm_priority 3\nhonor_guid2lid_file TRUE\n"), conf(KEY, ""));
	expect_says(0, "health", "honor_guid2lid_file (TRUE here, FALSE there)");
	managers_kill(m, 0);
	managers_settle(m, 1, 10);
	ck_assert(!says(1, "health", " sms: "));
	managers_start(m, 0);
	scenario_run_ms(m->s, 10000);
	for (unsigned int i = 0; i < 2; i++)
		expect_says(i, "health", "honor_guid2lid_file (");
	end();
}
END_TEST

/* A standby knows only whether its master answers, and reports what it does not know. */
START_TEST(standby_tells_of_its_master)
{
	g_autofree char *heard = NULL;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	heard = g_strdup_printf("master: SM 0x%016" PRIx64 ", answered a poll ", m->sm[0].guid);
	expect_says(1, "health", heard);
	expect_says(1, "health", " s ago, has not answered 0 since\n");
	expect_says(1, "health json", "\"polls_missed\":0");
	ck_assert(!says(0, "health", "master: SM"));
	managers_kill(m, 0);
	scenario_run_ms(m->s, 1900);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	expect_says(1, "health", "warning sm: the master has not answered the last ");
	managers_settle(m, 1, 10);
	ck_assert(!says(1, "health", "master: SM"));
	end();
}
END_TEST

/* What it saw as master is outdated: it no longer reports any of it. */
START_TEST(standby_that_was_master)
{
	g_autofree char *of = NULL;
	unsigned int host;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, "sm_priority 3\n"), conf(KEY, "sm_priority 2\n"));
	host = scenario_node(m->s, "host-5");
	ck_assert(sim_link_degrade(m->s->sim, host, 1, 1, 212500));
	scenario_run_ms(m->s, 2000);
	expect_says(0, "health", "runs at 1X");
	managers_configure(m, 1, conf(KEY, "sm_priority 7\n"));
	scenario_run_ms(m->s, 10000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_STANDBY);
	of = g_strdup_printf("healthy: STANDBY of SM 0x%016" PRIx64 "\n", m->sm[1].guid);
	expect_says(0, "health", of);
	ck_assert(!says(0, "health", "runs at 1X"));
	expect_says(1, "health", "runs at 1X");
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agreement");
	TCase *tcase = tcase_create("agreement");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, both_tell_what_differs, 0, G_N_ELEMENTS(kinds));
	tcase_add_test(tcase, the_same_is_no_difference);
	tcase_add_loop_test(tcase, told_when_it_changes_and_is_mended, 0, 2);
	tcase_add_loop_test(tcase, told_when_a_file_changes, 0, 2);
	tcase_add_test(tcase, changes_at_run_time_are_shared);
	tcase_add_loop_test(tcase, unknown_without_a_key, 0, 2);
	tcase_add_test(tcase, roles_change);
	tcase_add_test(tcase, standby_tells_of_its_master);
	tcase_add_test(tcase, standby_that_was_master);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
