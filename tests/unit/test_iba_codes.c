// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Codes of MTU, rate, width and time against the values of the IBA, typed again by hand. */
#include <check.h>
#include <glib.h>

#include <iba/codes.h>
#include <iba/constants.h>

#include "tests/run_suite.h"

START_TEST(test_mtu)
{
	for (unsigned int code = 1, bytes = 256; code <= 5; code++, bytes *= 2) {
		ck_assert_uint_eq(iba_mtu_bytes((uint8_t)code), bytes);
		ck_assert_uint_eq(iba_mtu_code(bytes), code);
		ck_assert_uint_eq(iba_mtu_code(bytes + 1), code);
		ck_assert_uint_eq(iba_mtu_code(bytes - 1), code - 1);
	}
	ck_assert_uint_eq(iba_mtu_bytes(0), 0);
	ck_assert_uint_eq(iba_mtu_bytes(6), 0);
	ck_assert_uint_eq(iba_mtu_bytes(255), 0);
	ck_assert_uint_eq(iba_mtu_code(65536), 5);
}
END_TEST

/* By code, from 2. */
static const unsigned int tenths[] = {25,   100, 300, 50,   200,  400,	600,  800,
				      1200, 140, 560, 1120, 1680, 250,	1000, 2000,
				      3000, 280, 500, 4000, 6000, 8000, 12000};

START_TEST(test_rate_values)
{
	ck_assert_uint_eq(G_N_ELEMENTS(tenths), 23);
	for (uint8_t i = 0; i < G_N_ELEMENTS(tenths); i++) {
		ck_assert_uint_eq(iba_rate_tenths(i + 2), tenths[i]);
		ck_assert_uint_eq(iba_rate_code(tenths[i]), i + 2);
	}
	ck_assert_uint_eq(iba_rate_tenths(0), 0);
	ck_assert_uint_eq(iba_rate_tenths(1), 0);
	ck_assert_uint_eq(iba_rate_tenths(25), 0);
	ck_assert_uint_eq(iba_rate_code(24), 0);
	ck_assert_uint_eq(iba_rate_code(99999), IBA_RATE_1200);
}
END_TEST

START_TEST(test_rate_order)
{
	unsigned int n = 1;
	uint8_t code = IBA_RATE_2_5;

	for (uint8_t next; (next = iba_rate_faster(code)) != 0; code = next, n++) {
		ck_assert_int_gt(iba_rate_compare(next, code), 0);
		ck_assert_int_lt(iba_rate_compare(code, next), 0);
		ck_assert_uint_eq(iba_rate_slower(next), code);
	}
	ck_assert_uint_eq(n, 23);
	ck_assert_uint_eq(code, IBA_RATE_1200);
	ck_assert_uint_eq(iba_rate_slower(IBA_RATE_2_5), 0);
	ck_assert_uint_eq(iba_rate_slower(99), 0);
	ck_assert_uint_eq(iba_rate_faster(99), 0);
	ck_assert_int_eq(iba_rate_compare(IBA_RATE_14, IBA_RATE_14), 0);
	ck_assert_int_gt(iba_rate_compare(IBA_RATE_120, IBA_RATE_100), 0);
}
END_TEST

START_TEST(test_rate_limit)
{
	ck_assert_uint_eq(iba_rate_limit(IBA_RATE_56, IBA_RATE_1200), IBA_RATE_56);
	ck_assert_uint_eq(iba_rate_limit(IBA_RATE_56, IBA_RATE_120), IBA_RATE_40);
	ck_assert_uint_eq(iba_rate_limit(IBA_RATE_400, IBA_RATE_300), IBA_RATE_300);
	ck_assert_uint_eq(iba_rate_limit(IBA_RATE_14, IBA_RATE_120), IBA_RATE_10);
	ck_assert_uint_eq(iba_rate_limit(IBA_RATE_5, IBA_RATE_10), IBA_RATE_2_5);
	ck_assert_uint_eq(iba_rate_limit(99, IBA_RATE_1200), 0);
	ck_assert_uint_eq(iba_rate_limit(IBA_RATE_10, 1), 0);
}
END_TEST

