// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lines out of the bytes that a terminal, a telnet client or anybody else sends. Commands of the
 * telnet protocol (RFC 854) are skipped, whatever is too long or no text is told as such.
 */
#ifndef CTL_BASE_LINES_H
#define CTL_BASE_LINES_H

#include <glib.h>
#include <stdbool.h>

struct lines {
	GString *text; /* of the line so far */
	gsize max;     /* octets of a line */
	bool complete; /* it was handed out: the next byte begins a new one */
	bool too_long, garbage;
	unsigned int telnet; /* enum in lines.c: where in a telnet command it is */
	bool after_return;   /* the last byte was a carriage return */
};

enum line_kind { LINE_NONE, LINE_GOOD, LINE_TOO_LONG, LINE_GARBAGE };

void lines_init(struct lines *lines, gsize max);
void lines_clear(struct lines *lines);

/*
 * Takes one byte. What it completes: nothing, a line (in lines->text until the next byte), a line
 * that was longer than lines->max octets, or one that was not printable text.
 */
enum line_kind lines_byte(struct lines *lines, unsigned char byte);

/* What is left without a line end when the input has ended. */
enum line_kind lines_end(struct lines *lines);

#endif
