// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command line, its words separated by line ends: accepted or refused with a message that can
 * be printed.
 */
#include "core/options_private.h"
#include "tests/fuzz/fuzz.h"

#define WORDS_MAX 64

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "-f\n/dev/null\n-t\n200\n-n\n4\n--guid\n0x1");
	fuzz_add_text(seeds, "-V\n-s\n10\n-p\n3\n-R\nupdn,minhop\n-D\n0xFF");
	fuzz_add_text(seeds, "--sim\nfattree:4\n--sim-loss\n0.5\n-B\n-d3");
	fuzz_add_text(seeds, "-g=0x2c9\n-lroc\n--sm_p=4\n-vvv\n--help");
	return options_new();
}

static void check_given(const struct options *defaults, const GArray *given)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	struct options options = *defaults;
	bool good;

	/* The copy owns only what this command line sets. */
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		if (option_is_text(&option_table[id]))
			*(char **)option_field(&options, id) = NULL;
	good = options_args_apply(&options, given, warnings, &error);
	fuzz_expect(good == !error && (good || *error->message));
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		option_clear(&option_table[id], option_field(&options, id));
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_auto(GStrv) words = g_strsplit(text, "\n", WORDS_MAX);
	char *argv[WORDS_MAX + 2] = {(char *)"opensm"};
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) given = NULL;
	int argc = 1;

	for (unsigned int i = 0; words[i]; i++)
		argv[argc++] = words[i];
	given = options_args_split(argc, argv, &error);
	fuzz_expect(!given == !!error);
	fuzz_expect(!error || (*error->message && g_str_is_ascii(error->message)));
	if (given)
		check_given(state, given);
}

static void teardown(void *state)
{
	options_unref(state);
}

const struct fuzz_target fuzz_target = {
	.name = "options_args",
	.max_size = 1 << 12,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
