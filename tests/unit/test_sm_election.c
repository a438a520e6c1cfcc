// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The state machine of IBA 14.4.1 as tables. */
#include <check.h>

#include "iba/iba.h"
#include "sm/election/election.h"
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

/* The action of an SM with priority 5 that finds another with that state and priority. */
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

/* Ability: Unknown, sees much, sees Less, finds ports for lack of Keys, is unable (0) */
static struct ability ability(char kind)
{
	switch (kind) {
	case 'm':
		return (struct ability){true, false, 20, 36, 36};
	case 'l':
		return (struct ability){true, false, 5, 9, 9};
	case 'k':
		return (struct ability){true, false, 20, 36, 30};
	case '0':
		return (struct ability){true, true, 20, 36, 0};
	default:
		return (struct ability){0};
	}
}

static char decide_by_ability(uint8_t state, char own_kind, uint8_t other_state, char kind,
			      uint8_t priority)
{
	const struct election_sm own = {1, own_kind == '0' ? 0 : 5, state, ability(own_kind)};
	const struct election_sm other = {2, priority, other_state, ability(kind)};
	const struct election_sm *whom = NULL;

	return "MFHAX"[election_decide(&own, &other, 1, &whom)];
}

/* Ability is before rank: each row with the other one's rank lower, and higher. */
START_TEST(abilities)
{
	static const struct {
		uint8_t state;
		char own;
		uint8_t other;
		char kind, lower, higher;
	} rows[] = {
		/* An SM of unknown ability is judged by rank. */
		{IBA_SM_MASTER, 'm', IBA_SM_STANDBY, 'u', 'M', 'H'},
		{IBA_SM_MASTER, 'u', IBA_SM_STANDBY, 'm', 'M', 'H'},
		{IBA_SM_MASTER, 'm', IBA_SM_STANDBY, 'm', 'M', 'H'},
		/* No SM hands over to one that falls short, */
		{IBA_SM_MASTER, 'm', IBA_SM_STANDBY, 'l', 'M', 'M'},
		{IBA_SM_MASTER, 'm', IBA_SM_STANDBY, 'k', 'M', 'M'},
		{IBA_SM_MASTER, 'm', IBA_SM_STANDBY, '0', 'M', 'M'},
		{IBA_SM_MASTER, 'm', IBA_SM_MASTER, 'l', 'A', 'A'},
		{IBA_SM_MASTER, 'm', IBA_SM_MASTER, '0', 'A', 'A'},
		{IBA_SM_MASTER, 'u', IBA_SM_MASTER, '0', 'A', 'A'},
		/* and to a standby of lower rank for no other reason than that it claims more. */
		{IBA_SM_MASTER, 'l', IBA_SM_STANDBY, 'm', 'M', 'H'},
		{IBA_SM_MASTER, 'l', IBA_SM_MASTER, 'm', 'H', 'H'},
		{IBA_SM_MASTER, 'k', IBA_SM_MASTER, 'm', 'H', 'H'},
		/* An unable one hands over to any that is able, or leads nothing. */
		{IBA_SM_MASTER, '0', IBA_SM_STANDBY, 'l', 'H', 'H'},
		{IBA_SM_MASTER, '0', IBA_SM_STANDBY, 'u', 'H', 'H'},
		{IBA_SM_MASTER, '0', IBA_SM_MASTER, 'm', 'H', 'H'},
		{IBA_SM_MASTER, '0', IBA_SM_STANDBY, '0', 'X', 'X'},
		{IBA_SM_MASTER, '0', IBA_SM_DISCOVERING, 'm', 'X', 'X'},
		{IBA_SM_DISCOVERING, '0', IBA_SM_STANDBY, '0', 'X', 'X'},
		{IBA_SM_DISCOVERING, '0', IBA_SM_NOT_ACTIVE, 'm', 'X', 'X'},
		{IBA_SM_DISCOVERING, '0', IBA_SM_DISCOVERING, 'm', 'F', 'F'},
		{IBA_SM_DISCOVERING, '0', IBA_SM_STANDBY, 'u', 'F', 'F'},
		{IBA_SM_DISCOVERING, '0', IBA_SM_MASTER, '0', 'F', 'F'},
		/* A master that is unable does not count as one. */
		{IBA_SM_DISCOVERING, 'm', IBA_SM_MASTER, '0', 'M', 'M'},
		{IBA_SM_DISCOVERING, 'm', IBA_SM_MASTER, 'l', 'F', 'F'},
		{IBA_SM_DISCOVERING, 'm', IBA_SM_STANDBY, 'l', 'M', 'M'},
		{IBA_SM_DISCOVERING, 'm', IBA_SM_DISCOVERING, '0', 'M', 'M'},
		{IBA_SM_DISCOVERING, 'l', IBA_SM_STANDBY, 'm', 'M', 'F'},
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char lower = decide_by_ability(rows[i].state, rows[i].own, rows[i].other,
					       rows[i].kind, 4);
		char higher = decide_by_ability(rows[i].state, rows[i].own, rows[i].other,
						rows[i].kind, 6);

		ck_assert_msg(lower == rows[i].lower, "row %u, lower: %c", i, lower);
		ck_assert_msg(higher == rows[i].higher, "row %u, higher: %c", i, higher);
	}
}
END_TEST

