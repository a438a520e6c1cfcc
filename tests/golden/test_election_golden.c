// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The arrows of IBA 14.4.1 as stories: what several SMs say to each other, in virtual time. Review
 * a change of tests/golden/election_*.txt as a diff; make golden-update writes them again.
 */
#include <check.h>
#include <stdlib.h>

#include "tests/golden/golden.h"
#include "tests/run_suite.h"
#include "tests/scenario/managers.h"

static struct managers *m;

/* sm1 is master; sm2 joins it. */
static void two(const char *first, const char *second)
{
	managers_up_with_standby(m, first, second);
	scenario_run_ms(m->s, 100);
}

static void started_together(void)
{
	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_add(m, "host-9", MANAGERS_POLLS);
	managers_start(m, 0);
	managers_start(m, 1);
	managers_settle(m, 0, 10);
}

static void master_dies(void)
{
	two(MANAGERS_POLLS, MANAGERS_POLLS);
	managers_kill(m, 0);
	managers_settle(m, 1, 10);
}

static void master_retires(void)
{
	two(MANAGERS_POLLS, MANAGERS_POLLS);
	managers_retire(m, 0);
	managers_settle(m, 1, 10);
}

static void handover(void)
{
	two(MANAGERS_POLLS, MANAGERS_POLLS "sm_priority 3\n");
	managers_settle(m, 1, 10);
}

static void lose(const char *packet)
{
	m->lose = packet;
	m->lose_nth = 1;
	handover();
}

static void handover_lost(void)
{
	lose("> sm2 Set(SMInfo) HANDOVER");
}

static void handover_answer_lost(void)
{
	lose("GetResp(SMInfo) HANDOVER");
}

static void acknowledge_lost(void)
{
	lose("> sm1 Set(SMInfo) ACKNOWLEDGE");
}

static void acknowledge_answer_lost(void)
{
	lose("GetResp(SMInfo) ACKNOWLEDGE");
}

static void priority_raised(void)
{
	two(MANAGERS_POLLS, MANAGERS_POLLS);
	managers_configure(m, 1, MANAGERS_POLLS "sm_priority 3\n");
	managers_settle(m, 1, 10);
}

/* A standby obeys DISABLE, STANDBY and DISCOVER; a master refuses them. */
static void controls(void)
{
	two(MANAGERS_POLLS, MANAGERS_POLLS);
	managers_control(m, 1, "host-4", IBA_SM_INFO_DISABLE);
	managers_control(m, 1, "host-4", IBA_SM_INFO_DISCOVER);
	managers_control(m, 1, "host-4", IBA_SM_INFO_STANDBY);
	managers_control(m, 1, "host-4", IBA_SM_INFO_DISCOVER);
	managers_control(m, 0, "host-4", IBA_SM_INFO_DISABLE);
	managers_control(m, 0, "host-4", IBA_SM_INFO_STANDBY);
	managers_control(m, 0, "host-4", IBA_SM_INFO_DISCOVER);
	managers_settle(m, 0, 10);
}

/* An ACKNOWLEDGE is for an SM that handed over and waits for it. */
static void acknowledge_unasked(void)
{
	two(MANAGERS_POLLS, MANAGERS_POLLS);
	managers_control(m, 0, "host-4", IBA_SM_INFO_ACKNOWLEDGE);
	managers_control(m, 1, "host-4", IBA_SM_INFO_ACKNOWLEDGE);
	managers_settle(m, 0, 10);
}

static const struct {
	const char *name;
	void (*tell)(void);
} stories[] = {
	{"started_together", started_together},
	{"master_dies", master_dies},
	{"master_retires", master_retires},
	{"handover", handover},
	{"handover_lost", handover_lost},
	{"handover_answer_lost", handover_answer_lost},
	{"acknowledge_lost", acknowledge_lost},
	{"acknowledge_answer_lost", acknowledge_answer_lost},
	{"priority_raised", priority_raised},
	{"controls", controls},
	{"acknowledge_unasked", acknowledge_unasked},
};

START_TEST(test_story)
{
	const char *top = getenv("top_srcdir");
	g_autofree char *stem = g_strdup_printf("election_%s", stories[_i].name);
	g_autofree char *file = g_strdup_printf("%s/tests/golden/%s.txt", top ? top : "..", stem);

	m = managers_new("fattree:4", 1);
	stories[_i].tell();
	golden_tell(stem, m->story->str);
	golden_compare(file, tale_text(m->tale, TALE_TERSE)->str);
	managers_free(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("election_golden");
	TCase *tcase = tcase_create("stories");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_story, 0, G_N_ELEMENTS(stories));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
