// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Partitions: which ports may talk to each other, and what P_Key table follows. */
#include <check.h>
#include <string.h>

#include "policy/partition/partition.h"
#include "sm/write/pkey_plan.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define ROOM 40

/* ---- membership ---- */

static const uint16_t rows[][4] = {
	{0xFFFF, 0x8001},	  /* 0 */
	{0x7FFF, 0x8001},	  /* 1 */
	{0x7FFF, 0x0001},	  /* 2 */
	{0xFFFF},		  /* 3 */
	{0},			  /* 4: none */
	{0x0001, 0x8001, 0x7FFF}, /* 5: both memberships */
};
#define N_ROWS G_N_ELEMENTS(rows)

static struct partitions *make(void)
{
	g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(struct partition_key));

	for (uint32_t i = 0; i < N_ROWS; i++)
		for (unsigned int k = 0; k < 4 && rows[i][k]; k++) {
			struct partition_key key = {i, rows[i][k]};

			g_array_append_val(keys, key);
		}
	return partitions_of_keys(N_ROWS, keys);
}

static const struct {
	uint32_t port;
	uint16_t asked, held;
} members[] = {
	{0, 0xFFFF, 0xFFFF}, {0, 0x7FFF, 0xFFFF}, {0, 0x0001, 0x8001},	    {0, 0x0002, 0},
	{2, 0x8001, 0x0001}, {4, 0xFFFF, 0},	  {5, 0x0001, 0x8001},	    {5, 0xFFFF, 0x7FFF},
	{9, 0xFFFF, 0},	     {1, 0x0000, 0},	  {FABRIC_NONE, 0xFFFF, 0},
};

START_TEST(test_member)
{
	struct partitions *partitions = make();

	for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
		ck_assert_uint_eq(partitions_member(partitions, members[i].port, members[i].asked),
				  members[i].held);
	partitions_unref(partitions);
}
END_TEST

/* Whether two may talk, directly by the rule (IBA 10.9.3). */
static bool may_talk(uint32_t a, uint32_t b)
{
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int k = 0; k < 4; k++)
			if (rows[a][i] && rows[b][k] &&
			    (rows[a][i] & 0x7FFF) == (rows[b][k] & 0x7FFF) &&
			    (rows[a][i] | rows[b][k]) & 0x8000)
				return true;
	return false;
}

START_TEST(test_shared)
{
	struct partitions *partitions = make();

	for (uint32_t a = 0; a < N_ROWS; a++)
		for (uint32_t b = 0; b < N_ROWS; b++) {
			uint16_t shared = partitions_shared(partitions, a, b);
			uint32_t n;
			const uint16_t *held = partitions_of(partitions, a, &n);
			bool of_a = false;

			ck_assert_msg((shared != 0) == may_talk(a, b), "%u and %u", a, b);
			for (uint32_t i = 0; i < n; i++)
				of_a |= held[i] == shared;
			ck_assert(!shared || of_a);
		}
	ck_assert_uint_eq(partitions_shared(partitions, 0, 99), 0);
	ck_assert_uint_eq(partitions_shared(partitions, 99, 0), 0);
	ck_assert_uint_eq(partitions_shared(partitions, 0, 1), 0x8001);
	ck_assert_uint_eq(partitions_shared(partitions, 3, 1), 0xFFFF);
	ck_assert_uint_eq(partitions_shared(partitions, 1, 2), 0x8001);
	partitions_unref(partitions);
}
END_TEST

START_TEST(test_default_policy)
{
	struct fabric *fabric = make_fabric("mesh:3x3:2", 0);
	struct partitions *partitions = partitions_default(fabric);

	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		uint32_t n;
		const uint16_t *keys = partitions_of(partitions, port, &n);

		ck_assert_uint_eq(n, fabric_is_endport(fabric, port));
		ck_assert(!n || keys[0] == 0xFFFF);
	}
	ck_assert_str_eq(partitions_find(partitions, 0xFFFF)->name, "Default");
	ck_assert_ptr_eq(partitions_find(partitions, 0x7FFF), partitions_find(partitions, 0xFFFF));
	ck_assert_ptr_null(partitions_find(partitions, 0x8001));
	ck_assert_ptr_eq(partitions_ref(partitions), partitions);
	partitions_unref(partitions);
	partitions_unref(partitions);
	partitions_unref(NULL);
	fabric_unref(fabric);
}
END_TEST

