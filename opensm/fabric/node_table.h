// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A side table: what a module notes about each node of a builder, apart from the node itself, so
 * that the builder does not depend on the module. Nodes have numbers (slots) that are used again
 * when a node is freed, so a table is an array as long as the most nodes that existed at one time.
 */
#ifndef FABRIC_NODE_TABLE_H
#define FABRIC_NODE_TABLE_H

#include "fabric/builder.h"

struct node_table *node_table_new(size_t size); /* of a note, in bytes */
void node_table_free(struct node_table *table);
/*
 * The note about a node: zeros until something is written there. It stays at its address, and valid
 * for a removed node as long as requests point to that (builder_hold()).
 */
void *node_table_of(struct node_table *table, const struct builder_node *node);

#endif
