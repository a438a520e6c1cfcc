// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What holds for stores of each kind. All tests run with each of them. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

#include "ssa/wire/alive.h"
#include "tests/memory_used.h"
#include "tests/run_suite.h"
#include "tests/unit/ssa_bed.h"

#define LONG_MS 20000 /* no wait ends by that in these tests */

#define RIVAL_TRIES 150

/* ---- chunks and manifests ---- */

START_TEST(test_empty)
{
	struct bed *bed = bed_open(_i, 0);
	bool has = true;
	g_autofree char *absent = g_strdup(bed_name(1));
	const char *name = absent;
	GBytes *frame;
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 0); /* makes the directory */
	ck_assert_ptr_null(ssa_store_get(bed->reader, name, &error));
	bed_expect(&error, SSA_STORE_ERROR_ABSENT, name);
	ck_assert(ssa_store_has(bed->reader, &name, 1, &has, &error));
	ck_assert(!has);
	ck_assert(ssa_store_get_many(bed->reader, &name, 1, &frame, &error));
	ck_assert_ptr_null(frame);
	bed_close(bed);

	bed = bed_open(_i, 0);
	ck_assert(ssa_store_has(bed->writer, &name, 1, &has, &error));
	ck_assert_ptr_null(ssa_store_manifest(bed->writer, &error));
	bed_expect(&error, SSA_STORE_ERROR_ABSENT, "has no manifest yet");
	bed_close(bed);
}
END_TEST

START_TEST(test_publish)
{
	struct bed *bed = bed_open(_i, 0);
	bool has[2];
	const char *names[2];
	g_autofree char *other = g_strdup(bed_name(99));
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 3);
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	bed_publish(bed->writer, 1, 2, 1, 40);
	ck_assert_uint_eq(bed_read(bed->reader), 2);
	names[0] = other;
	names[1] = bed_name(2);
	ck_assert(ssa_store_has(bed->writer, names, 2, has, &error));
	ck_assert(!has[0] && has[1]);
	bed_close(bed);
}
END_TEST

/* What is put is there before it is published: a writer asks before it sends. */
START_TEST(test_put_is_there)
{
	struct bed *bed = bed_open(_i, 0);
	const char *name = bed_name(5);
	g_autoptr(GBytes) frame = bed_frame(5), there = NULL;
	GError *error = NULL;
	bool has = false;

	ck_assert(ssa_store_put(bed->writer, name, frame, &error));
	ck_assert(ssa_store_has(bed->writer, &name, 1, &has, &error));
	ck_assert(has);
	there = ssa_store_get(bed->reader, name, &error);
	ck_assert(there && g_bytes_equal(there, frame));
	bed_close(bed);
}
END_TEST

START_TEST(test_get_many)
{
	struct bed *bed = bed_open(_i, 0);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	GBytes *frames[50];
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 40);
	for (unsigned int i = 0; i < 50; i++) /* 0, 40 (absent), 2, ... and some of them twice */
		g_ptr_array_add(names, g_strdup(bed_name(i % 2 ? 40 + i : i % 30)));
	ck_assert(ssa_store_get_many(bed->reader, (const char *const *)names->pdata, 50, frames,
				     &error));
	for (unsigned int i = 0; i < 50; i++) {
		g_autoptr(GBytes) right = bed_frame(i % 30);

		ck_assert(i % 2 ? !frames[i] : g_bytes_equal(frames[i], right));
		g_clear_pointer(&frames[i], g_bytes_unref);
	}
	bed_close(bed);
}
END_TEST

