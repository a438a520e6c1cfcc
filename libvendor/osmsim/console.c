// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The console: text is split into commands and these into words, with quotes as in a shell;
 * commands.def lists the commands. NODE is a description, the unambiguous beginning of one, or a
 * GUID; ibsim's "NODE"[PORT] is understood as two words.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libvendor/osmsim/console.h"

#define LINE_MAX_OCTETS 65536

static const struct row {
	const char *name;
	unsigned int least, most;
	const char *arguments, *help;
	command_fn *run;
} rows[] = {
#define COMMAND(name, least, most, arguments, help)                                                \
	{#name, least, most, arguments, help, command_##name},
#define ALIAS(alias, name)
#include "libvendor/osmsim/commands.def"
};

static const struct {
	const char *alias, *name;
} aliases[] = {
#define COMMAND(name, least, most, arguments, help)
#define ALIAS(alias, name) {#alias, #name},
#include "libvendor/osmsim/commands.def"
};

/* ---- words ---- */

bool command_fail(struct command *command, const char *format, ...)
{
	va_list args;

	g_string_append_printf(command->out, "%s: ", command->error_of);
	va_start(args, format);
	g_string_append_vprintf(command->out, format, args);
	va_end(args);
	g_string_append_c(command->out, '\n');
	return false;
}

struct sim_node *command_node(struct command *command, unsigned int word)
{
	const char *name = command->words[word];
	struct sim_node *node = *name ? server_find_node(command->server, name) : NULL;

	if (!node)
		command_fail(command, "no node, or more than one, is called '%s'", name);
	return node;
}

bool command_number(struct command *command, unsigned int word, uint64_t max, uint64_t *value)
{
	const char *text = command->words[word];
	char *end;

	errno = 0;
	*value = g_ascii_strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || *value > max)
		return command_fail(command, "'%s' is not a number from 0 to %" G_GUINT64_FORMAT,
				    text, max);
	return true;
}

bool command_probability(struct command *command, unsigned int word, double *value)
{
	const char *text = command->words[word];
	char *end;

	*value = g_ascii_strtod(text, &end);
	if (end == text || *end || !(*value >= 0 && *value <= 1))
		return command_fail(command, "'%s' is not a probability from 0 to 1", text);
	return true;
}

bool command_on(struct command *command, unsigned int word, bool *on)
{
	const char *text = word < command->n_words ? command->words[word] : "on";

	*on = !g_ascii_strcasecmp(text, "on");
	if (!*on && g_ascii_strcasecmp(text, "off") != 0)
		return command_fail(command, "'%s' is neither on nor off", text);
	return true;
}

struct sim_port *command_end(struct command *command, unsigned int word, bool external)
{
	struct sim_node *node = command_node(command, word);
	unsigned int first = node && node->sw && !external ? 0 : 1;
	uint64_t number;

	if (!node || !command_number(command, word + 1, UINT8_MAX, &number))
		return NULL;
	if (number >= first && number <= node->num_ports)
		return &node->ports[number];
	command_fail(command, "'%s' has ports %u to %u", node->description, first, node->num_ports);
	return NULL;
}

/* ---- one command ---- */

