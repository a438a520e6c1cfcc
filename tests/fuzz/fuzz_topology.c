// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Topology files: accepted or refused with a message; an accepted one reads back alike after it was
 * written.
 */
#include <unistd.h>

#include "libvendor/sim/topology.h"
#include "tests/fuzz/fuzz.h"

struct files {
	int in;
	char *out;
};

static void add_generated(GPtrArray *seeds, const struct files *files, const char *spec)
{
	struct topology *topology = topology_load(spec, NULL);
	char *text;
	gsize size;

	fuzz_expect(topology && topology_write(topology, files->out, NULL));
	topology_free(topology);
	fuzz_expect(g_file_get_contents(files->out, &text, &size, NULL));
	g_ptr_array_add(seeds, g_bytes_new_take(text, size));
}

static void *setup(GPtrArray *seeds)
{
	struct files *files = g_new(struct files, 1);
	int out = g_file_open_tmp("opensm-fuzz-XXXXXX", &files->out, NULL);

	fuzz_expect(out >= 0);
	close(out);
	files->in = -1;
	add_generated(seeds, files, "fattree:2");
	add_generated(seeds, files, "fattree:4");
	add_generated(seeds, files, "torus:2x2x2");
	return files;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct files *files = state;
	g_autofree char *in = fuzz_file(&files->in, data, size);
	g_autoptr(GError) error = NULL;
	struct topology *topology = topology_read(in, &error);
	struct topology *again;

	fuzz_expect(!topology == !!error);
	if (!topology)
		return;
	if (size % 8) { /* writing costs a hundred times as much as reading */
		topology_free(topology);
		return;
	}
	fuzz_expect(topology_write(topology, files->out, NULL));
	again = topology_read(files->out, &error);
	fuzz_expect(again);
	fuzz_expect(topology_hosts(again) == topology_hosts(topology));
	fuzz_expect(topology_switches(again) == topology_switches(topology));
	topology_free(again);
	topology_free(topology);
}

static void teardown(void *state)
{
	struct files *files = state;

	unlink(files->out);
	close(files->in);
	g_free(files->out);
	g_free(files);
}

const struct fuzz_target fuzz_target = {
	.name = "topology",
	.max_size = 1 << 16,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
