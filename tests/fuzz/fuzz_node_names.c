// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Any octets as a node name map: names and warnings are fit for a terminal. */
#include <string.h>

#include "core/skipped_lines.h"
#include "policy/names/node_name_map.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	g_autoptr(GString) longest = g_string_new("0x15 ");

	fuzz_add_text(seeds, "0x0002c90200000001 \"leaf 1\" # b\n16 bare name \n");
	fuzz_add_text(seeds, "# none\n\n0X10\tB\303\274ro\n020 b\n0x10\n0x11 \"\"\n0x12#x");
	fuzz_add_text(seeds, "leaf\n0 a\n-1 a\n0x10000000000000000 a\n0x13 a\033[2J\n0x14 \374\n");
	for (unsigned int i = 0; i < NODE_NAME_MAX - 1; i++)
		g_string_append_c(longest, 'a');
	g_string_append(longest, "\303\274\n");
	fuzz_add_text(seeds, longest->str);
	return NULL;
}

static void expect_printable(const char *text)
{
	fuzz_expect(g_utf8_validate(text, -1, NULL));
	for (; *text; text = g_utf8_next_char(text))
		fuzz_expect(g_unichar_isprint(g_utf8_get_char(text)));
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct node_names *names = node_name_map_parse("input", (const char *)data, size);
	GHashTableIter iter;
	gpointer guid, name;

	(void)state;
	fuzz_expect(names->warnings->len <= SKIPPED_LINES_TOLD + 1);
	for (guint i = 0; i < names->warnings->len; i++)
		expect_printable(names->warnings->pdata[i]);
	g_hash_table_iter_init(&iter, names->by_guid);
	while (g_hash_table_iter_next(&iter, &guid, &name)) {
		fuzz_expect(*(uint64_t *)guid != 0);
		fuzz_expect(*(char *)name && strlen(name) <= NODE_NAME_MAX);
		fuzz_expect(!strpbrk(name, "\"#"));
		expect_printable(name);
	}
	node_names_unref(names);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "node_names",
	.max_size = 1 << 13,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
