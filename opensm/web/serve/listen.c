// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "web/base/address.h"

#define FIRST_FD 3 /* of a service manager */
#define BACKLOG 1024

static void listener_free(gpointer data)
{
	struct listener *listener = data;

	if (listener->socket >= 0)
		close(listener->socket);
	if (listener->path)
		unlink(listener->path);
	g_free(listener->path);
	g_free(listener->text);
	g_free(listener);
}

static bool fail(GError **error, const char *where)
{
	g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "cannot listen at %s: %s",
		    where, g_strerror(errno));
	return false;
}

/* ---- sockets of our own ---- */

/* A name that a process left behind, where none listens any more, is removed. */
static bool remove_old(const struct address *address)
{
	const struct sockaddr_un *local = (const struct sockaddr_un *)&address->storage;
	struct stat about;
	int probe;
	bool refused;

	if (lstat(local->sun_path, &about) < 0)
		return errno == ENOENT;
	errno = EADDRINUSE;
	if (!S_ISSOCK(about.st_mode))
		return false;
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return false;
	refused = connect(probe, (const struct sockaddr *)local, address->length) < 0 &&
		  errno == ECONNREFUSED;
	close(probe);
	errno = EADDRINUSE;
	return refused && unlink(local->sun_path) == 0;
}

static void set_options(int socket, int family, mode_t mode)
{
	const int on = 1;

	if (family == AF_UNIX) {
		fchmod(socket, mode); /* bind() gives it to the name, less the umask */
		return;
	}
	setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
}

static bool bind_it(struct listener *listener, const struct address *address, mode_t mode)
{
	const struct sockaddr *name = (const struct sockaddr *)&address->storage;

	if (name->sa_family == AF_UNIX && !remove_old(address))
		return false;
	listener->socket = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->socket < 0)
		return false;
	set_options(listener->socket, name->sa_family, mode);
	if (bind(listener->socket, name, address->length) < 0)
		return false;
	if (name->sa_family == AF_UNIX) {
		listener->path = g_strdup(((const struct sockaddr_un *)name)->sun_path);
		if (chmod(listener->path, mode) < 0)
			return false;
	}
	return listen(listener->socket, BACKLOG) == 0;
}

static bool add(GPtrArray *listeners, int socket, GError **error)
{
	struct listener *listener = g_new0(struct listener, 1);
	struct address address = {.length = sizeof(address.storage)};
	struct sockaddr *name = (struct sockaddr *)&address.storage;

	listener->socket = socket;
	g_ptr_array_add(listeners, listener);
	if (getsockname(socket, name, &address.length) < 0)
		return fail(error, "an inherited socket");
	listener->text = address_text(name);
	listener->local = address_is_local(name);
	listener->has_ip = name->sa_family != AF_UNIX;
	return true;
}

static bool open_one(GPtrArray *listeners, const char *text, mode_t mode, GError **error)
{
	struct listener opened = {.socket = -1};
	struct address address;
	struct listener *listener;

	if (!address_parse(&address, text))
		errno = EINVAL;
	else if (bind_it(&opened, &address, mode) && add(listeners, opened.socket, error)) {
		listener = listeners->pdata[listeners->len - 1];
		listener->path = opened.path;
		return true;
	}
	fail(error, text);
	if (opened.socket >= 0)
		close(opened.socket);
	g_free(opened.path);
	return false;
}

/* ---- sockets of the service manager ---- */

static unsigned int number_of(const char *name, unsigned int max)
{
	const char *text = getenv(name);
	guint64 number = 0;

	if (text)
		g_ascii_string_to_unsigned(text, 10, 0, max, &number, NULL);
	return (unsigned int)number;
}

static bool is_listening(int socket)
{
	int on = 0;
	socklen_t size = sizeof(on);

	return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &on, &size) == 0 && on;
}

static bool inherit(GPtrArray *listeners, unsigned int n, GError **error)
{
	for (int socket = FIRST_FD; socket < FIRST_FD + (int)n; socket++) {
		if (!is_listening(socket)) {
			errno = ENOTSOCK;
			return fail(error, "an inherited descriptor");
		}
		fcntl(socket, F_SETFD, FD_CLOEXEC);
		fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
		if (!add(listeners, socket, error))
			return false;
	}
	return true;
}

/* ---- the interface ---- */

GPtrArray *listen_open(const GPtrArray *addresses, mode_t mode, GError **error)
{
	g_autoptr(GPtrArray) listeners = g_ptr_array_new_with_free_func(listener_free);
	unsigned int inherited = number_of("LISTEN_PID", INT_MAX) == (unsigned int)getpid()
					 ? number_of("LISTEN_FDS", 1000)
					 : 0;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	if (inherited)
		return inherit(listeners, inherited, error) ? g_steal_pointer(&listeners) : NULL;
	for (guint i = 0; i < addresses->len; i++)
		if (!open_one(listeners, addresses->pdata[i], mode, error))
			return NULL;
	return g_steal_pointer(&listeners);
}

void listen_close(GPtrArray *listeners)
{
	if (listeners)
		g_ptr_array_unref(listeners);
}

bool listen_is_local(const GPtrArray *listeners)
{
	for (guint i = 0; i < listeners->len; i++)
		if (!((const struct listener *)listeners->pdata[i])->local)
			return false;
	return true;
}
