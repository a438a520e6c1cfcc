// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Any octets as a file of log flags: flags of files that exist, and warnings fit for a terminal. */
#include "core/skipped_lines.h"
#include "ctl/process/module_flags.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "sweep.c,0x0F\nmad.c = 1 # why\nosm_sa.c:017\r\nsm/sm.c\t255\n");
	fuzz_add_text(seeds, "st.c 1\nosm_perfmgr.c 0x01\nsweep.c 256\nsweep.c\nx.c 1 2\nmain.c 3");
	return NULL;
}

static void expect_known(GHashTable *files)
{
	GHashTableIter iter;
	gpointer name, flags;

	g_hash_table_iter_init(&iter, files);
	while (g_hash_table_iter_next(&iter, &name, &flags))
		fuzz_expect(module_is_own(name) && GPOINTER_TO_UINT(flags) <= 0xFF);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct module_flags *flags = module_flags_parse("input", (const char *)data, size);

	(void)state;
	expect_known(flags->own);
	expect_known(flags->classic);
	fuzz_expect(flags->warnings->len <= SKIPPED_LINES_TOLD + 1);
	for (guint i = 0; i < flags->warnings->len; i++)
		for (const char *c = flags->warnings->pdata[i]; *c; c++)
			fuzz_expect(g_ascii_isprint(*c));
	module_flags_unref(flags);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "module_flags",
	.max_size = 1 << 13,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
