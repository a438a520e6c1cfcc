// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of GUIDs, as named by the routing options: one GUID in hex per line, with or without 0x,
 * followed by numbers if the kind of file has any (decimal, or hex with 0x). '#' begins a comment.
 *
 * Files made for the classic daemon are in use: words after the expected ones, such as the name of
 * a node, are ignored, and if a GUID may occur only once its last line counts. Both cause warnings:
 * the first of a kind with its line, the others by their number.
 */
#ifndef POLICY_FILES_GUID_FILE_H
#define POLICY_FILES_GUID_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct guid_row {
	uint64_t guid;
	uint32_t first, n; /* range in numbers */
	uint32_t line;
};

struct guid_table {
	GArray *rows;	 /* struct guid_row, in file order */
	GArray *numbers; /* uint64_t */
	uint32_t n_rest, n_repeated; /* lines with ignored words; lines replaced */
};

/* What the numbers of a row must be. */
struct guid_file_form {
	const char *columns; /* for messages: "a switch GUID, a port and a weight" */
	uint32_t least, most; /* how many numbers */
	uint64_t max;	      /* maximum of each */
	bool repeated;	      /* a GUID may occur in several lines, and all count */
	uint64_t min;	      /* minimum of each */
	bool last_zero;	      /* but the last may be 0 */
	bool exact; /* more words than these are an error, not a name */
};

#define GUID_FILE_ERROR guid_file_error_quark()
GQuark guid_file_error_quark(void);

/*
 * If any line is wrong returns NULL and an error that names file, line, text and what was expected.
 * Adds to warnings, unless NULL, what is accepted but questionable, with file and line (char *).
 */
struct guid_table *guid_file_load(const char *file, const struct guid_file_form *form,
				  GPtrArray *warnings, GError **error);
/* Parses length octets of text, which messages call file. */
struct guid_table *guid_file_parse(const char *file, const char *text, size_t length,
				   const struct guid_file_form *form, GPtrArray *warnings,
				   GError **error);
void guid_table_free(struct guid_table *table); /* NULL is fine */

#endif
