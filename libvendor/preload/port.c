// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libibumad's functions on open ports, with the kernel's semantics (drivers/infiniband/core/
 * user_mad.c describes them in code). A port's number is its descriptor, as in libibumad: here a
 * socket to osmsim, which the program may poll.
 *
 * A MAD is read at once. Of a longer message all but the beginning stays in the socket until the
 * program provides room for all of it, so that the descriptor stays readable, like the kernel's.
 * Waits that the program does not see are limited by PRELOAD_STALL_MS: a server that stops in the
 * middle of a frame makes the port dead.
 *
 * Any number of threads may send, receive and close; each direction of a port has its lock, held
 * for some frames and never while waiting for the next. No thread is cancelled while it holds one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "preload_private.h"

#define RMPP_HEADER_BYTES 36 /* minimum that the kernel accepts */
#define OPENIB_OUI 0x001405
#define VENDOR_FIRST 0x30
#define VENDOR_LAST 0x4f
#define CLASS_LID_ROUTED 0x01
#define CLASS_DIRECTED 0x81
#define WRITE_MAX 16	       /* MADs sent to the server in one system call */
#define DEAD_PAUSE_NS 20000000 /* programs log each error and retry at once */

static struct {
	pthread_mutex_t lock; /* for opening and closing */
	struct preload_port *_Atomic first;
} ports = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct preload_port *find_port(int fd)
{
	struct preload_port *port = fd < 0 ? NULL : atomic_load(&ports.first);

	while (port && atomic_load(&port->fd) != fd)
		port = port->next;
	return port;
}

static int lock(pthread_mutex_t *mutex)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(mutex);
	return state;
}

static void unlock(pthread_mutex_t *mutex, int state)
{
	pthread_mutex_unlock(mutex);
	pthread_setcancelstate(state, NULL);
}

void preload_ports_forked(void)
{
	pthread_mutex_init(&ports.lock, NULL);
	for (struct preload_port *port = atomic_load(&ports.first); port; port = port->next) {
		pthread_mutex_init(&port->read_lock, NULL);
		pthread_mutex_init(&port->write_lock, NULL);
	}
}

static struct preload_port *new_port(void)
{
	struct preload_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	atomic_init(&port->fd, -1);
	pthread_mutex_init(&port->read_lock, NULL);
	pthread_mutex_init(&port->write_lock, NULL);
	port->next = atomic_load(&ports.first);
	atomic_store(&ports.first, port);
	return port;
}

static int add_port(int fd, uint32_t handle)
{
	int state = lock(&ports.lock);
	struct preload_port *port = find_port(fd); /* closed without umad_close_port() */

	for (port = port ? port : atomic_load(&ports.first); port; port = port->next)
		if (atomic_load(&port->fd) == -1 || atomic_load(&port->fd) == fd)
			break;
	if (!port)
		port = new_port();
	if (port) {
		port->handle = handle;
		port->has_first = false;
		atomic_store(&port->agents, 0);
		atomic_store(&port->dead, false);
		atomic_store(&port->fd, fd);
	}
	unlock(&ports.lock, state);
	return port ? 0 : -ENOMEM;
}

/* The handle of the new port, or negative errno. */
static int greet(int fd, int port_num)
{
	struct osmsim_open request = {
		.hello = {.version = OSMSIM_VERSION, .pid = getpid()},
		.port.port_num = port_num,
	};
	struct osmsim_result result;
	struct osmsim_node node;
	int rc = preload_node(&node);

	if (rc)
		return rc;
	snprintf(request.hello.node, sizeof(request.hello.node), "0x%016" PRIx64, node.node_guid);
	rc = preload_exchange(fd, OSMSIM_OPEN, &request, sizeof(request), &result, sizeof(result));
	return rc ? rc : result.value;
}

static int open_port(int port_num)
{
	int fd = preload_connect(), handle, rc;

	if (fd < 0)
		return fd;
	handle = greet(fd, port_num);
	rc = handle < 0 ? handle : add_port(fd, handle);
	if (rc == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0)
		return fd;
	umad_close_port(fd);
	return rc ? rc : -EIO;
}

int umad_open_port(const char *ca_name, int portnum)
{
	int port_num, fd, state;

	if (!preload_is_device(ca_name))
		return -EINVAL;
	port_num = preload_resolve_port(portnum);
	if (port_num < 0)
		return port_num;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	fd = open_port(port_num);
	pthread_setcancelstate(state, NULL);
	if (fd >= 0)
		return fd;
	errno = -fd;
	return fd == -ENODEV || fd == -EINVAL ? fd : -EIO;
}