/* ---- tables ---- */

static const struct {
	uint16_t is[6], keys[5], index0;
	bool moves;
	uint16_t want[6];
} plans[] = {
	{{0}, {0xFFFF}, 0xFFFF, false, {0xFFFF}},
	{{0xFFFF}, {0xFFFF}, 0xFFFF, false, {0xFFFF}},
	{{0x7FFF}, {0xFFFF}, 0xFFFF, false, {0xFFFF}},
	{{0x8001, 0xFFFF}, {0x8001, 0xFFFF}, 0xFFFF, false, {0x8001, 0xFFFF}},
	{{0x8001, 0xFFFF}, {0x8001, 0xFFFF}, 0xFFFF, true, {0xFFFF, 0, 0x8001}},
	{{0x8001}, {0x8001, 0xFFFF}, 0xFFFF, false, {0x8001, 0xFFFF}},
	{{0x8001}, {0x8002, 0xFFFF}, 0xFFFF, false, {0xFFFF, 0x8002}},
	{{0, 0x8001}, {0x8001, 0xFFFF}, 0xFFFF, false, {0xFFFF, 0x8001}},
	/* Index 0 is not left empty, and a process that uses the other index may keep using it. */
	{{0, 0, 0xFFFF}, {0x8001, 0xFFFF}, 0xFFFF, false, {0xFFFF, 0x8001, 0xFFFF}},
	{{0x8041, 0xFFFF}, {0xFFFF}, 0xFFFF, false, {0xFFFF, 0xFFFF}},
	{{0x8041, 0x7FFF}, {0xFFFF}, 0xFFFF, false, {0xFFFF, 0xFFFF}},
	{{0xFFFF, 0xFFFF}, {0xFFFF}, 0xFFFF, false, {0xFFFF, 0xFFFF}},
	{{0xFFFF, 0xFFFF}, {0x7FFF}, 0x7FFF, false, {0x7FFF, 0x7FFF}},
	{{0xFFFF, 0xFFFF}, {0xFFFF, 0x8001}, 0xFFFF, false, {0xFFFF, 0xFFFF, 0x8001}},
	{{0xFFFF, 0xFFFF}, {0xFFFF, 0x8001}, 0x8001, true, {0x8001, 0xFFFF}},
	{{0x8041, 0xFFFF, 0x8001, 0x8002},
	 {0xFFFF, 0x8001, 0x8002, 0x8003},
	 0xFFFF,
	 false,
	 {0xFFFF, 0x8003, 0x8001, 0x8002}},
	{{0xFFFF, 0xFFFF, 0x8001, 0x8002},
	 {0xFFFF, 0x8001, 0x8002, 0x8003},
	 0xFFFF,
	 false,
	 {0xFFFF, 0x8003, 0x8001, 0x8002}},
	{{0xFFFF, 0, 0x8002},
	 {0x8001, 0x8002, 0xFFFF},
	 0xFFFF,
	 false,
	 {0xFFFF, 0x8001, 0x8002}},
	{{0xFFFF, 0x8009, 0x8002}, {0x8002, 0xFFFF}, 0xFFFF, false, {0xFFFF, 0, 0x8002}},
	{{0xFFFF, 0x8009, 0x8002},
	 {0x8002, 0x8003, 0xFFFF},
	 0xFFFF,
	 false,
	 {0xFFFF, 0, 0x8002, 0x8003}},
	{{0xFFFF, 0, 0x0002}, {0x8002, 0xFFFF}, 0xFFFF, false, {0xFFFF, 0, 0x8002}},
	{{0xFFFF, 0x8002, 0x8002}, {0x8002, 0xFFFF}, 0xFFFF, false, {0xFFFF, 0x8002}},
	{{0xFFFF, 0x8001}, {0x8001, 0x0001, 0xFFFF}, 0xFFFF, false, {0xFFFF, 0x8001, 0x0001}},
	{{0xFFFF, 0, 0, 0x8003}, {0x8003}, 0, false, {0, 0, 0, 0x8003}},
	{{0}, {0x8001, 0xFFFF}, 0x8001, false, {0x8001, 0xFFFF}},
	{{0xFFFF}, {0x8001, 0xFFFF}, 0x8001, false, {0xFFFF, 0x8001}},
	{{0xFFFF}, {0x8001, 0xFFFF}, 0x8001, true, {0x8001, 0xFFFF}},
};

