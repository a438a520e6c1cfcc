// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Splits the bytes from a terminal, a telnet client or any other sender into lines. Commands of the
 * telnet protocol (RFC 854) are skipped; lines that are too long or not text are reported as such.
 */
#ifndef CTL_BASE_LINES_H
#define CTL_BASE_LINES_H

#include <glib.h>
#include <stdbool.h>

struct lines {
	GString *text; /* of the present line so far */
	gsize max;     /* octets per line */
	bool complete; /* the line was returned: the next byte begins a new one */
	bool too_long, garbage;
	unsigned int telnet; /* parser state within a telnet command: enum in lines.c */
	bool after_return;   /* the last byte was a carriage return */
};

enum line_kind { LINE_NONE, LINE_GOOD, LINE_TOO_LONG, LINE_GARBAGE };

void lines_init(struct lines *lines, gsize max);
void lines_clear(struct lines *lines);

/*
 * Takes one byte. Returns what it completes: nothing, a line (in lines->text until the next byte),
 * a line longer than lines->max octets, or one that is not printable text.
 */
enum line_kind lines_byte(struct lines *lines, unsigned char byte);

/* Returns the unfinished line when the input has ended. */
enum line_kind lines_end(struct lines *lines);

#endif
