// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Properties of the assignment of LIDs, over random subnets and memories. */
#include <check.h>
#include <string.h>

#include "iba/iba.h"
#include "sm/write/lid_plan.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define MAX_PORTS 60

static struct log *logger;
static struct guid2lid *memory;
static struct lid_plan_port ports[MAX_PORTS + 1];
static struct lid_plan plan;
static uint64_t chance;

static void setup(void)
{
	logger = log_new_null();
	memory = guid2lid_new(NULL, logger);
	memset(ports, 0, sizeof(ports));
	plan = (struct lid_plan){.ports = ports, .last = IBA_LID_UCAST_LAST};
}

static void teardown(void)
{
	guid2lid_free(memory);
	log_free(logger);
}

static uint32_t below(uint32_t n)
{
	return make_number(&chance, n);
}

static void start(uint64_t seed)
{
	teardown();
	setup();
	chance = seed;
}

static uint16_t remembered(uint64_t guid)
{
	uint16_t count;

	return guid2lid_get(memory, guid, &count);
}

/*
 * For conditions that are checked a million times: libcheck writes each check that passes to a
 * file, and reads the file at the end.
 */
#define SAME(a, b)                                                                                 \
	do {                                                                                       \
		if ((a) != (b))                                                                    \
			ck_abort_msg("%s", #a);                                                    \
	} while (0)

/* The entries behind the ports belong to none of them. */
static void make_plan(void)
{
	const struct lid_plan_port behind = {.guid = MAX_PORTS + 7, .lid = 5, .is_switch = true};
	const struct lid_plan_port kept = ports[plan.n];

	ports[plan.n] = behind;
	lid_plan_make(&plan, memory);
	SAME(memcmp(&ports[plan.n], &behind, sizeof(behind)), 0);
	ports[plan.n] = kept;
}

/* No two ports share a LID; each is aligned and can be forwarded; all are remembered. */
static void check_sane(void)
{
	static uint8_t used[0x10000];
	uint32_t without = 0;

	memset(used, 0, sizeof(used));
	for (uint32_t i = 0; i < plan.n; i++) {
		uint32_t count = 1u << ports[i].lmc;

		without += !ports[i].lid;
		if (!ports[i].lid)
			continue;
		SAME(ports[i].lid % count, 0);
		SAME(ports[i].lid + count - 1 <= plan.last, true);
		for (uint32_t k = 0; k < count; k++)
			SAME(used[ports[i].lid + k]++, 0);
		if (!ports[i].duplicate)
			SAME(remembered(ports[i].guid), ports[i].lid);
	}
	ck_assert_uint_eq(plan.without, without);
}

static void unused(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	uint8_t *used = arg;

	(void)guid;
	for (uint16_t k = 0; k < count; k++)
		SAME(used[lid + k]++, 0);
}

/* What is remembered does not overlap either. */
static void check_memory(void)
{
	static uint8_t used[0x10000];

	memset(used, 0, sizeof(used));
	guid2lid_each(memory, unused, used);
}

static void random_ports(bool duplicates)
{
	uint8_t lmc = below(3) ? 0 : below(4);

	plan.n = 1 + below(MAX_PORTS);
	for (uint32_t i = 0; i < plan.n; i++) {
		ports[i].guid = duplicates ? 1 + below(MAX_PORTS) : 1 + i;
		ports[i].lmc = below(4) ? lmc : 0;
		ports[i].carried = below(2) ? below(200) : below(0x10000);
	}
}

static void random_caps(void)
{
	for (uint32_t i = 0; i < plan.n; i++) {
		ports[i].cap = below(4) ? 0 : 1 + below(100);
		ports[i].keeps = below(8) == 0;
		ports[i].is_switch = below(3) == 0;
	}
}

/* Ranges that do not overlap, of GUIDs that may be present and others. */
static void random_memory(void)
{
	uint32_t lid = 1;

	for (uint64_t guid = 1; guid <= 2 * MAX_PORTS; guid++) {
		uint32_t count = 1u << below(3);

		lid = (lid + below(5) + count - 1) / count * count;
		if (below(2))
			guid2lid_set(memory, guid * 7 % (2 * MAX_PORTS + 1), lid, count);
		lid += count;
	}
}

/* The memory becomes as if read from a file: nothing in it was assigned since. */
static void as_from_file(void)
{
	guid2lid_doubt(memory);
}

static void random_last(void)
{
	static const uint16_t lasts[] = {IBA_LID_UCAST_LAST, 0x3FFF, 300, 64, 20, 7, 1, 0};

	plan.last = lasts[below(G_N_ELEMENTS(lasts))];
}

START_TEST(test_sane)
{
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		start(seed);
		random_ports(below(4) == 0);
		random_memory();
		if (below(2))
			random_caps();
		if (below(2))
			as_from_file();
		plan.memory_first = below(4) == 0;
		random_last();
		plan.reassign = below(8) == 0;
		make_plan();
		check_sane();
		check_memory();
	}
}
END_TEST

