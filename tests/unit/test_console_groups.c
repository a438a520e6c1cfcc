// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the console prints about multicast groups: members, and ports that may not join. */
#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "iba/constants.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/scenario.h"

#include <check.h>
#include <string.h>

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
	scenario_converge(f.s, 10);
}

static void stop(void)
{
	scenario_stop(f.s);
	journal_free(f.env.journal);
	scenario_free(f.s);
}

/* The answer to the line: valid until the next one. */
static const char *ask(const char *line)
{
	static char *text;
	struct command_answer answer;

	g_free(text);
	command_run(&f.env, line, true, &answer);
	text = answer.text;
	ck_assert_msg(!answer.failed, "%s: %s", line, text);
	return text;
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

static void join_as(struct client *client, uint8_t state)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12401BFFFF0000), UINT32_MAX},
		.port_gid = client_gid(client),
		.join_state = state,
	};

	ck_assert_int_eq(client_ask(client, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD,
				    IBA_COMPONENT(mc_member_record, mgid) |
					    IBA_COMPONENT(mc_member_record, port_gid) |
					    IBA_COMPONENT(mc_member_record, join_state),
				    &iba_mc_member_record_type, &record),
			 0);
	scenario_run_ms(f.s, 1000);
}

/* A member that only sends gets no packets, and the console says so. */
START_TEST(members_that_only_send)
{
	struct client *client = client_new(f.s, scenario_node(f.s, "host-7"));

	join_as(client, IBA_JOIN_SEND_ONLY_NON_MEMBER);
	expect("mgroups", "(host-7), only sends\n");
	expect("mgroups json", "\"only_sends\":true");
	join_as(client, IBA_JOIN_FULL_MEMBER);
	expect("mgroups", "(host-7)\n");
	expect("mgroups json", "\"only_sends\":false");
	client_free(client);
}
END_TEST

#define M(name) IBA_COMPONENT(mc_member_record, name)
#define JOIN_NEEDS (M(mgid) | M(port_gid) | M(join_state))
#define CREATE_NEEDS (M(q_key) | M(t_class) | M(p_key) | M(flow_label) | M(sl))

static int ask_for_group(struct client *client, uint8_t method, uint32_t number, uint64_t mask)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12A01C00000000), number},
		.port_gid = client_gid(client),
		.p_key = IBA_P_KEY_DEFAULT_FULL,
		.join_state = IBA_JOIN_FULL_MEMBER,
	};

	return client_ask(client, method, IBA_ATTR_MC_MEMBER_RECORD, mask,
			  &iba_mc_member_record_type, &record);
}

static int join_group(struct client *client, uint32_t number, uint64_t mask)
{
	return ask_for_group(client, IBA_METHOD_SET, number, mask);
}

/* Groups are told in the journal, at most once a second, and members are not. */
START_TEST(groups_of_the_journal)
{
	struct client *client = client_new(f.s, scenario_node(f.s, "host-7"));
	struct client *other = client_new(f.s, scenario_node(f.s, "host-3"));

	scenario_run_ms(f.s, 2000);
	expect("events since 0 kind group", " group   multicast groups: 1 created, 0 deleted, ");
	for (uint32_t i = 1; i <= 5; i++)
		ck_assert_int_eq(join_group(client, i, JOIN_NEEDS | CREATE_NEEDS), 0);
	scenario_run_ms(f.s, 2000);
	expect("events since 0 kind group",
	       " multicast groups: 5 created, 0 deleted, 6 now: ff12:a01c::");
	ck_assert_int_eq(join_group(other, 1, JOIN_NEEDS), 0);
	scenario_run_ms(f.s, 2000);
	expect_not("events since 0 kind group", " times, ");
	expect_not("events 1", " group ");
	ck_assert_int_eq(ask_for_group(client, IBA_METHOD_DELETE, 1, JOIN_NEEDS), 0);
	ck_assert_int_eq(ask_for_group(client, IBA_METHOD_DELETE, 2, JOIN_NEEDS), 0);
	scenario_run_ms(f.s, 2000);
	expect("events since 0 kind group",
	       " multicast groups: 0 created, 1 deleted, 5 now: ff12:a01c::2\n");
	client_free(client);
	client_free(other);
}
END_TEST

/*
 * A port that may not join is listed with the reason, until it may, or has not asked for ten
 * minutes. One port that asks for much does not hide the others.
 */
START_TEST(joins_that_are_refused)
{
	struct client *client = client_new(f.s, scenario_node(f.s, "host-7"));
	struct client *other = client_new(f.s, scenario_node(f.s, "host-3"));
	static const char reason[] =
		"(host-7) MGID ff12:a01c::1: its component mask 0x10003 lacks ";
	static const char healthy[] =
		") port 1 was not allowed to join multicast group ff12:a01c::1: its ";

	expect_not("mgroups", "refused");
	expect_not("health", "was not allowed to join");
	ck_assert_int_ne(join_group(client, 1, JOIN_NEEDS), 0);
	ck_assert_int_ne(join_group(client, 2, JOIN_NEEDS), 0);
	expect("mgroups", "2 refused join(s)\n");
	expect("mgroups", reason);
	expect("mgroups json", "\"reason\":\"its component mask 0x10003 lacks ");
	expect("health", "warning multicast: host-7 (0x");
	expect("health", healthy);
	ck_assert_int_eq(join_group(client, 1, JOIN_NEEDS | CREATE_NEEDS), 0);
	expect("mgroups", "1 refused join(s)\n");
	expect_not("health", healthy);
	ck_assert_int_ne(join_group(other, 1, M(mgid) | M(port_gid)), 0);
	for (unsigned int i = 0; i < 100; i++)
		ck_assert_int_ne(join_group(client, 10 + i, JOIN_NEEDS), 0);
	expect("mgroups", "64 refused join(s)\n");
	expect("mgroups", "(host-3) MGID ff12:a01c::1: its component mask ");
	expect("health", "warning multicast: 59 more joins were refused; \"mgroups\" lists them\n");
	scenario_run_ms(f.s, 10 * 60 * 1000 + 1);
	expect_not("mgroups", "refused");
	expect_not("health", "was not allowed to join");
	client_free(other);
	client_free(client);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("console_groups");
	TCase *tcase = tcase_create("console_groups");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, members_that_only_send);
	tcase_add_test(tcase, groups_of_the_journal);
	tcase_add_test(tcase, joins_that_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
