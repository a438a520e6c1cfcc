// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The daemon is asked for the next events when the last ones have been written, so it keeps nothing
 * for a slow reader, which is told of what it missed; this program holds one answer at most.
 */
#include "opensmctl/follow.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client/json.h"
#include "opensmctl/connect.h"

#define PAUSE_MS 500	  /* between two attempts to connect */
#define PATIENCE_MS 30000 /* for an answer, beyond its wait for news */

/* ---- the user and the reader ---- */

static void on_signal(int number)
{
	(void)number;
	_exit(CONTROL_DONE);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static bool cannot_write(GError **error)
{
	g_set_error(error, CLIENT_ERROR, CONTROL_FAILED, "the events cannot be written: %s",
		    g_strerror(errno));
	return false;
}

/*
 * A part that a pipe takes at once, so that signals never have to wait for the reader; and a line
 * that is not longer is whole even if one comes.
 */
static gssize write_part(const char *text, size_t length)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (poll(&out, 1, -1) < 0)
		return errno == EINTR ? 0 : -1;
	return write(STDOUT_FILENO, text, MIN(length, PIPE_BUF));
}

static bool write_lines(GString *lines, GError **error)
{
	const char *at = lines->str, *end = lines->str + lines->len;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		gssize n = write_part(at, (size_t)((line_end ? line_end + 1 : end) - at));

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return cannot_write(error);
		at += MAX(n, 0);
	}
	g_string_truncate(lines, 0);
	return true;
}

/* Waits for input of the descriptor (-1: none); ends as by SIGPIPE if the output is closed. */
static bool wait_for_input(int fd, int ms)
{
	struct pollfd polled[] = {{.fd = STDOUT_FILENO}, {.fd = fd, .events = POLLIN}};
	int n;

	while ((n = poll(polled, G_N_ELEMENTS(polled), ms)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		return false;
	if (polled[0].revents & (POLLERR | POLLHUP))
		raise(SIGPIPE);
	return polled[1].revents;
}

/* ---- the daemon ---- */

/* The daemon may come again; anything else that is wrong stays wrong. */
static bool is_away(const GError *error)
{
	return g_error_matches(error, CLIENT_ERROR, CONTROL_UNREACHABLE);
}

static bool receive(struct peer *peer, bool waits, struct reply *reply, GError **error)
{
	int ms = PATIENCE_MS + (waits ? STREAM_WAIT_S * 1000 : 0);

	if (!peer_has_input(peer) && !wait_for_input(peer_descriptor(peer), ms))
		return client_unreachable(error, "the daemon does not answer");
	return peer_receive(peer, reply, error);
}

/* The answer is an error, as JSON unless the daemon ends or has no room. */
static void fail(enum control_status status, char *output, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GBytes) octets = g_bytes_new_static(output, strlen(output));
	const char *text = json_text(json_read(parser, octets), "error");

	g_set_error(error, CLIENT_ERROR, (int)status, "%s", *text ? text : g_strchomp(output));
}

/* Asks once; adds lines. */
static bool ask(struct peer *peer, struct stream *stream, GString *lines, bool *waits,
		GError **error)
{
	g_autofree char *question = stream_question(stream, *waits);
	struct reply reply = {0};
	bool good;

	peer_send(peer, question);
	if (!receive(peer, *waits, &reply, error))
		return false;
	good = reply.status == CONTROL_DONE && stream_take(stream, reply.output, lines, waits);
	if (reply.status != CONTROL_DONE)
		fail(reply.status, reply.output, error);
	else if (!good)
		g_set_error(error, CLIENT_ERROR, CONTROL_FAILED,
			    "the daemon does not number its events");
	reply_clear(&reply);
	return good;
}

/* Until the connection is lost, or something else goes wrong. */
static void listen_to(struct peer *peer, struct stream *stream, GError **error)
{
	g_autoptr(GString) lines = g_string_new(NULL);
	bool waits = false;

	while (ask(peer, stream, lines, &waits, error) && write_lines(lines, error))
		;
}

void follow(const struct arguments *arguments, struct stream *stream, GError **error)
{
	g_autoptr(GString) lines = g_string_new(NULL);

	catch_signals();
	for (;;) {
		GError *trouble = NULL;
		struct peer *peer = connect_daemon(arguments, &trouble);

		signal(SIGPIPE, SIG_DFL); /* GIO ignores it */
		if (peer)
			listen_to(peer, stream, &trouble);
		peer_free(peer);
		if (!stream->started || !is_away(trouble)) {
			g_propagate_error(error, trouble);
			return;
		}
		stream_lose(stream, trouble->message, lines);
		g_error_free(trouble);
		if (!write_lines(lines, error))
			return;
		wait_for_input(-1, PAUSE_MS);
	}
}
