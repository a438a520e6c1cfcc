// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * osmsim-run runs a program on a node of a fabric that osmsim simulates: it preloads
 * libosmsim-preload.so, or with --verbs libosmsim-verbs.so, passes on the socket and the node, and
 * executes the program. With -t it first starts an osmsim of its own, stays its parent, and ends it
 * with the program.
 *
 * It works both installed and in a build tree: files beside it have precedence over installed ones.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "libvendor/osmsim/protocol.h"

#define LIBRARY "libosmsim-preload.so"
#define LIBRARY_VERBS "libosmsim-verbs.so"
#define EXIT_TROUBLE 125 /* as env(1) and timeout(1): our failure, not the program's */
#define EXIT_NOT_RUN 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNAL 128
#define START_MS 120000 /* large fabrics are read and built first */
#define END_MS 5000
#define POLL_MS 10

struct run {
	const char *socket, *node, *topology;
	const char *library; /* to preload */
	char **argv;
	char here[PATH_MAX]; /* directory of this program */
	char dir[PATH_MAX];  /* of the private socket */
	char path[PATH_MAX]; /* the private socket */
	pid_t server;
};

static __attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("osmsim-run: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(EXIT_TROUBLE);
}

static void usage(FILE *out)
{
	fputs("usage: osmsim-run [-s SOCKET] [-n NODE] [--verbs] PROGRAM [ARGUMENT ...]\n"
	      "       osmsim-run -t TOPOLOGY [-n NODE] [--verbs] PROGRAM [ARGUMENT ...]\n"
	      "  -s, --socket SOCKET      of a running osmsim\n"
	      "  -n, --node NODE          description or GUID of the node to run on\n"
	      "  -t, --topology TOPOLOGY  run an osmsim of this file or specification meanwhile\n"
	      "      --verbs              show it to libibverbs, too, as a device with events\n"
	      "  -h, --help               this text\n"
	      "  -V, --version            the version\n",
	      out);
}

static __attribute__((noreturn)) void end_told(void)
{
	if (fflush(stdout) != 0)
		fail("cannot write to the standard output: %s", strerror(errno));
	exit(0);
}

static void parse(struct run *run, int argc, char **argv)
{
	static const struct option options[] = {
		{"socket", required_argument, NULL, 's'},
		{"node", required_argument, NULL, 'n'},
		{"topology", required_argument, NULL, 't'},
		{"verbs", no_argument, NULL, 'b'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "+s:n:t:hV", options, NULL)) != -1) {
		if (c == 's') {
			run->socket = optarg;
		} else if (c == 'n') {
			run->node = optarg;
		} else if (c == 't') {
			run->topology = optarg;
		} else if (c == 'b') {
			run->library = LIBRARY_VERBS;
		} else if (c == 'h') {
			usage(stdout);
			end_told();
		} else if (c == 'V') {
			puts("osmsim-run " PACKAGE_VERSION);
			end_told();
		} else {
			usage(stderr);
			exit(EXIT_TROUBLE);
		}
	}
	run->argv = argv + optind;
	if (!*run->argv)
		fail("no program is given (osmsim-run --help)");
	if (run->socket && run->topology)
		fail("a running osmsim (-s) and one of its own (-t) exclude each other");
}

static void find_self(struct run *run)
{
	ssize_t n = readlink("/proc/self/exe", run->here, sizeof(run->here) - 1);
	char *slash;

	run->here[n > 0 ? n : 0] = '\0';
	slash = strrchr(run->here, '/');
	if (!slash)
		fail("cannot find the directory of this program (is /proc mounted?)");
	*slash = '\0';
}

/* Joins a directory and a name below it; false if there is no such file, or no room. */
static bool find(char path[PATH_MAX], const char *dir, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX && access(path, F_OK) == 0;
}

/*
 * The place of this program in a directory like its install directory, below some root (DESTDIR).
 */
static bool find_below_root(char path[PATH_MAX], const char *here, const char *name)
{
	const size_t length = strlen(here), bindir = strlen(BINDIR);
	char dir[PATH_MAX];
	int n;

	if (length < bindir || strcmp(here + length - bindir, BINDIR) != 0)
		return false;
	n = snprintf(dir, sizeof(dir), "%.*s%s", (int)(length - bindir), here, PKGLIBDIR);
	return n < (int)sizeof(dir) && find(path, dir, name);
}

