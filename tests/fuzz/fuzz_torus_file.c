// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Any octets as torus-2QoS.conf: refused with a message fit for a terminal, or a torus. */
#include "policy/files/torus_file.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "torus 1 4 5\nyp_link 0x20 0x25\nym_link 0x20 0x2f # y\n"
			     "zp_link 0x20 0x21\nnext_seed\nyp_link 0x2b 0x30\nym_link 0x2b 0x26\n"
			     "zp_link 0x2b 0x2c\ny_dateline -2\nz_dateline -1\n"
			     "port_order 7 10 8 7\n");
	fuzz_add_text(seeds, "# a mesh\nmesh 3T 4 5m\r\nxm_link 1 2\nyp_link 1 3\nzp_link 1 4\n"
			     "portgroup_max_ports 17\nmax_changes 8\n");
	return NULL;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	struct torus_file *file = torus_file_parse("input", (const char *)data, size, &error);
	struct route_torus torus = torus_file_input(file);

	(void)state;
	fuzz_expect(!file == !!error);
	for (const char *c = error ? error->message : ""; *c; c++)
		fuzz_expect(g_ascii_isprint(*c) || *c == '\n'); /* one mistake a line */
	fuzz_expect(!file || (torus.n_seeds && torus.n_seeds <= TORUS_SEEDS_MAX));
	fuzz_expect(torus.radix[0] * torus.radix[1] * torus.radix[2] <= TORUS_PLACES_MAX);
	fuzz_expect(torus.n_port_order <= 254);
	torus_file_free(file);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "torus_file",
	.max_size = 1 << 13,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
