// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files guid2mkey and neighbors: entries accepted from any text read back as written. */
#include "policy/keys/key_ring.h"
#include "sm/store/neighbors.h"
#include "core/state/state_file.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "0x0200000000001701 0x0000000000001234\n\n"
			     "0x0200000080001900 0xfedcba9876543210\n\n");
	fuzz_add_text(seeds, "0x0200000080000a00:2 0x0200000000001001:1\n\n"
			     "0x0200000000001001:1 0x0200000080000a00:2\n\n# note\n");
	return log_new_null();
}

static void run_keys(struct log *log, const char *text)
{
	struct key_ring *ring = key_ring_new(&(struct key_rule){0});
	struct key_ring *again = key_ring_new(&(struct key_rule){0});
	g_autofree char *written = NULL, *rewritten = NULL;

	state_parse(log, "input", text, key_ring_take_line, ring);
	written = key_ring_format(ring);
	fuzz_expect(state_parse(log, "written", written, key_ring_take_line, again) == 0);
	rewritten = key_ring_format(again);
	fuzz_expect(strcmp(written, rewritten) == 0);
	key_ring_free(ring);
	key_ring_free(again);
}

static void run_neighbors(struct log *log, const char *text)
{
	struct neighbors *neighbors = neighbors_new(), *again = neighbors_new();
	g_autofree char *written = NULL, *rewritten = NULL;

	state_parse(log, "input", text, neighbors_take_line, neighbors);
	written = neighbors_format(neighbors);
	fuzz_expect(state_parse(log, "written", written, neighbors_take_line, again) == 0);
	rewritten = neighbors_format(again);
	fuzz_expect(strcmp(written, rewritten) == 0);
	neighbors_free(neighbors);
	neighbors_free(again);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);

	run_keys(state, text);
	run_neighbors(state, text);
}

static void teardown(void *state)
{
	log_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "key_files",
	.max_size = 1 << 14,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
