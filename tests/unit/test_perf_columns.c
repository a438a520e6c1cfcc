// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files of columns: what is written is read, in parts and whole; what is damaged is refused. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complib/random.h"
#include "perf/disk/columns.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#define MAGIC "OSMTESTS"
#define N 5000

static char *directory, *file;

static void setup(void)
{
	directory = g_dir_make_tmp("opensm-columns-XXXXXX", NULL);
	file = g_build_filename(directory, "file", NULL);
}

static void teardown(void)
{
	g_unlink(file);
	g_rmdir(directory);
	g_free(file);
	g_free(directory);
}

struct row {
	uint8_t octet;
	uint16_t number;
	uint32_t small;
	uint64_t any;
};

static struct row *make_rows(void)
{
	struct row *rows = g_new0(struct row, N);
	uint64_t state = 3;

	for (unsigned int i = 0; i < N; i++) {
		rows[i].octet = (uint8_t)random_next(&state);
		rows[i].number = i < 2500 ? 0 : (uint16_t)random_next(&state);
		rows[i].small = random_below(&state, 5);
		rows[i].any = random_next(&state);
		rows[i].any >>= random_below(&state, 64);
	}
	return rows;
}

static struct column steps_of(struct column column)
{
	column.steps = true;
	return column;
}

static GByteArray *make_file(struct row *rows, int level)
{
	struct columns_writer *writer = columns_begin(MAGIC, 7, level);

	columns_add(writer, COLUMN_MEMBER(rows, octet), N);
	columns_add(writer, COLUMN_MEMBER(rows, number), N);
	columns_add(writer, COLUMN_MEMBER(rows, small), N);
	columns_add(writer, COLUMN_MEMBER(rows, any), N);
	columns_add(writer, steps_of(COLUMN_MEMBER(rows, any)), N);
	columns_add(writer, COLUMN_MEMBER(rows, any), 0);
	return columns_end(writer);
}

static void save(const GByteArray *octets, size_t length)
{
	fixture_file(file, octets->data, length);
}

static struct columns_reader *open_file(GError **error)
{
	return columns_open(file, MAGIC, 7, 6, error);
}

static const unsigned int starts[] = {0, 1, 2047, 2048, 2049, 4095, 4999};
static const unsigned int lengths[] = {0, 1, 2, 2047, 2048, 2049, N};

static void check_part(struct columns_reader *reader, const struct row *rows, uint32_t first,
		       uint32_t n)
{
	g_autofree struct row *into = g_new0(struct row, N + 1);
	g_autofree uint64_t *any = g_new0(uint64_t, N + 1);

	ck_assert(columns_read(reader, 0, COLUMN_MEMBER(into, octet), first, n, NULL));
	ck_assert(columns_read(reader, 1, COLUMN_MEMBER(into, number), first, n, NULL));
	ck_assert(columns_read(reader, 2, COLUMN_MEMBER(into, small), first, n, NULL));
	ck_assert(columns_read(reader, 3, COLUMN_OF(any), first, n, NULL));
	ck_assert(columns_read(reader, 4, steps_of(COLUMN_MEMBER(into, any)), first, n, NULL));
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(into[i].octet, rows[first + i].octet);
		ck_assert_uint_eq(into[i].number, rows[first + i].number);
		ck_assert_uint_eq(into[i].small, rows[first + i].small);
		ck_assert_uint_eq(into[i].any, rows[first + i].any);
		ck_assert_uint_eq(any[i], rows[first + i].any);
	}
	ck_assert_uint_eq(any[n], 0);
	ck_assert_uint_eq(into[n].any, 0);
}

/* With and without compression. */
START_TEST(parts)
{
	g_autofree struct row *rows = make_rows();
	GByteArray *octets = make_file(rows, _i);
	struct columns_reader *reader;

	save(octets, octets->len);
	g_byte_array_unref(octets);
	reader = open_file(NULL);
	ck_assert_ptr_nonnull(reader);
	ck_assert_uint_eq(columns_count(reader, 0), N);
	ck_assert_uint_eq(columns_count(reader, 5), 0);
	ck_assert(columns_zero(reader, 5));
	ck_assert(!columns_zero(reader, 1));
	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		for (size_t j = 0; j < G_N_ELEMENTS(lengths); j++)
			check_part(reader, rows, starts[i], MIN(lengths[j], N - starts[i]));
	columns_close(reader);
}
END_TEST

/* Zeros take no room; similar values take little. */
START_TEST(size)
{
	g_autofree uint64_t *zeros = g_new0(uint64_t, 100000);
	struct columns_writer *writer = columns_begin(MAGIC, 7, 1);
	GByteArray *octets;

	columns_add(writer, COLUMN_OF(zeros), 100000);
	octets = columns_end(writer);
	ck_assert_uint_eq(octets->len, 32 + 4 + 49 * 12);
	g_byte_array_unref(octets);
	for (unsigned int i = 0; i < 100000; i++)
		zeros[i] = UINT64_C(1) << 60 | (uint64_t)i * 1000;
	writer = columns_begin(MAGIC, 7, 1);
	columns_add(writer, steps_of(COLUMN_OF(zeros)), 100000);
	octets = columns_end(writer);
	ck_assert_uint_lt(octets->len, 100000 / 20);
	g_byte_array_unref(octets);
}
END_TEST

