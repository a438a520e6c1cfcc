// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file guid2lid: whatever it holds, the ranges taken from it are aligned, unicast and apart,
 * and come back from what is written.
 */
#define _GNU_SOURCE /* memmem */
#include <glib/gstdio.h>
#include <string.h>

#include "complib/log.h"
#include "iba/iba.h"
#include "sm/guid2lid.h"
#include "tests/fuzz/fuzz.h"

struct place {
	char *directory, *file;
	struct log *log;
};

struct ranges {
	uint8_t used[IBA_LID_UCAST_LAST + 1];
	unsigned int n;
};

static void *setup(GPtrArray *seeds)
{
	struct place *place = g_new(struct place, 1);

	fuzz_add_text(seeds, "0x0002c90300000001 0x0001 0x0001\n\n"
			     "0x0002c90300000002 0x0004 0x0007\n");
	fuzz_add_text(seeds, "0x1 0x80 0xff\n0x2 0xbfff 0xbfff\n0x3 0x10 0x1f\n# note\n");
	place->directory = g_dir_make_tmp("opensm-fuzz-XXXXXX", NULL);
	fuzz_expect(place->directory);
	place->file = g_build_filename(place->directory, "guid2lid", NULL);
	place->log = log_new_null();
	return place;
}

static void take(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	struct ranges *ranges = arg;

	fuzz_expect(guid != 0 && lid >= 1 && count >= 1 && lid % count == 0);
	fuzz_expect(lid + count - 1 <= IBA_LID_UCAST_LAST);
	for (unsigned int i = 0; i < count; i++)
		fuzz_expect(!ranges->used[lid + i]++);
	ranges->n++;
}

static unsigned int load(const struct place *place, bool write)
{
	g_autofree struct ranges *ranges = g_new0(struct ranges, 1);
	struct guid2lid *map = guid2lid_new(place->directory, place->log);

	guid2lid_each(map, take, ranges);
	if (write) {
		guid2lid_set(map, UINT64_MAX, 0xB000, 1);
		fuzz_expect(guid2lid_save(map, false));
	}
	guid2lid_free(map);
	return ranges->n;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct place *place = state;
	/* Writing costs a hundred times what reading does; what load() adds must not be there. */
	bool write = size && size % 8 == 0 && !memmem(data, size, "ffffffffffffffff", 16) &&
		     !memmem(data, size, "0xb0", 4) && !memmem(data, size, "0xB0", 4);
	unsigned int n;

	g_unlink(place->file); /* or the end of a longer one would stay */
	fuzz_expect(g_file_set_contents_full(place->file, (const char *)data, size,
					     G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	n = load(place, write);
	if (write)
		fuzz_expect(load(place, false) == n + 1);
}

static void teardown(void *state)
{
	struct place *place = state;
	g_autofree char *bad = g_strconcat(place->file, ".bad", NULL);

	g_unlink(place->file);
	g_unlink(bad);
	g_rmdir(place->directory);
	log_free(place->log);
	g_free(place->directory);
	g_free(place->file);
	g_free(place);
}

const struct fuzz_target fuzz_target = {
	.name = "guid2lid",
	.max_size = 1 << 14,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
