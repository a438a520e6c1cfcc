// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A master that does not know that its standby took over, as it was stopped or its cable was out:
 * what clients told its successor meanwhile is kept, whichever of them is MASTER in the end.
 */
#include <check.h>
#include <string.h>

#include "replicated.h"
#include "tests/run_suite.h"

/*
 * The first is MASTER again, with these groups, and told at most this many clients to reregister.
 */
static void check_taken_back(struct mc_groups *before, unsigned int asked)
{
	struct mc_groups *after;

	managers_settle(m, 0, 30);
	after = groups_of(0);
	check_same_groups(before, after);
	mc_groups_unref(before);
	mc_groups_unref(after);
	ck_assert_uint_le(m->sets.reregister, asked);
}

/* sm1 outranks its standby; ten clients are in five groups. */
static void up_with_higher_rank(void)
{
	begin("fattree:4", 1);
	up_with_standby(conf(KEY, "sm_priority 9\n"), conf(KEY, "sm_priority 5\n"));
	add_clients(10);
	for (unsigned int i = 0; i < 10; i++)
		join(clients[i], i / 2);
	scenario_run_ms(m->s, 1000);
}

/* The groups of sm2 as MASTER, after one more has joined and this many ms have passed. */
static struct mc_groups *join_the_other(unsigned int ms)
{
	join(clients[1], 7);
	scenario_run_ms(m->s, ms);
	zero_sets();
	return groups_of(1);
}

/* The first outranks the other: when it is back it takes over, with all that the other knows. */
START_TEST(back_with_higher_rank)
{
	struct mc_groups *before;

	up_with_higher_rank();
	take_over(false);
	before = join_the_other(1000);
	managers_start(m, 0);
	check_taken_back(before, 0);
	end();
}
END_TEST

/* A master that is stopped for a while does not know that its standby took over. */
static void depose_unawares(void)
{
	up_with_higher_rank();
	event_emit(&daemon_context(m->sm[0].daemon)->bus, EVENT_SWEEP_ALLOWED, 0);
	m->lose = "sm1 > sm2 GetResp(SMInfo)";
	m->lose_all = true;
	scenario_run_ms(m->s, 10000);
	ck_assert_uint_eq(managers_masters(m), 2);
}

/* What clients told the other meanwhile is kept, though it is MASTER again in the end, by rank. */
START_TEST(deposed_unawares)
{
	struct mc_groups *before;

	depose_unawares();
	before = join_the_other(1000);
	m->lose = NULL;
	event_emit(&daemon_context(m->sm[0].daemon)->bus, EVENT_SWEEP_ALLOWED, 1);
	check_taken_back(before, 0);
	scenario_check_log(m->s, "is no longer MASTER", false);
	end();
}
END_TEST

/* Plugs or pulls the cable of sm1. */
static void plug(bool in)
{
	sim_link_set(m->s->sim, scenario_node(m->s, "host-1"), 1, in);
}

/* Runs until the other has taken over, and this many ms more. */
static struct mc_groups *be_succeeded(unsigned int ms)
{
	while (managers_state(m, 1) != IBA_SM_MASTER)
		scenario_run_ms(m->s, 10);
	scenario_run_ms(m->s, 100);
	return join_the_other(ms);
}

static struct mc_groups *cut_off_for(unsigned int ms)
{
	up_with_higher_rank();
	plug(false);
	return be_succeeded(ms);
}

static void lose_answer_to_handover(void)
{
	m->lose = "GetResp(SMInfo) HANDOVER";
	m->lose_nth = 1;
}

/* As above with a master that is cut off; and if the answer to a HANDOVER is lost: sent twice. */
#define CUTS 12
START_TEST(cut_off)
{
	struct mc_groups *before = cut_off_for(200 + (unsigned int)_i % CUTS * 211);

	if (_i >= CUTS)
		lose_answer_to_handover();
	plug(true);
	check_taken_back(before, 1); /* its own port */
	end();
}
END_TEST

/* As above if its adapter was gone for a while, and replication begins late. */
START_TEST(adapter_is_gone)
{
	unsigned int host;
	struct mc_groups *before;

	up_with_higher_rank();
	host = scenario_node(m->s, "host-1");
	sim_device_set(m->s->sim, host, false);
	before = be_succeeded(200);
	m->mute = true;
	sim_device_set(m->s->sim, host, true);
	scenario_run_ms(m->s, 2000);
	m->mute = false;
	check_taken_back(before, 1);
	end();
}
END_TEST

