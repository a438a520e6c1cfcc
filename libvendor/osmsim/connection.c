// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A client's socket: reads frames as far as they have arrived, and writes as much as it takes. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libvendor/osmsim/server.h"

#define BUFFER_MIN 65536
#define READS_A_ROUND 4 /* then other connections have their turn */
#define CONTROL_OUT_MAX (UINT32_C(4) << 20)

/* ---- buffers ---- */

static size_t buffer_length(const struct buffer *buffer)
{
	return buffer->tail - buffer->head;
}

/* Makes room for more octets after the tail. */
static void buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t length = buffer_length(buffer);

	if (buffer->room - buffer->tail >= more)
		return;
	if (buffer->head) {
		memmove(buffer->data, buffer->data + buffer->head, length);
		buffer->head = 0;
		buffer->tail = length;
	}
	if (buffer->room - length >= more && buffer->room / 2 >= length)
		return;
	buffer->room = MAX(MAX(length + more, buffer->room * 2), BUFFER_MIN);
	buffer->data = g_realloc(buffer->data, buffer->room);
}

static void buffer_append(struct buffer *buffer, const void *data, size_t length)
{
	if (!length)
		return;
	buffer_reserve(buffer, length);
	memcpy(buffer->data + buffer->tail, data, length);
	buffer->tail += length;
}

static void buffer_take(struct buffer *buffer, size_t length)
{
	buffer->head += length;
	if (buffer->head < buffer->tail)
		return;
	buffer->head = buffer->tail = 0;
	if (buffer->room > 16 * BUFFER_MIN) { /* after a long message, which is rare */
		buffer->room = 0;
		g_clear_pointer(&buffer->data, g_free);
	}
}

/* ---- output ---- */

/* Requests of a client that does not read the answers wait until it has read them. */
static bool is_heard(const struct connection *connection)
{
	return connection->kind == CONNECTION_PORT ||
	       buffer_length(&connection->out) <= CONTROL_OUT_MAX;
}

static void watch_again(struct connection *connection)
{
	uint32_t events = (is_heard(connection) ? EPOLLIN : 0) |
			  (buffer_length(&connection->out) ? EPOLLOUT : 0);

	if (connection->events == events)
		return;
	connection->events = events;
	server_watch(connection->server, &connection->watch, events);
}

void connection_put(struct connection *connection, enum osmsim_type type, const void *first,
		    size_t first_length, const void *second, size_t second_length)
{
	const struct osmsim_header header = {
		.length = first_length + second_length,
		.type = type,
	};

	if (connection->closing)
		return;
	buffer_append(&connection->out, &header, sizeof(header));
	buffer_append(&connection->out, first, first_length);
	buffer_append(&connection->out, second, second_length);
	if (!connection->dirty) {
		connection->dirty = true;
		g_ptr_array_add(connection->server->dirty, connection);
	}
}

void connection_flush(struct connection *connection)
{
	struct buffer *out = &connection->out;

	while (!connection->closing && buffer_length(out)) {
		ssize_t n = send(connection->watch.fd, out->data + out->head, buffer_length(out),
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			buffer_take(out, n);
		} else if (n < 0 && errno == EAGAIN) {
			break;
		} else if (n >= 0 || errno != EINTR) {
			connection_close(connection);
			return;
		}
	}
	watch_again(connection);
}

/* ---- the end ---- */

void connection_close(struct connection *connection)
{
	if (connection->closing)
		return;
	connection->closing = true;
	g_ptr_array_add(connection->server->closing, connection);
}

void connection_refuse(struct connection *connection, const char *why)
{
	if (connection->closing)
		return;
	connection->server->refused++;
	log_error(connection->server->log, "Client %u (process %u) is disconnected: %s",
		  connection->number, connection->pid, why);
	connection_close(connection);
}

/* ---- input ---- */

static size_t length_limit(const struct connection *connection)
{
	if (connection->kind == CONNECTION_PORT)
		return sizeof(struct ib_user_mad) + OSMSIM_MAX_MAD;
	return OSMSIM_MAX_CONTROL;
}

static void frame(struct connection *connection, const struct osmsim_header *header, uint8_t *data)
{
	if (connection->kind != CONNECTION_PORT)
		control_frame(connection, header->type, data, header->length);
	else if (header->type == OSMSIM_MAD)
		mad_frame(connection, data, header->length);
	else
		connection_refuse(connection, "a frame on a port connection that is not a MAD");
}

/* Serves complete frames. Returns the least number of octets of the next one. */
static size_t parse(struct connection *connection)
{
	struct buffer *in = &connection->in;
	struct osmsim_header header;

	while (!connection->closing && buffer_length(in) >= sizeof(header)) {
		memcpy(&header, in->data + in->head, sizeof(header));
		if (header.length > length_limit(connection)) {
			connection_refuse(connection, "a frame is too long");
			break;
		}
		if (buffer_length(in) < sizeof(header) + header.length)
			return sizeof(header) + header.length;
		frame(connection, &header, in->data + in->head + sizeof(header));
		buffer_take(in, sizeof(header) + header.length);
	}
	return sizeof(header);
}

/* Memory grows with the octets received, not with the length in the frame's header. */
static size_t room_for(const struct connection *connection, size_t needed)
{
	size_t length = buffer_length(&connection->in);

	return needed <= BUFFER_MIN ? BUFFER_MIN - MIN(length, BUFFER_MIN / 2)
				    : MIN(needed - MIN(length, needed), MAX(length, BUFFER_MIN));
}

static void connection_read(struct connection *connection)
{
	struct buffer *in = &connection->in;
	size_t needed = sizeof(struct osmsim_header);

	for (unsigned int i = 0; i < READS_A_ROUND && !connection->closing; i++) {
		ssize_t n;

		buffer_reserve(in, MAX(1, room_for(connection, needed)));
		n = recv(connection->watch.fd, in->data + in->tail, in->room - in->tail,
			 MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			if (buffer_length(in))
				connection_refuse(connection, "it ended in the middle of a frame");
			connection_close(connection);
			return;
		}
		in->tail += n;
		needed = parse(connection);
		if (in->tail < in->room && i)
			return;
	}
}

static void connection_ready(struct watch *watch, uint32_t events)
{
	struct connection *connection = (struct connection *)watch;

	if (events & EPOLLOUT)
		connection_flush(connection);
	if (!is_heard(connection)) {
		if (events & (EPOLLHUP | EPOLLERR))
			connection_close(connection);
		return;
	}
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		connection_read(connection);
}

/* ---- construction ---- */

struct connection *connection_new(struct server *server, int fd)
{
	struct connection *connection = g_new0(struct connection, 1);

	connection->watch.fd = fd;
	connection->watch.ready = connection_ready;
	connection->server = server;
	connection->number = ++server->last_number;
	connection->events = EPOLLIN;
	server_watch(server, &connection->watch, EPOLLIN);
	return connection;
}

void connection_free(struct connection *connection)
{
	if (connection->kind == CONNECTION_PORT)
		mad_close(connection);
	close(connection->watch.fd);
	g_free(connection->in.data);
	g_free(connection->out.data);
	g_free(connection);
}
