// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file unhealthy-ports: entries accepted from any text are read back as they were written. */
#include <string.h>

#include "sm/health/unhealthy.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "0x0002c90300000001 1 flapping ca isolate 0x6 never 600 0 0\n"
			     "0x0002c90300000002 0 reboot switch disable 0x2 30 60 4 1\n");
	fuzz_add_text(seeds, "# note\n0x5 254 babbling router enable 0x0 never 0 0 0\n");
	return log_new_null();
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	struct unhealthy *one = unhealthy_new(), *other = unhealthy_new();
	g_autofree char *written = NULL, *rewritten = NULL;

	unhealthy_parse(one, "input", text, state, 0);
	written = unhealthy_format(one, 0);
	fuzz_expect(unhealthy_parse(other, "written", written, state, 1000) == 0);
	fuzz_expect(unhealthy_count(one) == unhealthy_count(other));
	rewritten = unhealthy_format(other, 1000);
	fuzz_expect(strcmp(written, rewritten) == 0);
	unhealthy_free(one);
	unhealthy_free(other);
}

static void teardown(void *state)
{
	log_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "unhealthy",
	.max_size = 1 << 12,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
