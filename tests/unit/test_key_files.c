// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files guid2mkey and neighbors, as the classic daemon writes them, and malformed. */
#include <check.h>
#include <string.h>

#include "policy/keys/key_ring.h"
#include "sm/store/neighbors.h"
#include "core/state/state_file.h"
#include "tests/run_suite.h"

static struct key_ring *ring;
static struct neighbors *neighbors;
static GString *text;
static struct log *logger;

static void setup(void)
{
	ring = key_ring_new(&(struct key_rule){0});
	neighbors = neighbors_new();
	text = g_string_new(NULL);
	logger = log_new_capture(text);
}

static void teardown(void)
{
	key_ring_free(ring);
	neighbors_free(neighbors);
	log_free(logger);
	g_string_free(text, TRUE);
}

static uint64_t key_of(uint64_t guid)
{
	return key_ring_for(ring, (struct key_port){.guid = guid});
}

/* As Debian's opensm wrote it: in no order, blank lines between. */
START_TEST(keys_of_the_classic)
{
	g_autofree char *back = NULL;

	ck_assert_uint_eq(state_parse(logger, "guid2mkey",
				      "0x0200000000001701 0x0000000000001234\n\n"
				      "0x0200000080001900 0xfedcba9876543210\n\n",
				      key_ring_take_line, ring),
			  0);
	ck_assert_uint_eq(key_of(0x0200000000001701), 0x1234);
	ck_assert_uint_eq(key_of(0x0200000080001900), 0xfedcba9876543210);
	ck_assert_uint_eq(key_of(0x0200000080001901), 0);
	back = key_ring_format(ring);
	ck_assert_str_eq(back, "0x0200000000001701 0x0000000000001234\n\n"
			       "0x0200000080001900 0xfedcba9876543210\n\n");
}
END_TEST

START_TEST(neighbors_of_the_classic)
{
	g_autofree char *back = NULL;

	ck_assert_uint_eq(state_parse(logger, "neighbors",
				      "0x0200000080000a00:2 0x0200000000001001:1\n\n"
				      "0x0200000000001001:1 0x0200000080000a00:2\n\n",
				      neighbors_take_line, neighbors),
			  0);
	ck_assert_uint_eq(neighbors_get(neighbors, 0x0200000000001001, 1), 0x0200000080000a00);
	ck_assert_uint_eq(neighbors_get(neighbors, 0x0200000080000a00, 2), 0x0200000000001001);
	ck_assert_uint_eq(neighbors_get(neighbors, 0x0200000080000a00, 1), 0);
	back = neighbors_format(neighbors);
	ck_assert_str_eq(back, "0x0200000000001001:1 0x0200000080000a00:2\n\n"
			       "0x0200000080000a00:2 0x0200000000001001:1\n\n");
}
END_TEST

static bool is_guid(void *arg, uint64_t guid)
{
	return guid == *(const uint64_t *)arg;
}

/* A cable is kept as long as one of its ends is there: the absent one may come back at it. */
START_TEST(neighbors_that_stay)
{
	uint64_t edition;

	neighbors_set(neighbors, 1, 1, 2, 3);
	edition = neighbors_edition(neighbors);
	neighbors_set(neighbors, 1, 1, 2, 3);
	ck_assert_uint_eq(neighbors_edition(neighbors), edition); /* there is nothing to write */
	neighbors_set(neighbors, 1, 1, 2, 4);
	ck_assert_uint_gt(neighbors_edition(neighbors), edition);
	ck_assert_uint_eq(neighbors_get(neighbors, 2, 4), 1);
}
END_TEST

START_TEST(neighbors_that_are_kept)
{
	uint64_t edition;

	state_parse(logger, "neighbors", "0x1:1 0x2:1\n0x2:1 0x1:1\n0x3:1 0x4:1\n",
		    neighbors_take_line, neighbors);
	ck_assert_uint_eq(neighbors_size(neighbors), 3);
	edition = neighbors_edition(neighbors);
	neighbors_keep(neighbors, is_guid, &(uint64_t){1});
	ck_assert_uint_eq(neighbors_size(neighbors), 2);
	ck_assert_uint_gt(neighbors_edition(neighbors), edition);
	ck_assert_uint_eq(neighbors_get(neighbors, 1, 1), 2);
	ck_assert_uint_eq(neighbors_get(neighbors, 2, 1), 1);
}
END_TEST

static const char *const bad_keys[] = {
	"hello",      "0x5",	     "0x5 zzz",	  "0x5 0x1 0x2", "0x0 0x1",
	"0x5:1 0x1",  "0x5,0x1",     "-5 1",	  "0x5 -1",	 "0x10000000000000005 0x1",
	"0x5 0x1;",   "0x1 0x77",    "0x5 0x1 #", "0x5 0x",	 "0x5 0x10000000000000000",
	"\xff\xfe 1", "0x5 0x1\x01",
};

