// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Manifests and chunks, by themselves. */
#include <check.h>
#include <string.h>
#include <zstd.h>

#include "ssa/wire/wire.h"
#include "tests/run_suite.h"
#include "tests/unit/ssa_tables.h"

/* ---- manifests ---- */

static struct ssa_manifest some_manifest(void)
{
	struct ssa_manifest manifest = {.prefix = SSA_TABLES_PREFIX,
					.term = 3,
					.epoch = 44,
					.time_us = 1795910400000000,
					.sm_guid = 0x1234,
					.n = 3};

	manifest.tables[0] = (struct ssa_listed){
		.id = SSA_SUBNET, .row_size = 128, .rows = 1, .epoch = 2, .hash = {5, 6}};
	manifest.tables[1] = (struct ssa_listed){
		.id = SSA_ALIASES, .row_size = 16, .rows = 0, .epoch = 3, .hash = {7, 8}};
	manifest.tables[2] = (struct ssa_listed){
		.id = SSA_PATHS, .row_size = 777, .rows = 12, .epoch = 44, .hash = {9, 10}};
	strcpy(manifest.tables[0].list, "000102030405060708090a0b0c0d0e0f");
	strcpy(manifest.tables[2].list, "f0e1d2c3b4a5968778695a4b3c2d1e0f");
	return manifest;
}

static GBytes *some_key(const char *text)
{
	return g_bytes_new(text, strlen(text));
}

static void is_same_manifest(const struct ssa_manifest *a, const struct ssa_manifest *b)
{
	ck_assert_uint_eq(a->prefix, b->prefix);
	ck_assert_uint_eq(a->term, b->term);
	ck_assert_uint_eq(a->epoch, b->epoch);
	ck_assert_uint_eq(a->time_us, b->time_us);
	ck_assert_uint_eq(a->sm_guid, b->sm_guid);
	ck_assert_uint_eq(a->n, b->n);
	for (unsigned int i = 0; i < a->n; i++) {
		ck_assert_uint_eq(a->tables[i].id, b->tables[i].id);
		ck_assert_uint_eq(a->tables[i].row_size, b->tables[i].row_size);
		ck_assert_uint_eq(a->tables[i].rows, b->tables[i].rows);
		ck_assert_uint_eq(a->tables[i].epoch, b->tables[i].epoch);
		ck_assert_uint_eq(a->tables[i].hash[0], b->tables[i].hash[0]);
		ck_assert_uint_eq(a->tables[i].hash[1], b->tables[i].hash[1]);
		ck_assert_str_eq(a->tables[i].list, b->tables[i].list);
	}
}

/* The error of a manifest that is refused; *manifest is left alone. */
static int refused(GBytes *bytes, GBytes *key)
{
	g_autoptr(GError) error = NULL;
	struct ssa_manifest manifest = {.epoch = 99};

	ck_assert(!ssa_manifest_parse(bytes, key, &manifest, &error));
	ck_assert(error);
	ck_assert_uint_eq(manifest.epoch, 99);
	ck_assert(error->domain == SSA_WIRE_ERROR);
	return error->code;
}

START_TEST(manifest_round_trip)
{
	struct ssa_manifest manifest = some_manifest(), read;
	g_autoptr(GBytes) key = some_key("0123456789abcdef");
	g_autoptr(GBytes) plain = ssa_manifest_encode(&manifest, NULL);
	g_autoptr(GBytes) with_mac = ssa_manifest_encode(&manifest, key);

	ck_assert(ssa_manifest_parse(plain, NULL, &read, NULL));
	is_same_manifest(&manifest, &read);
	ck_assert(!read.authenticated);
	ck_assert(ssa_manifest_parse(with_mac, NULL, &read, NULL));
	is_same_manifest(&manifest, &read);
	ck_assert(!read.authenticated);
	ck_assert(ssa_manifest_parse(with_mac, key, &read, NULL));
	is_same_manifest(&manifest, &read);
	ck_assert(read.authenticated);
}
END_TEST

