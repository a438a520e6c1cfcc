// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of the cache directory that hold what the daemon remembers: text, a record a line, blank
 * lines between, '#' before a comment, as the classic daemon reads and writes them. Their content
 * is hostile like all input: a line that makes no sense costs that line only. A file with such
 * lines, or that cannot be read, is kept as FILE.bad when it is written again.
 */
#ifndef SM_STORE_STATE_FILE_H
#define SM_STORE_STATE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/log.h"

/* Takes a record in; NULL, or what was expected instead. */
typedef const char *state_line_fn(void *arg, const char *line);

/* Takes in the text of such a file, named in messages; returns the number of bad lines. */
unsigned int state_parse(struct log *log, const char *file, const char *text, state_line_fn *take,
			 void *arg);
/* The same of the file itself; what it holds, for messages ("LIDs"). There may be none. */
void state_load(struct log *log, const char *file, const char *what, state_line_fn *take,
		void *arg);
/* The same of a file whose lines have a key behind a blank: the log does not show it. */
void state_load_keys(struct log *log, const char *file, const char *what, state_line_fn *take,
		     void *arg);
/* A new file of mode 0600, synced if wanted, and renamed. Errors are logged. */
bool state_save(struct log *log, const char *file, const char *what, const char *text,
		bool fsync_it);

/* A hexadecimal number between blanks at *line, which moves behind it. */
bool state_hex(const char **line, uint64_t *number);
/* The same, but hexadecimal only behind 0x, octal behind 0, decimal otherwise. */
bool state_number(const char **line, uint64_t *number);
/* Nothing but blanks is left. */
bool state_end(const char *line);

#endif
