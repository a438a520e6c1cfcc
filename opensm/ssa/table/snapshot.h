// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A snapshot: the tables of one epoch. Immutable and reference counted; any thread may read it.
 * What a reader opens comes from outside and is not believed: all that could lead a look-up out of
 * a table is checked once, so that look-ups need no checks.
 */
#ifndef SSA_TABLE_SNAPSHOT_H
#define SSA_TABLE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "complib/handoff.h"
#include "ssa/table/layout.h"

struct ssa_part { /* of a table */
	const uint8_t *data; /* rows [first, first + here) */
	uint64_t first, here;
};

struct ssa_table {
	const uint8_t *data; /* of a table that is whole: its rows */
	uint32_t row_size;
	uint64_t rows;
	uint64_t epoch;
	uint64_t hash[2];
	unsigned int n_parts;
	struct ssa_part parts[SSA_PARTS];
};

struct ssa_snapshot {
	struct ref ref;
	GBytes *bytes;
	uint64_t prefix, term, epoch, time_us, sm_guid;
	struct ssa_table tables[SSA_TABLE_END]; /* by id; a table that is absent has no rows */
	/* Typed starts of the tables that are always whole. */
	const struct ssa_subnet *subnet;
	const struct ssa_endport *endports;
	const struct ssa_switch *switches;
	uint32_t n_endports, n_switches;
	uint32_t *lid_endport; /* [SSA_LIDS]: the owner of a LID; SSA_NONE */
};

#define SSA_SNAPSHOT_ERROR ssa_snapshot_error_quark()
GQuark ssa_snapshot_error_quark(void);
enum ssa_snapshot_error {
	SSA_SNAPSHOT_ERROR_BROKEN,  /* not a snapshot, torn, or it contradicts itself */
	SSA_SNAPSHOT_ERROR_VERSION, /* of a format that this program does not know */
};

/* Checks everything; NULL and an error that says which table and row is wrong. */
struct ssa_snapshot *ssa_snapshot_open(GBytes *bytes, GError **error);
/* Maps a file. */
struct ssa_snapshot *ssa_snapshot_map(const char *file, GError **error);
struct ssa_snapshot *ssa_snapshot_ref(struct ssa_snapshot *snapshot);
void ssa_snapshot_unref(struct ssa_snapshot *snapshot); /* NULL is fine */

/* Row of a table by its number in the whole table; NULL: it is not here. */
const void *ssa_snapshot_row(const struct ssa_snapshot *snapshot, enum ssa_table_id id,
			     uint64_t row);

/* The name of a table, as in texts: "PATHS". NULL: unknown. */
const char *ssa_table_name(unsigned int id);
/* Octets of a row; 0: it depends on the subnet, or the table is unknown. */
uint32_t ssa_table_row_size(unsigned int id);

/* ---- making one ---- */

/*
 * The rows of a table that is being put together. A table that is whole has bytes for all its rows;
 * of another one, these are rows from first on, and more has further ones, by ascending first.
 */
struct ssa_rows {
	GBytes *bytes; /* NULL: the table is absent */
	uint32_t row_size;
	uint64_t rows, first;
	struct {
		GBytes *bytes;
		uint64_t first;
	} more[SSA_PARTS - 1]; /* bytes NULL: no more */
	uint64_t epoch;
	uint64_t hash[2]; /* of the whole table */
};

struct ssa_made {
	uint64_t prefix, term, epoch, time_us, sm_guid;
	struct ssa_rows rows[SSA_TABLE_END];
};

/* Hashes a whole table. */
void ssa_rows_hash(struct ssa_rows *rows);
/* The octets of a snapshot. Rows that are whole need not be hashed before. */
GBytes *ssa_made_bytes(const struct ssa_made *made);
void ssa_made_clear(struct ssa_made *made);

#endif
