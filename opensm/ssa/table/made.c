// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* From tables to the octets of a snapshot. */
#include <string.h>
#include <xxhash.h>

#include "ssa/table/snapshot.h"

void ssa_rows_hash(struct ssa_rows *rows)
{
	gsize length = 0;
	const void *data = rows->bytes ? g_bytes_get_data(rows->bytes, &length) : NULL;
	XXH128_hash_t hash = XXH3_128bits(data, length);

	rows->hash[0] = hash.low64;
	rows->hash[1] = hash.high64;
}

static uint64_t to_page(uint64_t offset)
{
	return (offset + SSA_PAGE - 1) / SSA_PAGE * SSA_PAGE;
}

/* The directory and the octets that its entries are about. */
struct directory {
	unsigned int n;
	struct ssa_entry entries[SSA_MAX_TABLES];
	GBytes *bytes[SSA_MAX_TABLES];
	uint64_t length; /* of the snapshot */
};

static void add_entry(struct directory *directory, unsigned int id, const struct ssa_rows *rows,
		      GBytes *bytes, uint64_t first)
{
	directory->bytes[directory->n] = bytes;
	directory->entries[directory->n++] = (struct ssa_entry){
		.id = GUINT16_TO_LE(id),
		.row_size = GUINT32_TO_LE(rows->row_size),
		.rows = GUINT64_TO_LE(rows->rows),
		.first = GUINT64_TO_LE(first),
		.here = GUINT64_TO_LE(g_bytes_get_size(bytes) / rows->row_size),
		.offset = GUINT64_TO_LE(directory->length),
		.epoch = GUINT64_TO_LE(rows->epoch),
		.hash = {GUINT64_TO_LE(rows->hash[0]), GUINT64_TO_LE(rows->hash[1])},
	};
	directory->length = to_page(directory->length + g_bytes_get_size(bytes));
}

static void add_table(struct directory *directory, unsigned int id, const struct ssa_rows *rows)
{
	if (!rows->bytes)
		return;
	add_entry(directory, id, rows, rows->bytes, rows->first);
	for (unsigned int i = 0; i < G_N_ELEMENTS(rows->more) && rows->more[i].bytes; i++)
		add_entry(directory, id, rows, rows->more[i].bytes, rows->more[i].first);
}

GBytes *ssa_made_bytes(const struct ssa_made *made)
{
	struct ssa_header header = {
		.magic = SSA_MAGIC,
		.major = GUINT16_TO_LE(SSA_MAJOR),
		.minor = GUINT16_TO_LE(SSA_MINOR),
		.prefix = GUINT64_TO_LE(made->prefix),
		.term = GUINT64_TO_LE(made->term),
		.epoch = GUINT64_TO_LE(made->epoch),
		.time_us = GUINT64_TO_LE(made->time_us),
		.sm_guid = GUINT64_TO_LE(made->sm_guid),
	};
	struct directory directory = {.length = SSA_PAGE};
	uint8_t *data;

	for (unsigned int id = 0; id < SSA_TABLE_END; id++)
		add_table(&directory, id, &made->rows[id]);
	header.n_tables = GUINT32_TO_LE(directory.n);
	header.length = GUINT64_TO_LE(directory.length);
	data = g_malloc0(directory.length);
	memcpy(data, &header, sizeof(header));
	memcpy(data + sizeof(header), directory.entries, directory.n * sizeof(struct ssa_entry));
	for (unsigned int i = 0; i < directory.n; i++) {
		gsize size;
		const void *from = g_bytes_get_data(directory.bytes[i], &size);

		if (size)
			memcpy(data + ssa_64(directory.entries[i].offset), from, size);
	}
	return g_bytes_new_take(data, directory.length);
}

void ssa_made_clear(struct ssa_made *made)
{
	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		struct ssa_rows *rows = &made->rows[id];

		g_clear_pointer(&rows->bytes, g_bytes_unref);
		for (unsigned int i = 0; i < G_N_ELEMENTS(rows->more); i++)
			g_clear_pointer(&rows->more[i].bytes, g_bytes_unref);
	}
}