static void set_preload(const struct run *run)
{
	const char *given = getenv("LD_PRELOAD");
	char path[PATH_MAX], *value;

	if (!find(path, run->here, run->library) &&
	    !find_below_root(path, run->here, run->library) && !find(path, PKGLIBDIR, run->library))
		fail("%s is neither in %s nor in %s", run->library, run->here, PKGLIBDIR);
	if (asprintf(&value, "%s%s%s", path, given && *given ? ":" : "", given ? given : "") < 0)
		fail("out of memory");
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

static void become(const struct run *run)
{
	set_preload(run);
	if (run->socket)
		setenv(OSMSIM_ENV_SOCKET, run->socket, 1);
	if (run->node)
		setenv(OSMSIM_ENV_NODE, run->node, 1);
	execvp(run->argv[0], run->argv);
	fprintf(stderr, "osmsim-run: cannot run %s: %s\n", run->argv[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

static void become_server(const struct run *run, const sigset_t *mask)
{
	char path[PATH_MAX];
	int null = open("/dev/null", O_RDWR);
	char *const argv[] = {"osmsim", "-s", (char *)run->path, (char *)run->topology, NULL};

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0); /* a terminal's ^C is meant for the program */
	sigprocmask(SIG_SETMASK, mask, NULL);
	dup2(null, 0);
	dup2(null, 1);
	if (find(path, run->here, "../osmsim/osmsim") || find(path, run->here, "osmsim"))
		execv(path, argv);
	else
		execvp("osmsim", argv);
	fprintf(stderr, "osmsim-run: cannot run osmsim: %s\n", strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

static bool listens(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok;

	memcpy(address.sun_path, path, strlen(path) + 1);
	ok = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

static void pause_ms(int ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000L};

	nanosleep(&pause, NULL);
}

/* Whether a child ends within that time. */
static bool ends(pid_t pid, int ms)
{
	for (; ms > 0; ms -= POLL_MS) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		pause_ms(POLL_MS);
	}
	return false;
}

static void clean_up(const struct run *run)
{
	if (run->server > 0) {
		kill(run->server, SIGTERM);
		if (!ends(run->server, END_MS)) {
			kill(run->server, SIGKILL);
			waitpid(run->server, NULL, 0);
		}
	}
	unlink(run->path);
	rmdir(run->dir);
}

static void start_server(struct run *run, const sigset_t *mask)
{
	const char *tmp = getenv("TMPDIR");
	size_t room = sizeof(((struct sockaddr_un *)0)->sun_path);
	int waited = 0;

	snprintf(run->dir, sizeof(run->dir), "%s/osmsim-run.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(run->dir))
		fail("cannot make the directory %s: %s", run->dir, strerror(errno));
	if ((size_t)snprintf(run->path, room, "%s/socket", run->dir) >= room) {
		rmdir(run->dir);
		fail("the name of a socket in %s is too long", run->dir);
	}
	run->server = fork();
	if (run->server == 0)
		become_server(run, mask);
	while (run->server > 0 && !listens(run->path)) {
		if (waitpid(run->server, NULL, WNOHANG) == run->server)
			run->server = -1; /* it has reported the reason */
		else if ((waited += POLL_MS) > START_MS)
			break;
		else
			pause_ms(POLL_MS);
	}
	if (run->server > 0 && waited <= START_MS)
		return;
	clean_up(run);
	fail("osmsim did not start on \"%s\"", run->topology);
}

/* Waits for the program and forwards signals to it; returns its exit code as a shell would. */
static int wait_for(pid_t program, const sigset_t *signals)
{
	for (;;) {
		int status, signal = sigwaitinfo(signals, NULL);

		if (signal == SIGCHLD && waitpid(program, &status, WNOHANG) == program)
			return WIFEXITED(status) ? WEXITSTATUS(status)
						 : EXIT_SIGNAL + WTERMSIG(status);
		if (signal == SIGTERM || signal == SIGHUP)
			kill(program, signal);
		/* ^C and ^\ reach the program anyway. */
	}
}

static int run_on_own(struct run *run)
{
	sigset_t signals, before;
	pid_t program;
	int code;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigprocmask(SIG_BLOCK, &signals, &before);
	start_server(run, &before);
	run->socket = run->path;
	program = fork();
	if (program == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(run);
	}
	code = program > 0 ? wait_for(program, &signals) : EXIT_TROUBLE;
	clean_up(run);
	return code;
}

int main(int argc, char **argv)
{
	struct run run = {.library = LIBRARY};

	parse(&run, argc, argv);
	find_self(&run);
	if (run.topology)
		return run_on_own(&run);
	become(&run);
}
