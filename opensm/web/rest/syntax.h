// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether a text is JSON (RFC 8259), before it is parsed: json-glib 1.6 keeps memory of every text
 * that it refuses, and goes as deep as the text does, on the stack. Pure.
 */
#ifndef WEB_REST_SYNTAX_H
#define WEB_REST_SYNTAX_H

/*
 * NULL: it is, with at most that many levels of arrays and objects, and no text in it has U+0000 or
 * half of a surrogate pair. Else the octet at which it is not.
 */
const char *syntax_mistake(const char *text, unsigned int levels);

#endif
