// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Every set of reasons in every state: the sweep is the cheapest that suffices, none is
 * forgotten. */
#include <check.h>

#include "sm/schedule/plan.h"
#include "tests/run_suite.h"

#define ALL_REASONS ((SWEEP_POLICY << 1) - 1)
#define TRAPS (SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP)

static void each(void (*check)(const struct plan_state *state, unsigned int reasons))
{
	for (unsigned int bits = 0; bits < 8; bits++) {
		struct plan_state state = {
			.discovered = bits & 1,
			.force_heavy = bits & 2,
			.sweep_on_trap = bits & 4,
		};

		for (unsigned int reasons = 0; reasons <= ALL_REASONS; reasons++)
			check(&state, reasons);
	}
}

static void check_expected(const struct plan_state *state, unsigned int reasons)
{
	enum sweep_kind kind = plan_sweep(state, reasons);
	enum sweep_kind expected = SWEEP_KIND_LIGHT;

	if (!reasons || (!state->sweep_on_trap && !(reasons & ~TRAPS)))
		expected = SWEEP_KIND_NONE;
	else if (!state->discovered || reasons & (SWEEP_STARTUP | SWEEP_HEAVY))
		expected = SWEEP_KIND_HEAVY;
	else if (state->force_heavy &&
		 reasons & ~(SWEEP_GROUPS | SWEEP_REROUTE | SWEEP_POLICY | SWEEP_ERRORS))
		expected = SWEEP_KIND_HEAVY; /* not for a join, nor for a retry */
	else if (reasons & (SWEEP_CHANGE | SWEEP_ERRORS) ||
		 (reasons & TRAPS && (state->sweep_on_trap || reasons & SWEEP_TIMER)))
		expected = SWEEP_KIND_PARTIAL;
	else if (reasons & SWEEP_POLICY)
		expected = SWEEP_KIND_POLICY;
	else if (reasons & SWEEP_REROUTE)
		expected = SWEEP_KIND_REROUTE;
	else if (reasons & SWEEP_GROUPS && !(reasons & (SWEEP_TIMER | SWEEP_LIGHT)))
		expected = SWEEP_KIND_GROUPS;
	ck_assert_msg(kind == expected, "reasons 0x%x: %s, expected %s", reasons,
		      plan_kind_name(kind), plan_kind_name(expected));
}

START_TEST(test_kinds)
{
	each(check_expected);
	ck_assert_str_eq(plan_kind_name(SWEEP_KIND_NONE), "no");
}
END_TEST

/* A sweep answers at least one of the reasons it was planned for, so that they come to an end. */
static void check_ends(const struct plan_state *state, unsigned int reasons)
{
	struct plan_state now = *state;
	unsigned int sweeps = 0, left = reasons;

	while (left) {
		enum sweep_kind kind = plan_sweep(&now, left);

		if (!now.sweep_on_trap && !(left & ~TRAPS))
			return; /* they wait for the timer */
		ck_assert_uint_ne(left & plan_answers(kind), 0);
		left &= ~plan_answers(kind);
		now.discovered |= kind == SWEEP_KIND_HEAVY;
		ck_assert_uint_le(++sweeps, 5);
	}
}

START_TEST(test_reasons_end)
{
	each(check_ends);
}
END_TEST

static const struct work {
	unsigned int reasons; /* each of them alone requires ... */
	unsigned int kinds;   /* ... work that only these do */
} works[] = {
	{SWEEP_STARTUP | SWEEP_HEAVY, SWEEP_KIND_HEAVY},
	{SWEEP_CHANGE | SWEEP_ERRORS, SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL},
	{SWEEP_REROUTE, SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL | SWEEP_KIND_REROUTE},
	{SWEEP_POLICY, SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL | SWEEP_KIND_POLICY},
	{SWEEP_GROUPS, SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL | SWEEP_KIND_REROUTE |
			       SWEEP_KIND_GROUPS | SWEEP_KIND_POLICY},
	{SWEEP_TIMER | SWEEP_LIGHT, SWEEP_KIND_HEAVY | SWEEP_KIND_LIGHT},
	{TRAPS, SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL},
};

/* No kind of sweep answers a reason whose work it does not do. */
START_TEST(test_answers_only_what_it_does)
{
	static const enum sweep_kind kinds[] = {SWEEP_KIND_LIGHT,   SWEEP_KIND_GROUPS,
						SWEEP_KIND_REROUTE, SWEEP_KIND_PARTIAL,
						SWEEP_KIND_POLICY,  SWEEP_KIND_HEAVY};
	unsigned int covered = 0;

	for (size_t w = 0; w < sizeof(works) / sizeof(works[0]); w++) {
		covered |= works[w].reasons;
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (!(works[w].kinds & kinds[k]))
				ck_assert_msg(!(plan_answers(kinds[k]) & works[w].reasons),
					      "%s, reasons 0x%x", plan_kind_name(kinds[k]),
					      works[w].reasons);
	}
	ck_assert_uint_eq(covered, ALL_REASONS);
	ck_assert_uint_eq(plan_answers(SWEEP_KIND_NONE), 0);
}
END_TEST

/*
 * A trap is handled by a sweep that reads its subject: at once, or, if the option says that traps
 * start none, by the next periodic one; and no earlier sweep forgets it.
 */
static void check_traps(const struct plan_state *state, unsigned int reasons)
{
	if (!state->sweep_on_trap && !(reasons & ~TRAPS))
		ck_assert_uint_eq(plan_sweep(state, reasons), SWEEP_KIND_NONE);
	if (reasons & TRAPS && (state->sweep_on_trap || reasons & SWEEP_TIMER))
		ck_assert_uint_ne(
			plan_sweep(state, reasons) & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL), 0);
}

START_TEST(test_traps_are_followed)
{
	each(check_traps);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("plan");
	TCase *tcase = tcase_create("plan");

	tcase_add_test(tcase, test_kinds);
	tcase_add_test(tcase, test_reasons_end);
	tcase_add_test(tcase, test_answers_only_what_it_does);
	tcase_add_test(tcase, test_traps_are_followed);
	suite_add_tcase(suite, tcase);
	return suite;
}