/* The format does not change by accident, nor with the byte order of the machine. */
START_TEST(manifest_octets)
{
	struct ssa_manifest manifest = some_manifest();
	g_autoptr(GBytes) key = some_key("0123456789abcdef");
	g_autoptr(GBytes) bytes = ssa_manifest_encode(&manifest, key);
	g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, bytes);

	ck_assert_uint_eq(g_bytes_get_size(bytes), 64 + 3 * 64 + 16 + 32);
	ck_assert_str_eq(sum, "f95b1383e3911dacf74ec604df47f6b29a0b19b224a1ad91eaaef07d9487bf25");
}
END_TEST

START_TEST(manifest_keys)
{
	struct ssa_manifest manifest = some_manifest();
	g_autoptr(GBytes) key = some_key("0123456789abcdef");
	g_autoptr(GBytes) other = some_key("0123456789abcdeF");
	g_autoptr(GBytes) shorter = some_key("0123456789abcde");
	g_autoptr(GBytes) plain = ssa_manifest_encode(&manifest, NULL);
	g_autoptr(GBytes) with_mac = ssa_manifest_encode(&manifest, key);

	ck_assert_int_eq(refused(plain, key), SSA_WIRE_ERROR_KEY);
	ck_assert_int_eq(refused(with_mac, other), SSA_WIRE_ERROR_KEY);
	ck_assert_int_eq(refused(with_mac, shorter), SSA_WIRE_ERROR_KEY);
}
END_TEST

/* Any octet that changes, any that is missing, any that is added. */
START_TEST(manifest_torn)
{
	struct ssa_manifest manifest = some_manifest();
	g_autoptr(GBytes) some = some_key("0123456789abcdef");
	GBytes *key = _i ? some : NULL;
	g_autoptr(GBytes) bytes = ssa_manifest_encode(&manifest, key);
	gsize length;
	const uint8_t *data = g_bytes_get_data(bytes, &length);
	g_autofree uint8_t *copy = g_malloc0(length + 1);

	for (size_t i = 0; i < length; i++) {
		g_autoptr(GBytes) changed = NULL, cut_off = g_bytes_new(data, i);

		memcpy(copy, data, length);
		copy[i] ^= (uint8_t)(1u << i % 8);
		changed = g_bytes_new(copy, length);
		refused(changed, key);
		refused(cut_off, key);
	}
	memcpy(copy, data, length);
	for (unsigned int n = 1; n < 256; n++) {
		g_autoptr(GBytes) longer = NULL;

		copy[length] = (uint8_t)n;
		longer = g_bytes_new(copy, length + 1);
		refused(longer, key);
	}
}
END_TEST

static void with_sum(uint8_t *data, size_t length)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	uint8_t digest[32];
	gsize n = sizeof(digest);

	g_checksum_update(sum, data, (gssize)length - 16);
	g_checksum_get_digest(sum, digest, &n);
	memcpy(data + length - 16, digest, 16);
}

/* A higher minor version may have more tables; a higher major version is another format. */
START_TEST(manifest_versions)
{
	struct ssa_manifest manifest = some_manifest(), read;
	g_autoptr(GBytes) bytes = NULL, later = NULL, other = NULL;
	g_autofree uint8_t *data = NULL;
	gsize length;

	manifest.tables[1].id = 3; /* which is not used */
	bytes = ssa_manifest_encode(&manifest, NULL);
	data = g_memdup2(g_bytes_get_data(bytes, &length), g_bytes_get_size(bytes));
	data[10] = 9; /* minor */
	with_sum(data, length);
	later = g_bytes_new(data, length);
	ck_assert(ssa_manifest_parse(later, NULL, &read, NULL));
	ck_assert_uint_eq(read.n, 2);
	ck_assert_uint_eq(read.tables[1].id, SSA_PATHS);
	data[8] = 2; /* major */
	with_sum(data, length);
	other = g_bytes_new(data, length);
	ck_assert_int_eq(refused(other, NULL), SSA_WIRE_ERROR_VERSION);
}
END_TEST

