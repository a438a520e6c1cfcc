// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fuzz target as libFuzzer wants it, instead of the driver in fuzz.c. AFL++ uses this file too:
 * its compiler brings a driver for LLVMFuzzerTestOneInput when linking with -fsanitize=fuzzer.
 *
 *	FUZZ_SEEDS=DIRECTORY	write the seeds that the target makes itself there, and end
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer calls functions without an argument of the caller's choice. */
static void *state;

static void write_seeds(const char *directory, GPtrArray *seeds)
{
	for (guint i = 0; i < seeds->len; i++) {
		gsize size;
		const char *data = g_bytes_get_data(g_ptr_array_index(seeds, i), &size);
		g_autofree char *file = g_strdup_printf("%s/seed-%03u", directory, i);
		g_autoptr(GError) error = NULL;

		if (!g_file_set_contents(file, data, size, &error))
			g_error("%s", error->message);
	}
}

/* GLib ends a program by SIGTRAP, which libFuzzer does not catch. */
static void on_trap(int number)
{
	(void)number;
	abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	g_autoptr(GPtrArray) seeds = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	const char *directory = g_getenv("FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	signal(SIGTRAP, on_trap);
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR);
	state = fuzz_target.setup(seeds);
	if (directory) {
		write_seeds(directory, seeds);
		fuzz_target.teardown(state);
		exit(0);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size <= fuzz_target.max_size)
		fuzz_target.run(state, data, size);
	return 0;
}
