// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Slots: one publisher, several readers, and no object leaked or used after its end. */
#include <check.h>
#include <glib.h>

#include <complib/handoff.h>

#include "tests/run_suite.h"

#define READERS 3
#define VERSIONS 2000

struct version {
	struct ref ref;
	unsigned int number, twice; /* twice == 2 * number while it lives */
	atomic_uint *freed;
};

struct reader {
	pthread_t thread;
	struct slot *slot;
	atomic_bool *end;
	unsigned int taken, bad;
};

static void version_get(void *object)
{
	ref_get(&((struct version *)object)->ref);
}

static void version_put(void *object)
{
	struct version *version = object;

	if (!ref_put(&version->ref))
		return;
	atomic_fetch_add(version->freed, 1);
	version->twice = 1;
	g_free(version);
}

static struct version *version_new(unsigned int number, atomic_uint *freed)
{
	struct version *version = g_new0(struct version, 1);

	ref_init(&version->ref);
	version->number = number;
	version->twice = 2 * number;
	version->freed = freed;
	return version;
}

START_TEST(test_counts)
{
	atomic_uint freed = 0;
	struct version *taken;
	struct slot slot;

	slot_init(&slot, version_get, version_put);
	ck_assert_ptr_null(slot_take(&slot));
	slot_publish(&slot, version_new(1, &freed));
	taken = slot_take(&slot);
	ck_assert_uint_eq(taken->number, 1);
	slot_publish(&slot, version_new(2, &freed));
	ck_assert_uint_eq(atomic_load(&freed), 0); /* still held */
	version_put(taken);
	ck_assert_uint_eq(atomic_load(&freed), 1);
	slot_publish(&slot, NULL);
	ck_assert_uint_eq(atomic_load(&freed), 2);
	ck_assert_ptr_null(slot_take(&slot));
	slot_clear(&slot);
}
END_TEST

static void *reader_thread(void *arg)
{
	struct reader *reader = arg;
	unsigned int last = 0;

	while (!atomic_load(reader->end)) {
		struct version *version = slot_take(reader->slot);

		if (!version)
			continue;
		if (version->twice != 2 * version->number || version->number < last)
			reader->bad++;
		last = version->number;
		reader->taken++;
		version_put(version);
	}
	return NULL;
}

START_TEST(test_readers_see_whole_versions)
{
	struct reader readers[READERS] = {0};
	atomic_uint freed = 0;
	atomic_bool end = false;
	struct slot slot;

	slot_init(&slot, version_get, version_put);
	for (int i = 0; i < READERS; i++) {
		readers[i].slot = &slot;
		readers[i].end = &end;
		pthread_create(&readers[i].thread, NULL, reader_thread, &readers[i]);
	}
	for (unsigned int v = 1; v <= VERSIONS; v++) {
		slot_publish(&slot, version_new(v, &freed));
		if (v % 100 == 0)
			g_usleep(1000); /* let readers in on a machine with few processors */
	}
	atomic_store(&end, true);
	for (int i = 0; i < READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		ck_assert_uint_eq(readers[i].bad, 0);
	}
	ck_assert_uint_gt(readers[0].taken + readers[1].taken + readers[2].taken, 0);
	slot_clear(&slot);
	ck_assert_uint_eq(atomic_load(&freed), VERSIONS);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("handoff");
	TCase *tcase = tcase_create("slot");

	tcase_add_test(tcase, test_counts);
	tcase_add_test(tcase, test_readers_see_whole_versions);
	suite_add_tcase(suite, tcase);
	return suite;
}
