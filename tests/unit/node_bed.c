// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/node_bed.h"

#include <check.h>
#include <string.h>

#include "tests/directory.h"
#include "tests/unit/ssa_bed.h"

const struct ssa_size node_bed_size = {
	.leaves = 12, .spines = 4, .hosts = 8, .classes = 4, .addresses = 50, .lanes = true};

void node_bed_begin(struct node_bed *bed, const char *key)
{
	*bed = (struct node_bed){.directory = bed_directory()};
	bed->uri = g_strdup_printf("files:%s/store", bed->directory);
	bed->key = key ? g_bytes_new(key, strlen(key)) : NULL;
	ssa_tables_make(&bed->made, &node_bed_size, 7);
}

void node_bed_end(struct node_bed *bed)
{
	ssa_made_clear(&bed->made);
	directory_remove(bed->directory);
	g_free(bed->directory);
	g_free(bed->uri);
	if (bed->key)
		g_bytes_unref(bed->key);
}

struct ssa_store *node_bed_store(const char *uri, bool writes)
{
	const struct ssa_store_options options = {.more = &ssa_store_redis, .writes = writes};
	GError *error = NULL;
	struct ssa_store *store = ssa_store_open(uri, SSA_TABLES_PREFIX, &options, &error);

	ck_assert_msg(store != NULL, "%s", error ? error->message : "no error");
	return store;
}

static bool put(void *store, const char *name, GBytes *frame, GError **error)
{
	return ssa_store_put(store, name, frame, error);
}

static GBytes *get(void *store, const char *name, GError **error)
{
	return ssa_store_get(store, name, error);
}

void node_bed_publish(struct node_bed *bed, const char *uri, uint64_t term, uint64_t epoch)
{
	struct ssa_store *store = node_bed_store(uri, true);
	GError *error = NULL;
	g_autoptr(GPtrArray) names = NULL;
	g_autoptr(GBytes) bytes = NULL;

	bed->made.term = term;
	bed->made.epoch = epoch;
	ck_assert(ssa_wire_cut(&bed->made, NULL, put, store, &bed->last, &error));
	names = ssa_wire_names(&bed->last, get, store, &error);
	ck_assert_ptr_nonnull(names);
	bytes = ssa_manifest_encode(&bed->last, bed->key);
	ck_assert_msg(ssa_store_publish(store, bytes, term, epoch,
					(const char *const *)names->pdata, names->len, &error),
		      "%s", error ? error->message : "no error");
	ssa_store_close(store);
}

void node_bed_change(struct node_bed *bed, enum ssa_table_id id, uint32_t row)
{
	const struct ssa_rows *rows = &bed->made.rows[id];
	gsize length;
	const uint8_t *old = g_bytes_get_data(rows->bytes, &length);
	uint8_t *new = g_memdup2(old, length);

	/* Of ways, lanes and verdicts any value of these is one. */
	new[(gsize)row * rows->row_size] ^= 1;
	ssa_tables_replace(&bed->made, id, g_bytes_new_take(new, length));
}
