// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of GUIDs that the routing options name: refused with a message fit for a terminal, or rows
 * of the requested form. The first octet selects the form.
 */
#include "complib/hash.h"
#include "policy/files/guid_file.h"
#include "tests/fuzz/fuzz.h"

static const struct guid_file_form forms[] = {
	{"a GUID", 0, 0, 0, false},
	{"a GUID and a number", 1, 1, 0xFFFF, true},
	{"a GUID, a port and a weight", 2, 3, UINT64_MAX, false},
	{"a GUID and ports", 1, 254, 254, true},
};

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "0"
			     "0x0002c90200000001\n# root\n2c90200000002 # another\n\n");
	fuzz_add_text(seeds, "1"
			     "0x2c90200000001 5\r\n0x2c90200000001 0xffff\n");
	fuzz_add_text(seeds, "2"
			     "0x2c90200000001 1 2 3\n\t0x2c90200000002 1 18446744073709551615");
	fuzz_add_text(seeds, "3"
			     "abc 1 2 3 4 5 254\n0x0 1\nxyz\n");
	return NULL;
}

static void check_rows(const struct guid_table *table, const struct guid_file_form *form)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(hash_uint64, g_int64_equal);

	for (guint i = 0; i < table->rows->len; i++) {
		struct guid_row *row = &g_array_index(table->rows, struct guid_row, i);

		fuzz_expect(row->guid && row->n >= form->least && row->n <= form->most);
		fuzz_expect(row->first + row->n <= table->numbers->len);
		fuzz_expect(g_hash_table_add(seen, &row->guid) || form->repeated);
		for (uint32_t k = 0; k < row->n; k++)
			fuzz_expect(g_array_index(table->numbers, uint64_t, row->first + k) <=
				    form->max);
	}
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	const struct guid_file_form *form = &forms[fuzz_octet(&bytes) % G_N_ELEMENTS(forms)];
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	struct guid_table *table =
		guid_file_parse("input", (const char *)bytes.at, bytes.left, form, warnings,
				&error);

	(void)state;
	fuzz_expect(!table == !!error);
	if (table)
		check_rows(table, form);
	for (const char *c = error ? error->message : ""; *c; c++)
		fuzz_expect(g_ascii_isprint(*c) || *c == '\n'); /* one mistake a line */
	fuzz_expect(warnings->len <= 4);
	for (guint i = 0; i < warnings->len; i++)
		for (const char *c = warnings->pdata[i]; *c; c++)
			fuzz_expect(g_ascii_isprint(*c));
	guid_table_free(table);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "guid_file",
	.max_size = 1 << 13,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
