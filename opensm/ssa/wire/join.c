// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From chunks to a snapshot. First come the tables that any reader needs whole, as they tell which
 * rows of the others a host needs. Nothing is allocated before the manifest has said how large it
 * is and that has been compared with the limit; a frame must then have exactly these octets.
 */
#include <string.h>

#include "ssa/wire/wire_private.h"

struct join {
	const struct ssa_manifest *manifest;
	const struct ssa_snapshot *before; /* NULL: none */
	const struct ssa_wanted *wanted;
	ssa_get get;
	void *arg;
	struct ssa_packer *packer;
	struct ssa_made made;
	uint64_t left; /* octets that may still come */
};

struct span {
	uint64_t first, end; /* rows [first, end) */
	uint8_t *data;	     /* where they go; NULL: nowhere yet */
};

/* The rows of a table that are wanted, by ascending first, with rows between them that are not. */
struct spans {
	unsigned int n;
	struct span at[SSA_PARTS];
};

/* ---- the rows of one table ---- */

static uint64_t count_rows(const struct spans *spans)
{
	uint64_t rows = 0;

	for (unsigned int i = 0; i < spans->n; i++)
		rows += spans->at[i].end - spans->at[i].first;
	return rows;
}

static bool touches(const struct span *span, uint64_t first, uint64_t end)
{
	return first < span->end && end > span->first;
}

/* Copies what spans want of rows [first, end). */
static void hand_out(const struct spans *spans, uint64_t first, uint64_t end, uint32_t size,
		     const uint8_t *data)
{
	for (unsigned int i = 0; i < spans->n; i++) {
		const struct span *span = &spans->at[i];
		uint64_t from = MAX(first, span->first), to = MIN(end, span->end);

		if (touches(span, first, end))
			memcpy(span->data + (from - span->first) * size,
			       data + (from - first) * size, (to - from) * size);
	}
}

/* The place in a span for all rows [first, end); NULL: no span wants all of them. */
static uint8_t *place_of(const struct spans *spans, uint64_t first, uint64_t end, uint32_t size)
{
	for (unsigned int i = 0; i < spans->n; i++)
		if (first >= spans->at[i].first && end <= spans->at[i].end)
			return spans->at[i].data + (first - spans->at[i].first) * size;
	return NULL;
}

/* first: of the rows of the piece. */
static bool fetch_piece(struct join *join, const struct ssa_listed *listed,
			const struct ssa_piece *piece, uint64_t first, const struct spans *spans,
			GError **error)
{
	uint64_t end = first + piece->rows;
	uint32_t size = listed->row_size;
	uint8_t *place = place_of(spans, first, end, size);
	g_autoptr(GBytes) frame = join->get(join->arg, piece->name, error);
	g_autofree uint8_t *all = NULL;

	if (!frame)
		return false;
	if (g_bytes_get_size(frame) != piece->length)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "chunk %s of %zu octets, %u are expected", piece->name,
				     g_bytes_get_size(frame), piece->length);
	if (!place)
		place = all = g_malloc((size_t)piece->rows * size);
	if (!ssa_unpack_rows(join->packer, frame, piece->name, place, size, piece->rows, error))
		return false;
	if (all)
		hand_out(spans, first, end, size, all);
	return true;
}

static bool fetch(struct join *join, const struct ssa_listed *listed, const struct spans *spans,
		  GError **error)
{
	g_autoptr(GArray) pieces = ssa_list_get(listed, join->get, join->arg, error);
	uint64_t first = 0;

	if (!pieces)
		return false;
	for (guint i = 0; i < pieces->len; i++) {
		const struct ssa_piece *piece = &g_array_index(pieces, struct ssa_piece, i);
		bool wanted = false;

		for (unsigned int n = 0; n < spans->n; n++)
			wanted |= touches(&spans->at[n], first, first + piece->rows);
		if (wanted && !fetch_piece(join, listed, piece, first, spans, error))
			return false;
		first += piece->rows;
	}
	return true;
}

static void set_part(struct ssa_rows *rows, unsigned int i, uint64_t first, GBytes *bytes)
{
	if (i) {
		rows->more[i - 1].bytes = bytes;
		rows->more[i - 1].first = first;
	} else {
		rows->bytes = bytes;
		rows->first = first;
	}
}

