// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm.conf: accepted or refused with a message; the values of an accepted file read back alike
 * after they were written.
 */
#include "core/options_private.h"
#include "tests/fuzz/fuzz.h"

/* All options at their defaults: making them again costs more than parsing a small file. */
static void reset(struct options *options, const struct options *defaults)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		g_autofree char *text = NULL;
		g_autofree char *mistake = NULL;

		if (options->source[id] == OPTION_FROM_DEFAULT)
			continue;
		text = options_text(defaults, id);
		option_clear(&option_table[id], option_field(options, id));
		mistake = option_parse(&option_table[id], option_field(options, id), text, false);
		fuzz_expect(!mistake);
		options->source[id] = OPTION_FROM_DEFAULT;
	}
}

struct values {
	struct options *read, *again, *defaults;
};

static void *setup(GPtrArray *seeds)
{
	struct values *values = g_new(struct values, 1);
	g_autofree char *dump = NULL;

	values->read = options_new();
	values->again = options_new();
	values->defaults = options_new();
	dump = options_dump(values->defaults);
	fuzz_add_text(seeds, dump);
	fuzz_add_text(seeds, "m_key 0x5\nqos TRUE\nlmc 2\n");
	fuzz_add_text(seeds, "qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n"
			     "qos_vlarb_high 0:4,1:0,2:0\nlog_max_size 10\n"
			     "subnet_prefix 0xfe80000000000000\n");
	fuzz_add_text(seeds, "# comment\n\nlog_flags 0xff\nconsole 'local' # why\n");
	return values;
}

/* As parsing the file's text, but the error is that of the parser alone. */
static bool parse(struct options *options, const void *data, size_t size)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = g_malloc(size + 1);
	g_autoptr(GError) error = NULL;
	bool good;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	good = options_file_parse(options, "input", text, size, warnings, &error);
	fuzz_expect(good == !error && (good || *error->message));
	return good;
}

/* Each value that the file set, through its text. */
static void check_again(const struct values *values)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		g_autofree char *text = NULL;
		g_autofree char *again = NULL;
		g_autofree char *mistake = NULL;

		if (values->read->source[id] != OPTION_FROM_FILE)
			continue;
		text = options_text(values->read, id);
		mistake = option_parse(&option_table[id], option_field(values->again, id), text,
				       false);
		fuzz_expect(!mistake);
		values->again->source[id] = OPTION_FROM_FILE;
		again = options_text(values->again, id);
		fuzz_expect(strcmp(text, again) == 0);
	}
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct values *values = state;

	if (parse(values->read, data, size))
		check_again(values);
	reset(values->read, values->defaults);
	reset(values->again, values->defaults);
}

static void teardown(void *state)
{
	struct values *values = state;

	options_unref(values->read);
	options_unref(values->again);
	options_unref(values->defaults);
	g_free(values);
}

const struct fuzz_target fuzz_target = {
	.name = "options",
	.max_size = 1 << 15,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
