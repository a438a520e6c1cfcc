// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Blocks and the epochs in which they are known: see trust.h. */
#include "fabric/trust.h"

#include <string.h>

#include "fabric/builder.h"

void trust_reserve(struct trust_table *table, uint32_t n_blocks, size_t block_bytes)
{
	if (n_blocks <= table->n_blocks)
		return;
	table->bytes = g_realloc(table->bytes, n_blocks * block_bytes);
	table->epochs = g_renew(uint32_t, table->epochs, n_blocks);
	table->order = g_renew(uint64_t, table->order, n_blocks);
	memset(table->epochs + table->n_blocks, 0,
	       (n_blocks - table->n_blocks) * sizeof(*table->epochs));
	table->n_blocks = n_blocks;
	table->equals = NULL;
}

void trust_set(const struct builder_node *node, uint32_t epoch, struct trust_table *table,
	       uint32_t block, size_t block_bytes, const void *bytes)
{
	if (epoch != node->epoch)
		return;
	trust_reserve(table, block + 1, block_bytes);
	memcpy(table->bytes + block * block_bytes, bytes, block_bytes);
	table->epochs[block] = epoch;
	table->order[block] = ++table->last;
	table->equals = NULL;
}

void trust_doubt(struct trust_table *table, uint32_t block)
{
	g_assert(block < table->n_blocks);
	table->equals = NULL;
	table->epochs[block] = 0;
}

const void *trust_get(const struct builder_node *node, const struct trust_table *table,
		      uint32_t block, size_t block_bytes)
{
	if (block >= table->n_blocks || table->epochs[block] != node->epoch)
		return NULL;
	return table->bytes + block * block_bytes;
}

bool trust_is_older(const struct trust_table *table, uint32_t block, uint32_t other)
{
	return table->order[block] < table->order[other];
}

void trust_free(struct trust_table *table)
{
	g_free(table->bytes);
	g_free(table->epochs);
	g_free(table->order);
	*table = (struct trust_table){0};
}

void trust_equal(const struct builder_node *node, struct trust_table *table, const void *object)
{
	table->equals = object;
	table->equals_epoch = node->epoch;
}

bool trust_is_equal(const struct builder_node *node, const struct trust_table *table,
		    const void *object)
{
	return table->equals == object && trust_is_whole(table, node->epoch);
}

void trust_lose(struct builder_node *node)
{
	node->epoch++;
	builder_reach_changed(node->builder);
	builder_touch(node);
}

void trust_lose_all(struct builder *builder)
{
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		trust_lose(node);
}

void trust_lose_switches(struct builder *builder)
{
	for (guint i = 0; i < builder->switches->len; i++)
		trust_lose(builder->switches->pdata[i]);
}
