// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A small state machine that takes one byte at a time and holds at most one line. Pure. */
#include "ctl/base/lines.h"

#define KEPT 4096 /* octets of memory kept from one line to the next */

/* RFC 854 */
#define IAC 255
#define DONT 254
#define WILL 251
#define SUBNEGOTIATION 250
#define SUBNEGOTIATION_END 240

enum telnet_state {
	TELNET_TEXT,
	TELNET_COMMAND,	       /* after IAC */
	TELNET_OPTION,	       /* after IAC WILL, WONT, DO or DONT */
	TELNET_PARAMETERS,     /* after IAC SB */
	TELNET_PARAMETERS_IAC, /* after an IAC within these */
};

void lines_init(struct lines *lines, gsize max)
{
	*lines = (struct lines){.text = g_string_new(NULL), .max = max};
}

void lines_clear(struct lines *lines)
{
	g_string_free(lines->text, TRUE);
}

static void begin_line(struct lines *lines)
{
	lines->complete = false;
	if (lines->text->allocated_len > KEPT) {
		g_string_free(lines->text, TRUE);
		lines->text = g_string_new(NULL);
	}
	g_string_truncate(lines->text, 0);
	lines->too_long = lines->garbage = false;
}

static enum line_kind end_line(struct lines *lines)
{
	if (lines->too_long)
		return LINE_TOO_LONG;
	if (lines->garbage || !g_utf8_validate(lines->text->str, (gssize)lines->text->len, NULL))
		return LINE_GARBAGE;
	return LINE_GOOD;
}

static enum line_kind text_byte(struct lines *lines, unsigned char byte)
{
	bool padding = lines->after_return && byte == '\0'; /* RFC 854: CR NUL is a bare CR */

	lines->after_return = byte == '\r';
	if (byte == '\n') {
		lines->complete = true;
		return end_line(lines);
	}
	if (byte == '\r' || padding)
		return LINE_NONE;
	if (g_ascii_iscntrl((char)byte) && byte != '\t')
		lines->garbage = true;
	if (lines->text->len >= lines->max)
		lines->too_long = true;
	else
		g_string_append_c(lines->text, (char)byte);
	return LINE_NONE;
}

/* True if the byte belongs to a telnet command. */
static bool skip_telnet(struct lines *lines, unsigned char byte)
{
	switch ((enum telnet_state)lines->telnet) {
	case TELNET_TEXT:
		if (byte != IAC)
			return false;
		lines->telnet = TELNET_COMMAND;
		return true;
	case TELNET_COMMAND:
		lines->telnet = TELNET_TEXT;
		if (byte == IAC)
			return false; /* an escaped byte 255 of text */
		if (byte >= WILL && byte <= DONT)
			lines->telnet = TELNET_OPTION;
		else if (byte == SUBNEGOTIATION)
			lines->telnet = TELNET_PARAMETERS;
		return true;
	case TELNET_OPTION:
		lines->telnet = TELNET_TEXT;
		return true;
	case TELNET_PARAMETERS:
		if (byte == IAC)
			lines->telnet = TELNET_PARAMETERS_IAC;
		return true;
	case TELNET_PARAMETERS_IAC:
		lines->telnet = byte == SUBNEGOTIATION_END ? TELNET_TEXT : TELNET_PARAMETERS;
		return true;
	}
	return true;
}

enum line_kind lines_byte(struct lines *lines, unsigned char byte)
{
	if (lines->complete)
		begin_line(lines);
	if (skip_telnet(lines, byte))
		return LINE_NONE;
	return text_byte(lines, byte);
}

enum line_kind lines_end(struct lines *lines)
{
	if (lines->complete || (!lines->text->len && !lines->garbage))
		return LINE_NONE;
	lines->complete = true;
	return end_line(lines);
}