/* Equal ports once more, whatever they carry: the same LIDs. */
START_TEST(test_stable)
{
	uint16_t first[MAX_PORTS];

	for (uint64_t seed = 1; seed <= 5000; seed++) {
		start(seed);
		random_ports(below(4) == 0);
		random_memory();
		make_plan();
		ck_assert_uint_eq(plan.without, 0);
		for (uint32_t i = 0; i < plan.n; i++) {
			first[i] = ports[i].lid;
			ports[i].carried = ports[i].duplicate ? ports[i].lid : below(0x10000);
		}
		make_plan();
		for (uint32_t i = 0; i < plan.n; i++)
			SAME(ports[i].lid, first[i]);
	}
}
END_TEST

/* With one LMC for all, a remembered port keeps its LIDs if the switches can forward them. */
START_TEST(test_remembered_are_kept)
{
	for (uint64_t seed = 1; seed <= 5000; seed++) {
		uint16_t before[MAX_PORTS];
		uint8_t lmc;

		start(seed);
		lmc = below(3);
		random_ports(false);
		for (uint64_t guid = 1; guid <= 2 * MAX_PORTS; guid++)
			if (below(2))
				guid2lid_set(memory, guid, (guid * 11 % 1000 + 1) << lmc, 1 << lmc);
		for (uint32_t i = 0; i < plan.n; i++) {
			ports[i].lmc = lmc;
			before[i] = remembered(ports[i].guid);
		}
		make_plan();
		for (uint32_t i = 0; i < plan.n; i++)
			if (before[i])
				SAME(ports[i].lid, before[i]);
	}
}
END_TEST

/* Taken over from another SM, with nothing remembered: a port that carries a good LID keeps it. */
START_TEST(test_carried_are_kept)
{
	for (uint32_t i = 0; i < 20; i++)
		ports[i] = (struct lid_plan_port){.guid = 100 + i, .carried = 500 - 3 * i};
	plan.n = 20;
	guid2lid_set(memory, 1, 500, 1); /* of an absent port */
	ports[5].carried = ports[4].carried;
	ports[6].carried = 0;
	ports[7].carried = 0xC000;
	make_plan();
	for (uint32_t i = 0; i < 20; i++)
		if (i != 0 && (i < 5 || i > 7))
			ck_assert_uint_eq(ports[i].lid, 500 - 3 * i);
	ck_assert_uint_eq(ports[0].lid, 1);
	ck_assert_uint_eq(ports[5].lid, 2);
	ck_assert_uint_eq(ports[6].lid, 3);
	ck_assert_uint_eq(ports[7].lid, 4);
	ck_assert_uint_eq(remembered(1), 500);
	check_sane();
}
END_TEST

/* A healthy subnet is taken over with a file that has every LID at another port. */
START_TEST(test_carried_win_over_the_file)
{
	for (int honor = 0; honor < 2; honor++) {
		start(1);
		plan.n = 20;
		plan.memory_first = honor;
		for (uint32_t i = 0; i < 20; i++) {
			ports[i] = (struct lid_plan_port){.guid = 100 + i, .carried = 10 + i};
			guid2lid_set(memory, 100 + i, 10 + (i + 7) % 20, 1);
		}
		as_from_file();
		make_plan();
		for (uint32_t i = 0; i < 20; i++) {
			ck_assert_uint_eq(ports[i].lid, honor ? 10 + (i + 7) % 20 : 10 + i);
			ck_assert_uint_eq(ports[i].remembered, 10 + (i + 7) % 20);
		}
		check_sane();
		check_memory();
	}
}
END_TEST

