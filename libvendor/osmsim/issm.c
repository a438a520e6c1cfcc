// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * IsSM of a port by opening and closing, as with the issm devices of the kernel: a named pipe
 * stands for the device, and inotify reports when it is opened and closed. So IsSM ends with the
 * process, however it ends.
 *
 * The pipes are in a directory private to this user beside the socket, one for each port ever
 * requested. No data is written to them.
 */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libvendor/osmsim/issm.h"

struct pipe {
	struct sim_port *port;
	unsigned int opens;
};

struct issm {
	struct watch watch; /* of inotify */
	struct server *server;
	char *directory;
	GHashTable *pipes; /* struct pipe by file name */
};

static void opened(struct issm *issm, struct pipe *pipe)
{
	if (pipe->opens++ == 0)
		agent_set_is_sm(issm->server->sim, pipe->port, true);
}

static void closed(struct issm *issm, struct pipe *pipe)
{
	if (pipe->opens && --pipe->opens == 0)
		agent_set_is_sm(issm->server->sim, pipe->port, false);
}

static void event(struct issm *issm, const struct inotify_event *event)
{
	struct pipe *pipe = event->len ? g_hash_table_lookup(issm->pipes, event->name) : NULL;

	if (event->mask & IN_Q_OVERFLOW)
		log_error(issm->server->log, "Lost track of the clients that have set IsSM");
	else if (pipe && event->mask & IN_OPEN)
		opened(issm, pipe);
	else if (pipe && event->mask & IN_CLOSE)
		closed(issm, pipe);
}

static void issm_ready(struct watch *watch, uint32_t events)
{
	struct issm *issm = (struct issm *)watch;
	_Alignas(struct inotify_event) char buffer[4096];
	ssize_t length;

	(void)events;
	while ((length = read(watch->fd, buffer, sizeof(buffer))) > 0) {
		for (const char *at = buffer; at < buffer + length;) {
			const struct inotify_event *one = (const struct inotify_event *)at;

			event(issm, one);
			at += sizeof(*one) + one->len;
		}
	}
}

static void remove_directory(const char *path)
{
	GDir *directory = g_dir_open(path, 0, NULL);
	const char *name;

	while (directory && (name = g_dir_read_name(directory))) {
		g_autofree char *file = g_build_filename(path, name, NULL);

		unlink(file);
	}
	if (directory)
		g_dir_close(directory);
	rmdir(path);
}

/* Only leftovers of a dead server can be in the way, as the socket could be taken. */
static int make_directory(struct issm *issm)
{
	remove_directory(issm->directory);
	if (mkdir(issm->directory, 0700) != 0)
		return -errno;
	issm->watch.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (issm->watch.fd < 0 ||
	    inotify_add_watch(issm->watch.fd, issm->directory, IN_OPEN | IN_CLOSE) < 0)
		return -errno;
	server_watch(issm->server, &issm->watch, EPOLLIN);
	return 0;
}

int issm_path(struct issm *issm, struct sim_port *port, char *path, size_t size)
{
	g_autofree char *name = g_strdup_printf("%u-%u", port->node->index, port->number);
	struct pipe *pipe;
	int err;

	if (issm->watch.fd < 0 && (err = make_directory(issm)) != 0)
		return err;
	if ((size_t)g_snprintf(path, size, "%s/%s", issm->directory, name) >= size)
		return -ENAMETOOLONG;
	if (g_hash_table_contains(issm->pipes, name))
		return 0;
	if (mkfifo(path, 0600) != 0)
		return -errno;
	pipe = g_new0(struct pipe, 1);
	pipe->port = port;
	g_hash_table_insert(issm->pipes, g_steal_pointer(&name), pipe);
	return 0;
}

void issm_refresh(struct issm *issm, const struct sim_node *node)
{
	GHashTableIter iter;
	void *value;

	g_hash_table_iter_init(&iter, issm->pipes);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct pipe *pipe = value;

		if (pipe->port->node == node && pipe->opens)
			agent_set_is_sm(issm->server->sim, pipe->port, true);
	}
}

struct issm *issm_new(struct server *server)
{
	struct issm *issm = g_new0(struct issm, 1);

	issm->watch = (struct watch){.fd = -1, .ready = issm_ready};
	issm->server = server;
	issm->directory = g_strconcat(server->path, ".issm", NULL);
	issm->pipes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return issm;
}

void issm_free(struct issm *issm)
{
	if (!issm)
		return;
	if (issm->watch.fd >= 0) {
		close(issm->watch.fd);
		remove_directory(issm->directory);
	}
	g_hash_table_destroy(issm->pipes);
	g_free(issm->directory);
	g_free(issm);
}
