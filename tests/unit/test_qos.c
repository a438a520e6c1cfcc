// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <string.h>

#include "policy/qos/qos.h"
#include "tests/run_suite.h"

static struct options *options;
static struct qos qos;

static void setup(void)
{
	options = options_new();
}

static void teardown(void)
{
	options_unref(options);
}

static void set(const char **field, const char *text)
{
	g_free((char *)*field);
	*field = g_strdup(text);
}
#define SET(name, text) set((const char **)&options->name, text)

/* The built-in values of the classic daemon. */
START_TEST(built_in)
{
	const struct qos_tables *ca = &qos.of[QOS_CA];

	qos_make(options, &qos);
	ck_assert_uint_eq(ca->vls, 15);
	ck_assert_uint_eq(ca->high_limit, 0);
	for (unsigned int sl = 0; sl < 15; sl++)
		ck_assert_uint_eq(ca->vl[sl], sl);
	ck_assert_uint_eq(ca->vl[15], 7);
	for (unsigned int i = 0; i < 15; i++) {
		ck_assert_uint_eq(ca->low[i].vl, i);
		ck_assert_uint_eq(ca->low[i].weight, i ? 4 : 0);
		ck_assert_uint_eq(ca->high[i].vl, i);
		ck_assert_uint_eq(ca->high[i].weight, i ? 0 : 4);
	}
	ck_assert_uint_eq(ca->low[15].weight, 0);
	ck_assert_int_eq(memcmp(ca, &qos.of[QOS_SWITCH], sizeof(*ca)), 0);
}
END_TEST

/* Built-in values, whatever keys say. */
START_TEST(only_built_in)
{
	struct qos fresh;

	qos_make(options, &fresh);
	SET(qos_sl2vl, "15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15");
	SET(qos_swe_vlarb_low, "3:200");
	options->qos_ca_max_vls = 4;
	qos_make_built_in(&qos);
	ck_assert_int_eq(memcmp(&qos, &fresh, sizeof(qos)), 0);
}
END_TEST

/* A role's own value, else that of all ports, else the built-in one: each independently. */
START_TEST(falls_back)
{
	SET(qos_sl2vl, "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1");
	SET(qos_ca_sl2vl, " 2 , 15,2,2,2,2,2,2, 2,2,2,2,2,2,2,3");
	SET(qos_swe_vlarb_low, "3:200,0x2:0x10");
	options->qos_high_limit = 7;
	options->qos_rtr_high_limit = 0;
	options->qos_swe_max_vls = 4;
	qos_make(options, &qos);
	ck_assert_uint_eq(qos.of[QOS_CA].vl[0], 2);
	ck_assert_uint_eq(qos.of[QOS_CA].vl[1], QOS_DROP);
	ck_assert_uint_eq(qos.of[QOS_CA].vl[15], 3);
	ck_assert_uint_eq(qos.of[QOS_SWITCH].vl[9], 1);
	ck_assert_uint_eq(qos.of[QOS_SWITCH].low[0].vl, 3);
	ck_assert_uint_eq(qos.of[QOS_SWITCH].low[0].weight, 200);
	ck_assert_uint_eq(qos.of[QOS_SWITCH].low[1].vl, 2);
	ck_assert_uint_eq(qos.of[QOS_SWITCH].low[1].weight, 16);
	ck_assert_uint_eq(qos.of[QOS_SWITCH].low[2].weight, 0);
	ck_assert_uint_eq(qos.of[QOS_SWITCH].vls, 4);
	ck_assert_uint_eq(qos.of[QOS_CA].vls, 15);
	ck_assert_uint_eq(qos.of[QOS_CA].high_limit, 7);
	ck_assert_uint_eq(qos.of[QOS_ROUTER].high_limit, 0);
	ck_assert_uint_eq(qos.of[QOS_SWITCH_PORT_0].high_limit, 7);
}
END_TEST

START_TEST(lanes)
{
	static const uint8_t vls[] = {1, 1, 2, 4, 8, 15, 15};
	struct iba_sl_to_vl_table table;

	SET(qos_sl2vl, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
	options->qos_ca_max_vls = 3;
	qos_make(options, &qos);
	for (unsigned int code = 0; code < G_N_ELEMENTS(vls); code++) {
		ck_assert_uint_eq(qos_vls(&qos.of[QOS_SWITCH], (uint8_t)code), vls[code]);
		ck_assert_uint_eq(qos_vls(&qos.of[QOS_CA], (uint8_t)code), MIN(vls[code], 3));
	}
	qos_sl_to_vl(qos.of[QOS_SWITCH].vl, 4, &table);
	for (unsigned int sl = 0; sl < 15; sl++)
		ck_assert_uint_eq(table.vl[sl], sl % 4);
	ck_assert_uint_eq(table.vl[15], QOS_DROP);
	qos_sl_to_vl(qos.of[QOS_SWITCH].vl, 1, &table);
	ck_assert_uint_eq(table.vl[14], 0);
}
END_TEST

START_TEST(arbitration)
{
	g_autoptr(GString) list = g_string_new("0:1");
	struct iba_vl_arbitration_table table;

	for (unsigned int i = 1; i < 64; i++)
		g_string_append_printf(list, ",%u:%u", i % 15, i + 1);
	SET(qos_vlarb_high, list->str);
	qos_make(options, &qos);
	qos_arbitration(&qos.of[QOS_CA], 15, 2, 64, &table);
	ck_assert_uint_eq(table.entry[31].vl, 31 % 15);
	ck_assert_uint_eq(table.entry[31].weight, 32);
	qos_arbitration(&qos.of[QOS_CA], 8, 3, 40, &table);
	ck_assert_uint_eq(table.entry[0].vl, 32 % 15 % 8);
	ck_assert_uint_eq(table.entry[7].weight, 40);
	ck_assert_uint_eq(table.entry[8].weight, 0); /* there is no room for it */
	qos_arbitration(&qos.of[QOS_CA], 8, 1, 64, &table);
	ck_assert_uint_eq(table.entry[0].weight, 0);
	qos_arbitration(&qos.of[QOS_CA], 8, 0, 8, &table);
	ck_assert_uint_eq(table.entry[7].vl, 7);
	ck_assert_uint_eq(table.entry[8].vl, 0);
}
END_TEST

/* An engine has priority over QoS, and conflicts are reported. */
START_TEST(merged)
{
	static const uint8_t vl[QOS_SLS] = {1, 1, 2, 3};
	struct iba_sl_to_vl_table row = {.vl = {0, 1, QOS_DROP, 7, 5}};

	ck_assert_uint_eq(qos_merge(&row, 0, vl), 0);
	ck_assert_uint_eq(row.vl[0], 0);
	ck_assert_uint_eq(qos_merge(&row, 0x7, vl), 0x5);
	ck_assert_uint_eq(row.vl[0], 1);
	ck_assert_uint_eq(row.vl[1], 1);
	ck_assert_uint_eq(row.vl[2], 2);
	ck_assert_uint_eq(row.vl[3], 7);
	ck_assert_uint_eq(row.vl[4], 5);
	ck_assert_uint_eq(qos_merge(&row, 0x7, vl), 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("qos");
	TCase *tcase = tcase_create("qos");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, built_in);
	tcase_add_test(tcase, only_built_in);
	tcase_add_test(tcase, falls_back);
	tcase_add_test(tcase, lanes);
	tcase_add_test(tcase, arbitration);
	tcase_add_test(tcase, merged);
	suite_add_tcase(suite, tcase);
	return suite;
}