/* Sizes up to the limits pass, what is larger is refused and changes nothing. */
START_TEST(test_sizes)
{
	struct bed *bed = bed_open(_i, 0);
	g_autofree char *octets = g_malloc0(SSA_CHUNK_MAX + 1);
	g_autoptr(GBytes) largest = g_bytes_new_static(octets, SSA_CHUNK_MAX);
	g_autoptr(GBytes) larger = g_bytes_new_static(octets, SSA_CHUNK_MAX + 1);
	g_autoptr(GBytes) manifest = g_bytes_new_static(octets, SSA_MANIFEST_MAX);
	g_autoptr(GBytes) too_long = g_bytes_new_static(octets, SSA_MANIFEST_MAX + 1);
	g_autoptr(GBytes) there = NULL, there_manifest = NULL;
	const char *name = bed_name(7);
	GError *error = NULL;

	ck_assert(ssa_store_put(bed->writer, name, largest, &error));
	ck_assert(ssa_store_publish(bed->writer, manifest, 1, 1, &name, 1, &error));
	ck_assert(!ssa_store_put(bed->writer, name, larger, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "expected at most 4194304");
	ck_assert(!ssa_store_publish(bed->writer, too_long, 1, 2, &name, 1, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "expected at most 8192");
	there = ssa_store_get(bed->reader, name, &error);
	ck_assert(there && g_bytes_equal(there, largest));
	there_manifest = ssa_store_manifest(bed->reader, &error);
	ck_assert(there_manifest && g_bytes_equal(there_manifest, manifest));
	bed_close(bed);
}
END_TEST

/* Names become paths and keys. */
START_TEST(test_names)
{
	static const char *const wrong[] = {
		"",
		"../../../../../../../etc/passwd",
		"0123456789abcdef0123456789abcde",
		"0123456789abcdef0123456789abcdef0",
		"0123456789ABCDEF0123456789ABCDEF",
		"0123456789abcdef/123456789abcdef",
		"0123456789abcdef\r\n23456789abcdef",
		"..23456789abcdef0123456789abcdef",
	};
	struct bed *bed = bed_open(_i, 0);
	g_autoptr(GBytes) frame = bed_frame(1);
	GError *error = NULL;
	bool has;

	for (unsigned int i = 0; i < G_N_ELEMENTS(wrong); i++) {
		ck_assert(!ssa_store_put(bed->writer, wrong[i], frame, &error));
		bed_expect(&error, SSA_STORE_ERROR_REFUSED, "is not the name of a chunk");
		ck_assert_ptr_null(ssa_store_get(bed->reader, wrong[i], &error));
		bed_expect(&error, SSA_STORE_ERROR_REFUSED, "is not the name of a chunk");
		ck_assert(!ssa_store_has(bed->reader, &wrong[i], 1, &has, &error));
		bed_expect(&error, SSA_STORE_ERROR_REFUSED, "is not the name of a chunk");
		ck_assert(!ssa_store_publish(bed->writer, frame, 1, 1, &wrong[i], 1, &error));
		bed_expect(&error, SSA_STORE_ERROR_REFUSED, "is not the name of a chunk");
	}
	bed_close(bed);
}
END_TEST

START_TEST(test_only_reads)
{
	struct bed *bed = bed_open(_i, 0);
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 3);
	ck_assert(!bed_try_publish(bed->reader, 1, 2, 0, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "opened for reading only");
	ck_assert(!bed_try_publish(bed->reader, 1, 2, 0, 0, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "opened for reading only");
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	bed_close(bed);
}
END_TEST

START_TEST(test_stats)
{
	struct bed *bed = bed_open(_i, 0);
	struct ssa_store_stats stats;
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 3);
	bed_read(bed->reader);
	ssa_store_stats(bed->writer, &stats);
	ck_assert_uint_eq(stats.puts, 3);
	ck_assert_uint_eq(stats.publishes, 1);
	ck_assert_uint_eq(stats.errors, 0);
	ck_assert_uint_gt(stats.bytes_out, 300);
	ssa_store_stats(bed->reader, &stats);
	ck_assert_uint_eq(stats.gets, 3);
	ck_assert_uint_gt(stats.bytes_in, 300);
	ck_assert_str_eq(stats.last_error, "");
	ck_assert_ptr_null(ssa_store_get(bed->reader, bed_name(77), NULL));
	ssa_store_stats(bed->reader, &stats);
	ck_assert_uint_eq(stats.errors, 0); /* that nothing is there is an answer */
	ck_assert(!bed_try_publish(bed->reader, 1, 2, 0, 0, &error));
	ssa_store_stats(bed->reader, &stats);
	ck_assert_uint_eq(stats.errors, 1);
	ck_assert_str_eq(stats.last_error, error->message);
	ck_assert_int_gt(stats.last_error_us, 0);
	g_error_free(error);
	bed_close(bed);
}
END_TEST

/* ---- what may be published ---- */

START_TEST(test_missing_chunk)
{
	struct bed *bed = bed_open(_i, 0);
	g_autoptr(GBytes) manifest = g_bytes_new_static("1 2 0 1", 7);
	g_autofree char *there = g_strdup(bed_name(0)), *absent = g_strdup(bed_name(50));
	const char *names[] = {there, absent};
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 3);
	ck_assert(!ssa_store_publish(bed->writer, manifest, 1, 2, names, 2, &error));
	bed_expect(&error, SSA_STORE_ERROR_ABSENT, "the manifest uses");
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	bed_publish(bed->writer, 1, 2, 0, 3);
	bed_close(bed);
}
END_TEST

/* An older master changes nothing. An epoch may be published again, after an answer was lost. */
START_TEST(test_older)
{
	struct bed *bed = bed_open(_i, 0);
	struct ssa_store *other = bed_store(bed, true, 0);
	GError *error = NULL;

	bed_publish(bed->writer, 2, 5, 0, 3);
	ck_assert(!bed_try_publish(other, 1, 9, 3, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_OLDER, "has term 2, epoch 5");
	ck_assert(!bed_try_publish(other, 2, 4, 3, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_OLDER, "newer than term 2, epoch 4");
	ck_assert_uint_eq(bed_read(bed->reader), 5);
	bed_publish(bed->writer, 2, 5, 0, 3);
	bed_publish(other, 3, 1, 3, 3);
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	ck_assert(!bed_try_publish(bed->writer, 2, 6, 3, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_OLDER, "another master has published it");
	bed_publish(other, UINT64_MAX, UINT64_MAX, 3, 3);
	ck_assert_uint_eq(bed_read(bed->reader), UINT64_MAX);
	ssa_store_close(other);
	bed_close(bed);
}
END_TEST

struct rival {
	struct ssa_store *store;
	unsigned int first, step, published, turned_down;
};

/* Publishes what it may, each time some more than the epoch there, which never goes back. */
static void *publish_often(void *arg)
{
	struct rival *rival = arg;

	for (unsigned int i = 0; i < RIVAL_TRIES; i++) {
		GError *error = NULL;
		uint64_t epoch = bed_epoch(rival->store) + rival->step;

		if (bed_try_publish(rival->store, 1, epoch, rival->first + i % 7, 5, &error)) {
			rival->published++;
			ck_assert_uint_ge(bed_epoch(rival->store), epoch);
			continue;
		}
		ck_assert_msg(error->code == SSA_STORE_ERROR_OLDER ||
				      error->code == SSA_STORE_ERROR_REFUSED ||
				      error->code == SSA_STORE_ERROR_ABSENT,
			      "%s", error->message);
		rival->turned_down++;
		g_error_free(error);
	}
	return NULL;
}

/* Two writers at once: whatever is published is whole, at any moment. */
START_TEST(test_two_writers)
{
	struct bed *bed = bed_open(_i, 0);
	struct rival rivals[2] = {{.store = bed->writer, .first = 0, .step = 1},
				  {.store = bed_store(bed, true, 0), .first = 100, .step = 9}};
	pthread_t threads[2];
	uint64_t last = 0;

	bed_publish(bed->writer, 1, 1, 0, 5);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, publish_often, &rivals[i]), 0);
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t epoch = bed_read(bed->reader);

		ck_assert_uint_ge(epoch, last);
		last = epoch;
	}
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_gt(rivals[0].published, 0);
	ck_assert_uint_gt(rivals[1].published, 0);
	ck_assert_uint_eq(rivals[0].published + rivals[0].turned_down, RIVAL_TRIES);
	ck_assert_uint_gt(bed_read(bed->reader), 1);
	ssa_store_close(rivals[1].store);
	bed_close(bed);
}
END_TEST

/* ---- chunks that are not used any more ---- */

/* Those of the last three manifests stay, and all others for a time. */
START_TEST(test_old_chunks)
{
	struct bed *bed = bed_open(_i, 0);
	const char *name;
	GError *error = NULL;
	bool has;

	for (unsigned int epoch = 1; epoch <= 6; epoch++)
		bed_publish(bed->writer, 1, epoch, epoch * 10, 2);
	ck_assert_uint_eq(bed_chunks(bed), 12);
	ssa_store_close(bed->writer);
	bed->writer = bed_store(bed, true, 1);
	bed_later(2);
	bed_publish(bed->writer, 1, 7, 70, 2); /* the last three: 50, 60, 70 */
	ck_assert_uint_eq(bed_chunks(bed), 6);
	name = bed_name(50);
	ck_assert(ssa_store_has(bed->reader, &name, 1, &has, &error) && has);
	name = bed_name(40);
	ck_assert(ssa_store_has(bed->reader, &name, 1, &has, &error) && !has);
	bed_close(bed);
}
END_TEST

/* The next writer knows what the last one has left: also what no manifest has ever used. */
START_TEST(test_next_writer)
{
	struct bed *bed = bed_open(_i, 0);
	g_autofree char *orphan = g_strdup(bed_name(1000));
	g_autoptr(GBytes) frame = bed_frame(1000);
	GError *error = NULL;
	bool has;

	bed_publish(bed->writer, 1, 1, 0, 5);
	ck_assert(ssa_store_put(bed->writer, orphan, frame, &error));
	ck_assert(ssa_store_has(bed->writer, (const char *const *)&orphan, 1, &has, &error));
	ck_assert(has);
	ssa_store_close(bed->writer);
	bed->writer = bed_store(bed, true, 1);
	bed_publish(bed->writer, 1, 2, 4, 3);
	ck_assert_uint_eq(bed_chunks(bed), 8);
	bed_later(2);
	for (unsigned int epoch = 3; epoch <= 6; epoch++)
		bed_publish(bed->writer, 1, epoch, 4, 3);
	ck_assert_uint_eq(bed_chunks(bed), 3);
	ck_assert_uint_eq(bed_read(bed->reader), 6);
	bed_close(bed);
}
END_TEST

/* Neither the store nor its user grows. */
START_TEST(test_many_publishes)
{
	struct bed *bed = bed_open(_i, 1);
	const unsigned int times = _i == BED_FILES ? 300 : 1000;
	size_t before = 0;
	uint64_t epoch;

	for (epoch = 1; epoch <= times; epoch++) {
		bed_publish(bed->writer, 1, epoch, (unsigned int)epoch, 4);
		ck_assert_uint_eq(bed_epoch(bed->reader), epoch);
		if (epoch == times / 2)
			before = memory_used();
	}
	ck_assert_uint_le(memory_used(), before + (128 << 10));
	bed_later(2);
	for (; epoch <= times + 4; epoch++)
		bed_publish(bed->writer, 1, epoch, 0, 4);
	ck_assert_uint_eq(bed_chunks(bed), 4);
	ck_assert_uint_eq(bed_read(bed->reader), times + 4);
	bed_close(bed);
}
END_TEST

/* ---- waiting ---- */

/* Waits until the epoch is that one, as users do. */
static void wait_for(struct ssa_store *store, uint64_t epoch)
{
	GError *error = NULL;

	while (bed_epoch(store) < epoch)
		ck_assert_msg(ssa_store_wait(store, LONG_MS, &error), "%s",
			      error ? error->message : "no error");
}

static void *publish_later(void *arg)
{
	const struct bed *bed = arg;

	for (unsigned int epoch = 2; epoch <= 20; epoch++) {
		g_usleep(epoch % 3 * 5000);
		bed_publish(bed->writer, 1, epoch, epoch, 3);
	}
	return NULL;
}

START_TEST(test_wait)
{
	struct bed *bed = bed_open(_i, 0);
	int64_t start_us = g_get_monotonic_time();
	pthread_t thread;

	bed_publish(bed->writer, 1, 1, 1, 3);
	wait_for(bed->reader, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, publish_later, bed), 0);
	for (uint64_t epoch = 2; epoch <= 20; epoch++)
		wait_for(bed->reader, epoch);
	pthread_join(thread, NULL);
	ck_assert_int_lt(g_get_monotonic_time() - start_us, LONG_MS * INT64_C(1000) / 2);
	bed_close(bed);
}
END_TEST