/* Of two ports that carry one LID the one confirmed by the file keeps it, else the first. */
START_TEST(test_the_file_settles_a_conflict)
{
	static const uint16_t carried[] = {50, 50, 60, 60, 0, 80};

	plan.n = 6;
	for (uint32_t i = 0; i < 6; i++)
		ports[i] = (struct lid_plan_port){.guid = 100 + i, .carried = carried[i]};
	guid2lid_set(memory, 101, 50, 1);
	guid2lid_set(memory, 103, 61, 1);
	guid2lid_set(memory, 104, 70, 1); /* it was rebooted */
	guid2lid_set(memory, 99, 80, 1);  /* it is gone, and another port carries its LID */
	as_from_file();
	make_plan();
	ck_assert_uint_eq(ports[0].lid, 1);
	ck_assert_uint_eq(ports[1].lid, 50);
	ck_assert_uint_eq(ports[2].lid, 60);
	ck_assert_uint_eq(ports[3].lid, 61);
	ck_assert_uint_eq(ports[4].lid, 70);
	ck_assert_uint_eq(ports[5].lid, 80);
	ck_assert_uint_eq(remembered(99), 0);
	check_memory();
}
END_TEST

/* LIDs assigned by this SM stay, whatever others gave the port while it was away. */
START_TEST(test_assigned_win_over_carried)
{
	plan.n = 2;
	ports[0] = (struct lid_plan_port){.guid = 100};
	ports[1] = (struct lid_plan_port){.guid = 101};
	make_plan();
	ports[1].guid = 102; /* 101 is gone; a new port comes from elsewhere with its LID */
	ports[1].carried = 2;
	ports[0].carried = 40;
	make_plan();
	ck_assert_uint_eq(ports[0].lid, 1);
	ck_assert_uint_eq(ports[1].lid, 3);
	ck_assert_uint_eq(remembered(101), 2);
	/* Another SM was master since: ports carry what it gave them. */
	guid2lid_doubt(memory);
	make_plan();
	ck_assert_uint_eq(ports[0].lid, 40);
	ck_assert_uint_eq(ports[1].lid, 2);
	ck_assert_uint_eq(remembered(101), 0);
}
END_TEST

START_TEST(test_absent_ones_last)
{
	plan.last = 10;
	plan.n = 8;
	for (uint32_t i = 0; i < 8; i++)
		ports[i] = (struct lid_plan_port){.guid = 100 + i};
	for (uint16_t i = 1; i <= 3; i++)
		guid2lid_set(memory, i, i, 1);
	guid2lid_set(memory, 4, 5000, 1); /* more than the present switches forward */
	make_plan();
	for (uint32_t i = 0; i < 7; i++)
		ck_assert_uint_eq(ports[i].lid, 4 + i);
	ck_assert_uint_eq(ports[7].lid, 1);
	ck_assert_uint_eq(remembered(1), 0);
	ck_assert_uint_eq(remembered(2), 2);
	ck_assert_uint_eq(remembered(4), 5000);
}
END_TEST

START_TEST(test_exhausted)
{
	plan.last = 16;
	plan.n = 10;
	for (uint32_t i = 0; i < 10; i++)
		ports[i] = (struct lid_plan_port){.guid = 100 + i, .lmc = 2};
	make_plan();
	ck_assert_uint_eq(plan.without, 7); /* 4, 8, 12; 16 would need 19 */
	check_sane();
	plan.last = 0;
	make_plan();
	ck_assert_uint_eq(plan.without, 10);
}
END_TEST

/* Switches that forward one LID, or none. */
START_TEST(test_one_lid)
{
	for (uint16_t last = 0; last < 2; last++) {
		start(1);
		plan.n = 2;
		plan.last = last;
		for (uint32_t i = 0; i < 2; i++)
			ports[i] = (struct lid_plan_port){.guid = 100 + i};
		lid_plan_make(&plan, memory);
		ck_assert_uint_eq(ports[0].lid, last);
		ck_assert_uint_eq(ports[1].lid, 0);
		ck_assert_uint_eq(plan.without, 2 - last);
	}
}
END_TEST