static void make_plan(const uint16_t *is, uint32_t room, const uint16_t *keys, uint32_t n,
		      uint16_t index0, bool moves, uint16_t *want)
{
	struct p_key_plan plan = {is, room, keys, n, index0, moves, NULL, false};

	p_key_plan_make(&plan, want);
}

/* Index i was vacated by left[i] at that time; a time of CLOSED and above: recently. */
#define CLOSED 50

static const struct {
	uint16_t is[4], left[4], since[4];
	uint16_t keys[5];
	bool closes;
	uint16_t want[4];
	uint32_t without;
} left_plans[] = {
	/* One that was never used comes before a vacated one, ... */
	{{0xFFFF}, {0, 0x8001}, {0, 9}, {0xFFFF, 0x8002}, false, {0xFFFF, 0, 0x8002}, 0},
	{{0xFFFF}, {0, 0x8001}, {0, 9}, {0xFFFF, 0x8002}, true, {0xFFFF, 0, 0x8002}, 0},
	/* ... but its own partition comes back there, whatever its membership, */
	{{0xFFFF}, {0, 0, 0x0002}, {0, 0, 99}, {0xFFFF, 0x8002}, true, {0xFFFF, 0, 0x8002}, 0},
	/* before another takes it. */
	{{0xFFFF},
	 {0, 0x8005, 0x8002, 0x8004},
	 {0, 3, 1, 2},
	 {0xFFFF, 0x8001, 0x8002},
	 false,
	 {0xFFFF, 0, 0x8002, 0x8001},
	 0},
	/* Of vacated ones the oldest is first; then those that are vacated now. */
	{{0xFFFF},
	 {0, 0x8007, 0x8008, 0x8009},
	 {0, 7, 5, 6},
	 {0xFFFF, 0x8001, 0x8002},
	 false,
	 {0xFFFF, 0, 0x8001, 0x8002},
	 0},
	{{0xFFFF, 0x8007, 0x8008},
	 {0, 0, 0, 0x8009},
	 {0, 0, 0, 99},
	 {0xFFFF, 0x8008, 0x8001, 0x8002},
	 false,
	 {0xFFFF, 0x8002, 0x8008, 0x8001},
	 0},
	/* The present P_Key of an index counts, not the one that left it before. */
	{{0xFFFF, 0x8002}, {0, 0x8001}, {0, 9}, {0xFFFF, 0x8002}, true, {0xFFFF, 0x8002}, 0},
	/* Closed ones are not assigned. */
	{{0xFFFF, 0x8003, 0x8004, 0x8005},
	 {0},
	 {0},
	 {0xFFFF, 0x8003, 0x8004, 0x8001},
	 true,
	 {0xFFFF, 0x8003, 0x8004},
	 1},
	{{0xFFFF, 0x8003},
	 {0, 0, 0x8004, 0x8005},
	 {0, 0, CLOSED, CLOSED - 1},
	 {0xFFFF, 0x8003, 0x8001, 0x8002},
	 true,
	 {0xFFFF, 0x8003, 0, 0x8001},
	 1},
	/* A duplicate index is vacated. */
	{{0xFFFF, 0xFFFF, 0x8003, 0x8004},
	 {0},
	 {0},
	 {0xFFFF, 0x8003, 0x8004, 0x8001},
	 true,
	 {0xFFFF, 0, 0x8003, 0x8004},
	 1},
	/* Index 0, too, is closed where a port is in use; another is not put in its place. */
	{{0}, {0x8001}, {99}, {0xFFFF}, true, {0, 0xFFFF}, 0},
	{{0}, {0x8001}, {CLOSED - 1}, {0xFFFF}, true, {0xFFFF}, 0},
	{{0}, {0x8001}, {99}, {0xFFFF}, false, {0xFFFF}, 0},
	{{0}, {0x7FFF}, {99}, {0xFFFF}, true, {0xFFFF}, 0},
	{{0x8001}, {0}, {0}, {0xFFFF}, true, {0, 0xFFFF}, 0},
};

