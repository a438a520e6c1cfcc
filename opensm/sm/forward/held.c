// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Most switches hold a row of the previous routing, which is shared; other tables are copied. */
#include "sm/forward/held.h"

#include <string.h>

#define PER_BLOCK 64

struct held {
	struct routing *seen; /* owns the rows that are not in owned; or NULL */
	uint32_t n;
	const uint8_t **rows;
	uint32_t *n_blocks; /* [switch]: number of blocks of its row */
	GPtrArray *owned;
};

static uint8_t *add_row(struct held *held, uint32_t sw, uint32_t n_blocks)
{
	uint8_t *row = g_malloc((gsize)n_blocks * PER_BLOCK);

	memset(row, IBA_PORT_NONE, (size_t)n_blocks * PER_BLOCK);
	g_ptr_array_add(held->owned, row);
	held->rows[sw] = row;
	held->n_blocks[sw] = n_blocks;
	return row;
}

/* A Set to a switch that does not answer has probably not arrived. */
static const void *block_of(const struct builder_node *node, uint32_t block)
{
	return builder_is_silent(node) ? trust_last(&node->lft, block, PER_BLOCK)
				       : trust_get(node, &node->lft, block, PER_BLOCK);
}

/* Unknown blocks read as if they discarded. */
static void copy_table(struct held *held, uint32_t sw, const struct builder_node *node)
{
	uint8_t *row = NULL;

	for (uint32_t block = 0; block < trust_n_blocks(&node->lft); block++) {
		const void *is = block_of(node, block);

		if (is && !row)
			row = add_row(held, sw, trust_n_blocks(&node->lft));
		if (is)
			memcpy(row + (size_t)block * PER_BLOCK, is, PER_BLOCK);
	}
}

static void take_table(struct held *held, uint32_t sw, const struct builder_node *node)
{
	if (!held->seen || !trust_is_whole(&node->lft, node->epoch)) {
		copy_table(held, sw, node);
		return;
	}
	held->rows[sw] = trust_equals(&node->lft);
	held->n_blocks[sw] = held->seen->n_blocks;
}

struct held *held_new(struct builder *builder, const struct fabric *fabric, struct routing *seen)
{
	struct held *held = g_new0(struct held, 1);
	bool any = false;

	held->seen = seen ? routing_ref(seen) : NULL;
	held->n = fabric->n_switches;
	held->rows = g_new0(const uint8_t *, held->n);
	held->n_blocks = g_new0(uint32_t, held->n);
	held->owned = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t sw = 0; sw < held->n; sw++) {
		take_table(held, sw, builder_node_of(builder, fabric, fabric->switches[sw].node));
		any |= held->rows[sw] != NULL;
	}
	if (any)
		return held;
	held_free(held);
	return NULL;
}

void held_free(struct held *held)
{
	if (!held)
		return;
	routing_unref(held->seen);
	g_free(held->rows);
	g_free(held->n_blocks);
	g_ptr_array_unref(held->owned);
	g_free(held);
}

const uint8_t *const *held_rows(struct held *held, uint32_t n_blocks)
{
	for (uint32_t sw = 0; sw < held->n; sw++) {
		const uint8_t *row = held->rows[sw];
		size_t bytes = (size_t)held->n_blocks[sw] * PER_BLOCK;

		if (row && held->n_blocks[sw] < n_blocks)
			memcpy(add_row(held, sw, n_blocks), row, bytes);
	}
	return held->rows;
}
