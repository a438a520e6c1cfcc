// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any octets as any attribute: what was decoded comes back unchanged through another encoding, can
 * be printed, and agrees with itself. The first octet selects the type, missing ones are zero.
 */
#include <string.h>

#include "iba/iba.h"
#include "tests/fuzz/fuzz.h"

#define ATTRIBUTE_MAX 4096

static void *setup(GPtrArray *seeds)
{
	for (unsigned int i = 0; iba_types[i] && i < 256; i++) {
		g_autofree uint8_t *octets = g_malloc0(1 + wire_bytes(iba_types[i]));

		octets[0] = i;
		for (size_t at = 1; at <= wire_bytes(iba_types[i]); at++)
			octets[at] = at * 37;
		g_ptr_array_add(seeds, g_bytes_new(octets, 1 + wire_bytes(iba_types[i])));
	}
	return NULL;
}

static const struct wire_type *pick(uint8_t octet)
{
	unsigned int n = 0;

	while (iba_types[n])
		n++;
	return iba_types[octet % n];
}

static void run(void *state, const uint8_t *data, size_t size)
{
	const struct wire_type *type = pick(size ? data[0] : 0);
	uint8_t wire[ATTRIBUTE_MAX] = {0};
	g_autofree void *host = g_malloc0(type->size);
	g_autofree void *again = g_malloc0(type->size);
	g_autoptr(GString) text = g_string_new(NULL);

	(void)state;
	fuzz_expect(wire_bytes(type) <= sizeof(wire));
	if (size > 1)
		memcpy(wire, data + 1, MIN(size - 1, wire_bytes(type)));
	wire_decode(type, wire, host);
	wire_encode(type, host, wire);
	wire_decode(type, wire, again);
	fuzz_expect(memcmp(host, again, type->size) == 0);
	fuzz_expect(wire_match(type, host, again, UINT64_MAX));
	wire_print(type, host, text);
	wire_print_words(type, host, text);
	fuzz_expect(g_utf8_validate(text->str, text->len, NULL));
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "wire",
	.max_size = 1 + ATTRIBUTE_MAX,
	.runs = 50000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
