// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A daemon in the background is a grandchild, so that it does not lead a session and cannot get a
 * terminal. The first process stays until the daemon serves or has failed, because its caller wants
 * to know which; a pipe reports it. Errors until then go to the terminal, which is still open.
 *
 * The working directory stays: file names on the command line may be relative to it.
 */
#define _GNU_SOURCE /* pipe2, F_OFD_SETLK */
#include "ctl/process/background.h"

#include <complib/file.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/process/signals.h"

static void set_error(GError **error, const char *what)
{
	int err = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s", what,
		    g_strerror(err));
}

/* The first process: its exit code says whether the daemon has started. */
static void wait_and_exit(int fd, pid_t child)
{
	char ready = 0;
	ssize_t n;

	signals_release();
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	do
		n = read(fd, &ready, 1);
	while (n < 0 && errno == EINTR);
	_exit(n == 1 ? 0 : 1);
}

int background_begin(GError **error)
{
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		set_error(error, "cannot make a pipe");
		return -1;
	}
	child = fork();
	if (child < 0) {
		set_error(error, "cannot go to the background");
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	if (child > 0) {
		close(fds[1]);
		wait_and_exit(fds[0], child);
	}
	close(fds[0]);
	setsid();
	child = fork();
	if (child != 0)
		_exit(child < 0 ? 1 : 0); /* the pipe closes: the first process sees a failure */
	return fds[1];
}

void background_ready(int handle)
{
	const char ready = 1;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	while (write(handle, &ready, 1) < 0 && errno == EINTR)
		continue;
	close(handle);
}

static bool has_name(int fd, const char *path)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static long read_number(const char *path)
{
	g_autofree char *text = file_read(path, FILE_MAX_CONFIG, NULL, NULL);

	return text ? strtol(text, NULL, 10) : 0;
}

/*
 * False if another lock conflicts. Write locks, held by a daemon or one that starts, are possible
 * only for users who may write the file: a user who may only read it cannot keep a daemon from
 * starting. On a file system without locks this always succeeds.
 */
static bool lock(int fd, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_SETLK, &whole) == 0 ||
	       (errno != EAGAIN && errno != EACCES && errno != EBADF);
}

static int open_old(const char *path)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, O_RDWR | flags);

	return fd < 0 && errno != ENOENT ? open(path, O_RDONLY | flags) : fd;
}

/*
 * Opens and locks a file that was left behind, so that no other process replaces it too; -1 if
 * there is none, or, with an error, if its writer still runs.
 */
static int lock_old(const char *path, GError **error)
{
	int fd;

	while ((fd = open_old(path)) >= 0) {
		if (!lock(fd, F_WRLCK) && !lock(fd, F_RDLCK)) {
			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
				    "%s: process %ld is running and holds it; each daemon needs "
				    "its own file",
				    path, read_number(path));
			close(fd);
			return -1;
		}
		if (has_name(fd, path))
			return fd;
		close(fd);
	}
	return -1;
}

/* The link fails if another process was faster, whose file then has the name. */
static bool take_name(const char *temporary, const char *path, GError **error)
{
	GError *held = NULL;
	int old, err = 0;

	do {
		old = lock_old(path, &held);
		if (held)
			break;
		err = (old < 0 ? link(temporary, path) : rename(temporary, path)) < 0 ? errno : 0;
	} while (old < 0 && err == EEXIST && access(path, R_OK) == 0);
	if (old >= 0)
		close(old);
	if (err)
		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s", path,
			    g_strerror(err));
	if (held)
		g_propagate_error(error, held);
	return !err && !held;
}

int pidfile_open(const char *path, GError **error)
{
	g_autofree char *text = g_strdup_printf("%ld\n", (long)getpid());
	g_autofree char *temporary = NULL;
	int fd = file_create(path, 0644, &temporary, error);
	bool good;

	if (fd < 0)
		return -1;
	lock(fd, F_WRLCK);
	good = file_put(fd, text, strlen(text));
	if (!good)
		set_error(error, path);
	good = good && take_name(temporary, path, error);
	unlink(temporary); /* after the link, the file keeps its final name */
	if (!good)
		close(fd);
	return good ? fd : -1;
}

void pidfile_close(const char *path, int handle)
{
	if (read_number(path) == getpid())
		unlink(path);
	close(handle);
}
