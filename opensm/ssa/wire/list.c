// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The list of a table's chunks, which is a chunk itself: n names of 16 octets, n lengths of frames
 * of 4, n numbers of rows of 4.
 */
#include <string.h>
#include <zstd.h>

#include "ssa/wire/wire_private.h"

#define PIECE_OCTETS (SSA_NAME_OCTETS + 2 * sizeof(uint32_t))

static void put_32(uint8_t *at, uint32_t value)
{
	value = ssa_32(value);
	memcpy(at, &value, sizeof(value));
}

static uint32_t get_32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return ssa_32(value);
}

GBytes *ssa_list_pack(const GArray *pieces, char name[SSA_NAME_LENGTH + 1])
{
	size_t n = pieces->len, length = n * PIECE_OCTETS;
	g_autofree uint8_t *list = g_malloc(length);
	uint8_t *lengths = list + n * SSA_NAME_OCTETS, *rows = lengths + n * sizeof(uint32_t);

	for (size_t i = 0; i < n; i++) {
		const struct ssa_piece *piece = &g_array_index(pieces, struct ssa_piece, i);

		ssa_name_scan(piece->name, list + i * SSA_NAME_OCTETS);
		put_32(lengths + i * sizeof(uint32_t), piece->length);
		put_32(rows + i * sizeof(uint32_t), piece->rows);
	}
	return ssa_chunk_pack(list, length, name);
}

/* Adds the pieces; the number of their rows. */
static uint64_t read_pieces(const uint8_t *list, size_t n, GArray *pieces)
{
	const uint8_t *lengths = list + n * SSA_NAME_OCTETS, *rows = lengths + n * sizeof(uint32_t);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		struct ssa_piece piece = {.length = get_32(lengths + i * sizeof(uint32_t)),
					  .rows = get_32(rows + i * sizeof(uint32_t))};

		ssa_name_print(list + i * SSA_NAME_OCTETS, piece.name);
		g_array_append_val(pieces, piece);
		sum += piece.rows;
	}
	return sum;
}

/* Not longer than packing can make its rows: the store would make readers fetch for nothing. */
static bool check_piece(const struct ssa_piece *piece, const struct ssa_listed *listed,
			GError **error)
{
	size_t most;

	if (piece->rows == 0 || piece->rows > SSA_CHUNK_MAX / listed->row_size)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "list %s: chunk %s of %u rows, 1 to %u are expected",
				     listed->list, piece->name, piece->rows,
				     SSA_CHUNK_MAX / listed->row_size);
	most = MIN(ZSTD_compressBound((size_t)piece->rows * listed->row_size), SSA_CHUNK_MAX);
	if (piece->length == 0 || piece->length > most)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "list %s: chunk %s of %u octets, 1 to %zu are expected",
				     listed->list, piece->name, piece->length, most);
	return true;
}

GArray *ssa_list_unpack(GBytes *frame, const struct ssa_listed *listed, GError **error)
{
	size_t max = MIN(listed->rows, SSA_CHUNK_MAX / PIECE_OCTETS) * PIECE_OCTETS, length;
	g_autoptr(GBytes) bytes = ssa_chunk_unpack(frame, listed->list, max, error);
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(struct ssa_piece));
	const uint8_t *list;
	uint64_t rows;

	if (!bytes)
		return NULL;
	list = g_bytes_get_data(bytes, &length);
	rows = read_pieces(list, length / PIECE_OCTETS, pieces);
	if (length % PIECE_OCTETS || rows != listed->rows) {
		ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
			      "list %s of %zu octets has %" G_GUINT64_FORMAT
			      " rows, %" G_GUINT64_FORMAT " are expected",
			      listed->list, length, rows, listed->rows);
		return NULL;
	}
	for (guint i = 0; i < pieces->len; i++)
		if (!check_piece(&g_array_index(pieces, struct ssa_piece, i), listed, error))
			return NULL;
	return g_steal_pointer(&pieces);
}

GArray *ssa_list_get(const struct ssa_listed *listed, ssa_get get, void *arg, GError **error)
{
	g_autoptr(GBytes) frame = get(arg, listed->list, error);

	return frame ? ssa_list_unpack(frame, listed, error) : NULL;
}

/* Adds a name unless it is there. */
static void add_name(GHashTable *seen, GPtrArray *names, const char *name)
{
	char *copy;

	if (g_hash_table_contains(seen, name))
		return;
	copy = g_strdup(name);
	g_ptr_array_add(names, copy);
	g_hash_table_add(seen, copy);
}

GPtrArray *ssa_wire_names(const struct ssa_manifest *manifest, ssa_get get, void *arg,
			  GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (unsigned int i = 0; i < manifest->n; i++) {
		const struct ssa_listed *listed = &manifest->tables[i];
		g_autoptr(GArray) pieces = NULL;

		if (!listed->rows)
			continue;
		pieces = ssa_list_get(listed, get, arg, error);
		if (!pieces) {
			g_prefix_error(error, "table %s: ", ssa_table_name(listed->id));
			return NULL;
		}
		add_name(seen, names, listed->list);
		for (guint j = 0; j < pieces->len; j++)
			add_name(seen, names, g_array_index(pieces, struct ssa_piece, j).name);
	}
	return g_steal_pointer(&names);
}
