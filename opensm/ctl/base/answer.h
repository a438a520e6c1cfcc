// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Answers of the console: dictionaries (a{sv}) that a printer turns into text and json-glib into
 * JSON. Numbers are uint64 ('t'), GUIDs and keys are text. Text from the fabric is made harmless
 * here (core/printable.h).
 */
#ifndef CTL_BASE_ANSWER_H
#define CTL_BASE_ANSWER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"

/* ---- making one ---- */
void answer_begin(GVariantBuilder *builder);	  /* a dictionary */
void answer_begin_list(GVariantBuilder *builder); /* of dictionaries */
void answer_text(GVariantBuilder *builder, const char *key, const char *text);
void answer_number(GVariantBuilder *builder, const char *key, uint64_t number);
void answer_flag(GVariantBuilder *builder, const char *key, bool flag);
/* Makes a text harmless; takes over a floating value. */
void answer_value(GVariantBuilder *builder, const char *key, GVariant *value);
void answer_guid(GVariantBuilder *builder, const char *key, uint64_t guid);
/* "0xffff" */
void answer_hex16(GVariantBuilder *builder, const char *key, uint16_t value);
/* Ends the inner dictionary or list and makes it a member. */
void answer_member(GVariantBuilder *builder, const char *key, GVariantBuilder *inner);
/* Ends the dictionary and appends it to the list. */
void answer_append(GVariantBuilder *list, GVariantBuilder *dictionary);
/*
 * What people call a node, as the member key. If that is not its NodeDescription, the latter is
 * the member "KEY_description".
 */
void answer_called(GVariantBuilder *builder, const char *key, const char *name,
		   const char *description);
void answer_name(GVariantBuilder *builder, const char *key, const struct fabric *fabric,
		 uint32_t node);
/* "node" (as answer_name()) and "guid" of a node of the fabric. */
void answer_node(GVariantBuilder *builder, const struct fabric *fabric, uint32_t node);
/* A dictionary with the only member "text". */
GVariant *answer_of_text(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* As JSON on one line; newly allocated. */
char *answer_json(GVariant *answer);

/* ---- reading one; a missing member is "", 0 or false ---- */
const char *answer_get_text(GVariant *answer, const char *key);
uint64_t answer_get_number(GVariant *answer, const char *key);
double answer_get_real(GVariant *answer, const char *key);
bool answer_get_flag(GVariant *answer, const char *key);
GVariant *answer_get(GVariant *answer, const char *key); /* unref it; NULL: no such member */
/* Calls print for each dictionary of a list. */
void answer_each(GVariant *answer, const char *key, void (*print)(GVariant *item, GString *out),
		 GString *out);

/* Printable UTF-8 of any bytes, newly allocated. */
/* The lines of a text in one, with "; " between them, printable. */
char *answer_one_line(const char *lines);

#endif
