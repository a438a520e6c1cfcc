// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A daemon in the background is a child of a child, so that it leads no session and can get no
 * terminal. The first process stays until the daemon serves, or has failed, because who started it
 * wants to know which: a pipe tells. Errors until then go to the terminal that is still open.
 *
 * The working directory stays: names of files on the command line may be relative to it.
 */
#define _GNU_SOURCE /* pipe2 */
#include "ctl/background.h"

#include <complib/file.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_error(GError **error, const char *what)
{
	int err = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s", what,
		    g_strerror(err));
}

/* The process that was started: its exit code is whether the daemon has come up. */
static void wait_and_exit(int fd, pid_t child)
{
	char ready = 0;
	ssize_t n;

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

bool pidfile_write(const char *path, GError **error)
{
	g_autofree char *text = g_strdup_printf("%ld\n", (long)getpid());

	return file_write(path, text, 0644, error);
}

void pidfile_remove(const char *path)
{
	g_autofree char *text = file_read(path, FILE_MAX_CONFIG, NULL, NULL);

	if (text && strtol(text, NULL, 10) == getpid())
		unlink(path);
}