/* What contradicts itself, or is too large, though signed. */
START_TEST(manifest_limits)
{
	const struct {
		unsigned int table;
		uint32_t row_size;
		uint64_t rows;
		uint16_t id;
	} wrong[] = {
		{0, 127, 1, SSA_SUBNET},	   /* another size than rows have */
		{2, 0, 12, SSA_PATHS},		   /* no size */
		{2, (2u << 20) + 1, 1, SSA_PATHS}, /* longer than a chunk */
		{2, 1, UINT64_C(1) << 32, SSA_PATHS},
		{2, 1u << 20, 4096, SSA_PATHS}, /* 4 GB */
		{2, 1u << 20, UINT64_MAX, SSA_PATHS},
		{2, 777, 0, SSA_PATHS},	 /* a list of no rows */
		{1, 16, 1, SSA_ALIASES}, /* rows without a list */
		{2, 128, 1, SSA_SUBNET}, /* twice, and after a higher one */
		{1, 16, 0, SSA_SUBNET},
	};
	g_autoptr(GBytes) key = some_key("0123456789abcdef");

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		struct ssa_manifest manifest = some_manifest();
		struct ssa_listed *table = &manifest.tables[wrong[i].table];
		g_autoptr(GBytes) bytes = NULL;

		table->id = wrong[i].id;
		table->row_size = wrong[i].row_size;
		table->rows = wrong[i].rows;
		if (!wrong[i].rows) {
			/* The encoder writes no list for no rows: this is what a forger writes. */
			g_autoptr(GBytes) honest = ssa_manifest_encode(&manifest, NULL);
			gsize length;
			g_autofree uint8_t *data = g_memdup2(g_bytes_get_data(honest, &length),
							     g_bytes_get_size(honest));

			memset(data + 64 * (1 + wrong[i].table) + 40, 1, 16);
			with_sum(data, length);
			bytes = g_bytes_new(data, length);
			ck_assert_int_eq(refused(bytes, NULL), SSA_WIRE_ERROR_BROKEN);
			continue;
		}
		if (wrong[i].table == 1)
			memset(table->list, '0', SSA_NAME_LENGTH);
		bytes = ssa_manifest_encode(&manifest, key);
		ck_assert_int_eq(refused(bytes, key), SSA_WIRE_ERROR_BROKEN);
	}
}
END_TEST

START_TEST(manifest_order)
{
	struct ssa_manifest a = {.term = 2, .epoch = 5}, b = {.term = 2, .epoch = 6};
	struct ssa_manifest c = {.term = 3, .epoch = 1};

	ck_assert_int_lt(ssa_manifest_compare(&a, &b), 0);
	ck_assert_int_lt(ssa_manifest_compare(&b, &c), 0);
	ck_assert_int_gt(ssa_manifest_compare(&c, &a), 0);
	ck_assert_int_eq(ssa_manifest_compare(&b, &b), 0);
}
END_TEST

/* ---- chunks ---- */

static void name_frame(GBytes *frame, char name[SSA_NAME_LENGTH + 1])
{
	g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, frame);

	g_strlcpy(name, sum, SSA_NAME_LENGTH + 1);
}

START_TEST(chunk_round_trip)
{
	char text[5000], name[SSA_NAME_LENGTH + 1], again[SSA_NAME_LENGTH + 1];
	g_autoptr(GBytes) frame = NULL, same = NULL, data = NULL;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * i / 7);
	frame = ssa_chunk_pack(text, sizeof(text), name);
	same = ssa_chunk_pack(text, sizeof(text), again);
	ck_assert_str_eq(name, again);
	ck_assert(ssa_chunk_is_name(name));
	name_frame(frame, again);
	ck_assert_str_eq(name, again);
	data = ssa_chunk_unpack(frame, name, sizeof(text), NULL);
	ck_assert(data && g_bytes_get_size(data) == sizeof(text));
	ck_assert_mem_eq(g_bytes_get_data(data, NULL), text, sizeof(text));
	ck_assert_ptr_null(ssa_chunk_unpack(frame, name, sizeof(text) - 1, NULL));
}
END_TEST

