// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "libvendor/osmsim/protocol.h"
#include "osmsim_double.h"

#define MAD_BYTES 256
#define MAD_HEADER_BYTES 24
#define METHOD_AT 3
#define RESPONSE 0x80
#define DEAF_MS 1000
#define MAX_FRAME 4096

/* One connection, and its thread. */
struct connection {
	struct osmsim_double *server;
	int fd;
};

struct mad_frame {
	struct osmsim_header header;
	struct ib_user_mad umad;
	uint8_t data[MAX_FRAME];
};

static void pause_us(int us)
{
	const struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L};

	nanosleep(&pause, NULL);
}

static bool read_all(int fd, void *data, size_t length)
{
	while (length) {
		ssize_t n = recv(fd, data, length, 0);

		if (n <= 0)
			return false;
		data = (char *)data + n;
		length -= n;
	}
	return true;
}

static void write_all(int fd, const void *data, size_t length)
{
	while (length) {
		ssize_t n = send(fd, data, length, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		data = (const char *)data + n;
		length -= n;
	}
}

static void answer(int fd, uint32_t type, const void *data, size_t length)
{
	struct osmsim_header header = {.length = length, .type = type};

	write_all(fd, &header, sizeof(header));
	write_all(fd, data, length);
}

static void answer_result(int fd, uint32_t type, int value)
{
	const struct osmsim_result result = {.value = value};

	answer(fd, type, &result, sizeof(result));
}

static void answer_hello(int fd, const struct osmsim_hello *hello)
{
	struct osmsim_node node = {
		.type = 1,
		.num_ports = DOUBLE_PORTS,
		.node_guid = DOUBLE_GUID,
		.system_image_guid = DOUBLE_GUID,
		.description = "H1",
	};

	if (hello->version != OSMSIM_VERSION)
		node.error = -EPROTO;
	else if (strcmp(hello->node, "nobody") == 0)
		node.error = -ENOENT;
	answer(fd, OSMSIM_HELLO, &node, sizeof(node));
}

static void answer_port(int fd, uint32_t num)
{
	const struct osmsim_port port = {
		.error = num >= 1 && num <= DOUBLE_PORTS ? 0 : -ENODEV,
		.port_num = num,
		.base_lid = num == 1 ? 10 : 0,
		.lmc = 3,
		.sm_lid = 7,
		.sm_sl = 2,
		.state = num == 1 ? 4 : 2,
		.phys_state = 5,
		.rate = 100,
		.capability_mask = 0x02514868,
		.gid_prefix = UINT64_C(0xfe80000000000000),
		.port_guid = DOUBLE_GUID + num,
		.n_p_keys = 2,
		.p_keys = {0xffff, 0x8001},
	};

	answer(fd, OSMSIM_PORT, &port, sizeof(port));
}

static void answer_issm(struct osmsim_double *server, int fd)
{
	struct osmsim_path path = {};

	snprintf(path.path, sizeof(path.path), "%s/issm", server->dir);
	answer(fd, OSMSIM_ISSM, &path, sizeof(path));
}

static int register_agent(struct osmsim_double *server, const struct osmsim_register *request)
{
	_Atomic uint32_t *agents = &server->agents[request->handle % 256];

	if (request->mgmt_class == DOUBLE_REFUSED)
		return -EINVAL;
	server->qpn = request->qpn;
	server->oui = request->oui;
	server->rmpp_version = request->rmpp_version;
	server->method_mask[0] = request->method_mask[0];
	server->method_mask[1] = request->method_mask[1];
	for (int i = 0; i < OSMSIM_MAX_AGENTS; i++) {
		uint32_t bit = UINT32_C(1) << i;

		if (!(atomic_fetch_or(agents, bit) & bit))
			return i;
	}
	return -ENOMEM;
}

static int unregister_agent(struct osmsim_double *server, const struct osmsim_unregister *request)
{
	uint32_t bit = UINT32_C(1) << request->agent;

	return atomic_fetch_and(&server->agents[request->handle % 256], ~bit) & bit ? 0 : -EINVAL;
}

static void trickle(int fd, const struct mad_frame *frame, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		write_all(fd, (const char *)frame + i, 1);
		pause_us(300);
	}
}

static void answer_long(int fd, struct mad_frame *frame)
{
	uint8_t *data = malloc(DOUBLE_LONG);

	frame->header.length = frame->umad.length = sizeof(frame->umad) + DOUBLE_LONG;
	for (size_t i = 0; i < DOUBLE_LONG; i++)
		data[i] = i < MAD_HEADER_BYTES ? frame->data[i] : i;
	write_all(fd, frame, sizeof(frame->header) + sizeof(frame->umad));
	write_all(fd, data, DOUBLE_LONG);
	free(data);
}

