// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MLIDs by themselves: which one a group gets, which groups share it, when it is free again. */
#include <check.h>

#include "sa/clients/quota.h"
#include "sa/groups/mlids.h"
#include "tests/run_suite.h"

#define FIRST IBA_LID_MCAST_FIRST
#define LAST IBA_LID_MCAST_LAST
#define PREFIX UINT64_C(0xFF15A01C00000000)

static struct sa_mlids *mlids;

static const struct mlid_rule one_rule = {
	.mgid = {PREFIX, 0}, .mask = {UINT64_C(0xFFFFFFFF00000000), 0}, .n = 1};

static void setup(void)
{
	mlids = sa_mlids_new();
}

static void teardown(void)
{
	sa_mlids_free(mlids);
}

static struct iba_mc_member_record record_of(uint64_t number)
{
	return (struct iba_mc_member_record){
		.mgid = {PREFIX, number}, .p_key = 0x8001, .mtu = 4, .rate = 3, .sl = 2};
}

/* As in the store: a group is entered where its MLID is. */
static struct sa_mlid *enter(const struct iba_mc_member_record *record, bool exact)
{
	struct sa_mlid *mlid = sa_mlids_take(mlids, record, 0, exact);

	if (mlid)
		g_ptr_array_add(mlid->groups, (void *)record);
	return mlid;
}

static struct sa_mlid *enter_at(uint16_t number)
{
	struct iba_mc_member_record record = record_of(number);

	record.mlid = number;
	return enter(&record, true);
}

static void share_one(void)
{
	sa_mlids_share(mlids, &one_rule, 1, 0);
}

/* ---- which MLIDs exist ---- */

START_TEST(test_all)
{
	const struct sa_mlid *last = enter_at(LAST);

	ck_assert_uint_eq(sa_mlids_count(mlids), LAST - FIRST + 1);
	ck_assert_uint_eq(last->mlid, LAST);
	ck_assert_ptr_eq(sa_mlids_find(mlids, LAST), last);
	ck_assert_ptr_null(sa_mlids_find(mlids, LAST - 1));
	ck_assert_ptr_null(sa_mlids_find(mlids, FIRST - 1));
	ck_assert_ptr_null(sa_mlids_find(mlids, LAST + 1));
	sa_mlids_set_top(mlids, FIRST + 9);
	ck_assert_uint_eq(sa_mlids_count(mlids), 10);
	ck_assert_ptr_eq(sa_mlids_find(mlids, LAST), last);
}
END_TEST

/* One waiting to be erased is not free because switches support more, only when it is erased. */
START_TEST(test_erased_beyond_the_top)
{
	sa_mlids_give(mlids, enter_at(FIRST + 4), 5);
	sa_mlids_set_top(mlids, FIRST + 2);
	sa_mlids_set_top(mlids, FIRST + 9);
	ck_assert_uint_ne(enter_at(FIRST + 4)->mlid, FIRST + 4);
	sa_mlids_erased(mlids, 4);
	ck_assert_uint_ne(enter_at(FIRST + 4)->mlid, FIRST + 4);
	sa_mlids_set_top(mlids, FIRST + 2);
	sa_mlids_erased(mlids, 5);
	ck_assert_uint_ne(enter_at(FIRST + 4)->mlid, FIRST + 4);
	sa_mlids_set_top(mlids, FIRST + 9);
	ck_assert_uint_eq(enter_at(FIRST + 4)->mlid, FIRST + 4);
}
END_TEST

/* ---- which groups share ---- */

