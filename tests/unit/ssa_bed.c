// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/ssa_bed.h"

#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/directory.h"

static struct redis_server *shared; /* by all beds, each with another prefix */
static int64_t ahead_us;	    /* of the clock of this process */

/* Instead of GLib's. */
gint64 g_get_real_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000 + ahead_us;
}

void bed_later(unsigned int seconds)
{
	ahead_us += seconds * G_USEC_PER_SEC;
}

void bed_begin(void)
{
	if (bed_kinds() > BED_REDIS)
		shared = redis_server_start(0, NULL);
}

void bed_finish(void)
{
	redis_server_free(shared);
	shared = NULL;
}

int bed_kinds(void)
{
#ifdef HAVE_REDIS
	return redis_server_installed() ? BED_KINDS : BED_REDIS;
#else
	return BED_REDIS;
#endif
}

char *bed_directory(void)
{
	g_autofree char *in_memory = g_strdup("/dev/shm/ssa-store-XXXXXX");
	char *directory = g_mkdtemp(in_memory) ? g_steal_pointer(&in_memory)
					       : g_dir_make_tmp("ssa-store-XXXXXX", NULL);

	ck_assert_ptr_nonnull(directory);
	return directory;
}

struct ssa_store *bed_store(const struct bed *bed, bool writes, unsigned int keep_s)
{
	const struct ssa_store_options options = {
		.more = &ssa_store_redis, .keep_s = keep_s, .writes = writes};
	GError *error = NULL;
	struct ssa_store *store = ssa_store_open(bed->uri, bed->prefix, &options, &error);

	ck_assert_msg(store != NULL, "%s", error ? error->message : "no error");
	return store;
}

struct bed *bed_open(int kind, unsigned int keep_s)
{
	struct bed *bed = g_new0(struct bed, 1);

	ahead_us = 0;
	bed->kind = (enum bed_kind)kind;
	bed->directory = bed_directory();
	bed->uri = kind == BED_FILES ? g_strdup_printf("files:%s/store", bed->directory)
				     : g_strdup_printf("redis://127.0.0.1:%u", shared->port);
	bed->prefix = (uint64_t)getpid() << 32 | g_random_int();
	bed->writer = bed_store(bed, true, keep_s);
	bed->reader = bed_store(bed, false, keep_s);
	return bed;
}

void bed_close(struct bed *bed)
{
	ssa_store_close(bed->writer);
	ssa_store_close(bed->reader);
	directory_remove(bed->directory);
	g_free(bed->directory);
	g_free(bed->uri);
	g_free(bed);
}

static unsigned int files_below(const char *path)
{
	GDir *directory = g_dir_open(path, 0, NULL);
	unsigned int n = 0;
	const char *name;

	while (directory && (name = g_dir_read_name(directory))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		n += g_file_test(child, G_FILE_TEST_IS_DIR) ? files_below(child) : 1;
	}
	if (directory)
		g_dir_close(directory);
	return n;
}

unsigned int bed_chunks(const struct bed *bed)
{
	g_autofree char *path = g_build_filename(bed->directory, "store", "chunks", NULL);
	g_autofree char *lines = NULL, *answer = NULL;
	unsigned int n = 0;

	if (bed->kind == BED_FILES)
		return files_below(path);
	lines = g_strdup_printf("KEYS opensm:ssa:%016" G_GINT64_MODIFIER "x:c:*\r\nQUIT\r\n",
				bed->prefix);
	answer = redis_server_ask(shared->port, lines, 5000);
	ck_assert_int_eq(sscanf(answer, "*%u", &n), 1);
	return n;
}

const char *bed_name(unsigned int chunk)
{
	static __thread char name[SSA_NAME_LENGTH + 1];
	g_autofree char *text = g_strdup_printf("%u", chunk);
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

	g_strlcpy(name, sum, sizeof(name));
	return name;
}

/* From 100 to about 2,000 octets. */
GBytes *bed_frame(unsigned int chunk)
{
	GString *octets = g_string_new(NULL);
	unsigned int lines = 3 + chunk * 7 % 50;

	for (unsigned int i = 0; i < lines; i++)
		g_string_append_printf(octets, "%s %u%c", bed_name(chunk), i, 0);
	return g_string_free_to_bytes(octets);
}

bool bed_try_publish(struct ssa_store *store, uint64_t term, uint64_t epoch, unsigned int first,
		     unsigned int n, GError **error)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %u %u",
						term, epoch, first, n);
	g_autoptr(GBytes) manifest = g_bytes_new(text, strlen(text));
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

	for (unsigned int i = first; i < first + n; i++) {
		g_autoptr(GBytes) frame = bed_frame(i);

		if (!ssa_store_put(store, bed_name(i), frame, error))
			return false;
		g_ptr_array_add(names, g_strdup(bed_name(i)));
	}
	return ssa_store_publish(store, manifest, term, epoch, (const char *const *)names->pdata, n,
				 error);
}

void bed_publish(struct ssa_store *store, uint64_t term, uint64_t epoch, unsigned int first,
		 unsigned int n)
{
	GError *error = NULL;

	ck_assert_msg(bed_try_publish(store, term, epoch, first, n, &error), "%s",
		      error ? error->message : "no error");
}

/* False: the store has none. */
static bool read_manifest(struct ssa_store *store, uint64_t *epoch, unsigned int *first,
			  unsigned int *n)
{
	GError *error = NULL;
	g_autoptr(GBytes) manifest = ssa_store_manifest(store, &error);
	g_autofree char *text = NULL;

	if (g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT)) {
		g_error_free(error);
		return false;
	}
	ck_assert_msg(manifest != NULL, "%s", error ? error->message : "no error");
	text = g_strndup(g_bytes_get_data(manifest, NULL), g_bytes_get_size(manifest));
	ck_assert_msg(sscanf(text, "%*u %" G_GINT64_MODIFIER "u %u %u", epoch, first, n) == 3,
		      "torn manifest: '%s'", text);
	return true;
}

uint64_t bed_epoch(struct ssa_store *store)
{
	unsigned int first, n;
	uint64_t epoch;

	return read_manifest(store, &epoch, &first, &n) ? epoch : 0;
}

uint64_t bed_read(struct ssa_store *store)
{
	unsigned int first, n;
	uint64_t epoch;

	if (!read_manifest(store, &epoch, &first, &n))
		return 0;
	for (unsigned int i = first; i < first + n; i++) {
		GError *error = NULL;
		g_autoptr(GBytes) frame = ssa_store_get(store, bed_name(i), &error);
		g_autoptr(GBytes) right = bed_frame(i);

		ck_assert_msg(frame != NULL, "%s", error ? error->message : "no error");
		ck_assert_msg(g_bytes_equal(frame, right), "chunk %u is torn", i);
	}
	return epoch;
}

void bed_expect(GError **error, enum ssa_store_error code, const char *text)
{
	ck_assert_msg(*error != NULL, "no error, expected '%s'", text);
	ck_assert_msg(g_error_matches(*error, SSA_STORE_ERROR, (int)code),
		      "error %d, expected %d: %s", (*error)->code, (int)code, (*error)->message);
	ck_assert_msg(strstr((*error)->message, text) != NULL, "'%s', expected '%s' in it",
		      (*error)->message, text);
	g_clear_error(error);
}
