// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * osmsim: a simulated fabric as a server, on whose nodes other processes run.
 *
 * One thread waits in epoll for clients and drives the sim's actor (actor_poll). Each round reads
 * input from every ready client, runs it through the fabric, which without latencies gives the
 * answers at once, and then writes all output for each client in one call.
 *
 *	server.c      the socket, the round        connection.c  frames in and out
 *	control.c     requests of processes        mad.c         MADs in and out
 *	issm.c        IsSM of ports                events.c      events of ports
 *	console*.c    commands
 *
 * The server never waits for a client: output that its socket does not take stays queued, and is
 * dropped beyond a limit as in the kernel. Closed connections are freed at the end of the round,
 * since other connections may still have output for them in the same round.
 */
#define _GNU_SOURCE /* accept4, ppoll */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "libvendor/osmsim/issm.h"

#define EVENTS 64 /* per round */
#define BACKLOG 128

/* ---- the socket ---- */

static bool fail(GError **error, int err, const char *what, const char *path)
{
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s %s: %s", what, path,
		    g_strerror(err));
	return false;
}

/* True if a server answers there. */
static bool is_alive(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool alive;

	if (fd < 0)
		return false;
	alive = !connect(fd, (const struct sockaddr *)address, sizeof(*address)) ||
		errno == EAGAIN; /* it exists, but is too busy to accept */
	close(fd);
	return alive;
}

/* Removes the socket of a dead server; anything else at this path stays. */
static bool clear_stale(const struct sockaddr_un *address, GError **error)
{
	struct stat status;

	if (lstat(address->sun_path, &status) != 0)
		return errno == ENOENT || fail(error, errno, "cannot look at", address->sun_path);
	if (!S_ISSOCK(status.st_mode))
		return fail(error, EEXIST, "is not a socket:", address->sun_path);
	if (is_alive(address))
		return fail(error, EADDRINUSE, "another server answers at", address->sun_path);
	if (unlink(address->sun_path) != 0)
		return fail(error, errno, "cannot remove stale", address->sun_path);
	return true;
}

static bool listen_at(struct server *server, const char *path, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int err = 0, fd;

	if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >= sizeof(address.sun_path))
		return fail(error, ENAMETOOLONG, "cannot listen at", path);
	if (!clear_stale(&address, error))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(error, errno, "cannot make a socket for", path);
	mask = umask(0177); /* only this user may connect, from the first moment */
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, BACKLOG) != 0)
		err = errno;
	umask(mask);
	if (err) {
		close(fd);
		return fail(error, err, "cannot listen at", path);
	}
	server->listener.fd = fd;
	server->path = g_strdup(path);
	return true;
}

static void accept_ready(struct watch *watch, uint32_t events)
{
	struct server *server = container_of(watch, struct server, listener);
	unsigned int held_back;
	int fd;

	(void)events;
	while ((fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		g_hash_table_add(server->connections, connection_new(server, fd));
	if (errno != EAGAIN &&
	    log_limit_pass(&server->accept_limit, runtime_now(server->rt), 1, NS_PER_S, &held_back))
		log_error(server->log, "Cannot accept a client: %s", g_strerror(errno));
}

/* ---- nodes by name ---- */

static struct sim_node *first_host(const struct sim *sim)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].type == IBA_NODE_CA)
			return &sim->nodes[i];
	return sim->n_nodes ? &sim->nodes[0] : NULL;
}

struct sim_node *server_find_node(const struct server *server, const char *name)
{
	return *name ? sim_find_node(server->sim, name) : first_host(server->sim);
}

void server_lose_ports(struct server *server, const struct sim_node *node)
{
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, server->connections);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		struct connection *connection = key;

		if ((connection->kind == CONNECTION_PORT ||
		     connection->kind == CONNECTION_EVENTS) &&
		    connection->node == node)
			connection_close(connection);
	}
}

/* ---- the round ---- */

bool server_watch(struct server *server, struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	return epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) == 0 ||
	       epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0;
}

void server_unwatch(struct server *server, struct watch *watch)
{
	epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

static int wait_events(const struct server *server, struct epoll_event *events, uint64_t ns)
{
	struct pollfd poll_fd = {.fd = server->epoll_fd, .events = POLLIN};
	struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_S),
				.tv_nsec = (long)(ns % NS_PER_S)};

	if (ns == UINT64_MAX)
		return epoll_wait(server->epoll_fd, events, EVENTS, -1);
	/* Latencies of the fabric are shorter than the milliseconds of epoll_wait. */
	if (ns && ppoll(&poll_fd, 1, &time, NULL) <= 0)
		return 0;
	return epoll_wait(server->epoll_fd, events, EVENTS, 0);
}

static void flush_all(struct server *server)
{
	for (unsigned int i = 0; i < server->dirty->len; i++) {
		struct connection *connection = server->dirty->pdata[i];

		connection->dirty = false;
		connection_flush(connection);
	}
	g_ptr_array_set_size(server->dirty, 0);
}

static void reap(struct server *server)
{
	for (unsigned int i = 0; i < server->closing->len; i++)
		g_hash_table_remove(server->connections, server->closing->pdata[i]);
	g_ptr_array_set_size(server->closing, 0);
}

void server_turn(struct server *server, uint64_t timeout_ns)
{
	struct epoll_event events[EVENTS];
	uint64_t due = actor_poll(server->sim->actor);
	int n;

	flush_all(server);
	n = wait_events(server, events, MIN(due, timeout_ns));
	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		watch->ready(watch, events[i].events);
	}
	flush_all(server);
	reap(server);
}

/* ---- construction ---- */

static void free_connection(void *data)
{
	connection_free(data);
}

struct server *server_new(struct runtime *rt, struct log *log, struct sim *sim, const char *path,
			  GError **error)
{
	struct server *server = g_new0(struct server, 1);

	server->rt = rt;
	server->log = log;
	server->sim = sim;
	server->listener = (struct watch){.fd = -1, .ready = accept_ready};
	server->connections = g_hash_table_new_full(NULL, NULL, free_connection, NULL);
	server->handles = g_hash_table_new(NULL, NULL);
	server->dirty = g_ptr_array_new();
	server->closing = g_ptr_array_new();
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll_fd < 0)
		fail(error, errno, "cannot make an epoll descriptor for", path);
	else
		listen_at(server, path, error);
	if (server->listener.fd < 0) {
		server_free(server);
		return NULL;
	}
	server_watch(server, &server->listener, EPOLLIN);
	server->issm = issm_new(server);
	return server;
}

void server_free(struct server *server)
{
	if (!server)
		return;
	g_hash_table_destroy(server->connections);
	g_hash_table_destroy(server->handles);
	g_ptr_array_free(server->dirty, TRUE);
	g_ptr_array_free(server->closing, TRUE);
	issm_free(server->issm);
	if (server->listener.fd >= 0) {
		unlink(server->path);
		close(server->listener.fd);
	}
	if (server->epoll_fd >= 0)
		close(server->epoll_fd);
	g_free(server->path);
	g_free(server);
}