static const struct {
	uint8_t width, speed, ext, ext2, rate;
} links[] = {
	{IBA_WIDTH_1X, IBA_SPEED_SDR, 0, 0, IBA_RATE_2_5},
	{IBA_WIDTH_2X, IBA_SPEED_SDR, 0, 0, IBA_RATE_5},
	{IBA_WIDTH_4X, IBA_SPEED_SDR, 0, 0, IBA_RATE_10},
	{IBA_WIDTH_8X, IBA_SPEED_SDR, 0, 0, IBA_RATE_20},
	{IBA_WIDTH_12X, IBA_SPEED_SDR, 0, 0, IBA_RATE_30},
	{IBA_WIDTH_4X, IBA_SPEED_DDR, 0, 0, IBA_RATE_20},
	{IBA_WIDTH_12X, IBA_SPEED_DDR, 0, 0, IBA_RATE_60},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, 0, 0, IBA_RATE_40},
	{IBA_WIDTH_8X, IBA_SPEED_QDR, 0, 0, IBA_RATE_80},
	{IBA_WIDTH_12X, IBA_SPEED_QDR, 0, 0, IBA_RATE_120},
	{IBA_WIDTH_1X, IBA_SPEED_QDR, IBA_SPEED_EXT_FDR, 0, IBA_RATE_14},
	{IBA_WIDTH_2X, IBA_SPEED_QDR, IBA_SPEED_EXT_FDR, 0, IBA_RATE_28},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_FDR, 0, IBA_RATE_56},
	{IBA_WIDTH_8X, IBA_SPEED_QDR, IBA_SPEED_EXT_FDR, 0, IBA_RATE_112},
	{IBA_WIDTH_12X, IBA_SPEED_QDR, IBA_SPEED_EXT_FDR, 0, IBA_RATE_168},
	{IBA_WIDTH_1X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR, 0, IBA_RATE_25},
	{IBA_WIDTH_2X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR, 0, IBA_RATE_50},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR, 0, IBA_RATE_100},
	{IBA_WIDTH_12X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR, 0, IBA_RATE_300},
	{IBA_WIDTH_2X, IBA_SPEED_QDR, IBA_SPEED_EXT_HDR, 0, IBA_RATE_100},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_HDR, 0, IBA_RATE_200},
	{IBA_WIDTH_8X, IBA_SPEED_QDR, IBA_SPEED_EXT_HDR, 0, IBA_RATE_400},
	{IBA_WIDTH_12X, IBA_SPEED_QDR, IBA_SPEED_EXT_HDR, 0, IBA_RATE_600},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_NDR, 0, IBA_RATE_400},
	{IBA_WIDTH_8X, IBA_SPEED_QDR, IBA_SPEED_EXT_NDR, 0, IBA_RATE_800},
	{IBA_WIDTH_12X, IBA_SPEED_QDR, IBA_SPEED_EXT_NDR, 0, IBA_RATE_1200},
	{IBA_WIDTH_1X, IBA_SPEED_QDR, 0, IBA_SPEED_EXT2_XDR, IBA_RATE_200},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_NDR, IBA_SPEED_EXT2_XDR, IBA_RATE_800},
	{IBA_WIDTH_8X, IBA_SPEED_QDR, 0, IBA_SPEED_EXT2_XDR, IBA_RATE_1200},
	{0, IBA_SPEED_SDR, 0, 0, 0},
	{3, IBA_SPEED_SDR, 0, 0, 0},
	{IBA_WIDTH_4X, 0, 0, 0, 0},
	{IBA_WIDTH_4X, 3, 0, 0, 0},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, 3, 0, 0},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, 0, 2, 0},
};

START_TEST(test_link_rate)
{
	ck_assert_uint_eq(
		iba_link_rate(links[_i].width, links[_i].speed, links[_i].ext, links[_i].ext2),
		links[_i].rate);
}
END_TEST

START_TEST(test_time)
{
	ck_assert_uint_eq(iba_timeout_ns(0), 4096);
	ck_assert_uint_eq(iba_timeout_ns(18), UINT64_C(1073741824));
	ck_assert_uint_eq(iba_timeout_ns(31), UINT64_C(8796093022208));
	ck_assert_uint_eq(iba_timeout_ns(51), UINT64_C(1) << 63);
	ck_assert_uint_eq(iba_timeout_ns(52), UINT64_MAX);
	ck_assert_uint_eq(iba_timeout_ns(63), UINT64_MAX);
	ck_assert_uint_eq(iba_timeout_code(0), 0);
	ck_assert_uint_eq(iba_timeout_code(4096), 0);
	ck_assert_uint_eq(iba_timeout_code(4097), 1);
	ck_assert_uint_eq(iba_timeout_code(UINT64_MAX), 31);
}
END_TEST

START_TEST(test_vls)
{
	ck_assert_uint_eq(iba_vls_count(0), 0);
	ck_assert_uint_eq(iba_vls_count(IBA_VLS_VL0), 1);
	ck_assert_uint_eq(iba_vls_count(IBA_VLS_VL0_7), 8);
	ck_assert_uint_eq(iba_vls_count(IBA_VLS_VL0_14), 15);
	ck_assert_uint_eq(iba_vls_count(6), 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("iba_codes");
	TCase *tcase = tcase_create("codes");

	tcase_add_test(tcase, test_mtu);
	tcase_add_test(tcase, test_rate_values);
	tcase_add_test(tcase, test_rate_order);
	tcase_add_test(tcase, test_rate_limit);
	tcase_add_loop_test(tcase, test_link_rate, 0, G_N_ELEMENTS(links));
	tcase_add_test(tcase, test_time);
	tcase_add_test(tcase, test_vls);
	suite_add_tcase(suite, tcase);
	return suite;
}
