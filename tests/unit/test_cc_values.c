// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What agents should have: profiles, masks, blocks of the table, comparison, and the way back. */
#include <check.h>
#include <string.h>

#include "cc/values.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static struct options *options;

static void setup(void)
{
	options = options_new();
	options->congestion_control = true;
}

static void teardown(void)
{
	options_unref(options);
}

static double slowness(const struct iba_congestion_control_entry *entry)
{
	return (double)entry->cct_multiplier / (1u << entry->cct_shift);
}

/*
 * The last entry leaves each of the hosts no more than its share of a port at which all of them
 * meet, and no entry is less than the one before.
 */
START_TEST(tables)
{
	static const uint32_t hosts[] = {2, 3, 16, 127, 128, 1000, 8192, 40000};
	struct cc_values values;
	GPtrArray *warnings;

	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++) {
		options->cc_profile = (uint8_t)_i;
		cc_values_make(options, &(struct cc_size){hosts[i], 100}, &values);
		ck_assert_uint_ge(values.n_table, 2);
		ck_assert_uint_le(values.n_table, CC_TABLE_MAX);
		ck_assert(slowness(&values.table[0]) == 0);
		for (unsigned int k = 1; k < values.n_table; k++)
			ck_assert(slowness(&values.table[k]) >= slowness(&values.table[k - 1]));
		ck_assert(slowness(&values.table[values.n_table - 1]) + 1 >= MIN(hosts[i], 128));
		warnings = cc_values_warnings(options, &values);
		ck_assert_uint_eq(warnings->len, 0);
		g_ptr_array_unref(warnings);
	}
	options->cc_hosts = 77;
	cc_values_make(options, &(struct cc_size){5, 100}, &values);
	ck_assert_uint_eq(values.hosts, 77);
}
END_TEST

/* Exactly the ports that face hosts, wherever their cables are. */
START_TEST(masks)
{
	struct fabric *fabric = make_fabric("random:12:6:3:7", 0);
	struct iba_switch_congestion_setting setting;
	uint8_t octets[CC_SWITCH_OCTETS];
	struct cc_size size = cc_size_of(fabric);
	struct cc_values values;

	options->cc_profile = CC_STANDARD;
	cc_values_make(options, &size, &values);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		cc_settings_of_switch(&values, fabric, fabric->switches[sw].node, octets);
		wire_decode(&iba_switch_congestion_setting_type, octets, &setting);
		for (unsigned int num = 0; num < 256; num++) {
			bool is_set = setting.victim_mask[31 - num / 8] >> num % 8 & 1;
			uint32_t peer = num && num <= node->num_ports
						? fabric->ports[node->first_port + num].peer
						: FABRIC_NONE;

			ck_assert(is_set == (peer != FABRIC_NONE &&
					     !fabric_is_switch(fabric, fabric->ports[peer].node)));
		}
	}
	fabric_unref(fabric);
}
END_TEST

/* CCTI_Limit grows with the blocks, as both kinds of devices take it. */
START_TEST(blocks)
{
	static const struct {
		unsigned int entries;
		uint8_t cap;
		unsigned int blocks;
		bool cut;
		uint16_t limits[2];
	} cases[] = {
		{0, 2, 1, false, {0}},
		{1, 2, 1, false, {0}},
		{63, 2, 1, false, {62}},
		{64, 2, 1, false, {63}},
		{65, 2, 2, false, {63, 64}},
		{128, 2, 2, false, {63, 127}},
		{128, 1, 1, true, {63}},
		{128, 0, 1, true, {63}},
		{64, 0, 1, false, {63}},
		{128, 16, 2, false, {63, 127}},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct cc_values values = {.n_table = cases[i].entries};
		struct iba_congestion_control_table table;
		uint8_t octets[CC_OCTETS_MAX];
		bool cut;

		for (unsigned int k = 0; k < cases[i].entries; k++)
			values.table[k].cct_multiplier = (uint16_t)k;
		ck_assert_uint_eq(cc_blocks(&values, cases[i].cap, &cut), cases[i].blocks);
		ck_assert(cut == cases[i].cut);
		cc_settings_of_ca(&values, cases[i].blocks, octets);
		for (unsigned int block = 0; block < cases[i].blocks; block++) {
			wire_decode(&iba_congestion_control_table_type,
				    octets + cc_piece_at(1 + block), &table);
			ck_assert_uint_eq(table.ccti_limit, cases[i].limits[block]);
			if (cases[i].entries > block * CC_BLOCK + 5)
				ck_assert_uint_eq(table.entry[5].cct_multiplier,
						  block * CC_BLOCK + 5);
		}
	}
}
END_TEST

/* What a device had goes back as it was, whichever way it counts its limit. */
START_TEST(again)
{
	struct cc_values values = {.n_table = 100};
	uint8_t had[CC_OCTETS_MAX], total[CC_OCTETS_MAX], sent[CC_OCTETS_MAX];

	values.of_ca.control_map = 0xFFFF;
	for (unsigned int k = 0; k < 100; k++)
		values.table[k].cct_multiplier = (uint16_t)(7 * k);
	cc_settings_of_ca(&values, 2, had);
	ck_assert_uint_eq(cc_settings_again(false, had, 3, sent), 3);
	ck_assert_mem_eq(sent, had, sizeof(had));
	memcpy(total, had, sizeof(had)); /* one limit in all blocks */
	total[cc_piece_at(1) + 1] = 99;
	ck_assert_uint_eq(cc_settings_again(false, total, 3, sent), 3);
	ck_assert_mem_eq(sent, had, sizeof(had));
	memset(had, 0, sizeof(had));
	ck_assert_uint_eq(cc_settings_again(false, had, 3, sent), 2);
}
END_TEST

START_TEST(comparison)
{
	struct iba_switch_congestion_setting setting = {.control_map = 0x14, .threshold = 3,
							.packet_size = 8};
	uint8_t wanted[CC_SWITCH_OCTETS] = {0}, has[CC_SWITCH_OCTETS] = {0};

	wire_encode(&iba_switch_congestion_setting_type, &setting, wanted);
	setting.control_map = 0;
	memset(setting.victim_mask, 0xFF, sizeof(setting.victim_mask));
	wire_encode(&iba_switch_congestion_setting_type, &setting, has);
	ck_assert(cc_piece_is(true, 0, 1, wanted, has)); /* masks do not count */
	setting.marking_rate = 1;
	wire_encode(&iba_switch_congestion_setting_type, &setting, has);
	ck_assert(!cc_piece_is(true, 0, 1, wanted, has));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("cc_values");
	TCase *tcase = tcase_create("values");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, tables, CC_GENTLE, CC_AGGRESSIVE + 1);
	tcase_add_test(tcase, masks);
	tcase_add_test(tcase, blocks);
	tcase_add_test(tcase, again);
	tcase_add_test(tcase, comparison);
	suite_add_tcase(suite, tcase);
	return suite;
}
