// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file guid2lid: whatever the file holds, the ranges accepted from it are aligned, unicast and
 * disjoint, and are read back from the text that is written.
 */
#include <stdlib.h>

#include "iba/iba.h"
#include "sm/store/guid2lid.h"
#include "tests/fuzz/fuzz.h"

struct ranges {
	struct range {
		uint16_t lid, count;
	} all[IBA_LID_UCAST_LAST];
	unsigned int n;
};

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "0x0002c90300000001 0x0001 0x0001\n\n"
			     "0x0002c90300000002 0x0004 0x0007\n");
	fuzz_add_text(seeds, "0x1 0x80 0xff\n0x2 0xbfff 0xbfff\n0x3 0x10 0x1f\n# note\n");
	return log_new_null();
}

static void take(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	struct ranges *ranges = arg;

	fuzz_expect(guid != 0 && lid >= 1 && count >= 1 && lid % count == 0);
	fuzz_expect(lid + count - 1 <= IBA_LID_UCAST_LAST);
	ranges->all[ranges->n++] = (struct range){lid, count};
}

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->lid - y->lid;
}

static void check(const struct guid2lid *map)
{
	static struct ranges ranges;

	ranges.n = 0;
	guid2lid_each(map, take, &ranges);
	qsort(ranges.all, ranges.n, sizeof(ranges.all[0]), compare);
	for (unsigned int i = 1; i < ranges.n; i++)
		fuzz_expect(ranges.all[i - 1].lid + ranges.all[i - 1].count <= ranges.all[i].lid);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	struct guid2lid *map = guid2lid_new(NULL, state);
	struct guid2lid *again = guid2lid_new(NULL, state);
	g_autofree char *written = NULL;
	g_autofree char *rewritten = NULL;

	guid2lid_parse(map, "input", text);
	check(map);
	written = guid2lid_format(map);
	fuzz_expect(guid2lid_parse(again, "written", written) == 0);
	rewritten = guid2lid_format(again);
	fuzz_expect(strcmp(written, rewritten) == 0);
	guid2lid_free(map);
	guid2lid_free(again);
}

static void teardown(void *state)
{
	log_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "guid2lid",
	.max_size = 1 << 14,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
