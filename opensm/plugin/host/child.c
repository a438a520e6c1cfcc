// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A host as a process of its own. Its first thread watches the daemon's end, so that the process
 * ends even if the plug-in hangs.
 */
#define _GNU_SOURCE /* pipe2() */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "plugin/host/host.h"

#define LAST_MS 2000 /* for destroy(), after the daemon's end is closed */

/* Descriptors of libraries of the daemon may lack the flag to close them: its device, above all. */
static void close_others(void)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		int file = (int)strtol(entry->d_name, NULL, 10);

		if (file > PLUGIN_HOST_FD && file != dirfd(directory))
			close(file);
	}
	if (directory)
		closedir(directory);
}

/* What the host leaves when it ends: the other end of this pipe is then closed. */
struct life {
	int link, pipe_end, result;
};

static void *run(void *arg)
{
	struct life *life = arg;

	life->result = plugin_host_run(life->link);
	close(life->pipe_end);
	return NULL;
}

/* Waits until the host has ended; for a bounded time once the daemon's end is closed. */
static bool watch(int daemon_end, int host_end)
{
	struct pollfd polled[2] = {{.fd = host_end}, {.fd = daemon_end}};

	while (!polled[0].revents && !polled[1].revents)
		poll(polled, 2, -1);
	return polled[0].revents || poll(polled, 1, LAST_MS) == 1;
}

int plugin_host_main(int argc, char **argv)
{
	struct life life = {.link = PLUGIN_HOST_FD};
	pthread_t thread;
	int ends[2], watched;

	if (argc != 4 || strcmp(argv[1], PLUGIN_HOST_FLAG) != 0)
		return 1;
	close_others();
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, argv[2]);
	fcntl(PLUGIN_HOST_FD, F_SETFD, FD_CLOEXEC);
	watched = fcntl(PLUGIN_HOST_FD, F_DUPFD_CLOEXEC, 0);
	if (watched < 0 || pipe2(ends, O_CLOEXEC))
		return 1;
	life.pipe_end = ends[1];
	if (pthread_create(&thread, NULL, run, &life))
		return 1;
	if (!watch(watched, ends[0]))
		_exit(1);
	pthread_join(thread, NULL);
	return life.result;
}
