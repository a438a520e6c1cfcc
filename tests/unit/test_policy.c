// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Partitions: who may talk to whom, and what that makes of a P_Key table. */
#include <check.h>
#include <string.h>

#include "policy/partition.h"
#include "sm/pkey_plan.h"
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
	struct partitions *partitions = g_new0(struct partitions, 1);
	uint32_t used = 0;

	ref_init(&partitions->ref);
	partitions->n_ports = N_ROWS;
	partitions->first = g_new0(uint32_t, N_ROWS + 1);
	partitions->p_keys = g_new0(uint16_t, N_ROWS * 4);
	for (uint32_t i = 0; i < N_ROWS; i++) {
		partitions->first[i] = used;
		for (unsigned int k = 0; k < 4 && rows[i][k]; k++)
			partitions->p_keys[used++] = rows[i][k];
	}
	partitions->first[N_ROWS] = used;
	return partitions;
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

/* Whether two may talk, straight from the rule (IBA 10.9.3). */
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
	ck_assert_uint_eq(partitions_shared(partitions, 0, 1), 0xFFFF);
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
	uint16_t is[6], keys[5], want[6];
	bool all;
} plans[] = {
	{{0}, {0xFFFF}, {0xFFFF}, true},
	{{0xFFFF}, {0xFFFF}, {0xFFFF}, true},
	{{0x7FFF}, {0xFFFF}, {0xFFFF}, true},
	{{0x8001, 0xFFFF}, {0xFFFF, 0x8001}, {0xFFFF, 0x8001}, true},
	{{0xFFFF, 0, 0x8002}, {0xFFFF, 0x8001, 0x8002}, {0xFFFF, 0x8001, 0x8002}, true},
	{{0xFFFF, 0x8009, 0x8002}, {0xFFFF, 0x8002}, {0xFFFF, 0, 0x8002}, true},
	{{0xFFFF, 0, 0x0002}, {0xFFFF, 0x8002}, {0xFFFF, 0, 0x8002}, true},
	{{0xFFFF, 0x8002, 0x8002}, {0xFFFF, 0x8002}, {0xFFFF, 0x8002}, true},
	{{0xFFFF, 0x8001}, {0xFFFF, 0x0001, 0x8001}, {0xFFFF, 0x8001, 0x0001}, true},
	{{0xFFFF, 0, 0, 0x8003}, {0x8003}, {0, 0, 0, 0x8003}, true},
	{{0}, {0x7FFF, 0xFFFF}, {0xFFFF, 0x7FFF}, true},
	{{1, 2, 3, 4}, {0xFFFF, 1, 2, 3, 4}, {0xFFFF, 2, 3, 4}, false},
};

START_TEST(test_table)
{
	uint16_t want[4];
	uint32_t n = 0;

	while (n < 5 && plans[_i].keys[n])
		n++;
	ck_assert(p_key_plan_make(plans[_i].is, 4, plans[_i].keys, n, want) == plans[_i].all);
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

/* Each key once, no other key, nothing moves that need not; a second time changes nothing. */
static void check_table(const uint16_t *is, const uint16_t *keys, uint32_t n)
{
	uint16_t want[ROOM], again[ROOM];
	uint32_t placed = 0, filled = 0;
	bool all = p_key_plan_make(is, ROOM, keys, n, want);

	ck_assert(all == (n <= ROOM));
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_le(found(want, keys[i]), 1);
		placed += found(want, keys[i]);
	}
	for (uint32_t i = 0; i < ROOM; i++) {
		filled += want[i] != 0;
		if (i && want[i] && is[i] != want[i])
			ck_assert(found(is, want[i]) == 0 || is[0] == want[i]);
	}
	ck_assert_uint_eq(placed, MIN(n, ROOM));
	ck_assert_uint_eq(filled, placed);
	ck_assert(!n || want[0] == 0xFFFF);
	p_key_plan_make(want, ROOM, keys, n, again);
	ck_assert(memcmp(want, again, sizeof(want)) == 0);
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
		check_table(is, keys, random_keys(&chance, keys));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("policy");
	TCase *tcase = tcase_create("policy");

	tcase_add_test(tcase, test_member);
	tcase_add_test(tcase, test_shared);
	tcase_add_test(tcase, test_default_policy);
	tcase_add_loop_test(tcase, test_table, 0, G_N_ELEMENTS(plans));
	tcase_add_test(tcase, test_random_tables);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
