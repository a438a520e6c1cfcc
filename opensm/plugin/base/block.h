// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Blocks: files in memory with sections of equal elements, by which snapshots and the input and
 * output of routing pass between the daemon and its plug-ins, in one process or two.
 *
 *	head, table of sections, then each section at a multiple of 64
 *
 * A block is sealed against any change of its size, so that a reader cannot be hit by a writer that
 * cuts it off; a block to be read only is sealed against writing as well. block_map() trusts
 * nothing: every section that it accepts lies within the file, and what the other side writes later
 * moves none.
 */
#ifndef PLUGIN_BASE_BLOCK_H
#define PLUGIN_BASE_BLOCK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BLOCK_SECTIONS 32

/* A block that is being laid out: sections in any order, each once, below BLOCK_SECTIONS. */
struct block_plan {
	struct block_plan_section {
		uint32_t element; /* octets; 0: the section does not exist */
		uint64_t n;
	} sections[BLOCK_SECTIONS];
};

static inline void block_want(struct block_plan *plan, unsigned int section, uint32_t element,
			      uint64_t n)
{
	plan->sections[section] = (struct block_plan_section){element, n};
}

struct block {
	int file;
	uint8_t *octets; /* NULL: not mapped */
	size_t size;
	bool writable;
	struct block_place {
		uint64_t at, n;
		uint32_t element, reserved;
	} places[BLOCK_SECTIONS]; /* private */
};

/*
 * A new block whose octets are all 0, mapped for writing, with memory for all of it. False and
 * error of G_FILE_ERROR.
 */
bool block_new(struct block *block, const char *name, const struct block_plan *plan,
	       GError **error);
/* Ends the writing: gives up the mapping, and seals the file against any change. */
bool block_freeze(struct block *block, GError **error);
/*
 * Maps a block that was made elsewhere, for writing if writable, and takes the file over, also if
 * it fails. False and error: it is not a block, or not sealed.
 */
bool block_map(struct block *block, int file, bool writable, GError **error);
void block_clear(struct block *block); /* also one of {.file = -1} */

/*
 * The elements of a section, and their number, which may be 0; NULL and 0: the block has no such
 * section, or its elements are smaller than least octets, the size of a struct, or not aligned as
 * that has to be. *element (if not NULL) is set to their size.
 */
void *block_section(const struct block *block, unsigned int section, uint32_t least, uint64_t *n,
		    uint32_t *element);

#endif
