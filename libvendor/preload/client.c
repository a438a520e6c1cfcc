// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The connection for a process's requests to osmsim: one per process, made when first needed, and
 * made again after fork(), after a restart of the server, and after a program closed unknown
 * descriptors. The server keeps no state for it, so that costs nothing.
 *
 * Any thread may send requests; a lock serializes them. This library has one static object, because
 * the host's devices, which it stands for, have no handle in libibumad's interface.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload_private.h"

#define FIRST_FD 3 /* the program may redirect 0..2 at any time */

static struct {
	pthread_mutex_t lock;
	int fd;		 /* -1: none */
	struct stat was; /* of fd, as the program may have closed it and opened another file */
	bool at_fork;	 /* the fork() handlers are registered */
	bool told;	 /* reported on stderr that there is no server */
	struct osmsim_node node;
} client = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static int socket_path(char *path, size_t size)
{
	const char *given = getenv(OSMSIM_ENV_SOCKET), *runtime = getenv("XDG_RUNTIME_DIR");
	int n;

	if (given && *given)
		n = snprintf(path, size, "%s", given);
	else if (runtime && *runtime)
		n = snprintf(path, size, "%s/%s", runtime, OSMSIM_SOCKET_DEFAULT);
	else
		n = snprintf(path, size, "/tmp/osmsim-%u/%s", getuid(), OSMSIM_SOCKET_DEFAULT);
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

static int connect_to(int fd)
{
	const struct timeval limit = {.tv_sec = PRELOAD_STALL_MS / 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int rc = socket_path(address.sun_path, sizeof(address.sun_path));

	if (rc)
		return rc;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	do {
		rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

int preload_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = connect_to(fd);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Reports a wait that hit its limit as a timeout, not as a descriptor that would block. */
static int io_error(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK ? -ETIMEDOUT : -errno;
}

void preload_advance(struct msghdr *message, size_t n)
{
	while (message->msg_iovlen && n >= message->msg_iov->iov_len) {
		n -= message->msg_iov->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
	if (message->msg_iovlen) {
		message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + n;
		message->msg_iov->iov_len -= n;
	}
}

static int write_all(int fd, struct iovec *parts, size_t n_parts)
{
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};

	while (message.msg_iovlen) {
		ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);

		if (n >= 0)
			preload_advance(&message, n);
		else if (errno != EINTR)
			return io_error();
	}
	return 0;
}

static int read_all(int fd, void *data, size_t length)
{
	for (size_t at = 0; at < length;) {
		ssize_t n = recv(fd, (char *)data + at, length - at, 0);

		if (n > 0)
			at += n;
		else if (n == 0)
			return -EIO;
		else if (errno != EINTR)
			return io_error();
	}
	return 0;
}

int preload_exchange(int fd, enum osmsim_type type, const void *request, size_t length,
		     void *answer, size_t size)
{
	struct osmsim_header header = {.length = length, .type = type};
	struct iovec parts[] = {{&header, sizeof(header)}, {(void *)request, length}};
	int rc = write_all(fd, parts, 2);

	if (rc == 0)
		rc = read_all(fd, &header, sizeof(header));
	if (rc)
		return rc;
	if (header.type != type || header.length != size)
		return -EPROTO;
	return read_all(fd, answer, size);
}

static void fill_hello(struct osmsim_hello *hello)
{
	const char *node = getenv(OSMSIM_ENV_NODE);

	*hello = (struct osmsim_hello){.version = OSMSIM_VERSION, .pid = getpid()};
	/* A process stays on its node, even if its environment changes. */
	if (client.node.node_guid)
		snprintf(hello->node, sizeof(hello->node), "0x%016" PRIx64, client.node.node_guid);
	else if (node)
		snprintf(hello->node, sizeof(hello->node), "%s", node);
}

static void lock_all(void)
{
	pthread_mutex_lock(&client.lock);
}

static void unlock_parent(void)
{
	pthread_mutex_unlock(&client.lock);
}

/* Whether the descriptor is still the connection that was opened. */
static bool is_ours(void)
{
	struct stat now;

	return client.fd >= 0 && fstat(client.fd, &now) == 0 && now.st_dev == client.was.st_dev &&
	       now.st_ino == client.was.st_ino;
}

static void drop(void)
{
	if (is_ours())
		close(client.fd);
	client.fd = -1;
}

/* The child leaves the connection to its parent: otherwise they would mix up their answers. */
static void unlock_child(void)
{
	pthread_mutex_init(&client.lock, NULL);
	drop();
	preload_ports_forked();
}

static int keep(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	int rc = high < 0 ? -errno : 0;

	close(fd);
	if (rc)
		return rc;
	client.fd = high;
	fstat(high, &client.was);
	if (!client.at_fork)
		client.at_fork = pthread_atfork(lock_all, unlock_parent, unlock_child) == 0;
	return 0;
}

static void tell(const char *what, int rc)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)] = "?";
	const char *node = getenv(OSMSIM_ENV_NODE);

	if (client.told)
		return;
	client.told = true;
	socket_path(path, sizeof(path));
	if (what)
		fprintf(stderr,
			"osmsim: no simulator answers at %s (%s): %s; %s must name the "
			"socket of a running osmsim\n",
			path, what, strerror(-rc), OSMSIM_ENV_SOCKET);
	else if (rc == -ENOENT)
		fprintf(stderr,
			"osmsim: the fabric at %s has no node \"%s\"; %s must be the "
			"description or the GUID of a node\n",
			path, node ? node : "", OSMSIM_ENV_NODE);
	else
		fprintf(stderr, "osmsim: the simulator at %s refuses this process: %s\n", path,
			strerror(-rc));
}