START_TEST(test_left)
{
	struct p_key_left left[4];
	struct p_key_plan plan = {.is = left_plans[_i].is,
				  .room = 4,
				  .keys = left_plans[_i].keys,
				  .index0 = 0xFFFF,
				  .left = left,
				  .closes = left_plans[_i].closes};
	uint16_t want[4];

	while (plan.n < 5 && plan.keys[plan.n])
		plan.n++;
	for (unsigned int i = 0; i < 4; i++) {
		uint16_t since = left_plans[_i].since[i];

		left[i] = (struct p_key_left){left_plans[_i].left[i],
					      plan.closes && since >= CLOSED, since};
	}
	ck_assert_uint_eq(p_key_plan_make(&plan, want), left_plans[_i].without);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_msg(want[i] == left_plans[_i].want[i], "%d: index %u has 0x%04x", _i, i,
			      want[i]);
}
END_TEST

START_TEST(test_table)
{
	uint16_t want[4];
	uint32_t n = 0;

	while (n < 5 && plans[_i].keys[n])
		n++;
	make_plan(plans[_i].is, 4, plans[_i].keys, n, plans[_i].index0, plans[_i].moves, want);
	ck_assert(memcmp(want, plans[_i].want, sizeof(want)) == 0);
}
END_TEST

static uint32_t random_keys(uint64_t *chance, uint16_t *keys)
{
	uint32_t n = 0, wanted = make_number(chance, ROOM + 4);

	for (uint16_t base = 1; n < wanted; base += 1 + make_number(chance, 3))
		keys[n++] = base | make_number(chance, 2) << 15;
	if (n)
		keys[0] = 0xFFFF;
	return n;
}

static uint32_t found(const uint16_t *table, uint16_t key)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ROOM; i++)
		n += table[i] == key;
	return n;
}

static bool passes(const uint16_t *table, uint16_t key)
{
	for (uint32_t i = 0; i < ROOM; i++)
		if ((table[i] & 0x7FFF) == (key & 0x7FFF) && (table[i] | key) & 0x8000)
			return true;
	return false;
}

/* A change is loud if a key is removed or lowered: packets of that partition stop somewhere. */
START_TEST(test_loud_keys)
{
	const uint16_t is[] = {0xFFFF, 0x8001, 0x8002, 0x0003, 0x8004, 0, 0x0006, 0};
	const uint16_t want[] = {0xFFFF, 0x0001, 0, 0x0003, 0x8005, 0x8004, 0x8006, 0x8007};
	static bool loud[P_KEY_BASES];

	memset(loud, 0, sizeof(loud));
	p_key_plan_loud(is, want, G_N_ELEMENTS(is), loud);
	for (unsigned int base = 0; base < P_KEY_BASES; base++)
		ck_assert_uint_eq(loud[base], base == 1 || base == 2);
}
END_TEST

