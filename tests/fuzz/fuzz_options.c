// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm.conf and the command line: the input's first line is split into words as arguments, the
 * rest is the file. Accepted or refused with a message.
 */
#include <string.h>
#include <unistd.h>

#include "core/options.h"
#include "tests/fuzz/fuzz.h"

struct files {
	int in;
};

static void *setup(GPtrArray *seeds)
{
	struct files *files = g_new(struct files, 1);
	struct options *options = options_new();
	g_autofree char *text = NULL;
	g_autofree char *seed = NULL;

	files->in = -1;
	seed = options_dump(options);
	text = g_strconcat("-f /dev/null -t 200 -n 4 --guid 0x1\n", seed, NULL);
	options_unref(options);
	fuzz_add_text(seeds, text);
	fuzz_add_text(seeds, "-V -s 10 -p 3 -R updn,minhop -D 0xFF\n"
			     "m_key 0x5\nqos TRUE\nlmc 2\n");
	fuzz_add_text(seeds, "--sim fattree:4 --sim-loss 0.5 -B\n"
			     "qos_sl2vl 0,1,2,3,4,5,6,7\n"
			     "qos_vlarb_high 0:4,1:0,2:0\nlog_max_size 10M\n"
			     "subnet_prefix fe80::\n");
	fuzz_add_text(seeds, "-g 0x2c9 -l 2 -r -o -c\n"
			     "# comment\n\nlog_flags 0xff\nconsole local\n");
	return files;
}

static void load(const char *in, const char *words)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autofree char *line = g_strdup_printf("opensm -F %s %s", in, words);
	g_auto(GStrv) argv = g_strsplit_set(line, " \t", -1);
	enum options_request request = OPTIONS_RUN;
	struct options *options = NULL;

	if (!options_load(&options, &request, g_strv_length(argv), argv, warnings, &error)) {
		fuzz_expect(error && *error->message);
		return;
	}
	fuzz_expect(!error);
	fuzz_expect(!options == (request != OPTIONS_RUN));
	if (options) {
		g_autofree char *dump = options_dump(options);

		fuzz_expect(strlen(dump) > 0);
	}
	options_unref(options);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct files *files = state;
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t first = end ? (size_t)(end - data) : size;
	g_autofree char *words = g_strndup((const char *)data, first);
	g_autofree char *in =
		fuzz_file(&files->in, end ? end + 1 : data, end ? size - first - 1 : 0);

	load(in, "");
	load(in, words);
}

static void teardown(void *state)
{
	struct files *files = state;

	close(files->in);
	g_free(files);
}

const struct fuzz_target fuzz_target = {
	.name = "options",
	.max_size = 1 << 15,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