static const struct other {
	const char *what;
	struct iba_mc_member_record record;
	bool shares;
} others[] = {
	{"the same", {.p_key = 0x8001, .mtu = 4, .rate = 3, .sl = 2}, true},
	{"limited", {.p_key = 0x0001, .mtu = 4, .rate = 3, .sl = 2}, true},
	{"P_Key", {.p_key = 0x8002, .mtu = 4, .rate = 3, .sl = 2}, false},
	{"MTU", {.p_key = 0x8001, .mtu = 5, .rate = 3, .sl = 2}, false},
	{"rate", {.p_key = 0x8001, .mtu = 4, .rate = 6, .sl = 2}, false},
	{"SL", {.p_key = 0x8001, .mtu = 4, .rate = 3, .sl = 3}, false},
	{"P_Key and MTU", {.p_key = 0x8003, .mtu = 5, .rate = 3, .sl = 2}, false},
};

/* By a rule, by the MLID it had, and if none is left: only with groups of equal parameters. */
START_TEST(test_equal_parameters)
{
	const struct other *other = &others[_i];
	struct iba_mc_member_record first = record_of(1), second = other->record;
	struct sa_mlid *one;

	second.mgid = first.mgid;
	second.mgid.guid++;
	share_one();
	one = enter(&first, false);
	ck_assert_msg(sa_mlid_agrees(one, &second) == other->shares, "%s", other->what);
	ck_assert_msg((enter(&second, false) == one) == other->shares, "%s: rule", other->what);
	second.mgid.prefix += UINT64_C(1) << 32; /* no rule is for it */
	ck_assert(enter(&second, false) != one);
	second.mlid = one->mlid;
	ck_assert(enter(&second, false) != one);
	ck_assert_msg((enter(&second, true) == one) == other->shares, "%s: exact", other->what);
}
END_TEST

START_TEST(test_none_left)
{
	const struct other *other = &others[_i];
	struct iba_mc_member_record second = other->record;
	struct sa_mlid *one;

	sa_mlids_set_top(mlids, FIRST);
	one = enter_at(FIRST);
	ck_assert_msg(enter(&second, false) == (other->shares ? one : NULL), "%s", other->what);
}
END_TEST

/* Of those that the switches support, the one with the fewest groups. */
START_TEST(test_fewest_groups)
{
	struct iba_mc_member_record record = record_of(7);
	struct sa_mlid *all[5];

	for (uint16_t i = 0; i < 5; i++)
		all[i] = enter_at(FIRST + i);
	sa_mlids_set_top(mlids, FIRST + 3);
	for (unsigned int round = 1; round <= 3; round++) {
		for (unsigned int i = 0; i < 4; i++)
			ck_assert_ptr_eq(enter(&record, false), all[i]);
		ck_assert_uint_eq(all[4]->groups->len, 1);
	}
}
END_TEST

/* A group's former MLID has priority over the one that a rule has for it. */
START_TEST(test_own_before_rule)
{
	struct iba_mc_member_record first = record_of(1), second = record_of(2);
	const struct sa_mlid *one;

	share_one();
	one = enter(&first, false);
	second.mlid = FIRST + 7;
	ck_assert_uint_eq(enter(&second, true)->mlid, FIRST + 7);
	second.mlid = 0;
	ck_assert_ptr_eq(enter(&second, false), one);
}
END_TEST

/* ---- rules that change ---- */

static void change(struct mlid_rule rules[2], int what)
{
	rules[0].mgid.guid += what == 1;
	rules[0].mask.guid -= what == 2;
	rules[0].n += what == 3;
	rules[1].mgid.prefix ^= what == 4; /* where the mask has no bit */
	rules[1].mask.prefix <<= what == 5;
}

/* Equal rules change nothing; those that differ in anything start from scratch. */
START_TEST(test_rules_again)
{
	struct mlid_rule rules[2] = {{.mgid = {1, 1}, .mask = {UINT64_MAX, UINT64_MAX}, .n = 1},
				     one_rule};
	struct iba_mc_member_record record = record_of(1);
	const struct sa_mlid *one;

	sa_mlids_share(mlids, rules, 2, 0);
	one = enter(&record, false);
	change(rules, _i);
	sa_mlids_share(mlids, rules, 2, 0);
	ck_assert_int_eq(enter(&record, false) == one, _i == 0);
}
END_TEST

