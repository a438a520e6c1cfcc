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

static struct ssa_entry entry_of(unsigned int id, const struct ssa_rows *rows, uint64_t offset)
{
	return (struct ssa_entry){
		.id = GUINT16_TO_LE(id),
		.row_size = GUINT32_TO_LE(rows->row_size),
		.rows = GUINT64_TO_LE(rows->rows),
		.first = GUINT64_TO_LE(rows->first),
		.here = GUINT64_TO_LE(g_bytes_get_size(rows->bytes) / rows->row_size),
		.offset = GUINT64_TO_LE(offset),
		.epoch = GUINT64_TO_LE(rows->epoch),
		.hash = {GUINT64_TO_LE(rows->hash[0]), GUINT64_TO_LE(rows->hash[1])},
	};
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
	struct ssa_entry entries[SSA_TABLE_END] = {0};
	uint64_t length = SSA_PAGE;
	unsigned int n = 0;
	uint8_t *data;

	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		if (!made->rows[id].bytes)
			continue;
		entries[n++] = entry_of(id, &made->rows[id], length);
		length = to_page(length + g_bytes_get_size(made->rows[id].bytes));
	}
	header.n_tables = GUINT32_TO_LE(n);
	header.length = GUINT64_TO_LE(length);
	data = g_malloc0(length);
	memcpy(data, &header, sizeof(header));
	memcpy(data + sizeof(header), entries, n * sizeof(entries[0]));
	for (unsigned int i = 0; i < n; i++) {
		GBytes *bytes = made->rows[ssa_16(entries[i].id)].bytes;
		gsize size;
		const void *from = g_bytes_get_data(bytes, &size);

		if (size)
			memcpy(data + ssa_64(entries[i].offset), from, size);
	}
	return g_bytes_new_take(data, length);
}

void ssa_made_clear(struct ssa_made *made)
{
	for (unsigned int id = 0; id < SSA_TABLE_END; id++)
		g_clear_pointer(&made->rows[id].bytes, g_bytes_unref);
}
