// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A block from a process that cannot be trusted: of what is accepted, every octet can be read, and
 * sections lie in line, whatever is written into the file later.
 */
#define _GNU_SOURCE /* memfd_create, seals */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/base/block.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	static const uint32_t sizes[] = {1, 2, 8, 24};

	for (unsigned int n = 0; n <= BLOCK_SECTIONS; n += 8) {
		struct block_plan plan = {0};
		struct block block;

		for (unsigned int i = 0; i < n; i++)
			block_want(&plan, i, sizes[i % 4], i);
		fuzz_expect(block_new(&block, "fuzz", &plan, NULL));
		g_ptr_array_add(seeds, g_bytes_new(block.octets, block.size));
		block_clear(&block);
	}
	return g_new0(uint64_t, 1); /* a sum of all that was read */
}

static uint64_t read_all(const struct block *block)
{
	uint64_t sum = 0, n;
	uint32_t element;

	for (unsigned int i = 0; i < BLOCK_SECTIONS; i++) {
		const uint8_t *at = block_section(block, i, 1, &n, &element);

		for (uint64_t k = 0; at && k < n * element; k++)
			sum += at[k];
		at = block_section(block, i, sizeof(uint64_t), &n, &element);
		for (uint64_t k = 0; at && k < n; k++)
			sum += *(const uint64_t *)(const void *)(at + k * element);
	}
	return sum;
}

/* The size in the head is made right, or nearly no input would get further. */
static int make_file(const uint8_t *data, size_t size)
{
	int file = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint64_t right = size;

	fuzz_expect(file >= 0 && write(file, data, size) == (ssize_t)size);
	if (size >= 2 * sizeof(right))
		fuzz_expect(pwrite(file, &right, sizeof(right), 8) == sizeof(right));
	fuzz_expect(!fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
	return file;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	int file = make_file(data, size), writer = dup(file);
	g_autofree uint8_t *noise = g_malloc(size + 1);
	g_autoptr(GError) error = NULL;
	struct block block;

	fuzz_expect(writer >= 0);
	memset(noise, 0xA5, size);
	if (block_map(&block, file, true, &error)) {
		*(uint64_t *)state += read_all(&block);
		fuzz_expect(pwrite(writer, noise, size, 0) == (ssize_t)size);
		*(uint64_t *)state += read_all(&block);
		block_clear(&block);
	} else {
		fuzz_expect(error && block.file < 0 && !block.octets);
	}
	close(writer);
}

static void teardown(void *state)
{
	g_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "block",
	.max_size = 4096,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
