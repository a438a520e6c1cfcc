// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Any octets as a file of addresses: refused with a message fit for a terminal, or tables. */
#include <string.h>

#include "ssa/core/addresses.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "a fe80::1 0x10 0x80 # b\n10.0.0.1 fe80::1\nfd00::1 fe80::1 7\n");
	fuzz_add_text(seeds, "[pkey=0x8001]\r\nb\tfe80::1\n\n[pkey=5]\nb fe80::2 1 0x40");
	return NULL;
}

static void expect_order(const GArray *rows)
{
	size_t size = g_array_get_element_size((GArray *)rows);

	for (guint i = 1; i < rows->len; i++)
		fuzz_expect(memcmp(rows->data + (i - 1) * size, rows->data + i * size, size) < 0);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	struct ssa_addresses *addresses =
		ssa_addresses_parse("input", (const char *)data, size, &error);

	(void)state;
	fuzz_expect(!addresses == !!error);
	for (const char *c = error ? error->message : ""; *c; c++)
		fuzz_expect(g_ascii_isprint(*c) || *c == '\n'); /* one mistake a line */
	if (!addresses)
		return;
	expect_order(addresses->names);
	expect_order(addresses->ipv4);
	expect_order(addresses->ipv6);
	ssa_addresses_unref(addresses);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "ssa_addresses",
	.max_size = 1 << 13,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
