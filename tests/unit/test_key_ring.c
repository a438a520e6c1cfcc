// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which M_Key is tried where, and that trying ends. */
#include <check.h>

#include "policy/keys/key_ring.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define GUID 0x100
#define KEY(n) (UINT64_C(0xA000) + (n))

static struct key_ring *ring;
static uint64_t chance;

/* Each port of a node has a GUID of its own. */
static struct key_port at(uint64_t guid, uint8_t port)
{
	return (struct key_port){.guid = guid | (uint64_t)port << 32};
}

/* All ports are to have this key. */
static void set(uint64_t m_key)
{
	key_ring_set(ring, &(struct key_rule){.m_key = m_key});
}

static void setup(void)
{
	ring = key_ring_new(&(struct key_rule){.m_key = KEY(0)});
}

static void teardown(void)
{
	key_ring_free(ring);
}

static void expect_key(uint64_t key)
{
	ck_assert_uint_eq(key_ring_for(ring, at(GUID, 0)), key);
}

/* The number of tries until a port answers, or no key is left to try. */
static unsigned int tries(uint64_t guid, uint8_t port, uint64_t has)
{
	for (unsigned int n = 1;; n++) {
		uint64_t key = key_ring_for(ring, at(guid, port));

		ck_assert_uint_le(n, KEY_RING_PREVIOUS + 3);
		if (key == has) {
			key_ring_worked(ring, at(guid, port), key);
			return n;
		}
		if (!key_ring_failed(ring, at(guid, port), key))
			return 0;
	}
}

/* A proven key that is hidden was another port's: the previous one is tried again. */
START_TEST(test_doubt)
{
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	set(KEY(1));
	key_ring_worked(ring, at(GUID, 0), KEY(1));
	ck_assert_uint_eq(tries(GUID, 0, KEY(0)), 0);
	key_ring_again(ring);
	key_ring_doubt(ring, at(GUID, 0));
	ck_assert_uint_eq(tries(GUID, 0, KEY(0)), 2);
	key_ring_doubt(ring, at(GUID + 1, 0)); /* a port of which nothing is known */
}
END_TEST

/* Lines of guid2mkey stand by GUID, however the ports came to be known. */
START_TEST(test_file_is_sorted)
{
	static const uint64_t guids[] = {0x300, 0x100, 0x500, 0x200, 0x400};
	g_autoptr(GString) expected = g_string_new(NULL);
	g_autofree char *text = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(guids); i++) {
		key_ring_worked(ring, at(guids[i], 0), KEY(guids[i]));
		g_string_append_printf(expected, "0x%016x 0x%016x\n\n", 0x100 * ((int)i + 1),
				       (int)KEY(0x100 * (i + 1)));
	}
	text = key_ring_format(ring);
	ck_assert_str_eq(text, expected->str);
}
END_TEST

/* As long as the option never changed nothing is tried twice and nothing is kept. */
START_TEST(test_one_key)
{
	expect_key(KEY(0));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(0)));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(KEY(0));
	set(KEY(0));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(0)));
	ck_assert_uint_eq(key_ring_size(ring), 0);
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(KEY(0));
}
END_TEST

/* A change of the option: known ports are opened with their present key, at the first try. */
START_TEST(test_known_ports_after_a_change)
{
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	set(KEY(1));
	expect_key(KEY(0));
	/* Set(PortInfo) was sent with the old key and was answered: the port has the new one. */
	key_ring_worked(ring, at(GUID, 0), KEY(1));
	expect_key(KEY(1));
}
END_TEST

/* A request sent before its port got another key, and answered after that, learns so. */
START_TEST(test_changes)
{
	uint64_t before = key_ring_changes(ring, at(GUID, 0));

	key_ring_worked(ring, at(GUID, 0), KEY(0));
	ck_assert_uint_ne(key_ring_changes(ring, at(GUID, 0)), before);
	before = key_ring_changes(ring, at(GUID, 0));
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	ck_assert_uint_eq(key_ring_changes(ring, at(GUID, 0)), before);
	key_ring_worked(ring, at(GUID, 0), KEY(1));
	ck_assert_uint_ne(key_ring_changes(ring, at(GUID, 0)), before);
	ck_assert_uint_eq(key_ring_changes(ring, at(GUID, 1)), 0);
}
END_TEST