/* A table ends with its room, whatever lies behind it. */
START_TEST(test_end_of_table)
{
	const uint16_t is[] = {0xFFFF, 0x8001, 0x8003}, want[] = {0xFFFF, 0x8002, 0x8001};
	uint16_t next[] = {0, 0, 0x7777};
	static bool loud[P_KEY_BASES];

	p_key_plan_loud(is, want, 2, loud);
	ck_assert(loud[1] && !loud[3]);
	memset(loud, 0, sizeof(loud));
	p_key_plan_both(is, want, 2, next);
	ck_assert_uint_eq(next[2], 0x7777);
	for (int stage = P_KEY_ADD_QUIET; stage <= P_KEY_ADD; stage++) {
		p_key_plan_stage(is, want, 2, stage, loud, next);
		ck_assert_uint_eq(next[2], 0x7777);
	}
	make_plan(is, 2, want, 3, 0xFFFF, true, next);
	ck_assert_uint_eq(next[2], 0x7777);
}
END_TEST

/* All stages, one after the other, lead there. */
static void check_stages(const uint16_t *is, const uint16_t *want)
{
	static bool loud[P_KEY_BASES];
	uint16_t now[ROOM], next[ROOM];

	memset(loud, 0, sizeof(loud));
	p_key_plan_loud(is, want, ROOM, loud);
	memcpy(now, is, sizeof(now));
	for (int stage = P_KEY_ADD_QUIET; stage <= P_KEY_ADD; stage++) {
		p_key_plan_stage(now, want, ROOM, stage, loud, next);
		memcpy(now, next, sizeof(now));
	}
	ck_assert(memcmp(now, want, sizeof(now)) == 0);
}

/* Packets that both tables pass are passed by the tables in between. */
static void check_way(const uint16_t *is, const uint16_t *want)
{
	uint16_t both[ROOM];

	p_key_plan_both(is, want, ROOM, both);
	for (uint32_t key = 1; key < 120; key++)
		for (uint32_t full = 0; full < 2; full++)
			if (passes(is, key | full << 15) && passes(want, key | full << 15))
				ck_assert(passes(both, key | full << 15));
}

/* Each key once, no other key, no needless move; a second time changes nothing. */
static void check_table(const uint16_t *is, const uint16_t *keys, uint32_t n)
{
	uint16_t want[ROOM], again[ROOM];
	uint32_t placed = 0, filled = 0;

	make_plan(is, ROOM, keys, n, n ? 0xFFFF : 0, true, want);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_le(found(want, keys[i]), 1);
		placed += found(want, keys[i]);
	}
	for (uint32_t i = 0; i < ROOM; i++) {
		filled += want[i] != 0;
		if (i && want[i] && is[i] != want[i])
			ck_assert(found(is, want[i]) == 0 || is[0] == want[i]);
	}
	ck_assert_uint_eq(placed, n);
	ck_assert_uint_eq(filled, placed);
	ck_assert(!n || want[0] == 0xFFFF);
	for (int moves = 0; moves < 2; moves++) {
		make_plan(want, ROOM, keys, n, n ? 0xFFFF : 0, moves, again);
		ck_assert(memcmp(want, again, sizeof(want)) == 0);
	}
	check_way(is, want);
	check_stages(is, want);
}

START_TEST(test_random_tables)
{
	uint16_t is[ROOM], keys[ROOM + 4];
	uint64_t chance = 1;

	for (unsigned int round = 0; round < 20000; round++) {
		uint32_t n;

		memset(is, 0, sizeof(is));
		n = random_keys(&chance, keys);
		for (uint32_t i = 0; i < MIN(n, ROOM); i++)
			is[make_number(&chance, ROOM)] = keys[i];
		n = random_keys(&chance, keys);
		check_table(is, keys, MIN(n, ROOM));
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("policy");
	TCase *tcase = tcase_create("policy");

	tcase_add_test(tcase, test_member);
	tcase_add_test(tcase, test_shared);
	tcase_add_test(tcase, test_default_policy);
	tcase_add_loop_test(tcase, test_table, 0, G_N_ELEMENTS(plans));
	tcase_add_loop_test(tcase, test_left, 0, G_N_ELEMENTS(left_plans));
	tcase_add_test(tcase, test_loud_keys);
	tcase_add_test(tcase, test_end_of_table);
	tcase_add_test(tcase, test_random_tables);
	suite_add_tcase(suite, tcase);
	return suite;
}
