// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/plugin/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/host/host.h"

/* What the service manager gives to the daemon alone. */
static char **environment(void)
{
	char **list = g_get_environ();

	list = g_environ_unsetenv(list, "NOTIFY_SOCKET");
	list = g_environ_unsetenv(list, "WATCHDOG_PID");
	list = g_environ_unsetenv(list, "WATCHDOG_USEC");
	list = g_environ_unsetenv(list, "LISTEN_FDS");
	return g_environ_unsetenv(list, "LISTEN_PID");
}

/*
 * What a plug-in prints goes where errors of the daemon go: its standard output may be a log that a
 * program reads.
 */
static void give_files(posix_spawn_file_actions_t *files, int end)
{
	posix_spawn_file_actions_init(files);
	posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(files, end, PLUGIN_HOST_FD);
}

/* A group of its own, so that Ctrl-C ends the daemon only, which then stops the plug-in. */
static void give_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(attributes);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
						     POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setpgroup(attributes, 0);
}

pid_t process_start(const char *name, int end, GError **error)
{
	char *const argv[] = {"opensm", PLUGIN_HOST_FLAG, (char *)name, G_STRINGIFY(PLUGIN_HOST_FD),
			      NULL};
	g_auto(GStrv) env = environment();
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t process;
	int code;

	give_files(&files, end);
	give_attributes(&attributes);
	code = posix_spawn(&process, "/proc/self/exe", &files, &attributes, argv, env);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (!code)
		return process;
	g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
		    "cannot start a process: %s", g_strerror(code));
	return -1;
}

bool process_has_ended(pid_t process, char **how)
{
	int status;
	pid_t result = waitpid(process, &status, WNOHANG);

	if (!result || (result < 0 && errno == EINTR))
		return false;
	if (result < 0) /* process 1 of a container leaves the waiting to the kernel */
		*how = g_strdup("it ended");
	else if (WIFSIGNALED(status))
		*how = g_strdup_printf("signal %d (%s) ended it", WTERMSIG(status),
				       strsignal(WTERMSIG(status)));
	else
		*how = g_strdup_printf("it ended with exit code %d", WEXITSTATUS(status));
	return true;
}
