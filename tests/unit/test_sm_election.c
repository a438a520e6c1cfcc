// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The state machine of IBA 14.4.1 as tables. */
#include <check.h>

#include "iba/iba.h"
#include "sm/election.h"
#include "tests/run_suite.h"

START_TEST(rank)
{
	static const struct election_sm sms[] = {
		{.guid = 3, .priority = 1, .state = IBA_SM_STANDBY},
		{.guid = 2, .priority = 1, .state = IBA_SM_MASTER},
		{.guid = 9, .priority = 5, .state = IBA_SM_DISCOVERING},
	};

	ck_assert(election_outranks(&sms[1], &sms[0]));
	ck_assert(!election_outranks(&sms[0], &sms[1]));
	ck_assert(!election_outranks(&sms[0], &sms[0]));
	ck_assert(election_outranks(&sms[2], &sms[1]));
	ck_assert(!election_outranks(&sms[1], &sms[2]));
	ck_assert_ptr_eq(election_highest(sms, 3, 0xF), &sms[2]);
	ck_assert_ptr_eq(election_highest(sms, 2, 0xF), &sms[1]);
	ck_assert_ptr_eq(election_highest(sms, 3, 1u << IBA_SM_STANDBY), &sms[0]);
	ck_assert_ptr_null(election_highest(sms, 3, 1u << IBA_SM_NOT_ACTIVE));
	ck_assert_ptr_null(election_highest(sms, 0, 0xF));
}
END_TEST

/* What one does that has priority 5, of whom it meets in that state with that priority. */
static char decide(uint8_t state, uint8_t other_state, uint8_t priority)
{
	const struct election_sm own = {.guid = 1, .priority = 5, .state = state};
	const struct election_sm other = {.guid = 2, .priority = priority, .state = other_state};
	const struct election_sm *whom = &own;
	enum election_verdict verdict = election_decide(&own, &other, 1, &whom);

	ck_assert(verdict == ELECTION_MASTER || whom == &other);
	return "MFHA"[verdict];
}

START_TEST(decisions)
{
	static const struct {
		uint8_t state, other;
		char lower, higher;
	} rows[] = {{IBA_SM_DISCOVERING, IBA_SM_NOT_ACTIVE, 'M', 'M'},
		    {IBA_SM_DISCOVERING, IBA_SM_DISCOVERING, 'M', 'F'},
		    {IBA_SM_DISCOVERING, IBA_SM_STANDBY, 'M', 'F'},
		    {IBA_SM_DISCOVERING, IBA_SM_MASTER, 'F', 'F'},
		    {IBA_SM_MASTER, IBA_SM_NOT_ACTIVE, 'M', 'M'},
		    {IBA_SM_MASTER, IBA_SM_DISCOVERING, 'M', 'M'},
		    {IBA_SM_MASTER, IBA_SM_STANDBY, 'M', 'H'},
		    {IBA_SM_MASTER, IBA_SM_MASTER, 'A', 'H'}};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(decide(rows[i].state, rows[i].other, 4), rows[i].lower);
		ck_assert_int_eq(decide(rows[i].state, rows[i].other, 6), rows[i].higher);
	}
}
END_TEST

/*
 * '.' is refused; else the state from then on: Not active, Discovering, Standby, Master, which in a
 * small letter has it discover the subnet, and acknowledge if it is m.
 */
static char control(uint8_t state, uint8_t sender_state, unsigned int control, bool awaited)
{
	const struct election_sm own = {.guid = 1, .state = state};
	const struct election_sm sender = {.guid = 2, .state = sender_state};
	struct election_answer answer = election_control(&own, control, &sender, awaited);
	char shown = (answer.sweep ? "ndsm" : "NDSM")[answer.state];

	ck_assert(answer.acknowledge == (shown == 'm'));
	if (answer.refused)
		ck_assert_uint_eq(answer.state, state);
	return answer.refused ? '.' : shown;
}

START_TEST(controls)
{
	static const struct {
		uint8_t state, sender;
		bool awaited;
		const char *controls; /* none, HANDOVER, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER */
	} rows[] = {{IBA_SM_NOT_ACTIVE, IBA_SM_MASTER, false, "...NS.."},
		    {IBA_SM_NOT_ACTIVE, IBA_SM_STANDBY, true, "......."},
		    {IBA_SM_DISCOVERING, IBA_SM_MASTER, true, "......."},
		    {IBA_SM_DISCOVERING, IBA_SM_STANDBY, false, "......."},
		    {IBA_SM_STANDBY, IBA_SM_MASTER, false, ".mSNSd."},
		    {IBA_SM_STANDBY, IBA_SM_STANDBY, false, "..S...."},
		    {IBA_SM_STANDBY, IBA_SM_DISCOVERING, false, "......."},
		    {IBA_SM_STANDBY, IBA_SM_NOT_ACTIVE, true, "......."},
		    {IBA_SM_MASTER, IBA_SM_MASTER, false, ".mM...."},
		    {IBA_SM_MASTER, IBA_SM_MASTER, true, ".mS...."},
		    {IBA_SM_MASTER, IBA_SM_STANDBY, false, "..M...."},
		    {IBA_SM_MASTER, IBA_SM_STANDBY, true, "..S...."},
		    {IBA_SM_MASTER, IBA_SM_DISCOVERING, true, "......."}};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned int n = 0; rows[i].controls[n]; n++)
			ck_assert_msg(control(rows[i].state, rows[i].sender, n, rows[i].awaited) ==
					      rows[i].controls[n],
				      "row %u, control %u", i, n);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sm_election");
	TCase *tcase = tcase_create("tables");

	tcase_add_test(tcase, rank);
	tcase_add_test(tcase, decisions);
	tcase_add_test(tcase, controls);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