int umad_close_port(int portid)
{
	int state = lock(&ports.lock);
	struct preload_port *port = find_port(portid);

	if (port)
		atomic_store(&port->fd, -1);
	close(portid);
	unlock(&ports.lock, state);
	return 0;
}

int umad_get_fd(int portid)
{
	return portid;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static int die(struct preload_port *port)
{
	atomic_store(&port->dead, true);
	return -EIO;
}

/* Whether octets can be moved before the deadline. */
static bool wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	int64_t left;

	while ((left = deadline - now_ms()) > 0) {
		int n = poll(&poll_fd, 1, left);

		if (n > 0)
			return !(poll_fd.revents & POLLNVAL);
		if (n < 0 && errno != EINTR)
			return false;
	}
	return false;
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK;
}

/* Reads the following octets of a frame from the socket. */
static int take(struct preload_port *port, int fd, void *data, size_t length)
{
	int64_t deadline = now_ms() + PRELOAD_STALL_MS;

	for (size_t at = 0; at < length;) {
		ssize_t n = recv(fd, (char *)data + at, length - at, MSG_DONTWAIT);

		if (n > 0) {
			at += n;
			deadline = now_ms() + PRELOAD_STALL_MS;
		} else if (n == 0 || (errno != EINTR && !would_block()) ||
			   !wait_for(fd, POLLIN, deadline)) {
			return die(port);
		}
	}
	return 0;
}

static bool sensible(const struct prefix *prefix)
{
	return prefix->header.type == OSMSIM_MAD &&
	       prefix->header.length >= sizeof(prefix->umad) + MAD_BYTES &&
	       prefix->header.length <= sizeof(prefix->umad) + OSMSIM_MAX_MAD &&
	       prefix->umad.length >= sizeof(prefix->umad) &&
	       prefix->umad.length <= prefix->header.length;
}

/* Whether a frame is available; take_first() waits for the rest of one that has begun. */
static int look(struct preload_port *port, int fd)
{
	uint8_t octet;
	ssize_t n = recv(fd, &octet, sizeof(octet), MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return 0;
	if (n < 0 && (would_block() || errno == EINTR))
		return -EAGAIN;
	return n < 0 && errno == EBADF ? -EBADF : die(port);
}

/*
 * Reads the beginning of the next frame, a whole MAD, into port->first. -EAGAIN if there is none.
 */
static int take_first(struct preload_port *port, int fd)
{
	const size_t size = sizeof(port->first);
	ssize_t n;
	int rc = 0;

	do
		n = recv(fd, &port->first, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && would_block())
		return -EAGAIN;
	if (n < 0 && errno == EBADF)
		return -EBADF;
	if (n <= 0)
		return die(port);
	if ((size_t)n < size)
		rc = take(port, fd, (char *)&port->first + n, size - n);
	if (rc == 0 && !sensible(&port->first.prefix))
		rc = die(port);
	port->has_first = rc == 0;
	return rc;
}

/* Returns the frame that begins with port->first, if there is room for it. */
static ssize_t hand_out(struct preload_port *port, int fd, struct ib_user_mad *umad, size_t size)
{
	const struct prefix *prefix = &port->first.prefix;
	size_t rest = prefix->header.length - sizeof(*umad) - MAD_BYTES;
	bool fits = size >= prefix->header.length;

	*umad = prefix->umad;
	memcpy(umad->data, port->first.data, MAD_BYTES);
	if (rest && !fits)
		return -ENOSPC; /* the first segment, which contains the length */
	port->has_first = false;
	if (rest && take(port, fd, (char *)umad->data + MAD_BYTES, rest))
		return -EIO;
	return umad->length;
}

/* ib_umad_read() of available data: octets, or negative errno. */
static ssize_t read_one(struct preload_port *port, int fd, struct ib_user_mad *umad, size_t size)
{
	const struct timespec pause = {.tv_nsec = DEAD_PAUSE_NS};
	int rc = 0;

	if (size < sizeof(*umad))
		return -EINVAL;
	if (atomic_load(&port->dead)) {
		nanosleep(&pause, NULL);
		return -EIO;
	}
	if (size < sizeof(*umad) + MAD_BYTES) {
		rc = look(port, fd);
		return rc ? rc : -EINVAL;
	}
	if (!port->has_first)
		rc = take_first(port, fd);
	return rc ? rc : hand_out(port, fd, umad, size);
}

/* As read() on the kernel's device, which blocks unless the descriptor has O_NONBLOCK. */
static ssize_t port_read(int fd, struct ib_user_mad *umad, size_t size)
{
	for (;;) {
		struct preload_port *port = find_port(fd);
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		ssize_t n;
		int state;

		if (!port)
			return -EBADF;
		state = lock(&port->read_lock);
		n = read_one(port, fd, umad, size);
		unlock(&port->read_lock, state);
		if (n != -EAGAIN || fcntl(fd, F_GETFL) & O_NONBLOCK)
			return n;
		if (poll(&poll_fd, 1, -1) < 0)
			return -errno;
	}
}

int umad_poll(int portid, int timeout_ms)
{
	struct pollfd poll_fd = {.fd = portid, .events = POLLIN};
	int n = poll(&poll_fd, 1, timeout_ms);

	return n == 1 ? 0 : n == 0 ? -ETIMEDOUT : -EIO;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	struct ib_user_mad *mad = umad;
	ssize_t n;
	int rc;

	errno = 0;
	if (!umad || !length) {
		errno = EINVAL;
		return -EINVAL;
	}
	rc = timeout_ms ? umad_poll(portid, timeout_ms) : 0;
	if (rc < 0) {
		if (!errno)
			errno = -rc;
		return rc;
	}
	n = port_read(portid, mad, sizeof(*mad) + (*length > 0 ? *length : 0));
	if (n < 0) {
		/* libibumad does so after any error, not only after -ENOSPC. */
		*length = mad->length - sizeof(*mad);
		errno = -n;
		return n;
	}
	*length = n - sizeof(*mad);
	return mad->agent_id;
}

static int send_all(struct preload_port *port, int fd, struct iovec *parts, size_t n_parts)
{
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};
	int64_t deadline = now_ms() + PRELOAD_STALL_MS;

	while (message.msg_iovlen) {
		ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			preload_advance(&message, n);
			deadline = now_ms() + PRELOAD_STALL_MS;
		} else if (errno != EINTR && !(would_block() && wait_for(fd, POLLOUT, deadline))) {
			return die(port);
		}
	}
	return 0;
}