/* The answer to that Set was lost: its retries fail with the old key, the new one works. */
START_TEST(test_answer_lost)
{
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	set(KEY(1));
	ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(KEY(1));
	key_ring_worked(ring, at(GUID, 0), KEY(1));
	ck_assert_uint_eq(tries(GUID, 0, KEY(1)), 1);
}
END_TEST

/*
 * A port with a proven key can have that or a newer one, so silence of a port with the newest is
 * not about keys: a dead node costs the retries of one.
 */
START_TEST(test_proven_key)
{
	for (unsigned int n = 1; n <= 3; n++)
		set(KEY(n));
	key_ring_worked(ring, at(GUID, 0), KEY(3));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(3)));
	expect_key(KEY(3));
	key_ring_worked(ring, at(GUID, 0), KEY(2));
	ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(2)));
	expect_key(KEY(3));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(3)));
	/* It was proven only by the answer to a Get: it may be wrong. */
	key_ring_again(ring);
	key_ring_likely(ring, at(GUID, 0), KEY(3));
	expect_key(KEY(3));
	ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(3)));
	expect_key(KEY(2));
	ck_assert_uint_eq(tries(GUID, 0, KEY(0)), 3);
}
END_TEST

/* Two tries with it may have been lost: the proven key comes first in each new request. */
START_TEST(test_first)
{
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	set(KEY(1));
	ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(KEY(1));
	ck_assert_uint_eq(key_ring_first(ring, at(GUID, 0)), KEY(0));
	key_ring_doubt(ring, at(GUID, 0));
	ck_assert_uint_eq(key_ring_first(ring, at(GUID, 0)), KEY(1));
	ck_assert_uint_eq(key_ring_first(ring, at(GUID + 1, 0)), KEY(1));
}
END_TEST

/* The option changes to another key and back, and a Set of the first is never answered. */
START_TEST(test_proven_before_other_keys)
{
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	set(KEY(1));
	set(KEY(0));
	ck_assert_uint_eq(tries(GUID, 0, KEY(1)), 2);
	key_ring_worked(ring, at(GUID, 0), KEY(0)); /* since then */
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(0)));
}
END_TEST

/* A port that was never seen: the newest first, then back to the fourth before. */
START_TEST(test_unknown_port)
{
	for (unsigned int n = 1; n <= 6; n++)
		set(KEY(n));
	for (unsigned int n = 6; n >= 2; n--) {
		expect_key(KEY(n));
		ck_assert_int_eq(key_ring_failed(ring, at(GUID, 0), KEY(n)), n > 2);
	}
	expect_key(KEY(6)); /* none is left: the likeliest */
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(6)));
	key_ring_again(ring);
	ck_assert_uint_eq(tries(GUID, 0, KEY(2)), 5);
	key_ring_again(ring);
	ck_assert_uint_eq(tries(GUID, 0, KEY(2)), 1);
	key_ring_again(ring);
	ck_assert_uint_eq(tries(GUID, 0, KEY(1)), 0); /* older than those kept */
}
END_TEST

/* A key that a port reported or accepted counts first, though the option never had that value. */
START_TEST(test_foreign_key)
{
	key_ring_worked(ring, at(GUID, 0), 0xF00D);
	expect_key(0xF00D);
	ck_assert(key_ring_failed(ring, at(GUID, 0), 0xF00D));
	expect_key(KEY(0));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(0xF00D);
}
END_TEST

/* Many requests were out with the same key: each is sent again, and none skips a key. */
START_TEST(test_requests_in_parallel)
{
	set(KEY(1));
	set(KEY(2));
	for (int i = 0; i < 4; i++)
		ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(2)));
	expect_key(KEY(1));
	for (int i = 0; i < 4; i++)
		ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(1)));
	expect_key(KEY(0));
	for (int i = 0; i < 4; i++)
		ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(0)));
	/* A late answer to one of them: the others are worth sending again. */
	key_ring_worked(ring, at(GUID, 0), KEY(1));
	expect_key(KEY(1));
	ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(KEY(1));
}
END_TEST

START_TEST(test_back_and_forth)
{
	for (int i = 0; i < 20; i++) {
		set(KEY(1));
		set(KEY(0));
	}
	expect_key(KEY(0));
	ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(KEY(1));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(1)));
	set(0); /* a change begins a new round */
	ck_assert_uint_eq(tries(GUID, 0, KEY(1)), 3);
}
END_TEST

static bool is_other(void *arg, uint64_t guid)
{
	return (guid & UINT32_MAX) != *(uint64_t *)arg;
}

