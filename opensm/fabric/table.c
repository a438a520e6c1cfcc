// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables in blocks as the hardware holds them: LFT, MFT, P_Key table. A block is known or not. */
#include <string.h>

#include "fabric/builder.h"

void builder_table_reserve(struct builder_table *table, uint32_t n_blocks, size_t block_bytes)
{
	if (n_blocks <= table->n_blocks)
		return;
	table->bytes = g_realloc(table->bytes, n_blocks * block_bytes);
	table->known = g_realloc(table->known, n_blocks);
	memset(table->known + table->n_blocks, 0, n_blocks - table->n_blocks);
	table->n_blocks = n_blocks;
}

void builder_table_set(struct builder_table *table, uint32_t block, size_t block_bytes,
		       const void *bytes)
{
	builder_table_reserve(table, block + 1, block_bytes);
	memcpy(table->bytes + block * block_bytes, bytes, block_bytes);
	table->known[block] = 1;
}

const void *builder_table_get(const struct builder_table *table, uint32_t block, size_t block_bytes)
{
	if (block >= table->n_blocks || !table->known[block])
		return NULL;
	return table->bytes + block * block_bytes;
}

void builder_table_clear(struct builder_table *table)
{
	g_free(table->bytes);
	g_free(table->known);
	*table = (struct builder_table){ 0 };
}
