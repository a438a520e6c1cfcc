// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file "last": what is written is read, and what is damaged is set aside. */
#include <glib/gstdio.h>
#include <string.h>

#include "complib/random.h"
#include "perf/disk/columns.h"
#include "perf/disk/resume.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

static char *directory, *file;
static struct log *quiet;
static struct perf_layout *layout;

static void setup(void)
{
	directory = g_dir_make_tmp("opensm-resume-XXXXXX", NULL);
	file = perf_resume_file(directory);
	quiet = log_new_null();
	layout = fixture_large_layout(2);
}

static void teardown(void)
{
	perf_layout_unref(layout);
	log_free(quiet);
	directory_remove(directory);
	g_free(file);
	g_free(directory);
}

static struct perf_resume *make(void)
{
	struct perf_resume *resume = perf_resume_new(layout, 2);
	uint64_t state = 9;

	resume->id = 12;
	resume->saved_us = 34;
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		for (unsigned int i = 0; i < PERF_COUNTERS; i++) {
			resume->absolute[i][row] = random_next(&state);
			resume->total[i][row] = random_next(&state);
		}
		resume->read_us[row] = (int64_t)(random_next(&state) >> 1);
		resume->at_least[row] = random_below(&state, 1u << PERF_COUNTERS);
		resume->have[row] = random_below(&state, 1u << PERF_COUNTERS);
		resume->wide[row] = random_below(&state, 1u << PERF_COUNTERS);
		resume->flags[row] = (uint16_t)random_next(&state);
	}
	for (unsigned int i = 0; i < 2; i++) {
		resume->details[i].row = 20 * i;
		resume->details[i].have = 1 + i;
		resume->details[i].read_us = -1;
		for (unsigned int j = 0; j < PERF_DETAILS; j++) {
			resume->details[i].absolute[j] = random_next(&state);
			resume->details[i].total[j] = random_next(&state);
		}
	}
	return resume;
}

static void save(const uint8_t *octets, size_t length)
{
	fixture_file(file, octets, length);
}

START_TEST(again)
{
	struct perf_resume *was = make(), *is;
	g_autoptr(GByteArray) octets = perf_resume_encode(was, 1);
	size_t n = layout->n_rows;

	save(octets->data, octets->len);
	is = perf_resume_take(quiet, directory);
	ck_assert_ptr_nonnull(is);
	ck_assert_uint_eq(is->id, 12);
	ck_assert_int_eq(is->saved_us, 34);
	ck_assert_uint_eq(is->layout->n_rows, n);
	ck_assert_str_eq(is->layout->nodes[1].description, layout->nodes[1].description);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++) {
		ck_assert_mem_eq(is->absolute[i], was->absolute[i], n * sizeof(uint64_t));
		ck_assert_mem_eq(is->total[i], was->total[i], n * sizeof(uint64_t));
	}
	ck_assert_mem_eq(is->read_us, was->read_us, n * sizeof(*is->read_us));
	ck_assert_mem_eq(is->at_least, was->at_least, n * sizeof(*is->at_least));
	ck_assert_mem_eq(is->have, was->have, n * sizeof(*is->have));
	ck_assert_mem_eq(is->wide, was->wide, n * sizeof(*is->wide));
	ck_assert_mem_eq(is->flags, was->flags, n * sizeof(*is->flags));
	ck_assert_uint_eq(is->n_details, 2);
	ck_assert_mem_eq(is->details, was->details, 2 * sizeof(*is->details));
	perf_resume_free(is);
	perf_resume_free(was);
}
END_TEST

START_TEST(none)
{
	g_autofree char *bad = g_strconcat(file, ".bad", NULL);

	ck_assert_ptr_null(perf_resume_take(quiet, directory));
	ck_assert(!g_file_test(bad, G_FILE_TEST_EXISTS));
	ck_assert_ptr_null(perf_resume_take(quiet, "/nonexistent"));
}
END_TEST

START_TEST(torn)
{
	g_autofree char *bad = g_strconcat(file, ".bad", NULL);
	struct perf_resume *was = make();
	g_autoptr(GByteArray) octets = perf_resume_encode(was, 1);

	save(octets->data, octets->len / 2);
	ck_assert_ptr_null(perf_resume_take(quiet, directory));
	ck_assert(g_file_test(bad, G_FILE_TEST_EXISTS));
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
	perf_resume_free(was);
}
END_TEST

/* Wrong values with right checksums. */
START_TEST(hostile)
{
	struct perf_resume *was = make();
	g_autoptr(GByteArray) octets = perf_resume_encode(was, 0);
	unsigned int refused = 0;

	for (size_t at = 0; at < octets->len; at += at < 1000 ? 1 : 97) {
		g_autofree uint8_t *changed = g_memdup2(octets->data, octets->len);
		struct perf_resume *is;

		changed[at] ^= (uint8_t)(1 + at % 255);
		columns_seal(changed, octets->len);
		save(changed, octets->len);
		is = perf_resume_load(file, NULL);
		refused += !is;
		for (uint32_t i = 0; is && i < is->n_details; i++)
			ck_assert_uint_lt(is->details[i].row, is->layout->n_rows);
		perf_resume_free(is);
	}
	ck_assert_uint_gt(refused, 50);
	perf_resume_free(was);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_resume");
	TCase *tcase = tcase_create("resume");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, again);
	tcase_add_test(tcase, none);
	tcase_add_test(tcase, torn);
	tcase_add_test(tcase, hostile);
	suite_add_tcase(suite, tcase);
	return suite;
}