/* An SM that took over with a part only, or was never told anything, is not a successor. */
START_TEST(cut_off_with_more)
{
	struct mc_groups *before;
	unsigned int other = 1;

	up_with_higher_rank();
	if (_i) {
		other = managers_add(m, "host-13", MANAGERS_POLLS "sm_priority 7\n");
		managers_start(m, other);
		scenario_run_ms(m->s, 3000);
	}
	m->mute = !_i;
	join(clients[2], 7);
	plug(false);
	while (managers_state(m, other) != IBA_SM_MASTER)
		scenario_run_ms(m->s, 10);
	m->mute = false;
	before = groups_of(0);
	plug(true);
	check_taken_back(before, UINT_MAX);
	ck_assert_ptr_null(strstr(m->story->str, "sm1 is STANDBY"));
	end();
}
END_TEST

/* Nor is a standby that did not take over, nor one that had everything at an early cut. */
START_TEST(cut_off_shortly)
{
	struct mc_groups *before;

	up_with_higher_rank();
	plug(false);
	scenario_run_ms(m->s, 1500);
	plug(true);
	managers_settle(m, 0, 10);
	m->mute = true;
	join(clients[2], 7);
	m->lose = "sm1 > sm2 GetResp(SMInfo)";
	m->lose_all = true;
	while (managers_state(m, 1) != IBA_SM_MASTER)
		scenario_run_ms(m->s, 10);
	before = groups_of(0);
	m->mute = false;
	m->lose = NULL;
	check_taken_back(before, UINT_MAX);
	ck_assert_ptr_null(strstr(m->story->str, "sm1 is STANDBY"));
	end();
}
END_TEST

/*
 * While replication from the other is blocked, a HANDOVER does not make it MASTER, nor does the
 * next one. When the first arrives it is STANDBY, or, if it was cut off for longer, still MASTER.
 */
START_TEST(handed_over_too_early)
{
	struct mc_groups *before = cut_off_for(_i / 2 ? 2500 : 200);
	const char *refused;

	if (_i % 2)
		lose_answer_to_handover();
	m->mute = true;
	plug(true);
	scenario_run_ms(m->s, 3000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_STANDBY);
	refused = strstr(m->story->str, "HANDOVER: status");
	ck_assert(refused && strstr(refused + 1, "HANDOVER: status"));
	m->mute = false;
	check_taken_back(before, 1);
	end();
}
END_TEST

/* The other dies before it was followed: clients get answers again. */
START_TEST(successor_dies)
{
	depose_unawares();
	managers_kill(m, 1);
	m->lose = NULL;
	event_emit(&daemon_context(m->sm[0].daemon)->bus, EVENT_SWEEP_ALLOWED, 1);
	managers_settle(m, 0, 10);
	join(clients[1], 7);
	end();
}
END_TEST

/* It is told to end, and ends, rather than continue as STANDBY of the one that hands over. */
START_TEST(deposed_while_it_retires)
{
	depose_unawares();
	m->lose = "sm2 > sm1 GetResp(SMInfo)";
	daemon_retire(m->sm[0].daemon);
	managers_control(m, 0, "host-9", IBA_SM_INFO_HANDOVER); /* as sm2 does */
	scenario_check_log(m->s, "sent HANDOVER: refused", true);
	ck_assert(m->sm[0].retired);
	end();
}
END_TEST

/*
 * A sender that claims to be the other but does not have the SM_Key does not make it STANDBY; nor
 * does any sender if other SMs are to be ignored.
 */
START_TEST(deposed_by_a_stranger)
{
	depose_unawares();
	managers_configure(m, 0, conf(KEY, _i ? "ignore_other_sm TRUE\n" : "sm_key 0x77\n"));
	managers_control(m, 0, "host-9", IBA_SM_INFO_HANDOVER);
	scenario_check_log(m->s, "sent HANDOVER: refused", true);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("successor");
	TCase *tcase = tcase_create("successor");

	tcase_set_timeout(tcase, 300);
	tcase_add_test(tcase, back_with_higher_rank);
	tcase_add_test(tcase, deposed_unawares);
	tcase_add_loop_test(tcase, cut_off, 0, 2 * CUTS);
	tcase_add_test(tcase, adapter_is_gone);
	tcase_add_loop_test(tcase, cut_off_with_more, 0, 2);
	tcase_add_test(tcase, cut_off_shortly);
	tcase_add_loop_test(tcase, handed_over_too_early, 0, 4);
	tcase_add_test(tcase, deposed_while_it_retires);
	tcase_add_loop_test(tcase, deposed_by_a_stranger, 0, 2);
	tcase_add_test(tcase, successor_dies);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