static int greet(int fd)
{
	struct osmsim_hello hello;
	struct osmsim_node node = {};
	int rc;

	fill_hello(&hello);
	rc = preload_exchange(fd, OSMSIM_HELLO, &hello, sizeof(hello), &node, sizeof(node));
	if (rc) {
		tell("greeting", rc);
		return rc;
	}
	if (node.error) {
		tell(NULL, node.error);
		return node.error;
	}
	node.description[sizeof(node.description) - 1] = '\0';
	client.node = node;
	return 0;
}

static int ensure_connected(void)
{
	int fd, rc;

	if (is_ours())
		return 0;
	client.fd = -1;
	fd = preload_connect();
	if (fd < 0) {
		tell("connecting", fd);
		return -ENODEV;
	}
	rc = greet(fd);
	if (rc) {
		close(fd);
		return -ENODEV;
	}
	client.told = false;
	return keep(fd);
}

static int ask_locked(enum osmsim_type type, const void *request, size_t length, void *answer,
		      size_t size)
{
	int rc = 0;

	/* Twice, as the server may have been restarted since the last request. */
	for (int attempt = 0; attempt < 2; attempt++) {
		bool fresh = !is_ours();

		rc = ensure_connected();
		if (rc)
			return rc;
		rc = preload_exchange(client.fd, type, request, length, answer, size);
		if (rc == 0)
			return 0;
		drop();
		if (fresh)
			break;
	}
	return rc;
}

/* A request always ends by itself and must not be interrupted: no thread is cancelled during it. */
static int enter(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&client.lock);
	return state;
}

static void leave(int state)
{
	pthread_mutex_unlock(&client.lock);
	pthread_setcancelstate(state, NULL);
}

int preload_ask(enum osmsim_type type, const void *request, size_t length, void *answer,
		size_t size)
{
	int state = enter();
	int rc = ask_locked(type, request, length, answer, size);

	leave(state);
	return rc;
}

int preload_node(struct osmsim_node *node)
{
	int state = enter();
	int rc = ensure_connected();

	*node = client.node;
	leave(state);
	return rc;
}