/* Two ports with one GUID do not take the LIDs from each other in each sweep. */
START_TEST(test_duplicate_guid)
{
	plan.n = 3;
	for (uint32_t i = 0; i < 3; i++)
		ports[i] = (struct lid_plan_port){.guid = 100 + i % 2};
	for (int sweep = 0; sweep < 3; sweep++) {
		make_plan();
		check_sane();
		for (uint32_t i = 0; i < 3; i++) {
			ck_assert_uint_eq(ports[i].lid, 1 + i);
			ck_assert_uint_eq(ports[i].duplicate, i == 2);
			ports[i].carried = ports[i].lid;
		}
	}
}
END_TEST

START_TEST(test_reassign)
{
	plan.n = 3;
	plan.reassign = true;
	for (uint32_t i = 0; i < 3; i++) {
		ports[i] = (struct lid_plan_port){.guid = 100 + i, .carried = 50 + i};
		guid2lid_set(memory, 100 + i, 70 + i, 1);
	}
	make_plan();
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(ports[i].lid, 1 + i);
}
END_TEST

/* ---- switches with small tables ---- */

/* Ports 0 to n - 1 carry LIDs from 1 on. */
static void carry_all(uint32_t n)
{
	plan.n = n;
	for (uint32_t i = 0; i < n; i++)
		ports[i] = (struct lid_plan_port){.guid = 100 + i, .carried = 1 + i};
}

/* A port without a LID leaves the low ones to those that need them, the smallest table first. */
START_TEST(test_low_lids_for_small_tables)
{
	carry_all(6);
	for (uint32_t i = 0; i < 6; i++)
		ports[i].carried = 0;
	ports[4].cap = 4;
	ports[5].cap = 3;
	ports[2].cap = 4;
	ports[2].keeps = true;
	make_plan();
	ck_assert_uint_eq(ports[5].lid, 1);
	ck_assert_uint_eq(ports[2].lid, 2);
	ck_assert_uint_eq(ports[4].lid, 3);
	ck_assert_uint_eq(ports[0].lid, 4);
	check_sane();
}
END_TEST

/* A switch yields to one with a small table; a host never yields, and the SM stays. */
START_TEST(test_a_switch_yields)
{
	carry_all(10);
	ports[3].is_switch = ports[9].is_switch = true;
	ports[9].cap = 6; /* a switch that carries 10 */
	ports[8].cap = 6; /* a host that carries 9 */
	ports[7].cap = 6; /* the SM */
	ports[7].keeps = true;
	for (unsigned int again = 0; again < 2; again++) {
		make_plan();
		for (uint32_t i = 0; i < 9; i++)
			ck_assert_uint_eq(ports[i].lid, i == 3 ? 10 : 1 + i);
		ck_assert_uint_eq(ports[9].lid, 4);
		check_sane();
		check_memory();
		for (uint32_t i = 0; i < 10; i++)
			ports[i].carried = ports[i].lid;
	}
}
END_TEST

/* Without a suitable LID, the present one is kept. */
START_TEST(test_no_low_lid_left)
{
	carry_all(10);
	ports[9].is_switch = true;
	ports[9].cap = 6;
	make_plan();
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(ports[i].lid, 1 + i);
	check_sane();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("lid");
	TCase *tcase = tcase_create("lid");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_sane);
	tcase_add_test(tcase, test_stable);
	tcase_add_test(tcase, test_remembered_are_kept);
	tcase_add_test(tcase, test_carried_are_kept);
	tcase_add_test(tcase, test_carried_win_over_the_file);
	tcase_add_test(tcase, test_the_file_settles_a_conflict);
	tcase_add_test(tcase, test_assigned_win_over_carried);
	tcase_add_test(tcase, test_absent_ones_last);
	tcase_add_test(tcase, test_exhausted);
	tcase_add_test(tcase, test_one_lid);
	tcase_add_test(tcase, test_duplicate_guid);
	tcase_add_test(tcase, test_reassign);
	tcase_add_test(tcase, test_low_lids_for_small_tables);
	tcase_add_test(tcase, test_a_switch_yields);
	tcase_add_test(tcase, test_no_low_lid_left);
	suite_add_tcase(suite, tcase);
	return suite;
}
