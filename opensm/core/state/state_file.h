// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of the cache directory with the daemon's memory: text, one record per line, blank lines
 * between, '#' before a comment, as the classic daemon reads and writes them. Their content is
 * hostile like all input: an invalid line costs that line only. A file with such lines, or that
 * cannot be read, is kept as FILE.bad when it is written again.
 */
#ifndef CORE_STATE_STATE_FILE_H
#define CORE_STATE_STATE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/log.h"

/* Reads a record; NULL, or what was expected instead. */
typedef const char *state_line_fn(void *arg, const char *line);

/* Reads the text of such a file, named in messages; returns the number of invalid lines. */
unsigned int state_parse(struct log *log, const char *file, const char *text, state_line_fn *take,
			 void *arg);
/* Reads the file itself, if it exists; what: its contents, for messages ("LIDs"). */
void state_load(struct log *log, const char *file, const char *what, state_line_fn *take,
		void *arg);
/* Reads a file with a key behind a blank in its lines: the log does not show the key. */
void state_load_keys(struct log *log, const char *file, const char *what, state_line_fn *take,
		     void *arg);
/* Writes a new file of mode 0600, syncs it if wanted, and renames it. Errors are logged. */
bool state_save(struct log *log, const char *file, const char *what, const char *text,
		bool fsync_it);

/* A hexadecimal number between blanks at *line, which is moved past it. */
bool state_hex(const char **line, uint64_t *number);
/* A number as in state_hex(), hexadecimal only after 0x, octal after 0, decimal otherwise. */
bool state_number(const char **line, uint64_t *number);
/* Only blanks are left. */
bool state_end(const char *line);

#endif
