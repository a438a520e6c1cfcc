// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the SM knows of the tables that the hardware holds: LFT, MFT, P_Key tables, and all others
 * that are read or written in blocks.
 *
 * A node has an epoch. A block carries the epoch in which it was read, or in which its Set was
 * acknowledged; it is known while that equals the node's epoch. Code that finds reason to doubt
 * that a node still holds its tables calls trust_lose(), which begins a new epoch: then nothing is
 * known.
 *
 *	unknown --trust_set--> known --trust_doubt (a Set is sent)--> unknown
 *	known --trust_lose (reset seen, other cable, other GUID, ...)--> all blocks unknown
 *
 * An answer counts only in the epoch in which its request was sent: the sender keeps that epoch
 * and passes it to trust_set().
 */
#ifndef FABRIC_TRUST_H
#define FABRIC_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct builder;
struct builder_node;

struct trust_blocks {
	uint8_t *bytes;	  /* host order per entry of the attribute; NULL: none, or shared */
	uint32_t *epochs; /* per block; 0: never read, or in doubt */
	uint64_t *order;  /* per block: the greater, the later it became known; 0: never */
	uint64_t last;	  /* highest value in order */
	uint32_t n_blocks;
	uint32_t block_bytes;
	uint32_t *refused; /* blocks that the node does not accept, in ascending order */
	uint32_t n_refused;
	const void *equals; /* object that the whole table equals, or NULL; see trust_equal */
	uint32_t equals_epoch;
};

/* A table in blocks. There are many, four for each port, and most are empty: NULL. */
struct trust_table {
	struct trust_blocks *held;
};

static inline uint32_t trust_n_blocks(const struct trust_table *table)
{
	return table->held ? table->held->n_blocks : 0;
}

/* Makes room for n_blocks of block_bytes; new blocks are unknown. */
void trust_reserve(struct trust_table *table, uint32_t n_blocks, size_t block_bytes);
/* A block was read, or its Set acknowledged, in answer to a request sent in that epoch. */
void trust_set(const struct builder_node *node, uint32_t epoch, struct trust_table *table,
	       uint32_t block, size_t block_bytes, const void *bytes);
/* The contents of the block are unknown: a Set of it is in flight, or got no answer. */
void trust_doubt(struct trust_table *table, uint32_t block);
/* NULL if the block is not known. */
const void *trust_get(const struct builder_node *node, const struct trust_table *table,
		      uint32_t block, size_t block_bytes);
/* What the block held when it was last known, even if it is in doubt now; NULL: it never was. */
const void *trust_last(const struct trust_table *table, uint32_t block, size_t block_bytes);
/* True if the first became known before the second; both are known. */
bool trust_is_older(const struct trust_table *table, uint32_t block, uint32_t other);
void trust_free(struct trust_table *table);

/*
 * The whole table was compared with that object and is equal: until a block changes,
 * trust_is_equal() returns true without comparing blocks. The caller keeps the object alive.
 */
void trust_equal(const struct builder_node *node, struct trust_table *table, const void *object);
bool trust_is_equal(const struct builder_node *node, const struct trust_table *table,
		    const void *object);
/*
 * As trust_equal(), for an object with n_blocks blocks as the table stores them: if the table has
 * no others, it refers to the object until a block changes, and uses no memory of its own.
 */
void trust_share(const struct builder_node *node, struct trust_table *table, const void *object,
		 uint32_t n_blocks);
/* The object that the table was found equal to, if trust_is_whole(). */
static inline const void *trust_equals(const struct trust_table *table)
{
	return table->held ? table->held->equals : NULL;
}
/* It is known to equal some object: no block has to be read. */
static inline bool trust_is_whole(const struct trust_table *table, uint32_t epoch)
{
	return trust_equals(table) && table->held->equals_epoch == epoch;
}

/*
 * Records a block that the node does not accept, or accepts again: it refused a Set, or did not
 * hold what was written. This is a property of its firmware, in all epochs: routes avoid it. True
 * if it is new.
 */
bool trust_refuse(struct trust_table *table, uint32_t block, bool refuses);
bool trust_refuses(const struct trust_table *table, uint32_t block);
/* The first refused block from this one on, or TRUST_NONE. */
uint32_t trust_next_refused(const struct trust_table *table, uint32_t from);
#define TRUST_NONE UINT32_MAX

/* Nothing that is known of the node's tables is valid any more. */
void trust_lose(struct builder_node *node);
/* trust_lose() of all nodes. */
void trust_lose_all(struct builder *builder);
/* As above, and trust_last() knows nothing of switches any more. */
void trust_forget_all(struct builder *builder);
/* trust_lose() of all switches. */
void trust_lose_switches(struct builder *builder);

#endif
