// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a user, or any client that reaches the console, types: bytes become lines, lines become
 * commands of a daemon that has brought a small fabric up. Answers are printable text, or JSON that
 * parses.
 *
 * The input: one octet (bit 0: trusted), then the bytes. Afterwards the changes made by commands
 * are undone.
 */
#include <json-glib/json-glib.h>

#include "ctl/base/lines.h"
#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/proxy.h"

#define BRING_UP_MS 2000
#define LINES_MAX 8
#define SECRET_KEY UINT64_C(0x5EC2E75EC2E75EC2)
#define SECRET "5ec2e75ec2e75ec2"

struct console {
	struct bed *bed;
	struct command_env env;
	struct options *options; /* at the start */
};

static void *setup(GPtrArray *seeds)
{
	struct console *console = g_new0(struct console, 1);
	struct bed *bed = bed_new("mesh:2");
	const char *name, *arguments, *help;

	for (unsigned int i = 0; command_describe(i, &name, &arguments, &help); i++) {
		g_autofree char *input = g_strdup_printf("1%s\n%s json\n%s %s\nhelp %s\n", name,
							 name, name, arguments, name);

		fuzz_add_text(seeds, input);
	}
	fuzz_add_text(seeds, "0path 1 2\npath host-0 host-1 json\nlft switch-0\nquerylid 0x1\n");
	fuzz_add_text(seeds, "0portstatus ca\nswitchbalance verbose\nports slow\nstatus loop\n");
	fuzz_add_text(seeds, "1sim traffic random 9 50%\nsim errors host-0 1 cable 5\n"
			     "sim agent hosts no-extended\nsim counters host-0 1\n");
	fuzz_add_text(seeds, "1sim unlink host-0 1\nsweep off\npriority 3\nloglevel 0xff\n");
	fuzz_add_text(seeds, "1dump_portguid ^host 'switch-[01]'\nevents 5\nresweep heavy\n");
	fuzz_add_text(seeds, "\xFF\xFB\x01\xFF\xFA\x18\xFF\xF0status\r\n\"quoted\" word\r\0\n");
	bed->options->sa_key = SECRET_KEY;
	bed_start(bed);
	console->bed = bed;
	console->env.daemon = bed->daemon;
	console->env.journal = journal_new(bed->daemon);
	console->env.sim = bed->sim;
	bed_run_ms(bed, BRING_UP_MS);
	console->options = slot_take(&daemon_context(bed->daemon)->options);
	return console;
}

static void check_text(const char *text)
{
	fuzz_expect(g_utf8_validate(text, -1, NULL));
	for (const char *c = text; *c; c++)
		fuzz_expect(!g_ascii_iscntrl(*c) || *c == '\n' || *c == '\t');
	if (*text)
		fuzz_expect(g_str_has_suffix(text, "\n"));
}

static void check_json(const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();

	g_autoptr(GError) error = NULL;

	if (!json_parser_load_from_data(parser, text, -1, &error))
		g_error("%s:\n%s", error->message, text);
}

static void run_line(struct console *console, const char *line, bool trusted)
{
	struct command_answer answer;

	command_run(&console->env, line, trusted, &answer);
	check_text(answer.text);
	if (*answer.text == '{' && !strchr(line, '{')) /* else it may be an echo */
		check_json(answer.text);
	if (!trusted && !strstr(line, SECRET))
		fuzz_expect(!strstr(answer.text, SECRET));
	g_free(answer.text);
	bed_run_ms(console->bed, 1);
	if (answer.work) {
		command_answer_work(answer.work, &answer);
		check_text(answer.text);
		g_free(answer.text);
	}
}

/* Restores the start, so that each run begins alike. */
static void put_back(struct console *console)
{
	struct bed *bed = console->bed;
	struct context *context = daemon_context(bed->daemon);
	struct options *now = slot_take(&context->options);

	if (now != console->options) {
		slot_publish(&context->options, options_ref(console->options));
		event_emit(&context->bus, EVENT_OPTIONS_CHANGED, 0);
		log_set_flags(bed->log, console->options->log_flags);
	}
	options_unref(now);
	for (unsigned int node = 0; node < sim_nodes(bed->sim); node++) {
		struct sim_node_view view;

		sim_node_view(bed->sim, node, &view);
		for (unsigned int port = 1; port <= view.num_ports; port++)
			if (!sim_link_up(bed->sim, node, port))
				sim_link_set(bed->sim, node, port, true);
	}
	event_emit(&context->bus, EVENT_SWEEP_ALLOWED, true);
	bed_run_ms(bed, 1000);
	g_string_truncate(bed->text, 0);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	bool trusted = fuzz_octet(&bytes) & 1;
	struct console *console = state;
	enum line_kind kind;
	struct lines lines;
	unsigned int n = 0;

	lines_init(&lines, COMMAND_MAX_LINE);
	while (n < LINES_MAX && bytes.left) {
		kind = lines_byte(&lines, fuzz_octet(&bytes));
		n += kind != LINE_NONE;
		if (kind == LINE_GOOD)
			run_line(console, lines.text->str, trusted);
	}
	if (n < LINES_MAX && lines_end(&lines) == LINE_GOOD)
		run_line(console, lines.text->str, trusted);
	lines_clear(&lines);
	put_back(console);
}

static void teardown(void *state)
{
	struct console *console = state;

	options_unref(console->options);
	daemon_stop(console->bed->daemon);
	journal_free(console->env.journal);
	bed_free(console->bed);
	g_free(console);
}

const struct fuzz_target fuzz_target = {
	.name = "console",
	.max_size = 4096,
	.runs = 2000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