static void time_out(int fd, struct mad_frame *frame)
{
	pause_us(1000 * frame->umad.timeout_ms * (frame->umad.retries + 1));
	frame->umad.status = ETIMEDOUT;
	frame->header.length = sizeof(frame->umad) + MAD_BYTES;
	frame->umad.length = sizeof(frame->umad) + MAD_HEADER_BYTES;
	write_all(fd, frame, sizeof(frame->header) + frame->header.length);
}

static void handle_mad(int fd, struct mad_frame *frame)
{
	size_t length = sizeof(frame->header) + frame->header.length;
	enum double_lid lid = be16toh(frame->umad.addr.lid);

	if (lid == DOUBLE_SILENT_LID) {
		time_out(fd, frame);
		return;
	}
	frame->umad.status = 0;
	frame->umad.length = frame->header.length;
	frame->data[METHOD_AT] |= RESPONSE;
	if (lid == DOUBLE_ECHO_LID) {
		write_all(fd, frame, length);
	} else if (lid == DOUBLE_LONG_LID) {
		answer_long(fd, frame);
	} else if (lid == DOUBLE_TRICKLE_LID) {
		trickle(fd, frame, length);
	} else if (lid == DOUBLE_BURST_LID) {
		for (int i = 0; i < DOUBLE_BURST; i++)
			write_all(fd, frame, length);
	} else if (lid == DOUBLE_NONSENSE_LID) {
		frame->header.type = 99;
		write_all(fd, frame, length);
	} else if (lid == DOUBLE_HALF_LID) {
		write_all(fd, frame, length - 1);
		shutdown(fd, SHUT_RDWR);
	} else if (lid == DOUBLE_DEAF_LID) {
		pause_us(1000 * DEAF_MS);
	}
}

static void handle(struct osmsim_double *server, int fd, struct mad_frame *frame)
{
	const void *request = &frame->umad;

	switch (frame->header.type) {
	case OSMSIM_HELLO:
		answer_hello(fd, request);
		break;
	case OSMSIM_PORT:
		answer_port(fd, ((const struct osmsim_port_request *)request)->port_num);
		break;
	case OSMSIM_OPEN:
		answer_result(fd, OSMSIM_OPEN, atomic_fetch_add(&server->handles, 1));
		break;
	case OSMSIM_REGISTER:
		answer_result(fd, OSMSIM_REGISTER, register_agent(server, request));
		break;
	case OSMSIM_UNREGISTER:
		answer_result(fd, OSMSIM_UNREGISTER, unregister_agent(server, request));
		break;
	case OSMSIM_ISSM:
		answer_issm(server, fd);
		break;
	case OSMSIM_MAD:
		handle_mad(fd, frame);
		break;
	}
}

static void *serve(void *arg)
{
	struct connection *connection = arg;
	struct osmsim_double *server = connection->server;
	int fd = connection->fd;
	struct mad_frame frame;

	free(connection);
	while (read_all(fd, &frame.header, sizeof(frame.header)) &&
	       frame.header.length <= sizeof(frame) - sizeof(frame.header) &&
	       read_all(fd, &frame.umad, frame.header.length))
		handle(server, fd, &frame);
	shutdown(fd, SHUT_RDWR);
	return NULL;
}

static void start_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, arg);
	pthread_detach(thread);
}

static void *accept_all(void *arg)
{
	struct osmsim_double *server = arg;
	int fd;

	while ((fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		struct connection *connection = malloc(sizeof(*connection));

		*connection = (struct connection){server, fd};
		server->fds[server->connections++ % 256] = fd;
		start_thread(serve, connection);
	}
	return NULL;
}

void osmsim_double_restart(struct osmsim_double *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	unlink(server->path);
	strcpy(address.sun_path, server->path);
	server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(server->listener, 100))
		abort();
	start_thread(accept_all, server);
}

void osmsim_double_start(struct osmsim_double *server)
{
	memset(server, 0, sizeof(*server));
	strcpy(server->dir, "/tmp/osmsim-double.XXXXXX");
	if (!mkdtemp(server->dir))
		abort();
	snprintf(server->path, sizeof(server->path), "%s/socket", server->dir);
	osmsim_double_restart(server);
	setenv(OSMSIM_ENV_SOCKET, server->path, 1);
	unsetenv(OSMSIM_ENV_NODE);
}

void osmsim_double_die(struct osmsim_double *server)
{
	shutdown(server->listener, SHUT_RDWR);
	for (int i = 0; i < server->connections; i++)
		shutdown(server->fds[i], SHUT_RDWR);
	unlink(server->path);
	rmdir(server->dir);
}