/* Each is named by its line, and does not affect others. */
START_TEST(bad_lines_of_keys)
{
	g_autofree char *lines = g_strdup_printf("0x1 0x11\n\n%s\n\n0x2 0x22\n", bad_keys[_i]);

	ck_assert_uint_eq(state_parse(logger, "guid2mkey", lines, key_ring_take_line, ring), 1);
	ck_assert_ptr_nonnull(strstr(text->str, "guid2mkey:3: '"));
	ck_assert_ptr_nonnull(strstr(text->str, ": expected "));
	ck_assert_uint_eq(key_of(1), 0x11);
	ck_assert_uint_eq(key_of(2), 0x22);
	ck_assert_uint_eq(key_of(5), 0);
}
END_TEST

static const char *const bad_neighbors[] = {
	"hello",
	"0x5:1",
	"0x5 0x6",
	"0x5:1 0x6",
	"0x5:0 0x6:1",
	"0x5:1 0x6:255",
	"0x5:256 0x6:1",
	"0x5:1 0x0:1",
	"0x0:1 0x5:1",
	"0x5:-1 0x6:1",
	"0x5:1 0x6:1 0x7",
	"0x5:0x1 0x6:1",
	"0x5: 1 0x6:1",
	"0x5:1, 0x6:1",
	"0x1:1 0x7:7",
	"0x5:1 0x6:1x",
	"0x5:1:1 0x6:1",
	"0x5:+1 0x6:1",
	"0x5:99999999999999999999 0x6:1",
};

START_TEST(bad_lines_of_neighbors)
{
	g_autofree char *lines =
		g_strdup_printf("0x1:1 0x2:2\n\n%s\n\n0x3:3 0x4:4\n", bad_neighbors[_i]);

	ck_assert_uint_eq(state_parse(logger, "neighbors", lines, neighbors_take_line, neighbors),
			  1);
	ck_assert_ptr_nonnull(strstr(text->str, "neighbors:3: '"));
	ck_assert_ptr_nonnull(strstr(text->str, ": expected "));
	ck_assert_uint_eq(neighbors_get(neighbors, 1, 1), 2);
	ck_assert_uint_eq(neighbors_get(neighbors, 3, 3), 4);
	ck_assert_uint_eq(neighbors_size(neighbors), 2);
}
END_TEST

/* A torn last line is a bad one, and at most ten of a file are named. */
START_TEST(torn_and_many)
{
	GString *lines = g_string_new("0x1 0x11\n");
	unsigned int told = 0;

	for (unsigned int i = 0; i < 1000; i++)
		g_string_append(lines, "garbage\n");
	g_string_append(lines, "0x0200000000001701 0x00000000000012\n0x02000000000017");
	ck_assert_uint_eq(state_parse(logger, "guid2mkey", lines->str, key_ring_take_line, ring),
			  1001);
	for (const char *at = text->str; (at = strstr(at, "line is ignored")); at++)
		told++;
	ck_assert_uint_eq(told, 10);
	g_string_free(lines, TRUE);
}
END_TEST

/* Keys that were tried in vain, and those of unknown devices behind a port, are not kept. */
START_TEST(unknown_keys)
{
	g_autofree char *lines = NULL;

	key_ring_set(ring, &(struct key_rule){.m_key = 0x77});
	key_ring_failed(ring, (struct key_port){.guid = 5}, 0x77);
	key_ring_worked(ring, (struct key_port){.guid = 6}, 0);
	key_ring_worked(ring, (struct key_port){.guid = 7, .behind = 1}, 0x70);
	key_ring_worked(ring, (struct key_port){.guid = 0}, 0x70);
	key_ring_worked(ring, (struct key_port){.guid = 8}, 0x80);
	lines = key_ring_format(ring);
	ck_assert_str_eq(lines, "0x0000000000000008 0x0000000000000080\n\n");
}
END_TEST

/* A saved key is a guess: the key by the rule is tried next. */
START_TEST(remembered_keys_are_guesses)
{
	key_ring_set(ring, &(struct key_rule){.m_key = 0x77});
	state_parse(logger, "guid2mkey", "0x5 0x55\n", key_ring_take_line, ring);
	ck_assert_uint_eq(key_of(5), 0x55);
	ck_assert(key_ring_failed(ring, (struct key_port){.guid = 5}, 0x55));
	ck_assert_uint_eq(key_of(5), 0x77);
}
END_TEST