START_TEST(chunk_names)
{
	ck_assert(ssa_chunk_is_name("0123456789abcdef0123456789abcdef"));
	ck_assert(!ssa_chunk_is_name("0123456789abcdef0123456789abcdeF"));
	ck_assert(!ssa_chunk_is_name("0123456789abcdef0123456789abcde"));
	ck_assert(!ssa_chunk_is_name("0123456789abcdef0123456789abcdef0"));
	ck_assert(!ssa_chunk_is_name("0123456789abcdef0123456789abcd/."));
	ck_assert(!ssa_chunk_is_name(""));
}
END_TEST

/* An octet that changes, or is missing; with the right name for it as well. */
START_TEST(chunk_torn)
{
	char text[300], name[SSA_NAME_LENGTH + 1], real[SSA_NAME_LENGTH + 1];
	g_autoptr(GBytes) frame = NULL;
	const uint8_t *data;
	gsize length;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 77 % 11);
	frame = ssa_chunk_pack(text, sizeof(text), name);
	data = g_bytes_get_data(frame, &length);
	for (size_t i = 0; i < length * 8; i++) {
		g_autofree uint8_t *copy = g_memdup2(data, length);
		g_autoptr(GBytes) changed = NULL, shorter = g_bytes_new(data, i / 8), got = NULL;

		copy[i / 8] ^= (uint8_t)(1u << i % 8);
		changed = g_bytes_new(copy, length);
		ck_assert_ptr_null(ssa_chunk_unpack(changed, name, sizeof(text), NULL));
		name_frame(changed, real);
		/* An unused bit of the frame's head may change: what is in it may not. */
		got = ssa_chunk_unpack(changed, real, sizeof(text), NULL);
		if (got) {
			ck_assert_uint_eq(g_bytes_get_size(got), sizeof(text));
			ck_assert_mem_eq(g_bytes_get_data(got, NULL), text, sizeof(text));
		}
		name_frame(shorter, real);
		ck_assert_ptr_null(ssa_chunk_unpack(shorter, real, sizeof(text), NULL));
	}
}
END_TEST

static void refuse_frame(const void *data, size_t length)
{
	g_autoptr(GBytes) frame = g_bytes_new(data, length);
	g_autoptr(GError) error = NULL;
	char name[SSA_NAME_LENGTH + 1];

	name_frame(frame, name);
	ck_assert_ptr_null(ssa_chunk_unpack(frame, name, SIZE_MAX, &error));
	ck_assert(error && error->code == SSA_WIRE_ERROR_BROKEN);
	ck_assert(strstr(error->message, name));
}

/* Frames that are correct, but not what is expected: of 64 MB, of unknown length, two, empty. */
START_TEST(chunk_unusual)
{
	const size_t huge = 64u << 20;
	g_autofree uint8_t *zeros = g_malloc0(huge);
	g_autofree uint8_t *frame = g_malloc(ZSTD_compressBound(huge));
	size_t n = ZSTD_compress(frame, ZSTD_compressBound(huge), zeros, huge, 3), one;
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = {zeros, 1000, 0};
	ZSTD_outBuffer out = {frame, 100000, 0};

	refuse_frame(frame, n);
	one = ZSTD_compress(frame, 100000, zeros, 100, 3);
	n = one + ZSTD_compress(frame + one, 100000, zeros, 100, 3);
	refuse_frame(frame, n);
	refuse_frame("", 0);
	refuse_frame("no frame", 8);
	ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
	ck_assert_uint_eq(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
	refuse_frame(frame, out.pos);
	ZSTD_freeCCtx(context);
	refuse_frame(zeros, SSA_CHUNK_MAX + 1);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_wire");
	TCase *tcase = tcase_create("manifest");

	tcase_add_test(tcase, manifest_round_trip);
	tcase_add_test(tcase, manifest_octets);
	tcase_add_test(tcase, manifest_keys);
	tcase_add_loop_test(tcase, manifest_torn, 0, 2);
	tcase_add_test(tcase, manifest_versions);
	tcase_add_test(tcase, manifest_limits);
	tcase_add_test(tcase, manifest_order);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("chunk");
	tcase_add_test(tcase, chunk_round_trip);
	tcase_add_test(tcase, chunk_names);
	tcase_add_test(tcase, chunk_torn);
	tcase_add_test(tcase, chunk_unusual);
	suite_add_tcase(suite, tcase);
	return suite;
}