static const struct row *find(const char *name)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(aliases); i++)
		if (!g_ascii_strcasecmp(aliases[i].alias, name))
			name = aliases[i].name;
	for (unsigned int i = 0; i < G_N_ELEMENTS(rows); i++)
		if (!g_ascii_strcasecmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

bool command_help(struct command *command)
{
	const struct row *only = command->n_words ? find(command->words[0]) : NULL;

	if (command->n_words && !only)
		return command_fail(command, "there is no command %s", command->words[0]);
	for (unsigned int i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *usage = g_strjoin(" ", rows[i].name, rows[i].arguments, NULL);

		if (!only || only == &rows[i])
			g_string_append_printf(command->out, "%-40s %s\n", usage, rows[i].help);
	}
	return true;
}

bool command_quit(struct command *command)
{
	command->server->quit = true;
	return true;
}

/* NODE[PORT] becomes two words, unless a node or a counter has that name. */
static void split_brackets(const struct server *server, GPtrArray *words, const char *word)
{
	const char *open = strrchr(word, '[');
	size_t length = strlen(word);
	enum sim_port_counter which;

	if (!open || open == word || word[length - 1] != ']' || server_find_node(server, word) ||
	    sim_find_counter(word, &which)) {
		g_ptr_array_add(words, g_strdup(word));
		return;
	}
	g_ptr_array_add(words, g_strndup(word, open - word));
	g_ptr_array_add(words, g_strndup(open + 1, word + length - 1 - (open + 1)));
}

static bool run_words(struct server *server, char **words, unsigned int n_words, GString *out)
{
	g_autoptr(GPtrArray) split = g_ptr_array_new_with_free_func(g_free);
	const struct row *row = find(words[0]);
	struct command command = {.server = server, .out = out, .error_of = words[0]};

	if (!row)
		return command_fail(&command, "unknown command; try help");
	for (unsigned int i = 1; i < n_words; i++)
		split_brackets(server, split, words[i]);
	command.error_of = row->name;
	command.words = (char **)split->pdata;
	command.n_words = split->len;
	if (split->len < row->least || split->len > row->most)
		return command_fail(&command, "usage: %s %s", row->name, row->arguments);
	return row->run(&command);
}

static bool run_one(struct server *server, const char *text, GString *out)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) words = NULL;
	int n;

	if (!g_shell_parse_argv(text, &n, &words, &error)) {
		if (g_error_matches(error, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING))
			return true;
		g_string_append_printf(out, "%s\n", error->message);
		return false;
	}
	return run_words(server, words, n, out);
}

/* Length of the first command in text: up to a separator outside quotes. */
static size_t command_length(const char *text)
{
	char quote = 0;
	size_t i;

	for (i = 0; text[i] && (quote ? text[i] != '\n' : !strchr(";\n", text[i])); i++) {
		if (text[i] == quote)
			quote = 0;
		else if (!quote && strchr("'\"", text[i]))
			quote = text[i];
	}
	return i;
}

bool console_run(struct server *server, const char *text, GString *out)
{
	if (!g_utf8_validate(text, -1, NULL)) {
		g_string_append(out, "commands are UTF-8 text\n");
		return false;
	}
	while (*text) {
		size_t length = command_length(text);
		g_autofree char *one = g_strndup(text, length);

		if (!run_one(server, one, out))
			return false;
		text += length + (text[length] != '\0');
	}
	return true;
}

/* ---- from a descriptor ---- */

struct console {
	struct watch watch;
	struct server *server;
	GString *line;
	bool prompt;
};

static void prompt(const struct console *console)
{
	if (console->prompt && !console->server->quit)
		fputs("osmsim> ", stdout);
	fflush(stdout);
}

static void run_lines(struct console *console)
{
	char *end;

	while (!console->server->quit && (end = strchr(console->line->str, '\n'))) {
		g_autoptr(GString) out = g_string_new(NULL);

		*end = '\0';
		console_run(console->server, console->line->str, out);
		fwrite(out->str, 1, out->len, stdout);
		g_string_erase(console->line, 0, end + 1 - console->line->str);
		prompt(console);
	}
	if (console->line->len > LINE_MAX_OCTETS)
		g_string_truncate(console->line, 0);
}

static bool read_more(struct console *console)
{
	char buffer[4096];
	ssize_t n = read(console->watch.fd, buffer, sizeof(buffer));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		/* The last line may lack its newline. */
		g_string_append_c(console->line, '\n');
		run_lines(console);
		return false;
	}
	g_string_append_len(console->line, buffer, n);
	run_lines(console);
	return true;
}

static void console_ready(struct watch *watch, uint32_t events)
{
	struct console *console = (struct console *)watch;

	(void)events;
	if (!read_more(console))
		server_unwatch(console->server, watch);
}

struct console *console_new(struct server *server, int fd, bool with_prompt)
{
	struct console *console = g_new0(struct console, 1);

	console->watch = (struct watch){.fd = fd, .ready = console_ready};
	console->server = server;
	console->line = g_string_new(NULL);
	console->prompt = with_prompt;
	prompt(console);
	/* epoll refuses regular files, as they are always ready: read them at once. */
	if (!server_watch(server, &console->watch, EPOLLIN) && errno == EPERM)
		while (read_more(console) && !server->quit)
			;
	return console;
}

void console_free(struct console *console)
{
	if (!console)
		return;
	g_string_free(console->line, TRUE);
	g_free(console);
}
