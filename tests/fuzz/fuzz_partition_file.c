// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* partitions.conf: accepted if it says nothing, else refused with a message. */
#include <unistd.h>

#include "policy/partition_file.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	int *fd = g_new(int, 1);

	*fd = -1;
	fuzz_add_text(seeds, "Default=0x7fff, ipoib: ALL=full;\n");
	fuzz_add_text(seeds, "# nothing\n\n  \t\n");
	return fd;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *file = fuzz_file(state, data, size);
	g_autoptr(GError) error = NULL;
	bool good = partition_file_check(file, &error);

	fuzz_expect(good == !error && (good || *error->message));
}

static void teardown(void *state)
{
	close(*(int *)state);
	g_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "partition_file",
	.max_size = 1 << 14,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
