// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "opensmctl/peer.h"

#include <string.h>

#define CHUNK 65536

struct peer {
	GIOStream *stream;
	struct record_reader records;
	bool heard; /* something was received */
};

struct peer *peer_new(GIOStream *stream)
{
	struct peer *peer = g_new0(struct peer, 1);

	peer->stream = g_object_ref(stream);
	record_reader_init(&peer->records);
	return peer;
}

void peer_free(struct peer *peer)
{
	if (!peer)
		return;
	g_object_unref(peer->stream);
	record_reader_clear(&peer->records);
	g_free(peer);
}

/*
 * With TLS 1.3 a daemon that refuses our certificate closes the connection after the handshake,
 * often without an alert; for other reasons it sends a text or closes TLS properly.
 */
static bool is_certificate_refused(const struct peer *peer, const GError *trouble)
{
	return G_IS_TLS_CONNECTION(peer->stream) && !peer->heard && trouble;
}

static bool refused(GError **error)
{
	g_set_error(error, CLIENT_ERROR, CONTROL_REFUSED,
		    "the daemon closed the connection before it answered; it does so if the "
		    "client certificate (--cert) is missing or not accepted");
	return false;
}

static GSocket *unix_socket(const struct peer *peer)
{
	GSocket *socket =
		G_IS_SOCKET_CONNECTION(peer->stream)
			? g_socket_connection_get_socket(G_SOCKET_CONNECTION(peer->stream))
			: NULL;

	return socket && g_socket_get_family(socket) == G_SOCKET_FAMILY_UNIX ? socket : NULL;
}

bool peer_sends_files(const struct peer *peer)
{
	return unix_socket(peer) != NULL;
}

static gssize read_stream(struct peer *peer, GError **error)
{
	char chunk[CHUNK];
	gssize n = g_input_stream_read(g_io_stream_get_input_stream(peer->stream), chunk,
				       sizeof(chunk), NULL, error);

	if (n > 0)
		record_reader_add(&peer->records, chunk, (size_t)n);
	return n;
}

/* Reads more input; false at its end, or if it does not arrive in time. */
static bool read_more(struct peer *peer, GError **error)
{
	GSocket *socket = unix_socket(peer);
	g_autoptr(GError) trouble = NULL;
	gssize n = socket ? record_reader_receive(&peer->records, socket, &trouble)
			  : read_stream(peer, &trouble);

	if (g_error_matches(trouble, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
		return client_unreachable(error, "the daemon does not answer");
	if (is_certificate_refused(peer, trouble))
		return refused(error);
	if (n <= 0)
		return record_reader_closed(&peer->records, error);
	peer->heard = true;
	return true;
}

bool peer_receive(struct peer *peer, struct reply *reply, GError **error)
{
	for (;;) {
		enum record_result result = record_reader_next(&peer->records, reply, error);

		if (result != RECORD_NONE)
			return result == RECORD_READ;
		if (!read_more(peer, error))
			return false;
	}
}

bool peer_send(struct peer *peer, const char *line)
{
	g_autofree char *text = g_strconcat(line, "\n", NULL);
	GOutputStream *out = g_io_stream_get_output_stream(peer->stream);
	bool good = g_output_stream_write_all(out, text, strlen(text), NULL, NULL, NULL);

	explicit_bzero(text, strlen(text)); /* it may be a key */
	return good;
}

/* A daemon that has closed the connection has said why, so its text is read in any case. */
bool peer_ask(struct peer *peer, const char *line, struct reply *reply, GError **error)
{
	peer_send(peer, line);
	return peer_receive(peer, reply, error);
}

int peer_descriptor(const struct peer *peer)
{
	g_autoptr(GIOStream) base = NULL;

	if (G_IS_TLS_CONNECTION(peer->stream))
		g_object_get(peer->stream, "base-io-stream", &base, NULL);
	else
		base = g_object_ref(peer->stream);
	if (!G_IS_SOCKET_CONNECTION(base))
		return -1;
	return g_socket_get_fd(g_socket_connection_get_socket(G_SOCKET_CONNECTION(base)));
}

bool peer_has_input(struct peer *peer)
{
	GInputStream *in = g_io_stream_get_input_stream(peer->stream);

	return peer->records.input->len ||
	       g_pollable_input_stream_is_readable(G_POLLABLE_INPUT_STREAM(in));
}
