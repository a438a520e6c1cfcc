// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file of columns of numbers, of which a part can be read without the rest.
 *
 * All numbers of the frame are little-endian:
 *	octets	 8	magic: what the file is
 *		 4	version of the format
 *		 4	n_columns
 *		 8	length of the file
 *		 8	checksum of all before and of all up to the first chunk
 *	then	 4	for each column: its number of values
 *	then	12	for each chunk of each column, in order: length (bit 31: not compressed),
 *			checksum
 *	then		the chunks
 *
 * A chunk has up to COLUMNS_CHUNK values of one column as varints: 7 bits an octet, the lowest
 * first, bit 7 says that more follow. They are compressed (RFC 1951) if that makes them shorter. A
 * chunk without octets is all zeros. In a column of steps, values are differences to the value
 * before, the first of a chunk to 0; bit 0 is the sign.
 *
 * Checksums find what a crash or a disk has damaged. They protect from no one, so the reader trusts
 * no number because of them: it takes memory for one chunk and for the directory, which is part of
 * the file, and for what the caller has room for.
 */
#ifndef PERF_COLUMNS_H
#define PERF_COLUMNS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define COLUMNS_MAX 128		      /* in a file */
#define COLUMNS_CHUNK 2048	      /* values */
#define COLUMNS_VALUES_MAX (1u << 26) /* of a column */

/* How a column lies in memory: member of each struct of an array, or an array of integers. */
struct column {
	void *array;
	size_t offset; /* of the first value; octets */
	size_t stride; /* from one value to the next; octets */
	uint8_t width; /* 1, 2, 4, 8 octets */
	bool steps;    /* neighbours are similar: differences are stored */
};
#define COLUMN_OF(array)                                                                           \
	(struct column)                                                                            \
	{                                                                                          \
		(array), 0, sizeof(*(array)), sizeof(*(array)), false                              \
	}
#define COLUMN_MEMBER(array, member)                                                               \
	(struct column)                                                                            \
	{                                                                                          \
		(array), offsetof(__typeof__(*(array)), member), sizeof(*(array)),                 \
			sizeof((array)->member), false                                             \
	}

/* ---- writing ---- */

struct columns_writer;

/* magic: 8 characters. level: of compression, 1..9; 0: none. */
struct columns_writer *columns_begin(const char *magic, uint32_t version, int level);
/* Adds the next column. */
void columns_add(struct columns_writer *writer, struct column column, uint32_t n);
/* The file; the writer is freed. */
GByteArray *columns_end(struct columns_writer *writer);
/* Corrects all checksums of a file with a valid frame, as tests that damage it want; else false. */
bool columns_seal(uint8_t *octets, size_t length);

/* ---- reading ---- */

struct columns_reader;

/*
 * Opens a file and reads its directory. NULL and error (G_FILE_ERROR, beginning with the name of
 * the file) if it cannot be read or is of another kind: G_FILE_ERROR_NOENT, it does not exist;
 * G_FILE_ERROR_NOSYS, it has another version.
 */
struct columns_reader *columns_open(const char *file, const char *magic, uint32_t version,
				    uint32_t n_columns, GError **error);
void columns_close(struct columns_reader *reader); /* NULL is fine */
uint32_t columns_count(const struct columns_reader *reader, unsigned int column);
/* Whether every value of the column is stored as 0, without reading it. */
bool columns_zero(const struct columns_reader *reader, unsigned int column);
/*
 * Reads values number first up to first + n of a column, which has them, into memory that is all
 * zeros. False and error if they are damaged or too wide.
 */
bool columns_read(struct columns_reader *reader, unsigned int column, struct column into,
		  uint32_t first, uint32_t n, GError **error);
/* False and error, which begins with the name of the file: its contents are wrong. */
bool columns_wrong(const struct columns_reader *reader, const char *what, GError **error);

#endif
