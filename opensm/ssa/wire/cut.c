// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From tables to chunks. Where a table is cut is told by its rows alone, so that SMs that see the
 * same subnet make the same chunks.
 *
 * Of a table by switch or LID, a host fetches one chunk, and the list: each chunk has an equal
 * number of rows. Fewer rows make the chunk shorter and the list longer. With 1,458 leaves and
 * 43,008 LIDs, 2 % of the ports and .2 % of the trunks slower (measured, KB; all: all chunks):
 *
 *    rows a chunk      1     4     8    16    24    32    64
 *    PATHS: a host    37    11   7.1   5.4   5.2   5.1   6.3
 *           all     2886   921   500   294   227   182   131
 *    LANES: a host    36    11   9.6    12    16    21    41    any of 8 SLs
 *                     35   9.1   5.0   3.4   3.2   3.4   5.2    one of them nearly everywhere
 *
 * The other tables are fetched as a whole. A row that is put in or taken out must not move all cuts
 * after it, so these are where a hash of the row says so.
 */
#include <string.h>
#include <xxhash.h>

#include "ssa/wire/wire_private.h"

#define PATHS_ROWS 32
#define LANES_ROWS 16
#define REACH_ROWS 512
#define CUT_OCTETS 32768u /* between two cuts by content, on average */

/* Rows of a chunk of a table of which hosts need some rows only; 0: they need all. */
static uint32_t rows_by_table(unsigned int id)
{
	switch (id) {
	case SSA_PATHS:
		return PATHS_ROWS;
	case SSA_LANES:
		return LANES_ROWS;
	case SSA_REACH:
		return REACH_ROWS;
	default:
		return 0;
	}
}

/* Octets of a row; of a table of texts, of one text. */
static size_t item_size(const uint8_t *data, size_t left, uint32_t row_size)
{
	const uint8_t *end = row_size == 1 ? memchr(data, '\0', left) : NULL;

	if (row_size > 1)
		return row_size;
	return end ? (size_t)(end - data) + 1 : left;
}

static bool is_cut(const uint8_t *item, size_t length)
{
	return XXH3_64bits(item, length) / length < UINT64_MAX / CUT_OCTETS;
}

/* Octets up to the next cut of a table that is cut by content. */
static size_t next_by_content(const uint8_t *data, size_t left, uint32_t row_size)
{
	size_t max = MIN(left, MAX(CUT_OCTETS * 4 / row_size, 1) * row_size), n = 0;

	while (n < max) {
		size_t length = item_size(data + n, max - n, row_size);

		n += length;
		if (n >= CUT_OCTETS / 4 && is_cut(data + n - length, length))
			break;
	}
	return n;
}

/* Rows of the next chunk. */
static size_t next_rows(unsigned int id, const uint8_t *data, size_t left, uint32_t row_size)
{
	uint32_t rows = rows_by_table(id);

	if (!rows)
		return next_by_content(data, left, row_size) / row_size;
	rows = MIN(rows, SSA_CHUNK_RAW / row_size);
	return MIN(rows, left / row_size);
}

/* The chunks of a table, and then its list. */
static bool cut_table(struct ssa_packer *packer, const struct ssa_rows *rows, ssa_put put,
		      void *arg, struct ssa_listed *listed, GError **error)
{
	size_t left;
	const uint8_t *data = g_bytes_get_data(rows->bytes, &left);
	g_autoptr(GArray) pieces = g_array_new(FALSE, TRUE, sizeof(struct ssa_piece));
	g_autoptr(GBytes) list = NULL;

	while (left) {
		size_t n = next_rows(listed->id, data, left, rows->row_size);
		struct ssa_piece piece = {.rows = (uint32_t)n};
		g_autoptr(GBytes) frame =
			ssa_packer_rows(packer, data, rows->row_size, n, piece.name);

		piece.length = (uint32_t)g_bytes_get_size(frame);
		g_array_append_val(pieces, piece);
		if (!put(arg, piece.name, frame, error))
			return false;
		data += n * rows->row_size;
		left -= n * rows->row_size;
	}
	list = ssa_list_pack(pieces, listed->list);
	if (g_bytes_get_size(list) > SSA_CHUNK_MAX)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN, "too many chunks: %u",
				     pieces->len);
	return put(arg, listed->list, list, error);
}

static const struct ssa_listed *find(const struct ssa_manifest *manifest, unsigned int id)
{
	for (unsigned int i = 0; i < manifest->n; i++)
		if (manifest->tables[i].id == id)
			return &manifest->tables[i];
	return NULL;
}

static bool is_same(const struct ssa_listed *before, const struct ssa_listed *now)
{
	return before && before->row_size == now->row_size && before->rows == now->rows &&
	       before->hash[0] == now->hash[0] && before->hash[1] == now->hash[1];
}

static bool check_rows(const struct ssa_rows *rows, GError **error)
{
	if (rows->first || rows->rows * rows->row_size != g_bytes_get_size(rows->bytes))
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "%" G_GUINT64_FORMAT " rows of %u octets in %zu octets, whole "
				     "tables are expected",
				     rows->rows, rows->row_size, g_bytes_get_size(rows->bytes));
	return true;
}

static bool list_table(struct ssa_packer *packer, const struct ssa_rows *made,
		       const struct ssa_listed *before, ssa_put put, void *arg,
		       struct ssa_listed *listed, GError **error)
{
	struct ssa_rows rows = *made;

	listed->row_size = rows.row_size;
	listed->rows = rows.rows;
	if (!ssa_listed_check(listed, error) || !check_rows(&rows, error))
		return false;
	if (!rows.hash[0] && !rows.hash[1])
		ssa_rows_hash(&rows);
	memcpy(listed->hash, rows.hash, sizeof(listed->hash));
	if (is_same(before, listed)) {
		*listed = *before;
		return true;
	}
	return rows.rows == 0 || cut_table(packer, &rows, put, arg, listed, error);
}

bool ssa_wire_cut(const struct ssa_made *made, const struct ssa_manifest *before, ssa_put put,
		  void *arg, struct ssa_manifest *manifest, GError **error)
{
	struct ssa_packer *packer = ssa_packer_new();
	bool done = true;

	if (before && before->prefix != made->prefix)
		before = NULL;
	*manifest = (struct ssa_manifest){
		.prefix = made->prefix,
		.term = made->term,
		.epoch = made->epoch,
		.time_us = made->time_us,
		.sm_guid = made->sm_guid,
	};
	for (unsigned int id = 1; done && id < SSA_TABLE_END; id++) {
		struct ssa_listed *listed = &manifest->tables[manifest->n];

		if (!made->rows[id].bytes)
			continue;
		manifest->n++;
		listed->id = (uint16_t)id;
		listed->epoch = made->epoch;
		done = list_table(packer, &made->rows[id], before ? find(before, id) : NULL, put,
				  arg, listed, error);
		if (!done)
			g_prefix_error(error, "table %s: ", ssa_table_name(id));
	}
	ssa_packer_free(packer);
	return done;
}
