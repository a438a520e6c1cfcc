// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "fabric/node_table.h"

#include <string.h>

#define CHUNK 256 /* notes that are allocated together */

struct note {
	uint64_t born; /* of the node that it is about */
	max_align_t value[];
};

struct node_table {
	size_t size, stride;
	GPtrArray *chunks; /* of CHUNK notes each */
};

struct node_table *node_table_new(size_t size)
{
	struct node_table *table = g_new(struct node_table, 1);
	const size_t unit = sizeof(max_align_t);

	table->size = size;
	table->stride = sizeof(struct note) + (size + unit - 1) / unit * unit;
	table->chunks = g_ptr_array_new_with_free_func(g_free);
	return table;
}

void node_table_free(struct node_table *table)
{
	if (!table)
		return;
	g_ptr_array_unref(table->chunks);
	g_free(table);
}

void *node_table_of(struct node_table *table, const struct builder_node *node)
{
	uint32_t chunk = node->slot / CHUNK;
	struct note *note;

	while (table->chunks->len <= chunk)
		g_ptr_array_add(table->chunks, g_malloc0_n(CHUNK, table->stride));
	note = (struct note *)((char *)table->chunks->pdata[chunk] +
			       node->slot % CHUNK * table->stride);
	if (note->born != node->born) {
		memset(note->value, 0, table->size);
		note->born = node->born;
	}
	return note->value;
}