/* Two that know of each other never both hand over, and never both go on as if alone. */
START_TEST(masters_agree)
{
	static const char kinds[] = "umlk0";

	for (unsigned int a = 0; kinds[a]; a++)
		for (unsigned int b = 0; kinds[b]; b++) {
			const struct election_sm one = {1, 5, IBA_SM_MASTER, ability(kinds[a])};
			const struct election_sm two = {2, 7, IBA_SM_MASTER, ability(kinds[b])};
			const struct election_sm *whom;
			char first = "MFHAX"[election_decide(&one, &two, 1, &whom)];
			char second = "MFHAX"[election_decide(&two, &one, 1, &whom)];

			ck_assert_msg(first != 'M' && second != 'M', "%c %c", kinds[a], kinds[b]);
			ck_assert_msg((first == 'H') + (second == 'H') ==
					      !(one.ability.unable && two.ability.unable),
				      "%c %c: %c %c", kinds[a], kinds[b], first, second);
		}
}
END_TEST

/* At its end a master hands over to the best that could lead, and falls short if there is none. */
START_TEST(successors)
{
	const struct election_sm own = {1, 5, IBA_SM_MASTER, ability('m')};
	const struct election_sm others[] = {
		{2, 9, IBA_SM_STANDBY, ability('0')},
		{3, 8, IBA_SM_STANDBY, ability('l')},
		{4, 3, IBA_SM_STANDBY, ability('m')},
		{5, 9, IBA_SM_DISCOVERING, ability('m')},
	};

	ck_assert_ptr_eq(election_successor(&own, others, 4), &others[2]);
	ck_assert_ptr_eq(election_successor(&own, others, 2), &others[1]);
	ck_assert_ptr_null(election_successor(&own, others, 1));
	ck_assert_ptr_null(election_successor(&own, NULL, 0));
}
END_TEST

/* An unable SM refuses HANDOVER, and obeys the other controls all the same. */
START_TEST(unable_is_controlled)
{
	const struct election_sm own = {1, 0, IBA_SM_STANDBY, ability('0')};
	const struct election_sm master = {.guid = 2, .state = IBA_SM_MASTER};

	ck_assert(election_control(&own, IBA_SM_INFO_HANDOVER, &master, false).refused);
	ck_assert(!election_control(&own, IBA_SM_INFO_DISCOVER, &master, false).refused);
	ck_assert(!election_control(&own, IBA_SM_INFO_DISABLE, &master, false).refused);
}
END_TEST

/*
 * '.' is refused; else the state from then on: Not active, Discovering, Standby, Master. A small
 * letter means that it discovers the subnet, and m that it sends an ACKNOWLEDGE.
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

TEST_SUITE
{
	Suite *suite = suite_create("sm_election");
	TCase *tcase = tcase_create("tables");

	tcase_add_test(tcase, rank);
	tcase_add_test(tcase, decisions);
	tcase_add_test(tcase, abilities);
	tcase_add_test(tcase, masters_agree);
	tcase_add_test(tcase, successors);
	tcase_add_test(tcase, unable_is_controlled);
	tcase_add_test(tcase, controls);
	suite_add_tcase(suite, tcase);
	return suite;
}
