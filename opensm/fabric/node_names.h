// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names that the operator gives to nodes: GUID -> name, read from a file by
 * policy/names/node_name_map.h. Reference counted, and immutable once others can see it. People
 * read these names in place of NodeDescriptions; they never reach the wire or a file that is read
 * back.
 */
#ifndef FABRIC_NODE_NAMES_H
#define FABRIC_NODE_NAMES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/handoff.h"

#define NODE_NAME_MAX 128 /* octets, without the final NUL */

struct node_names {
	struct ref ref;
	GHashTable *by_guid; /* uint64_t GUID of a node or a port -> name, printable UTF-8 */
	GPtrArray *warnings; /* of char *: what is wrong with the file */
};

struct node_names *node_names_new(void); /* without names */
struct node_names *node_names_ref(struct node_names *names);
void node_names_unref(struct node_names *names); /* NULL is fine */
/* Before others see it: adds a name, of at most NODE_NAME_MAX octets. */
void node_names_add(struct node_names *names, uint64_t guid, const char *name);

/* The name of exactly this GUID; NULL: it has none. names may be NULL. */
const char *node_names_find(const struct node_names *names, uint64_t guid);
static inline bool node_names_are_empty(const struct node_names *names)
{
	return !names || !g_hash_table_size(names->by_guid);
}
bool node_names_same(const struct node_names *a, const struct node_names *b);

#endif
