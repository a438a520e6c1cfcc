// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Any octets as a file of prefix routes: refused with a message fit for a terminal, or routes. */
#include "policy/files/prefix_routes.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "fec0000000000001 0x0002c90200000001 # b\n* *\n");
	fuzz_add_text(seeds, "0xFEC0000000000001\t*\r\n\n# none\n* 5");
	fuzz_add_text(seeds, "* 0\n* * *\n** 5\nfec0::1 5\n* 10000000000000000\n");
	return NULL;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	struct prefix_routes *routes =
		prefix_routes_parse("input", (const char *)data, size, &error);

	(void)state;
	fuzz_expect(!routes == !!error);
	for (const char *c = error ? error->message : ""; *c; c++)
		fuzz_expect(g_ascii_isprint(*c) || *c == '\n'); /* one mistake a line */
	fuzz_expect(!routes || routes->routes->len <= size / 3 + 1);
	prefix_routes_unref(routes);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "prefix_routes",
	.max_size = 1 << 13,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