static bool is_registered(struct preload_port *port, int agent)
{
	return agent >= 0 && agent < OSMSIM_MAX_AGENTS && atomic_load(&port->agents) >> agent & 1;
}

/* What ib_umad_write() checks: the octets of the MAD after the header, or negative errno. */
static int length_of(struct preload_port *port, const struct iovec *part)
{
	const struct ib_user_mad *umad = part->iov_base;
	size_t length = part->iov_len - sizeof(*umad);

	if (part->iov_len < sizeof(*umad) + RMPP_HEADER_BYTES || length > OSMSIM_MAX_MAD ||
	    !is_registered(port, umad->agent_id))
		return -EINVAL;
	return (int)length;
}

/*
 * ib_umad_write() for each part, which is a header and a MAD, up to one that is refused: how many
 * were taken, or negative errno if none was.
 */
static int write_frames(int fd, const struct iovec *mads, unsigned int n)
{
	struct preload_port *port = find_port(fd);
	struct prefix prefixes[WRITE_MAX];
	struct iovec parts[2 * WRITE_MAX];
	unsigned int taken;
	int state, rc = 0;

	if (!port)
		return -EBADF;
	for (taken = 0; taken < n; taken++) {
		struct ib_user_mad *umad = mads[taken].iov_base;
		int length = length_of(port, &mads[taken]);

		if (length < 0)
			break;
		prefixes[taken] = (struct prefix){.header.type = OSMSIM_MAD, .umad = *umad};
		prefixes[taken].header.length = sizeof(*umad) + length;
		prefixes[taken].umad.length = length;
		parts[2 * taken] = (struct iovec){&prefixes[taken], sizeof(struct prefix)};
		parts[2 * taken + 1] = (struct iovec){umad->data, length};
	}
	if (!taken)
		return -EINVAL;
	state = lock(&port->write_lock);
	rc = atomic_load(&port->dead) ? -EIO : send_all(port, fd, parts, 2 * taken);
	unlock(&port->write_lock, state);
	return rc ? rc : (int)taken;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	struct ib_user_mad *mad = umad;
	struct iovec part = {mad, sizeof(*mad) + (length > 0 ? length : 0)};
	int rc;

	mad->timeout_ms = timeout_ms;
	mad->retries = retries;
	mad->agent_id = agentid;
	rc = write_frames(portid, &part, 1);
	errno = rc < 0 ? -rc : 0;
	return rc < 0 ? -EIO : 0;
}

