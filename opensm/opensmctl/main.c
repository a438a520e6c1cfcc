// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensmctl: commands to a running opensm, one on the command line or many as lines of input. Exit
 * codes as in client/control.h; for many commands, the last one that was not 0.
 */
#include "config.h"

#include <complib/file.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opensmctl/connect.h"
#include "opensmctl/editor.h"
#include "opensmctl/follow.h"
#include "opensmctl/show.h"
#include "opensmctl/watch.h"

#define LOOK_MS 100 /* interval at which a loop checks both sides */

struct program {
	struct arguments arguments;
	struct peer *peer;
	bool lines; /* commands come from the standard input */
	bool lost;  /* the connection is lost */
	int exit_code;
};

static int complain(const GError *error, int code)
{
	g_autofree char *text = show_harmless(error->message);

	fprintf(stderr, "opensmctl: %s\n", text);
	return code;
}

static void lose(struct program *program, const GError *error)
{
	program->lost = true;
	program->exit_code = complain(error, error->code);
}

static void show_reply_file(struct program *program, int file)
{
	if (!program->arguments.quiet && !show_takes_file(stdout, file)) {
		fputs("opensmctl: the answer is not text: expected a file or a pipe as standard "
		      "output\n",
		      stderr);
		program->exit_code = CONTROL_USAGE;
	} else if (!program->arguments.quiet && !show_file(stdout, file)) {
		fprintf(stderr, "opensmctl: the answer cannot be written: %s\n", strerror(errno));
		program->exit_code = CONTROL_FAILED;
	}
	close(file);
}

/*
 * Answers go to the standard output, errors to the standard error; in JSON an error is an answer.
 */
static void show_reply(struct program *program, const struct reply *reply)
{
	bool good = reply->status == CONTROL_DONE || reply->status >= CONTROL_NO_SM;

	if (reply->status)
		program->exit_code = (int)reply->status;
	if (reply->file) {
		show_reply_file(program, reply->file);
		return;
	}
	if (program->arguments.quiet && reply->status == CONTROL_DONE)
		return;
	show(good || program->arguments.json ? stdout : stderr, reply->output);
}

/* Waits for the daemon; false: the user typed something first. */
static bool wait_for_more(struct program *program)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	while (program->lines && !peer_has_input(program->peer))
		if (poll(&input, 1, LOOK_MS) > 0)
			return false;
	return true;
}

/* A line of the user ends a repeating command. */
static void end_loop(struct program *program)
{
	g_autofree char *line = editor_plain_line();

	(void)line;
	peer_send(program->peer, "");
}

/* Whether the answer may be so long that it should come as a file. */
static bool wants_file(const struct program *program, const char *line)
{
	g_auto(GStrv) words = g_strsplit_set(line, " \t", 2);

	return !program->arguments.json && !g_strcmp0(words[0], "metrics") &&
	       peer_sends_files(program->peer);
}

static void run_line(struct program *program, const char *text)
{
	g_autofree char *line = g_strconcat(text, program->arguments.json ? " json" : "",
					    wants_file(program, text) ? " descriptor" : "", NULL);
	g_autoptr(GError) error = NULL;
	struct reply reply = {.more = true};
	bool ended = false;

	peer_send(program->peer, line);
	while (reply.more) {
		if (!peer_receive(program->peer, &reply, &error)) {
			lose(program, error);
			return;
		}
		show_reply(program, &reply);
		g_free(reply.output);
		if (reply.more && !ended && !wait_for_more(program)) {
			end_loop(program);
			ended = true;
		}
	}
}

static bool is_blank(const char *line)
{
	return !line[strspn(line, " \t")];
}

/* Whether no other line is to follow. */
static bool is_last(const char *line)
{
	g_autofree char *words = g_strstrip(g_strdup(line));

	return !strcmp(words, "quit") || !strcmp(words, "exit");
}

/* From the connected daemon: other daemons may have other commands. */
static struct completer *learn_commands(struct program *program)
{
	struct reply reply = {0};
	struct completer *completer;
	bool good = peer_ask(program->peer, "help json", &reply, NULL);

	completer = completer_new(good ? reply.output : "");
	g_free(reply.output);
	return completer;
}

static void run_terminal(struct program *program)
{
	struct completer *completer = learn_commands(program);
	struct editor *editor = editor_new(completer);
	char *line;

	while (!program->lost && (line = editor_line(editor))) {
		bool over = is_last(line);

		if (!over && !is_blank(line))
			run_line(program, line);
		g_free(line);
		if (over)
			break;
	}
	editor_free(editor);
	completer_free(completer);
}

static void run_script(struct program *program)
{
	char *line;
	bool over = false;

	while (!program->lost && !over && (line = editor_plain_line())) {
		over = is_last(line);
		if (!over && !is_blank(line))
			run_line(program, line);
		g_free(line);
	}
}

/* The view on a terminal; elsewhere the state and one table. */
static void run_watch(struct program *program)
{
	g_autoptr(GError) error = NULL;

	if (!watch_is_wanted()) {
		run_line(program, program->arguments.line);
		if (!program->lost) {
			putchar('\n');
			run_line(program, "perfmgr top 20");
		}
	} else if (!watch_run(program->peer, &error)) {
		lose(program, error);
	}
}

static void run(struct program *program)
{
	if (program->arguments.line && watch_is_meant(program->arguments.line) &&
	    !program->arguments.json && !program->arguments.quiet) {
		run_watch(program);
		return;
	}
	if (program->arguments.line) {
		run_line(program, program->arguments.line);
		return;
	}
	program->lines = true;
	setvbuf(stdin, NULL, _IONBF, 0); /* poll() must see all unread input */
	if (editor_is_wanted())
		run_terminal(program);
	else
		run_script(program);
}

/* It connects by itself, again and again. */
static int run_follow(const struct arguments *arguments)
{
	struct stream stream = {.json = arguments->json};
	g_autoptr(GError) error = NULL;
	int code = CONTROL_USAGE;

	if (arguments->quiet) {
		g_set_error(&error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--quiet is not for events --follow");
	} else if (stream_parse(&stream, arguments->words, &error)) {
		follow(arguments, &stream, &error);
		code = error->code;
	}
	stream_clear(&stream);
	return complain(error, code);
}

int main(int argc, char **argv)
{
	struct program program = {0};
	g_autoptr(GError) error = NULL;

	file_guard_standard();
	if (!arguments_parse(&program.arguments, argc, argv, &error)) {
		program.exit_code = complain(error, CONTROL_USAGE);
	} else if (program.arguments.version) {
		puts("opensmctl " PACKAGE_VERSION);
	} else if (stream_is_meant(program.arguments.words)) {
		program.exit_code = run_follow(&program.arguments);
	} else if (!(program.peer = connect_daemon(&program.arguments, &error))) {
		program.exit_code = complain(error, error->code);
	} else {
		/* GIO ignores SIGPIPE: a loop must end when its output is no longer read. */
		signal(SIGPIPE, SIG_DFL);
		run(&program);
		peer_free(program.peer);
	}
	arguments_clear(&program.arguments);
	return program.exit_code;
}
