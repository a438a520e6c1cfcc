// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes JSON into a text, value by value; commas come by themselves. Much faster than a tree of
 * objects, which a list of a thousand ports would be.
 */
#ifndef WEB_FABRIC_EMIT_H
#define WEB_FABRIC_EMIT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct emit {
	GString *out;
	bool follows; /* the next value needs a comma before it */
};

void emit_init(struct emit *emit, GString *out);
void emit_begin(struct emit *emit, char bracket); /* '{' or '[' */
void emit_end(struct emit *emit, char bracket);
void emit_key(struct emit *emit, const char *key);    /* plain letters */
void emit_text(struct emit *emit, const char *text);  /* UTF-8; NULL: null */
void emit_number(struct emit *emit, uint64_t number); /* a text from 2^53 on */
void emit_real(struct emit *emit, double number);     /* 4 digits; not finite: null */
void emit_flag(struct emit *emit, bool flag);
void emit_guid(struct emit *emit, uint64_t guid); /* "0x" and 16 digits; 0: null */

/* A table with these columns, up to its rows, each of which is a list. */
void emit_table(struct emit *emit, const char *const *columns, unsigned int n);
void emit_table_end(struct emit *emit);

#endif