/* Against HMAC-SHA256 of another library (Python's hmac). */
START_TEST(derived_keys)
{
	g_autoptr(GBytes) seed = g_bytes_new_static("0123456789 and no more", 22);

	ck_assert_uint_eq(key_derive(seed, 0x0002c90300000001, 0), 0x89b6dd0dd929c111);
	ck_assert_uint_eq(key_derive(seed, 0x0002c90300000001, 1), 0x0d2ca46afb83eb3b);
	ck_assert_uint_eq(key_derive(seed, 0x0002c90300000002, 0), 0xbcf269f6a3aed42e);
}
END_TEST

/* A newer generation of another SM is found, reported, and looked for only on request. */
START_TEST(generations_ahead)
{
	g_autoptr(GBytes) seed = g_bytes_new_static("0123456789 and no more", 22);
	struct key_rule rule = {.seed = seed, .generation = 7};
	struct key_port port = {.guid = 5};
	unsigned int tries = 0;

	key_ring_set(ring, &rule);
	key_ring_worked(ring, port, key_derive(seed, 5, 7));
	ck_assert_uint_eq(key_ring_wanted(ring, port), key_derive(seed, 5, 7));
	ck_assert(!key_ring_failed(ring, port, key_derive(seed, 5, 7)));
	key_ring_again(ring);
	key_ring_look_ahead(ring, true);
	while (key_ring_for(ring, port) != key_derive(seed, 5, 9)) {
		ck_assert(key_ring_failed(ring, port, key_ring_for(ring, port)));
		ck_assert_uint_lt(tries++, 4);
	}
	/* A port that answers may have no key at all. */
	key_ring_likely(ring, port, key_derive(seed, 5, 9));
	key_ring_worked(ring, port, key_derive(seed, 5, 9));
	ck_assert_uint_eq(key_ring_generation(ring), 7);
	key_ring_told(ring, port, key_derive(seed, 5, 9));
	ck_assert_uint_eq(key_ring_generation(ring), 9);
}
END_TEST

/* A node with several cables is a switch; it remains one after they are forgotten. */
START_TEST(switches)
{
	g_autoptr(GHashTable) found = NULL;
	const uint64_t host = 1, other = 2, leaf = 0x10, spine = 0x20;

	neighbors_set(neighbors, leaf, 1, host, 1);
	neighbors_set(neighbors, leaf, 2, spine, 1);
	neighbors_set(neighbors, spine, 2, other, 1);
	neighbors_set(neighbors, leaf, 1, other, 1); /* it was moved: still one cable */
	found = neighbors_switches(neighbors);
	neighbors_set(neighbors, leaf, 1, host, 1);
	ck_assert(g_hash_table_contains(found, &leaf) && g_hash_table_contains(found, &spine));
	ck_assert(!g_hash_table_contains(found, &host) && !g_hash_table_contains(found, &other));
}
END_TEST

/* An unidentified device has no key of its own, and does not stand for others. */
START_TEST(unidentified)
{
	g_autoptr(GBytes) seed = g_bytes_new_static("0123456789 and no more", 22);
	struct key_port one = {.guid = 5, .behind = 2}, two = {.guid = 5, .behind = 3};

	key_ring_set(ring, &(struct key_rule){.m_key = 0x77, .seed = seed});
	ck_assert_uint_eq(key_ring_for(ring, one), 0x77);
	key_ring_failed(ring, one, 0x77);
	ck_assert_uint_eq(key_ring_for(ring, two), 0x77);
	key_ring_likely(ring, one, 0x99);
	ck_assert_uint_eq(key_ring_for(ring, two), 0x77);
	ck_assert_uint_eq(key_ring_edition(ring), 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("key_files");
	TCase *tcase = tcase_create("key files");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, keys_of_the_classic);
	tcase_add_test(tcase, neighbors_of_the_classic);
	tcase_add_test(tcase, neighbors_that_stay);
	tcase_add_test(tcase, neighbors_that_are_kept);
	tcase_add_loop_test(tcase, bad_lines_of_keys, 0, G_N_ELEMENTS(bad_keys));
	tcase_add_loop_test(tcase, bad_lines_of_neighbors, 0, G_N_ELEMENTS(bad_neighbors));
	tcase_add_test(tcase, torn_and_many);
	tcase_add_test(tcase, unknown_keys);
	tcase_add_test(tcase, remembered_keys_are_guesses);
	tcase_add_test(tcase, derived_keys);
	tcase_add_test(tcase, generations_ahead);
	tcase_add_test(tcase, switches);
	tcase_add_test(tcase, unidentified);
	suite_add_tcase(suite, tcase);
	return suite;
}
