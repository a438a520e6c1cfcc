// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file of which a wrong line costs only that line: it is skipped, with a warning. For files where
 * one mistake makes all useless see mistakes.h.
 */
#ifndef CORE_SKIPPED_LINES_H
#define CORE_SKIPPED_LINES_H

#include <glib.h>
#include <stddef.h>

#define SKIPPED_LINES_TOLD 100 /* that get a warning; the others are counted */

struct skipped_lines {
	const char *file;
	GPtrArray *warnings; /* of strings, to which those of this file are added */

	unsigned int number; /* of the line that is being read */
	unsigned int n;	     /* of those that are wrong */
};

/* Calls take() for each line, which it may change. */
void skipped_lines_read(struct skipped_lines *lines, const char *text, size_t length,
			void (*take)(struct skipped_lines *lines, char *line));
/* Warns of the present line: that was found there, and what was expected. */
void skip_line(struct skipped_lines *lines, const char *found, const char *expected);

#endif
