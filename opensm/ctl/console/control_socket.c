// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The mode of the name in the file system keeps other users out; the credentials of users who
 * connect are checked as well, with the kernel. Other users must not be able to replace names in
 * the directory, because the socket gets its group by name.
 */
#include "config.h"

#include "ctl/console/control_socket.h"

#include <errno.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16
#define NO_GROUP ((gid_t)-1)
#define MAX_GROUPS 65536 /* of a process, the kernel's limit */

struct control_socket {
	char *path;
	GSocket *socket;
	gid_t group;  /* NO_GROUP: none */
	dev_t device; /* identifies the name later */
	ino_t inode;
};

char *control_socket_name(const char *pattern, uint64_t port_guid)
{
	g_autofree char *guid = g_strdup_printf("0x%016" PRIx64, port_guid);
	g_auto(GStrv) parts = g_strsplit(pattern, "%g", -1);

	return g_strjoinv(guid, parts);
}

G_GNUC_PRINTF(3, 4)
static bool fail(GError **error, const char *path, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "control_socket: %s: %s", path, text);
	return false;
}

/* ---- the name ---- */

static bool check_directory(const char *path, GError **error)
{
	g_autofree char *directory = g_path_get_dirname(path);
	struct stat about;

	g_mkdir(directory, 0755);
	if (stat(directory, &about) < 0)
		return fail(error, path, "directory %s: %s", directory, g_strerror(errno));
	if (about.st_uid != 0 && about.st_uid != geteuid())
		return fail(error, path, "directory %s belongs to uid %u, expected root or uid %u",
			    directory, about.st_uid, geteuid());
	if (about.st_mode & (S_IWGRP | S_IWOTH) && !(about.st_mode & S_ISVTX))
		return fail(error, path,
			    "other users may write in directory %s (mode %04o): expected 0755 or "
			    "less",
			    directory, about.st_mode & 07777);
	return true;
}

/* Whether no process listens at a socket any more; if false, errno says why. */
static bool is_left_behind(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err = 0;

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		err = errno;
	close(fd);
	errno = err && err != EAGAIN ? err : EADDRINUSE;
	return err == ECONNREFUSED;
}

/* Removes the name if a daemon left it behind. */
static bool check_name(const char *path, GError **error)
{
	struct stat about;

	if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return fail(error, path, "expected a name of at most %zu octets",
			    sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	if (lstat(path, &about) < 0)
		return errno == ENOENT || fail(error, path, "%s", g_strerror(errno));
	if (!S_ISSOCK(about.st_mode))
		return fail(error, path,
			    "expected nothing, or the socket of a daemon that has "
			    "ended, but there is something else");
	if (!is_left_behind(path))
		return fail(error, path, "the socket is in use: %s", g_strerror(errno));
	return unlink(path) == 0 || fail(error, path, "%s", g_strerror(errno));
}

/* The group that a setgid directory gives to new files, unless that is root's. */
static gid_t group_of_directory(const char *path)
{
	g_autofree char *directory = g_path_get_dirname(path);
	struct stat about;

	if (stat(directory, &about) == 0 && about.st_mode & S_ISGID && about.st_gid != 0)
		return about.st_gid;
	return NO_GROUP;
}

static bool find_group(struct control_socket *control, const char *group, GError **error)
{
	const struct group *entry = group ? getgrnam(group) : NULL;

	control->group = entry ? entry->gr_gid : group_of_directory(control->path);
	if (entry || !group)
		return true;
	return fail(error, control->path, "control_group: there is no group '%s'", group);
}

/* ---- life ---- */

/*
 * No client can connect before all is set and the socket listens. If the directory has set the
 * group, no capability is needed.
 */
static bool set_owner(struct control_socket *control, GError **error)
{
	struct stat about;

	if (lstat(control->path, &about) < 0)
		return fail(error, control->path, "%s", g_strerror(errno));
	control->device = about.st_dev;
	control->inode = about.st_ino;
	if (control->group == NO_GROUP)
		return true;
	if ((about.st_gid != control->group &&
	     lchown(control->path, (uid_t)-1, control->group) < 0) ||
	    chmod(control->path, 0660) < 0)
		return fail(error, control->path, "cannot give it to group %u: %s", control->group,
			    g_strerror(errno));
	return true;
}

static bool bind_name(struct control_socket *control, GError **error)
{
	g_autoptr(GSocketAddress) address = g_unix_socket_address_new(control->path);
	g_autoptr(GError) trouble = NULL;

	control->socket = g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM,
				       G_SOCKET_PROTOCOL_DEFAULT, &trouble);
	if (!control->socket)
		return fail(error, control->path, "%s", trouble->message);
	/* bind() gives the name the mode of the socket. */
	if (fchmod(g_socket_get_fd(control->socket), 0600) < 0)
		return fail(error, control->path, "%s", g_strerror(errno));
	if (!g_socket_bind(control->socket, address, FALSE, &trouble))
		return fail(error, control->path, "%s", trouble->message);
	if (!set_owner(control, error))
		return false;
	g_socket_set_listen_backlog(control->socket, BACKLOG);
	return g_socket_listen(control->socket, &trouble) ||
	       fail(error, control->path, "%s", trouble->message);
}

struct control_socket *control_socket_new(const char *path, const char *group, GError **error)
{
	struct control_socket *control = g_new0(struct control_socket, 1);

	control->path = g_strdup(path);
	if (check_directory(path, error) && check_name(path, error) &&
	    find_group(control, group, error) && bind_name(control, error))
		return control;
	control_socket_free(control);
	return NULL;
}

void control_socket_free(struct control_socket *control)
{
	struct stat about;

	if (!control)
		return;
	if (control->inode && lstat(control->path, &about) == 0 &&
	    about.st_dev == control->device && about.st_ino == control->inode)
		unlink(control->path);
	g_clear_object(&control->socket);
	g_free(control->path);
	g_free(control);
}

GSocket *control_socket_listener(const struct control_socket *control)
{
	return control->socket;
}

/* ---- connections ---- */

/* Whether the process at the other end is in the group, by its own or a supplementary group. */
static bool is_in_group(GSocket *connection, gid_t own, gid_t group)
{
	g_autofree gid_t *groups = g_new(gid_t, MAX_GROUPS);
	socklen_t length = MAX_GROUPS * sizeof(gid_t);

	if (group == NO_GROUP)
		return false;
	if (own == group)
		return true;
	if (getsockopt(g_socket_get_fd(connection), SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0)
		return false;
	for (size_t i = 0; i < length / sizeof(gid_t); i++)
		if (groups[i] == group)
			return true;
	return false;
}

bool control_socket_admits(const struct control_socket *control, GSocket *connection,
			   enum seat_kind *kind, char **name)
{
	g_autoptr(GCredentials) credentials = g_socket_get_credentials(connection, NULL);
	const struct ucred *peer =
		credentials ? g_credentials_get_native(credentials, G_CREDENTIALS_TYPE_LINUX_UCRED)
			    : NULL;

	if (!peer) {
		*name = g_strdup("an unknown client");
		return false;
	}
	*name = g_strdup_printf("uid %u", peer->uid);
	*kind = SEAT_OPERATOR;
	if (peer->uid == 0 || peer->uid == geteuid())
		return true;
	*kind = SEAT_GROUP;
	return is_in_group(connection, peer->gid, control->group);
}
