// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* memfd_create, seals */
#include "plugin/base/block.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31636f6c626d736f) /* "osmbloc1" */
#define ALIGNMENT 64
#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

struct head {
	uint64_t magic;
	uint64_t size; /* of the file */
	struct section {
		uint64_t at, n;
		uint32_t element, reserved;
	} sections[BLOCK_SECTIONS];
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

static uint64_t round_up(uint64_t n)
{
	return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void lay_out(struct head *head, const struct block_plan *plan)
{
	uint64_t at = round_up(sizeof(*head));

	head->magic = MAGIC;
	for (unsigned int i = 0; i < BLOCK_SECTIONS; i++) {
		const struct block_plan_section *want = &plan->sections[i];

		head->sections[i] = (struct section){.at = at, .n = want->n,
						     .element = want->element};
		at = round_up(at + want->n * want->element);
	}
	head->size = at;
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

bool block_new(struct block *block, const char *name, const struct block_plan *plan,
	       GError **error)
{
	struct head head = {0};

	lay_out(&head, plan);
	*block = (struct block){.file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING),
				.size = head.size,
				.writable = true};
	if (block->file < 0)
		return fail(block, error, "memfd_create");
	if (ftruncate(block->file, (off_t)head.size))
		return fail(block, error, "ftruncate");
	if (fcntl(block->file, F_ADD_SEALS, SIZE_SEALS) < 0)
		return fail(block, error, "F_ADD_SEALS");
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
static bool is_within(const struct section *section, uint64_t size)
{
	if (!section->element || !section->n)
		return true;
	return section->at % ALIGNMENT == 0 && section->at >= sizeof(struct head) &&
	       section->at <= size && section->n <= (size - section->at) / section->element;
}

bool block_map(struct block *block, int file, bool writable, GError **error)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct stat stat;
	struct head head;

	*block = (struct block){.file = file, .writable = writable};
	if (fstat(file, &stat))
		return fail(block, error, "fstat");
	if (seals < 0 || (seals & SIZE_SEALS) != SIZE_SEALS ||
	    (!writable && !(seals & F_SEAL_WRITE)))
		return refuse(block, error, "the block is not sealed");
	if (stat.st_size < (off_t)sizeof(head))
		return refuse(block, error, "the block is too short");
	block->size = (size_t)stat.st_size;
	if (!map(block, error))
		return false;
	memcpy(&head, block->octets, sizeof(head));
	if (head.magic != MAGIC || head.size != block->size)
		return refuse(block, error, "it does not begin as a block does");
	for (unsigned int i = 0; i < BLOCK_SECTIONS; i++)
		if (!is_within(&head.sections[i], block->size))
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

/*
 * The other side of a writable block can change it at any time, so what is read here is checked
 * again.
 */
void *block_section(const struct block *block, unsigned int section, uint32_t least, uint64_t *n,
		    uint32_t *element)
{
	const struct head *head = (const struct head *)(const void *)block->octets;
	struct section at;

	memcpy(&at, &head->sections[section], sizeof(at));
	*n = 0;
	if (!at.element || at.element < least || !is_within(&at, block->size))
		return NULL;
	*n = at.n;
	if (element)
		*element = at.element;
	return block->octets + at.at;
}
