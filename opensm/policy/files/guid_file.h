// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of GUIDs, as the routing options name them: a GUID in hex a line, with or without 0x,
 * followed by numbers where the kind of file has any (decimal, or hex with 0x). '#' begins a
 * comment.
 *
 * Files that the classic daemon reads are in use: words behind what is looked for, as the name of
 * a node, are not read, and where a GUID may stand once its last line counts. Both are told as
 * warnings, the first of a kind with its line and the others by their number.
 */
#ifndef POLICY_FILES_GUID_FILE_H
#define POLICY_FILES_GUID_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct guid_row {
	uint64_t guid;
	uint32_t first, n; /* in numbers */
	uint32_t line;
};

struct guid_table {
	GArray *rows;	 /* struct guid_row, in the order of the file */
	GArray *numbers; /* uint64_t */
	uint32_t n_rest, n_repeated; /* lines with words that are not read; lines replaced */
};

/* What the numbers of a row must be. */
struct guid_file_form {
	const char *columns; /* for messages: "a switch GUID, a port and a weight" */
	uint32_t least, most; /* how many */
	uint64_t max;	      /* of each */
	bool repeated;	      /* a GUID may stand in several lines, and all of them count */
	uint64_t min;	      /* of each */
	bool last_zero;	      /* but the last may be 0 all the same */
	bool exact; /* more words than these are no names, but a mistake */
};

#define GUID_FILE_ERROR guid_file_error_quark()
GQuark guid_file_error_quark(void);

/*
 * NULL and error, which names file, line, text and what was expected, if any line is wrong. Adds to
 * warnings, unless NULL, what was taken but is not as it should be, with file and line (char *).
 */
struct guid_table *guid_file_load(const char *file, const struct guid_file_form *form,
				  GPtrArray *warnings, GError **error);
/* The same of length octets of text, called file in messages. */
struct guid_table *guid_file_parse(const char *file, const char *text, size_t length,
				   const struct guid_file_form *form, GPtrArray *warnings,
				   GError **error);
void guid_table_free(struct guid_table *table); /* NULL is fine */

#endif
