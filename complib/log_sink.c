// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes lines to a descriptor without ever stopping the daemon: a full disk, a pipe whose reader
 * is gone or sleeps, and a stopped terminal only cause an errno.
 *
 * A regular file does not block. Any other file is polled for room first, for a short time; after a
 * failure the next lines do not wait until there is room again. So a slow reader loses nothing, and
 * a stopped one causes a single short delay.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log_private.h"

#define SINK_WAIT_MS 100

static void sink_inspect(struct sink *sink)
{
	struct stat st;

	if (fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode)) {
		sink->regular = true;
		sink->size = (uint64_t)st.st_size;
	}
}

int sink_open(struct sink *sink, const char *path, bool truncate)
{
	/* O_NONBLOCK: opening a FIFO without a reader must fail, not block. */
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = open(path, truncate ? flags | O_TRUNC : flags, 0644);

	if (fd < 0)
		return errno;
	*sink = (struct sink){.fd = fd, .owned = true};
	sink_inspect(sink);
	return 0;
}

void sink_use(struct sink *sink, int fd)
{
	*sink = (struct sink){.fd = fd};
	sink_inspect(sink);
}

void sink_close(struct sink *sink)
{
	if (sink->owned)
		close(sink->fd);
	*sink = (struct sink){.fd = -1};
}

static int write_all(struct sink *sink, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(sink->fd, data, length);

		if (n < 0 && errno != EINTR)
			return errno;
		if (n <= 0)
			continue;
		sink->size += (uint64_t)n;
		sink->torn = (size_t)n < length;
		data += n;
		length -= (size_t)n;
	}
	return 0;
}

/* As write_all, but a SIGPIPE raised by this write on this thread is discarded. */
static int write_without_signal(struct sink *sink, const char *data, size_t length)
{
	static const struct timespec at_once = {0, 0};
	sigset_t pipe_only, saved, pending;
	int err;

	sigpending(&pending);
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &saved);
	err = write_all(sink, data, length);
	if (err == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	return err;
}

static bool sink_has_room(struct sink *sink)
{
	struct pollfd pfd = {.fd = sink->fd, .events = POLLOUT};
	int n = poll(&pfd, 1, sink->stalled ? 0 : SINK_WAIT_MS);

	sink->stalled = n == 0;
	return n != 0; /* an error shows when writing */
}

static int sink_put(struct sink *sink, const char *data, size_t length)
{
	if (sink->regular)
		return write_all(sink, data, length);
	if (!sink_has_room(sink))
		return EAGAIN;
	return write_without_signal(sink, data, length);
}

int sink_write(struct sink *sink, const char *line, size_t length, bool flush)
{
	int err = 0;

	if (sink->torn) {
		err = sink_put(sink, "\n", 1);
		sink->torn = err != 0;
	}
	if (!err)
		err = sink_put(sink, line, length);
	if (!err && flush && sink->regular && fdatasync(sink->fd) < 0)
		err = errno;
	return err;
}

bool sink_limit(struct sink *sink, size_t more, uint64_t max_bytes)
{
	if (!max_bytes || !sink->owned || !sink->regular || sink->size + more <= max_bytes)
		return false;
	sink_inspect(sink); /* logrotate may have truncated it already */
	if (sink->size + more <= max_bytes || sink->size == 0)
		return false;
	if (ftruncate(sink->fd, 0) < 0)
		return false;
	sink->size = 0;
	sink->torn = false;
	return true;
}
