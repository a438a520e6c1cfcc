// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands for a running osmsim: one control connection, one request, blocking. */
#include "libvendor/osmsim/request.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libvendor/osmsim/protocol.h"

#define ANSWER_MAX (UINT32_C(1) << 30)

static bool fail(GError **error, int err, const char *what)
{
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s", what,
		    g_strerror(err));
	return false;
}

static bool put(int fd, enum osmsim_type type, const void *data, size_t length, GError **error)
{
	const struct osmsim_header header = {.length = length, .type = type};
	g_autofree uint8_t *frame = g_malloc(sizeof(header) + length);
	size_t sent = 0;

	memcpy(frame, &header, sizeof(header));
	memcpy(frame + sizeof(header), data, length);
	while (sent < sizeof(header) + length) {
		ssize_t n = send(fd, frame + sent, sizeof(header) + length - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return fail(error, errno, "cannot send to the server");
		sent += MAX(n, 0);
	}
	return true;
}

static bool get_all(int fd, void *data, size_t length, GError **error)
{
	for (size_t got = 0; got < length;) {
		ssize_t n = recv(fd, (uint8_t *)data + got, length - got, 0);

		if (n == 0 || (n < 0 && errno != EINTR))
			return fail(error, n ? errno : ECONNRESET, "the server does not answer");
		got += MAX(n, 0);
	}
	return true;
}

/* The octets of the answer and a NUL. */
static uint8_t *get(int fd, enum osmsim_type type, size_t least, size_t *length, GError **error)
{
	struct osmsim_header header;
	g_autofree uint8_t *data = NULL;

	if (!get_all(fd, &header, sizeof(header), error))
		return NULL;
	if (header.type != type || header.length < least || header.length > ANSWER_MAX) {
		fail(error, EPROTO, "an invalid answer");
		return NULL;
	}
	data = g_malloc(header.length + 1);
	data[header.length] = '\0';
	*length = header.length;
	return get_all(fd, data, header.length, error) ? g_steal_pointer(&data) : NULL;
}

static int connect_to(const char *path, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path)) {
		fail(error, ENAMETOOLONG, path);
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	fail(error, errno, path);
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool converse(int fd, const char *text, char **out, bool *failed, GError **error)
{
	const struct osmsim_hello hello = {.version = OSMSIM_VERSION, .pid = getpid()};
	g_autofree uint8_t *node = NULL, *answer = NULL;
	struct osmsim_result result;
	int32_t refused;
	size_t length;

	if (!put(fd, OSMSIM_HELLO, &hello, sizeof(hello), error))
		return false;
	node = get(fd, OSMSIM_HELLO, sizeof(struct osmsim_node), &length, error);
	if (!node)
		return false;
	memcpy(&refused, node, sizeof(refused));
	if (refused)
		return fail(error, -refused, "the server refuses");
	if (!put(fd, OSMSIM_COMMAND, text, strlen(text), error))
		return false;
	answer = get(fd, OSMSIM_COMMAND, sizeof(result), &length, error);
	if (!answer)
		return false;
	memcpy(&result, answer, sizeof(result));
	*failed = result.value != 0;
	*out = g_strdup((const char *)answer + sizeof(result));
	return true;
}

bool request_commands(const char *socket, const char *text, char **out, bool *failed,
		      GError **error)
{
	int fd;
	bool done;

	if (strlen(text) > OSMSIM_MAX_CONTROL)
		return fail(error, E2BIG, "the commands");
	fd = connect_to(socket, error);
	if (fd < 0)
		return false;
	done = converse(fd, text, out, failed, error);
	close(fd);
	return done;
}
