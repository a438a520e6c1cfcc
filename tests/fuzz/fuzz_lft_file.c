// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of forwarding tables and of hop counts: accepted with every value in its bounds, or refused
 * with a message.
 */
#include "policy/files/lft_file.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "Unicast lids [0-36] of switch Lid 2 guid 0x200000 ('L0-0'):\n"
			     "0x0001 001 # Channel Adapter portguid 0x100001: 'H0-0-0'\n"
			     "0x0002 000 # Switch portguid 0x200000: 'L0-0'\n"
			     "2 lids dumped\n");
	fuzz_add_text(seeds, "Unicast lids [0x0-0x24] of switch Lid 2 guid 0x200000 (L0-0):\n"
			     "  Lid  Out   Destination\n       Port     Info \n"
			     "0x0000 255 : (path #0 - illegal port)\n"
			     "0x0001 003 : (Channel Adapter portguid 0x100001: 'H0-0-0')\n"
			     "2 valid lids dumped \n*** WARNING ***: replaced\n");
	fuzz_add_text(seeds, "Switch: guid 0x200000\n"
			     "0x0002: 00 ff ff 02 02 # portguid 0x200000\n"
			     "0x0003: 02 ff ff 02 02\nSwitch: guid 0x1\n");
	return NULL;
}

static void check_lfts(const struct route_lfts *lfts, guint n_entries)
{
	for (uint32_t i = 0; i < lfts->n; i++) {
		const struct route_lft *lft = &lfts->lfts[i];

		fuzz_expect(lft->guid && lft->first <= n_entries &&
			    lft->n <= n_entries - lft->first);
		for (uint32_t k = lft->first; k < lft->first + lft->n; k++)
			fuzz_expect(lfts->entries[k].lid && lfts->entries[k].lid < FABRIC_LIDS &&
				    lfts->entries[k].port != ROUTE_NO_PORT);
	}
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL, other = NULL;
	struct lft_file *file = lft_file_parse("f", (const char *)data, size, &error);
	struct hops_file *hops = hops_file_parse("f", (const char *)data, size, &other);

	(void)state;
	fuzz_expect(!file == !!error && (!error || *error->message));
	fuzz_expect(!hops == !!other && (!other || *other->message));
	if (file) {
		struct route_lfts lfts = lft_file_input(file);

		check_lfts(&lfts, file->entries->len);
	}
	for (guint i = 0; hops && i < hops->rows->len; i++) {
		const struct route_hops_row *row =
			&g_array_index(hops->rows, struct route_hops_row, i);

		fuzz_expect(row->sw && row->n <= 256 && row->first <= hops->hops->len &&
			    row->n <= hops->hops->len - row->first && row->lid < FABRIC_LIDS);
	}
	lft_file_free(file);
	hops_file_free(hops);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "lft_file",
	.max_size = 1 << 14,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