/* Rows of the snapshot before; NULL: not all of them are there. */
static GBytes *part_before(const struct join *join, const struct ssa_table *table,
			   const struct span *span)
{
	const uint8_t *start = g_bytes_get_data(join->before->bytes, NULL);

	for (unsigned int i = 0; i < table->n_parts; i++) {
		const struct ssa_part *part = &table->parts[i];
		size_t offset = (size_t)(part->data - start);

		if (span->first >= part->first && span->end <= part->first + part->here)
			return g_bytes_new_from_bytes(join->before->bytes,
						      offset + (span->first - part->first) *
								       table->row_size,
						      (span->end - span->first) * table->row_size);
	}
	return NULL;
}

/* Takes the rows from the snapshot before, if they are there and the table has not changed. */
static bool take_before(const struct join *join, const struct ssa_listed *listed,
			const struct spans *spans, struct ssa_rows *rows)
{
	const struct ssa_table *table = join->before ? &join->before->tables[listed->id] : NULL;

	if (!table || table->row_size != listed->row_size || table->rows != listed->rows ||
	    table->hash[0] != listed->hash[0] || table->hash[1] != listed->hash[1])
		return false;
	for (unsigned int i = 0; i < spans->n; i++) {
		GBytes *bytes = part_before(join, table, &spans->at[i]);

		if (!bytes)
			return false;
		set_part(rows, i, spans->at[i].first, bytes);
	}
	return spans->n > 0;
}

static bool take_fetched(struct join *join, const struct ssa_listed *listed, struct spans *spans,
			 struct ssa_rows *rows, GError **error)
{
	for (unsigned int i = 0; i < spans->n; i++) {
		struct span *span = &spans->at[i];
		size_t length = (span->end - span->first) * listed->row_size;

		span->data = g_try_malloc(length);
		if (!span->data)
			return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
					     "no memory for %zu octets", length);
		set_part(rows, i, span->first, g_bytes_new_take(span->data, length));
	}
	if (!spans->n)
		set_part(rows, 0, 0, g_bytes_new(NULL, 0));
	return !spans->n || fetch(join, listed, spans, error);
}

/* Whether a table that is here as a whole has the hash that the manifest says. */
static bool check_hash(const struct ssa_rows *rows, GError **error)
{
	struct ssa_rows real = *rows;

	ssa_rows_hash(&real);
	if (real.hash[0] != rows->hash[0] || real.hash[1] != rows->hash[1])
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "its rows do not have the hash that the manifest says");
	return true;
}

static void clear_parts(struct ssa_rows *rows)
{
	g_clear_pointer(&rows->bytes, g_bytes_unref);
	for (unsigned int i = 0; i < G_N_ELEMENTS(rows->more); i++)
		g_clear_pointer(&rows->more[i].bytes, g_bytes_unref);
}

static bool take_rows(struct join *join, const struct ssa_listed *listed, struct spans *spans,
		      GError **error)
{
	struct ssa_rows *rows = &join->made.rows[listed->id];
	uint64_t n = count_rows(spans), octets = n * listed->row_size;

	if (!ssa_listed_check(listed, error))
		return false;
	if (octets > join->left)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "%" G_GUINT64_FORMAT " octets, at most %" G_GUINT64_FORMAT
				     " more are expected",
				     octets, join->left);
	join->left -= octets;
	*rows = (struct ssa_rows){.row_size = listed->row_size,
				  .rows = listed->rows,
				  .epoch = listed->epoch,
				  .hash = {listed->hash[0], listed->hash[1]}};
	if (take_before(join, listed, spans, rows))
		return true;
	clear_parts(rows);
	return take_fetched(join, listed, spans, rows, error) &&
	       (n != listed->rows || check_hash(rows, error));
}

/* ---- what a host needs ---- */

static bool is_by_row(unsigned int id)
{
	return id == SSA_PATHS || id == SSA_REACH || id == SSA_LANES;
}

static bool is_address(unsigned int id)
{
	return id == SSA_NAMES || id == SSA_IPV4 || id == SSA_IPV6;
}

/* Rows of a table that is here as a whole. */
static const void *whole_rows(const struct join *join, unsigned int id, uint64_t *n)
{
	const struct ssa_rows *rows = &join->made.rows[id];

	*n = rows->bytes ? rows->rows : 0;
	return rows->bytes ? g_bytes_get_data(rows->bytes, NULL) : NULL;
}

static void remove_span(struct spans *spans, unsigned int i)
{
	spans->n--;
	memmove(&spans->at[i], &spans->at[i + 1], (spans->n - i) * sizeof(spans->at[0]));
}