/* Reads all columns; false if any is refused, which names the file. */
static bool reads(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree uint64_t *into = g_new0(uint64_t, N);
	struct columns_reader *reader = open_file(&error);
	bool good = reader;

	for (unsigned int i = 0; good && i < 6; i++) {
		memset(into, 0, N * sizeof(*into));
		good = columns_count(reader, i) <= N &&
		       columns_read(reader, i, COLUMN_OF(into), 0, columns_count(reader, i),
				    &error);
	}
	columns_close(reader);
	ck_assert(good || !error || g_str_has_prefix(error->message, file));
	return good;
}

START_TEST(torn)
{
	g_autofree struct row *rows = make_rows();
	GByteArray *octets = make_file(rows, 1);

	save(octets, octets->len);
	ck_assert(reads());
	for (size_t length = 0; length < octets->len; length += length < 200 ? 1 : 997) {
		save(octets, length);
		ck_assert(!reads());
	}
	g_byte_array_append(octets, (const guint8 *)"x", 1);
	save(octets, octets->len);
	ck_assert(!reads());
	g_byte_array_unref(octets);
}
END_TEST

START_TEST(damaged)
{
	g_autofree struct row *rows = make_rows();
	GByteArray *octets = make_file(rows, 1);

	for (size_t at = 0; at < octets->len; at += at < 300 ? 1 : 499) {
		octets->data[at] ^= 0x40;
		save(octets, octets->len);
		ck_assert_msg(!reads(), "octet %zu", at);
		octets->data[at] ^= 0x40;
	}
	save(octets, octets->len);
	ck_assert(reads());
	g_byte_array_unref(octets);
}
END_TEST

/* Wrong numbers with right checksums. */
START_TEST(sealed)
{
	g_autofree struct row *rows = make_rows();
	GByteArray *octets = make_file(rows, 1);
	unsigned int refused = 0;

	for (size_t at = 0; at < octets->len; at += at < 300 ? 1 : 299) {
		g_autofree uint8_t *changed = g_memdup2(octets->data, octets->len);

		for (unsigned int bit = 0; bit < 8; bit += 3) {
			changed[at] = octets->data[at] ^ (uint8_t)(1 << bit);
			if (!columns_seal(changed, octets->len))
				continue;
			fixture_file(file, changed, octets->len);
			refused += !reads();
		}
	}
	ck_assert_uint_gt(refused, 100);
	g_byte_array_unref(octets);
}
END_TEST

static void check_error(int code, const char *what)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(open_file(&error));
	ck_assert(g_error_matches(error, G_FILE_ERROR, code));
	ck_assert_msg(strstr(error->message, what) && g_str_has_prefix(error->message, file), "%s",
		      error->message);
}

START_TEST(other_files)
{
	g_autofree struct row *rows = make_rows();
	GByteArray *octets = make_file(rows, 1);

	check_error(G_FILE_ERROR_NOENT, "No such file");
	g_mkdir(file, 0700);
	check_error(G_FILE_ERROR_INVAL, "regular");
	g_rmdir(file);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	check_error(G_FILE_ERROR_INVAL, "regular"); /* without waiting for a writer */
	g_unlink(file);
	octets->data[8] = 9;
	save(octets, octets->len);
	check_error(G_FILE_ERROR_NOSYS, "version 9, expected 7");
	octets->data[0] = 'x';
	save(octets, octets->len);
	check_error(G_FILE_ERROR_FAILED, "does not begin with");
	g_byte_array_unref(octets);
}
END_TEST

/* A value that is too wide for its place. */
START_TEST(too_wide)
{
	uint32_t wide[] = {255, 256};
	uint8_t narrow[2] = {0};
	struct columns_writer *writer = columns_begin(MAGIC, 7, 0);
	struct columns_reader *reader;
	GByteArray *octets;

	for (unsigned int i = 0; i < 6; i++)
		columns_add(writer, COLUMN_OF(wide), 2);
	octets = columns_end(writer);
	save(octets, octets->len);
	g_byte_array_unref(octets);
	reader = open_file(NULL);
	ck_assert(columns_read(reader, 0, COLUMN_OF(narrow), 0, 1, NULL));
	ck_assert_uint_eq(narrow[0], 255);
	ck_assert(!columns_read(reader, 0, COLUMN_OF(narrow), 0, 2, NULL));
	columns_close(reader);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_columns");
	TCase *tcase = tcase_create("columns");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, parts, 0, 2);
	tcase_add_test(tcase, size);
	tcase_add_test(tcase, torn);
	tcase_add_test(tcase, damaged);
	tcase_add_test(tcase, sealed);
	tcase_add_test(tcase, other_files);
	tcase_add_test(tcase, too_wide);
	suite_add_tcase(suite, tcase);
	return suite;
}