/* A slot of a rule that is no longer in use takes nothing with it when it goes. */
START_TEST(test_forgotten_slot)
{
	struct mlid_rule other = one_rule;
	struct iba_mc_member_record record = record_of(1);
	struct sa_mlid *before, *one;

	share_one();
	before = enter(&record, false);
	other.mask.prefix <<= 1;
	sa_mlids_share(mlids, &other, 1, 0);
	one = enter(&record, false);
	ck_assert(one != before);
	sa_mlids_give(mlids, before, 1);
	ck_assert_ptr_eq(enter(&record, false), one);
}
END_TEST

/* A freed slot is no longer the rule's: the next group gets another, which all then share. */
START_TEST(test_slot_that_goes)
{
	struct iba_mc_member_record record = record_of(1);
	struct sa_mlid *one;

	share_one();
	sa_mlids_give(mlids, enter(&record, false), 1);
	one = enter(&record, false);
	ck_assert_uint_eq(one->mlid, FIRST + 1);
	ck_assert_ptr_eq(enter(&record, false), one);
	ck_assert_uint_eq(one->groups->len, 2);
}
END_TEST

/* consolidate_ipv6_snm_req is only for solicited-node groups of IPv6. */
START_TEST(test_solicited_node_groups)
{
	struct iba_mc_member_record snm = record_of(0), other = record_of(0);

	snm.mgid = (struct iba_gid){UINT64_C(0xFF12601B80010000), UINT64_C(0x1FF000001)};
	sa_mlids_share(mlids, NULL, 0, 1);
	ck_assert_ptr_ne(enter(&other, false), enter(&other, false));
	ck_assert_ptr_eq(enter(&snm, false), enter(&snm, false));
	other.mgid = (struct iba_gid){UINT64_C(0xFF12601B80010000), 1}; /* all nodes */
	ck_assert_ptr_ne(enter(&other, false), enter(&other, false));
}
END_TEST

/* ---- quotas ---- */

/* A limit for each port, and for all; what is given back may be taken again. */
START_TEST(test_quota)
{
	struct sa_quota quota;

	sa_quota_init(&quota, 3, 2);
	ck_assert(sa_quota_take(&quota, 1) && sa_quota_take(&quota, 1));
	ck_assert(!sa_quota_take(&quota, 1));
	ck_assert_uint_eq(sa_quota_of(&quota, 1), 2);
	ck_assert(sa_quota_take(&quota, 2));
	ck_assert(!sa_quota_take(&quota, 3));
	ck_assert_uint_eq(sa_quota_of(&quota, 3), 0);
	sa_quota_give(&quota, 1);
	ck_assert_uint_eq(sa_quota_of(&quota, 1), 1);
	ck_assert(sa_quota_take(&quota, 3));
	ck_assert(!sa_quota_take(&quota, 1));
	sa_quota_give(&quota, 1);
	ck_assert_uint_eq(g_hash_table_size(quota.by_port), 2); /* no group, no cost */
	sa_quota_clear(&quota);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_mlids");
	TCase *tcase = tcase_create("mlids");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_all);
	tcase_add_test(tcase, test_erased_beyond_the_top);
	tcase_add_loop_test(tcase, test_equal_parameters, 0, G_N_ELEMENTS(others));
	tcase_add_loop_test(tcase, test_none_left, 0, G_N_ELEMENTS(others));
	tcase_add_test(tcase, test_fewest_groups);
	tcase_add_test(tcase, test_own_before_rule);
	tcase_add_loop_test(tcase, test_rules_again, 0, 6);
	tcase_add_test(tcase, test_forgotten_slot);
	tcase_add_test(tcase, test_slot_that_goes);
	tcase_add_test(tcase, test_solicited_node_groups);
	tcase_add_test(tcase, test_quota);
	suite_add_tcase(suite, tcase);
	return suite;
}
