// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Blocks and the epochs in which they are known: see trust.h. */
#include "fabric/trust.h"

#include <string.h>

#include "fabric/builder.h"

static struct trust_blocks *held_by(struct trust_table *table)
{
	if (!table->held)
		table->held = g_new0(struct trust_blocks, 1);
	return table->held;
}

/* A block is about to change, or the object that the table equals is about to be freed. */
static void unshare(struct trust_blocks *held)
{
	if (held->equals && !held->bytes)
		held->bytes = g_memdup2(held->equals, (gsize)held->n_blocks * held->block_bytes);
	held->equals = NULL;
}

void trust_reserve(struct trust_table *table, uint32_t n_blocks, size_t block_bytes)
{
	struct trust_blocks *held;

	if (n_blocks <= trust_n_blocks(table))
		return;
	held = held_by(table);
	held->block_bytes = block_bytes;
	unshare(held);
	held->bytes = g_realloc(held->bytes, n_blocks * block_bytes);
	held->epochs = g_renew(uint32_t, held->epochs, n_blocks);
	held->order = g_renew(uint64_t, held->order, n_blocks);
	memset(held->epochs + held->n_blocks, 0,
	       (n_blocks - held->n_blocks) * sizeof(*held->epochs));
	memset(held->order + held->n_blocks, 0,
	       (n_blocks - held->n_blocks) * sizeof(*held->order));
	held->n_blocks = n_blocks;
}

void trust_set(const struct builder_node *node, uint32_t epoch, struct trust_table *table,
	       uint32_t block, size_t block_bytes, const void *bytes)
{
	if (epoch != node->epoch)
		return;
	trust_reserve(table, block + 1, block_bytes);
	unshare(table->held);
	memcpy(table->held->bytes + block * block_bytes, bytes, block_bytes);
	table->held->epochs[block] = epoch;
	table->held->order[block] = ++table->held->last;
}

void trust_doubt(struct trust_table *table, uint32_t block)
{
	g_assert(block < trust_n_blocks(table));
	unshare(table->held);
	table->held->epochs[block] = 0;
}

static const void *bytes_of(const struct trust_blocks *held, uint32_t block, size_t block_bytes)
{
	const uint8_t *bytes = held->bytes ? held->bytes : held->equals;

	return bytes + block * block_bytes;
}

const void *trust_get(const struct builder_node *node, const struct trust_table *table,
		      uint32_t block, size_t block_bytes)
{
	if (block >= trust_n_blocks(table) || table->held->epochs[block] != node->epoch)
		return NULL;
	return bytes_of(table->held, block, block_bytes);
}

const void *trust_last(const struct trust_table *table, uint32_t block, size_t block_bytes)
{
	if (block >= trust_n_blocks(table) || !table->held->order[block])
		return NULL;
	return bytes_of(table->held, block, block_bytes);
}

bool trust_is_older(const struct trust_table *table, uint32_t block, uint32_t other)
{
	return table->held->order[block] < table->held->order[other];
}

void trust_free(struct trust_table *table)
{
	if (!table->held)
		return;
	g_free(table->held->bytes);
	g_free(table->held->epochs);
	g_free(table->held->order);
	g_free(table->held->refused);
	g_free(table->held);
	table->held = NULL;
}

void trust_equal(const struct builder_node *node, struct trust_table *table, const void *object)
{
	struct trust_blocks *held = held_by(table);

	unshare(held);
	held->equals = object;
	held->equals_epoch = node->epoch;
}

void trust_share(const struct builder_node *node, struct trust_table *table, const void *object,
		 uint32_t n_blocks)
{
	struct trust_blocks *held = held_by(table);
	bool known = held->n_blocks == n_blocks;

	for (uint32_t block = 0; known && block < n_blocks; block++)
		known = held->epochs[block] == node->epoch;
	if (known && !held->bytes && held->equals == object)
		return;
	trust_equal(node, table, object);
	if (known)
		g_clear_pointer(&held->bytes, g_free);
}

bool trust_is_equal(const struct builder_node *node, const struct trust_table *table,
		    const void *object)
{
	return trust_is_whole(table, node->epoch) && table->held->equals == object;
}

/* ---- blocks that are not accepted ---- */

/* The index of the first refused block that is not below this one. */
static uint32_t place_of(const struct trust_blocks *held, uint32_t block)
{
	uint32_t i = 0;

	while (i < held->n_refused && held->refused[i] < block)
		i++;
	return i;
}

bool trust_refuse(struct trust_table *table, uint32_t block, bool refuses)
{
	struct trust_blocks *held;
	uint32_t i;

	if (trust_refuses(table, block) == refuses)
		return false;
	held = held_by(table);
	i = place_of(held, block);
	if (refuses) {
		held->refused = g_renew(uint32_t, held->refused, held->n_refused + 1);
		memmove(held->refused + i + 1, held->refused + i,
			(held->n_refused++ - i) * sizeof(block));
		held->refused[i] = block;
	} else {
		memmove(held->refused + i, held->refused + i + 1,
			(--held->n_refused - i) * sizeof(block));
	}
	return true;
}

uint32_t trust_next_refused(const struct trust_table *table, uint32_t from)
{
	const struct trust_blocks *held = table->held;
	uint32_t i = held ? place_of(held, from) : 0;

	return held && i < held->n_refused ? held->refused[i] : TRUST_NONE;
}

bool trust_refuses(const struct trust_table *table, uint32_t block)
{
	return trust_next_refused(table, block) == block;
}

void trust_lose(struct builder_node *node)
{
	node->epoch++;
	builder_reach_changed(node->builder);
	builder_touch(node);
}

static void forget(struct trust_table *table)
{
	if (table->held)
		memset(table->held->order, 0, trust_n_blocks(table) * sizeof(uint64_t));
}

void trust_lose_all(struct builder *builder)
{
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		trust_lose(node);
}

void trust_forget_all(struct builder *builder)
{
	trust_lose_all(builder);
	for (guint i = 0; i < builder->switches->len; i++) {
		struct builder_node *node = builder->switches->pdata[i];

		forget(&node->lft);
		forget(&node->mft);
	}
}

void trust_lose_switches(struct builder *builder)
{
	for (guint i = 0; i < builder->switches->len; i++)
		trust_lose(builder->switches->pdata[i]);
}
