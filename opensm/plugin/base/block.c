// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* memfd_create, seals */
#include "plugin/base/block.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31636f6c626d736f) /* "osmbloc1" */
#define ALIGNMENT 64
#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

struct head {
	uint64_t magic;
	uint64_t size; /* of the file */
	struct block_place places[BLOCK_SECTIONS];
};

static bool fail(struct block *block, GError **error, const char *what)
{
	int code = errno;

	g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), "%s: %s", what,
		    g_strerror(code));
	block_clear(block);
	return false;
}

static bool refuse(struct block *block, GError **error, const char *what)
{
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s", what);
	block_clear(block);
	return false;
}

/* The end of n elements that begin at *at, rounded up; false: it is beyond any file. */
static bool add(uint64_t *at, uint64_t n, uint32_t element)
{
	uint64_t octets;

	if (__builtin_mul_overflow(n, element, &octets) ||
	    octets > (uint64_t)INT64_MAX - *at - ALIGNMENT)
		return false;
	*at = (*at + octets + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return true;
}

static bool lay_out(struct head *head, const struct block_plan *plan)
{
	uint64_t at = 0;
	bool fits = add(&at, 1, sizeof(*head));

	head->magic = MAGIC;
	for (unsigned int i = 0; fits && i < BLOCK_SECTIONS; i++) {
		const struct block_plan_section *want = &plan->sections[i];

		head->places[i] =
			(struct block_place){.at = at, .n = want->n, .element = want->element};
		fits = add(&at, want->n, want->element);
	}
	head->size = at;
	return fits && at <= SIZE_MAX;
}

static bool map(struct block *block, GError **error)
{
	int access = block->writable ? PROT_READ | PROT_WRITE : PROT_READ;
	void *octets = mmap(NULL, block->size, access, MAP_SHARED, block->file, 0);

	if (octets == MAP_FAILED)
		return fail(block, error, "mmap");
	block->octets = octets;
	return true;
}

/* Memory for all of it is taken here, as a lack of it later on would kill the process (SIGBUS). */
static bool make_room(const struct block *block)
{
	errno = posix_fallocate(block->file, 0, (off_t)block->size);
	return !errno && fcntl(block->file, F_ADD_SEALS, SIZE_SEALS) >= 0;
}

bool block_new(struct block *block, const char *name, const struct block_plan *plan, GError **error)
{
	struct head head = {0};

	*block = (struct block){.file = -1};
	if (!lay_out(&head, plan))
		return refuse(block, error, "the block is too long");
	*block = (struct block){.file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING),
				.size = head.size,
				.writable = true};
	memcpy(block->places, head.places, sizeof(block->places));
	if (block->file < 0)
		return fail(block, error, "memfd_create");
	if (!make_room(block))
		return fail(block, error, "no memory for the block");
	if (!map(block, error))
		return false;
	memcpy(block->octets, &head, sizeof(head));
	return true;
}

static void unmap(struct block *block)
{
	if (block->octets)
		munmap(block->octets, block->size);
	block->octets = NULL;
}

bool block_freeze(struct block *block, GError **error)
{
	unmap(block);
	if (fcntl(block->file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return fail(block, error, "F_ADD_SEALS");
	return true;
}

/* Whether a section lies within the file, so that no sum of its members overflows either. */
static bool is_within(const struct block_place *place, uint64_t size)
{
	if (!place->element)
		return true;
	return place->at % ALIGNMENT == 0 && place->at >= sizeof(struct head) &&
	       place->at <= size && place->n <= (size - place->at) / place->element;
}

/* Huge pages may be missing when they are read, which kills the reader (SIGBUS). */
static bool is_in_memory(int file)
{
	struct statfs stat;

	return !fstatfs(file, &stat) && stat.f_type != HUGETLBFS_MAGIC;
}

/*
 * Of a writable block, the other side can change all octets at any time: the table of sections is
 * copied once, and then only the copy is checked and used.
 */
static bool take_head(struct block *block)
{
	struct head head;

	memcpy(&head, block->octets, sizeof(head));
	atomic_signal_fence(memory_order_seq_cst); /* the compiler must not read twice */
	memcpy(block->places, head.places, sizeof(block->places));
	return head.magic == MAGIC && head.size == block->size;
}

bool block_map(struct block *block, int file, bool writable, GError **error)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct stat stat;

	*block = (struct block){.file = file, .writable = writable};
	if (fstat(file, &stat))
		return fail(block, error, "fstat");
	if (seals < 0 || (seals & SIZE_SEALS) != SIZE_SEALS ||
	    (!writable && !(seals & F_SEAL_WRITE)) || !is_in_memory(file))
		return refuse(block, error, "the block is not sealed");
	if (stat.st_size < (off_t)sizeof(struct head) || (uint64_t)stat.st_size > SIZE_MAX)
		return refuse(block, error, "the block is too short or too long");
	block->size = (size_t)stat.st_size;
	if (!map(block, error))
		return false;
	if (!take_head(block))
		return refuse(block, error, "it does not begin as a block does");
	for (unsigned int i = 0; i < BLOCK_SECTIONS; i++)
		if (!is_within(&block->places[i], block->size))
			return refuse(block, error, "a section is not within the block");
	return true;
}

void block_clear(struct block *block)
{
	unmap(block);
	if (block->file >= 0)
		close(block->file);
	block->file = -1;
}

/* The alignment that a struct of this size may need; an array of others keeps it in each. */
static bool is_aligned(uint32_t element, uint32_t least)
{
	uint32_t alignment = MIN(least & -least, sizeof(uint64_t));

	return !least || element % alignment == 0;
}

void *block_section(const struct block *block, unsigned int section, uint32_t least, uint64_t *n,
		    uint32_t *element)
{
	const struct block_place *place = &block->places[section];

	*n = 0;
	if (!block->octets || !place->element || place->element < least ||
	    !is_aligned(place->element, least))
		return NULL;
	*n = place->n;
	if (element)
		*element = place->element;
	return block->octets + place->at;
}