/* As the kernel does for a device that has only write(): a call for each part. */
static ssize_t writev_port(int fd, const struct iovec *parts, int n)
{
	ssize_t octets = 0;

	for (int at = 0; at < n;) {
		int batch = n - at < WRITE_MAX ? n - at : WRITE_MAX;
		int taken = write_frames(fd, parts + at, batch);

		if (taken < 0)
			return octets ? octets : taken;
		for (int i = 0; i < taken; i++)
			octets += (ssize_t)parts[at + i].iov_len;
		at += taken;
		if (taken < batch)
			break;
	}
	return octets;
}

/* For any other descriptor it is the C library's. */
PRELOAD_EXPORT ssize_t writev(int fd, const struct iovec *parts, int n)
{
	ssize_t octets;

	if (!find_port(fd))
		return syscall(SYS_writev, fd, parts, n);
	octets = n < 0 ? -EINVAL : writev_port(fd, parts, n);
	if (octets < 0) {
		errno = (int)-octets;
		return -1;
	}
	return octets;
}

/* Agent number, or negative errno. */
static int register_agent(int fd, struct osmsim_register *request)
{
	struct preload_port *port = find_port(fd);
	struct osmsim_result result;
	int rc;

	if (!port)
		return -EBADF;
	request->handle = port->handle;
	rc = preload_ask(OSMSIM_REGISTER, request, sizeof(*request), &result, sizeof(result));
	if (rc == 0)
		rc = result.value;
	if (rc >= OSMSIM_MAX_AGENTS)
		rc = -EPROTO;
	if (rc >= 0)
		atomic_fetch_or(&port->agents, UINT32_C(1) << rc);
	return rc;
}

static uint32_t qp_of(int mgmt_class)
{
	return mgmt_class != CLASS_LID_ROUTED && mgmt_class != CLASS_DIRECTED;
}

static int register_or_eperm(int fd, struct osmsim_register *request, const long *method_mask)
{
	int agent;

	if (method_mask)
		memcpy(request->method_mask, method_mask, sizeof(request->method_mask));
	agent = register_agent(fd, request);
	if (agent >= 0)
		return agent;
	errno = -agent;
	return -EPERM; /* libibumad reports no other reason */
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	struct osmsim_register request = {
		.qpn = qp_of(mgmt_class),
		.mgmt_class = mgmt_class,
		.class_version = mgmt_version,
		.rmpp_version = rmpp_version,
		.oui = OPENIB_OUI,
	};

	return register_or_eperm(portid, &request, method_mask);
}

int umad_register_oui(int portid, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3],
		      long method_mask[16 / sizeof(long)])
{
	struct osmsim_register request = {
		.qpn = 1,
		.mgmt_class = mgmt_class,
		.class_version = 1,
		.rmpp_version = rmpp_version,
	};

	if (mgmt_class < VENDOR_FIRST || mgmt_class > VENDOR_LAST)
		return -EINVAL;
	request.oui = (uint32_t)oui[0] << 16 | oui[1] << 8 | oui[2];
	return register_or_eperm(portid, &request, method_mask);
}

int umad_register2(int port_fd, struct umad_reg_attr *attr, uint32_t *agent_id)
{
	struct osmsim_register request = {};
	int agent;

	if (!attr || !agent_id)
		return EINVAL;
	if (attr->flags & ~(uint32_t)UMAD_USER_RMPP) {
		attr->flags = UMAD_USER_RMPP; /* the supported flags */
		errno = EINVAL;
		return EINVAL;
	}
	request.qpn = qp_of(attr->mgmt_class);
	request.mgmt_class = attr->mgmt_class;
	request.class_version = attr->mgmt_class_version;
	request.rmpp_version = attr->flags & UMAD_USER_RMPP ? 0 : attr->rmpp_version;
	request.oui = attr->oui;
	memcpy(request.method_mask, attr->method_mask, sizeof(request.method_mask));
	agent = register_agent(port_fd, &request);
	if (agent < 0) {
		errno = -agent;
		return -agent;
	}
	*agent_id = agent;
	return 0;
}

int umad_unregister(int portid, int agentid)
{
	struct preload_port *port = find_port(portid);
	struct osmsim_unregister request = {.agent = agentid};
	struct osmsim_result result = {};
	int rc = port ? 0 : -EBADF;

	if (rc == 0 && !is_registered(port, agentid))
		rc = -EINVAL;
	if (rc == 0) {
		request.handle = port->handle;
		atomic_fetch_and(&port->agents, ~(UINT32_C(1) << agentid));
		rc = preload_ask(OSMSIM_UNREGISTER, &request, sizeof(request), &result,
				 sizeof(result));
	}
	if (rc == 0)
		rc = result.value;
	if (rc >= 0)
		return 0;
	errno = -rc;
	return -1;
}
