// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Selectors of MTU, rate and packet life time. */
#include <check.h>
#include <glib.h>

#include "iba/codes.h"
#include "iba/limit.h"
#include "tests/run_suite.h"

typedef bool fit_fn(uint8_t *value, const struct iba_limit *limit);
#define NONE (-1)

/* With this value present, a request by selector and value gives that result. */
static const struct {
	fit_fn *fit;
	uint8_t there, selector, value;
	int gives;
} fits[] = {
	{iba_fit_mtu, 4, IBA_SELECTOR_GREATER, 3, 4},
	{iba_fit_mtu, 4, IBA_SELECTOR_GREATER, 4, NONE},
	{iba_fit_mtu, 4, IBA_SELECTOR_LESS, 1, NONE},
	{iba_fit_mtu, 4, IBA_SELECTOR_LESS, 2, 1},
	{iba_fit_mtu, 4, IBA_SELECTOR_LESS, 4, 3},
	{iba_fit_mtu, 4, IBA_SELECTOR_LESS, 6, 4},
	{iba_fit_mtu, 4, IBA_SELECTOR_EXACTLY, 0, NONE},
	{iba_fit_mtu, 4, IBA_SELECTOR_EXACTLY, 1, 1},
	{iba_fit_mtu, 4, IBA_SELECTOR_EXACTLY, 4, 4},
	{iba_fit_mtu, 4, IBA_SELECTOR_EXACTLY, 5, NONE},
	{iba_fit_mtu, 4, IBA_SELECTOR_BEST, 1, 4},
	/* by code: 2 is 2.5 Gb/s, 5 is 5, 3 is 10, 6 is 20, and 1 is none */
	{iba_fit_rate, 3, IBA_SELECTOR_GREATER, 0, 3},
	{iba_fit_rate, 3, IBA_SELECTOR_GREATER, 1, NONE},
	{iba_fit_rate, 3, IBA_SELECTOR_GREATER, 5, 3},
	{iba_fit_rate, 3, IBA_SELECTOR_GREATER, 3, NONE},
	{iba_fit_rate, 3, IBA_SELECTOR_LESS, 0, NONE},
	{iba_fit_rate, 3, IBA_SELECTOR_LESS, 2, NONE},
	{iba_fit_rate, 3, IBA_SELECTOR_LESS, 3, 5},
	{iba_fit_rate, 3, IBA_SELECTOR_LESS, 6, 3},
	{iba_fit_rate, 3, IBA_SELECTOR_EXACTLY, 0, NONE},
	{iba_fit_rate, 3, IBA_SELECTOR_EXACTLY, 5, 5},
	{iba_fit_rate, 3, IBA_SELECTOR_EXACTLY, 3, 3},
	{iba_fit_rate, 3, IBA_SELECTOR_EXACTLY, 6, NONE},
	{iba_fit_rate, 3, IBA_SELECTOR_BEST, 1, 3},
	{iba_fit_life, 18, IBA_SELECTOR_GREATER, 10, 18},
	{iba_fit_life, 18, IBA_SELECTOR_GREATER, 18, 19},
	{iba_fit_life, 18, IBA_SELECTOR_GREATER, 62, 63},
	{iba_fit_life, 18, IBA_SELECTOR_GREATER, 63, NONE},
	{iba_fit_life, 18, IBA_SELECTOR_LESS, 18, NONE},
	{iba_fit_life, 18, IBA_SELECTOR_LESS, 19, 18},
	{iba_fit_life, 18, IBA_SELECTOR_EXACTLY, 17, NONE},
	{iba_fit_life, 18, IBA_SELECTOR_EXACTLY, 18, 18},
	{iba_fit_life, 18, IBA_SELECTOR_EXACTLY, 20, 20},
	{iba_fit_life, 18, IBA_SELECTOR_BEST, 63, 18},
};

START_TEST(test_selectors)
{
	struct iba_limit limit = {true, fits[_i].selector, fits[_i].value};
	uint8_t value = fits[_i].there;

	ck_assert_int_eq(fits[_i].fit(&value, &limit) ? value : NONE, fits[_i].gives);
	limit.given = false;
	value = fits[_i].there;
	ck_assert(fits[_i].fit(&value, &limit));
	ck_assert_uint_eq(value, fits[_i].there);
}
END_TEST

/* The values of a group are fixed: each that is below, at or above the requested one. */
START_TEST(test_selectors_of_groups)
{
	static const bool fit[][3] = {
		[IBA_SELECTOR_GREATER] = {false, false, true},
		[IBA_SELECTOR_LESS] = {true, false, false},
		[IBA_SELECTOR_EXACTLY] = {false, true, false},
		[IBA_SELECTOR_BEST] = {true, true, true},
	};
	static const uint8_t rates[] = {5, 3, 6};
	const struct iba_limit any = {false, IBA_SELECTOR_EXACTLY, 60};

	for (uint8_t selector = 0; selector < G_N_ELEMENTS(fit); selector++)
		for (uint8_t i = 0; i < 3; i++) {
			const struct iba_mc_member_record group = {
				.mtu = 2 + i, .rate = rates[i], .packet_life_time = 17 + i};
			const struct iba_limit mtu = {true, selector, 3}, rate = mtu,
					       life = {true, selector, 18};

			ck_assert(iba_group_fits(&group, &any, &any, &any));
			ck_assert_int_eq(iba_group_fits(&group, &mtu, &any, &any),
					 fit[selector][i]);
			ck_assert_int_eq(iba_group_fits(&group, &any, &rate, &any),
					 fit[selector][i]);
			ck_assert_int_eq(iba_group_fits(&group, &any, &any, &life),
					 fit[selector][i]);
		}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("iba_limit");
	TCase *tcase = tcase_create("limit");

	tcase_add_loop_test(tcase, test_selectors, 0, G_N_ELEMENTS(fits));
	tcase_add_test(tcase, test_selectors_of_groups);
	suite_add_tcase(suite, tcase);
	return suite;
}