/* Each port of a CA has a key of its own; nodes are kept apart; absent ones are forgotten. */
START_TEST(test_ports_are_apart)
{
	uint64_t edition;

	key_ring_worked(ring, at(GUID, 1), KEY(1));
	key_ring_worked(ring, at(GUID, 2), KEY(2));
	key_ring_worked(ring, at(GUID + 1, 1), KEY(3));
	ck_assert_uint_eq(key_ring_for(ring, at(GUID, 1)), KEY(1));
	ck_assert_uint_eq(key_ring_for(ring, at(GUID, 2)), KEY(2));
	ck_assert_uint_eq(key_ring_for(ring, at(GUID + 1, 1)), KEY(3));
	ck_assert_uint_eq(key_ring_for(ring, at(GUID + 1, 2)), KEY(0));
	ck_assert(key_ring_failed(ring, at(GUID, 1), KEY(1)));
	ck_assert_uint_eq(key_ring_for(ring, at(GUID, 2)), KEY(2));
	ck_assert_uint_eq(key_ring_size(ring), 3);
	edition = key_ring_edition(ring);
	key_ring_keep(ring, is_other, &(uint64_t){GUID});
	ck_assert_uint_eq(key_ring_size(ring), 1);
	ck_assert_uint_gt(key_ring_edition(ring), edition);
	edition = key_ring_edition(ring);
	key_ring_keep(ring, is_other, &(uint64_t){GUID});
	ck_assert_uint_eq(key_ring_edition(ring), edition);
	ck_assert_uint_eq(key_ring_for(ring, at(GUID, 1)), KEY(0));
}
END_TEST

/* Old requests fail with keys that are no longer used: these do not displace others. */
START_TEST(test_failed_of_long_ago)
{
	key_ring_worked(ring, at(GUID, 0), KEY(0));
	set(KEY(1));
	for (unsigned int i = 0; i < 100; i++)
		ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(100 + i)));
	for (unsigned int i = 0; i < 100; i++)
		ck_assert(key_ring_failed(ring, at(GUID, 0), KEY(0)));
	expect_key(KEY(1));
	ck_assert(!key_ring_failed(ring, at(GUID, 0), KEY(1)));
}
END_TEST

/*
 * Ports with any of the kept keys, over any changes of the option and any number of rounds: each is
 * opened, and the second time at the first try.
 */
START_TEST(test_always_opened)
{
	for (unsigned int seed = 1; seed <= 3000; seed++) {
		uint64_t now = KEY(0), has[8];

		chance = seed;
		teardown();
		setup();
		for (unsigned int i = 0; i < 8; i++)
			has[i] = now;
		for (unsigned int change = 0; change < 10; change++) {
			unsigned int i = make_number(&chance, 8);

			if (make_number(&chance, 3) == 0)
				set(now = KEY(make_number(&chance, 5)));
			key_ring_again(ring);
			if (make_number(&chance, 3) == 0)
				key_ring_likely(ring, at(GUID + i, 0),
						KEY(make_number(&chance, 5)));
			ck_assert_uint_ne(tries(GUID + i, 0, has[i]), 0);
			ck_assert_uint_eq(tries(GUID + i, 0, has[i]), 1);
			has[i] = now;
			key_ring_worked(ring, at(GUID + i, 0), now);
			ck_assert_uint_eq(key_ring_for(ring, at(GUID + i, 0)), now);
		}
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("key_ring");
	TCase *tcase = tcase_create("key_ring");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_one_key);
	tcase_add_test(tcase, test_file_is_sorted);
	tcase_add_test(tcase, test_doubt);
	tcase_add_test(tcase, test_known_ports_after_a_change);
	tcase_add_test(tcase, test_changes);
	tcase_add_test(tcase, test_answer_lost);
	tcase_add_test(tcase, test_proven_key);
	tcase_add_test(tcase, test_first);
	tcase_add_test(tcase, test_proven_before_other_keys);
	tcase_add_test(tcase, test_unknown_port);
	tcase_add_test(tcase, test_foreign_key);
	tcase_add_test(tcase, test_requests_in_parallel);
	tcase_add_test(tcase, test_back_and_forth);
	tcase_add_test(tcase, test_ports_are_apart);
	tcase_add_test(tcase, test_failed_of_long_ago);
	tcase_add_test(tcase, test_always_opened);
	suite_add_tcase(suite, tcase);
	return suite;
}
