// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of wire/ share. */
#ifndef SSA_WIRE_WIRE_PRIVATE_H
#define SSA_WIRE_WIRE_PRIVATE_H

#include "ssa/wire/wire.h"

#define SSA_NAME_OCTETS (SSA_NAME_LENGTH / 2)
#define SSA_TABLE_MAX UINT32_MAX /* rows of a table, and its octets */
#define SSA_TURNED_MAX 128u	 /* octets of a row that is turned: see chunk.c */

/* Sets the error; false. */
bool ssa_wire_fail(GError **error, enum ssa_wire_error code, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* What a manifest says of a table, or a program wants to say: not larger than tables may be. */
bool ssa_listed_check(const struct ssa_listed *listed, GError **error);

/* ---- chunk.c ---- */

void ssa_name_print(const uint8_t octets[SSA_NAME_OCTETS], char name[SSA_NAME_LENGTH + 1]);
void ssa_name_scan(const char *name, uint8_t octets[SSA_NAME_OCTETS]);

/* Contexts of zstd and buffers, which one cut or join uses for all of its chunks. */
struct ssa_packer *ssa_packer_new(void);
void ssa_packer_free(struct ssa_packer *packer);

GBytes *ssa_packer_rows(struct ssa_packer *packer, const uint8_t *data, uint32_t row_size,
			size_t rows, char name[SSA_NAME_LENGTH + 1]);
/* The frame must have that name and exactly these rows, which go to data. */
bool ssa_unpack_rows(struct ssa_packer *packer, GBytes *frame, const char *name, uint8_t *data,
		     uint32_t row_size, size_t rows, GError **error);

/* ---- list.c ---- */

struct ssa_piece { /* a chunk of a table */
	char name[SSA_NAME_LENGTH + 1];
	uint32_t length; /* of its frame */
	uint32_t rows;
};

/* The chunk that lists the pieces of a table (struct ssa_piece). */
GBytes *ssa_list_pack(const GArray *pieces, char name[SSA_NAME_LENGTH + 1]);
/* Pieces that are the rows of the table, no more and no less. */
GArray *ssa_list_unpack(GBytes *frame, const struct ssa_listed *listed, GError **error);
/* Fetched as well. */
GArray *ssa_list_get(const struct ssa_listed *listed, ssa_get get, void *arg, GError **error);

#endif
