// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What SMs report to each other about their ability, and which falls short of which. */
#include <check.h>
#include <string.h>

#include "iba/iba.h"
#include "sm/election/ability.h"
#include "tests/run_suite.h"

#define DATA 64

static bool is_equal(const struct ability *a, const struct ability *b)
{
	return ability_pack(a) == ability_pack(b);
}

START_TEST(falls_short)
{
	static const struct {
		struct ability a, b;
		bool short_of;
	} rows[] = {
		/* known, unable, switches, endports, settable */
		{{0}, {true, false, 9, 99, 99}, false},
		{{true, false, 0, 1, 1}, {0}, false},
		{{true, false, 9, 99, 99}, {true, false, 9, 99, 99}, false},
		{{true, false, 9, 49, 49}, {true, false, 9, 100, 100}, true},
		{{true, false, 9, 50, 50}, {true, false, 9, 100, 100}, false},
		{{true, false, 9, 100, 100}, {true, false, 9, 49, 49}, false},
		{{true, false, 9, 100, 98},
		 {true, false, 9, 100, 100},
		 true}, /* for lack of keys */
		{{true, false, 9, 100, 98}, {true, false, 9, 101, 99}, false}, /* both of them */
		{{true, false, 9, 200, 98}, {true, false, 9, 98, 98}, false},
		{{true, true, 9, 100, 0}, {true, false, 9, 1, 1}, true},
		{{true, false, 9, UINT16_MAX, UINT16_MAX}, {true, false, 9, UINT16_MAX, 1}, false},
		{{true, false, 9, UINT16_MAX, 1}, {true, false, 9, UINT16_MAX, UINT16_MAX}, true},
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(ability_falls_short(&rows[i].a, &rows[i].b) == rows[i].short_of,
			      "row %u", i);
}
END_TEST

static const struct ability some[] = {
	{0},
	{true, false, 0, 0, 0},
	{true, true, 1, 2, 1},
	{true, false, UINT16_MAX, UINT16_MAX, UINT16_MAX},
	{true, true, 0x1234, 0x5678, 0x0102},
};
#define SOME (sizeof(some) / sizeof(some[0]))

START_TEST(packed)
{
	for (unsigned int i = 0; i < SOME; i++) {
		struct ability again = ability_unpack(ability_pack(&some[i]));

		ck_assert(is_equal(&again, &some[i]));
		ck_assert_uint_eq(again.known, some[i].known);
		ck_assert_uint_eq(again.unable, some[i].unable);
		ck_assert_uint_eq(again.settable, some[i].settable);
	}
	ck_assert_uint_eq(ability_pack(&some[0]), 0);
}
END_TEST

/* SMInfo stays as it is, and so does what follows. */
START_TEST(told)
{
	for (unsigned int i = 0; i < SOME; i++) {
		const struct iba_sm_info info = {
			.guid = 7, .priority = 3, .sm_state = IBA_SM_MASTER};
		struct iba_sm_info again;
		uint8_t data[DATA] = {0};
		struct ability ability;

		wire_encode(&iba_sm_info_type, &info, data);
		ability_encode(&some[i], data);
		ability = ability_decode(data);
		ck_assert(is_equal(&ability, &some[i]));
		wire_decode(&iba_sm_info_type, data, &again);
		ck_assert(wire_equal(&iba_sm_info_type, &info, &again));
		for (unsigned int n = 36; n < DATA; n++)
			ck_assert_uint_eq(data[n], 0);
	}
}
END_TEST

/* Another kind of SM reports nothing there, or anything: then nothing is known. */
START_TEST(not_told)
{
	static const struct {
		unsigned int at; /* octet of the data that is changed, */
		uint8_t to;	 /* to this */
	} changes[] = {{24, 0}, {27, 0xFF}, {28, 0}, {28, 2}, {28, 0xFF}, {34, 0xFF}};
	uint8_t data[DATA] = {0}, other[DATA];
	struct ability ability = ability_decode(data);

	ck_assert(!ability.known);
	memset(data, 0xFF, sizeof(data));
	ability = ability_decode(data);
	ck_assert(!ability.known && !ability.unable);
	memset(data, 0, sizeof(data));
	ability_encode(&some[2], data);
	for (unsigned int i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		memcpy(other, data, sizeof(other));
		other[changes[i].at] = changes[i].to;
		ability = ability_decode(other);
		ck_assert_msg(!ability.known, "change %u", i);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sm_ability");
	TCase *tcase = tcase_create("ability");

	tcase_add_test(tcase, falls_short);
	tcase_add_test(tcase, packed);
	tcase_add_test(tcase, told);
	tcase_add_test(tcase, not_told);
	suite_add_tcase(suite, tcase);
	return suite;
}
