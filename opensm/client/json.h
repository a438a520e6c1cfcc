// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reading the daemon's answers in JSON, which may be of another version. */
#ifndef CLIENT_JSON_H
#define CLIENT_JSON_H

#include <json-glib/json-glib.h>
#include <stdbool.h>

/* The object that the text is, as long as the parser lives; NULL: it is none. */
JsonObject *json_read(JsonParser *parser, GBytes *text);

/* Members; what is missing or of another type is NULL, "", 0 or false, as of an object NULL. */
JsonObject *json_object(JsonObject *object, const char *name);
JsonArray *json_list(JsonObject *object, const char *name);
const char *json_text(JsonObject *object, const char *name);
gint64 json_number(JsonObject *object, const char *name);
bool json_flag(JsonObject *object, const char *name);

/* The length of a list, and an object in it; of NULL, or if there is none: 0 and NULL. */
guint json_rows(JsonArray *list);
JsonObject *json_row(JsonArray *list, guint i);

#endif