/* What is published between the reading and the wait ends the wait at once. */
START_TEST(test_wait_misses_nothing)
{
	struct bed *bed = bed_open(_i, 0);
	int64_t start_us = g_get_monotonic_time();
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 1, 3);
	for (uint64_t epoch = 2; epoch < 30; epoch++) {
		bed_epoch(bed->reader);
		bed_publish(bed->writer, 1, epoch, 1, 3);
		ck_assert(ssa_store_wait(bed->reader, LONG_MS, &error));
		ck_assert_uint_eq(bed_epoch(bed->reader), epoch);
	}
	ck_assert_int_lt(g_get_monotonic_time() - start_us, LONG_MS * INT64_C(1000) / 2);
	bed_close(bed);
}
END_TEST

/* It belongs to no epoch, and ends no wait. */
START_TEST(test_pulse)
{
	struct bed *bed = bed_open(_i, 0);
	g_autofree char *text = NULL, *long_text = g_strnfill(SSA_ALIVE_MAX + 1, 'a');
	GError *error = NULL;
	int64_t start_us;

	bed_publish(bed->writer, 1, 1, 0, 3);
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	ck_assert_ptr_null(ssa_store_pulse(bed->reader, &error));
	ck_assert_ptr_null(error);
	while (ssa_store_wait(bed->reader, 1, &error) && bed_epoch(bed->reader) != 1)
		;
	ck_assert(ssa_store_set_pulse(bed->writer, "first", &error));
	ck_assert(ssa_store_set_pulse(bed->writer, "second", &error));
	start_us = g_get_monotonic_time();
	ck_assert(ssa_store_wait(bed->reader, 50, &error));
	ck_assert_int_ge(g_get_monotonic_time() - start_us, 50000);
	text = ssa_store_pulse(bed->reader, &error);
	ck_assert_str_eq(text, "second");
	ck_assert(!ssa_store_set_pulse(bed->reader, "third", &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "reading only");
	ck_assert(!ssa_store_set_pulse(bed->writer, long_text, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "at most 256");
	bed_close(bed);
}
END_TEST

/* Nothing is published: the wait takes its time, again and again, and none of the processor's. */
START_TEST(test_wait_long)
{
	struct bed *bed = bed_open(_i, 0);
	GError *error = NULL;
	clock_t cpu;
	int64_t start_us;

	bed_publish(bed->writer, 1, 1, 1, 3);
	bed_epoch(bed->reader);
	ck_assert(ssa_store_wait(bed->reader, 0, &error));
	bed_epoch(bed->reader);
	cpu = clock();
	start_us = g_get_monotonic_time();
	for (unsigned int i = 0; i < 3; i++)
		ck_assert(ssa_store_wait(bed->reader, 300, &error));
	ck_assert_int_ge(g_get_monotonic_time() - start_us, 900000);
	ck_assert_int_lt(clock() - cpu, CLOCKS_PER_SEC / 10);
	bed_publish(bed->writer, 1, 2, 1, 3); /* the connection is as good as before */
	ck_assert(ssa_store_wait(bed->reader, LONG_MS, &error));
	ck_assert_uint_eq(bed_epoch(bed->reader), 2);
	bed_close(bed);
}
END_TEST

static void *cancel_later(void *arg)
{
	const struct bed *bed = arg;

	g_usleep(50000);
	ssa_store_cancel(bed->reader);
	return NULL;
}

START_TEST(test_cancel)
{
	struct bed *bed = bed_open(_i, 0);
	int64_t start_us = g_get_monotonic_time();
	GError *error = NULL;
	pthread_t thread;

	bed_publish(bed->writer, 1, 1, 1, 3);
	bed_epoch(bed->reader);
	ck_assert(ssa_store_wait(bed->reader, 0, &error)); /* connects */
	bed_epoch(bed->reader);
	for (unsigned int i = 0; i < 3; i++) {
		ssa_store_cancel(bed->reader); /* often is as good as once */
		ssa_store_cancel(bed->reader);
		ck_assert(ssa_store_wait(bed->reader, LONG_MS, &error));
		ck_assert_int_eq(pthread_create(&thread, NULL, cancel_later, bed), 0);
		ck_assert(ssa_store_wait(bed->reader, LONG_MS, &error));
		pthread_join(thread, NULL);
	}
	ck_assert_int_lt(g_get_monotonic_time() - start_us, LONG_MS * INT64_C(1000) / 2);
	bed_publish(bed->writer, 1, 2, 1, 3);
	wait_for(bed->reader, 2);
	bed_close(bed);
}
END_TEST

/* ---- URIs ---- */

START_TEST(test_uris)
{
	static const struct {
		const char *uri, *text;
	} wrong[] = {
		{"", "expected files:DIR or redis://HOST"},
		{"files", "expected files:DIR"},
		{"files:", "absolute path"},
		{"files:somewhere", "absolute path"},
		{"http://somewhere", "expected files:DIR or redis://HOST"},
#ifdef HAVE_REDIS
		{"redis:", "expected redis://"},
		{"redis://", "expected redis://"},
		{"redis://host:0", "expected redis://"},
		{"redis://host:65536", "expected redis://"},
		{"redis://host:x", "expected redis://"},
		{"redis://host/3", "expected redis://"},
		{"redis://host?db=3", "expected redis://"},
		{"redis://me@host", "needs a password file"},
		{"redis://me:secret@host", "expected it in the password file"},
#else
		{"redis://host", "built without Redis"},
#endif
	};
	struct ssa_store_options options = {.more = &ssa_store_redis};
	GError *error = NULL;

	for (unsigned int i = 0; i < G_N_ELEMENTS(wrong); i++) {
		ck_assert_msg(!ssa_store_open(wrong[i].uri, 1, &options, &error), "%s",
			      wrong[i].uri);
		bed_expect(&error, SSA_STORE_ERROR_URI, wrong[i].text);
	}
	ck_assert_ptr_null(ssa_store_open("redis://host", 1, NULL, &error));
	bed_expect(&error, SSA_STORE_ERROR_URI, "redis://host: expected files:DIR");
	ssa_store_close(NULL);
}
END_TEST

/* No error shows a password that stands where it does not belong. */
START_TEST(test_password_in_uri)
{
	struct ssa_store_options options = {.more = &ssa_store_redis};
	static const char *const uris[] = {"redis://me:secret@host", "redis://me:secret@host:0",
					   "rediss://me:secret@host/2", "redis://me:secret@",
					   "http://me:secret@host"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(uris); i++) {
		g_autoptr(GError) error = NULL;

		ck_assert_ptr_null(ssa_store_open(uris[i], 1, &options, &error));
		ck_assert_ptr_null(strstr(error->message, "secret"));
	}
}
END_TEST

/* Nothing is asked of a store by opening it, and a store that is not there is said to be gone. */
START_TEST(test_nothing_there)
{
	g_autofree char *redis = g_strdup_printf("redis://127.0.0.1:%u", redis_server_free_port());
	const char *uris[] = {"files:/nonexistent/store", redis};
	struct ssa_store_options options = {.more = &ssa_store_redis};
	struct ssa_store *store = ssa_store_open(uris[_i], 1, &options, NULL);
	g_autofree char *name = g_strdup(bed_name(1));
	GError *error = NULL;
	bool has;

	ck_assert_ptr_nonnull(store);
	ck_assert_str_eq(ssa_store_uri(store), uris[_i]);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_ptr_null(ssa_store_manifest(store, &error));
		bed_expect(&error, SSA_STORE_ERROR_GONE, uris[_i]);
		ck_assert_ptr_null(ssa_store_get(store, name, &error));
		bed_expect(&error, SSA_STORE_ERROR_GONE, uris[_i]);
		ck_assert(!ssa_store_has(store, (const char *const *)&name, 1, &has, &error));
		bed_expect(&error, SSA_STORE_ERROR_GONE, uris[_i]);
		ck_assert(!ssa_store_wait(store, LONG_MS, &error));
		bed_expect(&error, SSA_STORE_ERROR_GONE, uris[_i]);
	}
	ssa_store_close(store);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_store");
	TCase *tcase = tcase_create("each kind"), *uris = tcase_create("uris");
	const int kinds = bed_kinds();

	tcase_add_unchecked_fixture(tcase, bed_begin, bed_finish);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_empty, 0, kinds);
	tcase_add_loop_test(tcase, test_publish, 0, kinds);
	tcase_add_loop_test(tcase, test_put_is_there, 0, kinds);
	tcase_add_loop_test(tcase, test_get_many, 0, kinds);
	tcase_add_loop_test(tcase, test_sizes, 0, kinds);
	tcase_add_loop_test(tcase, test_names, 0, kinds);
	tcase_add_loop_test(tcase, test_only_reads, 0, kinds);
	tcase_add_loop_test(tcase, test_stats, 0, kinds);
	tcase_add_loop_test(tcase, test_missing_chunk, 0, kinds);
	tcase_add_loop_test(tcase, test_older, 0, kinds);
	tcase_add_loop_test(tcase, test_two_writers, 0, kinds);
	tcase_add_loop_test(tcase, test_old_chunks, 0, kinds);
	tcase_add_loop_test(tcase, test_next_writer, 0, kinds);
	tcase_add_loop_test(tcase, test_many_publishes, 0, kinds);
	tcase_add_loop_test(tcase, test_wait, 0, kinds);
	tcase_add_loop_test(tcase, test_wait_misses_nothing, 0, kinds);
	tcase_add_loop_test(tcase, test_wait_long, 0, kinds);
	tcase_add_loop_test(tcase, test_pulse, 0, kinds);
	tcase_add_loop_test(tcase, test_cancel, 0, kinds);
	suite_add_tcase(suite, tcase);
	tcase_add_test(uris, test_uris);
	tcase_add_test(uris, test_password_in_uri);
#ifdef HAVE_REDIS
	tcase_add_loop_test(uris, test_nothing_there, 0, BED_KINDS);
#else
	tcase_add_loop_test(uris, test_nothing_there, 0, BED_REDIS);
#endif
	suite_add_tcase(suite, uris);
	return suite;
}