/* Makes the spans include [first, end), as far as the table has these rows. */
static void include(struct spans *spans, uint64_t first, uint64_t end, uint64_t rows)
{
	unsigned int i = 0;

	end = MIN(end, rows);
	if (first >= end)
		return;
	while (i < spans->n && spans->at[i].end < first)
		i++;
	/* A host that has more ports than spans is none: it gets the rows between them as well. */
	if (i == SSA_PARTS)
		i--;
	while (i < spans->n && (spans->at[i].first <= end || spans->n == SSA_PARTS)) {
		first = MIN(first, spans->at[i].first);
		end = MAX(end, spans->at[i].end);
		remove_span(spans, i);
	}
	memmove(&spans->at[i + 1], &spans->at[i], (spans->n - i) * sizeof(spans->at[0]));
	spans->at[i] = (struct span){first, end, NULL};
	spans->n++;
}

/* The rows of the switch to which the port is cabled, or of its LIDs. */
static void include_port(const struct join *join, const struct ssa_listed *listed,
			 const struct ssa_endport *port, struct spans *spans)
{
	uint64_t n, sw = ssa_32(port->sw), lid = ssa_16(port->lid), row;
	const struct ssa_switch *switches = whole_rows(join, SSA_SWITCHES, &n);

	if (listed->id == SSA_REACH) {
		if (lid)
			include(spans, lid, lid + (UINT64_C(1) << MIN(port->lmc, 7)), listed->rows);
	} else if (sw < n) {
		row = ssa_32(switches[sw].row);
		include(spans, row, row + 1, listed->rows); /* SSA_NONE is beyond the rows */
	}
}

static bool is_wanted(const struct ssa_wanted *wanted, uint64_t guid)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(wanted->guids) && wanted->guids[i]; i++)
		if (wanted->guids[i] == guid)
			return true;
	return false;
}

/* ENDPORTS may be in any order: nothing has been checked yet. */
static void find_spans(const struct join *join, const struct ssa_listed *listed,
		       struct spans *spans)
{
	uint64_t n;
	const struct ssa_endport *ports = whole_rows(join, SSA_ENDPORTS, &n);

	for (uint64_t i = 0; i < n; i++)
		if (is_wanted(join->wanted, ssa_64(ports[i].guid)))
			include_port(join, listed, &ports[i], spans);
}

static bool take_tables(struct join *join, bool by_row, GError **error)
{
	const struct ssa_wanted *wanted = join->wanted;

	for (unsigned int i = 0; i < join->manifest->n; i++) {
		const struct ssa_listed *listed = &join->manifest->tables[i];
		bool all = !by_row || wanted->whole;
		struct spans spans = {0};

		if (is_by_row(listed->id) != by_row ||
		    (!wanted->whole && !wanted->addresses && is_address(listed->id)))
			continue;
		if (all)
			include(&spans, 0, listed->rows, listed->rows);
		else
			find_spans(join, listed, &spans);
		if (!take_rows(join, listed, &spans, error)) {
			g_prefix_error(error, "table %s: ", ssa_table_name(listed->id));
			return false;
		}
	}
	return true;
}

struct ssa_snapshot *ssa_wire_join(const struct ssa_manifest *manifest,
				   const struct ssa_snapshot *before,
				   const struct ssa_wanted *wanted, ssa_get get, void *arg,
				   GError **error)
{
	struct join join = {
		.manifest = manifest,
		.before = before && before->prefix == manifest->prefix ? before : NULL,
		.wanted = wanted,
		.get = get,
		.arg = arg,
		.packer = ssa_packer_new(),
		.made = {.prefix = manifest->prefix,
			 .term = manifest->term,
			 .epoch = manifest->epoch,
			 .time_us = manifest->time_us,
			 .sm_guid = manifest->sm_guid},
		.left = wanted->limit	? wanted->limit
			: wanted->whole ? SSA_WHOLE_MAX
					: SSA_HOST_MAX,
	};
	struct ssa_snapshot *snapshot = NULL;

	if (take_tables(&join, false, error) && take_tables(&join, true, error)) {
		g_autoptr(GBytes) bytes = ssa_made_bytes(&join.made);

		snapshot = ssa_snapshot_open(bytes, error);
	}
	ssa_made_clear(&join.made);
	ssa_packer_free(join.packer);
	return snapshot;
}
